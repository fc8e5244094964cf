"""Robustness: how much worse does a model predict when its inputs are noisy or attacked?"""

import functools

import numpy as np
import pandas as pd
import streamlit as st

from pages.robustness import noise
from pages.shared import begin, charts, format, results, run_names, server, tables, tasks, workspace
from xmlcore import experiment, figures, robustness, store
from xmlcore.experiment import twins
from xmlcore.models import ModelFormatError

K = 5
KS = (1, 3, 5)
AUTOMATIC = 20.0  # seconds up to which a run is measured without being asked
MOST_REPEATS = 50
AT_FIRST = 4  # runs shown before any are chosen
ROWS_SHOWN = 3
FEATURES_SHOWN = 8
LOG_MEASURE = "PSDCG@k (1/log)"  # the paper's
MEASURES = ("P@k", "nDCG@k", LOG_MEASURE, "PSDCG@k", "PSP@k")
MEANING = {
    "P@k": "share of the k predicted labels that are right",
    "nDCG@k": "the same, but the first places count more",
    LOG_MEASURE: "discounted gain with labels weighted by 1 / log(1 + rows): rare ones count more; the paper’s",
    "PSDCG@k": "discounted gain with labels weighted by Jain et al.’s inverse propensities",
    "PSP@k": "P@k with rare labels counting more, of the best possible",
}


def main() -> None:
    st.title("Robustness")
    fingerprint = workspace.get("dataset")
    if fingerprint is None:
        begin.no_data("Models can be trained on it and measured in a moment.", "so there is nothing to measure.")
        return
    data = server.dataset(fingerprint)
    name = workspace.get("known").get(fingerprint, {}).get("name", data.name)
    past = results.kept("runs", fingerprint)
    if not past:
        said = (
            "This page shows how predictions suffer when feature values are noisy or attacked, and what training on "
            f"noisy rows helps. {begin.not_trained(name)}"
        )
        begin.no_run(said, data, fingerprint, name, "robustness", "PLT", K, "Other models on the Train page")
        return
    chosen = _chosen(fingerprint, past)
    answer = st.container()
    with answer:
        sentence = st.empty()
        left, right = st.columns([2, 1], gap="large")
    with left:
        chosen = _choose_runs(fingerprint, past, chosen)
    with right:
        asked = _settings(data, fingerprint, chosen)
    if not chosen:
        sentence.markdown("Choose at least one result to see how it holds up under noise.")
        return
    if asked is None:
        sentence.markdown("The answer is here once the levels of noise can be read.")
        return
    titles = run_names.names(chosen)
    with left:
        found = _measured(data, fingerprint, name, chosen, titles, asked)
    with right:
        begin.watch_training(fingerprint)
    files = f"{format.file_name(name)}-robustness-{asked.kind}"
    if not found:
        sentence.markdown(
            f"How well do these models predict **{format.plain(name)}** under "
            f"{format.plain(noise.noise_said(asked.kind, asked.options))}? Measuring says so."
        )
    else:
        whole = _Whole(found, chosen, titles)
        sentence.markdown(_sentence(name, whole, asked))
        with left:
            st.fragment(_curves)(whole, asked, files)
        st.fragment(_drops)(whole, asked, files)
    _twins(data, fingerprint, name, chosen, past)
    if found:
        st.fragment(_buckets)(whole, asked, files, data.n_labels)
        _times(whole, asked, files)
    st.fragment(_rows)(data, fingerprint, chosen, asked, files)


# --- what is measured ---


def _chosen(fingerprint, past) -> list:
    """The runs chosen last; at first the newest of each model, and that of the Train page in its model's place."""
    by_key = {r["key"]: r for r in past}
    remembered = workspace.get("widgets").get(f"{workspace.ROBUSTNESS_RUNS} {fingerprint}")
    if isinstance(remembered, list):
        return [by_key[key] for key in remembered if key in by_key]
    shown = by_key.get(workspace.get("shown").get(fingerprint))
    first = {}
    for r in ([shown] if shown else []) + past:
        first.setdefault(run_names.style_model(r), r)
    plain = next(iter(first.values()))
    for one, other in twins.twins(past):  # its own twin rather than the newest of the twin's kind
        if plain["key"] in (one["key"], other["key"]):
            twin = other if plain is one or plain["key"] == one["key"] else one
            first[run_names.style_model(twin)] = twin
            break
    return list(first.values())[:AT_FIRST]


