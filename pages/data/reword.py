"""Other words as features, without a new upload: a form that makes a second data set from the texts of this one."""

import streamlit as st

from pages.data import uploads, vectorizer_form
from pages.shared import actions, jobs, tasks
from pages.shared.workspaces import dataset_list, workspace
from xmlcore import experiment, store

ERROR = "reword.error"  # key of the session state: why the last data set could not be made
DONE = "reword.done"  # key of the session state: a data set was asked for, and the page does not show it yet
FIRST = 1000  # texts that settings are tried on


def show(data, fingerprint, known) -> None:
    """Show a form that makes features anew; ``known`` is the workspace's record of the data set in use."""
    if st.session_state.pop(DONE, False):
        st.rerun()  # the button runs only this form, but the whole page shows another data set now
    st.markdown(
        "Makes a second data set from the texts of this one, with the same rows and labels. This one stays as it is; "
        "choose between them above."
    )
    params = vectorizer_form.show("reword")
    if params is not None:
        vectorizer_form.effect(params, data.texts_train[:FIRST], fingerprint, whole=data.n_train <= FIRST)
    first = _name(known["name"], params or {})
    name = st.text_input(
        "Name", value=first, max_chars=dataset_list.LONGEST_NAME, key=f"reword.name.{fingerprint}.{hash(first)}"
    )
    actions.button(
        "Make the data set",
        type="primary",
        key="reword.make",
        on_click=_make,
        args=(fingerprint, params, name.strip() or first),
        disabled=params is None,
    )
    if ERROR in st.session_state:
        st.error(st.session_state.pop(ERROR))


def _name(name, params) -> str:
    """Return a name for the new data set, which says what its features are."""
    said = {1: ", words", 2: ", pairs of words", 3: ", triples of words"}[params.get("ngrams", [1, 1])[1]]
    return name[: dataset_list.LONGEST_NAME - len(said)] + said


def _make(fingerprint, params, name):
    """Have the features made, at once if that is short; called by the button."""
    if workspace.refuse():
        return
    try:
        task = experiment.task("words", {"dataset": fingerprint}, {"vectorizer": params})
        if task.estimate().seconds < uploads.AT_ONCE or task.exists():
            uploads.run(task, {})
    except (ValueError, TypeError, MemoryError, OSError, store.StoreError) as error:
        said = uploads.explain(error)
        st.session_state[ERROR] = said.replace("The files could not be read:", "The features could not be made:")
        return
    st.session_state[DONE] = True
    tasks.make_dataset(task, name=name)


def busy() -> bool:
    """Return whether features are being made, or that has failed."""
    return bool(jobs.active("words") or jobs.failed("words"))


def progress() -> None:
    """Show the progress, and why features could not be made."""
    jobs.watch(jobs.active("words"))
    uploads.failures("words", "The features could not be made:")
