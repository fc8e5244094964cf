"""Forms for the parameters of a model or a selection; each value is remembered as soon as it is typed.

Above the fields is the choice between recommended, published and own settings, where some are published.
"""

import streamlit as st

from pages.shared import actions, format, settings, tasks
from pages.shared.workspaces import workspace
from xmlcore.parameters import AUTO, RECOMMENDED

OWN = "own"


def key(name: str, parameter) -> str:
    filled = st.session_state.get(_filled(name), {}).get(parameter.name, 0)
    return f"form.{name}.{parameter.name}" + (f".{filled}" if filled else "")


def show(name: str, info, *, skip=()) -> None:
    """Show a choice of settings and widgets for all parameters; seldom changed ones are behind "More settings"."""
    if info.cls.PRESETS:
        _choice(name, info, skip)
    parameters = [p for p in info.parameters if p.name not in skip]
    _widgets(name, f"fields-{name}", [p for p in parameters if not p.advanced])
    if advanced := [p for p in parameters if p.advanced]:
        with st.expander("More settings"):
            _widgets(name, f"fields-more-{name}", advanced)


def values(name: str, info, *, skip=()) -> dict:
    """Return the values of the widgets of :func:`show`, whether they are allowed or not; "auto" for an empty field."""
    # A widget of which the session knows nothing has its remembered value: a button may be pressed before a run of the
    # page that was cut short has drawn all widgets.
    typed, own = _remembered(name, info, skip), {p.name: key(name, p) for p in info.parameters}
    auto = {p.name for p in info.parameters if p.can_be_auto}
    typed = {parameter: st.session_state.get(own[parameter], value) for parameter, value in typed.items()}
    return {parameter: AUTO if value is None and parameter in auto else value for parameter, value in typed.items()}


def problems(info, params: dict) -> list[str]:
    """Return sentences that say why a model cannot be trained with these parameters; empty when it can."""
    sentences = (settings.problem(p, params[p.name]) for p in info.parameters if p.name in params)
    return [problem for problem in sentences if problem]


def button(label: str, make, said: str, **look) -> bool:
    """Show the button that starts the task of ``make()``, which returns it and problems; ``said`` if it is kept."""

    def start():
        task, problems = make()
        if not problems and tasks.start(task):  # else the message stands below the button
            workspace.notify(said)

    return actions.button(label, on_click=start, width="stretch", **look)


def say(noun: str, task, problems: list, shown: str | None, pressed: bool) -> bool:
    """Say what keeps a task from starting, or that its result is kept or ``shown``; return whether it can start."""
    if problems:
        intro = f"**The {noun} was not started.** " if pressed else ""
        st.error(intro + "  \n".join(map(format.plain, problems)))
    elif task.exists():
        what = "this is the result shown" if task.key == shown else "the result is shown at once"
        st.caption(f"Done already: {what}.")
    return not (problems or task.exists())


def fill(name: str, filled: dict, *, chosen: str | None = None) -> None:
    """Fill fields of a form: the session makes them anew with these values."""

    def change(data):
        data["forms"].setdefault(name, {}).update(filled)
        if chosen is not None:
            data["widgets"][_menu(name)] = chosen

    workspace.update(change)
    counts = st.session_state.get(_filled(name), {})  # a field with a new key has the new value
    st.session_state[_filled(name)] = counts | {parameter: counts.get(parameter, 0) + 1 for parameter in filled}


def _filled(name) -> str:
    """Return the key under which the session counts how often each field was filled."""
    return f"form.{name}.filled"


def _menu(name) -> str:
    return f"form.{name}.settings"


def _remembered(name, info, skip) -> dict:
    """Return the remembered value of each parameter of a form; "auto" for an empty field."""
    typed = workspace.get("forms").get(name, {})
    shown = {p: typed.get(p.name, p.default) for p in info.parameters if p.name not in skip}
    return {p.name: AUTO if value is None and p.can_be_auto else value for p, value in shown.items()}


def _widgets(name, place, parameters) -> None:
    remembered = workspace.get("forms").get(name, {})
    with st.container(key=place):  # in as many columns as have room: see pages/shared/style.css
        for parameter in parameters:
            _widget(name, parameter, remembered)


