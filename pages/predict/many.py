"""The rows of a file, predicted by a worker."""

import contextlib
import functools

import numpy as np
import streamlit as st

from pages.predict import asked, listed
from pages.shared import actions, cached, fields, format, jobs, sending, tasks, view
from pages.shared.results import decided
from pages.shared.view import look, now
from pages.shared.workspaces import workspace
from pages.shared.workspaces.tab_view import FILES
from xmlcore import experiment, store
from xmlcore.datasets.readers.names import visible
from xmlcore.datasets.readers.sources import stem
from xmlcore.datasets.texts.guess import guess_new_texts
from xmlcore.experiment.kinds.decide import written_labels
from xmlcore.experiment.kinds.predictions import LINES, OF_FILE, ROWS, TEXTS, Predictions, given_rows

DECISION = 12  # letters of a decision, or of its labels, in the choice of a file
OF_FILES = ("predict", "predict_opened")  # kinds of tasks: by a result, and by a model from a file
NO_FILE = {"file": ""}  # of the view
MOST_FILES = 20  # files that are remembered for a model; the Storage page lists the predictions for all
OF = {TEXTS: "Texts", ROWS: "Rows of features"}
FILE = {
    TEXTS: "File of new texts: CSV, TSV, Excel, JSON lines, Parquet, txt or zip",
    ROWS: "File of new rows: XMLC text, svmlight, ARFF, CSV, npz or npy",
}
HELP = {
    TEXTS: "A .txt has a text in each line, or is one of many in a zip archive. Labels are not needed.",
    ROWS: "Plain or packed; labels are not needed. Columns with names are matched with the model’s features by name; "
    "without names, the features must be in the model’s order.",
}
_given = cached.shared("Loading the rows of the file")(given_rows)
GONE = "The row of a file that a link names is not kept here, so this page shows something else."


def ask(predictor, allowed) -> asked.Question | None:
    """Let files be predicted, show the rows of one, and return the selected row: at first the least certain one."""
    by = _by(predictor, allowed)
    own, named = _predicted(predictor), _named(predictor)
    file = named or next(iter(own), None)
    with st.expander("Another file", icon=":material/upload_file:") if file else st.container():
        _upload(predictor, by)
    names = {file["key"]: file["name"] for file in _listed(predictor.list_of_files)}
    called = lambda record: {"rows": names.get(record["key"], "the file")}  # noqa: E731
    sending.follow(predictor.of_files, "The file could not be predicted.", called, **predictor.inputs)
    if now().file and named is None:
        st.caption(GONE)
    if file is None:
        return None
    _choose(own if file in own else [file, *own], file)
    predicted = _loaded(predictor, file["key"]) if file in own else None
    if predicted is None:  # by another model
        _again(predictor, file, by, allowed)
        return None
    row = now().given if named else None
    if row is not None and row >= len(predicted.ranking.labels):
        row = None
        st.caption(GONE)
    row = listed.show(predictor, predicted, file["name"], functools.partial(_look_at, file["key"]), row)
    _again(predictor, file, by, allowed)
    return None if row is None else _question(predictor, file, predicted, row)


def _choose(offered: list, file: dict) -> None:
    if len(offered) < 2:
        return
    titles = {}
    for number, one in enumerate(offered, 1):
        by = [one[name][:DECISION] for name in ("decision", "labels") if isinstance(one.get(name), str)]
        titles[one["key"]] = ", ".join([f"{number}: {one['name']}", *by])
    fields.pick(f"File, of {len(offered):,}", titles, "predict.file shown", file["key"], _look_at)


def looked_at(predictor) -> dict:
    """Return the fields of the view that name the selected file, also if it is the newest."""
    named = _named(predictor)
    file = named or next(iter(_predicted(predictor)), None)
    return {"file": file["key"][: view.DIGITS], "given": now().given if named else None} if file else NO_FILE


def _listed(name: str) -> list[dict]:
    """Return the files of a list of the workspace's "widgets", newest first: key, name, and how they were decided."""
    kept = workspace.get("widgets").get(name)
    kept = kept if isinstance(kept, list) else []
    return [file for file in kept if isinstance(file, dict) and {"key", "name"} <= file.keys()]


def _predicted(predictor) -> list[dict]:
    return [file for file in _listed(predictor.list_of_files) if jobs.kept(predictor.of_files, file["key"])]


def _named(predictor) -> dict | None:
    """Return the file that the view names; ``by`` is the key of predictions if only another model made them."""
    if not now().file:
        return None
    own, names = _predicted(predictor), [name for name in workspace.get("widgets") if name.startswith(FILES)]
    every = [file | {"by": name.removeprefix(FILES)} for name in names for file in _listed(name)]  # of all models
    found = [file for file in (*own, *every) if file["key"].startswith(now().file)]
    content = _content(found[0]["key"]) if found else None
    if content is None or found[0] in own:
        return found[0] if content else None
    return next((file for file in own if _content(file["key"]) == content), found[0])


def _content(key: str) -> list | None:
    """Return the parameters of kept predictions that name the file and how it is read."""
    for kind in OF_FILES:
        with contextlib.suppress(store.StoreError):
            params = store.info(experiment.KINDS[kind].folder, key)["params"]
            return [params.get(name) for name in OF_FILE]
    return None


