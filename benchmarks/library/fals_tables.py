"""Tables of the study of FALS, and what they compare with."""

import itertools
import statistics

from benchmarks.library import machine, scaling_tables, studies, tables
from xmlcore import metrics, selection

SHARE = 0.1  # of the features, the paper's
FOREST = 100  # trees, scikit-learn's default, for time
SMALL_FOREST = 10  # of the forests whose selections are judged
ALL = "all features"
METHODS = {  # class in xmlcore.selection, its parameters
    ALL: None,
    "RF": ("RandomForestSelection", {"n_estimators": SMALL_FOREST}),
    "RF, one set": ("RandomForestSelection", {"n_estimators": SMALL_FOREST, "per_label": False}),
    "LASSO": ("LassoSelection", {}),
    "LASSO, one set": ("LassoSelection", {"per_label": False}),
    "chi²": ("ChiSquaredSelection", {}),
    "MI": ("MutualInformationSelection", {}),
    "FALS": ("FALS", {}),
}
VARIANTS = {
    "FALS": {},
    "FAMS": {"pattern": "FAMS"},
    "FILS": {"pattern": "FILS"},
    "FIMS": {"pattern": "FIMS"},
    "20 epochs": {"n_epochs": 20},
    "50 epochs": {"n_epochs": 50},
    "100 epochs": {"n_epochs": 100},
    "L2": {"l2": 1e-4},
    "dropout": {"dropout": 0.5},
    "FALSb": {"binary": True},
    "integrated gradients": {"attribution": "integrated_gradients"},
    "DeepLIFT": {"attribution": "deeplift"},
    "LRP": {"attribution": "lrp"},
}
CUT = ("wordnet-hyper", 2_000)  # its most frequent labels
MOST_S = {"delicious": 15.0, CUT[0]: 600.0}  # asked of FALS
MOST_GB = {CUT[0]: 8.0}
MOST_OF_FOREST = 0.1
AXIS_TITLES = {
    "N": "Training rows N grow",
    "D": "Features D grow, nonzeros per row stay",
    "L": "Labels L grow, labels per row stay",
    "H": "Hidden units H grow, data stays",
}
# Measures: how they are computed, and whether more is better. The first four and the micro-AUC break ties at random.
MEASURES = {
    "HL": (lambda Y, S, P: metrics.hamming_loss(Y, P), False),
    "OE": (lambda Y, S, P: metrics.one_error(Y, S, ties="mean"), False),
    "RL": (lambda Y, S, P: metrics.ranking_loss(Y, S, ties="mean"), False),
    "AP": (lambda Y, S, P: metrics.average_precision(Y, S, ties="mean"), True),
    "micro-AUC": (lambda Y, S, P: metrics.micro_auc(Y, S), True),
    "OE, first": (lambda Y, S, P: metrics.one_error(Y, S), False),
    "RL, worst": (lambda Y, S, P: metrics.ranking_loss(Y, S), False),
    "AP, worst": (lambda Y, S, P: metrics.average_precision(Y, S), True),
    "RL, paper": (lambda Y, S, P: metrics.ranking_loss(Y, S, ties="paper"), False),
    "AP, paper": (lambda Y, S, P: metrics.average_precision(Y, S, ties="paper"), True),
}
FOUR = ("HL", "OE", "RL", "AP")
FOUR_OF_SCIKIT_LEARN = ("HL", "OE, first", "RL, worst", "AP, worst")
PAPER_METHODS = (ALL, "RF", "LASSO", "FALS")
PAPER = {  # its table 3
    "20ng": {"HL": (0.0742, 0.0791, 0.0782, 0.0719), "OE": (0.3659, 0.3756, 0.3650, 0.3704),
             "RL": (0.2988, 0.3023, 0.2770, 0.2281), "AP": (0.5710, 0.5625, 0.5858, 0.6193)},
    "corel5k": {"HL": (0.0149, 0.0139, 0.0109, 0.0104), "OE": (0.8537, 0.8507, 0.7518, 0.7416),
                "RL": (0.3384, 0.2835, 0.2066, 0.2243), "AP": (0.1067, 0.1544, 0.2088, 0.2144)},
    "ohsumed": {"HL": (0.0538, 0.0569, 0.0562, 0.0533), "OE": (0.7248, 0.7265, 0.7097, 0.7175),
                "RL": (0.4614, 0.4658, 0.4561, 0.4432), "AP": (0.3205, 0.3172, 0.3295, 0.3334)},
    "tmc2007-500": {"HL": (0.0583, 0.0627, 0.0661, 0.0710), "OE": (0.2569, 0.2704, 0.2737, 0.2501),
                    "RL": (0.1223, 0.1295, 0.1018, 0.0789), "AP": (0.7474, 0.7352, 0.7630, 0.7720)},
    "bibtex": {"HL": (0.0198, 0.0189, 0.0210, 0.0207), "OE": (0.6328, 0.6178, 0.6280, 0.6170),
               "RL": (0.3130, 0.3127, 0.3012, 0.3095), "AP": (0.3385, 0.3381, 0.3443, 0.3465)},
    "delicious": {"HL": (0.0335, 0.0288, 0.0237, 0.0213), "OE": (0.6580, 0.6471, 0.5877, 0.5214),
                  "RL": (0.3097, 0.2889, 0.2391, 0.2066), "AP": (0.1990, 0.2181, 0.2561, 0.2790)},
}  # fmt: skip
PAPER_SECONDS = {  # its table 4: RF, LASSO, FALS, all on a processor
    "20ng": (79, 1.1, 5.8), "corel5k": (87.4, 1.9, 5.4), "ohsumed": (45.4, 1.1, 4.0), "tmc2007-500": (58.8, 1.5, 6.7),
    "bibtex": (16.5, 6.8, 6.3), "delicious": (162, 23, 91),
}  # fmt: skip


