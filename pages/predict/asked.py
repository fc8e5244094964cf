"""What is predicted: a test row, a text, or features that are typed."""

import contextlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
import streamlit as st

from pages.shared import fields, format, selectors, server, view
from pages.shared.results import results
from pages.shared.rows import row_editor, row_edits
from pages.shared.view import look, now
from pages.shared.workspaces import workspace
from xmlcore import store
from xmlcore.datasets.readers.sources import stem
from xmlcore.experiment.kinds.predictions import given_rows

ROW, TEXT, FEATURES, FROM_FILE = "A test row", "A text", "Features", "A row of a file"
MOST_LABELS = 100  # labels shown at most
LONGEST_TEXT = 100_000  # characters
WAY = "predict.way"  # key of the choice between these
COUNT = "predict.count"
TYPED_FEATURES = "features"  # in names of files
TYPED = "predict.typed"  # key of st.session_state: the text as it was typed last, also before a page switch
EDITED = "predict.edited"  # likewise: (key of the model, changes of an empty row)
ROW_NUMBER = "predict.row"
LOOKED_AT = "predict.looked at"  # key of st.session_state: the row of a file looked at last, as in the view
GONE = (
    "The link names a row of a file that this model did not predict here, or whose rows are not kept any more. So this "
    "page shows something else."
)


@dataclass(frozen=True)
class Question:
    """A row that is predicted."""

    x: Any  # csr_array, shape (1, D)
    what: str  # its name within a sentence, in Markdown
    file: str  # the same within the name of a file
    row: int | None = None
    text: str | None = None
    true: frozenset | None = None  # true labels, if they are known


def ask(predictor) -> Question | None:
    """Show the controls that say what is predicted; return it, or None while there is nothing."""
    if now().file:
        st.session_state[LOOKED_AT] = {"file": now().file, "given": now().given or 0}
    in_file = st.session_state.get(LOOKED_AT)
    file = None if in_file is None else _file(predictor, **in_file)
    if now().file and file is None:
        st.caption(GONE)
    ways = [ROW] * (predictor.data is not None) + [TEXT] * predictor.packed.is_text + [FEATURES]
    remembered = workspace.get("widgets").get(WAY)
    way = FROM_FILE if file is not None and now().file else remembered if remembered in ways else ways[0]
    ways += [FROM_FILE] * (file is not None)
    if len(ways) > 1:
        options = dict(zip(ways, ways))
        way = fields.pick("What to predict", options, WAY, way, _take_way, widget="radio", horizontal=True)
    if way == FROM_FILE:
        question = _from_file(predictor, *file)
    else:
        question = {ROW: _row, TEXT: _text, FEATURES: _features}[way](predictor)
    most = min(MOST_LABELS, predictor.packed.n_labels)
    fields.whole(f"Labels shown, 1 to {most:,}", 1, most, COUNT, min(results.K, most), width=190)
    return question


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
        placeholder="Type or paste a text",
        on_change=_typed,
        help="The text stays in this session: it is not stored.",
    )
    if texts is not None:
        st.button("Take the text of a random test row", key="predict.take", on_click=_take, args=(texts,))
    x = vector(predictor, typed) if typed.strip() else None
    return None if x is None else Question(x, "this text", "text", text=typed)


def vector(predictor, text: str):
    """Return the features of a text: csr_array, shape (1, D); None, and say why, if its words cannot be found."""
    try:
        return sp.csr_array(predictor.packed.vectorizer.transform([text]))
    except ValueError as error:  # the data set has a pattern of words that takes too long
        st.error(f"The words of the text cannot be found: {format.plain(str(error))}")
        return None


def _typed() -> None:
    """Remember the text, which Streamlit forgets when the user goes to another page."""
    st.session_state[TYPED] = st.session_state["predict.text"]


def _take(texts) -> None:
    text = texts[int(np.random.default_rng().integers(len(texts)))][:LONGEST_TEXT]
    st.session_state["predict.text"] = st.session_state[TYPED] = text


def look_at(key: str, row: int) -> None:
    """Look at a row of the file whose predictions have a key."""
    look(file=key[: view.DIGITS], given=row)


def _take_way(way: str) -> None:
    if way == FROM_FILE:
        look(**st.session_state[LOOKED_AT])
    else:
        look(file="")
        workspace.remember(WAY, way)


def _file(predictor, file: str, given: int) -> tuple | None:
    """Return the rows or texts of a file that is kept, its name, the row and its id; None if there is no such row."""
    record = next((record for record in predictor.predicted_files() if record["key"].startswith(file)), None)
    with contextlib.suppress(store.StoreError, OSError, ValueError):
        rows = None if record is None else _given(predictor.of_files, record["key"])
        if rows is not None and given < (len(rows) if isinstance(rows, list) else rows.shape[0]):
            ids = server.loaded_by_key(predictor.of_files, record["key"]).ids
            return rows, record["name"], given, ids and ids[given]
    return None


def _from_file(predictor, given, file: str, row: int, id: str | None) -> Question | None:
    text = given[row] if isinstance(given, list) else None
    kind = "row" if text is None else "text"
    name = f"{kind} {format.plain(id) if id else f'{row:,}'} of {format.plain(file)}"
    st.markdown(f"**{name[0].upper()}{name[1:]}**")
    x = given[[row]] if text is None else vector(predictor, text)
    return Question(x, name, f"{format.file_name(stem(file))}-{kind}{row}", text=text)


@server.shared(max_entries=2, show_spinner="Loading the rows of the file")
def _given(kind: str, key: str):
    return given_rows(kind, key)


def _features(predictor) -> Question | None:
    empty = sp.csr_array((1, predictor.packed.n_features), dtype=np.float32)
    of, edits = st.session_state.get(EDITED, (None, []))
    editor = row_editor.Editor(
        "predict.features", predictor.packed, empty, (predictor.key,), edits if of == predictor.key else []
    )
    editor.add(lambda: st.session_state.pop(EDITED, None))
    x = editor.show()
    edits = row_edits.between(empty, x)
    st.session_state[EDITED] = predictor.key, edits
    editor.remembered(edits)
    return Question(x, "these features", TYPED_FEATURES) if x.nnz else None
