"""One claim: what was published, the verdict with its reason, and its repetition on the data set in use."""

import streamlit as st

from pages.papers import repeated
from pages.shared import addresses, format, tables, tasks
from pages.shared.figures import charts
from xmlcore.experiment import repeating


def show(ready, claim) -> None:
    st.subheader(format.plain(f"{claim.title}: {claim.verdict}"))
    left, right = st.columns(2, gap="large")
    with left:
        st.markdown(f"**{format.plain(claim.says)}** {format.plain(claim.reason)}")
        st.caption(f"Evidence: {format.plain(claim.evidence.partition('#')[0])}")
        _values(claim)
    with right:
        _repeat(ready, claim)
        addresses.link(claim.page, f"More on the page {claim.page}")


def _values(claim) -> None:
    frame = claim.values()
    if frame is not None:
        st.caption("As published, in the paper's units:")
        columns = {name: st.column_config.Column(name) for name in frame}
        tables.show(frame, f"papers.values.{claim.table}", columns, first=tuple(frame), most=340)


def _repeat(ready, claim) -> None:
    """Show the results on the data set in use, and a button for what is missing."""
    if ready.data is None or claim.repeat is None:
        st.caption("No data set is in use, so there is nothing to repeat it on.")
        return
    name, trained = format.bold(ready.name), repeating.trainings(claim.repeat, ready.fingerprint)
    found = tasks.ready_all(trained, button="Train", key="papers.train", of="model") if trained else {}
    if claim.repeat.kind != repeating.TRAIN:
        asked = repeating.repetitions(claim.repeat, ready.fingerprint) if len(found) == len(trained) else {}
        found = tasks.ready_all(asked, button="Repeat", key="papers.repeat", of="measurement")
    if not found:
        st.caption(f"Not repeated on {name} yet.")
        return
    if text := repeated.summary(claim, ready):
        st.markdown(f"On {name}: {format.plain(text)}.")
    drawn = repeated.figure(claim, ready, found)
    if drawn is not None:
        figure, frame = drawn
        file = format.file_name(f"{ready.name}-{claim.paper}-{claim.title}")
        charts.show_figure(figure, frame, file, f"{claim.says} On {ready.name}.", key="papers.figure")
