"""Explain: why does a model predict this label for this row?"""

import functools

import numpy as np
import pandas as pd
import streamlit as st

from pages.explain import explained
from pages.robustness import noise
from pages.shared import (
    begin,
    charts,
    format,
    predictions,
    results,
    run_names,
    selectors,
    server,
    tables,
    tasks,
    workspace,
)
from xmlcore import experiment, explain, figures, robustness, store
from xmlcore.experiment import twins
from xmlcore.models import ModelFormatError

K = 5
BARS = 10
TOP = 10  # features compared where two explanations are
REPEATS = 10  # noisy copies of the row
AUTOMATIC = 20.0  # seconds up to which explanations are measured without being asked
LISTED = 100  # rows or labels found that are offered
SAMPLE = 200  # test rows explained for the views of the whole model
ROWS_OF_LABEL = 200
NONE = "none"


def main() -> None:
    st.title("Explain")
    fingerprint = workspace.get("dataset")
    if fingerprint is None:
        begin.no_data("Models can be trained on it and explained in a moment.", "so there is nothing to explain.")
        return
    data = server.dataset(fingerprint)
    name = workspace.get("known").get(fingerprint, {}).get("name", data.name)
    runs = results.kept("runs", fingerprint)
    if not runs:
        said = "This page shows which features made a model predict a label, and whether that can be trusted. "
        said += begin.not_trained(name)
        begin.no_run(said, data, fingerprint, name, "explain", "PLT", K, "Other models on the Train page")
        return
    key = results.chosen(workspace.EXPLAIN_RUN, fingerprint, runs)
    by_key = {r["key"]: r for r in runs}
    titles = run_names.names(runs)
    sentence = st.empty()
    both = results.opened(key)
    if both is None:
        _choose_run(fingerprint, titles, key)
        return
    run, model = both
    top = st.container()
    left, right = st.columns([2, 3], gap="large")
    with right:
        row, second = _controls(data, run, fingerprint, by_key, titles, key)
    view = _View(data, run, model, key, titles[key], by_key[key], row, format.file_name(name))
    with top:
        label = _label(view)
    with left:
        st.subheader("Predicted and true labels")
        _labels(data, run, row)
    if label is None:
        sentence.markdown(
            f"**{format.plain(view.title)}** predicts nothing for {_row_said(view)}, and the row has no true labels, "
            "so there is nothing to explain. Choose another row."
        )
    else:
        view.label = label
        sentence.markdown(_sentence(view))
        with top:
            _why(view)
        _path(view)
        st.fragment(_under_noise)(view)
        if second is not None:
            _two_models(view, second, by_key[second], titles[second])
    st.fragment(_label_features)(view)
    _whole_model(view, fingerprint, name)


# --- what is looked at ---


def _choose_run(fingerprint, titles, key):
    said = "All results of this workspace on this data set, newest first."
    results.choose(workspace.EXPLAIN_RUN, fingerprint, titles, key, "Result explained", said)


def _second_run(fingerprint, by_key, titles, key) -> str | None:
    """A result to compare with: the twin trained with or without noise, else the newest other one."""
    others = [k for k in by_key if k != key]
    own_twins = [
        b["key"] if a["key"] == key else a["key"]
        for a, b in twins.twins(list(by_key.values()))
        if key in (a["key"], b["key"])
    ]
    options = [NONE, *others]
    remembered = workspace.get("widgets").get(f"{workspace.EXPLAIN_SECOND} {fingerprint}")
    first = remembered if remembered in options else own_twins[0] if own_twins else others[0]
    st.session_state[workspace.EXPLAIN_SECOND] = first
    picked = st.selectbox(
        "Compared with",
        options,
        format_func=lambda k: "nothing" if k == NONE else titles[k],
        key=workspace.EXPLAIN_SECOND,
        on_change=lambda: workspace.update(
            lambda d: d["widgets"].__setitem__(
                f"{workspace.EXPLAIN_SECOND} {fingerprint}", st.session_state[workspace.EXPLAIN_SECOND]
            )
        ),
        help="A second result that explains the same label of the same row, further down.",
    )
    return None if picked == NONE else picked


def _controls(data, run, fingerprint, by_key, titles, key):
    with st.container(border=True):
        one, two = st.columns(2, vertical_alignment="bottom")
        with one:
            _choose_run(fingerprint, titles, key)
        second = None
        if len(by_key) > 1:
            with two:
                second = _second_run(fingerprint, by_key, titles, key)
        _find_row(data, key)
        row = selectors.choose_test_row(data, run, f"run {key}", workspace.EXPLAIN_ROW)
    return row, second


