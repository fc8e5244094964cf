"""Train: how well does a model predict this data set's labels?"""

import numpy as np
import pandas as pd
import streamlit as st

from pages.shared import (
    charts,
    format,
    forms,
    predictions,
    results,
    selectors,
    server,
    settings,
    tables,
    tasks,
    workspace,
)
from xmlcore import experiment, figures, store

K = 5
OF_TREES = ("PLT", "LdSM")
SHOWN_KS = (1, 3, 5)
SHOWN_MEASURES = ("P@k", "nDCG@k", "PSP@k")
MEANING = {
    "P@k": "share of the k predicted labels that are right",
    "nDCG@k": "the same, but the first places count more",
    "PSP@k": "P@k with rare labels counting more, in percent of the best possible",
}


def main() -> None:
    st.title("Train")
    fingerprint = workspace.get("dataset")
    if fingerprint is None:
        _no_data()
        return
    data = server.dataset(fingerprint)
    name = workspace.get("known").get(fingerprint, {}).get("name", data.name)
    past = results.kept("runs", fingerprint)[::-1]
    shown = _shown(fingerprint, past)
    run = server.run(shown["key"]) if shown else None
    _sentence(data, name, run)
    answer, controls = st.columns([2, 1], gap="large")
    with answer:
        if run is None:
            _how_to_begin()
        else:
            _answer(run, shown, past)
            _figure(run, f"{format.file_name(name)}-{run.model}-{shown['key'][:6]}")
    with controls:
        # A fragment: what is typed is taken in without drawing the results again.
        st.fragment(_controls)(data, fingerprint, name, shown["key"] if shown else None, _mark())
        # Here, not above the results: next to the button on a narrow page too, and nothing jumps.
        tasks.watch(tasks.active("train", fingerprint=fingerprint)[::-1])  # the newest next to it
        tasks.show_failures(tasks.failed("train", fingerprint=fingerprint))
    if run is not None:
        st.fragment(_predictions)(data, run, shown["key"], format.file_name(name))
        _past(past, shown)


def _no_data():
    running = tasks.active("prepare")
    if running:
        st.markdown("The data set is being made ready. Training can begin in a moment.")
        tasks.watch(running)
    else:
        st.markdown("There is no data set in use, so there is nothing to train on.")
        st.page_link("pages/data/page.py", label="Choose or upload one on the Data page", icon=":material/table_rows:")


def _shown(fingerprint, past):
    key = workspace.get("shown").get(fingerprint)
    return next((r for r in past if r["key"] == key), past[-1] if past else None)


# --- the answer ---


def _value(measures, measure, k) -> float:
    value = measures.loc[(measures["measure"] == measure) & (measures["k"] == k), "value"]
    return float(value.iloc[0]) if len(value) else float("nan")


def _percent(value) -> str:
    return f"{100 * value:.2f}" if np.isfinite(value) else "–"


def _sentence(data, name, run):
    if run is None:
        st.markdown(
            f"No model has been trained on **{format.plain(name)}** in this workspace yet. "
            f"Choose one and press Train: {format.count(data.n_train, 'row')} to learn from, {data.n_test:,} to "
            "test on."
        )
        return
    st.markdown(
        f"On **{format.plain(name)}**, **{format.plain(run.model)}** puts a right label first for "
        f"**{_percent(_value(run.measures, 'P@k', 1))} %** of the {format.count(data.n_test, 'test row')} (P@1)."
    )


def _how_to_begin():
    if tasks.active("train"):
        st.caption("The result appears here when the training is done. You can look at other pages meanwhile.")
        return
    st.info("Keep the settings as they are for a first result, and press Train. It takes seconds to minutes.")


