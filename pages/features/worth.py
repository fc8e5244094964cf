"""Parts of the Features page that say what a selection is worth: compared, made again, and trained on.

``view`` is the page's: ``data``, ``fingerprint``, ``name``, ``found`` (the Selection), ``key``, ``past`` (records of
the workspace's selections) and ``files`` (how names of downloaded files begin).
"""

import numpy as np
import pandas as pd
import streamlit as st

from pages.explain import explained
from pages.features import selected_text
from pages.robustness import noise
from pages.shared import charts, format, results, server, settings, tables, tasks, workspace
from xmlcore import experiment, figures, store

K = 5
SHOWN_KS = (1, 3, 5)
SHOWN_MEASURES = ("P@k", "nDCG@k", "PSP@k")
LISTED_LABELS = 200  # lines of the table of labels
AUTOMATIC = 20.0  # seconds up to which something is measured without being asked
SAMPLES = (20_000, 10_000, 5000, 2000, 1000)  # rows judged on, where all would take long
PATIENT = 150.0  # seconds: few rows make a poor network, and a comparison that misleads
SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)
MOST_SEEDS = 20
LEAST_RANKED = 5  # features, below which Spearman’s correlation says little but how many of them are shared
WARNINGS = 3  # shown at once
MEASURES = {
    "average precision": "of the labels ranked at or above a true one, the share that is true, ties as if broken at "
    "random; larger is better",
    "Hamming loss": "share of all decisions, row by row and label by label, that are wrong; smaller is better",
    "one-error": "share of rows whose first label is wrong, ties as if broken at random; smaller is better",
    "ranking loss": "share of pairs of a true and another label in the wrong order, ties as if broken at random; "
    "smaller is better",
    "micro-AUC": "chance that a true pair of row and label has a larger score than another one, ties as if broken at "
    "random; larger is better",
}


def mark():
    """What the page around a fragment was drawn from."""
    return [record["id"] for record in workspace.get("jobs")], workspace.get("selections"), workspace.has_notice()


# --- is it better? ---


def judged(view):
    """Selections compared by decision trees, at one size and against k/D."""
    st.header("Are these features better than others?")
    options = _methods(view)
    one, two, three = st.columns([3, 1, 1], vertical_alignment="bottom")
    with one:
        first = [title for title, (_, default) in options.items() if default]
        kept = "features.methods"
        st.multiselect(
            "Methods compared",
            list(options),
            default=workspace.keep(kept, first, lambda v: isinstance(v, list) and v and set(v) <= set(options))[
                "value"
            ],
            key=kept,
            on_change=lambda: workspace.update(lambda d: d["widgets"].__setitem__(kept, st.session_state[kept])),
            help="FALS and its patterns, all features, the paper’s rivals, and selections of this page with other "
            "settings.",
        )
        picked = [title for title in options if title in st.session_state[kept]]
    with two:
        n_seeds = st.number_input(
            "Seeds",
            min_value=1,
            max_value=MOST_SEEDS,
            **workspace.keep("features.seeds", 3, lambda v: isinstance(v, int) and 1 <= v <= MOST_SEEDS),
            help="Each selection and its trees are made with so many seeds; the paper has 10.",
        )
    if not picked:
        st.caption("Choose at least one method.")
        return
    selections = tuple(options[title][0] for title in picked)
    data, seeds = view.data, tuple(range(int(n_seeds)))
    share = view.found.n_selected / view.found.n_features

    def estimate(n_rows, shares):
        return experiment.judged_seconds(data, selections, shares, seeds, n_rows)

    with three:
        n_rows = st.number_input(
            f"Rows, up to {data.n_train:,}",
            min_value=2,
            max_value=data.n_train,
            **workspace.keep(
                f"features.rows {view.fingerprint[:8]}",
                noise.default_rows(lambda n: estimate(n, (share,)), data.n_train, PATIENT, SAMPLES),
                lambda v: isinstance(v, int) and 2 <= v <= data.n_train,
            ),
            help="Training rows, drawn at random when fewer than all: quicker, and less certain. At most as many test "
            "rows are measured.",
        )
    n_rows = None if n_rows >= data.n_train else int(n_rows)
    st.markdown(_judged_intro(view, n_rows))
    measure = st.selectbox(
        "Measure", list(MEASURES), **workspace.keep("features.measure", "average precision", options=list(MEASURES))
    )
    st.caption(f"{measure[:1].upper()}{measure[1:]}: {MEASURES[measure]}.")
    left, right = st.columns(2, gap="large")
    with left:
        asked = (selections, (share,), seeds, n_rows)
        found = _wanted(view, asked, estimate(n_rows, (share,)), "compare", f"Comparing selections on {view.name}")
        if found is not None:
            _boxes(view, found, measure, picked)
    with right:
        asked = (selections, SHARES, seeds, n_rows)
        curve = _wanted(view, asked, estimate(n_rows, SHARES), "curve", f"Selections of other sizes on {view.name}")
        if curve is not None:
            _curve(view, curve, measure)
        else:
            st.caption("Draws the measure against the share of features that each label keeps, from 0.1 to 0.7.")
    if found is not None:
        _judged_table(view, found)
    _warnings(view, [warning for one in (found, curve) if one is not None for warning in one.warnings])