def _widget(name, parameter, remembered) -> None:
    widget_key, label = key(name, parameter), parameter.label
    value = remembered.get(parameter.name, parameter.default)
    settings_of = {"key": widget_key, "help": parameter.form_help}
    settings_of |= {"on_change": _remember, "args": (name, parameter, widget_key)}
    if parameter.kind == "choice":
        options = [*parameter.options, *([None] if parameter.optional else [])]
        value = workspace.first_value(widget_key, value, parameter.default, options.__contains__)
        st.selectbox(label, options, index=options.index(value), format_func=parameter.named, **settings_of)
    elif parameter.kind == "bool":
        value = workspace.first_value(widget_key, value, parameter.default, lambda v: isinstance(v, bool))
        st.toggle(label, value=value, **settings_of)
    else:
        _number(parameter, value, settings_of)


def _remember(name, parameter, widget_key):
    if widget_key == key(name, parameter):
        typed = {parameter.name: st.session_state[widget_key]}
        workspace.update(lambda data: data["forms"].setdefault(name, {}).update(typed))


def _number(parameter, value, settings_of):
    # The field has no bounds of its own: a browser does not send a number that is out of bounds, so the button would
    # use the number that was there before. The page checks the bounds instead.
    kind = int if parameter.kind == "int" else float
    allowed = settings.limits(parameter)
    value, default = (None if v == AUTO else v for v in (value, parameter.default))
    value = workspace.first_value(settings_of["key"], value, default, lambda v: settings.is_number(parameter, v))
    settings_of["help"] = parameter.help + (f" Allowed: {allowed}." if allowed else "")
    st.number_input(
        parameter.label,
        value=None if value is None else kind(value),
        step=kind(parameter.step) if parameter.step else (1 if kind is int else None),
        format="%d" if kind is int else "%g",
        placeholder=parameter.empty if parameter.optional or parameter.can_be_auto else "a number is needed",
        **settings_of,
    )


def _choice(name, info, skip) -> None:
    """Show the choice between settings, and say what differs from the recommended ones."""
    known, remembered = _published(info, skip), _own_values(name, info, skip)
    fits = [preset for preset, wanted in known.items() if wanted == remembered]
    chosen = workspace.get("widgets").get(_menu(name))  # of several that fit, the one chosen last
    current = chosen if chosen in fits else next(iter(fits), OWN)
    options = [*known, *([OWN] if current == OWN or _own(name) in workspace.get("forms") else [])]
    titles = {option: option.capitalize() for option in (*options, OWN)}
    titles |= {option: preset.title for option, preset in info.cls.PRESETS.items()}
    # A menu, because a browser reports its choice once: it reports the state of other widgets again and again, also the
    # state before the fields were changed.
    st.menu_button(
        f"Settings: {titles[current]}",
        [option for option in options if option != current],
        format_func=titles.get,
        key=_menu(name),
        on_click=_choose,
        args=(name, info, tuple(skip)),
        width="stretch",
        help="Recommended: the defaults. Own: the fields as you last set them; changing a field leads there. The "
        "others are published settings. The seed and noise in training stay as they are.",
    )
    differs = {parameter: value for parameter, value in remembered.items() if value != known[RECOMMENDED][parameter]}
    st.caption(format.plain(_about(info, current, differs)))


def _about(info, current, differs) -> str:
    """Return sentences on settings: what differs from the recommended ones, and where published ones are from."""
    words = f"Differs from recommended in: {settings.words(info.cls.__name__, differs)}." if differs else ""
    if current in info.cls.PRESETS:
        return f"{words or 'No field differs from recommended.'} {info.cls.PRESETS[current].source}"
    return words or "Recommended settings are the defaults."


def _own(name) -> str:
    """Return the name under which the user's own values of the form ``name`` are kept."""
    return f"{name} {OWN}"


def _published(info, skip) -> dict:
    """Return the values of each preset, the recommended one included, for the parameters that the form has."""
    shown = {p.name for p in info.parameters} - set(skip)
    return {
        preset: {parameter: value for parameter, value in filled.items() if parameter in shown}
        for preset, filled in info.cls.presets().items()
    }


def _own_values(name, info, skip) -> dict:
    known = _published(info, skip)[RECOMMENDED]
    return {parameter: value for parameter, value in _remembered(name, info, skip).items() if parameter in known}


def _choose(name, info, skip):
    """Fill the fields with the settings chosen in the menu; called when one is chosen."""
    chosen, known, remembered = st.session_state[_menu(name)], _published(info, skip), _own_values(name, info, skip)
    if remembered not in known.values():  # kept for later
        workspace.update(lambda data: data["forms"].__setitem__(_own(name), remembered))
    fill(name, workspace.get("forms").get(_own(name), {}) if chosen == OWN else known[chosen], chosen=chosen)
