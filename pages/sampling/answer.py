"""The answer of the Sampling page: a sentence and cards."""

import numpy as np

from pages.sampling.view import one_class
from pages.shared import format, tables
from pages.shared.results import results

MACRO_F1 = "F1 of means"  # the measure that the paper calls macro-F1; the Train page has another of that name
MACRO_F1_HELP = (
    "F1 of two means over labels: of the precision and of the recall of each label, when one label is predicted for a "
    "row. The macro F1 of the Train page is another measure: the mean of the labels’ F1 when 1, 3 or 5 are predicted."
)


def about_model(view, named: bool) -> str:
    """Return the size of the model and how well it separates training pairs; with ``named``, also its settings."""
    title = f"{results.trained(view.record)} " if named else ""
    risk = format.probability(view.model.empirical_risk_)
    return (
        f"{title}The model takes {format.size(view.run.size['model_bytes'])}. It ranks labels by f, a weighted sum of "
        f"features of a row and a label; in {risk} of the training pairs the true label does not have the larger "
        "f (the empirical risk). Method and published settings: Joshi et al., NIPS 2017."
    )


def sentence(view, study) -> str:
    accuracy = one_class(view.key)[0]
    name = format.plain(view.name)
    if not np.isfinite(accuracy):
        text = f"No test row of **{name}** has a label, so no prediction can be right. "
    else:
        text = (
            f"On **{name}** the label that double sampling predicts first is right for "
            f"**{format.percent(view.p_at_1)}** of the test rows (P@1, as on the Train page). "
            f"**Accuracy, as published, is {format.percent(accuracy)}**{_accuracy(view.data)} "
        )
        recall = _recall(study, view.q)
        if np.isfinite(recall):
            text += (
                f"A true label can be found only if it is a candidate: **{format.percent(recall)}** of them are among "
                f"the {format.count(view.q, 'candidate')} of their row. "
            )
    noisy = ""
    if view.n_noisy > 0:
        noisy = f" and {format.count(view.n_noisy, 'noisy copy', 'noisy copies')} of these examples"
    return (
        f"{text}It learned from **{view.n_copies:,}** sampled copies of "
        f"{format.count(view.n_examples, 'training example')}{noisy}, each against {_adversaries(view)}, in "
        f"**{format.duration(view.run.times['fit_s'])}**."
    )


def _accuracy(data) -> str:
    """Return the end of a sentence that names the accuracy: what it counts, in short; :func:`counted` says all."""
    rows, examples = int(np.count_nonzero(np.diff(data.Y_test.indptr))), data.Y_test.nnz
    if rows == examples:
        return f": {counted(data)}"
    most = format.percent(rows / examples)
    return (
        f": the share of all true labels that are predicted, which is micro R@1. One is predicted for each row, so it "
        f"is at most {most}."
    )


def counted(data) -> str:
    classes_of_row = np.diff(data.Y_test.indptr)
    n_rows, n_examples, n_with_class = data.n_test, int(classes_of_row.sum()), int(np.count_nonzero(classes_of_row))
    without = ""
    if n_with_class < n_rows:
        without = f", and leaves out the {format.count(n_rows - n_with_class, 'row')} without a label"
    if n_examples == n_with_class:
        if not without:
            return "every test row has one label, so it is the same as P@1."
        return f"it counts the {format.count(n_with_class, 'test row')} with a label{without}, which are wrong for P@1."
    return (
        f"it counts each label of a row as an example of its own{without}. The {n_rows:,} test rows have "
        f"{n_examples:,} true labels together, and the one predicted for a row can be right for only one of them, so "
        f"accuracy is at most {format.percent(n_with_class / n_examples)}."
    )


def _recall(study, q) -> float:
    """Return the share of test examples whose class is among q candidates; NaN where it was not measured."""
    if study is None:
        return float("nan")
    at = study.candidates.loc[study.candidates["n_candidates"] == q, "recall"]
    return float(at.iloc[0]) if len(at) else float("nan")


def _adversaries(view) -> str:
    most = format.count(view.kappa, "other label")
    if view.model.n_pairs_ == view.n_copies * view.kappa:
        return most
    return f"up to {most} (about {view.model.n_pairs_ / max(1, view.n_copies):.1f} on average)"


def cards(view, study) -> None:
    accuracy, macro = one_class(view.key)
    model, times = view.model, view.run.times
    pairs = (
        f"Comparisons that f was learned from: {format.count(view.n_copies, 'copy', 'copies')} of examples, each "
        f"against {_adversaries(view)}. κ is {view.kappa:,}."
    )
    recall = _recall(study, view.q)
    among = "Share of test examples whose label is among the candidates: the most that accuracy can be."
    tables.cards(
        [
            (
                "P@1",
                format.percent(view.p_at_1),
                "Share of test rows whose first label is right, as on the Train page.",
            ),
            (
                "Accuracy",
                format.percent(accuracy),
                f"Share of test examples whose label is predicted first: {counted(view.data)}",
            ),
            (MACRO_F1, format.percent(macro), f"{MACRO_F1_HELP} The paper calls it macro-F1."),
            *([(f"True label among {view.q:,}", format.percent(recall), among)] if np.isfinite(recall) else []),
            ("Pairs", f"{model.n_pairs_:,}", pairs),
            ("Training", format.duration(times["fit_s"]), "On this machine, in one worker process."),
            ("Prediction", f"{format.duration(times['predict_ms_per_row'] / 1000)}/row", "Mean over all test rows."),
        ]
    )
