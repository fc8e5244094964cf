"""Below the curves: measures at one level, head to tail, prediction time, single rows, and training with noise."""

import math

import numpy as np
import streamlit as st

from pages.robustness import choices
from pages.robustness.measured import MEASURES, PAPER_MEASURE, UnderNoise, title
from pages.shared import actions, cached, fields, format, jobs, tables, tasks
from pages.shared.figures import charts
from pages.shared.results import results
from pages.shared.view import look, now
from pages.shared.workspaces import workspace
from xmlcore import figures, robustness, store
from xmlcore.experiment.catalog import NOISE
from xmlcore.experiment.catalog import NOISE_SUPPORTS as SUPPORTS
from xmlcore.experiment.kept_runs import trained_with_noise
from xmlcore.experiment.kinds.robustness import SURROGATE, has_needed, surrogate
from xmlcore.metrics.buckets import MEANING
from xmlcore.models import ModelFormatError
from xmlcore.robustness.perturbations import KINDS, REFERENCE

IN_TABLE = ("P@k", "nDCG@k", PAPER_MEASURE)
ROWS_SHOWN = 3
FEATURES_SHOWN = 8  # features of each row
LARGE = 1 << 30  # bytes; a warning is shown when the noisy copies need more memory
SIGMA, RATIO, SUPPORT, KIND = NOISE  # parameters of training with noise, with the ranges that forms offer
LEAST_SIGMA = 1e-6  # units of the feature values; sigma 0 is not offered, because the counterpart is trained with noise


def buckets(measurements, n_labels) -> None:
    settings = measurements.settings
    parts = measurements.summary[measurements.summary["bucket"] != "all"]
    if parts.empty:
        return
    runs = list(measurements.results)
    first_column, second_column = st.columns([3, 1], vertical_alignment="bottom")
    with first_column:
        run = fields.choice("Result", runs, "robustness.buckets.run") if len(runs) > 1 else runs[0]
    with second_column:
        # With few labels, nearly all are among the five predicted, whatever the noise: k = 1 tells more.
        first = results.KS[-1] if n_labels >= 4 * results.KS[-1] else 1
        k = fields.choice("k of both figures", results.ks(n_labels), "robustness.buckets.k", first)
    mine = parts[(parts["run"] == run) & (parts["k"] == k)]
    level = choices.level_title(settings.kind, settings.options)
    of_rows = (mine["measure"] == "R@k").any()  # measured by versions 1 and 2
    recall, mean = ("R@k", ", as a mean over rows") if of_rows else ("micro R@k", "")
    texts = {
        "P@k": (
            "parts",
            f"Parts of P@{k}",
            f"The shares of head, torso and tail labels among the right ones; the top of the stack is P@{k}. {MEANING}",
        ),
        recall: (
            "recall",
            f"Recall@{k} of head, torso and tail",
            f"Share of the true labels that are among the {k} predicted{mean}; bands: 95\u00a0% over repeats.",
        ),
    }
    for place, (measure, (name, heading, caption)) in zip(st.columns(2, gap="large"), texts.items()):
        with place:
            charts.show_figure(
                figures.buckets_under_noise(mine, measure, k, level=level, title=f"{heading}: {run}"),
                mine[mine["measure"] == measure],
                f"{measurements.files}-{name}-{runs.index(run) + 1}",
                caption,
            )


def times(ready, compared, measurements) -> None:
    settings, files = measurements.settings, measurements.files
    wanted = {ready.titles[record["key"]]: settings.task(record, time_each_k=True) for record in compared}
    found = tasks.ready_all(wanted, button="Measure k = 1 and 3, too", key="robustness.times.start")
    if len(found) == len(wanted):
        measurements = UnderNoise(found, measurements.styles, settings, files)
    of = choices.called(settings.kind)
    mine = measurements.summary.query("measure == 'predict_s' and bucket == 'all'")
    placed = mine.join(measurements.styles["place"], on="run")
    charts.show_figure(
        figures.prediction_times(
            placed, level=choices.level_title(settings.kind, settings.options), title=f"Prediction time under {of}"
        ),
        mine,
        f"{measurements.files}-times",
        f"Time to predict {max(results.KS)} labels, or k, for a row, not counting the time to make the {of}; bands are "
        f"95\u00a0% intervals over {settings.n_repeats} repeats. Rows are in blocks, which takes longer than on Train.",
    )


def at_one_level(measurements) -> None:
    settings = measurements.settings
    with st.columns([1, 2])[0]:
        level = choose_level("Level", "robustness.level", settings)
    measures = [measure for measure in IN_TABLE if measure in measurements.measures]
    table = robustness.loss_table(measurements.summary, level, measures, results.KS, measurements.n_rows)
    shown, config, signs = _columns(table, measures, settings.kind, level)
    first = tuple(config)[:5]
    tables.show(shown, "robustness.drops", config, signs=signs, first=first, most=420)
    st.caption("Measures in percent.")
    with st.container(horizontal=True, gap="small"):
        charts.csv_button("Table, CSV", table, f"{measurements.files}-lost")
        charts.csv_button("All measurements, CSV", measurements.frame, f"{measurements.files}-all")


