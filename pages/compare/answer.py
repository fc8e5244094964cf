"""The first sentence: which model is best, on what, by how much, and whether that is sure."""

import streamlit as st

from pages.compare import of_runs
from pages.shared import addresses, format
from pages.shared.workspaces import workspace

WORDS = {"settings": "setting", "result": "result", "model": "model"}  # what a line of the table is


def without_results() -> None:
    st.markdown("No model has been trained in this workspace yet, so there is nothing to compare.")
    st.caption("The page will list all results of this workspace, say which model is best, and whether that is sure.")
    addresses.link("Train", "Train a model", addresses.ICONS["Train"])


def sentence(lines, choice) -> None:
    measured = lines[lines[choice.measure].notna()]
    if measured.empty:
        st.markdown("No result fits what is chosen below.")
        return
    used = workspace.get("dataset")
    fingerprints = list(dict.fromkeys(measured["fingerprint"]))
    first = used if used in fingerprints else fingerprints[0]
    _best(measured[measured["fingerprint"] == first], choice)
    others = [fingerprint for fingerprint in fingerprints if fingerprint != first]
    text = []
    for fingerprint in others[:3]:
        best = measured[measured["fingerprint"] == fingerprint].head(1)
        name, value = best["title"].iloc[0], format.percent(best[choice.measure].iloc[0])
        text.append(f"**{format.plain(name)}** on {format.plain(best['dataset'].iloc[0])} ({value})")
    if text:
        more = f" These are {len(text)} of {len(others)} other data sets." if len(others) > len(text) else ""
        st.markdown(f"Best on other data sets: {format.listed(text)}.{more}")


def _best(lines, choice) -> None:
    measure = choice.measure
    names, values = lines["title"].tolist(), lines[measure].tolist()
    best, where = format.plain(names[0]), format.plain(lines["dataset"].iloc[0])
    seeds = f", the mean of {lines['n'].iloc[0]} seeds" if lines["n"].iloc[0] > 1 else ""
    if len(lines) == 1:
        st.markdown(
            f"On **{where}** there is one result, **{best}**: {measure} **{format.percent(values[0])}**{seeds}."
        )
        return
    difference = of_runs.difference(
        of_runs.middle(lines.iloc[0], measure), of_runs.middle(lines.iloc[1], measure), measure
    )
    of = format.count(len(lines), WORDS[choice.lines])
    text = f"On **{where}**, **{best}** has the highest {measure} of {of}: **{format.percent(values[0])}**{seeds}. "
    following = f"The next is **{format.plain(names[1])}**, {format.percent(values[1])}."
    if difference is None:
        st.markdown(text + following)
    elif difference.difference < 0:  # only where lines have several seeds
        st.markdown(f"{text}{following} Of the results nearest to the two means it is ahead, so this may be chance.")
    else:
        st.markdown(text + of_runs.in_words(difference, names[0], names[1], measure))
