"""What is in sight on every page: the data set in use and what is running."""

import streamlit as st

from pages.shared import format, server, tasks, workspace


def show() -> None:
    with st.sidebar:
        _dataset()
        _jobs()


def _dataset():
    st.caption("Data set in use")
    fingerprint = workspace.get("dataset")
    if fingerprint is None:
        wanted = workspace.get("wanted")
        st.caption(f"{wanted} is being prepared." if wanted else "None yet: choose one on the Data page.")
        return
    try:
        data = server.dataset(fingerprint)
    except KeyError:
        workspace.forget_dataset(fingerprint)
        st.caption("The stored data set is gone (was the cache deleted?): choose one on the Data page.")
        return
    name = workspace.get("known").get(fingerprint, {}).get("name", data.name)
    st.markdown(f"**{format.plain(name)}**")
    st.caption(
        f"{data.n_train:,} training and {data.n_test:,} test rows, "
        f"{format.count(data.n_features, 'feature')}, {format.count(data.n_labels, 'label')}"
    )


def _jobs():
    warm_up = server.warm_up()
    compiling = [warm_up] if warm_up is not None and warm_up.state in tasks.ACTIVE else []
    own = tasks.active()
    if own:
        st.caption("Running")
    tasks.watch([*own, *compiling], compact=True)
    if warm_up is not None and warm_up.state == "failed":
        st.warning(
            "Compiling kernels failed, each training compiles what it needs by itself. "
            f"Reason: {format.plain(warm_up.error or 'unknown')}"
        )
