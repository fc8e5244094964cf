"""Features: which features matter for which label, and is it worth selecting them?"""

import numpy as np
import pandas as pd
import streamlit as st

from pages.explain import explained
from pages.features import selected_text, worth
from pages.shared import (
    begin,
    charts,
    format,
    forms,
    results,
    selectors,
    server,
    settings,
    tables,
    tasks,
    workspace,
)
from xmlcore import experiment, figures, store
from xmlcore.selection import frames

BARS = 15
LISTED_LABELS = 200  # lines of the table of labels
AT_ONCE = 40  # labels of a heat map
MOST_AT_ONCE = 60
FEATURES_AT_ONCE = 60
GROUPS = 40
FREQUENT, ALIKE, GROUPED = "Most frequent labels", "Labels with most in common", "All labels, in groups"
SCORE = {
    "gradient": "Score, mean squared gradient",
    "Fisher": "Score, Fisher information",
    "attribution": "Score, mean squared attribution",
    "ChiSquared": "Score, χ²",
    "MutualInformation": "Score, mutual information in nats",
    "Lasso": "Score, size of the weight",
    "RandomForest": "Score, share of the impurity",
}


def main() -> None:
    st.title("Features")
    fingerprint = workspace.get("dataset")
    if fingerprint is None:
        begin.no_data("Features can be selected on it in a moment.", "so there are no features to select.")
        return
    data = server.dataset(fingerprint)
    name = workspace.get("known").get(fingerprint, {}).get("name", data.name)
    past = results.kept("selections", fingerprint)
    if not past:
        _begin(data, fingerprint, name)
        return
    keys = [one["key"] for one in past]
    key = workspace.get("widgets").get(f"{workspace.FEATURES_SELECTION} {fingerprint}")
    key = key if key in keys else keys[0]
    try:
        found = server.selection(key)
    except (store.StoreError, OSError) as error:
        st.error(f"This selection cannot be read: {format.plain(error)}. Make it again.")
        _begin(data, fingerprint, name)
        return
    view = _View(data, fingerprint, name, found, key, past)
    sentence, cards = st.empty(), st.container()
    left, right = st.columns([2, 1], gap="large")
    with right:
        if len(past) > 1:
            _choose_selection(view)
        _controls_and_jobs(data, fingerprint, name, key)
    with left:
        label = _choose_label(view)
        _bars(view, label)
    sentence.markdown(_sentence(view, label))
    with cards:
        _about(view)
    _label_table(view, label)
    if found.shared:
        st.caption(
            f"{found.title} keeps the same features for all labels, so there is nothing to compare between labels."
        )
    else:
        st.fragment(_labels_and_features)(view)
    worth.judged(view)
    worth.stability(view)
    st.fragment(worth.reduced)(view, worth.mark())
    st.fragment(_all_labels)(view)


class _View:
    """The selection that is looked at."""

    def __init__(self, data, fingerprint, name, found, key, past):
        self.data, self.fingerprint, self.name = data, fingerprint, name
        self.found, self.key, self.past = found, key, past
        self.files = f"{format.file_name(name)}-{format.file_name(found.title)}-{key[:6]}"

    def named_features(self, table):
        return table.assign(name=[self.data.feature_name(int(j)) for j in table["feature"]])

    @property
    def closest(self):
        """Pairs of labels that are most alike, labels compared, the mean overlap and share; None for one set."""
        if self.found.shared or self.found.n_labels < 2:
            return None
        return server.closest_labels(self.key)


# --- making a selection ---


def _begin(data, fingerprint, name):
    method = next(iter(experiment.SELECTORS))
    left, right = st.columns([2, 1], gap="large")
    with left:
        st.markdown(
            "This page shows which features matter for which label, which labels depend on the same ones, and whether "
            f"a model does better on them alone. No features of **{format.plain(name)}** have been selected in this "
            "workspace yet."
        )
        params = experiment.selection_params(method)
        running = tasks.active("select", fingerprint=fingerprint)
        nothing = data.Y_train.nnz == 0
        st.button(
            f"Select features by {method} with its default settings",
            type="primary",
            key="features.begin",
            on_click=tasks.select,
            args=(fingerprint, name, method, params),
            disabled=nothing or bool(running),
        )
        if not nothing:
            st.caption(_estimate_said(fingerprint, method, params) or "")
    with right:
        _controls_and_jobs(data, fingerprint, name, None)