def _choose_runs(fingerprint, past, chosen) -> list:
    by_key = {r["key"]: r for r in past}
    titles = run_names.names(past)
    key = workspace.ROBUSTNESS_RUNS
    st.session_state[key] = [r["key"] for r in chosen]
    picked = st.multiselect(
        "Results compared",
        list(by_key),
        format_func=titles.get,
        key=key,
        on_change=_remember_runs,
        args=(fingerprint,),
        placeholder="Choose results of the Train page",
        help="All results of this workspace on this data set, newest first.",
    )
    return [by_key[k] for k in picked]


def _remember_runs(fingerprint):
    picked = list(st.session_state[workspace.ROBUSTNESS_RUNS])
    workspace.update(lambda d: d["widgets"].__setitem__(f"{workspace.ROBUSTNESS_RUNS} {fingerprint}", picked))


class _Asked:
    """What is measured: the noise, its levels, repeats and rows."""

    def __init__(self, kind, levels, options, n_repeats, n_rows, n_test, estimate):
        self.kind, self.levels, self.options, self.n_repeats = kind, levels, options, n_repeats
        self.n_rows, self.n_test, self.estimate = n_rows, n_test, estimate

    @property
    def arguments(self) -> tuple:
        """Of robustness_saved, after the run."""
        n_rows = None if self.n_rows >= self.n_test else self.n_rows
        return self.kind, self.levels, self.options, self.n_repeats, 0, n_rows

    @property
    def rows(self) -> str:
        if self.n_rows >= self.n_test:
            return "the one test row" if self.n_test == 1 else f"all {self.n_test:,} test rows"
        return f"{self.n_rows:,} of {format.count(self.n_test, 'test row')}, drawn at random"


def _settings(data, fingerprint, chosen) -> _Asked | None:
    """The controls of the noise; None when its levels cannot be read."""
    scale = server.scale(fingerprint)
    kind = st.selectbox(
        "Noise or attack",
        list(noise.KINDS),
        format_func=noise.KINDS.get,
        **workspace.keep("robustness.kind", "gaussian", options=list(noise.KINDS)),
    )
    st.caption(noise.ABOUT[kind])
    options = _options(kind)
    said = f"{kind} {options.get('norm', '')} {fingerprint[:8]}"
    first = ", ".join(f"{level:g}" for level in robustness.default_levels(kind, str(options.get("norm", 2)), scale))
    asked_levels = st.text_input(
        noise.level_title(kind, options),
        **workspace.keep(f"robustness.levels {said}", first, lambda value: isinstance(value, str)),
        help="Levels, with commas between them; 0, without noise, is always measured. "
        f"Values of this data set that are not 0 have the median size {scale.value:.3g}, rows the median length "
        f"{scale.length:.3g}.",
    )
    levels, problem = noise.parse_levels(asked_levels, kind)
    if problem:
        st.error(format.plain(problem))
        return None
    n_repeats = 1
    one, two = st.columns(2, vertical_alignment="bottom") if kind != "fgsm" else (None, st.container())
    if one is not None:  # FGSM has nothing to repeat
        with one:
            n_repeats = st.number_input(
                "Repeats",
                min_value=1,
                max_value=MOST_REPEATS,
                **workspace.keep(f"robustness.repeats {kind}", 1 if kind == "pgd" else 3, _within(1, MOST_REPEATS)),
                help="Each repeat draws its noise anew; attacks then start at random places. The bands are 95 % "
                "intervals over repeats; one repeat has none.",
            )
    if kind == "pgd":
        options["random_start"] = n_repeats > 1
    runs = [(r["model"], server.measures(r["key"])[1]) for r in chosen]

    def estimate(n_rows):
        sizes = (levels, options, int(n_repeats), n_rows)
        return max(
            (noise.seconds(model, times, scale, data.n_features, kind, *sizes) for model, times in runs), default=0.0
        )

    widget = f"robustness.rows {said} {options.get('support', '')}"
    with two:
        n_rows = st.number_input(
            f"Test rows, up to {data.n_test:,}",
            min_value=1,
            max_value=data.n_test,
            **workspace.keep(widget, noise.default_rows(estimate, data.n_test, AUTOMATIC), _within(1, data.n_test)),
            help="Fewer are drawn at random, the same for every result: quicker, and less certain.",
        )
    if chosen:
        st.caption(f"Measuring takes about {format.seconds(estimate(int(n_rows)))} per result, once: it is kept.")
    return _Asked(kind, levels, options, int(n_repeats), int(n_rows), data.n_test, estimate)