def _find_row(data, key):
    """Search among test rows; choosing one of those found looks at it."""
    one, two = st.columns(2, vertical_alignment="bottom")
    with one:
        query = st.text_input(
            "Find test rows by a name",
            **workspace.keep("explain.query", "", lambda value: isinstance(value, str)),
            placeholder="of a label, feature or row",
        )
    if not query.strip():
        return
    found = tables.find_rows(data, "test", query)
    with two:
        if found.size == 0:
            st.caption(f"No test row has “{format.plain(query)}” in a name. Try a shorter part of it.")
            return
        listed = found[:LISTED]
        lines = tables.rows(data, "test", listed)
        said = {
            int(r["row"]): f"{r['row']}: {r['name'] if 'name' in r else r['labels'] or 'no labels'}"
            for r in lines.to_dict("records")
        }
        scope = f"run {key}"
        widget = f"explain.found {query.strip()}"
        st.selectbox(
            f"{format.count(found.size, 'row')} found"
            + (f", {listed.size:,} of them here" if listed.size < found.size else ""),
            list(said),
            format_func=said.get,
            index=None,
            placeholder="Choose one",
            key=widget,
            on_change=lambda: (
                workspace.choose_row(scope, st.session_state[widget]) if st.session_state[widget] is not None else None
            ),
        )


class _View:
    """The row, the model and the label that are explained."""

    label: int | None = None

    def __init__(self, data, run, model, key, title, record, row, files):
        self.data, self.run, self.model, self.key, self.title = data, run, model, key, title
        self.record, self.row, self.files = record, row, files
        self.x = data.X_test[[row]]
        self.file = f"{files}-{run.model}-{key[:6]}-row{row}"

    @functools.cached_property
    def contributions(self) -> pd.DataFrame:
        return explained.named(server.contributions(self.key, self.row, self.label), self.data)

    @functools.cached_property
    def attrs(self) -> dict:
        return server.contributions(self.key, self.row, self.label).attrs

    @functools.cached_property
    def kind(self) -> str:
        """What contributions to the model's scores are: it does not depend on the label."""
        return server.contributions(self.key, self.row, self.label or 0).attrs["kind"]

    @property
    def name(self) -> str:
        return self.data.label_name(self.label)

    @property
    def unit(self) -> str:
        return explained.unit(self.kind)


def _labels(data, run, row):
    """The predicted and the true labels of the row."""
    narrow = {
        "name": st.column_config.TextColumn("Predicted label", width=115),
        "correct": st.column_config.TextColumn("Right?", width=72),
        "score": st.column_config.NumberColumn("Score", format="%.3f", width=60),
        "label": st.column_config.NumberColumn("Id", format="%d", width=55),
    }
    predictions.show(data, run, row, K, key="explain.predicted", extra_config=narrow)
    labels = tables.label_names(data, tables.ids(data.Y_test, row))
    if labels:
        st.markdown("**True labels:** " + ", ".join(format.plain(name) for name in labels))


def _label_options(view) -> dict:
    """Labels that can be explained, best first: what each is."""
    true = set(tables.ids(view.data.Y_test, view.row).tolist())
    ranked = [int(j) for j in view.run.ranking.labels[view.row, :K] if j >= 0]
    said = {}
    for place, j in enumerate(ranked, 1):
        said[j] = f"{view.data.label_name(j)} – predicted {format.ordinal(place)}, {'right' if j in true else 'wrong'}"
    for j in sorted(true - set(ranked)):
        said[j] = f"{view.data.label_name(j)} – true, not among the {K} predicted"
    return said


def _label(view) -> int | None:
    """Which of the predicted and the true labels is explained."""
    said = _label_options(view)
    if not said:
        return None
    # A label belongs to its row: another row begins with its own first prediction.
    same = workspace.chosen_row(f"label row {view.key}", -1) == view.row
    label = workspace.chosen_row(f"label {view.key}", -1) if same else -1
    if label not in said:
        label = next(iter(said))
    st.session_state[workspace.EXPLAIN_LABEL] = label
    st.selectbox(
        "Label explained",
        list(said),
        format_func=said.get,
        key=workspace.EXPLAIN_LABEL,
        on_change=_choose_label,
        args=(view.key, view.row),
        help="One of the predicted labels, or a true one that was missed.",
    )
    return label