def _methods(view) -> dict:
    """What may be compared: title -> (selection or None, whether it is at first)."""
    params = experiment.selection_params
    own = view.found
    found = {"all features": (None, True)}
    for pattern in ("FALS", "FILS", "FAMS", "FIMS"):
        found[pattern] = (("FALS", params("FALS", {"pattern": pattern})), True)
    rivals = {"MutualInformation": True, "ChiSquared": True, "Lasso": False, "RandomForest": False}
    if view.data.X_train.nnz and view.data.X_train.data.min() < 0:
        del rivals["ChiSquared"]  # is for values that are not negative
    for method, default in rivals.items():
        found[experiment.selection_title(method)] = ((method, params(method)), default)
    for method in ("RandomForest", "Lasso"):
        one = (method, params(method, {"per_label": False}))
        found[experiment.selection_title(*one)] = (one, False)
    varied = {"n_features": None, "random_state": None}
    known = [one[1] | varied for one, _ in found.values() if one is not None]
    for record in view.past:
        if record["params"] | varied not in known:
            known.append(record["params"] | varied)
            changed = {n: v for n, v in record["params"].items() if n not in (*varied, "pattern", "attribution")}
            words = settings.changed(record["method"], changed)
            title = experiment.selection_title(record["method"], record["params"]) + (f", {words}" if words else "")
            found[title] = ((record["method"], record["params"]), record["params"] == own.params)
    return found


def _judged_intro(view, n_rows) -> str:
    rows = f"all {view.data.n_train:,}" if n_rows is None else f"{n_rows:,} of {view.data.n_train:,}"
    return (
        f"One decision tree per label learns from the features that the method keeps for it, on {rows} training rows"
        + ("" if n_rows is None else ", drawn at random")
        + ", and predicts test rows: what it gets right says what the features are worth."
    )


def _wanted(view, asked, seconds, place, title):
    """What was judged, if it was; else it is started, or waits for its button."""
    key = experiment.judged_key(view.fingerprint, *asked)
    if store.exists("judged", key):
        try:
            return server.judged(key)
        except (store.StoreError, OSError):
            pass  # it was damaged, and has been removed: measured again
    running, failures = tasks.active("judged", key=key), tasks.failed("judged", key=key)
    tried = st.session_state.setdefault(workspace.FEATURES_ASKED, set())
    if not running and not failures and seconds <= AUTOMATIC and key not in tried:
        tried.add(key)
        tasks.judge(view.fingerprint, asked, title)
        running = tasks.active("judged", key=key)
    if not running:
        what = "Compare these methods" if place == "compare" else "Compare from k/D = 0.1 to 0.7"
        st.button(
            f"{what} (about {format.seconds(max(seconds, 1.0))})",
            key=f"features.{place}",
            type="primary" if place == "compare" else "secondary",
            on_click=tasks.judge,
            args=(view.fingerprint, asked, title),
        )
    tasks.watch(running)
    tasks.show_failures(failures)
    return None


def _warnings(view, messages):
    """What selections warned of while they were compared, the first few."""
    messages = list(dict.fromkeys(messages))
    for message in messages[:WARNINGS]:
        st.warning(format.plain(selected_text.with_names(view.data, message)))
    if len(messages) > WARNINGS:
        st.caption(f"And {format.count(len(messages) - WARNINGS, 'more warning')}.")