def _look_at(key: str, row: int | None = None) -> None:
    look(file=key[: view.DIGITS], given=row)


def _question(predictor, file: dict, predicted: Predictions, row: int) -> asked.Question | None:
    try:
        given = _given(predictor.of_files, file["key"])
    except (store.StoreError, OSError, ValueError):
        st.caption("The rows of this file are not kept any more, so none of them can be shown.")
        return None
    text = given[row] if isinstance(given, list) else None
    x = given[[row]] if text is None else asked.vector(predictor, text)
    id = predicted.ids and predicted.ids[row]
    name = f"{f'id {format.plain(id)}' if id else f'row {row:,}'} of {format.plain(file['name'])}"
    of_file = f"{format.file_name(stem(file['name']))}-row{row}"
    return None if x is None else asked.Question(x, name, of_file, text=text)


def _upload(predictor, by: dict) -> None:
    if actions.refused():
        return
    left, right = st.columns([2, 1], gap="medium")
    with right:
        of = fields.radio("The file has", OF, "predict.file of", TEXTS) if predictor.packed.is_text else ROWS
    with left:
        file = sending.uploader(FILE[of], "predict.file", help=HELP[of])
    options = {"of": of}
    with right:
        if of == ROWS:
            about = "The smallest feature id in XMLC text or svmlight; files of other formats have no ids."
            options["first_index"] = fields.choice("Ids start at", (0, 1), "predict.first", 0, help=about)
        elif file is not None:
            options |= _reading(file)
    if not sending.button("Predict the file", "predict.file.start", file):
        return
    params = {"k": asked.count(predictor), **options, **by}

    def remember(key):
        _remember(predictor, visible(file.name), key, by)
        look(file="")  # the newest one, as soon as it is predicted

    sending.start(predictor.of_files, predictor.inputs, params, {"rows": file}, "predict.file", remember)


def _by(predictor, allowed) -> dict:
    """Return the parameters that say which labels a file can get, and by which decision unless its model has one."""
    kept = predictor.packed.allowed()
    own = allowed is None or np.array_equal(allowed, np.ones_like(allowed) if kept is None else kept)
    by = {"labels": None if own else written_labels(allowed)}
    return by if predictor.run is None else by | {"decision": decided.in_force(predictor.key)}


def _remember(predictor, name: str, key: str, by: dict) -> None:
    others = [other for other in _listed(predictor.list_of_files) if other["key"] != key]
    file = {"key": key, "name": name, **by}
    workspace.remember(predictor.list_of_files, [file, *others][:MOST_FILES])


def _task_again(predictor, file: dict, by: dict):
    """Return the task that predicts the rows of earlier predictions as is asked for now; None if it cannot."""
    try:
        params = store.info(experiment.KINDS[predictor.of_files].folder, file["key"])["params"]
        params = {**params, **by, "again": file["key"]}
        return experiment.task(predictor.of_files, predictor.inputs, params)
    except (store.StoreError, KeyError, ValueError, TypeError):  # also settings of a later version
        return None


def _again(predictor, file: dict, by: dict, allowed) -> None:
    """Offer to predict a file where its predictions are of another model, or not by the decision in force."""
    task = _task_again(predictor, file, by)
    if task is not None and (task.key == file["key"] or jobs.active(key=task.key)):
        return

    def start():
        tasks.start(task)
        _remember(predictor, file["name"], task.key, by)
        if not of_another:
            look(file="")

    of_another = file.get("by", predictor.key) != predictor.key
    title, name = format.plain(predictor.title), format.plain(file["name"])
    now_by = format.plain(predictor.decision(allowed))
    with st.container(horizontal=True, vertical_alignment="center"):
        if of_another:
            choose = "" if task else " Choose it above again."
            st.markdown(f"**{title}** has not predicted {name}.{choose}", width="content")
        elif task is not None:
            st.caption(f":material/history: Predicted by another decision than now: {now_by}.", width="content")
        if task is not None:
            actions.button("Predict again", key="predict.file.again", on_click=start)


def _reading(file) -> dict:
    """Return the parameters that say where the texts are: in each line, or in the guessed column or another one."""
    try:
        guess, _ = sending.preview("predict", guess_new_texts, file)
    except (ValueError, OSError):  # the task says what is wrong with the file
        return {}
    if guess.format == "lines":
        st.caption("Read as one text per line. If it is a table, let its name end in .csv or .tsv.")
        return {"of": LINES}
    if len(guess.columns) < 2:
        return {"text": guess.text}
    columns = list(guess.columns)
    first = columns.index(guess.text) if guess.text in columns else None
    about = "At first the one that seems to have the texts."
    key = f"predict.file column {file.file_id}"
    return {"text": st.selectbox("Column of the texts", columns, index=first, key=key, help=about)}


def _loaded(predictor, key) -> Predictions | None:
    """Return predictions that are kept; None, with a message, when they cannot be read."""
    try:
        return cached.loaded_by_key(predictor.of_files, key)
    except (store.StoreError, OSError) as error:
        st.error(f"The predictions cannot be read: {format.plain(str(error))}. Predict the file again.")
        return None