def _columns(table, measures, kind, level):
    signs, of, changed = {}, choices.called(kind), "attacked" if KINDS[kind].is_attack else "noisy"
    shown = table[["run", "k"]].copy()
    config = {"run": tables.text("Result"), "k": tables.number("k", 35, "%d")}
    for measure in measures:
        short = title(measure)
        for column, label, help in (
            (f"{measure} clean", f"{short} clean", f"{short} without {of}, %: {MEASURES[measure]}."),
            (measure, f"{short} {changed}", f"{short} at {choices.level_text(kind, level)}, %: mean over repeats."),
            (
                f"{measure} drop",
                f"{short} lost, % of it",
                f"Share of {short} without {of} that is lost, in percent of it; negative is gained.",
            ),
        ):
            shown[column] = 100 * table[column]
            loss = column.endswith("drop")
            config[column] = tables.number(label, 60 + 8 * len(short), None if loss else "%.2f", help)
            signs |= {column: "{:.2f}"} if loss else {}
    return shown, config, signs


def choose_level(label: str, key: str, settings) -> float:
    """Show a slider of the levels measured and return the chosen one; at first the largest."""
    texts = {level: choices.level_text(settings.kind, level) for level in settings.levels}
    return fields.choice(label, texts, key, settings.levels[-1], widget="select_slider")


def single_rows(ready, compared, settings) -> None:
    """Show the first values of some test rows; ``compared`` has the results that are compared."""
    data, of = ready.data, choices.called(settings.kind)
    first, level = _choose_rows(data, settings)
    chosen = np.unique([first, *(np.arange(1, ROWS_SHOWN) + first) % data.n_test])
    X = data.X_test[chosen]
    try:
        drawn = _noisy(ready, compared, settings, level, chosen)
    except (ValueError, store.StoreError, OSError, ModelFormatError) as error:
        st.info(format.plain(str(error)))
        return
    if drawn is None:
        return
    noisy, attacked = drawn
    frame = _named(data, chosen, robustness.values_under_noise(X, noisy, FEATURES_SHOWN))
    if frame.empty:
        st.caption("These rows have no features.")
        return
    own, added = robustness.lengths(X, noisy)
    every = data.n_features
    own, added = map(format.significant, own), map(format.significant, added)
    lengths = "; ".join(f"row {row:,} has {a}, what is added {b}" for row, a, b in zip(chosen, own, added))

    charts.show_figure(
        figures.noisy_features(frame, of, title=f"Feature values at {choices.level_text(settings.kind, level)}"),
        lambda: _named(data, chosen, robustness.values_under_noise(X, noisy, every, new=every)),
        f"{format.file_name(ready.name)}-robustness-{settings.kind}-rows-{first}",
        f"For each row, the features of largest absolute value, and two features that are 0 without {of}, as in "
        f"Figure 6 of Date and Mehar (2025){attacked}. Lengths (L2 norms): {lengths}.",
    )


def _choose_rows(data, settings):
    first = min(now().noisy or 0, data.n_test - 1)
    left, middle, right = st.columns([2, 2, 1], vertical_alignment="bottom")
    last, take = data.n_test - 1, lambda row: look(noisy=row)
    label = f"First of {format.count(min(ROWS_SHOWN, data.n_test), 'test row')}, 0 to {last:,}"
    fields.number(label, 0, last, "robustness.row", first, take, place=left)
    with middle:
        level = choose_level("Level", "robustness.rows.level", settings)
    draw = {"on_click": lambda: look(noisy=np.random.default_rng().integers(data.n_test))}
    right.button("Random rows", key="robustness.row.random", width="stretch", **draw)
    return first, level


def _noisy(ready, compared, settings, level, chosen):
    data, first = ready.data, compared[0]
    options, model, attacked, Y = dict(settings.options), None, "", None
    if KINDS[settings.kind].needs == REFERENCE:
        options[REFERENCE] = data.X_train
    if KINDS[settings.kind].is_attack:
        Y = data.Y_test[chosen]
        if settings.transferred:
            if not surrogate(data.fingerprint, results.K).exists():
                raise ValueError("The rows are here once the attack is measured.")
            model, attacked = cached.model(settings.tree), f", attacked on {SURROGATE}"
        else:
            both = results.run_and_model(first)
            if both is None:
                return None
            model, attacked = both[1], f", attacked on {format.plain(ready.titles[first['key']])}"
    perturbation = robustness.perturbation(settings.kind, level, **options)
    return perturbation.apply(data.X_test[chosen], rows=chosen, seed=0, model=model, Y=Y), attacked