def _size_said(found) -> str:
    """What a comparison was made with, in the name of a file."""
    seeds = found.frame["seed"].nunique()
    return f"{found.n_rows}row{'' if found.n_rows == 1 else 's'}-{seeds}seed{'' if seeds == 1 else 's'}"


def _values(found, measure=None):
    """The lines of a comparison, of one measure or of all, as they are downloaded."""
    lines = found.frame if measure is None else found.frame[found.frame["measure"] == measure]
    return lines.assign(n_rows=found.n_rows, n_test_rows=found.n_test_rows)


def _rows_said(found) -> str:
    if found.n_rows == found.n_train and found.n_test_rows == found.n_test:
        return f"all {found.n_train:,} training and {found.n_test:,} test rows"
    return (
        f"{found.n_rows:,} of {found.n_train:,} training and {found.n_test_rows:,} of {found.n_test:,} test rows, "
        "drawn at random"
    )


def _boxes(view, found, measure, picked):
    figure = figures.patterns_compared(found.frame, measure)
    said = _best_said(found.frame[found.frame["measure"] == measure], figure.layout.meta["best"])
    n = found.frame["seed"].nunique()
    few = " Differences smaller than the spread of the points mean little." if n > 1 else " One seed says little."
    charts.show_figure(
        figure,
        _values(found, measure),
        f"{view.files}-compared-{format.file_name(measure)}-{_size_said(found)}",
        f"{said}{'. ' if said else ''}A box per method over {format.count(n, 'seed')}, a point each; each label keeps "
        f"{format.count(found.frame['n_features'].min(), 'feature')}. On {_rows_said(found)}.{few}",
        key="features.boxes",
    )


def _best_said(lines, best) -> str:
    """Which methods are best, with those that are as good at the digits shown; and what all features have."""
    if best is None:
        return ""
    means = lines.groupby("method", sort=False)["value"].mean().map("{:.3f}".format)
    alike = [method for method, value in means.items() if value == means[best]]
    if len(alike) == len(means) > 2:
        return f"All {len(alike)} methods are equally good here ({means[best]})"
    names = [f"**{format.plain(method)}**" for method in alike]
    if len(names) == 1:
        said = f"{names[0]} {'are' if best == 'all features' else 'is'} best here ({means[best]})"
    else:
        said = f"{', '.join(names[:-1])} and {names[-1]} are equally good here ({means[best]})"
        said += ", and best" if len(alike) < len(means) else ""
    if "all features" in means.index and "all features" not in alike:
        said += f"; all features have {means['all features']} (dotted)"
    return said


def _all_measures(view, found, what):
    charts.csv_button(
        "All measures, CSV",
        lambda: _values(found),
        f"{view.files}-{what}-{_size_said(found)}",
        "All five measures of each method, share of the features and seed",
    )


def _curve(view, found, measure):
    charts.show_figure(
        figures.score_against_share(found.frame, measure),
        _values(found, measure),
        f"{view.files}-share-{format.file_name(measure)}-{_size_said(found)}",
        "The same as each label keeps more features; dotted: all features. Lines are means, bands go from the least to "
        f"the greatest of {format.count(found.frame['seed'].nunique(), 'seed')}. On {_rows_said(found)}.",
        key="features.curve",
    )
    _all_measures(view, found, "share")


def _judged_table(view, found):
    values = found.frame.pivot_table(index="method", columns="measure", values="value", sort=False)
    times = found.frame.groupby("method", sort=False)[["select_s", "seconds"]].mean()
    table = values.reindex(columns=list(MEASURES)).join(times).reset_index()
    st.dataframe(
        table,
        hide_index=True,
        key="features.compared",
        column_config={
            "method": st.column_config.TextColumn("Method", width=170),
            **{
                m: st.column_config.NumberColumn(
                    f"{m[:1].upper()}{m[1:]} {'↑' if 'larger' in MEASURES[m] else '↓'}",
                    format="%.4f",
                    width=120,
                    help=MEASURES[m],
                )
                for m in MEASURES
            },
            "select_s": st.column_config.NumberColumn("Selection, s", format="%.2f", width=90),
            "seconds": st.column_config.NumberColumn("Trees, s", format="%.2f", width=80),
        },
    )
    st.caption(
        f"Means over {format.count(found.frame['seed'].nunique(), 'seed')}; ↑ larger is better, ↓ smaller is. Times "
        "are of one seed, on this machine."
    )
    _all_measures(view, found, "compared")