def _choose_label(key, row):
    label = int(st.session_state[workspace.EXPLAIN_LABEL])
    workspace.update(lambda d: d["rows"].update({f"label {key}": label, f"label row {key}": row}))


# --- the answer ---


def _row_said(view) -> str:
    names = tables.part(view.data, "test")[2]
    return f"test row {view.row:,}" + (f", {format.plain(names[view.row])}," if names is not None else "")


def _sentence(view) -> str:
    true = view.label in set(tables.ids(view.data.Y_test, view.row).tolist())
    place = np.flatnonzero(view.run.ranking.labels[view.row] == view.label)
    if place.size:
        rank = place[0] + 1
        said = f"ranks **{format.plain(view.name)}** {format.ordinal(rank)} for {_row_said(view)}"
    else:
        said = f"does not have **{format.plain(view.name)}** among its first {K} for {_row_said(view)}"
    chance = explain.probability(view.kind, view.attrs["total"])
    share = "" if chance is None else f" with {explained.percent(chance)}"
    right = {(True, True): "right", (True, False): "wrong", (False, True): "a miss", (False, False): "right"}
    said = f"**{format.plain(view.title)}** {said}{share}: {right[bool(place.size), true]}. "
    f = view.contributions
    pushing, against = f[f["contribution"] > 0].head(2), f[f["contribution"] < 0].head(1)
    if pushing.empty and against.empty:
        return said + "None of the row’s features has any influence on it."
    if not pushing.empty:
        said += "What speaks for it most: " + " and ".join(_named_value(r) for r in pushing.to_dict("records"))
    if not against.empty:
        said += ("; " if not pushing.empty else "Nothing speaks for it; ") + "against it: "
        said += _named_value(against.iloc[0])
    return said + "."


def _named_value(line):
    return f"**{format.plain(line['name'])}** ({explained.signed(line['contribution'])})"


def _why(view):
    found = view.contributions
    if found.empty:
        st.caption("This row has no features, so nothing contributes: every such row gets the same prediction.")
        return
    left, right = st.columns(2, gap="large")
    magnitude = explained.by_magnitude(view.x, view.data)
    own = view.kind != "score"  # else the features explained are those of the pair of row and label
    top = found.loc[found["contribution"] != 0, "feature"].head(min(BARS, len(magnitude))).tolist() if own else []
    with left:
        figure = figures.contribution_bars(
            found, BARS, unit=view.unit, title=f"Contributions to {explained.in_title(view.name)}"
        )
        rest = figure.layout.meta["others"]
        others = f" Hatched: the sum of the {format.count(rest, 'other')}." if rest else ""
        charts.show_figure(
            figure,
            lambda: tables.csv_safe(found),
            f"{view.file}-label{view.label}-contributions",
            f"What the model makes of each feature for **{format.plain(view.name)}**. {explained.adds_up(view.attrs)}"
            f"{others} Beside a name is the feature’s value.",
            key="explain.contributions",
        )
    with right:
        both = len(set(top) & set(magnitude["feature"].head(BARS)))
        charts.show_figure(
            figures.magnitude_bars(magnitude, BARS, top, title="Largest values"),
            lambda: tables.csv_safe(magnitude),
            f"{view.file}-magnitude",
            "The paper’s explanation: features by the size of their value. It does not look at the model, so it is the "
            f"same for every label{f'; {both} of these {min(BARS, len(magnitude))} contribute most, too' * own}.",
            key="explain.magnitude",
        )


# --- the path ---


def _path(view):
    st.header("The path to the label")
    if view.kind == "score":
        st.caption(f"{view.run.model} scores pairs of row and label: there is no tree, so there is no path.")
        return
    way = server.path(view.key, view.row, view.label)
    if way.empty:
        st.caption("The row reaches no node that has the label, so there is no path.")
        return
    left, right = st.columns(2, gap="large")
    if "factor" in way.columns:
        figure = figures.path_products(way, title=f"Path to {explained.in_title(view.name)}")
        trees = way["tree"].nunique()
        mean = f" The prediction is the mean of the {trees:,} trees." if trees > 1 else ""
        caption = (
            "From the root, where every row is, to the label’s own leaf: each node has a probability given its parent "
            f"(the number beside it), and their product is the label’s probability.{mean}"
        )
    else:
        figure = figures.path_shares(way, title=f"Ways to {explained.in_title(view.name)}")
        caption = (
            "Which share of each node’s training rows has the label, from the root to the leaves that the row reaches; "
            "the label’s score is the mean over leaves."
        )
    shown, config = explained.path_table(way)
    with left:
        meta = figure.layout.meta
        some = f" Showing {meta['shown']:,} of {meta['total']:,} ways." if meta["shown"] < meta["total"] else ""
        charts.show_figure(
            figure,
            lambda: tables.csv_safe(way),
            f"{view.file}-label{view.label}-path",
            caption + some,
            key="explain.path",
        )
    with right:
        st.dataframe(
            shown,
            hide_index=True,
            key="explain.path.table",
            height=tables.height(len(shown), 380),
            column_config=config,
        )
        st.caption(f"{format.count(len(shown), 'node')} on the way. {explained.ABOUT_PATH}")