def values_of(run, measure):
    """Return a measure of each fit of a run."""
    return [fit["measures"][measure] for fit in run["fits"]]


def mean_of(run, measure):
    """Return the mean of a measure over the fits of a run."""
    return statistics.fmean(values_of(run, measure))


def measured(part):
    """Return {data: {method: run}}, in the order of the points."""
    found = {}
    for run in studies.done(part):
        found.setdefault(run["data"], {})[run["method"]] = run
    return found


def seeds_text(part):
    """Return the numbers of seeds in words."""
    counts = sorted({len(run["fits"]) for run in studies.done(part)})
    return " or ".join(str(n) for n in counts) if counts else "no"


def paper_value(data, measure, method):
    """Return the paper's value of a measure, or None."""
    if data not in PAPER or method not in PAPER_METHODS:
        return None
    return PAPER[data][measure][PAPER_METHODS.index(method)]


def four(value):
    """Return a number with four decimals."""
    return f"{value:.4f}"


def complete(found, methods):
    """Return the data sets on which all of the methods came to an end."""
    return [data for data, runs in found.items() if all(method in runs for method in methods)]


def averages(found, names, methods, measure):
    """Return the mean of a measure over data sets, for each method."""
    return {method: statistics.fmean(mean_of(found[data][method], measure) for data in names) for method in methods}


def verdict(found, methods, measures):
    """Return a sentence: in which measures FALS is better than all features, on average over data sets."""
    names = complete(found, (*methods, ALL, "FALS"))
    if not names:
        return ""
    won, words = 0, []
    for measure in measures:
        mean, more = averages(found, names, (ALL, "FALS"), measure), MEASURES[measure][1]
        better = mean["FALS"] != mean[ALL] and (mean["FALS"] > mean[ALL]) == more
        won += better
        words.append(f"{measure} {four(mean['FALS'])} against {four(mean[ALL])}{'' if better else ' (**not**)'}")
    return (
        f"FALS is better than all features, on average over {len(names)} data sets, in **{won} of {len(measures)}** "
        f"measures: {', '.join(words)}."
    )


