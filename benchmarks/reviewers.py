"""Does a review help? A reviewer of the first doubts beside one of random rows, both with errors of their own.

    python -m benchmarks.reviewers FOLDER --data bibtex cooking delicious wordnet-hyper

Among the labels of at most 12,000 training rows faults are planted by frequency, as in `benchmarks.review`. The *queue*
is the list of `review.doubts`, as the page has it, decided from its beginning. *Random rows* are shown one after the
other with the labels that they have and the first five that they lack, and all of these are decided. A share of a
reviewer's decisions is wrong. After as many decisions as 1, 2, 5 and 10 % of the labels given, PLT() is trained again.
Both are charged for each row that they turn to, and for each decision.
"""

import statistics

import numpy as np

from benchmarks.labelling import MOST_ROWS, precision
from benchmarks.library import command, tables
from benchmarks.library.data import measure_each
from benchmarks.review import as_labels, plant
from xmlcore import PLT, review

SHARES, ERRORS, SEEDS = (0.01, 0.02, 0.05, 0.1), (0.0, 0.05, 0.1), 3
BEFORE = range(5)  # seeds of trainings by labels that nobody has reviewed
SHOWN = 5  # labels that a random row lacks
READING, DECIDING = 15, 3  # seconds for a row, and for a decision about it
QUEUE, RANDOM = REVIEWERS = ("queue", "random rows")


def orders(found, rng):
    """Return the lines of doubts that each reviewer decides, in their order."""
    lacks = found["kind"] == "missing"
    shown = found[~lacks | (found[lacks].groupby("row").cumcount() < SHOWN).reindex(found.index, fill_value=False)]
    turns = rng.permutation(found["row"].max() + 1)[shown["row"]]
    return {QUEUE: found, RANDOM: shown.iloc[np.argsort(turns, kind="stable")]}


def steps(Y, faults, lines, rng):
    """Return what was decided by each share and with each share of errors, and the labels that it makes."""
    row, L = lines["row"].to_numpy(), Y.shape[1]
    places, chance = row * L + lines["label"].to_numpy(), rng.random(row.size)
    given, is_fault = np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr)) * L + Y.indices, np.isin(places, faults)
    for share in SHARES:
        n = round(share * Y.nnz)
        for errors in ERRORS:
            changed = is_fault[:n] ^ (chance[:n] < errors)
            found = {"share": share, "errors": errors, "decisions": n, "rows": 1 + int((np.diff(row[:n]) != 0).sum()),
                     "shown": int(is_fault[:n].sum()), "mended": int((changed & is_fault[:n]).sum()),
                     "spoilt": int((changed & ~is_fault[:n]).sum())}  # fmt: skip
            yield found, as_labels(np.setxor1d(given, places[:n][changed]), Y.shape)


def after(data, X, labels, seeds):
    """Return P@1 and P@5 on the test rows after training by some labels, means of trainings with some seeds."""
    models = (PLT(random_state=seed).fit(X, labels) for seed in seeds)
    return np.mean([precision(model, data.X_test, data.Y_test) for model in models], axis=0).tolist()


def measure(data, _):
    for seed in range(SEEDS):
        rng = np.random.default_rng(seed)
        rows = rng.permutation(data.n_train)[:MOST_ROWS]
        X, truth = data.X_train[rows], data.Y_train[rows]
        Y, faults = plant(X, truth, "by frequency", seed)
        run = {"seed": seed, "labels": Y.nnz, "faults": faults.size, "steps": []}
        run |= {"planted": after(data, X, Y, BEFORE), "right": after(data, X, truth, BEFORE)}
        for reviewer, lines in orders(review.doubts(PLT(), X, Y, random_state=seed), rng).items():
            for step, labels in steps(Y, faults, lines, rng):
                run["steps"].append({"reviewer": reviewer} | step | {"P": after(data, X, labels, [seed])})
        yield run


def an_hour(step, what):
    return 3600 * what / (READING * step["rows"] + DECIDING * step["decisions"])


def break_even(queue, random):
    """Return seconds for a row, over those for a decision, with which random rows show as many faults an hour."""
    f, g, r, s = queue["shown"], random["shown"], queue["rows"], random["rows"]
    return (f - g) / (g * r - f * s) * queue["decisions"] if g * r > f * s else None


def markdown(results):
    runs, faults, gains, bounds = results["runs"], [], [], []

    def cell(values, form):
        return tables.spread(values, statistics.mean, form)

    for name in dict.fromkeys(run["name"] for run in runs):
        of = [run for run in runs if run["name"] == name]
        bounds.append([name, f"{of[0]['labels']:,}", f"{of[0]['faults']:,}"])
        bounds[-1] += [
            cell([100 * run[key][k] for run in of], tables.points) for k in (0, 1) for key in ("planted", "right")
        ]
        for share in SHARES:
            at = {(step["reviewer"], step["errors"]): [] for step in of[0]["steps"]}
            for run in of:
                for step in run["steps"]:
                    if step["share"] == share:
                        change = [100 * (a - b) for a, b in zip(step["P"], run["planted"])]
                        at[step["reviewer"], step["errors"]].append(step | {"change": change})
            queue, random = (at[reviewer, 0.0] for reviewer in REVIEWERS)
            evens = [even for even in map(break_even, queue, random) if even is not None]
            faults.append([
                name, f"{100 * share:.0f} %", f"{queue[0]['decisions']:,}",
                *(cell([100 * step["shown"] / step["decisions"] for step in at[reviewer, 0.0]], tables.number)
                  for reviewer in REVIEWERS),
                *(cell([an_hour(step, step["mended"] - step["spoilt"]) for step in at[reviewer, errors]], tables.whole)
                  for errors in ERRORS for reviewer in REVIEWERS),
                cell(evens, tables.number) if len(evens) == len(of) else "never",
            ])  # fmt: skip
            for reviewer in REVIEWERS:
                gains.append([name, f"{100 * share:.0f} %", reviewer, *(
                    cell([step["change"][k] for step in at[reviewer, errors]], "{:+.2f}".format)
                    for k in (0, 1) for errors in ERRORS
                )])  # fmt: skip
    with_errors = [f"{100 * errors:.0f} % errors" for errors in ERRORS]
    return tables.document(
        "# Does a review help?", tables.measured_text(results) + " Means, lowest and highest of the seeds.",
        tables.table(["data", "labels given", "faults", "P@1", "P@1, all right", "P@5", "P@5, all right"], bounds),
        f"Faults in a hundred decisions; and those mended an hour, less the labels that a reviewer's own errors spoil, "
        f"at {READING} s for a row and {DECIDING} s for a decision. Break-even: random rows show as many faults an "
        f"hour as the queue where a row takes so many times as long as a decision.",
        tables.table(["data", "decided", "decisions", "queue, of 100", "random rows, of 100",
                      *(f"{reviewer}, an hour, {errors}" for errors in with_errors for reviewer in REVIEWERS),
                      "break-even"], faults, 2),
        "Points of P@1 and P@5 gained by training again.",
        tables.table(["data", "decided", "reviewer", *(f"P@{k}, {errors}" for k in (1, 5) for errors in with_errors)],
                     gains, 3),
    )  # fmt: skip


if __name__ == "__main__":
    measure_each(command.parser("reviewers", __doc__), measure, markdown)
