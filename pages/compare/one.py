"""The details of one result; the address of the page names it: ``/compare?run=1a2b3c4d``."""

import re

import pandas as pd
import streamlit as st

from pages.compare import listed
from pages.shared import addresses, format, jobs, settings, tables
from pages.shared.figures import charts
from pages.shared.results import results, run_changes
from pages.shared.workspaces import workspace
from xmlcore import experiment, metrics, store

FIELD = addresses.RUN  # the name in the address
DIGITS = 12  # of the key, in the address
_GO = "compare.go"  # key of st.session_state: whether the Train page is to be opened


def opened(every) -> str | None:
    """Return the key of the listed result that the address names; None if it names none."""
    digits = st.query_params.get(FIELD, "")
    if not re.fullmatch(r"[0-9a-f]{6,32}", digits):
        return None
    named = next((key for key in every.frame["key"] if key.startswith(digits)), None)
    if named is None:
        st.warning("This workspace does not have the result of the link, so all results are shown.")
    return named


def link(key: str, name: str) -> None:
    st.button(
        format.plain(name),
        key=f"compare.open.{key}",
        type="tertiary",
        icon=":material/open_in_new:",
        on_click=_open,
        args=(key[:DIGITS],),
    )


def _open(shown: str) -> None:
    if shown:
        st.query_params[FIELD] = shown
    else:
        st.query_params.pop(FIELD, None)


def show(key: str, every) -> None:
    """Show the result of a key, which is listed in ``every``."""
    frame, record = every.frame, every.records[key]
    line = frame[frame["key"] == key].iloc[0]
    st.button(
        "All results", key="compare.back", icon=":material/arrow_back:", type="tertiary", on_click=_open, args=("",)
    )
    name = line["title"]
    st.header(f"{format.plain(name)} on {format.plain(line['dataset'])}")
    _say(line, frame)
    results.mark(record)
    with st.container(horizontal=True, gap="small"):
        run_changes.name_button([record], "compare.one")
        run_changes.tags_button([record], "compare.one")
        run_changes.archive_button([record], "compare.one")
        if record["fingerprint"] in workspace.get("known") and not record.get("archived"):
            st.button(
                "Open on the Train page",
                key="compare.one.train",
                type="tertiary",
                icon=":material/model_training:",
                on_click=_put_in_use,
                args=(record,),
            )
    if st.session_state.pop(_GO, False):
        addresses.switch("Train")
    if line["tags"] or line["note"]:
        st.markdown(f"Tags: {format.plain(line['tags'] or 'none')}.")
        st.text(line["note"])
    left, right = st.columns(2, gap="large")
    with left:
        _settings(line)
    with right:
        _measures(line)
        st.subheader("Where it comes from")
        columns = {"what": tables.text("Item", 190), "value": tables.text("Value", 260)}
        tables.show(_facts(_origin(line, record), "what"), "compare.one.facts", columns, height="content")
    run = results.run(record)
    if run is None:
        jobs.watch(jobs.active(key=record["key"]))
    else:
        if run.warnings:
            st.subheader("Warnings of the training" if run.has_model else "Warnings of the reading")
        results.say_warnings(run)
    if not (line["problem"] or results.is_given(record)):
        run_changes.show_code(record, f"{format.file_name(name)}-{line['key'][:6]}", "compare.one")
    values = {name: value for name, value in line.items() if name not in listed.INTERNAL}
    values |= {f"param.{name}": value for name, value in line["params"].items()}
    charts.csv_button(
        "All of this, CSV", lambda: _facts(values, "name"), f"result-{line['key'][:6]}", "Names and values"
    )


def _say(line, frame) -> None:
    """Say the rank of a result among those on its data set, or why it cannot be read."""
    if line["problem"]:
        st.warning(f"The result cannot be read: {format.plain(line['problem'])}.")
        return
    same = frame[(frame["fingerprint"] == line["fingerprint"]) & frame["P@1"].notna()]
    place = int((same["P@1"] > line["P@1"]).sum()) + 1
    st.markdown(
        f"P@1 is **{format.percent(line['P@1'])}**: number {place:,} of {format.count(len(same), 'result')} on "
        "this data set." + (f" Training took {format.duration(line['fit_s'])}." if line["fit_s"] > 0 else "")
    )


def _put_in_use(record) -> None:
    def change(data):
        data["dataset"], data["wanted"] = record["fingerprint"], None
        data["shown"][record["fingerprint"]] = record["key"]

    workspace.update(change)
    st.session_state[_GO] = True


def _settings(line) -> None:
    if results.is_given(line):
        return
    info = experiment.MODELS.get(line["model"])
    known = {p.name: p for p in info.parameters} if info else {}
    run = None if line["problem"] else results.run({"key": line["key"]})
    params, chosen = line["params"], {} if run is None else run.chosen
    own = {name: name not in known or value != known[name].default for name, value in params.items()}
    settings_of = [(name, value, "you" if own[name] else "default") for name, value in params.items()]
    settings_of += [(name, value, "the model") for name, value in chosen.items()]
    lines = [
        (known[name].label if name in known else name, settings.value_text(value, known.get(name)), by, name)
        for name, value, by in sorted(settings_of, key=lambda one: one[2] == "default")
    ]
    st.subheader("Settings")
    titles = {"title": ("Setting", 185), "value": ("Value", 95), "by": ("Set by", 65), "name": ("Name in code", 130)}
    frame = pd.DataFrame(lines, columns=[*titles])
    tables.show(frame, "compare.one.settings", {name: tables.text(*title) for name, title in titles.items()})


def _measures(line) -> None:
    st.subheader("Measures")
    lines = ["| % | k = 1 | k = 3 | k = 5 |", "|:--|--:|--:|--:|"]
    known = [name for name in metrics.MORE_MEASURES if line[f"{name[:-1]}1"] == line[f"{name[:-1]}1"]]
    for name in (*metrics.USUAL_MEASURES, *known):
        values = (line[f"{name[:-1]}{k}"] for k in results.KS)
        cells = [f"**{name}**", *(f"{100 * value:.2f}" if value == value else "–" for value in values)]
        lines.append(f"| {' | '.join(cells)} |")
    st.markdown("\n".join(lines))


def _origin(line, record) -> dict:
    seconds = {"Training": "fit_s", "Prediction of all test rows": "predict_s", "Compiling code": "compile_s"}
    facts = {name: format.duration(line[column]) for name, column in seconds.items() if line[column] == line[column]}
    if line["model_bytes"] == line["model_bytes"]:
        facts["Model in memory"] = format.size(line["model_bytes"])
        if line["training_bytes"] == line["training_bytes"]:
            facts["Memory while training"] = format.size(line["training_bytes"])
        facts["Weights that are not zero"] = f"{line['n_weights']:,.0f}"
    facts |= {"Data set": line["dataset"], "Fingerprint of the data set": line["fingerprint"]}
    made = "Read" if results.is_given(record) else "Trained"
    facts |= {made: f"{format.when(line['created'])} ({format.zone()})", "Key": line["key"], "xmlcore": line["xmlcore"]}
    if store.exists("runs", line["key"]):
        record = store.info("runs", line["key"])
        facts |= record.get("libraries", {}) | {"Result on disk": format.size(record["bytes"])}
    return facts


def _facts(values: dict, name: str) -> pd.DataFrame:
    return pd.DataFrame({name: list(values), "value": [str(value) for value in values.values()]})