def table_reproduction(part):
    """Return the tables of the part "reproduction" as Markdown."""
    found = measured(part)
    methods = [method for method in METHODS if any(method in runs for runs in found.values())]
    texts = [
        f"Trees (BRDT) on {SHARE:.0%} of the features, selected in the training rows of random 2:1 splits of all rows; "
        f"mean and 95 % interval over {seeds_text(part)} splits, which are the seeds of everything else, too. In "
        "brackets: the paper's value, of one stratified split. HL: Hamming loss; OE: one-error; RL: ranking loss; AP: "
        f"average precision. RF: a forest of {SMALL_FOREST} trees for each label (the paper does not say how many); "
        "LASSO: a model for each label. “One set”: one forest that predicts all labels, or the sum of the weights' "
        "sizes; all labels share the features then.",
        '**Ties broken at random** (OE, RL and AP with `ties="mean"`). ' + verdict(found, methods, FOUR),
        "**As scikit-learn has it**: of labels tied at the top the first counts, other ties are lost. "
        + verdict(found, methods, FOUR_OF_SCIKIT_LEARN),
    ]
    texts[1] += "\n\n" + "\n\n".join(measure_table(found, methods, measure) for measure in (*FOUR, "micro-AUC"))
    texts[2] += "\n\n" + "\n\n".join(measure_table(found, methods, measure) for measure in FOUR_OF_SCIKIT_LEARN[1:])
    texts.append(
        "**With the paper's words** (`ties=\"paper\"`): tied pairs lose nothing, and a label is not counted at its own "
        "rank.\n\n" + "\n\n".join(measure_table(found, methods, measure) for measure in ("RL, paper", "AP, paper"))
    )  # fmt: skip
    texts += [differences_text(found), seconds_table(found, methods), significance_text(found, methods)]
    return "\n\n".join(text for text in texts if text)


def measure_table(found, methods, measure):
    """Return the table of one measure: data sets down, methods across."""
    best = max if MEASURES[measure][1] else min
    rows = []
    for data, runs in found.items():
        row, means = [data], {method: mean_of(runs[method], measure) for method in methods if method in runs}
        for method in methods:
            if method not in runs:
                row.append("–")
                continue
            text = tables.interval(values_of(runs[method], measure), four)
            text = f"**{text}**" if means[method] == best(means.values()) else text
            theirs = paper_value(data, measure.split(",")[0], method) if measure != "micro-AUC" else None
            row.append(text if theirs is None else f"{text} ({four(theirs)})")
        rows.append(row)
    names = complete(found, methods)
    if names:
        mean = averages(found, names, methods, measure)
        theirs = {
            method: [paper_value(data, measure.split(",")[0], method) for data in names]
            for method in (PAPER_METHODS if measure != "micro-AUC" else ())
        }
        row = ["average"]
        for method in methods:
            values = theirs.get(method, [None])
            known = None not in values
            row.append(four(mean[method]) + (f" ({four(statistics.fmean(values))})" if known else ""))
        rows.append(row)
    arrow = "more is better" if MEASURES[measure][1] else "less is better"
    return tables.table([f"{measure} ({arrow})", *methods], rows)


def differences_text(found):
    """Return sentences on how far our values are from the paper's, by the way ties are broken."""
    lines = []
    ways = {"at random": FOUR, "as scikit-learn": FOUR_OF_SCIKIT_LEARN}
    rows = []
    for way, measures in ways.items():
        row = [way]
        for measure in measures:
            gaps = [
                abs(mean_of(found[data][method], measure) - paper_value(data, measure.split(",")[0], method))
                for data in found
                for method in PAPER_METHODS
                if method in found[data]
            ]
            row.append(four(statistics.fmean(gaps)) if gaps else "–")
        rows.append(row)
    lines.append(
        "**How far from the paper's values**: mean absolute difference over its methods and data sets.\n\n"
        + tables.table(["ties", *FOUR], rows)
    )
    return "\n\n".join(lines)


