"""Tables and ratios from the results that `benchmarks.compare` keeps. Reads dicts, gives Markdown; measures nothing."""

import math
import statistics
from typing import NamedTuple

from benchmarks.library import machine, tables

MEASURES = ("P@1", "P@3", "P@5", "nDCG@5", "PSP@5")
PRECISIONS = MEASURES[:3]
OURS = ("xmlcore", "xmlcore-parabel", "xmlcore-default")
FAST_TRAINERS = ("omikuji", "pecos")  # training time is measured against the faster of these
SINGLE_RIVALS = ("napkinxc", "omikuji", "pecos", "libmultilabel")
EXACT_RIVAL, BEAM_RIVAL = "napkinxc", "pecos"
WIDE, WIDE_RIVAL = "xmlcore-wide", "omikuji-bonsai"
EXACT, BEAM = "exact", "beam 10"
JUDGED = "xmlcore"  # the contestant that the targets are for
ONE_ROW_DATA, MEMORY_DATA = "bibtex", "wordnet-hyper"
DEFAULTS = dict.fromkeys(("arity", "max_leaf_labels", "loss", "C"), "auto")  # of PLT, as far as settings name them


def series(results, data, contestant, value):
    """Return a value of each complete run of a contestant on a data set; an empty list when there is none.

    ``value`` is called with the run; runs for which it returns None are left out.
    """
    found = [
        value(run)
        for run in results["runs"]
        if run["data"] == data and run["contestant"] == contestant and run.get("done")
    ]
    return [number for number in found if number is not None]


def train_s(run):
    """Return the seconds of training of a run."""
    return run["train_s"]


def memory_peak(run):
    """Return the peak memory of a run in bytes, or None."""
    return run.get("memory_peak")


def memory_rise(run):
    """Return by how many bytes memory rose during a training, or None."""
    return run["memory_peak"] - run["memory_before"] if "memory_peak" in run else None


def fastest_way(run, search, by="ms_per_row"):
    """Return the way of searching with the smallest time ``by``; None where the search was not measured."""
    ways = [way for way in run["searches"].get(search, {"ways": []})["ways"] if by in way]
    return min(ways, key=lambda way: way[by], default=None)


def searching(search, by="ms_per_row"):
    """Return a function that returns the time ``by`` of a run's fastest way of searching, or None."""

    def value(run):
        way = fastest_way(run, search, by)
        return None if way is None else way[by]

    return value


def main_search(run):
    """Return the search whose precision stands for the model: the exact one, if there is one."""
    return EXACT if EXACT in run["searches"] else BEAM


def quality_of(measure, search=None):
    """Return a function that returns a measure of a run by one way of searching, or None."""

    def value(run):
        found = run["searches"].get(search or main_search(run))
        return None if found is None else found["quality"][measure]

    return value


def least_rival(results, data, rivals, value):
    """Return (name, median) of the rival with the smallest median, or None when none has been measured."""
    medians = [(statistics.median(found), rival) for rival in rivals if (found := series(results, data, rival, value))]
    if not medians:
        return None
    median, rival = min(medians)
    return rival, median


def ratio(results, data, contestant, rivals, value):
    """Divide the median of a contestant by the smallest median among rivals, and do the same for single runs.

    Returns
    -------
    dict with "ratio", "low", "high" and "rival"; None when one side has not been measured
        "low" and "high" are the extremes of run i of the contestant divided by run i of the rival: runs of one number
        were neighbours in time.
    """
    ours = series(results, data, contestant, value)
    best = least_rival(results, data, rivals, value)
    if not ours or best is None:
        return None
    rival, median = best
    pairs = [a / b for a, b in zip(ours, series(results, data, rival, value))]
    return {"ratio": statistics.median(ours) / median, "low": min(pairs), "high": max(pairs), "rival": rival}


class Target(NamedTuple):
    """One point of the comparison, and how it came out."""

    point: str
    target: str
    worst: str
    where: str
    met: bool | None  # None where nothing was measured, or there is no target
    absent: tuple = ()  # data sets that it speaks of and on which it was not measured