# --- stability ---


def stability(view):
    """The selection with other seeds."""
    st.header("Would another seed keep the same features?")
    found = view.found
    if "random_state" not in found.params:
        st.caption(f"{found.title} has no chance in it: it always keeps the same features.")
        return
    st.markdown(
        "The network begins with other random weights, and sees the rows in another order."
        if found.method == "FALS"
        else "The trees of the forest see other samples of rows."
    )
    one, two = st.columns([1, 3], vertical_alignment="bottom")
    with one:
        n_seeds = st.number_input(
            f"Seeds, 2 to {MOST_SEEDS}",
            min_value=2,
            max_value=MOST_SEEDS,
            **workspace.keep("features.stability.seeds", 5, lambda v: isinstance(v, int) and 2 <= v <= MOST_SEEDS),
        )
    seeds = tuple(range(int(n_seeds)))
    asked = (found.method, found.params, seeds)
    key, seconds = experiment.stability_key(view.fingerprint, *asked), found.times["fit_s"] * len(seeds)
    result = None
    if store.exists("stability", key):
        try:
            result = server.stability(key)
        except (store.StoreError, OSError):
            pass  # it was damaged, and has been removed: measured again
    if result is None:
        running, failures = tasks.active("stability", key=key), tasks.failed("stability", key=key)
        tried = st.session_state.setdefault(workspace.FEATURES_ASKED, set())
        title = f"Selecting features of {view.name} with {len(seeds)} seeds"
        if not running and not failures and seconds <= AUTOMATIC and key not in tried:
            tried.add(key)
            tasks.measure_stability(view.fingerprint, asked, title)
            running = tasks.active("stability", key=key)
        if not running:
            with two:
                st.button(
                    f"Select with {len(seeds)} seeds (about {format.seconds(max(seconds, 1.0))})",
                    key="features.stability",
                    on_click=tasks.measure_stability,
                    args=(view.fingerprint, asked, title),
                )
        tasks.watch(running)
        tasks.show_failures(failures)
        return
    labels = np.arange(1) if found.shared else np.arange(found.n_labels)
    table = pd.DataFrame(
        {
            "label": labels,
            "name": ["all labels"] if found.shared else tables.label_names(view.data, labels),
            "jaccard": result.labels[0, : labels.size],
            "spearman": result.labels[1, : labels.size],
        }
    )
    ranked = result.n_selected >= LEAST_RANKED
    if not ranked:
        table = table.drop(columns="spearman")
    means = table.mean(numeric_only=True)
    _warnings(view, result.warnings)
    st.markdown(_same_said(result, found.shared))
    left, right = st.columns(2, gap="large")
    with left:
        between = f"between two seeds: {'one point' if found.shared else 'a point per label'}, means over pairs."
        said = f"Jaccard similarity of the kept features {between}"
        if not ranked:
            said += (
                " Spearman’s rank correlation of their scores is left out: it is taken over the features that either "
                f"seed keeps, and of fewer than {LEAST_RANKED} kept it says little but how many are shared."
            )
        elif np.isfinite(means["spearman"]):
            said = (
                "Jaccard similarity of the kept features, and Spearman’s rank correlation of the scores, taken over "
                f"the features that either seed keeps, so it is below 0 where little is shared; {between}"
            )
        else:
            said += " Spearman’s correlation of their scores could not be taken: they were not kept."
        charts.show_figure(
            figures.stability_boxes(table, result.chance),
            lambda: tables.csv_safe(table),
            f"{view.files}-stability-{len(result.seeds)}seeds",
            said,
            key="features.stability.boxes",
        )
    with right:
        cards = [("Jaccard", f"{means['jaccard']:.2f}", f"Mean over labels; by chance {result.chance:.2f}.")]
        if ranked:
            about = (
                "Of scores, over the features that either seed keeps; mean over labels. 1 is the same features in the "
                "same order; it is below 0 where little is shared, so 0 is not chance."
            )
            cards.append(("Spearman", explained.number(means["spearman"]), about))
        tables.cards(cards)
        if found.shared:
            return
        counts = np.bincount(view.data.Y_train.indices, minlength=found.n_labels)
        least = table.assign(rows=counts).sort_values("jaccard", kind="stable").head(LISTED_LABELS)
        st.dataframe(
            least[["name", "rows", "jaccard", *(["spearman"] if ranked else [])]],
            hide_index=True,
            height=tables.height(len(least), 230),
            key="features.stability.labels",
            **tables.EMPTY_CELLS,
            column_config={
                "name": st.column_config.TextColumn("Label", width=180),
                "rows": st.column_config.NumberColumn("Rows", format="localized", width=70, help="Training rows."),
                "jaccard": st.column_config.NumberColumn("Jaccard", format="%.2f", width=80),
                "spearman": st.column_config.NumberColumn("Spearman", format="%.2f", width=80),
            },
        )
        st.caption(f"Least stable first, {len(least):,} of {format.count(len(table), 'label')}; the CSV has all.")