def _estimate_said(fingerprint, method, params) -> str:
    found = server.selection_estimate(fingerprint, method, params)
    scores = {"exact": " Scores from all training rows.", "sampled": " Scores from a sample of rows for each label."}
    few = selected_text.few_steps(found)
    return (
        f"About {format.seconds(max(found['seconds'], 0.1))} and {format.size(found['bytes'])} of memory beside the "
        "data."
        f"{scores.get(found.get('scoring'), '')}{' ' if few else ''}{few}"
    )


def _controls_and_jobs(data, fingerprint, name, key):
    st.fragment(_controls)(data, fingerprint, name, key, worth.mark())
    tasks.watch(tasks.active("select", fingerprint=fingerprint)[::-1])
    tasks.show_failures(tasks.failed("select", fingerprint=fingerprint))


def _controls(data, fingerprint, name, shown, mark):
    if worth.mark() != mark:
        st.rerun()  # Select was pressed: the page has a job or a result to show
    methods = experiment.SELECTORS
    method = st.selectbox(
        "Method",
        list(methods),
        format_func=lambda m: f"{m}: {methods[m].title}" if m == "FALS" else methods[m].title,
        **workspace.keep("features.method", next(iter(methods)), options=list(methods)),
    )
    info = methods[method]
    st.caption(format.plain(f"{info.summary} {info.paper}."))
    with st.container(border=True):
        _kept(data)
        forms.show(method, info, skip=("n_features",))
        nothing = data.Y_train.nnz == 0
        pressed = st.button(
            "Select",
            type="primary" if shown else "secondary",
            width="stretch",
            key="features.select",
            on_click=_select,
            args=(data, fingerprint, name, method),
            disabled=nothing,
        )
        if nothing:
            st.warning("No training row has a label, so there is nothing to learn. Choose another data set.")
        else:
            _say_what_select_does(data, fingerprint, method, shown, pressed)


def _kept(data):
    """How many features are kept, as a share or as a count: one setting for all methods."""
    d = data.n_features
    one, two = st.columns(2, vertical_alignment="bottom")
    with one:
        way = st.selectbox(
            "Features per label",
            ("share", "count"),
            format_func={"share": "A share", "count": "A number"}.get,
            **workspace.keep("features.way", "share", options=("share", "count")),
            help="What each label keeps. The paper keeps a tenth of all features.",
        )
    with two:
        if way == "share":
            # Without bounds, which would keep the value before: what is wrong is said where the button is.
            st.number_input(
                "Share, k/D",
                step=0.05,
                format="%g",
                **workspace.keep("features.share", 0.1, lambda v: isinstance(v, float)),
            )
        else:
            st.number_input(
                f"Number, 1 to {d:,}",
                step=1,
                **workspace.keep(f"features.count {d}", max(1, round(0.1 * d)), lambda v: isinstance(v, int)),
            )


def _params(data, method) -> dict:
    share = st.session_state["features.way"] == "share"
    kept = st.session_state["features.share"] if share else st.session_state[f"features.count {data.n_features}"]
    params = forms.values(method, experiment.SELECTORS[method], skip=("n_features",))
    return experiment.selection_params(method, params | {"n_features": float(kept) if share else int(kept)})


def _problems(data, fingerprint, method, params) -> list[str]:
    found = forms.problems(experiment.SELECTORS[method], {n: v for n, v in params.items() if n != "n_features"})
    kept, d = params["n_features"], data.n_features
    if isinstance(kept, float) and not 0 < kept <= 1:
        found.append(f"Share, k/D is {kept:g}, but must be above 0 and at most 1.")
    if isinstance(kept, int) and not 1 <= kept <= d:
        found.append(f"The number of features is {kept:,}, but must be from 1 to {d:,}.")
    if method == "ChiSquared" and data.X_train.nnz and data.X_train.data.min() < 0:
        found.append("Chi-squared is for values of at least 0, and this data set has negative ones.")
    if not found:
        try:
            server.selection_estimate(fingerprint, method, params)
        except (ValueError, TypeError) as error:
            found = [settings.in_form(method, str(error))]
    return found