def _within(low, high):
    return lambda value: isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def _options(kind) -> dict:
    if kind == "words":
        ways = list(noise.WAYS)
        st.pills(
            "Words are",
            ways,
            format_func=noise.WAYS.get,
            selection_mode="multi",
            default=workspace.keep("robustness.ways", ways, lambda v: isinstance(v, list) and set(v) <= set(ways))[
                "value"
            ],
            key="robustness.ways",
            on_change=_remember_ways,
        )
        picked = st.session_state["robustness.ways"] or ways  # none is no noise: all instead
        return {way: way in picked for way in ways}
    options = {}
    if kind in noise.ATTACKS:
        norm = st.selectbox(
            "Size measured as",
            list(noise.NORMS),
            format_func=noise.NORMS.get,
            **workspace.keep(f"robustness.norm {kind}", "2", options=list(noise.NORMS)),
        )
        options["norm"] = 2 if norm == "2" else norm
    options["support"] = st.selectbox(
        "On",
        list(noise.SUPPORTS),
        format_func=lambda value: noise.SUPPORTS[value] if kind == "gaussian" else noise.SUPPORTS[value].split(" (")[0],
        **workspace.keep(f"robustness.support {kind}", "all", options=list(noise.SUPPORTS)),
        help="On all features, rows of words lose what makes them sparse: thousands of features get small values.",
    )
    return options


def _remember_ways():
    picked = st.session_state["robustness.ways"]
    workspace.update(lambda d: d["widgets"].__setitem__("robustness.ways", picked))


def _measured(data, fingerprint, name, chosen, titles, asked) -> dict:
    """What has been measured of these runs, by key; the rest is started, or waits for its button."""
    keys = {r["key"]: experiment.robustness_key(r["key"], *asked.arguments) for r in chosen}
    found, missing = {}, []
    for r in chosen:
        if store.exists("robustness", keys[r["key"]]):
            try:
                found[r["key"]] = server.robustness(keys[r["key"]])
                continue
            except (store.StoreError, OSError):
                pass  # it was damaged, and has been removed: measured again
        missing.append(r)
    tried = st.session_state.setdefault(workspace.ROBUSTNESS_ASKED, set())
    for r in missing:
        key = keys[r["key"]]
        if asked.estimate(asked.n_rows) <= AUTOMATIC and key not in tried and not _going(key):
            tried.add(key)
            _start(r, fingerprint, name, titles, asked)
    waiting = [r for r in missing if not _going(keys[r["key"]])]
    if waiting:
        total = asked.estimate(asked.n_rows) * len(waiting)
        which = titles[waiting[0]["key"]] if len(waiting) == 1 else format.count(len(waiting), "result")
        st.button(
            f"Measure {which} (about {format.seconds(total)})",
            type="primary",
            key="robustness.measure",
            on_click=lambda: [_start(r, fingerprint, name, titles, asked) for r in waiting],
            help="Results are kept, so each is measured once.",
        )
    for r in missing:
        tasks.watch(tasks.active("robustness", key=keys[r["key"]]))
        tasks.show_failures(tasks.failed("robustness", key=keys[r["key"]]))
    return found


def _going(key):
    return tasks.active("robustness", key=key) or tasks.failed("robustness", key=key)


def _start(record, fingerprint, name, titles, asked):
    what = f"{noise.KINDS[asked.kind]} on {name}: {titles[record['key']]}"
    tasks.measure_robustness(record["key"], fingerprint, asked.arguments, what)


class _Whole:
    """Everything measured of the runs chosen, in one table."""

    def __init__(self, found, chosen, titles):
        self.found = {titles[key]: part for key, part in found.items()}
        self.records = {titles[r["key"]]: r for r in chosen if r["key"] in found}
        parts = [
            part.frame.assign(run=run, model=run_names.style_model(self.records[run]), rows=part.n_rows)
            for run, part in self.found.items()
        ]
        self.frame = pd.concat(parts, ignore_index=True)
        self.summary = robustness.summarise(self.frame)
        self.rows = {run: part.n_rows for run, part in self.found.items()}

    def value(self, run, measure, k, level, column="mean"):
        s = self.summary
        at = s[(s["run"] == run) & (s["measure"] == measure) & (s["k"] == k) & (s["bucket"] == "all")]
        at = at[np.isclose(at["sigma"], level, rtol=1e-9, atol=0)]
        return float(at[column].iloc[0]) if len(at) else float("nan")

    @functools.cached_property
    def measures(self):
        present = set(self.summary["measure"])
        return [m for m in MEASURES if m in present]


