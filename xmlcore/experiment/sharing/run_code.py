"""The lines of Python that make a kept run again: its data set, its model and its measures."""

from collections.abc import Container
from typing import Any

from xmlcore import store
from xmlcore.experiment.catalog import MODELS, NOISE_NAMES
from xmlcore.experiment.engine.task import KINDS, load
from xmlcore.experiment.kinds.prepare import WAYS
from xmlcore.experiment.kinds.read import LABEL_TABLE, vectorizer_of

# Kinds of tasks that make data sets, in the order in which we ask.
MAKERS = ("prepare", "synthetic", "split", "correct", "read", "read_texts", "words")
GIVEN = "your-{}-file.txt"  # what code calls an uploaded file whose name is not known
_IMPORT = "from xmlcore import {}"


def code_of(key: str, files: dict[str, Any] | None = None, makers: Container[str] | None = None) -> str:
    """Return the lines of Python that make a kept run again, for a notebook."""
    run = load("train", key)
    if not run.has_model:
        raise store.StoreError(f"another program has made the predictions of run {key}, so no code makes them again")
    data, made_here = data_code(run.fingerprint, files or {}, makers)
    imports, model = model_code(run.model, run.params)
    first = run.measures[(run.measures["measure"] == "P@k") & (run.measures["k"] == 1)]["value"]
    known = f"  # P@1 was {100 * float(first.iloc[0]):.2f} %" if len(first) else ""
    check = f'assert data.content_hash == "{run.content_hash}", "the data set has other content than that of the run"'
    lines = [
        f"# {_comment(run.model)} on {_comment(run.dataset_name)}, trained {_comment(run.created)}",
        *sorted(imports),
        _IMPORT.format("datasets, evaluate"),
        "",
        *data,
        check,
        "",
        f"model = {model}",
        *([] if "members" in run.params else ["model.fit(data.X_train, data.Y_train)"]),
        f"measures = evaluate(model, data, k={run.k})",
        f'print(measures["P@k"]){known}',
    ]
    if not made_here:
        lines.insert(1, "# The data set is read from this machine's cache: where it comes from is not known.")
    return "\n".join(lines) + "\n"


def model_code(model: str, params: dict) -> tuple[list[str], str]:
    """Return the imports that a model needs, and the expression that makes its estimator, or a fitted mixture."""
    info, members = MODELS[model], params.get("members", ())
    noise = {passed: params.get(name, info.defaults[name]) for name, passed in NOISE_NAMES.items()}
    own = {name: value for name, value in params.items() if name not in (*NOISE_NAMES, "members")}
    written = {name: value for name, value in own.items() if name == "random_state" or info.defaults.get(name) != value}
    imports = [_IMPORT.format(model)]
    expression = f"{model}({_arguments(written)})"
    if noise["sigma"] > 0:
        imports.append("from xmlcore.robustness import AdversarialTraining")
        noise["random_state"] = params.get("random_state", 0)
        expression = f"AdversarialTraining({expression}, {_arguments(noise)})"
    elif members:
        parts = [model_code(one["model"], one["params"]) for one in members]
        imports += [line for lines, _ in parts for line in lines]
        fits = ["" if "members" in one["params"] else ".fit(data.X_train, data.Y_train)" for one in members]
        models = "".join(f"\n    {code}{fit}," for (_, code), fit in zip(parts, fits))
        expression = f"Mixture.of([{models}\n], data.X_train, data.Y_train, {_arguments(written)})"
    return list(dict.fromkeys(imports)), expression


