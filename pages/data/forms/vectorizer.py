"""How words become features: the settings of the vectoriser, their effect on the first documents, and a form.

The form makes a second data set from the texts of the one in use, without a new upload.
"""

import streamlit as st

from pages.data.forms import form
from pages.shared import fields, format, tables
from pages.shared.process import turns
from pages.shared.workspaces import dataset_list
from xmlcore import experiment
from xmlcore.datasets import TextVectorizer
from xmlcore.experiment.engine import previews
from xmlcore.experiment.engine.previews import try_vectorizer
from xmlcore.experiment.kinds.read import vectorizer_of
from xmlcore.parameters import AUTO

FIRST = 1000  # texts that settings are tried on
TRIED = "texts.tried"  # key of st.session_state: effects by source and settings
UNITS = {  # features, most in a row: a title
    "auto auto": "chosen by trials",
    "words 1": "single words",
    "words 2": "words and pairs of words",
    "words 3": "words, pairs and triples",
    "stems 1": "stems of words",
    "stems 2": "stems and pairs of stems",
    "letters 1": "letters in words",
    "words+letters 1": "words, and letters in them",
    "words+letters 2": "words, pairs, and letters",
    "stems+letters 1": "stems, and letters in words",
}


def show(key: str) -> dict | None:
    """Show the settings; return the parameters of a TextVectorizer, None if they cannot be used."""
    about = {parameter.name: parameter for parameter in TextVectorizer.PARAMETERS}
    st.markdown("**Words as features**")
    first, second, third = st.columns(3)
    units = fields.choice("Features are", UNITS, f"{key}.units", place=first, help=about["features"].form_help)
    features, most = units.split()
    min_df = fields.described(about["min_df"], f"{key}.min_df", place=second, default=None)
    max_df = fields.percent(about["max_df"], f"{key}.max_df", place=third, step=5)
    params = {"features": features, "ngrams": most if most == AUTO else [1, int(most)], "max_df": max_df}
    params["min_df"] = AUTO if min_df is None else min_df
    with st.expander("More settings of words"):
        first, second, third = st.columns(3)
        places = {"stop_words": first, "lowercase": first, "strip_accents": second, "sublinear": second}
        places |= {"max_features": third, "hashing_bits": third, "analyzer": third, "language": second, "pattern": st}
        params |= {name: fields.described(about[name], f"{key}.{name}", place=place) for name, place in places.items()}
    try:
        vectorizer_of(params).check()
    except (ValueError, TypeError) as error:
        st.error(form.explain(error, "These settings cannot be used:"))
        return None
    return params


def effect(params: dict, texts: list, source: str, *, whole: bool) -> None:
    """Show the effect of settings on the first documents of a source: features, and values that are not 0."""
    key = repr(params), len(texts), hash(texts[0]), hash(texts[-1])
    tried = st.session_state.setdefault(TRIED, {})
    known, outcome = tried.get(source, (None, None))
    if known != key:
        turns.give_up()
        try:
            outcome = previews.call(try_vectorizer, params, texts, name="the first documents")
        except ValueError as error:
            outcome = form.explain(error, f"On the first {format.count(len(texts), 'document')}:")
        tried[source] = key, outcome
    if isinstance(outcome, str):
        st.warning(outcome)
        return
    for message in outcome.warned:
        st.warning(format.plain(message))
    if outcome.analyzer == "letters":
        st.caption("Blanks do not part words here: features are letters and pairs of letters, whatever is chosen.")
    tables.cards(
        ("Features", f"{outcome.n_features:,}", "Those that enough of these documents have."),
        ("Per document", f"{outcome.n_values / len(texts):.1f}", "Values that are not 0."),
        ("Without features", f"{outcome.n_empty:,}", "Documents none of whose words is a feature."),
    )
    of, more = ("all", "") if whole else ("the first", " All of them have more features.")
    st.caption(f"The result of these settings on {of} {format.count(len(texts), 'document')}.{more}")
    if params["features"] == AUTO:
        st.caption("Here features are single words. From 3,000 texts on, trials choose words, pairs, stems or letters.")


def _fields(data, fingerprint, known) -> form.Request | None:
    st.markdown("Makes a second data set of the same texts. This one stays as it is; choose between them above.")
    params = show("reword")
    if params is not None:
        effect(params, data.texts_train[:FIRST], fingerprint, whole=data.n_train <= FIRST)
    fixed = params is not None and params["features"] != AUTO
    ending = f", {UNITS[' '.join([params['features'], str(params['ngrams'][1])])]}" if fixed else ", other features"
    first = known["name"][: dataset_list.LONGEST_NAME - len(ending)] + ending
    name = st.text_input(
        "Name", value=first, max_chars=dataset_list.LONGEST_NAME, key=f"reword.name.{fingerprint}.{hash(first)}"
    )
    if params is None:
        return None
    return form.Request(
        experiment.task("words", {"dataset": fingerprint}, {"vectorizer": params}), name=name.strip() or first
    )


FORM = form.Form("reword", "words", "Make the data set", "The features could not be made:", _fields)