# --- the answer ---


def _sentence(name, whole, asked) -> str:
    level = asked.levels[-1]
    runs = list(whole.found)
    if not np.isfinite(whole.value(runs[0], "PSP@k", 1, 0.0)):
        return f"No test row of **{format.plain(name)}** that was measured has a label, so no prediction can be right."
    what = format.plain(noise.noise_said(asked.kind, asked.options, level))
    said = f"On **{format.plain(name)}**, {what} {'take' if asked.kind == 'words' else 'takes'} P@1 "
    parts = []
    for run in runs:
        clean, noisy = whole.value(run, "P@k", 1, 0.0), whole.value(run, "P@k", 1, level)
        change = whole.value(run, "P@k", 1, level, "drop_mean")
        lost = "no change" if abs(change) < 5e-5 else f"{_percent(abs(change))} {'lost' if change > 0 else 'gained'}"
        parts.append(
            f"of **{format.plain(run)}** from {_percent(clean)} to **{_percent(noisy)}**"
            + (f" ({lost})" if np.isfinite(change) else "")
        )
    return said + _and(parts) + "."


def _and(parts):
    return parts[0] if len(parts) == 1 else ", ".join(parts[:-1]) + " and " + parts[-1]


def _percent(share) -> str:
    return f"{100 * share:.1f}\u00a0%" if np.isfinite(share) else "–"


def _curves(whole, asked, files):
    one, two, three = st.columns([2, 1, 1], vertical_alignment="bottom")
    with one:
        measure = st.selectbox(
            "Measure",
            whole.measures,
            **workspace.keep("robustness.measure", "P@k", options=whole.measures),
            help="  \n".join(f"**{m}**: {MEANING[m]}." for m in whole.measures),
        )
    with two:
        k = st.selectbox("k", KS, **workspace.keep("robustness.k", 1, options=KS))
    with three:
        shown = {"value": "Value", "drop": "Share lost"}
        drop = (
            st.selectbox(
                "Drawn",
                list(shown),
                format_func=shown.get,
                **workspace.keep("robustness.drawn", "value", options=list(shown)),
            )
            == "drop"
        )
    repeats = "Bands are 95 % intervals over repeats." if asked.n_repeats > 1 else "One repeat, so no intervals."
    if asked.kind == "fgsm":
        repeats = "The attack has no randomness, so no intervals."
    direction = "lower is better" if drop else "higher is better, flatter is more robust"
    mine = whole.summary[(whole.summary["bucket"] == "all") & (whole.summary["measure"] == measure)]
    charts.show_figure(
        figures.robustness_curves(
            whole.summary,
            measure,
            k,
            drop=drop,
            level=noise.level_title(asked.kind, asked.options),
            title=f"{measure.replace('@k', f'@{k}')} under {noise.noise_said(asked.kind, asked.options)}",
        ),
        tables.csv_safe(mine),
        f"{files}-curves",
        f"{format.plain(measure)}: {MEANING[measure]}; {direction}. {repeats} On {asked.rows}. "
        f"{_attacked_on(whole, asked)}",
        key="robustness.curves",
    )


def _attacked_on(whole, asked) -> str:
    """On which model attacks were computed."""
    if asked.kind not in noise.ATTACKS:
        return ""
    own = [run for run, part in whole.found.items() if not part.surrogate]
    said = []
    if own:
        said.append(f"Computed on the gradient of each model itself: {', '.join(format.plain(run) for run in own)}.")
    said += [
        f"{format.plain(run)} has no gradient: attacks were computed on {format.plain(part.surrogate)}, and "
        "transferred."
        for run, part in whole.found.items()
        if part.surrogate
    ]
    return " ".join(said)


