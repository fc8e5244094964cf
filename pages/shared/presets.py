"""The choice between recommended, published and own settings, above the fields of a form."""

import streamlit as st

from pages.shared import format, settings
from pages.shared.workspaces import workspace
from xmlcore.parameters import AUTO, RECOMMENDED

OWN = "own"


def show(name: str, info, *, skip=()) -> None:
    """Show the choice, and say what differs from the recommended settings; nothing without published settings."""
    if not info.cls.PRESETS:
        return
    known = _known(info, skip)
    current = _current(name, info, known)
    own = _own(name) in workspace.get("forms")
    options = [*known, OWN] if own or current == OWN else list(known)
    # A menu, because a browser reports its choice once: it reports the state of other widgets again and again, also the
    # state before the fields were changed.
    st.menu_button(
        f"Settings: {_title(info, current)}",
        [option for option in options if option != current],
        format_func=lambda option: _title(info, option),
        key=_key(name),
        on_click=_choose,
        args=(name, info, tuple(skip)),
        width="stretch",
        help="Recommended: the defaults. Own: the fields as you last set them; changing a field leads there. The "
        "others are published settings. The seed and noise in training stay as they are.",
    )
    st.caption(format.plain(_about(name, info, known, current)))


def times_filled(name: str, parameter: str) -> int:
    """Return how often presets have filled the field of a parameter in this session: it is made anew each time."""
    return st.session_state.get(_filled(name), {}).get(parameter, 0)


def fill(name: str, values: dict, *, chosen: str | None = None) -> None:
    """Fill fields of a form: the session makes them anew with these values."""

    def change(data):
        data["forms"].setdefault(name, {}).update(values)
        if chosen is not None:
            data["widgets"][_key(name)] = chosen

    workspace.update(change)
    counts = st.session_state.get(_filled(name), {})
    st.session_state[_filled(name)] = counts | {parameter: counts.get(parameter, 0) + 1 for parameter in values}


def _filled(name):
    """Return the key under which the session counts how often each field was filled."""
    return f"form.{name}.filled"


def _key(name):
    return f"form.{name}.settings"


def _title(info, option):
    return info.cls.PRESETS[option].title if option in info.cls.PRESETS else option.capitalize()


def _own(name):
    """Return the name under which the user's own values of the form ``name`` are kept."""
    return f"{name} {OWN}"


def _known(info, skip):
    """Return the values of each preset, the recommended one included, for the parameters that the form has."""
    shown = {p.name for p in info.parameters} - set(skip)
    return {
        preset: {parameter: value for parameter, value in values.items() if parameter in shown}
        for preset, values in info.cls.presets().items()
    }


def _values(name, info, names):
    """Return what the form has for the parameters ``names``; "auto" for an empty field."""
    remembered = workspace.get("forms").get(name, {})
    shown = {p.name: remembered.get(p.name, p.default) for p in info.parameters if p.name in names}
    auto = {p.name for p in info.parameters if p.can_be_auto}
    return {key: AUTO if value is None and key in auto else value for key, value in shown.items()}


def _current(name, info, known):
    """Return the key of the preset whose values the form has, of several the one chosen last; "own" if none fits."""
    chosen = workspace.get("widgets").get(_key(name))
    values = _values(name, info, known[RECOMMENDED])
    fits = [preset for preset, wanted in known.items() if wanted == values]
    return chosen if chosen in fits else next(iter(fits), OWN)


def _about(name, info, known, current):
    """Return sentences on the settings: where they are from, and what differs from the recommended ones."""
    recommended, values = known[RECOMMENDED], _values(name, info, known[RECOMMENDED])
    differs = {parameter: value for parameter, value in values.items() if value != recommended[parameter]}
    words = f"Differs from recommended in: {settings.words(info.cls.__name__, differs)}." if differs else ""
    if current in info.cls.PRESETS:
        return f"{words or 'No field differs from recommended.'} {info.cls.PRESETS[current].source}"
    return words or "Recommended settings are the defaults."


def _choose(name, info, skip):
    """Fill the fields with the settings chosen in the menu; called when one is chosen."""
    chosen = st.session_state[_key(name)]
    known = _known(info, skip)
    values = _values(name, info, known[RECOMMENDED])
    own = _own(name)

    if values not in known.values():  # kept for later
        workspace.update(lambda data: data["forms"].__setitem__(own, values))
    filled = workspace.get("forms").get(own, {}) if chosen == OWN else known[chosen]
    fill(name, filled, chosen=chosen)
