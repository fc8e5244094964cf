"""Messages of errors have little of the user's data, however much there is."""

import ast
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from xmlcore import PLT, datasets, decisions, experiment, explain, figures, metrics, robustness, selection
from xmlcore.datasets import DatasetFormatError, load, make_synthetic, read_dataset, read_matrix, read_texts
from xmlcore.datasets.texts import TextVectorizer
from xmlcore.models import PackedModel

PACKAGE = Path(__file__).parent.parent / "xmlcore"
LONG = "x" * 100_000
MOST = 400 + len("xmlcore")  # characters of the user's data in a message
OWN = {"first_use.py", "wrapping.py", "run_code.py"}  # of names in Python's own words, and of Python code


def whole_values(path):
    """Yield the places of a file at which an f-string has the whole ``repr`` of a value."""
    tree = ast.parse(path.read_text())
    shown = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == "__repr__"]
    for node in ast.walk(tree):
        if isinstance(node, ast.FormattedValue) and node.conversion == ord("r") and node.format_spec is None:
            is_part = isinstance(node.value, ast.Subscript) and isinstance(node.value.slice, ast.Slice)
            is_constant = isinstance(node.value, ast.Name) and node.value.id.isupper()
            if not is_part and not is_constant and not any(f.lineno <= node.lineno <= f.end_lineno for f in shown):
                yield f"{path}:{node.lineno}"


def test_no_message_has_the_whole_of_a_value():
    assert not [place for path in PACKAGE.rglob("*.py") if path.name not in OWN for place in whole_values(path)]


SYNTHETIC = datasets.Dataset("a", np.eye(2), [[0], [1]], np.eye(2), [[0], [1]])
NAMED = PLT(random_state=0).fit(pd.DataFrame(np.eye(2), columns=[LONG, LONG[1:]]), [[0], [1]])
PLAIN = PLT(random_state=0).fit(np.eye(2), [[0], [1]])


@pytest.mark.parametrize("call", [
    lambda: PLT(C=LONG).fit(np.eye(2), [[0], [1]]),
    lambda: PLT().set_params(**{LONG: 1}),
    lambda: load(LONG),
    lambda: make_synthetic(shape=LONG),
    lambda: metrics.precision_at_k([[0]], [[0]], k=LONG),
    lambda: robustness.evaluate(None, np.eye(2), [[0], [1]], kind=LONG),
    lambda: TextVectorizer(pattern=LONG).fit(["a"]),
    lambda: robustness.lengths(np.eye(1), np.array([[LONG]])),
    lambda: decisions.best_sets(np.eye(2), {f"P@{'0' * 900}1": 1.0, "macro R@2": 1.0}),
    lambda: metrics.compare_rankings([[0]], {LONG: [[0]], "b": [[0]]}, reference="c"),
    lambda: datasets.stratified_parts([[0], [1]], [0.1] * 100_000),
    lambda: explain.agreement(pd.DataFrame({"a": [1]}), LONG),
    lambda: experiment.task("train", {"dataset": "0" * 32}, {LONG: 1}),
    lambda: experiment.task("train", {"dataset": "0" * 32}, {LONG + end: 1 for end in "abcdefghij"}),
    lambda: experiment.sweep(SYNTHETIC, "PLT", {LONG: [1]}),
    lambda: experiment.sweep(SYNTHETIC, "PLT", {"C": {LONG: 1}}),
    lambda: selection.BRDT(**{LONG: 1}).fit(np.eye(2), [[0], [1]]),
    lambda: NAMED.predict(pd.DataFrame(np.eye(2), columns=["a" + LONG, "b" + LONG])),
    lambda: PackedModel(PLAIN, feature_names=[LONG, LONG[1:]]).rows(pd.DataFrame({"a" + LONG: [1]})),
    lambda: figures.trials(pd.DataFrame({LONG: [1]})),
    lambda: figures.frontier(pd.DataFrame({LONG: [1]}), {LONG[1:]: "a"}, [LONG[2:]]),
])  # fmt: skip
def test_an_error_about_a_long_value_is_short(call):
    with pytest.raises((ValueError, TypeError)) as caught:
        call()
    assert len(str(caught.value)) < 800 and str(caught.value).count("x") <= MOST