def _drops(whole, asked, files):
    st.header("What is lost")
    with st.columns([1, 2])[0]:
        level = st.select_slider(
            "Level",
            asked.levels,
            format_func=lambda value: noise.level_said(asked.kind, value),
            **_slider("robustness.level", asked.levels),
        )
    measures = [m for m in ("P@k", "nDCG@k", LOG_MEASURE) if m in whole.measures]
    table = robustness.loss_table(whole.summary, level, measures, KS, whole.rows)
    shown = table[["run", "k"]].copy()
    config = {
        "run": st.column_config.TextColumn("Model", width=150),
        "k": st.column_config.NumberColumn("k", format="%d", width=35),
    }
    for measure in measures:
        short = measure.replace(" (1/log)", "")
        for column, label, width, help in (
            (f"{measure} clean", f"{short}, 0", 45 + 8 * len(short), f"{short} without noise, %."),
            (measure, f"{level:g}", 58, f"{short} at {noise.level_said(asked.kind, level)}, %: mean over repeats."),
            (f"{measure} drop", "lost", 58, f"Share of {short} without noise that is lost, %; negative is gained."),
        ):
            shown[column] = 100 * table[column]
            config[column] = st.column_config.NumberColumn(label, format="%.2f", help=help, width=width)
    for column, label, width in (("ms per row clean", "ms/row, 0", 85), ("ms per row", f"{level:g}", 58)):
        shown[column] = table[column]
        config[column] = st.column_config.NumberColumn(
            label,
            format="%.3g",
            width=width,
            help=f"Time to predict {max(KS)} labels for a row, from which those at each k are taken.",
        )
    st.dataframe(
        shown, hide_index=True, key="robustness.drops", height=tables.height(len(shown), 420), column_config=config
    )
    note = (
        f" {LOG_MEASURE.replace(' (1/log)', '')} is the paper’s: labels weighted by 1 / log(1 + training rows)."
        if LOG_MEASURE in measures
        else ""
    )
    st.caption(
        f"Each measure without noise (0), at {noise.level_said(asked.kind, level)}, and which share of it is lost, in "
        f"percent, as in Tables 4 and 5 of the paper; prediction time without and with noise. On {asked.rows}.{note}"
    )
    with st.container(horizontal=True, gap="small"):
        charts.csv_button("Table, CSV", lambda: tables.csv_safe(table), f"{files}-lost", "This table, with intervals")
        charts.csv_button(
            "All measurements, CSV",
            lambda: tables.csv_safe(whole.frame.drop(columns="model")),
            f"{files}-all",
            "Every level, k, repeat, bucket and measure of each result",
        )


def _slider(key, levels):
    """As state.keep, for a select_slider of levels that change: the largest, unless another one was chosen."""
    kept = workspace.keep(key, levels[-1], lambda value: value in levels)
    return {**kept, "value": kept["value"] if kept["value"] in levels else levels[-1]}


# --- training with noise ---


def _twins(data, fingerprint, name, chosen, past):
    plain = [r for r in chosen if not twins.trained_with_noise(r)]
    have = {one["key"] for one, _ in twins.twins(past)}
    if not plain:
        return
    st.header("Training with noise")
    st.markdown(
        "A twin is the same model with the same settings, trained on noisy copies of the rows beside the rows "
        "themselves (the paper’s adversarial training; of a PLT, this is ExtendedPLT). It appears above beside the "
        "model trained without noise."
    )
    shown_pairs = [(a, b) for a, b in twins.twins(chosen)]
    if shown_pairs:
        titles = run_names.names(chosen)
        st.caption(
            "Compared above: "
            + "; ".join(
                f"{format.plain(titles[a['key']])} and {format.plain(titles[b['key']])}" for a, b in shown_pairs
            )
            + "."
        )
    scale = server.scale(fingerprint)
    one, two, three, four = st.columns([2, 1, 1, 2], vertical_alignment="bottom")
    by_key = {r["key"]: r for r in plain}
    titles = run_names.names(plain)
    with one:
        of = st.selectbox("Twin of", list(by_key), format_func=titles.get, key="robustness.twin.of")
    record = by_key[of]
    with two:
        sigma = st.number_input(
            "σ",
            min_value=1e-6,
            format="%g",
            **workspace.keep(
                f"robustness.twin.sigma {fingerprint[:8]}",
                robustness.training_sigma(scale),
                lambda v: isinstance(v, float) and v > 0,
            ),
            help="Standard deviation of the noise, in the units of the feature values. The paper has 0.05.",
        )
    with three:
        ratio = st.number_input(
            "Copies per row",
            min_value=0.01,
            max_value=100.0,
            format="%g",
            **workspace.keep("robustness.twin.ratio", 1.0, lambda v: isinstance(v, float) and 0.01 <= v <= 100),
            help="Noisy copies added for each training row; 1, the paper’s, doubles them.",
        )
    with four:
        support = st.selectbox(
            "Noise on",
            list(noise.SUPPORTS),
            format_func=noise.SUPPORTS.get,
            **workspace.keep(
                f"robustness.twin.support {fingerprint[:8]}", _support(data, ratio), options=list(noise.SUPPORTS)
            ),
            help="On all features a copy has a value for each of them, also where the row has 0: training takes time "
            "and memory for rows times features.",
        )
    params = {**record["params"], "noise_sigma": sigma, "noise_ratio": ratio, "noise_support": support}
    # By its settings: the key of a result that older code has made is another one.
    same = (r["key"] for r in past if r["model"] == record["model"] and r["params"] == params)
    key = next(same, experiment.run_key(fingerprint, record["model"], params, K))
    exists = store.exists("runs", key)
    times = server.measures(of)[1]
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Show the twin"
            if exists
            else f"Train the twin (about {format.seconds(_fit_seconds(data, times, ratio, support))})",
            type="secondary" if of in have else "primary",
            key="robustness.twin.train",
            on_click=_train_twin,
            args=(fingerprint, name, record["model"], params, key, [r["key"] for r in chosen]),
            disabled=key in {r["key"] for r in chosen} or bool(tasks.active("train", key=key)),
        )
        if key in {r["key"] for r in chosen}:
            st.caption("This twin is shown above.")
    if support == "all":
        needed = robustness.augmented_bytes(data.n_train, data.n_features, data.X_train.nnz, ratio, support)
        if needed > 1 << 30:
            st.warning(
                f"Noise on all features makes dense copies: training takes about {format.size(needed)} of memory."
            )


