"""Which rows should be labelled next: how many labels are needed until a model is as precise as with all?

    python -m benchmarks.labelling FOLDER --data bibtex cooking wordnet-class

Of at most 12,000 training rows, a fifth is held out, and 5 % of the others have labels at first. PLT() is trained on
the rows with labels, `review.to_label` chooses as many further ones as there were at first, and so on, until six tenths
have labels. P@1 and P@5 are measured on the rows held out, by which the default way was chosen, and on the test rows.
The labels needed are the share of the rows at which a curve first reaches 95 % of the precision with all labels.
"""

import numpy as np

from benchmarks.library import command, tables
from benchmarks.library.data import measure_each
from xmlcore import PLT, metrics, review
from xmlcore.review.labelling import WAYS

FIRST, LAST, ENOUGH = 0.05, 0.6, 0.95
MOST_ROWS, SEEDS = 12_000, 3
PLACES = {"P@1": 0, "P@5": 1}


def precision(model, X, Y):
    P = metrics.precision_at_k(Y, model.predict_topk(X, 5), 5)
    return [float(P[0]), float(P[4])]


def curve(data, rows, held_out, way, seed):
    """Return P@1 and P@5 on the rows held out and on the test rows, by number of batches."""
    labelled, left, n, points = *np.split(rows, [round(FIRST * rows.size)]), round(FIRST * rows.size), []
    while True:
        model, found = point(data, labelled, held_out)
        points.append(found)
        if labelled.size >= LAST * rows.size or not left.size:
            return points
        chosen = review.to_label(model, data.X_train[left], n, by=way, n_suggestions=1, random_state=seed)[
            "row"
        ].unique()
        labelled, left = np.append(labelled, left[chosen]), np.delete(left, chosen)


def measure(data, _):
    for seed in range(SEEDS):
        rows = np.random.default_rng(seed).permutation(data.n_train)[:MOST_ROWS]
        held_out, rows = np.split(rows, [rows.size // 5])
        curves = {way: curve(data, rows, held_out, way, seed) for way in WAYS}
        yield {"seed": seed, "curves": curves | {"all": [point(data, rows, held_out)[1]]}}


def point(data, rows, held_out):
    """Return a model of some rows, and its P@1 and P@5 on the rows held out and on the test rows."""
    model = PLT().fit(data.X_train[rows], data.Y_train[rows])
    here = precision(model, data.X_train[held_out], data.Y_train[held_out])
    return model, here + precision(model, data.X_test, data.Y_test)


def needed(points, most, place):
    """Return the percent of rows with labels, between batches by straight lines; inf if they are never enough."""
    values, wanted = np.array(points)[:, place], ENOUGH * most[0][place]
    shares = 100 * FIRST * np.arange(1, len(points) + 1)
    at = int(np.argmax(values >= wanted))
    if values[at] < wanted:
        return np.inf
    return float(np.interp(wanted, values[at - 1 : at + 1], shares[at - 1 : at + 1]) if at else shares[0])


def markdown(results):
    def written(value):
        return "never" if value == np.inf else f"{value:.0f}"

    texts = ["# Rows to label next", tables.measured_text(results)]
    for first, of in ((0, "the rows held out"), (2, "the test rows")):
        lines = []
        for name in dict.fromkeys(run["name"] for run in results["runs"]):
            runs = [run["curves"] for run in results["runs"] if run["name"] == name]
            for way in WAYS:
                cells = []
                for place in PLACES.values():
                    cells.append(tables.spread([needed(c[way], c["all"], first + place) for c in runs], form=written))
                for place in PLACES.values():
                    means = [100 * np.mean(np.array(c[way])[1:, first + place]) for c in runs]
                    cells.append(tables.spread(means, form=tables.points))
                lines.append([name, way, *cells])
        heads = [f"labels for {form}, %" for form in PLACES] + [f"mean {form}, %" for form in PLACES]
        texts.append(
            f"On {of}: the share of rows with labels at which {100 * ENOUGH:.0f} % of the precision with all "
            f"are reached, and the mean precision over all batches; median, lowest and highest of the seeds."
        )
        texts.append(tables.table(["data", "way", *heads], lines, 2))
    return tables.document(*texts)


if __name__ == "__main__":
    measure_each(command.parser("labelling", __doc__), measure, markdown)