def judge(point, target, found, most, form, lower=False):
    """Compare the worst of the measured values with a target; return a Target.

    Parameters
    ----------
    point, target : str
        What is measured, and the target in words.
    found : dict
        Of each data set that the point speaks of, (value, note), or None where it was not measured.
    most : float or None
        The largest value that meets the target; None for a value that is only told.
    form : callable
        Value to text.
    lower : bool
        Whether ``most`` is the smallest value that meets the target instead.
    """
    there = {data: one for data, one in found.items() if one is not None}
    absent = tuple(data for data in found if data not in there)
    if not there:
        return Target(point, target, "–", "–", None, absent)
    data = (min if lower else max)(there, key=lambda data: there[data][0])
    value, note = there[data]
    met = None if most is None else bool(value >= most if lower else value <= most)
    return Target(point, target, form(value), f"{data}{note and f', {note}'}", met, absent)


def targets(results):
    """Return all targets with what was measured, as a list of Target."""
    names, every = names_of(results), list(results["data"])
    wide = [data for data in results.get("wide_data", every) if data in every]

    def over(data, rivals, value, key=JUDGED, name_it=False):
        one = ratio(results, data, key, rivals, value)
        return one and (one["ratio"], names[one["rival"]] if name_it else "")

    def minus(data, rivals, measure, key=JUDGED):
        value = difference(results, data, key, rivals, measure)
        return None if value is None else (value, "")

    def own(data, value):
        found = series(results, data, JUDGED, value)
        return (statistics.median(found), "") if found else None

    def slow(data):
        ours, theirs = own(data, searching(BEAM)), series(results, data, BEAM_RIVAL, as_trained)
        return (ours[0] / statistics.median(theirs), "") if ours and theirs else None

    points_ = "{:+.2f} points".format
    found = [
        judge(
            "training time (of the faster of omikuji, 1 tree, and PECOS)", "≤ 1.0×, aim 0.5×",
            {data: over(data, FAST_TRAINERS, train_s, name_it=True) for data in every}, 1.0, tables.times,
        )
    ]  # fmt: skip
    for measure in PRECISIONS:
        differences_ = {data: minus(data, SINGLE_RIVALS, measure) for data in every}
        title = f"{measure}, exact (minus the best single-tree rival's)"
        found.append(judge(title, "≥ -0.3 points", differences_, -0.3, points_, lower=True))
    one_row = {p: {ONE_ROW_DATA: own(ONE_ROW_DATA, searching(EXACT, f"one_row_p{p}_ms"))} for p in (50, 99)}
    compared = {data: over(data, (EXACT_RIVAL,), searching(EXACT)) for data in every}
    beam = {data: over(data, (BEAM_RIVAL,), searching(BEAM)) for data in every}
    trained = {data: slow(data) for data in every}
    found += [
        judge("exact top 5 of all rows (of napkinXC's time)", "≤ 0.7×", compared, 0.7, tables.times),
        judge("beam 10 of all rows (of PECOS's time, its quickest way)", "≤ 0.5×", beam, 0.5, tables.times),
        judge("beam 10 (of PECOS's time, model as training returns it)", "–", trained, None, tables.times),
        *(judge(f"one row, exact, p{p}", "< 0.2 ms", one_row[p], BELOW_ONE_ROW, tables.milliseconds) for p in (50, 99)),
    ]
    for measure in PRECISIONS:
        differences_ = {data: minus(data, (WIDE_RIVAL,), measure, WIDE) for data in wide}
        title = f"three wide trees: {measure}, exact (minus omikuji's, Bonsai-like)"
        found.append(judge(title, "≥ -0.3 points", differences_, -0.3, points_, lower=True))
    training = {data: over(data, (WIDE_RIVAL,), train_s, WIDE) for data in wide}
    found.append(
        judge("three wide trees: training time (of omikuji's, Bonsai-like)", "≤ 1.0×", training, 1.0, tables.times)
    )  # fmt: skip
    whole_, rise = (
        {MEMORY_DATA: over(MEMORY_DATA, SINGLE_RIVALS, value, name_it=True)} for value in (memory_peak, memory_rise)
    )
    found += [
        judge("peak memory in training, whole process (of the least rival's)", "≤ 1.3×", whole_, 1.3, tables.times),
        judge("the same, rise in training (of the least rival's)", "–", rise, None, tables.times),
    ]
    return found


BELOW_ONE_ROW = math.nextafter(0.2, 0)


def as_trained(run):
    return run.get("as_trained_ms_per_row")


