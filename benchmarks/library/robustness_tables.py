"""Tables of ``python -m benchmarks.robustness``, as Markdown."""

import math
import statistics

from benchmarks.library import studies, tables
from benchmarks.library.tables import interval

LEVELS = (0.0, 0.01, 0.05, 0.1)  # standard deviations of the noise in test rows
WORST = LEVELS[-1]
SIGMA = 0.05  # standard deviation of the noise in training, as in the paper
KS = (1, 3, 5)  # measures are those of the best k labels
TF_IDF_LENGTH = 163  # mean length of the test rows of eurlex4k-dev, which are raw tf-idf
PAPER = {  # the paper's P@1, P@3, P@5 without noise, and with noise of WORST; the keys of TRAININGS
    "eurlex-4k": {"clean": ((81.04, 73.87, 67.86), (81.28, 73.73, 67.78)),
                  "all": ((81.46, 74.27, 68.30), (81.31, 74.25, 68.12))},
    "mediamill": {"clean": ((82.10, 74.72, 66.73), (72.43, 65.95, 58.07)),
                  "all": ((81.20, 74.09, 66.21), (76.06, 68.69, 61.03))},
}  # fmt: skip
PAPER_PREDICT_S = 45.0  # the paper's seconds for the top 5 of 3,809 noisy rows of 5,000 features, on 16 cores
# What a model is trained on: job["how"] -> words. "all" and "nonzero" add a noisy copy of each row.
TRAININGS = {"clean": "clean rows", "all": "with noise on all features", "nonzero": "with noise on present features"}


def values_of(run, measure, k, level):
    """Return a measure at k and at a noise level, one value per seed; empty if the run does not have the measure."""
    return [fit["measures"][measure][str(k)][f"{level:g}"] for fit in run["fits"] if measure in fit["measures"]]


def drops_of(run, measure, k, level=WORST):
    """Return by how many percent a measure is lower at a noise level than on clean rows, one value per seed."""
    clean, noisy = values_of(run, measure, k, 0), values_of(run, measure, k, level)
    return [100 * (a - b) / a if a else math.nan for a, b in zip(clean, noisy)]


def percent(values):
    """Return shares as percentages."""
    return [100 * value for value in values]


PSDCG = ("PSDCG@k (1/log)", "PSDCG@k")


def table_study(part):
    """Return the tables of the part "study" as Markdown: our results, the paper's, all measures, label buckets."""
    runs = studies.done(part)
    return "\n\n".join(
        [verdict_table(runs), published_table(), paper_table(runs, 0), paper_table(runs, WORST), bucket_table(runs)]
    )


def verdict_table(runs):
    """Return a table of P@1 without noise and at each level, and of what noise in training changes."""
    rows = []
    clean = {(run["data"], run["model"]): run for run in runs if run["how"] == "clean"}
    for run in runs:
        normal = clean.get((run["data"], run["model"]))
        drop, drop_normal = (statistics.fmean(drops_of(r, "P@k", 1)) for r in (run, normal))
        row = [run["data"] + (", scaled" if run["scaled"] else ""), run["model"], TRAININGS[run["how"]]]
        row += [interval(percent(values_of(run, "P@k", 1, level))) for level in LEVELS]
        row += [interval(drops_of(run, "P@k", 1))]
        row += ["" if run is normal else (f"{drop / drop_normal:.2f}×" if drop_normal > 0.5 else "–")]
        change = [100 * (a - b) for a, b in zip(values_of(run, "P@k", 1, 0), values_of(normal, "P@k", 1, 0))]
        row += ["" if run is normal else interval(change)]
        rows.append([*row, interval([fit["train_s"] for fit in run["fits"]], tables.seconds)])
    head = ["data", "model", "trained on", *(f"P@1, σ = {level:g}" for level in LEVELS)]
    head += [f"drop at {WORST:g}, %", "drop / clean-trained", "clean P@1, change", "training s"]
    text = (
        "**P@1 under Gaussian noise on all features**, percent: mean and 95 % interval over "
        f"{len(runs[0]['fits']) if runs else 0} seeds of model, training noise and test noise. drop: relative to the "
        "same model without noise. drop / clean-trained is left out where clean-trained models lose less than half a "
        "percent."
    )
    return f"{text}\n\n{tables.table(head, rows, left=3)}"


