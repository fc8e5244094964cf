"""The controls of the Train page: the result shown, a model, its parameters, and the button that trains it."""

from functools import partial

import streamlit as st

from pages.shared import cached, door, fields, format, forms, jobs, sections, settings, tasks
from pages.shared.results import results
from pages.shared.workspaces import workspace
from pages.train import trying
from xmlcore import experiment

NEXT = "train.model"  # in the workspace's "widgets": the model chosen last
MUCH = 100 << 20  # bytes of memory from which on a training's are said
_DRAWN = "train.drawn"  # key of the session's state: the model that was chosen when this was drawn last


def choose(ready) -> None:
    """Show a choice of the run shown; the model to train next becomes its model."""
    models = {r["key"]: r["model"] for r in ready.records}
    ready.kind.select(ready, "Result shown", fields.QUARTER, lambda key: workspace.remember(NEXT, models[key]))


def next_model(shown: dict | None) -> str:
    wanted = [workspace.get("widgets").get(NEXT), shown and shown["model"], *experiment.MODELS]
    return next(model for model in wanted if isinstance(model, str) and model in experiment.MODELS)


def show(data, fingerprint, shown) -> None:
    models, shown_key = experiment.MODELS, shown["key"] if shown else None
    help = "  \n".join(f"**{name}**: {info.cls.ABOUT.title}" for name, info in models.items())
    take = partial(workspace.remember, NEXT)
    model = fields.pick("Model to train", dict(zip(models, models)), NEXT, next_model(shown), take, help=help)
    info = experiment.MODELS[model]
    buttons, place = st.container(horizontal=True, vertical_alignment="center"), st.container()
    button = buttons.container()
    # Low enough to open below the button, which stays in sight.
    with buttons.popover("Settings", width="content"), st.container(height=320, border=False):
        forms.show(model, info)
        st.caption(format.plain(f"{info.cls.ABOUT.summary} {info.cls.ABOUT.paper}."))
    nothing_to_learn = data.Y_train.nnz == 0
    task, problems = (None, []) if nothing_to_learn else _task(fingerprint, model)
    is_kept = task is not None and task.exists()
    asked = [r["id"] for r in workspace.get("jobs") if task and r["key"] == task.key and not jobs.is_unasked(r)]
    with button:
        pressed = forms.button(
            "Show the result" if is_kept and task.key != shown_key else "Train",
            partial(_task, fingerprint, model),
            "Trained already: this is the result.",
            type="secondary" if is_kept else "primary",
            key=f"train.{model}.submit",
            disabled=nothing_to_learn or not is_kept and any(map(jobs.goes_on, asked)),  # its progress is below
        )
    with place:
        if nothing_to_learn:
            st.warning(door.NOTHING_TO_LEARN)
        elif forms.say("training", task, problems, shown_key, pressed):
            if not jobs.active("train", fingerprint=fingerprint):  # while one runs, its own time left is enough
                estimate = cached.estimated(task)
                took = [] if estimate is None or estimate.seconds is None else [tasks.takes(estimate.seconds)]
                if estimate is not None and estimate.bytes > MUCH:
                    took.append(f"about {format.size(estimate.bytes)} of memory")
                st.caption(f"Takes {' and '.join(took)}." if took else "")
    drawn, to = st.session_state.get(_DRAWN), ("train", trying.TRIED)
    st.session_state[_DRAWN] = model
    if not nothing_to_learn:
        go_to = sections.go_to
        if st.button(
            "Try several settings", "try.open", type="tertiary", icon=":material/tune:", on_click=go_to, args=to
        ):
            st.rerun()  # the whole page, with its sections
    if drawn not in (None, model) and sections.is_asked(*to):
        st.rerun()  # the section has the form of another model


def _task(fingerprint, model):
    params = forms.values(model, experiment.MODELS[model])
    problems = forms.problems(experiment.MODELS[model], params)
    if params.get("negative") == "refuse" and cached.has_negative_values(fingerprint):
        problems.append(settings.needs_amounts(model))
    return None if problems else tasks.train_task(fingerprint, model, params, results.K), problems