def quicker_with_one_row(results):
    """Return (name, p50, p99) of the rivals whose quickest search is quicker than ours with one row.

    p50 and p99 are the median and the 99th percentile of the time, in milliseconds.
    """
    names, found = names_of(results), []
    ours = series(results, ONE_ROW_DATA, JUDGED, searching(EXACT, "one_row_p50_ms"))
    for rival in SINGLE_RIVALS if ours else ():
        ways = []
        for search in (EXACT, BEAM):
            p50, p99 = (series(results, ONE_ROW_DATA, rival, searching(search, f"one_row_p{p}_ms")) for p in (50, 99))
            if p50 and p99:
                ways.append((statistics.median(p50), statistics.median(p99), search))
        if ways and min(ways)[0] < statistics.median(ours):
            found.append((f"{names[rival]} ({min(ways)[2]})", *min(ways)[:2]))
    return found


def same_as(results, data, key):
    """Return an earlier contestant of the same library with the same parameters on a data set; None without."""

    def params(key):
        for run in results["runs"]:
            if run["data"] == data and run["contestant"] == key:
                return DEFAULTS | run["params"]
        return None

    mine = params(key)
    for other in OURS[: OURS.index(key)] if key in OURS else ():
        if mine is not None and params(other) == mine:
            return other
    return None


def name_on(results, data, key):
    """Return the name of a contestant in the tables of one data set, which says where two have the same setting."""
    names, other = names_of(results), same_as(results, data, key)
    return names[key] if other is None else f"{names[key]} (same setting as {names[other]})"


def difference(results, data, contestant, rivals, measure, search=None, rival_search=None):
    """Return the mean of a contestant minus the best mean among rivals, in points.

    None when one side has not been measured.
    """
    ours = series(results, data, contestant, quality_of(measure, search))
    theirs = [series(results, data, rival, quality_of(measure, rival_search)) for rival in rivals]
    means = [statistics.fmean(found) for found in theirs if found]
    return statistics.fmean(ours) - max(means) if ours and means else None


def as_ratio(found, names=None):
    """Return what :func:`ratio` returned as text, with its extremes and the name of the rival."""
    if found is None:
        return "–"
    text, low, high = f"{found['ratio']:.2f}×", f"{found['low']:.2f}", f"{found['high']:.2f}"
    if low != high:
        text += f" ({low}–{high})"
    return text if names is None else f"{text} {names[found['rival']]}"


def differences(results, data, contestant, rivals, search=None, rival_search=None):
    """Return the differences of all precisions from the best rival's, as text."""
    found = [difference(results, data, contestant, rivals, m, search, rival_search) for m in PRECISIONS]
    return "–" if None in found else " / ".join(f"{value:+.2f}" for value in found)


def present(results, data, keys):
    """Return those of the contestants that took part on a data set, complete or not."""
    there = {run["contestant"] for run in results["runs"] if run["data"] == data}
    return [key for key in keys if key in there]


def names_of(results):
    """Return the names of the contestants by key."""
    return {key: contestant["name"] for key, contestant in results["contestants"].items()}


def markdown(results):
    """Return all tables of one set of results as Markdown."""
    parts = (_warnings, _targets, _about, _troubles, _single, _wide)
    sets = (_data_set(results, name) for name in results["data"])
    return tables.document(*(part(results) for part in parts), *sets)


def _warnings(results):
    """Return what must be known before anything is read off the tables."""
    lines = []
    if not results.get("complete", True):
        lines.append(f"**Stopped after {len(results['runs'])} of {results['planned']} runs.**")
    if not results.get("full", True):
        lines.append("**Not the full line-up: some data sets, contestants or runs were left out.**")
    return "\n\n".join(lines + tables.changed_lines(results))


def _targets(results):
    """Return the table of targets."""
    names = names_of(results)
    if JUDGED not in names:
        return ""
    rows = []
    for one in targets(results):
        met = "–" if one.met is None else ("yes" if one.met else "**no**")
        if one.worst == "–":
            met = "not measured"
        elif one.absent:
            met += f"; not measured on {', '.join(one.absent)}"
        rows.append([one.point, one.target, one.worst, one.where, met])
    text = (
        f'**Targets.** The row "{names[JUDGED]}", with settings chosen on validation rows, is the one that claims are '
        "judged on; the other rows of xmlcore are for comparison. Worst over the data sets, of medians for times and "
        "memory and of means for precision.\n\n"
        + tables.table(["point", "target", "worst measured value", "where", "met"], rows, left=5)
    )
    quicker = quicker_with_one_row(results)
    if quicker:
        said = ", ".join(
            f"{name}: p50 {tables.number(p50)} ms, p99 {tables.number(p99)} ms" for name, p50, p99 in quicker
        )
        text += f"\n\nWith one row a call on {ONE_ROW_DATA} these are quicker than {names[JUDGED]}: {said}."
    return text


