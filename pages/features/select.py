"""The selection that the Features page shows, and the form that makes one: how many features, by which method."""

import functools

import streamlit as st

from pages.features.view import few_steps, plan
from pages.shared import cached, door, fields, first_results, format, forms, fragments, jobs, settings, tasks
from pages.shared.results import results, run_names
from pages.shared.workspaces import workspace
from xmlcore import experiment


class Selections(door.Runs):
    """A page about one of the selections on the data set in use."""

    def list(self, fingerprint) -> list:
        return results.kept("selections", fingerprint)

    def titles(self, fingerprint, records) -> dict:
        return run_names.selections(records)

    def is_open_without(self) -> bool:
        return False

    def begin(self, ready, page) -> None:
        data, fingerprint = ready.data, ready.fingerprint
        method = next(iter(experiment.SELECTORS))
        task, nothing = tasks.select_task(fingerprint, method, params=None), data.Y_train.nnz == 0
        runs = bool(jobs.active("select", fingerprint=fingerprint))
        st.markdown("Which features matter for which label, and which labels depend on the same?")
        runs = runs or first_results.comes(fingerprint, "select", method=method)
        if not runs:
            door.offer(f"Select features by {method}", task, "features.begin", nothing)
        controls_and_jobs(data, fingerprint, None, "Other methods and settings")

    def pick(self, ready, page) -> bool:
        chosen = workspace.get("widgets").get(f"{workspace.FEATURES_SELECTION} {ready.fingerprint}")
        named = [record for record in ready.records if record["key"] == chosen]
        ready.record = (named or ready.records)[0]
        ready.run = results.read(cached.selection, ready.record)
        return ready.run is not None

    def choose(self, ready, label, width) -> None:
        widget = workspace.FEATURES_SELECTION
        take = functools.partial(workspace.remember, f"{widget} {ready.fingerprint}")
        help = "All selections of this workspace on this data set, newest first. "
        help += run_names.footnote(ready.titles.values())
        if len(ready.records) > 1:
            fields.pick(label, ready.titles, widget, ready.key, take, help=help)

    def watch(self, ready) -> None:
        controls_and_jobs(ready.data, ready.fingerprint, None if ready.run is None else ready.key)


def controls_and_jobs(data, fingerprint, shown: str | None, title: str = "Select features") -> None:
    """Show running or failed selections, and the form, folded; ``shown`` is the key of the selection shown."""
    jobs.follow("select", fingerprint=fingerprint)
    with st.expander(title, icon=":material/filter_list:"):
        fragments.alone(_controls)(data, fingerprint, shown)


def _controls(data, fingerprint, shown):
    methods = experiment.SELECTORS
    method = fields.choice(
        "Method",
        list(methods),
        "features.method",
        help="  \n".join(f"**{m.title}**: {m.summary} {m.paper}." for m in (i.cls.ABOUT for i in methods.values())),
        format_func=lambda m: m if m == "FALS" else methods[m].cls.ABOUT.title,
    )
    info = methods[method]
    with st.container(border=True):
        # The button and what is said about it come first, so that they are in sight with every method.
        place = st.container()
        _n_features(data)
        forms.show(method, info, skip=("n_features",))
        with place:
            nothing = data.Y_train.nnz == 0
            task, problems = (None, []) if nothing else _task(data, fingerprint, method)
            running = task is not None and bool(jobs.active(key=task.key))
            pressed = forms.button(
                "Select",
                functools.partial(_task, data, fingerprint, method),
                "These settings were used before: the selection is from the cache.",
                type="primary" if shown else "secondary",
                key="features.select",
                disabled=nothing or running,
            )
            if nothing:
                st.warning(door.NOTHING_TO_LEARN)
            elif running:
                st.caption("This selection is being made.")
            elif forms.say("selection", task, problems, shown, pressed):
                planned = plan(fingerprint, method, task.params["params"])
                scoring = f", scores are {planned['scoring']}" if "scoring" in planned else ""
                takes = f"{format.size(planned['bytes'])} of memory{tasks.time_in_brackets(task, unknown=False)}"
                st.caption(f"Takes {takes}{scoring}. {few_steps(planned)}")


def _n_features(data):
    """Show the fields of how many features; without bounds, as a browser does not send a value out of bounds."""
    d = data.n_features
    left, right = st.columns(2, vertical_alignment="bottom")
    way = fields.choice(
        "Features per label",
        {"share": "A share", "count": "A number"},
        "features.way",
        "share",
        place=left,
        help="How many features each label keeps. Published results keep a tenth of all.",
    )
    if way == "share":
        kept = workspace.keep("features.share", 0.1, lambda v: isinstance(v, float))
        right.number_input("Share, k/D", step=0.05, format="%g", **kept)
    else:
        kept = workspace.keep(f"features.count {d}", max(1, round(0.1 * d)), lambda v: isinstance(v, int))
        right.number_input(f"Number, 1 to {d:,}", step=1, **kept)


def _task(data, fingerprint, method):
    params, d = forms.values(method, experiment.SELECTORS[method], skip=("n_features",)), data.n_features
    problems = forms.problems(experiment.SELECTORS[method], params)
    if st.session_state["features.way"] == "share":
        kept = float(st.session_state["features.share"])
        if not 0 < kept <= 1:
            problems.append(f"Share, k/D is {kept:g}, but must be above 0 and at most 1.")
    else:
        kept = int(st.session_state[f"features.count {d}"])
        if not 1 <= kept <= d:
            problems.append(f"The number of features is {kept:,}, but must be from 1 to {d:,}.")
    if method == "ChiSquared" and cached.has_negative_values(fingerprint):
        problems.append("Chi-squared needs values of at least 0, and this data set has negative values.")
    params["n_features"] = kept
    if not problems:
        try:
            plan(fingerprint, method, params)
        except (ValueError, TypeError) as error:
            problems = [settings.in_form(method, str(error))]
    return None if problems else tasks.select_task(fingerprint, method, params), problems
