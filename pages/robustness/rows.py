"""Test rows without and with noise or an attack, feature by feature."""

import numpy as np
import streamlit as st

from pages.robustness import details, noise
from pages.shared import format, jobs, server, tables
from pages.shared.figures import charts
from pages.shared.results import results
from pages.shared.view import look, now
from xmlcore import figures, robustness, store
from xmlcore.experiment.kinds.robustness import SURROGATE, surrogate
from xmlcore.models import ModelFormatError
from xmlcore.robustness.perturbations import KINDS, REFERENCE

ROWS_SHOWN = 3
FEATURES_SHOWN = 8  # features of each row


def rows(ready, compared, settings) -> None:
    """Show the first values of some test rows; ``compared`` has the results that are compared."""
    data = ready.data
    of = noise.called(settings.kind)
    first, level = _choose(data, settings)
    chosen = np.unique([first, *(np.arange(1, ROWS_SHOWN) + first) % data.n_test])
    X = data.X_test[chosen]
    try:
        drawn = _noisy(ready, compared, settings, level, chosen)
    except (ValueError, store.StoreError, OSError, ModelFormatError) as error:
        st.info(format.plain(str(error)))
        return
    if drawn is None:
        return
    noisy, attacked = drawn
    frame = _named(data, chosen, robustness.values_under_noise(X, noisy, FEATURES_SHOWN))
    if frame.empty:
        st.caption("These rows have no features.")
        return
    own, added = robustness.lengths(X, noisy)
    lengths = "; ".join(f"row {row:,} has {a:.3g}, what is added {b:.3g}" for row, a, b in zip(chosen, own, added))

    def all_values():
        every = robustness.values_under_noise(X, noisy, data.n_features, new=data.n_features)
        return _named(data, chosen, every)

    charts.show_figure(
        figures.noisy_features(frame, of, title=f"Feature values at {noise.level_text(settings.kind, level)}"),
        all_values,
        f"{format.file_name(ready.name)}-robustness-{settings.kind}-rows-{first}",
        f"For each row, the features of largest absolute value, and two features that are 0 without {of}, as in "
        f"Figure 6 of Date and Mehar (2025){attacked}. Lengths (L2 norms): {lengths}.",
        key="robustness.noisy",
    )


def _choose(data, settings):
    first = min(now().noisy or 0, data.n_test - 1)
    key = "robustness.row"
    left, middle, right = st.columns([2, 2, 1], vertical_alignment="bottom")
    with left:
        st.session_state[key] = first
        st.number_input(
            f"First of {format.count(min(ROWS_SHOWN, data.n_test), 'test row')}, 0 to {data.n_test - 1:,}",
            min_value=0,
            max_value=data.n_test - 1,
            key=key,
            on_change=lambda: look(noisy=st.session_state[key]),
        )
    with middle:
        level = details.choose_level("Level", "robustness.rows.level", settings)
    right.button(
        "Random rows",
        key=f"{key}.random",
        width="stretch",
        on_click=lambda: look(noisy=np.random.default_rng().integers(data.n_test)),
    )
    return first, level


def _noisy(ready, compared, settings, level, chosen):
    data, first = ready.data, compared[0]
    options, model, attacked, Y = dict(settings.options), None, "", None
    if KINDS[settings.kind].needs == REFERENCE:
        options[REFERENCE] = data.X_train
    if KINDS[settings.kind].is_attack:
        Y = data.Y_test[chosen]
        if settings.transferred:
            if not surrogate(data.fingerprint, results.K).exists():
                raise ValueError("The rows are here once the attack is measured.")
            model, attacked = server.model(settings.tree), f", attacked on {SURROGATE}"
        else:
            both = results.run_and_model(first)
            if both is None:
                jobs.watch(jobs.active("train", key=first["key"]))
                return None
            model, attacked = both[1], f", attacked on {format.plain(ready.titles[first['key']])}"
    perturbation = robustness.perturbation(settings.kind, level, **options)
    return perturbation.apply(data.X_test[chosen], rows=chosen, seed=0, model=model, Y=Y), attacked


def _named(data, chosen, frame):
    """Return changed values with the names of rows and features: ``row, row_name, feature, name, clean, noisy``."""
    names = tables.part(data, "test")[2]
    ids = chosen[frame["row"].to_numpy(np.int64)]
    frame = frame.assign(row=ids)
    texts = [f"Test row {row:,}" + (f": {names[row]}" if names is not None else "") for row in ids]
    frame.insert(1, "row_name", texts)
    frame.insert(3, "name", [data.feature_name(int(j)) for j in frame["feature"]])
    return frame
