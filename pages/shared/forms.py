"""Forms for the parameters of a model or a selection; each value is remembered as soon as it is typed."""

import streamlit as st

from pages.shared import presets, settings
from pages.shared.workspaces import workspace
from xmlcore.parameters import AUTO


def key(name: str, parameter) -> str:
    filled = presets.times_filled(name, parameter.name)  # with a new key, a field that was filled has the new value
    return f"form.{name}.{parameter.name}" + (f".{filled}" if filled else "")


def show(name: str, info, *, skip=()) -> None:
    """Show a choice of settings and widgets for all parameters; seldom changed ones are behind "More settings"."""
    presets.show(name, info, skip=skip)
    remembered = workspace.get("forms").get(name, {})
    parameters = [p for p in info.parameters if p.name not in skip]
    with st.container(key=f"fields-{name}"):  # in as many columns as have room: see pages/shared/frame.py
        for parameter in (p for p in parameters if not p.advanced):
            widget(name, parameter, remembered)
    advanced = [p for p in parameters if p.advanced]
    if advanced:
        with st.expander("More settings"), st.container(key=f"fields-more-{name}"):
            for parameter in advanced:
                widget(name, parameter, remembered)


def values(name: str, info, *, skip=()) -> dict:
    """Return the values of the widgets of :func:`show`, whether they are allowed or not; "auto" for an empty field."""
    # A widget of which the session knows nothing has its remembered value: a button may be pressed before a run of the
    # page that was cut short has drawn all widgets.
    remembered = workspace.get("forms").get(name, {})
    typed = {}
    for p in (parameter for parameter in info.parameters if parameter.name not in skip):
        first = remembered.get(p.name, p.default)
        typed[p.name] = st.session_state.get(key(name, p), None if p.can_be_auto and first == AUTO else first)
    auto = {p.name for p in info.parameters if p.can_be_auto}
    return {name: AUTO if name in auto and value is None else value for name, value in typed.items()}


def problems(info, params: dict) -> list[str]:
    """Return sentences that say why a model cannot be trained with these parameters; empty when it can."""
    sentences = (settings.problem(p, params[p.name]) for p in info.parameters if p.name in params)
    return [problem for problem in sentences if problem]


def widget(name: str, parameter, remembered: dict) -> None:
    widget_key = key(name, parameter)
    value = remembered.get(parameter.name, parameter.default)
    label, help = parameter.label, parameter.form_help
    changes = {"on_change": _remember, "args": (name, parameter, widget_key)}
    if parameter.kind == "choice":
        options = [*parameter.options, *([None] if parameter.optional else [])]
        value = workspace.first_value(widget_key, value, parameter.default, options.__contains__)
        index, names = options.index(value), parameter.named
        st.selectbox(label, options, index=index, format_func=names, key=widget_key, help=help, **changes)
    elif parameter.kind == "bool":
        value = workspace.first_value(widget_key, value, parameter.default, lambda v: isinstance(v, bool))
        st.toggle(label, value=value, key=widget_key, help=help, **changes)
    else:
        _number(widget_key, parameter, value, changes)


def _remember(name, parameter, widget_key):
    if widget_key == key(name, parameter):
        workspace.remember_setting(name, parameter.name, st.session_state[widget_key])


def _number(widget_key, parameter, value, changes):
    # The field has no bounds of its own: a browser does not send a number that is out of bounds, so the button would
    # use the number that was there before. The page checks the bounds instead.
    kind = int if parameter.kind == "int" else float
    allowed = settings.limits(parameter)
    value, default = (None if v == AUTO else v for v in (value, parameter.default))
    value = workspace.first_value(widget_key, value, default, lambda v: settings.is_number(parameter, v))
    st.number_input(
        parameter.label,
        value=None if value is None else kind(value),
        step=kind(parameter.step) if parameter.step else (1 if kind is int else None),
        format="%d" if kind is int else "%g",
        key=widget_key,
        help=parameter.help + (f" Allowed: {allowed}." if allowed else ""),
        placeholder=parameter.empty if parameter.optional or parameter.can_be_auto else "a number is needed",
        **changes,
    )