def _say_what_select_does(data, fingerprint, method, shown, pressed):
    params = _params(data, method)
    problems = _problems(data, fingerprint, method, params)
    if problems:
        intro = "**The selection was not started.** " if pressed else ""
        st.error(intro + "  \n".join(format.plain(problem) for problem in problems))
        return
    key = experiment.selection_key(fingerprint, method, params)
    if key == shown:
        st.caption("Selected already: this is the selection shown.")
    elif store.exists("selections", key):
        st.caption("Selected already: opens at once.")
    else:
        st.caption(_estimate_said(fingerprint, method, params))


def _select(data, fingerprint, name, method):
    """Runs before the page does, so that no other event can cut it short."""
    params = _params(data, method)
    if not _problems(data, fingerprint, method, params) and tasks.select(fingerprint, name, method, params):
        workspace.notify("These settings were used before: the selection is from the cache.")


# --- which selection, which label ---


def _title(record) -> str:
    title = experiment.selection_title(record["method"], record["params"])
    changed = settings.changed(
        record["method"], {n: v for n, v in record["params"].items() if n not in ("pattern", "attribution")}
    )
    return f"{title}{', ' + changed if changed else ''} ({format.when(record['created'])})"


def _choose_selection(view):
    titles = {one["key"]: _title(one) for one in view.past}
    widget = workspace.FEATURES_SELECTION
    st.session_state[widget] = view.key
    st.selectbox(
        "Selection shown",
        list(titles),
        format_func=titles.get,
        key=widget,
        on_change=lambda: workspace.update(
            lambda d: d["widgets"].__setitem__(f"{widget} {view.fingerprint}", st.session_state[widget])
        ),
        help="All selections of this workspace on this data set, newest first.",
    )


def _choose_label(view) -> int:
    names, scope = server.label_names(view.fingerprint), f"features label {view.fingerprint}"
    return selectors.choose_label(view.data, names, scope, workspace.FEATURES_LABEL, "features.query")


def _unit(found) -> str:
    if found.method != "FALS":
        return SCORE[found.method]
    if found.params["attribution"] != "gradient":
        return SCORE["attribution"]
    return SCORE["Fisher" if found.params["pattern"] in ("FILS", "FIMS") else "gradient"]


def _bars(view, label):
    found, name = view.found, view.data.label_name(label)
    table = view.named_features(server.label_features(view.key, label))
    sampled = "standard_error" in table.columns
    intervals = (
        " Scores come from a sample of rows: lines are two standard errors either way, another network not counted."
        if sampled
        else ""
    )
    whose = "all labels together" if found.shared else f"**{format.plain(name)}**"
    title = "Features of all labels" if found.shared else f"Features of {explained.in_title(name)}"
    charts.show_figure(
        figures.feature_bars(table, BARS, unit=_unit(found), title=title),
        lambda: tables.csv_safe(table),
        f"{view.files}-label{label}" + (f"-{format.file_name(name)}" if view.data.label_names is not None else ""),
        f"The features of largest score for {whose}, by {format.plain(found.title)}, be it for the label or against it."
        f"{intervals} "
        f"Showing {min(BARS, len(table)):,} of the {len(table):,} that are kept; the table below has them all.",
        key="features.bars",
    )


def _first(view, label) -> str:
    """A clause: the first features, and how many of the label's rows have them."""
    table = view.named_features(server.label_features(view.key, label)).head(3)
    said = []
    for name, share in zip(table["name"], table["with_label"]):
        digits = ".3g" if share >= 0.1 else ".2g"
        rows = "" if view.found.shared or np.isnan(share) else f" (in {100 * share:{digits}} % of its rows)"
        said.append(f"**{format.plain(name)}**{rows}")
    best = said[0] if len(said) == 1 else ", ".join(said[:-1]) + " and " + said[-1]
    verb = "is" if len(said) == 1 else "are"
    if view.found.shared:
        return f"best {verb} {best}"
    name = f"**{format.plain(view.data.label_name(label))}**"
    if selected_text.by_gradient(view.found):
        return f"the network’s output for {name} is most sensitive to {best}"
    return f"best for {name} {verb} {best}"