def _support(data, ratio):
    """On all features, as the paper has it, while that is no matter of memory."""
    needed = robustness.augmented_bytes(data.n_train, data.n_features, data.X_train.nnz, ratio, "all")
    return "all" if needed <= 1 << 30 else "nonzero"


def _fit_seconds(data, times, ratio, support):
    """From the time that the model took without noise: as many times longer as there are more values."""
    values = data.n_train * data.n_features if support == "all" else data.X_train.nnz
    return max(1.0, times["fit_s"] * (1 + ratio * values / max(data.X_train.nnz, 1)))


def _train_twin(fingerprint, name, model, params, key, chosen):
    # Chosen before it is there: it joins the figures when it is trained.
    picked = [*chosen, *([] if key in chosen else [key])]
    workspace.update(lambda d: d["widgets"].__setitem__(f"{workspace.ROBUSTNESS_RUNS} {fingerprint}", picked))
    if not any(r["key"] == key for r in workspace.get("runs")):
        tasks.train(fingerprint, name, model, params, K)


# --- head, torso and tail; time ---


def _buckets(whole, asked, files, n_labels):
    parts = whole.summary[whole.summary["bucket"] != "all"]
    if parts.empty:
        return
    st.header("Head, torso and tail labels")
    runs = list(whole.found)
    one, two = st.columns([3, 1], vertical_alignment="bottom")
    with one:
        run = (
            st.selectbox("Of", runs, **workspace.keep("robustness.buckets.run", runs[0], options=runs))
            if len(runs) > 1
            else runs[0]
        )
    with two:
        # Of few labels nearly all are among the five predicted, whatever the noise.
        first = KS[-1] if n_labels >= 4 * KS[-1] else 1
        k = st.selectbox("k of these", KS, **workspace.keep("robustness.buckets.k", first, options=KS))
    mine = parts[(parts["run"] == run) & (parts["k"] == k)]
    left, right = st.columns(2, gap="large")
    level = noise.level_title(asked.kind, asked.options)
    place = list(whole.found).index(run) + 1
    with left:
        charts.show_figure(
            figures.buckets_under_noise(mine, "P@k", k, level=level, title=f"P@{k} by bucket: {run}"),
            tables.csv_safe(mine[mine["measure"] == "P@k"]),
            f"{files}-parts-{place}",
            f"What right predictions of head, torso and tail labels add to P@{k}; the top of the stack is P@{k}. Head "
            "labels are the most frequent, tail labels the rarest (the Data page has the rule).",
            key="robustness.parts",
        )
    with right:
        charts.show_figure(
            figures.buckets_under_noise(mine, "R@k", k, level=level, title=f"R@{k} by bucket: {run}"),
            tables.csv_safe(mine[mine["measure"] == "R@k"]),
            f"{files}-recall-{place}",
            f"Share of a row’s head, torso or tail labels that are among the {k} predicted, mean over the rows that "
            "have one; bands are 95 % intervals over repeats.",
            key="robustness.recall",
        )