# --- noise ---


def _under_noise(view):
    st.header("Does it hold under noise?")
    size = float(np.abs(view.x.data).mean()) if view.x.nnz else 1.0
    one, two, three = st.columns([1, 2, 1], vertical_alignment="bottom")
    with one:
        sigma = st.number_input(
            "Noise, σ",
            min_value=0.0,
            format="%g",
            **workspace.keep(
                f"explain.sigma {view.run.fingerprint[:8]}",
                explained.round_size(0.3 * size),
                lambda v: isinstance(v, float) and v >= 0,
            ),
            help=f"Standard deviation, in the units of the feature values: this row’s are {size:.3g} on average.",
        )
    with two:
        support = st.selectbox(
            "On",
            list(noise.SUPPORTS),
            format_func=noise.SUPPORTS.get,
            **workspace.keep("explain.support", "nonzero", options=list(noise.SUPPORTS)),
        )
    with three:
        st.button(
            "Other noise",
            key="explain.noise.again",
            width="stretch",
            on_click=lambda: workspace.choose_row("explain noise", workspace.chosen_row("explain noise") + 1),
            help="Draw the noise anew.",
        )
    seed = workspace.chosen_row("explain noise")
    gaussian = robustness.GaussianNoise(sigma, support)
    noisy = gaussian.apply(view.x, rows=np.array([view.row]), seed=seed)
    after = view.model.predict_topk(noisy, K)
    changed = explain.contributions(view.model, noisy, view.label)
    compared = explain.side_by_side(view.contributions, explained.named(changed, view.data), TOP)
    left, right = st.columns(2, gap="large")
    with left:
        if compared.empty:
            st.caption("Nothing contributes, with noise or without.")
        else:
            charts.show_figure(
                figures.contributions_compared(compared.head(TOP + 5), unit=view.unit),
                lambda: tables.csv_safe(
                    explain.side_by_side(view.contributions, explained.named(changed, view.data), None)
                ),
                f"{view.file}-label{view.label}-noise",
                f"The {TOP} features that contribute most without noise, and those that come among them with it. "
                f"{explained.totals(view.attrs, changed.attrs)}",
                key="explain.noise",
            )
    with right:
        _labels_under_noise(view, after)
        _stability(view, gaussian, seed)


def _labels_under_noise(view, after):
    before = predictions.one_row(view.data, view.run.ranking, view.row, K)
    now = after.labels[0]
    n = max(len(before), int((now >= 0).sum()))
    places = {int(j): i + 1 for i, j in enumerate(view.run.ranking.labels[view.row]) if j >= 0}
    lines = []
    for i in range(n):
        j = int(now[i]) if i < now.size and now[i] >= 0 else None
        lines.append(
            {
                "rank": i + 1,
                "before": before["name"].iloc[i] if i < len(before) else "",
                "score before": before["score"].iloc[i] if i < len(before) else np.nan,
                "after": "" if j is None else view.data.label_name(j),
                "score": np.nan if j is None else float(after.scores[0, i]),
                "was": "" if j is None else str(places.get(j, "–")),
            }
        )
    frame = pd.DataFrame(lines)
    if frame.empty:
        st.caption("No label is predicted, with noise or without.")
        return
    st.dataframe(
        frame,
        hide_index=True,
        key="explain.noise.labels",
        **tables.EMPTY_CELLS,
        column_config={
            "rank": st.column_config.NumberColumn("Rank", format="%d", width=50),
            "before": st.column_config.TextColumn("Without noise", width=115),
            "score before": st.column_config.NumberColumn("Score", format="%.3f", width=62),
            "after": st.column_config.TextColumn("With noise", width=115),
            "score": st.column_config.NumberColumn("Score ", format="%.3f", width=62),
            "was": st.column_config.TextColumn("Was", width=50, help="Its rank without noise."),
        },
    )


