"""Tables of the study of LdSM, and what they compare with."""

import math
import statistics
from typing import NamedTuple

from benchmarks.library import comparison, mixtures, scaling_tables, studies, tables
from xmlcore import PLT, LdSM

MODELS = {"LdSM": LdSM, "PLT": PLT}
N_FOLDS = 3
NODES_PER_LABEL = 4  # for depth, which is held against the number of labels: two leaves for each, at M = 2
FEW_ROWS = 50  # of a small node
REFERENCE = LdSM.PRESETS["program"].values
LARGE = {"n_epochs": 5, "max_nodes": 4000}  # as the published program was run on wordnet-hyper
PROGRAM = "published program"
PROGRAM_FIGURES = ("P@1", "P@3", "P@5", "nDCG@5", "depth", "tree_s", "ms")  # seconds per tree, ms per row per tree


class Reference(NamedTuple):
    """Settings under which the method's published program was run, by others, on another machine: one core."""

    data: str
    params: dict  # what is not as in REFERENCE
    program: tuple  # PROGRAM_FIGURES


REFERENCES = (
    Reference("bibtex", {}, (58.3, 34.4, 25.7, 55.7, 13, 1.07, 0.0020)),
    Reference("bibtex", {"n_epochs": 5, "n_estimators": 50}, (60.0, 36.4, 27.1, 58.2, 15, 0.36, 0.0027)),
    Reference("delicious", {}, (67.9, 61.5, 56.4, 59.3, 13, 2.55, 0.023)),
    Reference("bibtex", {"arity": 4, "max_nodes": 2000}, (58.4, 35.5, 26.1, 56.3, 8, 4.7, 0.0038)),
    Reference("wordnet-hyper", LARGE | {"n_estimators": 1}, (89.4, 79.6, 70.7, 76.1, 18, 4.3, 0.106)),
)
PAPER = {"bibtex": (64.69, 39.70, 29.25), "delicious": (71.91, 65.34, 60.24)}  # P@1, P@3, P@5: tuned, 50 trees
FEWER_EPOCHS = ("wordnet-hyper", "wordnet-class", "aloi")
FEW_TREES = LARGE | {"n_estimators": 3}
BASE_PARAMS = REFERENCE | {"n_epochs": 5, "n_estimators": 1}
SIZES = {"N": "n_train", "D": "n_features", "L": "n_labels"}
OWN = {"M": ("arity", (2, 3, 4, 6, 8)), "T_max": ("max_nodes", (100, 320, 1_000, 3_200, 10_000))}
AXIS_TITLES = {
    "N": "Training rows N grow",
    "D": "Features D grow, nonzeros per row stay",
    "L": "Labels L grow, labels per row stay",
    "M": "Children of a node M grow",
    "T_max": "Most nodes T_max grow",
}


def base_params(model):
    """Return the parameters that a job begins with: those of the published program for LdSM, or the defaults."""
    return MODELS[model]().get_params() | (REFERENCE if model == "LdSM" else {})


def all_params(job):
    """Return all parameters of a job's model, without those that differ from fit to fit.

    What a job does not say is as in the published program for LdSM, and the default for other models.
    """
    params = base_params(job["model"]) | job["params"]
    return {name: value for name, value in params.items() if name not in ("random_state", "n_jobs")}


def of_fits(run, name):
    """Return a value of each fit of a run."""
    return [fit[name] for fit in run["fits"]]


def mean_text(run, *names):
    """Return the means of all precisions over the fits, as texts."""
    return [tables.spread(of_fits(run, name), statistics.fmean, tables.points) for name in names]


def settings_text(params):
    """Return trees, passes, size and arity in words, and what else is not as in the reference."""
    params = all_params({"model": "LdSM", "params": params})
    text = (
        f"{params['n_estimators']} {'tree' if params['n_estimators'] == 1 else 'trees'}, E={params['n_epochs']}, "
        f"T_max={params['max_nodes']}, M={params['arity']}"
    )
    usual = base_params("LdSM")
    said = ("n_estimators", "n_epochs", "max_nodes", "arity")
    others = [f"`{name}={value!r}`" for name, value in params.items() if name not in said and value != usual[name]]
    return ", ".join([text, *others])


def as_words(params):
    """Return parameters as Markdown."""
    return ", ".join(f"`{name}={value!r}`" for name, value in params.items()) or "–"