def _answer(run, shown, past):
    if len(past) > 1:
        by_key = {r["key"]: r for r in reversed(past)}
        st.session_state[workspace.SHOWN_RUN] = shown["key"]
        st.selectbox(
            "Result shown",
            list(by_key),
            format_func=lambda key: _title(by_key[key]),
            key=workspace.SHOWN_RUN,
            on_change=_reopen,
            args=(run.fingerprint,),
            help="All results of this workspace on this data set.",
        )
    measures = [m for m in SHOWN_MEASURES if (run.measures["measure"] == m).any()]
    lines = ["| % | " + " | ".join(f"k = {k}" for k in SHOWN_KS) + " |", "|:--|" + "--:|" * len(SHOWN_KS)]
    for measure in measures:
        values = " | ".join(_percent(_value(run.measures, measure, k)) for k in SHOWN_KS)
        lines.append(f"| **{measure}** | {values} |")
    table, meaning = st.columns(2, vertical_alignment="center")
    table.markdown("\n".join(lines))
    meaning.caption("  \n".join(f"**{m}**: {MEANING[m]}." for m in measures))
    times, size = run.times, run.size
    cards = [
        ("Training", format.duration(times["fit_s"]), _compile_help(times)),
        (
            "Prediction",
            f"{format.duration(times['predict_ms_per_row'] / 1000)}/row",
            "Mean over all test rows, k labels each.",
        ),
        ("Model", format.size(size["model_bytes"]), f"In memory; {size['n_weights']:,} weights that are not zero."),
    ]
    if run.model in OF_TREES:
        said = f"Over all trees; the deepest is {size['depth']} levels deep."
        cards.append(("Tree nodes", f"{size['n_nodes']:,}", said))
    tables.cards(cards)
    with st.container(horizontal=True):
        if run.model == "LdSM":
            st.page_link("pages/trees/page.py", label="Look at the trees", icon=":material/account_tree:")
        if run.model == "DoubleSampling":
            st.page_link("pages/sampling/page.py", label="What was sampled", icon=":material/filter_alt:")
        st.page_link("pages/explain/page.py", label="Why these labels", icon=":material/search_insights:")
        st.page_link("pages/robustness/page.py", label="Under noise", icon=":material/ssid_chart:")
    for warning in dict.fromkeys(run.warnings):
        st.warning(format.plain(settings.in_form(run.model, warning)))
    cached = shown["key"] in st.session_state.get(workspace.FROM_CACHE, ())
    st.caption(
        ("From the cache, trained at " if cached else "Trained at ")
        + f"{format.when(run.created)} with {format.plain(_settings(run.model, run.params))}."
    )


def _compile_help(times):
    compiled = times.get("compile_s") or 0.0
    extra = f" Compiling kernels, {format.duration(compiled)}, is not counted." if compiled > 0.05 else ""
    return f"On this machine, in one worker process.{extra}"


def _reopen(fingerprint):
    key = st.session_state[workspace.SHOWN_RUN]
    workspace.update(lambda data: data["shown"].__setitem__(fingerprint, key))


def _title(record) -> str:
    settings = _settings(record["model"], record["params"])
    return f"{record['model']}, {settings} ({format.when(record['created'])})"


def _settings(model, params) -> str:
    """What differs from the defaults, in words."""
    return settings.changed(model, params) or "default settings"


def _figure(run, name):
    charts.show_figure(
        figures.measures_at_k(run.measures),
        run.measures,
        f"{name}-measures",
        "Each line is a measure over the test rows as more labels per row are predicted; higher is better. "
        "P@k usually falls with k: a row has only so many labels. R@k and PSnDCG@k appear when clicked in the legend.",
    )


# --- the controls ---


def _mark():
    """What the page around the controls was drawn from."""
    return [record["id"] for record in workspace.get("jobs")], workspace.get("shown"), workspace.has_notice()