def taking(function, name, *given):
    """Return a function of one argument, beside which the others are valid, and what an error may call it."""
    first = re.split(r"\W", name)[0]
    call, title = lambda wrong: function(**dict(given, **{first: wrong})), f"{function.__name__}-{first}"
    return pytest.param(call, name, id=title)


X, Y = np.eye(4), np.eye(4, dtype=int)
RANKING = np.array([[0, 1], [1, 0], [2, 3], [3, 2]])
FRAME = pd.DataFrame({"feature": [0], "name": ["a"], "contribution": [1.0]})
SUMMARY = pd.DataFrame([{"bucket": "all", "run": "a", "measure": "P@k"}]).assign(
    **dict.fromkeys(["k", "sigma", "mean", "low", "high", "drop_mean"], 0.0)
)
TABLE = (("summary", SUMMARY), ("level", 0.1), ("measures", ["P@k"]), ("ks", [1]), ("n_rows", {"a": 1}))
FITTED = PLT(random_state=0).fit(X, [[0], [1], [2], [3]])
WRONG = [
    None, 3, "text", [[1, 2], [3]], {"b": 1}, pd.DataFrame({"b": ["x"]}), pd.Series([[1, 2], [3]]),
    np.array([None, "a"], object), sp.csr_array((3, 7)), PLT,
]  # fmt: skip


@pytest.mark.parametrize(("call", "name"), [
    taking(metrics.compare_rankings, "rankings", ("Y_true", Y)),
    taking(metrics.intervals_of_several, "rankings?|scores", ("Y_true", Y), ("k", [1])),
    taking(metrics.first_class_by_bucket, "Y_true|buckets", ("first", [0, 1, 2, 3]), ("buckets", ["head"] * 4)),
    taking(metrics.first_class_by_bucket, "buckets", ("Y_true", Y), ("first", [0, 1, 2, 3])),
    taking(metrics.labels_by_bucket, "buckets", ("frame", metrics.by_label(Y, RANKING, 1))),
    taking(metrics.labels_by_bucket, "names", ("frame", metrics.by_label(Y, RANKING, 1)), ("buckets", ["head"] * 4)),
    taking(metrics.hamming_loss, "predictions|Y_true", ("Y_true", [[0], [1]])),
    taking(metrics.confused_rows, "missed", ("Y_true", Y), ("ranking", RANKING), ("wrong", 1)),
    taking(metrics.at_threshold, "scores"),
    taking(metrics.at_threshold, "threshold", ("scores", X)),
    taking(robustness.loss_table, "summary", *TABLE),
    taking(robustness.loss_table, "measures", *TABLE),
    taking(robustness.loss_table, "n_rows", *TABLE),
    taking(robustness.lengths, "X", ("noisy", X)),
    taking(robustness.lengths, "noisy", ("X", X)),
    taking(robustness.values_under_noise, "noisy", ("X", X), ("n", 1)),
    taking(robustness.augment, "perturbation", ("X", X), ("Y", Y)),
    taking(robustness.evaluate, "model", ("X", X), ("Y", Y)),
    taking(robustness.default_levels, "scale", ("kind", "gaussian"), ("norm", 2)),
    taking(robustness.training_sigma, "scale"),
    taking(explain.agreement, "a", ("b", FRAME)),
    taking(explain.side_by_side, "second", ("first", FRAME)),
    taking(explain.stability, "perturbation", ("model", FITTED), ("x", X[0]), ("label", 0)),
    taking(explain.label_values, "labels", ("model", FITTED), ("x", X[0])),
    taking(explain.what_if, "model", ("before", X[0]), ("after", X[1])),
    taking(explain.label_scores, "model", ("X", X), ("labels", [0, 1, 2, 3])),
    taking(explain.label_importance, "dataset", ("model", FITTED), ("label", 0)),
    taking(decisions.back_off, "rule", ("X", X)),
    taking(decisions.rule_of, "model"),
    taking(decisions.best_sets, "probabilities", ("measure", "P@1")),
    taking(selection.agreement, "fitted"),
    taking(selection.significance_graph, "p"),
    taking(datasets.describe, "dataset"),
    taking(datasets.examine, "dataset"),
    taking(datasets.all_labels, "dataset"),
    taking(datasets.label_sets, "dataset"),
    taking(datasets.without_leaks, "dataset"),
    taking(datasets.split_again, "dataset"),
    taking(datasets.with_words, "dataset", ("vectorizer", TextVectorizer())),
    taking(datasets.label_pairs, "Y"),
    taking(datasets.unlike_test_rows, "rows", ("test", FRAME)),
    taking(datasets.stratified_parts, "shares", ("Y", [[0], [1]])),
    taking(experiment.run, "dataset", ("model", "OneVsRest")),
    taking(experiment.evaluate, "dataset", ("model", FITTED)),
    taking(experiment.measure_ranking, "dataset", ("ranking", RANKING)),
    taking(experiment.select, "dataset"),
    taking(experiment.learning_curve, "dataset"),
    taking(experiment.compare_selections, "dataset", ("selections", [None])),
    taking(experiment.add_predictions, "dataset", ("predictions", RANKING), ("name", "a")),
    taking(experiment.estimator, "model"),
    taking(experiment.selector, "method"),
    taking(experiment.task, "kind"),
    taking(experiment.parameters, "frame"),
    taking(experiment.seeds_grouped, "frame"),
    taking(experiment.best_of_models, "lines", ("measure", "P@1")),
    taking(experiment.latex_table, "frame"),
    taking(experiment.main_effects, "trials", ("parameters", ["C"])),
    taking(experiment.prefix_points, "model"),
    taking(experiment.scaled, "shape", ("share", 0.5)),
])  # fmt: skip
def test_what_is_of_another_kind_is_refused_by_its_name(call, name):
    for wrong in WRONG:
        try:
            call(wrong)
        except (ValueError, TypeError) as error:
            assert re.search(rf"\b({name})\b", str(error)), type(wrong).__name__