def seeds_text(part):
    """Return the number of seeds in words."""
    most = max((len(run.get("fits", ())) for run in part["runs"]), default=0)
    return "1 seed" if most == 1 else f"{most} seeds, least and largest in brackets"


def reference_figures(run):
    """Return a list of values, one per fit, for each of PROGRAM_FIGURES."""
    measures = [of_fits(run, name) for name in PROGRAM_FIGURES[:4]]
    depth = [max(fit["depths"]) for fit in run["fits"]]
    return [*measures, depth, *([fit[name] / fit["n_trees"] for fit in run["fits"]] for name in ("train_s", "ms"))]


def table_reference(part):
    """Return the table of the part "reference" as Markdown."""
    rows = []
    for run in studies.done(part):
        one, found = REFERENCES[run["reference"]], reference_figures(run)
        where = [run["data"], settings_text(run["params"])]
        rows.append(
            where
            + ["xmlcore"]
            + [tables.spread(values, statistics.fmean, tables.points) for values in found[:4]]
            + [tables.spread(found[4], statistics.fmean)]
            + [tables.spread(values) for values in found[5:]]
        )
        rows.append([*where, PROGRAM, *(f"{value:.1f}" for value in one.program[:4]), *map(str, one.program[4:])])
        means = [statistics.fmean(values) for values in found[:5]]
        times = [statistics.median(values) for values in found[5:]]
        rows.append(
            [*where, "difference; times: ratio"]
            + [f"{ours - theirs:+.2f}" for ours, theirs in zip(means[:4], one.program)]
            + [f"{means[4] - one.program[4]:+.1f}"]
            + [f"{ours / theirs:.2f}×" for ours, theirs in zip(times, one.program[5:])]
        )
    head = ["data", "settings", "", *PROGRAM_FIGURES[:4], "depth, deepest tree", "s per tree", "ms per row and tree"]
    return (
        f"One thread; means over {seeds_text(part)}; medians for times. λ1=2, λ2=1, learning rate 0.1. The "
        f"{PROGRAM}'s figures were measured by others, once, on another machine's core: differences in precision mean "
        "something, ratios of times a rough size. Below 1× is in favour of xmlcore.\n\n"
        + tables.table(head, rows, left=3)
    )


def table_settings(part):
    """Return the tables of the part "settings" as Markdown."""
    rows = []
    for name in dict.fromkeys(run["data"] for run in part["runs"]):
        runs = [run for run in studies.done(part, data=name) if "row" in run]
        for run in runs:
            row = [name, run["row"], settings_text(run["params"]), *mean_text(run, *comparison.PRECISIONS)]
            rows.append([*row, *(tables.spread(of_fits(run, value)) for value in ("train_s", "ms"))])
        if name in PAPER:
            paper = PAPER[name]
            rows.append([name, "the paper's table", "50 trees, tuned", *map(tables.points, paper), "", ""])
            for run in runs[-1:]:
                means = [statistics.fmean(of_fits(run, measure)) for measure in comparison.PRECISIONS]
                rows.append([name, f"{run['row']} minus the paper's", "", *map("{:+.2f}".format, minus(means, paper))])
                rows[-1] += ["", ""]
    head = ["data", "", "settings", *comparison.PRECISIONS, "training s", "ms/row"]
    text = (
        f"**Test rows**: means over {seeds_text(part)}; times with {part['threads']} threads, medians. The paper's "
        "times are of another machine, so they are not here.\n\n" + tables.table(head, rows, left=3)
    )
    rows, before = [], {}
    for run in studies.done(part, what="folds"):
        means = [statistics.fmean(of_fits(run, measure)) for measure in comparison.PRECISIONS]
        gain = minus(means, before[run["data"]]) if run["data"] in before else None
        before[run["data"]] = means
        row = [run["data"], run["name"], as_words(run["changed"]), str(run["fits"][0]["n_trees"])]
        row += map(tables.points, means)
        rows.append([*row, "–" if gain is None else " / ".join(map("{:+.2f}".format, gain))])
    for run in studies.done(part, row="chosen"):
        means = [statistics.fmean(of_fits(run, measure)) for measure in comparison.PRECISIONS]
        row = [run["data"], "test rows, all training rows", "", str(run["fits"][0]["n_trees"])]
        rows.append([*row, *map(tables.points, means), ""])
    rows.sort(key=lambda row: [run["data"] for run in part["runs"]].index(row[0]))  # stable
    head = ["data", "step", "changed", "trees", *comparison.PRECISIONS, "gained over the step before"]
    return text + (
        f"\n\n**What made the difference**: each step keeps the changes of those before it. Means of {N_FOLDS} thirds "
        "of the training rows, each held out once; the test rows had no say.\n\n" + tables.table(head, rows, left=3)
    )