def _times(whole, asked, files):
    st.header("Prediction time")
    mine = whole.summary[(whole.summary["measure"] == "predict_s") & (whole.summary["bucket"] == "all")]
    figure = figures.prediction_times(mine, level=noise.level_title(asked.kind, asked.options))
    dense = (
        " On all features, noise gives a row a value for every feature, so there is more to read."
        * noise.makes_dense(asked.kind, asked.options)
    )
    charts.show_figure(
        figure,
        tables.csv_safe(mine),
        f"{files}-times",
        f"Time to predict {max(KS)} labels for a row, without making the noise; bands are 95 % intervals over "
        f"repeats.{dense}",
        key="robustness.times",
    )


# --- rows ---


def _rows(data, fingerprint, chosen, asked, files):
    st.header("Test rows without and with noise")
    scope = f"noisy rows {fingerprint}"
    first = min(max(workspace.chosen_row(scope), 0), data.n_test - 1)
    rows = np.unique([first, *(np.arange(1, ROWS_SHOWN) + first) % data.n_test])
    one, two, three = st.columns([2, 2, 1], vertical_alignment="bottom")
    with one:
        st.session_state["robustness.row"] = first
        st.number_input(
            f"First of {len(rows)} test rows, 0 to {data.n_test - 1:,}",
            min_value=0,
            max_value=data.n_test - 1,
            key="robustness.row",
            on_change=lambda: workspace.choose_row(scope, st.session_state["robustness.row"]),
        )
    with two:
        level = st.select_slider(
            "Level of noise",
            asked.levels,
            format_func=lambda value: noise.level_said(asked.kind, value),
            **_slider("robustness.rows.level", asked.levels),
        )
    with three:
        st.button(
            "Other rows",
            key="robustness.row.random",
            width="stretch",
            on_click=lambda: workspace.choose_row(scope, np.random.default_rng().integers(data.n_test)),
        )
    X = data.X_test[rows]
    try:
        noisy, of = _noisy(data, fingerprint, chosen, asked, level, rows, X)
    except (ValueError, store.StoreError, OSError, ModelFormatError) as error:
        st.info(format.plain(str(error)))
        return
    names = tables.part(data, "test")[2]

    def row_name(row):
        return f"Test row {row:,}" + (f": {names[row]}" if names is not None else "")

    frame = noise.noisy_rows(data, X, noisy, rows, FEATURES_SHOWN, row_name)
    if frame.empty:
        st.caption("These rows have no features.")
        return
    own, added = robustness.lengths(X, noisy)
    said = "; ".join(f"row {row:,}: {a:.3g}, noise {b:.3g}" for row, a, b in zip(rows, own, added))
    charts.show_figure(
        figures.noisy_features(frame, title=f"Feature values at {noise.level_said(asked.kind, level)}"),
        tables.csv_safe(noise.noisy_rows(data, X, noisy, rows, data.n_features, row_name, new=data.n_features)),
        f"{files}-rows-{first}",
        f"Of each row the features of largest size, and two that only noise has made (Figure 6 of the paper){of}. Open "
        f"marks are without noise. Lengths (L2), of the row and of what noise adds to it: {said}.",
        key="robustness.noisy",
    )


def _noisy(data, fingerprint, chosen, asked, level, rows, X):
    """The rows under noise, and where it matters which model an attack is computed on, its name."""
    options, model, of = dict(asked.options), None, ""
    if asked.kind == "words":
        options["reference"] = data.X_train
    perturbation = robustness.perturbation(asked.kind, level, **options)
    Y = None
    if asked.kind in noise.ATTACKS:
        titles = run_names.names(chosen)
        for r in chosen:
            model = server.model(r["key"])
            if hasattr(model, "log_proba_gradient"):
                of, Y = f", attacked on {format.plain(titles[r['key']])}", data.Y_test[rows]
                break
        else:
            raise ValueError("None of the chosen models has a gradient to attack: choose a PLT, too, to see such rows.")
    return perturbation.apply(X, rows=rows, seed=0, model=model, Y=Y), of


main()