def disturbed(results):
    """Return (contestant on data, largest share of other programs) of runs that stayed disturbed, worst first."""
    names, worst = names_of(results), {}
    for run in results["runs"]:
        others = run.get("others_cpu") or 0.0
        if others > machine.QUIET:
            where = f"{names[run['contestant']]} on {run['data']}"
            worst[where] = max(worst.get(where, 0.0), others)
    return sorted(worst.items(), key=lambda one: -one[1])


def _about(results):
    """Return sentences on when, where and how the results were measured."""
    versions, said = results["versions"], []
    for library, entry in versions.items():
        if isinstance(entry, dict) and entry["error"] is None:
            others = ", ".join(f"{name} {version}" for name, version in entry["with"].items() if version)
            said.append(f"{library} {entry['version'] or ''}".strip() + (f" ({others})" if others else ""))
    lines = [
        f"{tables.machine_text(results)}, runs of each contestant in turns: {results['runs_each']}. "
        f"Python {versions['python']}, for the others {versions['python of the others']}.",
        f"Libraries: {'; '.join(said)}. Sources of xmlcore: {results['xmlcore_code']}.",
    ]
    still = ", ".join(f"{where} ({100 * share:.0f} %)" for where, share in disturbed(results))
    lines += tables.noise_lines(results)
    lines += [f"**Disturbed even when repeated, take no times from: {still}.**"] if still else []
    lines.append(
        "Times and memory are medians over the runs, measures are means; least and largest in brackets. "
        "A ratio below 1 is in favour of xmlcore; its brackets are the extremes over runs of the same number."
    )
    return "\n\n".join(lines)


def _troubles(results):
    """Return a list of who is not in the tables, or not whole, and why."""
    names = names_of(results)
    lines = [f"- **{name}** did not take part: {why}" for name, why in results["missing"].items()]
    for run in results["runs"]:
        where = f"{names[run['contestant']]} on {run['data']}, run {run['run'] + 1}"
        if run.get("failed"):
            came = "after training" if "train_s" in run else "before training had ended"
            lines.append(f"- **{where}** failed {came}, and is in no table ({run['failed']})")
        elif run.get("extra", {}).get("compile_s"):
            lines.append(f"- **{where}**: {run['extra']['compile_s']:.1f} s of compiling in its process")
        if run.get("kernels_touched_in_training"):
            count = run["kernels_touched_in_training"]
            lines.append(f"- **{where}**: its training time includes loading {count} kernels from disk")
    return "\n".join(lines)


def _single(results):
    """Return the table of single trees."""
    names = names_of(results)
    rows = []
    for data in results["data"]:
        for key in present(results, data, OURS):
            row = [data, name_on(results, data, key)]
            row.append(as_ratio(ratio(results, data, key, FAST_TRAINERS, train_s), names))
            row.append(differences(results, data, key, SINGLE_RIVALS))
            row.append(as_ratio(ratio(results, data, key, (EXACT_RIVAL,), searching(EXACT))))
            row.append(as_ratio(ratio(results, data, key, (BEAM_RIVAL,), searching(BEAM))))
            row.append(differences(results, data, key, (BEAM_RIVAL,), BEAM, BEAM))
            row.append(as_ratio(ratio(results, data, key, SINGLE_RIVALS, memory_peak), names))
            row.append(as_ratio(ratio(results, data, key, SINGLE_RIVALS, memory_rise), names))
            if set(row[2:]) != {"–"}:  # without a rival there is nothing to compare with
                rows.append(row)
    if not rows:
        return ""
    head = [
        "data", "contestant", "training time (of the faster of omikuji and PECOS)",
        "P@1 / P@3 / P@5 (minus the best rival's)", "exact top 5, time (of napkinXC's)", "beam 10, time (of PECOS's)",
        "beam 10, P@1 / P@3 / P@5 (minus PECOS's)", "peak memory, whole process (of the least rival's)",
        "peak memory, rise in training (of the least rival's)",
    ]  # fmt: skip
    return "**One tree, in ratios**\n\n" + tables.table(head, rows, left=2)


