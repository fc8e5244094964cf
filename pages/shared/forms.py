"""Forms for a model's or a selection's parameters, remembered as they are typed."""

import streamlit as st

from pages.shared import settings, workspace


def key(name: str, parameter) -> str:
    """Key of the widget for a parameter of the form ``name``."""
    return f"form.{name}.{parameter.name}"


def show(name: str, info, *, skip=()) -> None:
    """Widgets for all parameters, seldom used ones folded away.

    Parameters
    ----------
    name : str
        Of the form: what is typed is remembered under it.
    info : ModelInfo
    skip : sequence of str
        Parameters that have widgets of their own.
    """
    remembered = workspace.get("forms").get(name, {})
    parameters = [p for p in info.parameters if p.name not in skip]
    for parameter in (p for p in parameters if not p.advanced):
        widget(name, parameter, remembered)
    advanced = [p for p in parameters if p.advanced]
    if advanced:
        with st.expander("More settings"):
            for parameter in advanced:
                widget(name, parameter, remembered)


def values(name: str, info, *, skip=()) -> dict:
    """What the widgets of :func:`show` hold, allowed or not."""
    return {p.name: st.session_state[key(name, p)] for p in info.parameters if p.name not in skip}


def problems(info, params: dict) -> list[str]:
    """Why a model cannot be trained with these, in sentences."""
    said = (settings.problem(p, params[p.name]) for p in info.parameters if p.name in params)
    return [problem for problem in said if problem]


def widget(name: str, parameter, remembered: dict) -> None:
    """A widget for a parameter, remembered as it changes."""
    own = key(name, parameter)
    value = remembered.get(parameter.name, parameter.default)
    label, help = parameter.label, parameter.help
    changes = {"on_change": _remember, "args": (name, parameter)}
    if parameter.kind == "choice":
        options = list(parameter.options)
        value = workspace.first_value(own, value, parameter.default, options.__contains__)
        st.selectbox(label, options, index=options.index(value), key=own, help=help, **changes)
    elif parameter.kind == "bool":
        value = workspace.first_value(own, value, parameter.default, lambda v: isinstance(v, bool))
        st.toggle(label, value=value, key=own, help=help, **changes)
    else:
        _number(own, parameter, value, changes)


def _remember(name, parameter):
    workspace.remember_setting(name, parameter.name, st.session_state[key(name, parameter)])


def _number(own, parameter, value, changes):
    """A field without bounds: a browser keeps a number out of bounds to itself, and Train would use the one before."""
    kind = int if parameter.kind == "int" else float
    allowed = settings.limits(parameter)
    value = workspace.first_value(own, value, parameter.default, lambda v: settings.is_number(parameter, v))
    st.number_input(
        parameter.label,
        value=None if value is None else kind(value),
        step=kind(parameter.step) if parameter.step else (1 if kind is int else None),
        format="%d" if kind is int else "%g",
        key=own,
        help=parameter.help + (f" Allowed: {allowed}." if allowed else ""),
        placeholder=parameter.empty if parameter.optional else "a number is needed",
        **changes,
    )