def seconds_table(found, methods):
    """Return the table of the seconds of selecting, and of training the trees."""
    rows = []
    for data, runs in found.items():
        row = [data]
        for method in methods:
            row.append("–" if method not in runs else tables.spread([fit["select_s"] for fit in runs[method]["fits"]]))
        for method in (ALL, "FALS"):
            row.append("–" if method not in runs else tables.spread([fit["trees_s"] for fit in runs[method]["fits"]]))
        rows.append(row)
    head = ["", *methods, f"trees, {ALL}", "trees, FALS"]
    keep = [0, *(1 + i for i, method in enumerate(methods) if method != ALL), len(head) - 2, len(head) - 1]
    rows = [[row[i] for i in keep] for row in rows]
    return "**Seconds** of selecting, and of training the trees\n\n" + tables.table([head[i] for i in keep], rows)


def significance(found, methods):
    """Test whether methods differ over data sets (Wilcoxon); return {measure: p-values, methods by methods}."""
    import pandas as pd

    names = complete(found, methods)
    if len(names) < 2 or len(methods) < 2:
        return {}
    return {
        measure: selection.wilcoxon(
            pd.DataFrame({m: [mean_of(found[data][m], measure) for data in names] for m in methods}, index=names)
        )
        for measure in (*FOUR, "micro-AUC")
    }


def significance_text(found, methods):
    """Return sentences on FALS against the others by Wilcoxon's test; the paper's Figure 7 has all pairs."""
    tests, names = significance(found, methods), complete(found, methods)
    if not tests or "FALS" not in methods:
        return ""
    others = [m for m in methods if m != "FALS"]
    rows = [[measure, *(f"{p.loc['FALS', m]:.3f}" for m in others)] for measure, p in tests.items()]
    return (
        f"**Significance**: Wilcoxon's signed-rank test over {len(names)} data sets, two-sided, without correction for "
        f"the number of tests; the least p-value that so many data sets can give is {2 / 2 ** len(names):.3f}. FALS "
        "against the others:\n\n" + tables.table(["p", *others], rows)
    )


def pictures(name, part):
    """Return {file name: SVG}: the paper's Figure 7 for the part "reproduction", nothing for other parts."""
    if name != "reproduction":
        return {}
    found = measured(part)
    methods = [method for method in METHODS if any(method in runs for runs in found.values())]
    tests = significance(found, methods)
    return {"fals-significance.svg": diagrams(tests)} if tests else {}