def _stability(view, gaussian, seed):
    if gaussian.sigma == 0:
        st.caption("Without noise everything stays as it is.")
        return
    found = explain.stability(view.model, view.x, view.label, gaussian, REPEATS, TOP, seed=seed, row=view.row)
    means = found[["spearman", "overlap"]].mean()
    tables.cards(
        [
            (
                "Spearman",
                explained.number(means["spearman"]),
                f"Rank correlation of contributions without and with noise, mean of {len(found)} noisy copies; 1 is "
                "the same order.",
            ),
            (
                "Overlap",
                f"{100 * means['overlap']:.0f} %",
                f"Of the {TOP} features that contribute most, mean of {len(found)} noisy copies.",
            ),
        ]
    )
    st.caption(
        f"Over {len(found)} noisy copies of the row, {explained.total_said(view.attrs, found['total'])}. Figure and "
        "table show another copy."
    )
    charts.csv_button(
        "Noisy copies, CSV", lambda: found, f"{view.file}-label{view.label}-stability", "Agreement for each noisy copy"
    )


# --- two models ---


def _two_models(view, key, record, title):
    st.header("Two models side by side")
    try:
        other_run = server.run(key)
        raw = server.contributions(key, view.row, view.label)
    except (store.StoreError, OSError, ModelFormatError) as error:
        st.error(f"The model of {format.plain(title)} cannot be read: {format.plain(error)}. Train it again.")
        return
    other = explained.named(raw, view.data)
    places = [_place(view.run, view), _place(other_run, view)]
    cards = []
    if (view.kind == "score") == (raw.attrs["kind"] == "score"):
        agreement = explain.agreement(view.contributions, other, TOP)
        cards = [
            (
                "Spearman",
                explained.number(agreement["spearman"]),
                "Rank correlation of the contributions of both models; 1 is the same order, 0 is none in common.",
            ),
            (
                "Overlap",
                f"{100 * agreement['overlap']:.0f} %",
                f"Of the {TOP} features that contribute most to each.",
            ),
        ]
    tables.cards([*cards, ("Rank of the label", " and ".join(places), f"By {view.title}, and by {title}.")])
    if not cards:
        st.caption("One explains by the row’s features, the other by those of the pair of row and label: no agreement.")
    left, right = st.columns(2, gap="large")
    # The same axis where the two add up to the same thing.
    drawn = [figures.contribution_bars(f, BARS).layout.meta["ends"] for f in (view.contributions, other)]
    ends = (min(d[0] for d in drawn), max(d[1] for d in drawn)) if raw.attrs["kind"] == view.kind else None
    for side, whose, found, attrs, place in (
        (left, view.title, view.contributions, view.attrs, 1),
        (right, title, other, raw.attrs, 2),
    ):
        with side:
            if found.empty:
                st.caption("This row has no features, so nothing contributes.")
                continue
            charts.show_figure(
                figures.contribution_bars(found, BARS, unit=explained.unit(attrs["kind"]), title=whose, ends=ends),
                functools.partial(tables.csv_safe, found),
                f"{view.file}-label{view.label}-model{place}",
                f"Contributions to **{format.plain(view.name)}**. {explained.adds_up(attrs)}",
                key=f"explain.two.{place}",
            )


def _place(run, view) -> str:
    found = np.flatnonzero(run.ranking.labels[view.row] == view.label)
    return str(found[0] + 1) if found.size else f"beyond {run.ranking.labels.shape[1]}"


# --- the whole model ---


def _label_features(view):
    st.header("Features of a label")
    names = server.label_names(view.run.fingerprint)
    one, two = st.columns(2, vertical_alignment="bottom")
    with one:
        query = st.text_input(
            "Find labels by name",
            **workspace.keep("explain.label.query", "", lambda value: isinstance(value, str)),
            placeholder="part of a name; empty is the label explained",
        )
    found = tables.find_labels(names, query) if query.strip() else names.iloc[[]]
    label = view.label
    if query.strip():
        with two:
            if found.empty:
                st.caption(f"No label has “{format.plain(query)}” in its name. Try a shorter part of it.")
            else:
                listed = found.head(LISTED)
                said = dict(zip(listed["label"].tolist(), listed["name"].tolist()))
                label = st.selectbox(
                    f"{format.count(len(found), 'label')} found"
                    + (f", {len(listed):,} of them here" if len(listed) < len(found) else ""),
                    list(said),
                    format_func=said.get,
                    key=f"explain.label.found {query.strip()}",
                )
    if label is None:
        st.caption("Search for a label to see which features speak for it.")
        return
    whole = server.label_importance(view.key, int(label), ROWS_OF_LABEL)
    found, n, of, part = whole.frame, whole.n_rows, whole.n_having, whole.part
    name = view.data.label_name(int(label))
    if found.empty:
        st.caption(f"No row with **{format.plain(name)}** has features, so there is nothing to show.")
        return
    found = explained.named(found, view.data)
    rows = format.count(n, f"{part} row") if n == of else f"{n:,} of {format.count(of, f'{part} row')}"
    charts.show_figure(
        figures.importance_bars(found, unit=view.unit, title=f"Features of {explained.in_title(name)}"),
        lambda: tables.csv_safe(found),
        f"{view.files}-{view.run.model}-{view.key[:6]}-label{label}-importance",
        f"Contributions to **{format.plain(name)}** over {rows} that have it: bars are the mean of their sizes, "
        f"diamonds the mean with its sign. Showing {min(15, len(found)):,} of {format.count(len(found), 'feature')}.",
        key="explain.label.importance",
    )