def _same_said(result, shared) -> str:
    keep = "all labels keep" if shared else "a label keeps"
    share = f"**{100 * result.share:.0f} %**"
    said = (
        f"The feature that {keep} is the same with another seed in {share} of cases"
        if result.n_selected == 1
        else f"Of the {result.n_selected:,} features that {keep}, another seed keeps {share} as well"
    )
    return (
        f"{said}, on average over {format.count(len(result.pairs), 'pair')} of seeds; by chance it would be "
        f"{100 * result.n_selected / result.n_features:.0f} %."
    )


# --- a model on the selected features ---


def reduced(view, drawn_with):
    """A model on the selected features beside the same one on all; ``drawn_with``: :func:`mark` around it."""
    if mark() != drawn_with:
        st.rerun()
    st.header("A model on the selected features")
    found = view.found
    runs = [r for r in results.kept("runs", view.fingerprint) if r["k"] == K]
    options = {r["key"]: (r["model"], r["params"]) for r in runs}
    options |= {model: (model, experiment.full_params(model)) for model in experiment.MODELS}
    known = set()
    titles = {}
    for key, (model, params) in options.items():
        said = settings.changed(model, params) or "default settings"
        if (model, said) not in known:
            known.add((model, said))
            titles[key] = f"{model}, {said}" + (", trained already" if key in {r["key"] for r in runs} else "")
    one, two, three = st.columns([2, 1, 1], vertical_alignment="bottom")
    with one:
        chosen = st.selectbox(
            "Model",
            list(titles),
            format_func=titles.get,
            **workspace.keep(f"features.model {view.fingerprint[:8]}", next(iter(titles)), options=list(titles)),
            help="Results of the Train page, and all models with their default settings.",
        )
    model, params = options[chosen]
    with two:
        m = st.number_input(
            f"Best of each label, 1 to {found.n_selected:,}",
            min_value=1,
            max_value=found.n_selected,
            **workspace.keep(
                f"features.best {view.key[:8]}",
                found.n_selected if found.shared else experiment.fitting_depth(found.selected, found.n_features // 2),
                lambda v: isinstance(v, int) and 1 <= v <= found.n_selected,
            ),
            help="How many of each label’s features, the best first, go into the union; at first as many as give half "
            "of all features at most.",
        )
    per_label = False
    if model == "OneVsRest" and params["noise_sigma"] == 0 and not found.shared:
        with three:
            per_label = st.toggle(
                "Each label its own",
                **workspace.keep("features.per_label", True, lambda v: isinstance(v, bool)),
                help="Each label’s classifier learns from that label’s features only, in place of the union.",
            )
    used = experiment.union_of(found.selected, int(m)).size
    what = (
        f"each label on its own **{int(m):,}** {'feature' if m == 1 else 'features'}"
        if per_label
        else f"the union, **{used:,} of {format.count(found.n_features, 'feature')}**"
    )
    st.markdown(f"{model} learns from {what}, and, to compare, from all features.")
    if used == found.n_features and not per_label:
        st.info("The union is all features, so both are the same model: take fewer of each label’s best.")
    asked = (model, params, per_label, int(m), K)
    key = experiment.reduced_key(view.key, *asked)
    if store.exists("reduced", key):
        try:
            _compared(view, server.reduced(key))
            return
        except (store.StoreError, OSError):
            pass  # it was damaged, and has been removed: trained again
    running, failures = tasks.active("reduced", key=key), tasks.failed("reduced", key=key)
    if not running:
        about = ""
        if chosen in {r["key"] for r in runs}:
            seconds = server.measures(chosen)[1]["fit_s"] * max(used / found.n_features, 0.1)
            about = f" (about {format.seconds(max(seconds, 1.0))})"
        st.button(
            f"Train {model} on them and compare{about}",
            type="primary",
            key="features.train",
            on_click=tasks.train_reduced,
            args=(view.key, view.fingerprint, asked, f"Training {model} on selected features of {view.name}"),
        )
    tasks.watch(running)
    tasks.show_failures(failures)


def _compared(view, found):
    values = found.measures.set_index(["features", "measure", "k"])["value"]
    measures = [m for m in SHOWN_MEASURES if ("all", m, 1) in values.index]

    def value(features, measure, k):
        return 100 * float(values.get((features, measure, k), np.nan))

    one = value("selected", "P@k", 1) - value("all", "P@k", 1)
    numbers = found.numbers
    ratio = numbers.loc["selected", "model_bytes"] / max(1, numbers.loc["all", "model_bytes"])
    worse = "the same as" if abs(one) < 0.005 else f"{abs(one):.2f} points {'above' if one > 0 else 'below'}"
    st.markdown(
        f"On the selected features **{format.plain(found.model)}** has a P@1 of **{value('selected', 'P@k', 1):.2f} "
        f"%**, {worse} that on all features ({value('all', 'P@k', 1):.2f} %), with a "
        f"model **{ratio:.2g} times** as large."
    )
    lines = []
    for measure in measures:
        for k in SHOWN_KS:
            both = value("all", measure, k), value("selected", measure, k)
            lines.append(
                {
                    "measure": f"{measure[:-1]}{k}",
                    "all": both[0],
                    "selected": both[1],
                    "difference": both[1] - both[0],
                }
            )
    left, right = st.columns(2, gap="large")
    with left:
        digits = {"format": "%.2f", "width": 100}
        st.dataframe(
            pd.DataFrame(lines),
            hide_index=True,
            height=tables.height(len(lines), 400),
            key="features.reduced",
            column_config={
                "measure": st.column_config.TextColumn("Measure, %", width=110),
                "all": st.column_config.NumberColumn("All features", **digits),
                "selected": st.column_config.NumberColumn("Selected", **digits),
                "difference": st.column_config.NumberColumn("Difference", format="%+.2f", width=100),
            },
        )
    with right:
        rows = [
            ("Features", lambda n: f"{int(n['n_features']):,}"),
            ("Training", lambda n: format.duration(n["fit_s"])),
            ("Prediction", lambda n: f"{format.duration(n['predict_ms_per_row'] / 1000)}/row"),
            ("Model", lambda n: format.size(n["model_bytes"])),
            ("Weights", lambda n: f"{int(n['n_weights']):,}"),
        ]
        said = ["| | All features | Selected |", "|:--|--:|--:|"]
        said += [
            f"| **{what}** | {said(numbers.loc['all'])} | {said(numbers.loc['selected'])} |" for what, said in rows
        ]
        st.markdown("\n".join(said))
        own = (
            f"Each label learned from its own {format.count(found.n_per_label, 'feature')}; together they are "
            f"{found.n_used:,}."
            if found.per_label
            else "The selected are the union of each label’s best one."
            if found.n_per_label == 1
            else f"The selected are the union of each label’s {found.n_per_label:,} best."
        )
        st.caption(
            f"{own} The selection itself took {format.duration(found.select_s)} before. Times on this machine, in one "
            "worker process."
        )
        charts.csv_button(
            "Both results, CSV",
            lambda: found.measures,
            f"{view.files}-{found.model}-{found.n_per_label}-{found.per_label:d}",
            "All measures at 1 to 5 on all and on selected features",
        )
