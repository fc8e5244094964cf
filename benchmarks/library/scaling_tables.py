"""Exponents and tables of the scaling study."""

import math

import numpy as np

from benchmarks.library import tables
from xmlcore.parameters import AUTO

BEAM = 10
REAL = "L, real data"
UNSURE = "L, N and D, unsure"
AXES = {  # what grows along each
    "N": ("n_train",),
    "D": ("n_features",),
    "L": ("n_labels",),
    "L and N": ("n_labels", "n_train"),
    "L, N and D": ("n_labels", "n_train", "n_features"),
    UNSURE: ("n_labels", "n_train", "n_features"),
}
AXIS_TITLES = {
    "N": "Training rows N grow",
    "D": "Features D grow, nonzeros per row stay",
    "L": "Labels L grow, N stays: rows per label shrink",
    "L and N": "Labels and training rows grow together: rows per label stay",
    "L, N and D": "Labels, training rows and features grow together: rows and features per label stay",
    UNSURE: "The same with rows that say less: "
    "40 nonzeros, three words in ten of nothing, 3 labels, one in ten exchanged",
    REAL: "Real data: its most frequent labels, the training rows that have one, all test rows",
}
SCALED = AXES | {REAL: ("n_labels", "n_train")}
SYMBOLS = {"n_train": "N", "n_features": "D", "n_labels": "L"}
EVERYWHERE = "all points"


def exponent(xs, ys):
    """Return the slope of log y against log x by least squares: the power of x with which y grows.

    Returns
    -------
    dict, or None with fewer than three different x
        "exponent", its standard error "error" (of a straight line through points with independent errors of one size),
        "last", the slope of the last step, and "range", largest x divided by smallest.
    """
    order = np.argsort(xs, kind="stable")
    x, y = np.log(np.asarray(xs, float)[order]), np.log(np.asarray(ys, float)[order])
    if np.unique(x).size < 3:
        return None
    dx = x - x.mean()
    slope = dx @ y / (dx @ dx)
    rest = y - y.mean() - slope * dx
    error = math.sqrt(rest @ rest / (x.size - 2) / (dx @ dx))
    last = (y[-1] - y[-2]) / (x[-1] - x[-2]) if x[-1] > x[-2] else None
    return {"exponent": slope, "error": error, "last": last, "range": math.exp(x[-1] - x[0]), "points": x.size}


WHAT = {
    "training time": lambda run: run["train_s"],
    "training memory": lambda run: run.get("memory_rise"),
    "exact top 5 per row": lambda run: run["exact_us"],
    f"beam {BEAM} per row": lambda run: run["beam_us"],
}
AGAINST = {
    "nonzeros × depth": lambda run: run["nonzeros"] * run["depth"],
    "nodes' nonzeros": lambda run: run["node_nonzeros"],
    "nonzeros": lambda run: run["nonzeros"],
    "N": lambda run: run["n_train"],
    "D": lambda run: run["n_features"],
    "L": lambda run: run["n_labels"],
}
EXACT, BEAMED = "exact top 5 per row", f"beam {BEAM} per row"
WANTED = {  # words, least, most
    ("training time", "nonzeros × depth"): ("near 1 (0.85 to 1.15)", 0.85, 1.15),
    (EXACT, "L"): ("at most 0.35", -math.inf, 0.35),
    (BEAMED, "L"): ("at most 0.35", -math.inf, 0.35),
}
BY_LABELS = ("L", "L and N", "L, N and D", UNSURE, REAL)
FITS = (
    ("training time", "nonzeros × depth", ("N", "L and N", "L, N and D", EVERYWHERE)),
    ("training time", "nodes' nonzeros", ("N", "L and N", "L, N and D", EVERYWHERE)),
    ("training time", "D", ("D",)),
    ("training time", "L", ("L",)),
    ("training memory", "nonzeros", ("N", "L and N", "L, N and D")),
    (EXACT, "L", BY_LABELS),
    (BEAMED, "L", BY_LABELS),
    (EXACT, "N", ("N",)),
    (BEAMED, "N", ("N",)),
    (EXACT, "D", ("D",)),
    (BEAMED, "D", ("D",)),
)


def fits(results):
    """Return all exponents: dicts of :func:`exponent` with "what", "against", "axis" and "arity"."""
    found = []
    for what, against, axes in FITS:
        for axis in axes:
            for arity in sorted({run["arity"] for run in results["runs"]}):
                runs = [run for run in on_axis(results, axis) if run["arity"] == arity]
                pairs = [(AGAINST[against](run), WHAT[what](run)) for run in runs]
                pairs = [(x, y) for x, y in pairs if y is not None and y > 0]
                fit = exponent(*zip(*pairs)) if pairs else None
                if fit is not None:
                    if axis == EVERYWHERE:
                        fit["last"] = None  # neighbours there differ in more than size
                    found.append({"what": what, "against": against, "axis": axis, "arity": arity} | fit)
    return found


