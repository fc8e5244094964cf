"""How words become features: the settings of the vectoriser, and what they give on the first documents."""

import time

import streamlit as st

from pages.data.forms import uploads
from pages.shared import format, tables
from pages.shared.workspaces import workspace
from xmlcore.datasets import TextVectorizer

TRIED = "texts.tried"  # key of st.session_state: by source, settings and what they give
NGRAMS = {"1 1": "single words", "1 2": "words and pairs of words", "1 3": "words, pairs and triples"}
NO_STOP_WORDS, ENGLISH = "none", "english"
KEPT = "kept"


def show(form: str) -> dict | None:
    """Show the settings; return the parameters of a TextVectorizer, None if they cannot be used."""
    about = {parameter.name: parameter for parameter in TextVectorizer.PARAMETERS}
    st.markdown("**Words as features**")
    first, second, third = st.columns(3)
    with first:
        ngrams = st.selectbox(
            "Features are",
            list(NGRAMS),
            format_func=NGRAMS.get,
            help=about["ngrams"].help,
            **workspace.keep(f"{form}.ngrams", "1 1", options=list(NGRAMS)),
        )
    with second:
        min_df = st.number_input(
            about["min_df"].label,
            min_value=1,
            step=1,
            help="A word in fewer texts is no feature. A larger number leaves out rare words and misspellings.",
            **workspace.keep(f"{form}.min_df", 2, lambda v: isinstance(v, int) and v >= 1),
        )
    with third:
        max_df = st.number_input(
            "Max texts with a word, %",
            min_value=1,
            max_value=100,
            step=5,
            help="A word in more texts is no feature. 100 leaves out none.",
            **workspace.keep(f"{form}.max_df", 100, lambda v: isinstance(v, int) and 1 <= v <= 100),
        )
    params = {"ngrams": [int(n) for n in ngrams.split()], "min_df": min_df, "max_df": max_df / 100}
    with st.expander("More settings of words"):
        params |= _more(form, about)
    try:
        TextVectorizer(**params | {"ngrams": tuple(params["ngrams"])}).check()
    except (ValueError, TypeError) as error:
        st.error(format.plain(uploads.on_page(str(error))))
        return None
    return params


def _more(form, about) -> dict:
    """Show settings that are seldom changed; return them."""
    first, second, third = st.columns(3)
    with first:
        stop = st.selectbox(
            about["stop_words"].label,
            [NO_STOP_WORDS, ENGLISH],
            help="Words that are left out: the English list of scikit-learn has 318, such as “the”.",
            **workspace.keep(f"{form}.stop_words", NO_STOP_WORDS, options=[NO_STOP_WORDS, ENGLISH]),
        )
        lowercase = st.toggle(
            about["lowercase"].label, help=about["lowercase"].help, **workspace.keep(f"{form}.lowercase", True)
        )
    with second:
        options = [KEPT, "unicode", "ascii"]
        accents = st.selectbox(
            about["strip_accents"].label,
            options,
            help="unicode: “é” is read as “e”. ascii: characters without an ASCII form are left out as well.",
            **workspace.keep(f"{form}.strip_accents", KEPT, options=options),
        )
        sublinear = st.toggle(
            about["sublinear"].label, help=about["sublinear"].help, **workspace.keep(f"{form}.sublinear", True)
        )
    with third:
        most = st.number_input(
            about["max_features"].label,
            min_value=1,
            step=1000,
            placeholder="all",
            help=about["max_features"].help,
            **workspace.keep(f"{form}.max_features", None, lambda v: v is None or isinstance(v, int) and v >= 1),
        )
        bits = st.number_input(
            "Hashing, bits",
            min_value=1,
            max_value=26,
            step=1,
            placeholder="off",
            help=about["hashing_bits"].help,
            **workspace.keep(f"{form}.hashing", None, lambda v: v is None or isinstance(v, int) and 1 <= v <= 26),
        )
    usual = about["pattern"].default
    pattern = st.text_input(
        about["pattern"].label, help=about["pattern"].help, **workspace.keep(f"{form}.pattern", usual)
    )
    return {
        "stop_words": None if stop == NO_STOP_WORDS else stop,
        "lowercase": lowercase,
        "strip_accents": None if accents == KEPT else accents,
        "sublinear": sublinear,
        "max_features": most,
        "hashing_bits": bits,
        "pattern": pattern,
    }


def effect(params: dict, texts: list, source: str, *, whole: bool) -> None:
    """Show what settings give on the first documents of a source: features, values that are not 0, and seconds."""
    key = repr(params), len(texts), hash(texts[0]), hash(texts[-1])
    tried = st.session_state.setdefault(TRIED, {})
    known, found = tried.get(source, (None, None))
    if known != key:
        found = _tried(params, texts)
        tried[source] = key, found
    if isinstance(found, str):
        st.warning(found)
        return
    n_features, n_values, n_empty, seconds, characters = found
    rate = seconds / max(characters, 1)
    tables.cards(
        [
            ("Features", f"{n_features:,}", "Words, or words in a row, that enough of the first documents have."),
            ("Per document", f"{n_values / len(texts):.1f}", f"{n_values:,} values that are not 0 in all."),
            ("Without features", f"{n_empty:,}", "Documents none of whose words is a feature: nothing to learn from."),
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
    """Return what a vectoriser gives on texts: numbers, or a message why it cannot be used."""
    vectorizer, start = TextVectorizer(**params | {"ngrams": tuple(params["ngrams"])}), time.perf_counter()
    try:
        X = vectorizer.fit_transform(texts)
    except ValueError as error:
        return f"On the first {format.count(len(texts), 'document')}: {format.plain(uploads.on_page(str(error)))}"
    seconds = time.perf_counter() - start
    used = int((vectorizer.idf_ > 0).sum())
    n_empty = int((X.indptr[1:] == X.indptr[:-1]).sum())
    return used, X.nnz, n_empty, seconds, sum(map(len, texts))