def _wide(results):
    """Return the table of ensembles."""
    names = names_of(results)
    rows = []
    for data in results["data"]:
        for key in present(results, data, (WIDE,)):
            row = [data, as_ratio(ratio(results, data, key, (WIDE_RIVAL,), train_s))]
            row.append(differences(results, data, key, (WIDE_RIVAL,)))
            row.append(differences(results, data, key, (WIDE_RIVAL,), BEAM, BEAM))
            row.append(as_ratio(ratio(results, data, key, (WIDE_RIVAL,), searching(BEAM))))
            row.append(as_ratio(ratio(results, data, key, (WIDE_RIVAL,), memory_peak)))
            rows.append(row)
    if not rows:
        return ""
    head = [
        "data", "training time (of the rival's)", "exact P@1 / P@3 / P@5 (minus the rival's)",
        "beam 10 P@1 / P@3 / P@5 (minus the rival's)", "beam 10, time (of the rival's)",
        "peak memory, whole process (of the rival's)",
    ]  # fmt: skip
    rival = names.get(WIDE_RIVAL, "omikuji's, which was not measured")
    return f"**{names[WIDE]}, over {rival}**\n\n" + tables.table(head, rows)


def _data_set(results, data):
    """Return the tables of one data set."""
    names, about = names_of(results), results["data"][data]
    keys = present(results, data, names)
    training, predicting = [], []
    for key in keys:

        def of(value, key=key):
            return series(results, data, key, value)

        row = [
            name_on(results, data, key),
            tables.spread(of(train_s)),
            tables.spread(of(lambda run: run["train_cpu_s"] / run["train_s"]), form=tables.points),
        ]
        row += [
            tables.spread([value / tables.MIB for value in of(value)], form=tables.whole)
            for value in (memory_peak, memory_rise)
        ]
        row.append(tables.spread([value / tables.MIB for value in of(lambda run: run["model_bytes"])]))
        row += [tables.spread(of(quality_of(measure)), statistics.fmean, tables.points) for measure in MEASURES]
        training.append(row)
        for search in (EXACT, BEAM):
            if not of(searching(search)):
                continue
            how = statistics.mode(of(lambda run, search=search: fastest_way(run, search)["how"]))
            row = [name_on(results, data, key), search, how]
            row.append(tables.spread(of(searching(search))))
            row += [tables.spread(of(searching(search, f"one_row_p{p}_ms"))) for p in (50, 99)]
            row += [
                tables.spread(of(quality_of(measure, search)), statistics.fmean, tables.points)
                for measure in PRECISIONS
            ]
            predicting.append(row)
    size = (
        f"{about['n_train']:,} training and {about['n_test']:,} test rows, {about['n_features']:,} features, "
        f"{about['n_labels']:,} labels, {tables.number(about['nonzeros_per_row'])} nonzeros and "
        f"{tables.number(about['labels_per_row'])} labels per row"
    )
    head = ["", "training s", "cores busy", "peak MiB, whole process", "rise MiB", "model MiB on disk", *MEASURES]
    parts = [f"### {data}", size + ".", tables.table(head, training)]
    head = ["", "top 5", "how", "ms/row, all rows", "one row, ms, p50", "one row, ms, p99", *PRECISIONS]
    parts.append(tables.table(head, predicting, left=3))
    slow = [value for key in keys for value in series(results, data, key, as_trained)]
    if slow:
        parts.append(
            f"With the model as training returns it, PECOS takes {tables.spread(slow)} ms/row (beam 10, 500 rows)."
        )
    used = {key: settings_of(results, data, key) for key in keys if key.startswith("xmlcore")}
    if used:
        parts.append("Settings: " + "; ".join(f"{names[key]}: {text}" for key, text in used.items()) + ".")
    return "\n\n".join(parts)


def settings_of(results, data, key):
    """Return the parameters of a contestant on a data set as text."""
    for run in results["runs"]:
        if run["data"] == data and run["contestant"] == key:
            return ", ".join(f"`{name}={value!r}`" for name, value in run["params"].items()) or "none"
    return "none"