def _named(data, chosen, frame):
    """Return changed values with the names of rows and features: ``row, row_name, feature, name, clean, noisy``."""
    names = tables.part(data, "test")[2]
    ids = chosen[frame["row"].to_numpy(np.int64)]
    frame = frame.assign(row=ids)
    texts = [f"Test row {row:,}" + (f": {names[row]}" if names is not None else "") for row in ids]
    frame.insert(1, "row_name", texts)
    frame.insert(3, "name", [data.feature_name(int(j)) for j in frame["feature"]])
    return frame


def training(ready, runs, measured) -> None:
    """Offer to train a result with noise; ``measured`` are the settings of the figures above."""
    data, fingerprint = ready.data, ready.fingerprint
    plain = [r for r in runs if not trained_with_noise(r)]
    if not plain:
        st.caption("No result here was trained without noise.")
        return
    record, kind, sigma, ratio, support = _choose(data, fingerprint, plain, ready.titles)
    noise = {"noise_sigma": sigma, "noise_ratio": ratio, "noise_support": support, "noise_kind": kind}
    task = tasks.train_task(fingerprint, record["model"], record["params"] | noise, results.K)
    kept = task.exists()
    chosen = [r["key"] for r in runs]
    with st.container(horizontal=True, vertical_alignment="center"):
        actions.button(
            "Show the counterpart" if kept else f"Train the counterpart{tasks.time_in_brackets(task, False)}",
            key="robustness.noisy.train",
            on_click=_train,
            args=(fingerprint, task, chosen),
            disabled=task.key in chosen or bool(jobs.active(key=task.key)),
        )
        if task.key in chosen and kept:
            st.caption("This counterpart is shown above.")
    above = measured.options.get("support", "all")
    if kind != measured.kind:
        above = KINDS[measured.kind].text
        st.caption(f"The counterpart learns from {KINDS[kind].text}; the figures above have {above}.")
    elif above != support:
        learnt, above = (SUPPORTS[one].split(" (")[0] for one in (support, above))
        st.caption(f"The counterpart learns from noise on {learnt}; the figures above have it on {above}.")
    needed = _needed(data, ratio, support)
    if KINDS[kind].fills({"support": support}) and needed > LARGE:
        st.warning(f"Noise on all features makes dense copies: training takes about {format.size(needed)} of memory.")


def _choose(data, fingerprint, plain, titles):
    times = {r["key"]: cached.run(r["key"]).times.get("fit_s", math.inf) for r in plain}
    by_key = {r["key"]: r for r in sorted(plain, key=lambda r: times[r["key"]])}  # the quickest first
    first, second, third, fourth, fifth = st.columns([2, 2, 1, 1, 2], vertical_alignment="bottom")
    key = first.selectbox(
        "Noisy counterpart of",
        list(by_key),
        format_func=titles.get,
        key="robustness.noisy.of",
        help="The same model with the same settings, trained on the rows and on changed copies of them. Date and Mehar "
        "(2025) call this adversarial training, and a PLT with napkinXC’s settings that is trained so with Gaussian "
        "noise, ExtendedPLT. Once trained, the counterpart is added to the figures and tables of this page.",
    )
    kinds = {kind: KINDS[kind].title for kind in KIND.options if has_needed(kind, by_key[key])}
    kind = fields.choice("Learns from", kinds, "robustness.noisy.kind", KIND.default, place=second, help=KIND.help)
    scale = cached.value_scale(fingerprint)
    usual = robustness.default_levels(kind, 2, scale)[1] if kind != KIND.default else robustness.training_sigma(scale)
    least, most = min(LEAST_SIGMA, usual), max(min(SIGMA.maximum, KINDS[kind].most), usual)  # also of large values
    symbol, level_key = KINDS[kind].level.partition(" =")[0], f"robustness.noisy.sigma {kind} {fingerprint[:8]}"
    symbol = symbol if len(symbol) == 1 else "Share"
    sigma = fields.real(symbol, least, most, level_key, usual, place=third, help=SIGMA.help)
    ends = RATIO.minimum, RATIO.maximum
    ratio = fields.real("Copies per row", *ends, "robustness.noisy.ratio", RATIO.default, place=fourth, help=RATIO.help)
    if not any(option.name == "support" for option in KINDS[kind].options):
        return by_key[key], kind, sigma, ratio, "nonzero"
    support = fields.choice(
        "Features with noise",
        SUPPORT.options,
        f"robustness.noisy.support {fingerprint[:8]}",
        "all" if _needed(data, ratio, "all") <= LARGE else "nonzero",  # "all" as in the paper
        place=fifth,
        format_func=SUPPORTS.get,
        help=SUPPORT.help,
    )
    return by_key[key], kind, sigma, ratio, support


def _needed(data, ratio, support) -> int:
    return robustness.augmented_bytes(data.n_train, data.n_features, data.X_train.nnz, ratio, support)


def _train(fingerprint, task, chosen):
    # The counterpart is chosen before it exists, so that it joins the figures as soon as it is trained.
    choices.remember_runs(fingerprint, [*chosen, *([] if task.key in chosen else [task.key])])
    if not any(r["key"] == task.key for r in workspace.get("runs")):
        tasks.start(task)