def _controls(data, fingerprint, name, shown, mark):
    if _mark() != mark:
        st.rerun()  # Train was pressed: the page has a job or a result to show
    models = experiment.MODELS
    model = st.selectbox(
        "Model",
        list(models),
        format_func=lambda m: f"{m}: {models[m].title}" if models[m].title != m else m,
        **workspace.keep("train.model", next(iter(models)), options=list(models)),
    )
    info = models[model]
    st.caption(format.plain(f"{info.summary} {info.paper}."))
    with st.container(border=True):
        forms.show(model, info)
        nothing_to_learn = data.Y_train.nnz == 0
        pressed = st.button(
            "Train",
            type="primary",
            width="stretch",
            key=f"train.{model}.submit",
            on_click=_train,
            args=(fingerprint, name, model),
            disabled=nothing_to_learn,
        )
        # Below the button: what comes and goes must not move it away under the pointer.
        if nothing_to_learn:
            st.warning("No training row has a label, so there is nothing to learn. Choose another data set.")
        else:
            _say_what_train_does(fingerprint, model, shown, pressed)


def _say_what_train_does(fingerprint, model, shown, pressed):
    params = _params(model)
    problems = _problems(model, params)
    if problems:
        intro = "**The training was not started.** " if pressed else ""
        st.error(intro + "  \n".join(format.plain(problem) for problem in problems))
        return
    key = experiment.run_key(fingerprint, model, params, K)
    if key == shown:
        st.caption("Trained already: this is the result shown.")
    elif store.exists("runs", key):
        st.caption("Trained already: opens at once.")


def _params(model):
    return forms.values(model, experiment.MODELS[model])


def _problems(model, params):
    return forms.problems(experiment.MODELS[model], params)


def _train(fingerprint, name, model):
    """Runs before the page does, so that no other event can cut it short."""
    params = _params(model)
    if _problems(model, params):
        return  # said below the button
    if tasks.train(fingerprint, name, model, params, K):
        key = experiment.run_key(fingerprint, model, params, K)
        st.session_state[workspace.FROM_CACHE] = {*st.session_state.get(workspace.FROM_CACHE, ()), key}
        workspace.notify("These settings were trained before: the result is from the cache.")


# --- single predictions ---


def _predictions(data, run, key, name):
    st.header("Single predictions")
    row = selectors.choose_test_row(data, run, f"run {key}", workspace.ROW_NUMBER)
    left, right = st.columns([3, 2], gap="large")
    with left:
        predictions.show(data, run, row, K, key="train.predicted")
    with right:
        frame = tables.features(data, data.X_test, row)
        if frame.empty:
            st.caption("This row has no features: every such row gets the same prediction.")
        else:
            tables.show_features(frame, key="train.features", most=260)
    frame = predictions.all_rows
    charts.csv_button(
        "All predictions, CSV",
        lambda: frame(data, run.ranking, K),
        f"{name}-{run.model}-{key[:6]}-predictions",
        f"Row, rank, label, name, score and whether it is right, of {format.count(data.n_test, 'test row')}",
    )


# --- earlier runs ---


def _past(past, shown):
    if len(past) < 2:
        return
    st.header("Results on this data set")
    lines = []
    for record in reversed(past):
        measures, times = server.measures(record["key"])
        line = {"shown": "shown" if record["key"] == shown["key"] else "", "model": record["model"]}
        line["settings"] = _settings(record["model"], record["params"])
        line |= {f"{m[:-1]}{k}": 100 * _value(measures, m, k) for m in SHOWN_MEASURES for k in SHOWN_KS}
        line |= {"training s": format.in_seconds(times["fit_s"]), "trained": format.when(record["created"])}
        lines.append(line)
    frame = pd.DataFrame(lines)
    numbers = [c for c in frame.columns if "@" in c]
    st.dataframe(
        frame,
        hide_index=True,
        key="train.past",
        column_config={
            "shown": st.column_config.TextColumn("Shown", width=60),
            "model": "Model",
            "settings": st.column_config.TextColumn("Settings", help="Those that differ from the defaults.", width=200),
            "training s": st.column_config.NumberColumn("Training, s", format="%g"),
            "trained": "Trained",
            **{c: st.column_config.NumberColumn(c, format="%.2f") for c in numbers},
        },
    )
    st.caption("Measures in percent. Open one with “Result shown” above.")


main()