def table_others(part):
    """Return the table of the part "others" as Markdown."""
    return mixtures.table(part, PAPER)


def minus(ours, theirs):
    return [a - b for a, b in zip(ours, theirs)]


def table_beside(part):
    """Return the table of the part "beside-plt" as Markdown."""
    rows = []
    for run in studies.done(part):
        said = settings_text(run["params"]) if run["model"] == "LdSM" else ""
        row = [run["data"], run["row"], said, *mean_text(run, *comparison.PRECISIONS, "PSP@5", "nDCG@5")]
        row += [tables.spread(of_fits(run, name)) for name in ("train_s", "ms")]
        row.append(tables.spread([fit["model_bytes"] / 1e6 for fit in run["fits"]]))
        rows.append([*row, tables.spread(of_fits(run, "depth"))])
    head = [
        "data",
        "",
        "settings",
        *comparison.PRECISIONS,
        "PSP@5",
        "nDCG@5",
        "training s",
        "ms/row",
        "model MB",
        "depth",
    ]
    return (
        f"{part['threads']} threads; means over {seeds_text(part)}, medians for times, size and depth. Model: its "
        "arrays in memory, 1e6 bytes.\n\n" + tables.table(head, rows, left=3)
    )


def table_workers(part):
    """Return the table of the part "workers" as Markdown."""
    rows = []
    for run in studies.done(part):
        one, two = run["seconds"]["1"], run["seconds"]["2"]
        ratio = statistics.median(one) / statistics.median(two)
        row = [run["data"], settings_text(run["params"]), tables.spread(one), tables.spread(two), f"{ratio:.2f}×"]
        rows.append([*row, "yes" if run["same"] else "**no**"])
    head = ["data", "settings", "1 thread, s", "2 threads, s", "speed-up", "predictions identical"]
    return "In turns; medians, least and largest in brackets.\n\n" + tables.table(head, rows, left=2)


def growing(run, axis):
    """Return the size of a run that grows along an axis."""
    return run[SIZES[axis]] if axis in SIZES else run["params"][OWN[axis][0]]


def median_of(run, name):
    """Return the median of a value over the fits of a run."""
    return statistics.median(of_fits(run, name))


GROWS = {
    "training s": lambda run: median_of(run, "train_s"),
    "ms per row": lambda run: median_of(run, "ms"),
}


def on_axis(part, axis):
    """Return the runs along an axis, the smallest first."""
    return sorted((run for run in studies.done(part) if axis in run["axes"]), key=lambda run: growing(run, axis))


def exponents(part):
    """Return fits of :func:`scaling_tables.exponent` as (what, against, axis, fit).

    They are taken against the axis itself, or against the rows at inner nodes.
    """
    found = []
    for axis in AXIS_TITLES:
        runs = on_axis(part, axis)
        ways = [(what, axis, lambda run, axis=axis: growing(run, axis)) for what in GROWS]
        ways.append(("training s", "rows at inner nodes", lambda run: median_of(run, "inner_rows")))
        for what, against, value in ways:
            fit = (
                scaling_tables.exponent([value(run) for run in runs], [GROWS[what](run) for run in runs])
                if runs
                else None
            )
            if fit is not None and not (
                against != axis and axis in ("D", "L", "M")
            ):  # these leave the rows as they are
                found.append((what, against, axis, fit))
    return found