def _sentence(view, label) -> str:
    found, first = view.found, _first(view, label)
    kept = f"**{found.n_selected:,} of {format.count(found.n_features, 'feature')}**"
    if found.shared:
        return (
            f"On **{format.plain(view.name)}**, {format.plain(found.title)} keeps {kept}, the same for all "
            f"{format.count(found.n_labels, 'label')}; {first}."
        )
    said = (
        f"On **{format.plain(view.name)}**, {format.plain(found.title)} keeps {kept} for each of "
        f"{format.count(found.n_labels, 'label')}; {first}."
    )
    if view.closest is not None and np.isfinite(view.closest[3]):
        said += f" Two labels share **{100 * view.closest[3]:.0f} %** of what they keep, on average."
    return said


def _about(view):
    found = view.found
    union = server.selection_union(view.key)
    cards = [
        ("Kept per label", f"{found.n_selected:,}", f"Of {format.count(found.n_features, 'feature')}."),
        (
            "Kept by any label",
            f"{union:,}",
            f"Of {format.count(found.n_features, 'feature')}: what a model for all labels would be trained on.",
        ),
    ]
    if view.closest is not None and np.isfinite(view.closest[2]):
        n = view.closest[1]
        which = "all labels" if n == found.n_labels else f"the {n:,} most frequent of {found.n_labels:,} labels"
        cards.append(
            (
                "Overlap of labels",
                f"{view.closest[2]:.2f}",
                f"Jaccard similarity of what two labels keep, mean over all pairs of {which}: 1 is the same features, "
                "0 none in common.",
            )
        )
    cards.append(("Selection", format.duration(found.times["fit_s"]), "On this machine, in one worker process."))
    if found.info.get("scoring"):
        rows = found.info.get("n_scored") or found.n_rows
        how = "all training rows" if found.info["scoring"] == "exact" else f"{rows:,} rows drawn for each label"
        cards.append(
            (
                "Scores",
                str(found.info["scoring"]),
                f"From {how}, computed in the order “{found.info.get('order', '')}”.",
            )
        )
    tables.cards(cards)
    for warning in dict.fromkeys(found.warnings):
        said = settings.in_form(found.method, warning)  # before names, which may be those of parameters
        st.warning(format.plain(selected_text.with_names(view.data, said)))
    rare = selected_text.rare(view.data, found)
    if rare:
        st.info(rare)
    if found.method == "FALS":
        few = selected_text.few_steps(server.selection_estimate(view.fingerprint, found.method, found.params))
        if few:
            st.warning(few)


def _label_table(view, label):
    table = view.named_features(server.label_features(view.key, label))
    sampled = "standard_error" in table.columns
    shown = table.assign(with_label=100 * table["with_label"], without_label=100 * table["without_label"])
    digits = {"format": "%.2e" if table["score"].max() < 0.01 else "%.4g", "width": 90}
    columns = ["rank", "name", "feature", "score", *(["standard_error"] if sampled else [])]
    columns += ["with_label", "without_label", *([] if view.found.shared else ["n_labels"])]
    st.dataframe(
        shown[columns],
        hide_index=True,
        height=tables.height(len(shown), 290),
        key="features.table",
        **tables.EMPTY_CELLS,
        column_config={
            "rank": st.column_config.NumberColumn("Rank", format="%d", width=55),
            "name": st.column_config.TextColumn("Feature", width=170),
            "feature": st.column_config.NumberColumn("Id", format="%d", width=65),
            "score": st.column_config.NumberColumn("Score", **digits),
            "standard_error": st.column_config.NumberColumn("Standard error", **digits),
            "with_label": st.column_config.NumberColumn(
                "In rows with it, %", format="%.1f", width=110, help="Share of the label’s training rows that have it."
            ),
            "without_label": st.column_config.NumberColumn(
                "In other rows, %", format="%.1f", width=110, help="Share of the other training rows that have it."
            ),
            "n_labels": st.column_config.NumberColumn(
                "Labels that keep it", format="localized", width=120, help=f"Of {view.found.n_labels:,}."
            ),
        },
    )
    st.caption(
        f"{'The feature' if len(shown) == 1 else f'All {len(shown):,} features'} that "
        f"**{format.plain(view.data.label_name(label))}** keeps{'' if len(shown) == 1 else ', best first'}; how often "
        f"{'it occurs' if len(shown) == 1 else 'they occur'} in training rows with the label and without it."
    )