@pytest.mark.parametrize(("name", "content", "read", "options"), [
    ("a.csv", f"{LONG},b\n1,2\n", read_matrix, {}),
    ("a.csv", f"{LONG},{LONG}\n1,2\n", read_matrix, {"labels": [LONG]}),
    ("a.csv", f"a,b\n1,{LONG}\n", read_matrix, {"labels": -1}),
    ("a.txt", f"1 2 2\n{LONG} 0:1\n", read_matrix, {}),
    ("a.arff", f"@relation a\n@attribute {LONG} {LONG}\n@data\n1\n", read_matrix, {"labels": [LONG]}),
    ("a.jsonl", f'{{"{LONG}": 1}}\n', read_texts, {"text": "b"}),
    ("a.jsonl", "{" + ", ".join(f'"{end}{LONG}": 1' for end in range(9)) + "}\n", read_texts, {"text": "b"}),
    ("a.tsv", f"{LONG}\t{LONG}\nb\tc\n", read_texts, {"text": LONG, "labels": "d"}),
])  # fmt: skip
def test_an_error_about_a_file_of_long_names_is_short(name, content, read, options, tmp_path):
    (tmp_path / name).write_text(content)
    with pytest.raises(DatasetFormatError) as caught:
        read(tmp_path / name, **options)
    message = str(caught.value).replace(str(tmp_path), "")
    assert len(message) < 1300 and message.count("x") <= MOST


@pytest.mark.parametrize("read", [read_dataset, read_texts])
def test_an_error_about_a_long_name_of_a_file_is_short(read):
    with pytest.raises(OSError) as caught:
        read(LONG)
    assert str(caught.value).count("x") <= MOST