def published_table():
    """Return a table of the paper's own results."""
    rows = []
    for data, trainings in PAPER.items():
        normal = None
        for how, (clean, noisy) in trainings.items():
            drops = [100 * (a - b) / a for a, b in zip(clean, noisy)]
            normal = normal or drops
            row = [data, TRAININGS[how]]
            row += [f"{a:.2f} / {b:.2f} ({drop:.1f} %)" for a, b, drop in zip(clean, noisy, drops)]
            ratio = f"{drops[0] / normal[0]:.2f}×" if drops is not normal and normal[0] > 0.5 else ""
            rows.append([*row, ratio])
    head = ["data", "trained on", *(f"P@{k}: clean / σ = {WORST:g} (drop)" for k in KS), "drop of P@1 / clean-trained"]
    return f"**The paper's own**, one run of napkinXC:\n\n{tables.table(head, rows, left=2)}"


def paper_table(runs, level):
    """Return a table of all measures at one noise level, laid out as the paper's tables."""
    rows = []
    for run in runs:
        for k in KS:
            row = [run["data"], run["model"], TRAININGS[run["how"]], str(k)]
            for measure in ("P@k", "nDCG@k", *PSDCG, "PSP@k"):
                row.append(interval(values_of(run, measure, k, level), lambda value: f"{value:.4f}"))
            if level:
                row += [interval(drops_of(run, measure, k)) for measure in ("P@k", "nDCG@k", PSDCG[0])]
            row.append(interval(values_of(run, "predict_s", max(KS), level), tables.seconds) if k == max(KS) else "")
            rows.append(row)
    head = ["data", "model", "trained on", "k", "P@k", "nDCG@k", *PSDCG, "PSP@k"]
    if level:
        head += ["drop of P@k, %", "of nDCG@k", f"of {PSDCG[0]}"]
    title = (
        f"**At σ = {level:g}** (the paper's tables 4 and 5)" if level else "**Clean rows** (the paper's tables 2 and 3)"
    )
    return (
        f"{title}. {PSDCG[0]}: labels weighted by 1 / ln(1 + count), the paper's; the other two by Jain et al.'s "
        f"inverse propensities.\n\n{tables.table([*head, 'prediction s'], rows, left=4)}"
    )


def bucket_table(runs):
    """Return a table of R@5 for frequent, less frequent and rare labels."""
    rows = []
    for run in runs:
        row = [run["data"], run["model"], TRAININGS[run["how"]]]
        for bucket in ("head", "torso", "tail"):
            row += [interval(percent(values_of(run, f"R@k {bucket}", 5, level))) for level in (0, WORST)]
        rows.append(row)
    head = ["data", "model", "trained on"]
    head += [f"{bucket}, σ = {level:g}" for bucket in ("head", "torso", "tail") for level in (0, WORST)]
    return (
        "**R@5 by label frequency**, percent: of the labels of a bucket that a row has, the share among its five best. "
        f"Buckets as on the Data page.\n\n{tables.table(head, rows, left=3)}"
    )


def table_strength(part):
    """Return the table of the part "strength" as Markdown."""
    rows = []
    for run in studies.done(part):
        for sigma in run["fits"][0]["P@1"]:
            per_level = zip(*(fit["P@1"][sigma] for fit in run["fits"]))
            rows.append([run["data"], f"{run['params']['C']:g}", sigma, *(interval(percent(v)) for v in per_level)])
    levels = studies.done(part)[0]["levels"] if rows else []
    head = ["data, scaled", "C", "σ in training", *(f"P@1, σ = {level:g}" for level in levels)]
    return (
        "P@1 of PLT, percent, with more noise in training than the paper's 0.05, and with less weight of the loss (C = "
        "10 is the default): mean and 95 % interval over 3 seeds.\n\n" + tables.table(head, rows, left=1)
    )


def table_speed(part):
    """Return the table of the part "speed" as Markdown."""
    rows = []
    for run in studies.done(part):
        perturb, predict = ([fit[f"{name} {WORST:g}"] for fit in run["fits"]] for name in ("perturb_s", "predict_s"))
        both = [a + b for a, b in zip(perturb, predict)]
        length = f", rows {run['length']:g} long" if run["length"] else ""
        row = [
            run["data"] + length,
            TRAININGS[run["how"]],
            f"{run['n_test']:,}",
            f"{run['n_features']:,}",
            f"{run['n_labels']:,}",
        ]
        row += [f"{run['n_weights']:,}", tables.spread(perturb), tables.spread(predict), tables.spread(both)]
        rows.append(
            [
                *row,
                "yes" if statistics.median(both) <= 2 else "**no**",
                tables.spread([fit["predict_s 0"] for fit in run["fits"]]),
            ]
        )
    head = ["data", "trained on", "test rows", "D", "L", "weights", "making noise, s", "predicting top 5, s", "both, s"]
    head += ["at most 2 s", "predicting clean rows, s"]
    return (
        f"Noise of σ = {WORST:g} on every feature of every test row, top 5 from one tree. Made-up rows of length "
        f"{TF_IDF_LENGTH} are as raw tf-idf is; on rows of length 1 the noise is seven times the row. The paper's time "
        f"for predicting 3,809 rows of 5,000 features: {PAPER_PREDICT_S:g} s, on 16 cores of another machine.\n\n"
        + tables.table(head, rows, left=2)
    )