def table_scaling(part):
    """Return the tables of the part "scaling" as Markdown."""
    base = part["base"]
    sizes = ", ".join(f"{axis} = {base[name]:,}" for axis, name in SIZES.items())
    texts = [
        f"One tree, one thread; {sizes}, {base['features_per_row']:g} nonzeros and {base['labels_per_row']:g} labels "
        f"per row, {base['n_test']:,} test rows; {settings_text(BASE_PARAMS)}; medians over {seeds_text(part)}."
        + (" **A trial: small data.**" if part["quick"] else "")
    ]
    rows = [
        [
            what,
            against,
            axis,
            f"×{tables.number(fit['range'], 2)}",
            scaling_tables.as_exponent(fit),
            scaling_tables.as_last(fit),
        ]
        for what, against, axis, fit in exponents(part)
    ]
    if rows:
        head = ["what", "against", "along", "range", "exponent", "last step"]
        texts.append("**Exponents** (± standard error)\n\n" + tables.table(head, rows, left=3))
    for axis, title in AXIS_TITLES.items():
        rows = []
        for run in on_axis(part, axis):
            inner = median_of(run, "inner_rows")
            row = [f"{growing(run, axis):,}", *(tables.spread([f(run) for f in [value]]) for value in GROWS.values())]
            row += [f"{median_of(run, 'n_nodes'):,.0f}", f"{median_of(run, 'depth'):.0f}"]
            row.append(tables.number(inner / run["n_train"]))
            row.append(tables.number(1e6 * median_of(run, "train_s") / (inner * run["params"]["n_epochs"])))
            rows.append([*row, f"{statistics.fmean(of_fits(run, 'P@1')):.1f}"])
        if rows:
            head = [axis, *GROWS, "nodes", "depth", "inner nodes that a row is at", "µs per row, node and pass", "P@1"]
            texts.append(f"**{title}**\n\n" + tables.table(head, rows, left=0))
    return "\n\n".join([*texts, node_text(part)]).strip()


def node_text(part):
    """Return the table of the time of nodes, as Markdown."""
    runs = [run for run in studies.done(part, what="nodes") if any("few_s" in fit for fit in run["fits"])]
    if not runs:
        return ""
    rows, first = [], None
    for run in runs:
        few = [fit for fit in run["fits"] if "few_s" in fit]
        seconds = statistics.median(fit["few_s"] for fit in few)
        first = first or seconds
        row = [run["ids"], f"{run['n_features']:,}", f"{run['n_labels']:,}"]
        row += [f"{statistics.median(fit['few_nodes'] for fit in few):,.0f}"]
        row.append(tables.number(statistics.median(fit["few_rows"] for fit in few)))
        row.append(tables.spread([1e6 * fit["few_s"] for fit in few]))
        rows.append([*row, f"{seconds / first:.2f}×", tables.spread(of_fits(run, "train_s"))])
    head = [
        "ids",
        "D",
        "L",
        "small nodes",
        "rows, mean",
        "µs per small node, median",
        "ratio",
        "training s, whole tree",
    ]
    params = settings_text(runs[0]["params"])
    return (
        f"**Nodes of at most {FEW_ROWS} rows**: the base's rows, their feature and label ids as they are or spread "
        f"over more; {params}. A cost per node that holds D + L would show here. What a training does once, as "
        "numbering features, is in the last column alone.\n\n" + tables.table(head, rows, left=1)
    )


def table_depth(part):
    """Return the table of the part "depth" as Markdown."""
    rows, met = [], 0
    for run in studies.done(part):
        least = math.log(max(2, run["labels_with_rows"]), run["params"]["arity"])
        depth, full = (max(max(fit["depths"]) for fit in run[name]) for name in ("fits", "full"))
        within = 1 <= depth / least <= 3
        met += within
        row = [run["data"], f"{run['n_train']:,}", f"{run['labels_with_rows']:,}", f"{least:.1f}"]
        row += [f"{run['chosen']:,}", str(depth), f"{depth / least:.2f}", "yes" if within else "**no**"]
        row += mean_text(run, "P@1")
        row += [f"{run['params']['max_nodes']:,}", str(full), f"{full / least:.2f}"]
        rows.append([*row, *mean_text({"fits": run["full"]}, "P@1")])
    head = [
        "data", "training rows", "L, labels with training rows", "log_M L", "T_max", "depth, deepest tree",
        "depth / log_M L", "within 1 and 3", "P@1", "T_max, full", "depth", "depth / log_M L", "P@1",
    ]  # fmt: skip
    params = settings_text(studies.done(part)[0]["params"]) if rows else ""
    return (
        f"The paper's Figure 2: depth between log_M L and 3 log_M L. Within on {met} of {len(rows)} data sets, with at "
        f"most {NODES_PER_LABEL} nodes per label: beside it, as many as T_max allows, which with few labels are more "
        "than a tree of 3 log_M L levels holds. "
        f"Settings: {params}; {', '.join(FEWER_EPOCHS)} with {settings_text(FEW_TREES)}.\n\n"
        + tables.table(head, rows, left=1)
    )
