"""A report on kept runs: one HTML file with tables, figures and sentences that needs no server and no network."""

import base64
import gzip
import html
import json
import platform
import re
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from xmlcore import __version__, metrics, wording
from xmlcore.datasets import load_saved
from xmlcore.experiment import side_by_side
from xmlcore.experiment.catalog import MODELS
from xmlcore.experiment.engine.task import load
from xmlcore.experiment.kept_runs import half_width, parameters, runs, seeds_grouped
from xmlcore.experiment.kinds.train import Train, changed_params
from xmlcore.experiment.sharing.latex import marked
from xmlcore.ranking import KS
from xmlcore.store import MissingArtifactError, StoreError
from xmlcore.typing import DataFrame, FilePath
from xmlcore.validation import check_frame, check_is

MOST = 12  # lines that are put side by side on a data set
COSTS = {"fit_s": "Training, seconds", "training_mb": "Memory while training, MB", "model_mb": "Model in memory, MB"}
# The policy lets the page load nothing from anywhere. Parallel coordinates are drawn by code that Plotly makes while it
# runs ('unsafe-eval'). Plotly is kept compressed, once.
PAGE = Path(__file__).with_suffix(".html").read_text(encoding="utf-8")


def report(
    keys: Iterable[str],
    path: FilePath | None = None,
    title: str = "Comparison of models",
    measure: str = "P@1",
    names: dict[str, Any] | None = None,
) -> str:
    """Write a report on kept runs as one HTML file.

    Parameters
    ----------
    keys : iterable of str
        Keys of runs, of one or several data sets, in the order of the data sets. Runs that differ only in their seed
        are grouped.
    path : str or path-like, optional
        Where to write the file.
    title : str
    measure : str
        A column of :func:`runs`, by which the runs are ordered and tested.
    names : dict of str, optional
        Names of runs by key, and of data sets by fingerprint; by default those that they were kept with.

    Returns
    -------
    str
        The file's content. It has, for each data set: which runs are best and whether the differences are real (with
        Holm's correction for their number), a table of all runs, measures with intervals and labels by frequency of up
        to 12 of them, what precision costs, the settings of each model against the measure; then the mean ranks
        over several data sets, the settings of all runs, and versions and date. Runs that cannot be read are left out,
        and it says which and why.
    """
    from plotly.offline import get_plotlyjs

    keys, names = list(dict.fromkeys(keys)), names or {}
    frame = runs(keys)
    if frame.empty:
        raise ValueError("none of these runs is kept: give keys of kept runs, such as experiment.runs()['key']")
    if measure not in frame:
        raise ValueError(f"measure is {measure!r:.200}: it must be a column of experiment.runs(), such as 'P@1'")
    missing = _missing(keys, frame, names)
    frame = frame[frame["problem"] == ""]
    frame = frame.assign(dataset=[names.get(f, name) for f, name in zip(frame["fingerprint"], frame["dataset"])])
    lines = seeds_grouped(frame).sort_values(measure, ascending=False, kind="stable")
    lines = lines.assign(run=_names(lines, names))
    figures: dict = {}
    of_data = [lines[lines["fingerprint"] == fingerprint] for fingerprint in frame["fingerprint"].unique()]
    parts = [missing] + [_part(own, measure, figures) for own in of_data]
    if len(of_data) > 1:  # the first is open
        folded = (part.replace("</h2>", "</h2></summary>", 1) for part in parts[1:])
        parts[1:] = [f"<details{' open' * (not at)}><summary>{part}</details>" for at, part in enumerate(folded)]
    parts += [_ranks(lines, measure, figures), _settings(lines), _about(frame)]
    drawn = {place: json.loads(figure.to_json()) for place, figure in figures.items()}
    shown = {
        "version": __version__,
        "title": html.escape(title),
        "body": "\n".join(parts),
        "figures": json.dumps(drawn).replace("<", "\\u003c"),
        "library": base64.b64encode(gzip.compress(get_plotlyjs().encode("utf-8"), mtime=0)).decode("ascii"),
    }
    content = re.sub("@@([a-z]+)@@", lambda match: shown[match[1]], PAGE)
    if path is not None:
        Path(path).write_text(content, encoding="utf-8")
    return content