def table_training(part):
    """Return the table of the part "training" as Markdown."""
    rows, clean = [], {}
    for run in studies.done(part):
        seconds = statistics.median(fit["train_s"] for fit in run["fits"])
        clean.setdefault(run["data"], seconds)
        row = [run["data"], TRAININGS[run["how"]], f"{run['n_train']:,}", f"{run['n_features']:,}"]
        row += [tables.seconds(seconds), f"{seconds / clean[run['data']]:.2f}×"]
        row += [tables.gibibytes(run["memory_peak"]), tables.gibibytes(run["estimate"] or None)]
        rows.append([*row, f"{run['fits'][0]['n_weights']:,}"])
    head = ["data", "trained on", "rows", "D", "training s", "of clean training", "memory peak, GiB"]
    head += ["estimated for noise, GiB", "weights"]
    return (
        f"σ = {SIGMA:g}, one noisy copy per row. Peak: of the whole process, with the data and compiled code. The "
        "paper: 39 s and 543 s on EUR-Lex 4K, 25 s and 57 s on Mediamill, with 16 cores.\n\n"
        + tables.table(head, rows, left=2)
    )


def table_attacks(part):
    """Return the tables of the part "attacks" as Markdown, one per data set."""
    parts = []
    for run in studies.done(part):
        rows = []
        for key in run["fits"][0]["P@1"]:
            how, kind = key.split()
            per_budget = zip(*(fit["P@1"][key] for fit in run["fits"]))
            rows.append([TRAININGS[how], kind, *(interval(percent(values)) for values in per_budget)])
        head = ["trained on", "perturbed by", *(f"length {budget:g}" for budget in run["budgets"])]
        parts.append(f"**{run['data']}**\n\n{tables.table(head, rows, left=2)}")
    return (
        "P@1, percent, when every test row is changed by the length given (L2). gaussian: noise on all features of "
        "about this length; fgsm, pgd: towards a wrong label, with the model's own gradient.\n\n" + "\n\n".join(parts)
    )


def table_certificates(part):
    """Return the table of the part "certificates" as Markdown."""
    rows = []
    for run in studies.done(part):
        for fit in run["fits"]:
            row = [run["data"], TRAININGS[fit["how"]], f"{fit['rows']:,}", f"{100 * fit['certified']:.0f}"]
            row += [tables.number(fit["radius"]), f"{100 * fit['relative']:.2f}", str(fit["broken_within"])]
            low, middle, high = fit["least_quartiles"] or (math.nan,) * 3
            row += [f"{middle:g} ({low:g}–{high:g})", tables.number(1000 * fit["s"] / fit["rows"])]
            rows.append(row)
    head = ["data", "trained on", "rows", "certified above 0, %", "certified length, median", "of the row's length, %"]
    head += ["changed within it", "PGD needs, times the certified length", "ms per row"]
    return (
        "A change of a row shorter than its certified length cannot change its best label. PGD (L2, 40 steps) tries at "
        "0.999, 1.1, 1.25, 1.5, 2, 3, 4, 6, ... 32 times the certified length; median and quartiles of the least at "
        "which it succeeds (inf: not at 32).\n\n" + tables.table(head, rows, left=2)
    )


def table_explain(part):
    """Return the table of the part "explain" as Markdown."""
    rows = []
    for run in studies.done(part):
        at = [run["removed"].index(n) for n in (0, 1, 3, 5, 20)]
        for method in run["fits"][0]["curve"]:
            values = [
                interval([100 * fit["curve"][method][i] for fit in run["fits"]], lambda v: f"{v:.1f}") for i in at
            ]
            rows.append([run["data"], run["model"], method, *values])
    head = ["data", "model", "removed by", *(f"{n} removed" for n in (0, 1, 3, 5, 20))]
    return (
        "Mean probability of the predicted label, percent, when a row's features are taken away: those of largest "
        "contribution, of largest size (the paper's explanation), or at random. 200 test rows; mean and 95 % interval "
        "over 3 seeds. The quicker it falls, the more the features meant.\n\n" + tables.table(head, rows, left=3)
    )
