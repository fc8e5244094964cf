"""How words become features: the settings of the vectoriser, and what they give on the first documents."""

import streamlit as st

from pages.data.forms import uploads
from pages.shared import fields, format, tables
from pages.shared.process import turns
from xmlcore.datasets import TextVectorizer
from xmlcore.experiment.engine import looks
from xmlcore.experiment.engine.looks import try_vectorizer

TRIED = "texts.tried"  # key of st.session_state: by source, settings and what they give
NGRAMS = {"1 1": "single words", "1 2": "words and pairs of words", "1 3": "words, pairs and triples"}


def show(form: str) -> dict | None:
    """Show the settings; return the parameters of a TextVectorizer, None if they cannot be used."""
    about = {parameter.name: parameter for parameter in TextVectorizer.PARAMETERS}
    st.markdown("**Words as features**")
    first, second, third = st.columns(3)
    ngrams = fields.choice("Features are", NGRAMS, f"{form}.ngrams", place=first, help=about["ngrams"].help)
    min_df = fields.described(about["min_df"], f"{form}.min_df", place=second)
    max_df = fields.percent(about["max_df"], f"{form}.max_df", place=third, step=5)
    params = {"ngrams": [int(n) for n in ngrams.split()], "min_df": min_df, "max_df": max_df}
    with st.expander("More settings of words"):
        params |= _more(form, about)
    try:
        TextVectorizer(**params | {"ngrams": tuple(params["ngrams"])}).check()
    except (ValueError, TypeError) as error:
        st.error(format.plain(uploads.on_page(str(error))))
        return None
    return params


def _more(form, about) -> dict:
    first, second, third = st.columns(3)
    places = {"stop_words": first, "lowercase": first, "strip_accents": second, "sublinear": second}
    places |= {"max_features": third, "hashing_bits": third, "analyzer": third, "pattern": st}
    return {name: fields.described(about[name], f"{form}.{name}", place=place) for name, place in places.items()}


def effect(params: dict, texts: list, source: str, *, whole: bool) -> None:
    """Show what settings give on the first documents of a source: features, values that are not 0, and seconds."""
    key = repr(params), len(texts), hash(texts[0]), hash(texts[-1])
    tried = st.session_state.setdefault(TRIED, {})
    known, outcome = tried.get(source, (None, None))
    if known != key:
        outcome = _tried(params, texts)
        tried[source] = key, outcome
    if isinstance(outcome, str):
        st.warning(outcome)
        return
    for message in outcome.warned:
        st.warning(format.plain(uploads.on_page(message)))
    if outcome.analyzer == "letters":
        st.caption("Blanks do not show the words of the texts: features are letters and pairs of neighbouring letters.")
    rate = outcome.seconds / max(outcome.n_characters, 1)
    tables.cards(
        [
            (
                "Features",
                f"{outcome.n_features:,}",
                "Words, or words in a row, that enough of the first documents have.",
            ),
            (
                "Per document",
                f"{outcome.n_values / len(texts):.1f}",
                f"{outcome.n_values:,} values that are not 0 in all.",
            ),
            (
                "Without features",
                f"{outcome.n_empty:,}",
                "Documents none of whose words is a feature: nothing to learn from.",
            ),
            ("Seconds per million letters", f"{1e6 * rate:.2g}", "Time to turn texts into features on this machine."),
        ]
    )
    if whole:
        st.caption(f"What these settings give on {format.count(len(texts), 'document')}, which are all.")
        return
    st.caption(
        f"What these settings give on the first {format.count(len(texts), 'document')}. With all documents there are "
        "more features, because more words occur in enough of them."
    )


def _tried(params, texts):
    """Return what a vectoriser gives on texts, or a message why it cannot be used."""
    turns.give_up()
    try:
        return looks.call(try_vectorizer, params, texts, name="the first documents")
    except ValueError as error:
        return f"On the first {format.count(len(texts), 'document')}: {format.plain(uploads.on_page(str(error)))}"