def _whole_model(view, fingerprint, name):
    st.header("The whole model")
    n_rows = min(SAMPLE, view.data.n_test)
    asked = (n_rows, 0)
    key = experiment.explanations_key(view.key, *asked)
    if not store.exists("explanations", key):
        _measure(view, fingerprint, name, key, asked)
        return
    try:
        found = server.explanations(key)
    except (store.StoreError, OSError):
        _measure(view, fingerprint, name, key, asked)
        return
    if found.deletion.empty:
        st.caption("No test row has features, so there is nothing to explain about the whole model.")
        return
    n, rows = len(found.rows), format.count(found.n_test, "test row")
    rows = f"all {rows}" if n == found.n_test else f"{n:,} of {rows}"
    files = f"{view.files}-{view.run.model}-{view.key[:6]}"
    left, right = st.columns(2, gap="large")
    with left:
        figure = figures.deletion_curves(found.deletion, title="Do the features that are named matter?")
        meta = figure.layout.meta["left"]
        said = ", ".join(f"{explained.share(value)} ({method})" for method, value in meta.items())
        charts.show_figure(
            figure,
            found.deletion,
            f"{files}-deletion",
            "Each row’s features are taken away, first those ranked highest; the sooner the probability of its first "
            f"label falls, the better the ranking says what the model uses. Left in the end: {said}. Means over {rows} "
            "with 95 % intervals.",
            key="explain.deletion",
        )
    with right:
        if found.stability.empty:
            st.caption("No row could be explained under noise.")
        else:
            charts.show_figure(
                figures.stability_curves(found.stability),
                found.stability,
                f"{files}-stability",
                "How far the explanation of a row’s first label stays the same when its feature values get noise; σ is "
                f"given as a share of the mean size of a value. Means over {rows} with 95 % intervals.",
                key="explain.stability",
            )
    importance = explained.named(found.importance, view.data)
    if importance.empty:
        return
    charts.show_figure(
        figures.importance_bars(importance, 20, unit=view.unit, title="Features that decide most"),
        lambda: tables.csv_safe(importance),
        f"{files}-importance",
        f"Contributions to each row’s first label, over {rows}: bars are the mean of their sizes, diamonds the "
        f"mean with its sign. Showing {min(20, len(importance)):,} of {format.count(len(importance), 'feature')} that "
        "occur.",
        key="explain.importance",
    )


def _measure(view, fingerprint, name, key, asked):
    seconds = explained.seconds(view.run, asked[0])
    st.markdown(
        f"Over {asked[0]:,} of {format.count(view.data.n_test, 'test row')}, drawn at random: which features decide "
        "most, whether taking them away takes the prediction away, and whether explanations stay the same under noise."
    )
    running, failures = tasks.active("explanations", key=key), tasks.failed("explanations", key=key)
    tried = st.session_state.setdefault(workspace.EXPLAIN_ASKED, set())
    title = f"Explaining {view.title} on {name}"
    if not running and not failures and seconds <= AUTOMATIC and key not in tried:
        tried.add(key)
        tasks.measure_explanations(view.key, fingerprint, asked, title)
        running = tasks.active("explanations", key=key)
    if not running:
        st.button(
            f"Explain these rows (about {format.seconds(max(seconds, 1.0))})",
            key="explain.measure",
            on_click=tasks.measure_explanations,
            args=(view.key, fingerprint, asked, title),
        )
    tasks.watch(running)
    tasks.show_failures(failures)


main()