def data_code(fingerprint: str, files: dict, makers: Container[str] | None = None) -> tuple[list[str], bool]:
    """Return the lines that make a kept data set as ``data``, and whether it is known how it was made."""
    made = made_by_task(fingerprint, makers)
    if made is None:
        return [f'data = datasets.load_saved("{fingerprint}")'], False
    kind, inputs, params = made
    defaults = {parameter.name: parameter.default for parameter in KINDS[kind].PARAMETERS}
    changed = {name: value for name, value in params.items() if value != defaults.get(name)}
    if kind == "prepare":
        return [f"data = datasets.load({_literal(params['name'])})"], True
    if kind == "synthetic":
        written = changed | {name: params[name] for name in ("shape", "random_state")}
        return [f"data = datasets.make_synthetic({_arguments(written)})"], True
    if kind in ("read", "read_texts"):
        return _reading_code(kind, params, changed, files), True
    before, known = data_code(inputs["dataset"], files, makers)
    if kind == "words":
        return [*before, *_vectorizer_code(params), "data = datasets.with_words(data, vectorizer)"], known
    if kind == "correct":
        labels = f"corrected(data.Y_train, {_literal([made[:3] for made in params['decisions']])})"
        lines = ["from dataclasses import replace", "from xmlcore.review import corrected"]
        return [*before, *lines, "", f"data = replace(data, Y_train={labels})"], known
    return [*before, *_split_code(params)], known


def _reading_code(kind, params, changed, files) -> list[str]:
    names = {role: files.get(role) or GIVEN.format(role.replace("_", "-")) for role in params["files"]}
    options = {name: value for name, value in changed.items() if name not in ("files", "vectorizer")}
    if "test" not in names:
        options |= {name: params[name] for name in ("test_size", "random_state")}
    table = [f"data = datasets.with_label_table(data, {_literal(names.pop(one))})" for one in {*names} & {LABEL_TABLE}]
    arguments = [_literal(names.pop("train")), *filter(None, [_arguments(names | options)])]
    if kind == "read":
        return [f"data = datasets.read_dataset({', '.join(arguments)})", *table]
    arguments = ", ".join([*arguments, "vectorizer=vectorizer"])
    return [*_vectorizer_code(params), f"data = datasets.read_text_dataset({arguments})", *table]


def _vectorizer_code(params) -> list[str]:
    made = f"datasets.{vectorizer_of(params['vectorizer'])!r}"
    return ["from xmlcore.models import words_by_trials", "", f"vectorizer = words_by_trials({made})"]


def made_by_task(fingerprint: str, makers: Container[str] | None = None) -> tuple[str, dict, dict] | None:
    """Return which kept task made a data set: its kind, inputs and parameters; None if none of ``makers`` has."""
    for kind in MAKERS:
        for record in store.entries(KINDS[kind].folder):
            is_named = "params" in record and (makers is None or record["key"] in makers)
            try:
                if not is_named or load(kind, record["key"]).dataset != fingerprint:
                    continue
            except store.StoreError:  # it cannot be read, or was removed meanwhile
                continue
            inputs = record.get("inputs") or {}
            if inputs.get("dataset") != fingerprint:  # a split that changed nothing leads nowhere
                return kind, inputs, record["params"]
    return None


def _split_code(params) -> list[str]:
    way = params["way"]
    values = {name: params[name] for name in WAYS[way] if name in params}
    if way == "unseen":
        return ["data = datasets.without_leaks(data)"]
    if way != "file":
        return [f'data = datasets.split_again(data, "{"random" if way == "random" else "stratified"}", '
                f"{_arguments(values)})"]  # fmt: skip
    paths = ", ".join(_literal(GIVEN.format(f"{part}-rows")) for part in ("train", "test"))
    numbers = _arguments({"column": params["column"], "first": params["first"]})
    lines = [f"rows = [datasets.read_row_numbers(path, {numbers}) for path in ({paths})]"]
    if params["drawn_with"] is not None:
        lines.append(f"place = datasets.rows_of_file(data.n_train, data.n_test, {params['drawn_with']})")
        lines.append("rows = [place[part] for part in rows]")
    return [*lines, "data = datasets.resplit(data, *rows)"]


def _arguments(values: dict) -> str:
    return ", ".join(f"{name}={_literal(value)}" for name, value in values.items())


def _literal(value) -> str:
    """Return a plain value as code, texts with double quotes where that is safe."""
    if isinstance(value, str) and value.isprintable() and not set(value) & {'"', "\\"}:
        return f'"{value}"'
    return repr(value)


def _comment(text) -> str:
    """Return a text that cannot end the line of its comment."""
    return "".join(letter if letter.isprintable() else " " for letter in str(text))
