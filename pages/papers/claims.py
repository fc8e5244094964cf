"""The claims of a paper, as a table, and the one that is ticked, with what repeats it."""

import pandas as pd
import streamlit as st

from pages.papers import repeated
from pages.shared import addresses, fields, format, tables, tasks, view
from pages.shared.figures import charts
from pages.shared.workspaces import workspace
from xmlcore import papers
from xmlcore.experiment import repeating

KEY = "papers.paper"


def choose() -> list:
    """Return the claims of the paper that is chosen, at first that of the claim in the address."""
    linked = dict(enumerate(papers.CLAIMS)).get(view.now().claim)
    if linked is not None and KEY not in st.session_state:
        workspace.update(lambda data: data["widgets"].__setitem__(KEY, linked.paper))
    titles = {name: paper.title for name, paper in papers.PAPERS.items()}
    paper = fields.radio("Paper", titles, KEY, label_visibility="collapsed")
    st.caption(f"{papers.PAPERS[paper].citation}.")
    return [claim for claim in papers.CLAIMS if claim.paper == paper]


def cards(claims) -> None:
    count = pd.Series([claim.verdict for claim in claims]).value_counts()
    texts = {verdict: f"{about[:1].upper()}{about[1:]}." for verdict, about in papers.VERDICTS.items()}
    tables.cards(*((name.capitalize(), str(count.get(name, 0)), text) for name, text in texts.items()))


def table(ready, claims: list):
    """Show the claims, and return the one that is ticked, or else the first."""
    numbers = [papers.CLAIMS.index(claim) for claim in claims]
    at = view.now().claim
    ticked = numbers.index(at) if at in numbers else 0
    frame = pd.DataFrame(
        {
            "where": [claim.title for claim in claims],
            "says": [claim.says for claim in claims],
            "published": [claim.published for claim in claims],
            "verdict": [claim.verdict for claim in claims],
            "here": [repeated.summary(claim, ready) for claim in claims],
        }
    )
    columns = {
        "where": tables.text("In the paper", 160),
        "verdict": tables.text("Verdict", 130, "On data that were to be had. A ticked claim has the reason."),
        "says": tables.text("Claim", 400),
        "here": tables.text("On your data", 260, "One result each: small differences may be chance. Empty: none."),
        "published": tables.text("Published", 400),
    }
    key = f"papers.table.{claims[0].paper}"
    tick = tables.on_tick(key, numbers, lambda number: view.look(claim=number))
    tables.show(frame, key, columns, most=420, **tick, **tables.ticked([ticked]))
    st.caption("A ticked claim stands below, with its reason, its values and what repeats it.")
    return claims[ticked]


def detail(ready, claim) -> None:
    """Show a claim: its reason, its values, and its repetition on the data set in use."""
    st.header(format.plain(f"{claim.title}: {claim.verdict}"))
    left, right = st.columns(2, gap="large")
    with left:
        st.markdown(f"{format.bold(claim.says)} {format.plain(claim.reason)}")
        st.caption(f"Evidence: {format.plain(claim.evidence.partition('#')[0])}")
        if (frame := claim.values()) is not None:
            st.caption("As published, in the paper's units:")
            columns = {name: st.column_config.Column(name) for name in frame}
            tables.show(frame, f"papers.values.{claim.table}", columns, first=tuple(frame), most=340)
    with right:
        _repeat(ready, claim)
        addresses.link(claim.page, f"More on the page {claim.page}")


def _repeat(ready, claim) -> None:
    if ready.data is None or claim.repeat is None:
        st.caption("No data set is in use, so there is nothing to repeat it on.")
        return
    repeat = claim.repeat.on(ready.data)
    name, trained = format.bold(ready.name), repeating.trainings(repeat, ready.fingerprint)
    found = tasks.ready_all(trained, button="Train", key="papers.train", of="model") if trained else {}
    if claim.repeat.kind != repeating.TRAIN:
        asked = repeating.repetitions(repeat, ready.fingerprint) if len(found) == len(trained) else {}
        found = tasks.ready_all(asked, button="Repeat", key="papers.repeat", of="measurement")
    if not found:
        return
    if text := repeated.summary(claim, ready):
        verdict, _, values = text.partition(": ")
        st.markdown(f"On {name}: {format.bold(verdict)} ({format.plain(values)}).")
    drawn = repeated.figure(claim, ready, found)
    if drawn is not None:
        figure, frame = drawn
        file = format.file_name(f"{ready.name}-{claim.paper}-{claim.title}")
        charts.show_figure(figure, frame, file, f"{claim.says} On {ready.name}.")
