"""Other words as features, without a new upload: a form that makes a second data set from the texts of this one."""

import streamlit as st

from pages.data.forms import form, vectorizer
from pages.shared.workspaces import dataset_list
from xmlcore import experiment

FIRST = 1000  # texts that settings are tried on


def _fields(data, fingerprint, known) -> form.Request | None:
    """Show the fields; ``known`` is the workspace's record of the data set in use."""
    st.markdown(
        "Makes a second data set from the texts of this one, with the same rows and labels. This one stays as it is; "
        "choose between them above."
    )
    params = vectorizer.show("reword")
    if params is not None:
        vectorizer.effect(params, data.texts_train[:FIRST], fingerprint, whole=data.n_train <= FIRST)
    first = _name(known["name"], params or {})
    name = st.text_input(
        "Name", value=first, max_chars=dataset_list.LONGEST_NAME, key=f"reword.name.{fingerprint}.{hash(first)}"
    )
    if params is None:
        return None
    return form.Request(
        experiment.task("words", {"dataset": fingerprint}, {"vectorizer": params}), name=name.strip() or first
    )


def _name(name, params) -> str:
    ending = {1: ", words", 2: ", pairs of words", 3: ", triples of words"}[params.get("ngrams", [1, 1])[1]]
    return name[: dataset_list.LONGEST_NAME - len(ending)] + ending


FORM = form.Form("reword", "words", "Make the data set", "The features could not be made:", _fields)