def on_axis(results, axis):
    """Return the complete runs along an axis, ordered by what grows."""
    runs = [run for run in results["runs"] if "failed" not in run]
    runs = [run for run in runs if (REAL not in run["axes"] if axis == EVERYWHERE else axis in run["axes"])]
    names = SCALED.get(axis, ("n_train",))
    return sorted(runs, key=lambda run: ([run[name] for name in names], run["arity"]))


def markdown(results):
    """Return all tables of the results as Markdown."""
    return scaling_markdown(results) if results["kind"] == "scaling" else amazon_markdown(results)


def about_text(results):
    """Return sentences on when, where and how the results were measured."""
    params = ", ".join(f"{name}={value!r}" for name, value in results["params"].items())
    lines = [
        f"{tables.measured_text(results)} One tree, `{params}`. "
        f"Compiling all kernels beforehand took {results['compile_s']:.0f} s."
    ]
    lines += tables.noise_lines(results)
    lines += [
        f"**N={run['n_train']:,}, D={run['n_features']:,}, L={run['n_labels']:,}, arity {run['arity']} failed**: "
        f"{run['failed']}; it is in no table."
        for run in results["runs"]
        if "failed" in run
    ]
    return "\n".join(lines)


def scaling_markdown(results):
    """Return all tables of the study as Markdown."""
    base = results["base"]
    sizes = ", ".join(f"{SYMBOLS[name]} = {base[name]:,}" for name in SYMBOLS)
    parts = [
        about_text(results),
        f"Base point: {sizes}; {base['features_per_row']:g} nonzeros and {base['labels_per_row']:g} labels per row, "
        f"label r of the most frequent ones as often as r^-{base['label_exponent']:g}; "
        f"{100 * base['feature_noise']:g} % of the words say nothing, {100 * base['label_noise']:g} % of the labels "
        f"are exchanged; {base['n_test']:,} test rows."
        + (f" Real data: {results['labels_of']}." if "labels_of" in results else "")
        + (" **A trial: small data, three points to an axis, fixed costs still show.**" if results["quick"] else ""),
        verdicts(results),
        exponents_table(results),
        *(axis_table(results, axis) for axis in SCALED),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def exponents_table(results):
    """Return the table of exponents."""
    found = fits(results)
    arities = sorted({fit["arity"] for fit in found})
    rows = []
    for what, against, axes in FITS:
        for axis in axes:
            by_arity = {f["arity"]: f for f in found if (f["what"], f["against"], f["axis"]) == (what, against, axis)}
            if not by_arity:
                continue
            first = next(iter(by_arity.values()))
            row = [what, against, axis, f"×{tables.number(first['range'], 2)}"]
            for arity in arities:
                fit = by_arity.get(arity)
                row += ["–", "–"] if fit is None else [as_exponent(fit), as_last(fit)]
            rows.append([*row, WANTED.get((what, against), ("",))[0], verdict(what, against, by_arity)])
    if not rows:
        return ""
    head = ["what", "against", "along", "range"]
    for arity in arities:
        head += [f"exponent, arity {arity}", "last step"]
    return "**Exponents** (± standard error)\n\n" + tables.table([*head, "target", "met"], rows, left=3)


def verdict(what, against, by_arity):
    """Return whether exponents of an axis meet the target, by arity if that differs; an empty text without a target."""
    if (what, against) not in WANTED:
        return ""
    _, least, most = WANTED[what, against]
    said = {arity: "met" if least <= fit["exponent"] <= most else "missed" for arity, fit in by_arity.items()}
    if len(set(said.values())) == 1:
        return next(iter(said.values()))
    return ", ".join(f"arity {arity} {word}" for arity, word in said.items())


def verdicts(results):
    """Return targets and outcomes in words, a line for each."""
    found, lines = fits(results), []
    for (what, against), (wanted, _, _) in WANTED.items():
        said = {}
        for fit in found:
            if (fit["what"], fit["against"]) == (what, against):
                word = verdict(what, against, {fit["arity"]: fit})
                said.setdefault(word, []).append(f"{fit['axis']} at arity {fit['arity']} ({as_exponent(fit)})")
        if said:
            parts = [f"{word} along " + "; ".join(said[word]) for word in ("met", "missed") if word in said]
            lines.append(f"- **{what}, exponent against {against}: {wanted}** — {'. '.join(parts)}.")
    return "\n".join(lines)


def as_exponent(fit):
    """Return an exponent with its error as text."""
    return f"{fit['exponent']:.2f} ± {fit['error']:.2f}"


def as_last(fit):
    """Return the slope of the last step as text."""
    return "–" if fit["last"] is None else f"{fit['last']:.2f}"


def axis_table(results, axis):
    """Return the table of the runs along an axis."""
    runs = on_axis(results, axis)
    if not runs:
        return ""
    head = [
        *(SYMBOLS[name] for name in SCALED[axis]), "arity", "rows per label", "nonzeros, M", "nodes' nonzeros, M",
        "depth", "training s", "of it clustering", "peak MiB, whole process", "rise in training, MiB", "weights, M",
        "exact top 5, µs/row", f"beam {BEAM}, µs/row", "P@1", f"P@1, beam {BEAM}", "P@1 of frequency alone",
    ]  # fmt: skip
    rows = []
    for run in runs:
        row = [f"{run[name]:,}" for name in SCALED[axis]]
        row += [str(run["arity"]), tables.number(run["labels"] / run["n_labels"], 2)]
        row += [tables.number(run[name] / 1e6) for name in ("nonzeros", "node_nonzeros")] + [str(run["depth"])]
        row += [tables.number(run["train_s"]), tables.number(clustering_s(run))]
        row += [tables.mebibytes(run.get(name)) for name in ("memory_peak", "memory_rise")]
        row.append(tables.number(run["n_weights"] / 1e6))
        row += [tables.number(run[name]) for name in ("exact_us", "beam_us")]
        row += [f"{run[name][0]:.1f}" for name in ("exact_precision", "beam_precision", "frequency_precision")]
        rows.append(row)
    return f"**{AXIS_TITLES[axis]}**\n\n" + tables.table(head, rows, left=0)


def clustering_s(run):
    """Return the seconds that a run spent on clustering labels."""
    return sum(seconds for phase, seconds in run["phases_s"].items() if "luster" in phase)


def amazon_markdown(results):
    """Return all tables of the data set of Amazon-670K's size as Markdown."""
    data, parts = results["data"], [about_text(results)]
    scale = "" if results["scale"] == 1 else f" **Rows and labels at {results['scale']:g} of the full size.**"
    parts.append(
        f"Made up, shaped like Amazon-670K: {data['n_train']:,} training and {data['n_test']:,} test rows, "
        f"{data['n_features']:,} features, {data['n_labels']:,} labels "
        f"({data['labels_with_rows']:,} with training rows), "
        f"{data['nonzeros'] / data['n_train']:.1f} nonzeros and {data['labels'] / data['n_train']:.2f} labels per row. "
        f"Making it took {data['make_s']:.1f} s (not counted below).{scale}"
    )
    runs = [run for run in results["runs"] if "failed" not in run]
    if not runs:
        return "\n\n".join(parts) + "\n"
    phases = list(dict.fromkeys(phase for run in runs for phase in run["phases_s"]))
    lines = [("training, s", lambda run: tables.number(run["train_s"]))]
    lines += [
        (f"– {phase.lower()}, s", lambda run, p=phase: tables.number(run["phases_s"].get(p, 0))) for phase in phases
    ]
    lines += [
        ("peak memory, whole process, GiB", lambda run: tables.gibibytes(run.get("memory_peak"))),
        ("in use before training: data, program, GiB", lambda run: tables.gibibytes(run.get("memory_before"))),
        ("in use after training, GiB", lambda run: tables.gibibytes(run.get("memory_after"))),
        ("model, GiB", lambda run: tables.gibibytes(run["model_bytes"])),
        ("weights, M", lambda run: tables.number(run["n_weights"] / 1e6)),
        ("nodes", lambda run: f"{run['n_nodes']:,}"),
        ("depth", lambda run: str(run["depth"])),
        ("exact top 5, ms/row", lambda run: tables.number(run["exact_us"] / 1000)),
        (f"beam {BEAM}, ms/row", lambda run: tables.number(run["beam_us"] / 1000)),
        ("peak memory with prediction, GiB", lambda run: tables.gibibytes(run.get("process_peak"))),
        ("P@1 / P@3 / P@5, exact", lambda run: tables.three(run["exact_precision"])),
        (f"P@1 / P@3 / P@5, beam {BEAM}", lambda run: tables.three(run["beam_precision"])),
        ("P@1 / P@3 / P@5 of frequency alone", lambda run: tables.three(run["frequency_precision"])),
    ]
    head = ["", *("PLT()" if run["arity"] == AUTO else f"arity {run['arity']}" for run in runs)]
    parts.append(tables.table(head, [[title, *(value(run) for run in runs)] for title, value in lines]))
    for run in runs:
        if run["arity"] == AUTO:
            chosen = ", ".join(f"{name} {value}" for name, value in run["settings"].items())
            parts.append(f"`PLT()` chose {chosen}.")
    if results["limit_gb"]:
        parts.append(
            f"The process could not have taken more than {results['limit_gb']:g} GB (1e9 bytes) of memory of its own: "
            "it would have failed (RLIMIT_DATA, where the system has that)."
        )
    return "\n\n".join(parts) + "\n"