def _missing(keys, frame, names) -> str:
    lines = frame.set_index("key")
    why = {key: lines.loc[key, "problem"] if key in lines.index else "it is not kept" for key in keys}
    models = lines["model"].to_dict()
    return _left_out({f"{names.get(key) or models.get(key, '')} [{key}]".strip(): why[key] for key in keys if why[key]})


def _left_out(why) -> str:
    """Return a paragraph on what is left out, and why; empty if there is nothing: ``why`` has the reasons by name."""
    reasons = "; ".join(f"<b>{html.escape(name)}</b>: {html.escape(str(reason))}" for name, reason in why.items())
    return f"<p>Left out, because it cannot be read: {reasons}.</p>" if why else ""


def _names(lines, names) -> list[str]:
    """Return a name for each line: the one given, or the model with the settings in which it differs from others."""
    found = []
    for _, line in lines.iterrows():
        given = next((names[key] for key in line["keys"] if names.get(key)), None)
        others = lines[(lines["fingerprint"] == line["fingerprint"]) & (lines["model"] == line["model"])]
        differing = {name: line["params"].get(name) for name in parameters(others, seed=False)}
        info = MODELS.get(line["model"])
        text = changed_params(info, differing) if info and differing else ""
        title = line["model"] if info else side_by_side.model_title(line["model"], line["params"])
        found.append(given or (f"{title} ({text})" if text else title))
    often = Counter(zip(lines["fingerprint"], found))
    return [
        f"{name} [{key[:4]}]" if often[f, name] > 1 else name
        for f, name, key in zip(lines["fingerprint"], found, lines["key"])
    ]


def _part(lines, measure, figures) -> str:
    from xmlcore import figures as drawing

    where = lines["dataset"].iloc[0]
    head, drawn_name = f"<h2>{html.escape(where)}</h2>", html.escape(where, quote=False)
    try:
        data = load_saved(lines["fingerprint"].iloc[0])
    except (StoreError, OSError) as error:
        return f"{head}{_table_of_runs(lines, measure)}<p>No more can be said: {html.escape(str(error))}.</p>"
    kept, unreadable = {}, {}
    for _, line in lines.iterrows():
        if len(kept) < MOST:
            try:
                kept[line["run"]] = load(Train.kind, _middle(line, measure))
            except (StoreError, OSError) as error:
                unreadable[line["run"]] = error
    if not kept:
        return f"{head}{_table_of_runs(lines, measure)}{_left_out(unreadable)}<p>So no more can be said.</p>"
    size = (
        f"{data.n_train:,} training rows, {data.n_test:,} test rows, {data.n_features:,} features, {data.n_labels:,} "
    )
    text = [head, f'<p class="quiet">{size}labels; fingerprint {lines["fingerprint"].iloc[0]}.</p>']
    text.append(f"<p>{_answer(data, kept, lines, measure, bool(unreadable))}</p>")
    text.append(_table_of_runs(lines, measure))
    if unreadable:
        text.append(f"{_left_out(unreadable)}<p>The table has what was measured of it before.</p>")
    if (lines["n"] > 1).any():
        text.append(
            '<p class="quiet">In tests and below, of several seeds the run nearest to the mean stands for all.</p>'
        )
    frame = side_by_side.measures_with_intervals(data, kept)
    text.append(f"<h3>Measures with 95 % intervals over test rows, {len(kept)} of {len(lines)} lines</h3>")
    text.append(_table_of_measures(frame))
    text.append('<p class="quiet">The best of each measure is underlined, and bold where it is significantly best.</p>')
    drawn = frame[frame["measure"].isin(side_by_side.DRAWN)]
    text.append(_figure(figures, drawing.measures_compared(drawn, f"Measures on {drawn_name}")))
    buckets = side_by_side.buckets_side_by_side(data, kept)
    text.append(_figure(figures, drawing.buckets_compared(buckets, "recall", f"Recall on {drawn_name}, top 5")))
    costs = lines[(lines["fit_s"] > 0) & (lines["model_bytes"] > 0)]
    if len(costs) > 1:
        models = [side_by_side.model_style(m, p) for m, p in zip(costs["model"], costs["params"])]
        in_mb = {"model_mb": costs["model_bytes"] / 1e6, "training_mb": costs["training_bytes"] / 1e6}
        drawn = costs.assign(model=models, **in_mb)
        drawn[measure] *= 100
        title = f"{measure} on {drawn_name} against time and memory"
        shown = {name: title for name, title in COSTS.items() if drawn[name].notna().sum() > 1}
        text.append(_figure(figures, drawing.frontier(drawn, shown, [measure], title, frame)))
    title = f"{measure} of {{}} by settings on {drawn_name}: each line is a setting"
    for model, of in side_by_side.settings_of_models(lines, measure).items():
        text.append(_figure(figures, drawing.parameters_compared(*of, measure, title.format(model))))
    return "\n".join(text)