# --- labels beside each other ---


def _labels_and_features(view):
    st.header("Labels and their features")
    found, data = view.found, view.data
    names = server.label_names(view.fingerprint)
    ways = [FREQUENT, ALIKE, GROUPED]
    one, two = st.columns([2, 1], vertical_alignment="bottom")
    with one:
        way = st.selectbox("Shown", ways, **workspace.keep("features.heat", FREQUENT, options=ways))
    most = min(MOST_AT_ONCE, found.n_labels)
    n = min(AT_ONCE, most)
    if way != GROUPED and most > 2:
        with two:
            n = st.number_input(
                f"Labels, 2 to {most:,}",
                min_value=2,
                max_value=most,
                **workspace.keep(f"features.heat.n {most}", n, lambda v: isinstance(v, int) and 2 <= v <= most),
            )
    if way == GROUPED:
        table, n_labels, n_features = server.selection_groups(view.key, GROUPS)
        table = view.named_features(table).assign(label_name=[data.label_name(int(j)) for j in table["label"]])
        some = "all" if n_labels == found.n_labels else f"the {n_labels:,} most frequent of {found.n_labels:,}"
        figure = figures.group_heat(table, n_labels=n_labels, n_features=n_features)
        caption = (
            f"{some[:1].upper()}{some[1:]} labels in {format.count(table['label_group'].nunique(), 'group')} of labels "
            f"that keep alike features, and {n_features:,} of {format.count(found.n_features, 'feature')} in "
            f"{format.count(table['feature_group'].nunique(), 'group')}, named after their most frequent label and the "
            "feature that most labels keep. Lighter: more of their pairs of label and feature are kept."
        )
        labels = names["label"].head(n).tolist()
    else:
        labels = names["label"].head(n).tolist() if way == FREQUENT else _alike_labels(view, n)
        table = server.selection_heat(view.key, tuple(labels), FEATURES_AT_ONCE)
        n_kept = table.attrs["n_kept"]
        table = view.named_features(table).assign(label_name=[data.label_name(int(j)) for j in table["label"]])
        figure = figures.selection_heat(table, n_labels=found.n_labels, n_features=found.n_features)
        caption = (
            f"{len(labels):,} of {format.count(found.n_labels, 'label')} and, of the "
            f"{format.count(n_kept, 'feature')} that they keep, the {table['feature'].nunique():,} of largest scores; "
            "alike ones are next to each other. Lighter matters more to the label (1 is its best feature); blank is "
            "not kept."
        )
    name = f"{view.files}-heat-{_way_said(way, labels)}"
    charts.show_figure(figure, lambda: tables.csv_safe(table), name, caption, key="features.heat.map")
    _overlap(view, labels, way)


def _way_said(way, labels) -> str:
    """Which labels, and how many, in the name of a file."""
    if way == GROUPED:
        return "groups"
    return f"{'alike' if way == ALIKE else 'frequent'}-{len(labels)}labels"


def _alike_labels(view, n):
    """Labels of the pairs that have most in common, until there are enough."""
    pairs = view.closest[0]
    found = list(dict.fromkeys(np.column_stack([pairs["a"], pairs["b"]]).ravel().tolist()))[:n]
    rest = (j for j in server.label_names(view.fingerprint)["label"].tolist() if j not in set(found))
    return found + [j for _, j in zip(range(n - len(found)), rest)]