def diagrams(tests):
    """Return an SVG: for each measure the methods on a circle, joined where the test does not tell them apart."""
    width, height, radius, ink = 300, 260, 78, "#7A868F"  # a grey that is readable on white and on black
    shapes = []
    for place, (measure, p) in enumerate(tests.items()):
        nodes, edges = selection.significance_graph(p)
        left, top = width * (place % 3), height * (place // 3)
        at = {n.method: (left + width / 2 + radius * n.x, top + 145 - radius * n.y) for n in nodes.itertuples()}
        shapes.append(
            f'<text x="{left + width / 2:g}" y="{top + 24}" text-anchor="middle" font-size="14">{measure}</text>'
        )
        for edge in edges.itertuples():
            (x1, y1), (x2, y2) = at[edge.a], at[edge.b]
            line = 'stroke-width="2.5"' if edge.line == "thick" else 'stroke-width="1" stroke-dasharray="4 3"'
            shapes.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{ink}" {line}/>')
        for node in nodes.itertuples():
            x, y = at[node.method]
            aside = abs(node.x) > 0.3
            anchor = ("start" if node.x > 0 else "end") if aside else "middle"
            dx, dy = (9 if node.x > 0 else -9, 4) if aside else (0, -9 if node.y > 0 else 18)
            color = "#E69F00" if node.method == "FALS" else "#0072B2"
            shapes.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{color}"/>')
            shapes.append(f'<text x="{x + dx:.1f}" y="{y + dy:.1f}" text-anchor="{anchor}">{node.method}</text>')
    across, down = 3 * width, height * -(-len(tests) // 3)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {across} {down}" width="{across}" height="{down}" '
        f'font-family="Arial, sans-serif" font-size="11" fill="{ink}">'
    )
    return "\n".join([head, *shapes, "</svg>"]) + "\n"


def table_time(part):
    """Return the tables of the part "time" as Markdown."""
    rows, notes = [], []
    for run in studies.done(part, what="time"):
        fals = statistics.median(run["fals_s"])
        paper = PAPER_SECONDS[run["data"]]
        row = [run["data"], tables.spread(run["fals_s"])]
        for name in ("RF", "RF, one set"):
            ratio = fals / run["seconds"][name]
            text = f"{ratio:.3f}"
            row += [tables.number(run["seconds"][name]), text if ratio <= MOST_OF_FOREST else f"**{text}**"]
        row += [tables.number(run["seconds"][name]) for name in ("LASSO", "chi²", "MI")]
        row += [" / ".join(f"{value:g}" for value in paper), f"{paper[2] / paper[0]:.2f}"]
        rows.append(row)
        if run["labels_timed"] < run["n_labels"]:
            notes.append(f"{run['data']} {run['labels_timed']} of {run['n_labels']:,}")
    head = ["", "FALS, s", "RF, s", "FALS / RF", "RF one set, s", "FALS / RF one set", "LASSO, s", "chi², s", "MI, s"]
    head += ["paper: RF / LASSO / FALS, s", "FALS / RF"]
    timed = studies.done(part, what="time")
    texts = []
    if timed:
        labels = f" (labels timed, evenly by frequency: {', '.join(notes)})" if notes else ""
        texts.append(
            f"Seconds of a whole selection, training and scores, with {part['threads']} threads, all methods of a row "
            f"in one process, FALS before and after the others: median and range of {len(timed[0]['fals_s'])}. RF: "
            f"{FOREST if not part['quick'] else 4} trees for each label{labels}, seconds in proportion; one set: one "
            f"forest for all labels, {timed[0]['trees_timed']} trees timed, in proportion. Asked: at most "
            f"{MOST_OF_FOREST:g} of RF; what is above is bold.\n\n" + tables.table([*head], rows)
        )
    texts += [limit_text(run) for run in studies.done(part)]
    return "\n\n".join(text for text in texts if text)


def limit_text(run):
    """Return what time was asked of FALS on this data, and whether it was met."""
    most = MOST_S.get(run["data"])
    if most is None:
        return ""
    if run["what"] == "time":
        seconds = statistics.median(run["fals_s"])
        return f"- {run['data']}: {seconds:.1f} s, asked at most {most:g} s: {'yes' if seconds <= most else '**no**'}."
    fit = run["fits"][0]
    text = (
        f"- {run['data']}, its {run['L']:,} most frequent labels: {run['n_rows']:,} rows, {run['D']:,} features, "
        f"H = {fit['n_hidden']:,}: {fit['s']:.0f} s (scores {fit['scoring']}, order {fit['order']}; "
        + ", ".join(f"{phase} {seconds:.0f} s" for phase, seconds in fit["phases"].items() if seconds >= 0.5)
        + f"), asked at most {most:g} s: {'yes' if fit['s'] <= most else '**no**'}"
    )
    if "memory_peak" in run:
        gigabytes = run["memory_peak"] / machine.GB
        asked = MOST_GB[run["data"]]
        text += f"; {gigabytes:.1f} GB at the peak of the process, asked at most {asked:g}"
        text += f": {'yes' if gigabytes <= asked else '**no**'}"
    return text + "."


def phase_medians(run):
    """Return the seconds of each phase, medians over seeds."""
    names = list(dict.fromkeys(itertools.chain.from_iterable(fit["phases"] for fit in run["fits"])))
    return {name: statistics.median(fit["phases"].get(name, 0.0) for fit in run["fits"]) for name in names}


def size_on(run, axis):
    """Return the size of a run on an axis: N, D, L or H."""
    return {
        "N": run["n_rows"], "D": run["D"], "L": run["L"], "H": run["fits"][0]["n_hidden"],
    }[axis]  # fmt: skip


def table_scaling(part):
    """Return the tables of the part "scaling" as Markdown."""
    runs = studies.done(part)
    if not runs:
        return ""
    base = runs[0]
    names = list(dict.fromkeys(name for run in runs for name in phase_medians(run)))
    names = [name for name in names if max(phase_medians(run).get(name, 0.0) for run in runs) >= 0.005]
    texts = [
        f"FALS with exact scores on made-up data: N = {base['n_rows']:,}, D = {base['D']:,}, L = {base['L']:,}, "
        f"H = {base['fits'][0]['n_hidden']:,} where they do not grow; medians over {seeds_text(part)} seeds, "
        f"{part['threads']} threads. H does not follow D and L here, as it does by default."
    ]
    rows, axes = [], []
    for axis, title in AXIS_TITLES.items():
        own = sorted((run for run in runs if axis in run["axes"]), key=lambda run: size_on(run, axis))
        if not own:
            continue
        sizes = [size_on(run, axis) for run in own]
        ways = {"all": [statistics.median(fit["s"] for fit in run["fits"]) for run in own]}
        ways |= {name: [phase_medians(run).get(name, 0.0) for run in own] for name in names}
        for what, seconds in ways.items():
            fit = scaling_tables.exponent(sizes, seconds) if min(seconds) > 0 else None
            if fit is not None:
                rows.append([axis, what, f"×{tables.number(fit['range'], 2)}", scaling_tables.as_exponent(fit),
                             scaling_tables.as_last(fit)])  # fmt: skip
        lines = []
        for i, run in enumerate(own):
            line = [f"{sizes[i]:,}", *(tables.number(seconds[i]) for seconds in ways.values())]
            rise = run["memory_peak"] - run["memory_before"] if "memory_peak" in run else None
            lines.append([*line, "–" if rise is None else tables.mebibytes(rise), run["fits"][0]["order"]])
        head = [axis, "seconds, all", *names, "memory, MiB", "order of computation"]
        axes.append(f"**{title}**\n\n" + tables.table(head, lines, left=0))
    if rows:
        head = ["along", "seconds of", "range", "exponent", "last step"]
        texts.append("**Exponents** (± standard error)\n\n" + tables.table(head, rows, left=2))
    return "\n\n".join([*texts, *axes])


def table_patterns(part):
    """Return the tables of the part "patterns" as Markdown."""
    found = measured(part)
    variants = [name for name in VARIANTS if any(name in runs for runs in found.values())]
    measures = (*FOUR, "micro-AUC")
    texts = [
        f"Trees on {SHARE:.0%} of the features, ties broken at random: mean and 95 % interval over {seeds_text(part)} "
        f"random 2:1 splits. L2: weight {VARIANTS['L2']['l2']:g}; dropout: {VARIANTS['dropout']['dropout']:g} of the "
        "hidden units (the paper gives neither)."
    ]
    for data, runs in found.items():
        rows = [
            [name, *(tables.interval(values_of(runs[name], measure), four) for measure in measures),
             tables.spread([fit["select_s"] for fit in runs[name]["fits"]])]
            for name in variants if name in runs
        ]  # fmt: skip
        texts.append(f"**{data}**\n\n" + tables.table(["", *measures, "selection, s"], rows))
    names = complete(found, variants)
    if "FALS" in variants and names:
        rows = []
        for name in variants:
            row = [name]
            for measure in measures:
                gaps = [mean_of(found[data][name], measure) - mean_of(found[data]["FALS"], measure) for data in names]
                row.append(f"{statistics.fmean(gaps):+.4f}")
            rows.append(row)
        texts.append(
            f"**Difference from FALS**, mean over {len(names)} data sets\n\n" + tables.table(["", *measures], rows)
        )
    return "\n\n".join(texts)


def table_share(part):
    """Return the tables of the part "share" as Markdown."""
    texts = [
        f"Trees on the first features of one selection, ties broken at random: means over {seeds_text(part)} random "
        "2:1 splits. MI: mutual information."
    ]
    for data, runs in measured(part).items():
        shares = list(dict.fromkeys(s for run in runs.values() for fit in run["fits"] for s in fit["shares"]))
        shares.sort(key=float)
        for measure in (*FOUR, "micro-AUC"):
            rows = []
            for method, run in runs.items():
                row = [method]
                for share in shares:
                    values = [fit["shares"][share][measure] for fit in run["fits"] if share in fit["shares"]]
                    row.append(four(statistics.fmean(values)) if values else "")
                rows.append(row)
            texts.append(tables.table([f"{data}, {measure}", *(f"k/D = {share}" for share in shares)], rows))
    return "\n\n".join(texts)


def table_similarity(part):
    """Return the tables of the part "similarity" as Markdown."""
    texts = [
        "How alike selections of the same training rows are, label by label (the paper's Figure 4): FALS with one seed "
        "and with another, and FALS against variants and rivals; median, and the middle half of the values over labels "
        "and pairs of seeds. Spearman over the features that either selects, where two rankings that share few "
        "features disagree by construction."
    ]
    for run in studies.done(part):
        rows = []
        for name, both in run["methods"].items():
            row = ["FALS, another seed" if name == "FALS" else name]
            for what in ("jaccard", "spearman"):
                _, low, middle, high, _, _ = both[what]
                row.append(f"{middle:.2f} ({low:.2f} to {high:.2f})")
            rows.append(row)
        head = [f"{run['data']}, k = {run['k']}", "Jaccard", "Spearman"]
        texts.append(tables.table(head, rows))
    return "\n\n".join(texts)


def table_leaves(part):
    """Return the tables of the part "leaves" as Markdown."""
    texts = [
        f"The trees above grow until leaves are pure, as scikit-learn's do by default; the paper says nothing about "
        f"its own. Ties broken at random; mean and 95 % interval over {seeds_text(part)} random 2:1 splits."
    ]
    measures = (*FOUR, "micro-AUC")
    runs = studies.done(part)
    for data in dict.fromkeys(run["data"] for run in runs):
        rows = [
            [run["trees"], run["method"], *(tables.interval(values_of(run, measure), four) for measure in measures)]
            for run in runs
            if run["data"] == data
        ]
        if data in PAPER:
            for method in (ALL, "FALS"):
                values = [four(paper_value(data, measure, method)) for measure in FOUR]
                rows.append(["the paper's", method, *values, ""])
        texts.append(f"**{data}**\n\n" + tables.table(["trees", "features", *measures], rows, left=2))
    names = dict.fromkeys(run["data"] for run in runs)
    rows = []
    for trees in dict.fromkeys(run["trees"] for run in runs):
        for method in (ALL, "FALS"):
            own = {run["data"]: run for run in runs if (run["trees"], run["method"]) == (trees, method)}
            if own.keys() == names.keys():
                means = (statistics.fmean(mean_of(run, measure) for run in own.values()) for measure in measures)
                rows.append([trees, method, *map(four, means)])
    if rows and len(names) > 1:
        texts.append(
            f"**Average over {len(names)} data sets**\n\n"
            + tables.table(["trees", "features", *measures], rows, left=2)
        )
    return "\n\n".join(texts)