def _middle(line, measure) -> str:
    """Return the key of the run of a line whose measure is nearest to the mean."""
    own = runs(line["keys"])
    if own.empty:
        raise MissingArtifactError("it is not kept")
    return own["key"].iloc[int((own[measure] - line[measure]).abs().to_numpy().argmin())]


def _answer(data, kept, lines, measure, of_readable) -> str:
    """Return which line is best, of those that can be read, and the table of its differences from others."""
    known = lines[lines["run"].isin(kept) & lines[measure].notna()]
    names = known["run"].tolist()
    if not names:
        return f"{html.escape(measure)} is not known of any of these results."
    among = f"{len(names)} {'results' if (known['n'] == 1).all() else 'settings'}{' that can be read' * of_readable}"
    written = measure, among, "<b>{}</b>", html.escape
    if len(names) == 1:
        return side_by_side.best(known, measure, names).text(*written)
    measures = side_by_side.at_most((measure, *side_by_side.TESTED), data.n_labels)
    tests = side_by_side.differences(data, {name: kept[name] for name in names}, measures)
    best = side_by_side.best(known, measure, names, tests[tests["run"] == names[1]]).text(*written)
    return (
        f"{best} Points by which others are better or worse, with 95 % intervals; <b>bold</b> is significant:</p>"
        f'{_of_tests(tests)}<p class="quiet">{side_by_side.how_tested(tests)}'
    )


def _table_of_runs(lines, measure) -> str:
    shown = list(dict.fromkeys((measure, "P@1", "P@3", "P@5", "nDCG@5", "PSP@5")))
    heads = ["Model", *(f"{one}, %" for one in shown), "Seeds", "Training, s", "Memory while training, MB", "Model, MB"]
    rows, spreads = [], {one: half_width(lines, one) for one in shown}
    for index, line in lines.iterrows():
        cells = [html.escape(line["run"])]
        for one in shown:
            spread = f" ± {100 * spreads[one][index]:.2f}" if line["n"] > 1 else ""
            cells.append(f"{100 * line[one]:.2f}{spread}" if line[one] == line[one] else "–")
        costs = (line["fit_s"], line["training_bytes"] / 1e6, line["model_bytes"] / 1e6)
        rows.append([*cells, str(line["n"]), *map(wording.significant, costs)])
    note = (
        '<p class="quiet">± is half of the 95 % interval of the mean over seeds.</p>' if (lines["n"] > 1).any() else ""
    )
    return table(heads, rows) + note


def _table_of_measures(frame) -> str:
    """Return a table of measures with intervals: the best of each underlined, and bold where it is so significantly."""
    names, columns = list(dict.fromkeys(frame["run"])), list(dict.fromkeys(zip(frame["measure"], frame["k"])))
    marks, between = ("<u>{}</u>", "<b>{}</b>"), "<br><small>{} to {}</small>"
    cells = marked(frame, names, columns, 2, marks, between, "–")
    rows = [[html.escape(of[0].replace("@k", f"@{of[1]}")), *("".join(cells[n, of]) for n in names)] for of in columns]
    return table(["%", *names], rows)


def _figure(figures, figure) -> str:
    place = f"figure-{len(figures)}"
    figures[place] = figure
    return f'<figure id="{place}" style="min-height: {int(figure.layout.height or 380)}px"></figure>'


