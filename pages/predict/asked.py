"""The row that is predicted: a test row, a text, typed features or a row of a file (see ``many``)."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
import streamlit as st

from pages.shared import fields, format, selectors
from pages.shared.results import results
from pages.shared.rows import row_editor
from pages.shared.view import look, now
from pages.shared.workspaces import dataset_list, workspace
from xmlcore.experiment.kinds.decide import read_labels
from xmlcore.experiment.kinds.predictions import WORDS_ALONE

ROW, TEXT, FEATURES, FILE = "A test row", "A text", "Features", "A file"
MISSING = {TEXT: "a text (Ctrl+Enter)", FEATURES: "a feature"}
MOST_LABELS = 100  # labels shown at most
LONGEST_TEXT = 100_000  # characters
WAY = "predict.way"  # key of the choice between these
COUNT = "predict.count"
TYPED_FEATURES = "features"  # in names of files
TYPED = "predict.typed"  # key of st.session_state: the text as it was typed last, also before a page switch
EDITED = "predict.edited"  # likewise: (key of the model, changes of an empty row)
ROW_NUMBER = "predict.row"


@dataclass(frozen=True)
class Question:
    """A row that is predicted."""

    x: Any  # csr_array, shape (1, D)
    subject: str  # its name within a sentence, in Markdown
    file: str  # the same within the name of a file
    row: int | None = None
    text: str | None = None
    true: frozenset | None = None  # true labels, if they are known


def way(predictor, fingerprint: str | None) -> str:
    """Show the choice between a test row, a text, features and a file, of each data set, and return it."""
    ways = [ROW] * (predictor.data is not None) + [TEXT] * predictor.packed.is_text + [FEATURES, FILE]
    remembered = workspace.get("widgets").get(name := f"{WAY} {fingerprint}")
    first = TEXT if TEXT in ways and _of_catalog(predictor, "example") else ways[0]
    chosen = FILE if now().file else remembered if remembered in ways else first
    if chosen == FILE and remembered != FILE:  # a link was opened: another file or model does not lead away from files
        workspace.remember(name, FILE)

    def take(way):
        workspace.remember(name, way)
        look(file="")

    settings = {"widget": "radio", "horizontal": True, "label_visibility": "collapsed"}
    return fields.pick("Input", dict(zip(ways, ways)), WAY, chosen, take, **settings)


def ask(predictor, way: str) -> Question | None:
    """Show the controls of the row to predict; return it, or None while it is empty."""
    return {ROW: _row, TEXT: _text, FEATURES: _features}[way](predictor)


def choose_count(predictor) -> None:
    most = min(MOST_LABELS, predictor.packed.n_labels)
    fields.whole(f"Labels shown, 1 to {most:,}", 1, most, COUNT, min(results.K, most), width=190)


def choose_allowed(predictor) -> np.ndarray | None:
    """Show the field of the labels that may be predicted, and return which may; None: all."""
    help = "Names or ids of the only labels that may be predicted, with ; between. A - before one excludes it."
    kept = predictor.packed.allowed()
    hint = "All" if kept is None else f"The {np.count_nonzero(kept):,} of the kept decision"
    typed = fields.text("Labels allowed", f"predict.allowed {predictor.key}", placeholder=hint, help=help)
    try:
        return predictor.packed.allowed(*read_labels(typed, {*(predictor.packed.label_names or ())}))
    except ValueError as error:
        st.warning(f"This is not taken: {format.plain(str(error))}")
        return kept


def count(predictor) -> int:
    return min(int(st.session_state.get(COUNT) or results.K), predictor.packed.n_labels)


def _row(predictor) -> Question:
    row = selectors.choose_test_row(predictor.data, predictor.run, ROW_NUMBER)
    texts = predictor.data.texts_test
    text = texts[row] if texts is not None and predictor.packed.is_text else None
    true = frozenset(predictor.data.Y_test[[row]].indices.tolist())
    return Question(predictor.data.X_test[[row]], f"test row {row:,}", f"row{row}", row, text, true)


def _text(predictor) -> Question | None:
    texts = None if predictor.data is None else predictor.data.texts_test
    typed = st.text_area(
        "Text",
        value=workspace.first_value("predict.text", st.session_state.get(TYPED, ""), ""),
        key="predict.text",
        height=220,
        max_chars=LONGEST_TEXT,
        placeholder=_of_catalog(predictor, "prompt") or "Type or paste a text",
        on_change=_take,
        help="The text stays in this session: it is not stored.",
    )
    with st.container(horizontal=True):
        st.button("Label it", key="predict.label it", type="primary")  # leaving the field hands the text over
        if texts is not None:
            st.button("Random text", key="predict.take", on_click=_take, args=(texts,))
    text = typed if typed.strip() else _of_catalog(predictor, "example")
    x = vector(predictor, text) if text else None
    what = "this text" if text == typed else f"the example “{format.plain(text)}”"
    return None if x is None else Question(x, what, "text", text=text)


def _of_catalog(predictor, field: str) -> str:
    data = predictor.data
    return getattr(dataset_list.catalog_entry(None if data is None else data.fingerprint), field, "")


def vector(predictor, text: str):
    """Return the features of a text: csr_array, shape (1, D); None, and say why, if its words cannot be found."""
    try:
        vectorizer = predictor.packed.vectorizer
        if vectorizer.widths_beside_:
            st.caption(WORDS_ALONE)
        return sp.csr_array(vectorizer.transform(vectorizer.without_vectors([text])))
    except ValueError as error:  # the data set has a pattern of words that takes too long
        st.error(f"The words of the text cannot be found: {format.plain(str(error))}")
        return None


def _take(texts=None) -> None:
    """Remember the text, which Streamlit forgets when the user goes to another page, or one of some texts."""
    if texts is not None:
        st.session_state["predict.text"] = texts[int(np.random.default_rng().integers(len(texts)))][:LONGEST_TEXT]
    st.session_state[TYPED] = st.session_state["predict.text"]


def _features(predictor) -> Question | None:
    empty = sp.csr_array((1, predictor.packed.n_features), dtype=np.float32)
    of, edits = st.session_state.get(EDITED, (None, []))
    edits = edits if of == predictor.key else []
    editor = row_editor.Editor("predict.features", predictor.packed, empty, (predictor.key,), edits)
    editor.add(lambda: st.session_state.pop(EDITED, None))
    x = editor.show()
    edits = row_editor.between(empty, x)
    st.session_state[EDITED] = predictor.key, edits
    editor.remembered(edits)
    return Question(x, "these features", TYPED_FEATURES) if x.nnz else None