def _overlap(view, labels, way):
    st.header("Overlap between labels")
    found, data = view.found, view.data
    if view.closest is None:
        st.caption("There is only one label.")
        return
    pairs, n_compared = view.closest[:2]
    left, right = st.columns(2, gap="large")
    with left:
        order = frames.alike_order(frames.kept(found.selected[labels], found.n_features).toarray())
        labels = np.asarray(labels)[order]
        matrix = frames.overlap(found.selected, found.n_features, labels)
        a, b = np.repeat(labels, labels.size), np.tile(labels, labels.size)
        table = pd.DataFrame({"a": a, "b": b, "jaccard": matrix.ravel()})
        table["a_name"], table["b_name"] = tables.label_names(data, a), tables.label_names(data, b)
        which = "most frequent" if way != ALIKE else "most alike"
        charts.show_figure(
            figures.overlap_heat(table, n_labels=found.n_labels),
            lambda: tables.csv_safe(table),
            f"{view.files}-overlap-{_way_said(way if way == ALIKE else FREQUENT, labels)}",
            f"How much of what two labels keep is the same, for the {labels.size:,} {which} of "
            f"{format.count(found.n_labels, 'label')}; alike ones are next to each other, columns in the order of "
            "the lines. Lighter is more; the lightest colour also "
            "stands for the highest hundredth.",
            key="features.overlap",
        )
    with right:
        shown = pairs.assign(
            a_name=tables.label_names(data, pairs["a"]),
            b_name=tables.label_names(data, pairs["b"]),
            together=frames.together(data.Y_train, pairs["a"], pairs["b"]),
        )
        st.markdown("**Pairs of labels with most in common**")
        st.dataframe(
            shown.assign(together=100 * shown["together"])[["a_name", "b_name", "common", "jaccard", "together"]],
            hide_index=True,
            height=tables.height(len(shown), 560),
            key="features.pairs",
            **tables.EMPTY_CELLS,
            column_config={
                "a_name": st.column_config.TextColumn("Label", width=120),
                "b_name": st.column_config.TextColumn("and", width=120),
                "common": st.column_config.NumberColumn("Common", format="localized", width=72, help="Features."),
                "jaccard": st.column_config.NumberColumn("Jaccard", format="%.2f", width=65),
                "together": st.column_config.NumberColumn(
                    "Rows, %",
                    format="%.0f",
                    width=62,
                    help="Training rows with both labels, as a share of the rows of the rarer one.",
                ),
            },
        )
        all_pairs = n_compared * (n_compared - 1) // 2
        which = (
            "all labels"
            if n_compared == found.n_labels
            else f"the {n_compared:,} most frequent of {found.n_labels:,} labels"
        )
        st.caption(
            f"Showing {len(shown):,} of the {all_pairs:,} pairs of {which}. “Rows” says how often the two occur "
            "together."
        )
        charts.csv_button(
            "Pairs, CSV", lambda: tables.csv_safe(shown), f"{view.files}-pairs", "The pairs of this table with ids"
        )


# --- everything ---


def _all_labels(view):
    st.header("All selected features")
    found, data = view.found, view.data
    lines = found.n_labels * found.n_selected
    names = server.label_names(view.fingerprint)
    listed = tables.find_labels(names, st.session_state.get("features.query", ""))
    listed = (names if listed.empty else listed).head(LISTED_LABELS)  # as in the box above
    labels = listed["label"].to_numpy()
    counts = np.bincount(data.Y_train.indices, minlength=found.n_labels)
    table = pd.DataFrame(
        {
            "name": listed["name"].to_numpy(),
            "label": labels,
            "rows": counts[labels],
            "features": frames.best_names(found.selected, labels, data.feature_name, 8),
        }
    )
    st.dataframe(
        table,
        hide_index=True,
        height=tables.height(len(table), 360),
        key="features.labels",
        column_config={
            "name": st.column_config.TextColumn("Label", width=180),
            "label": st.column_config.NumberColumn("Id", format="%d", width=60),
            "rows": st.column_config.NumberColumn("Rows", format="localized", width=70, help="Training rows."),
            "features": st.column_config.TextColumn("Features of largest score", width=600),
        },
    )
    st.caption(
        f"Showing {len(table):,} of {format.count(found.n_labels, 'label')}, most frequent first; “Find labels by name "
        "or id” above finds others. "
        f"The CSV has all {format.count(lines, 'line')}: label, rank, feature, its name and score."
    )
    charts.csv_button(
        "All selected features, CSV",
        lambda: tables.csv_safe(
            frames.selection_frame(found.selected, found.selected_scores, data.label_name, data.feature_name)
        ),
        f"{view.files}-selected",
        "Label, rank, feature, name and score of everything that is kept",
    )


main()