def _ranks(lines, measure, figures) -> str:
    """Return the part on several data sets; empty with fewer than two that all models have."""
    from xmlcore import figures as drawing

    wide = best_of_models(lines, measure)
    if wide.shape[0] < 2 or wide.shape[1] < 2:
        return ""
    text = f"<h2>Over {len(wide)} data sets</h2>"
    if wide.shape[1] == 2:
        p = float(metrics.wilcoxon(wide).iloc[0, 1])
        return f"{text}<p>Wilcoxon’s signed-rank test of the two models in {measure}: {wording.p_value(p)}.</p>"
    found = metrics.friedman(wide)
    figure = drawing.critical_difference(found.ranks, found.critical_difference, f"Mean rank in {measure}")
    p = wording.p_value(found.p_value)
    test = f"<p>Friedman’s test of the mean ranks in {measure}: {p}. Bars join models whose ranks"
    return f"{text}{test} Nemenyi’s test does not tell apart.</p>{_figure(figures, figure)}"


def best_of_models(lines: "DataFrame", measure: str) -> "DataFrame":
    """Return the measure of the best settings of each model on each data set."""
    check_is(measure, str, "measure", "the name of a measure")
    check_frame(lines, ("model", "params", "fingerprint", "dataset", measure), "runs", "lines")
    models = [side_by_side.model_title(m, p) for m, p in zip(lines["model"], lines["params"])]
    wide = lines.assign(model=models).pivot_table(
        index=["fingerprint", "dataset"], columns="model", values=measure, aggfunc="max"
    )
    wide = wide.loc[:, wide.notna().sum() >= 2].dropna()
    wide.index = wide.index.get_level_values("dataset")
    wide.columns.name = None
    return wide


def _settings(lines) -> str:
    rows = []
    for _, line in lines.iterrows():
        info = MODELS.get(line["model"])
        changed = changed_params(info, line["params"]) if info else json.dumps(line["params"])
        every = json.dumps(line["params"], sort_keys=True)
        seeds = ", ".join(f"{seed:g}" for seed in line["seeds"] if seed == seed)
        cells = (line["run"], line["dataset"], changed or "default settings", every, seeds, ", ".join(line["keys"]))
        rows.append([html.escape(cell) for cell in cells])
    heads = ["Model", "Data set", "Differs from the defaults", "All parameters", "Seeds", "Keys"]
    return f"<h2>Settings</h2><details><summary>All settings</summary>{table(heads, rows)}</details>"


def _about(frame) -> str:
    libraries = ", ".join(f"{name} {metadata.version(name)}" for name in ("numpy", "scipy", "scikit-learn", "numba"))
    made = ", ".join(sorted({str(version) for version in frame["xmlcore"] if version})) or "an early version"
    when = datetime.now(UTC).strftime("%d %B %Y, %H:%M UTC")
    return (
        f'<h2>Versions</h2><p class="quiet">Written on {when} by xmlcore {__version__} with Python '
        f"{platform.python_version()}, {libraries}. The results were made by xmlcore {html.escape(made)}. "
        f"Measures are at k = {', '.join(map(str, KS))}.</p>"
    )


def table(heads: list[str], rows: list[list[str]]) -> str:
    head = "".join(f"<th>{html.escape(text)}</th>" for text in heads)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f'<div class="table"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _of_tests(tests: "DataFrame") -> str:
    """Return the differences of runs from the first of them, a row for each run and a column for each measure."""
    rows = []
    for run, own in tests.groupby("run", sort=False):
        cells = [html.escape(run)]
        for test in own.itertuples():
            by, low, high = (
                f"{100 * value:+.2f}".replace("-", "−") for value in (test.difference, test.low, test.high)
            )
            by = f"<b>{by}</b>" if test.sure else by
            is_known = test.p_holm == test.p_holm
            p = wording.p_value(test.p_holm)
            cells.append(f"{by}<br><small>{low} to {high}<br>{p}</small>" if is_known else "–")
        rows.append(cells)
    return table(["Points", *dict.fromkeys(tests["measure"])], rows)
