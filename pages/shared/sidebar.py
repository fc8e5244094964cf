"""The sidebar of every page: the data set in use, and the jobs that run."""

import streamlit as st

from pages.shared import format, jobs, server, workspace
from xmlcore import store


def show() -> None:
    """Show the sidebar."""
    with st.sidebar:
        _dataset()
        _jobs()


def _dataset():
    """Show the name and the sizes of the data set in use."""
    st.caption("Data set in use")
    fingerprint = workspace.get("dataset")
    if fingerprint is None:
        wanted = workspace.get("wanted")
        st.caption(f"{wanted} is being prepared." if wanted else "None yet: choose one on the Data page.")
        return
    try:
        data = server.dataset(fingerprint)
    except KeyError as error:
        _gone(fingerprint, isinstance(error, store.DamagedArtifactError))
        return
    name = workspace.get("known").get(fingerprint, {}).get("name", data.name)
    st.markdown(f"**{format.plain(name)}**")
    st.caption(
        f"{data.n_train:,} training and {data.n_test:,} test rows, "
        f"{format.count(data.n_features, 'feature')}, {format.count(data.n_labels, 'label')}"
    )


def _gone(fingerprint, damaged):
    """Say that the data set in use cannot be read; a data set of the catalog is made again."""
    entry = workspace.get("known").get(fingerprint, {})
    from_catalog = entry.get("source") == "catalog"
    workspace.forget_dataset(fingerprint, wanted=entry["name"] if from_catalog else workspace.DEFAULT_DATASET)
    why = "was damaged" if damaged else "is gone (was the cache deleted?)"
    then = "It is being made again." if from_catalog else "Upload it again on the Data page."
    st.caption(f"The stored data set {why}. {then}")


def _jobs():
    """Show the jobs of this workspace that run, and the compilation of kernels."""
    warm_up = server.warm_up()
    compiling = [warm_up] if warm_up is not None and warm_up.state in jobs.ACTIVE else []
    own = jobs.active()
    if own:
        st.caption("Running")
    jobs.watch([*own, *compiling], compact=True)
    if warm_up is not None and warm_up.state == "failed":
        st.warning(
            "Compiling the kernels ahead failed, so each training compiles the kernels that it needs. "
            f"Reason: {format.plain(warm_up.error or 'unknown')}"
        )
