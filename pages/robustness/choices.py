"""The results that are compared, the noise or attack, its levels, and their names."""

import functools
from dataclasses import dataclass, replace

import streamlit as st

from pages.shared import cached, fields, format, jobs, tasks
from pages.shared.process import room
from pages.shared.results import results, run_names
from pages.shared.workspaces import workspace
from xmlcore import experiment, robustness
from xmlcore.experiment.kept_runs import noisy_counterparts
from xmlcore.experiment.kinds.robustness import has_gradient, has_needed, surrogate
from xmlcore.robustness.perturbations import CERTIFICATE, KINDS, NORMS

MOST_REPEATS = 50
FOLDER = "robustness"  # of measurements in the store
FIRST_RUNS = 4  # most runs that are compared at first, before the user chooses
# Numbers of test rows, from which the first value is chosen when measuring all rows would take long.
SAMPLES = (5000, 2000, 1000, 500, 200, 100)


@dataclass(frozen=True)
class NoiseSettings:
    """The noise or attack, its levels, the number of repeats and the number of test rows."""

    kind: str
    levels: list[float]
    options: dict
    n_repeats: int
    n_rows: int
    n_test: int
    labelled: bool = True  # whether a test row has a label
    transferred: bool = False  # attacks are computed on one label tree for all models, not on each model itself
    tree: str = ""  # key of this tree as a run

    def task(self, record: dict, time_each_k: bool = False):
        params = {"kind": self.kind, "levels": self.levels, "options": self.options, "n_repeats": self.n_repeats}
        n_rows = None if self.n_rows >= self.n_test else self.n_rows
        # The attack on a model without a gradient is transferred in any case: that result has one key.
        transferred = self.transferred and has_gradient(record["model"])
        params |= {"seed": 0, "n_rows": n_rows, "transferred": transferred, "time_each_k": time_each_k}
        return experiment.task("robustness", {"run": record["key"]}, params)

    def alike(self, runs: list) -> list:
        """Return the records of the runs that these settings treat alike, so that they can be compared."""
        if self.changes_rows and not self.labelled:
            return []
        if self.transferred:
            return [r for r in runs if r["key"] != self.tree]
        return [r for r in runs if has_needed(self.kind, r)]

    def apart(self, runs: list, titles: dict) -> str:
        """Return a sentence that names the runs that are not compared, and why; empty if all are compared."""
        if not runs:
            return "Choose at least one result to see how it holds up under noise."
        compared = self.alike(runs)
        others = [format.bold(titles[r["key"]]) for r in runs if r not in compared]
        if not others or self.changes_rows and not self.labelled:
            return ""
        why = f"no gradient; let the attack be computed on {GRADIENTS['tree']}"
        if self.transferred:
            why = "the label tree that the attack is computed on"
        elif not self.changes_rows:
            why = "certificates are of a PLT of one tree with exact search and rows of length 1"
        return f"Not compared: {format.listed(others)} ({why})."

    @property
    def changes_rows(self) -> bool:
        """Whether rows are changed, and not only what is certified of them as they are."""
        return KINDS[self.kind].needs != CERTIFICATE

    @property
    def rows_text(self) -> str:
        if self.n_rows >= self.n_test:
            return "the one test row" if self.n_test == 1 else f"all {self.n_test:,} test rows"
        return f"{self.n_rows:,} of {format.count(self.n_test, 'test row')}, drawn at random"


def choose_runs(ready) -> list:
    """Return the records of the runs that are compared; a damaged one is being made again, and left out."""
    by_key = {r["key"]: r for r in ready.records}
    picked = fields.pick(
        "Results compared",
        {key: ready.titles[key] for key in by_key},
        "robustness.runs",
        [r["key"] for r in _first_runs(ready.fingerprint, ready.records)],
        functools.partial(remember_runs, ready.fingerprint),
        widget="multiselect",
        placeholder="Choose results of the Train page",
        help="All results of this workspace on this data set, newest first. "
        + run_names.footnote(ready.titles.values()),
    )
    return [by_key[key] for key in picked if results.run(by_key[key]) is not None]


def _first_runs(fingerprint, past) -> list:
    """Return the runs chosen last; at first the Train page's, and the newest of each model, the user's own before."""
    by_key = {r["key"]: r for r in past}
    remembered = _remembered_runs(fingerprint)
    if remembered is not None:
        return [by_key[key] for key in remembered if key in by_key]
    shown = by_key.get(workspace.get("shown").get(fingerprint))
    first = {}
    for r in ([shown] if shown else []) + sorted(past, key=jobs.is_unasked):
        first.setdefault(run_names.style_model(r), r)
    newest = next(iter(first.values()))
    for plain, noisy in noisy_counterparts(past):
        if newest["key"] in (plain["key"], noisy["key"]):  # its own counterpart comes before runs that are newer
            counterpart = noisy if newest["key"] == plain["key"] else plain
            first[run_names.style_model(counterpart)] = counterpart
            break
    return list(first.values())[:FIRST_RUNS]


def notes(ready, comparison, settings) -> tuple[str, ...]:
    """Return which results are not measured, not compared, or get only a part of the noise; or empty texts."""
    dropping = [r for r in comparison.compared if experiment.MODELS[r["model"]].cls.NEGATIVE_AS_ZERO]
    milder = ""
    if dropping and KINDS[settings.kind].makes_negative:
        names = format.listed([format.bold(ready.titles[r["key"]]) for r in dropping])
        milder = f"Values that the noise makes negative count as 0 for {names}."
    return comparison.waiting, comparison.left_out if comparison.compared else "", milder


def remember_runs(fingerprint: str, keys: list[str]) -> None:
    workspace.remember(f"robustness.runs {fingerprint}", keys)


def _remembered_runs(fingerprint) -> list[str] | None:
    keys = workspace.get("widgets").get(f"robustness.runs {fingerprint}")
    return [key for key in keys if isinstance(key, str)] if isinstance(keys, list) else None


def watch_trainings(ready) -> None:
    keys = _remembered_runs(ready.fingerprint)
    if keys is None:
        keys = [r["key"] for r in _first_runs(ready.fingerprint, ready.records)]
    for key in keys:
        jobs.follow("train", fingerprint=ready.fingerprint, key=key)


def choose_noise(ready, runs) -> NoiseSettings:
    name, titles = "robustness.kind", {kind: row.title for kind, row in KINDS.items()}
    kind, take = workspace.get("widgets").get(name), functools.partial(workspace.remember, name)
    help = "  \n".join(f"**{row.title}**: {row.about}" for row in KINDS.values())
    kind = fields.pick("Noise or attack", titles, name, kind if kind in [*titles] else "gaussian", take, help=help)
    keys, kept = {r["key"] for r in runs}, room.inventory().artifacts.values()
    measured = [one for one in kept if one.kind == FOLDER and one.inputs.get("run") in keys]
    if others := {one.record["params"]["kind"] for one in measured} - {kind}:
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            st.caption("Measured too:", width="content")
            for other in filter(others.__contains__, KINDS):
                st.button(titles[other], f"robustness.also {other}", type="tertiary", on_click=take, args=(other,))
    with st.expander("Levels, repeats and rows", icon=":material/tune:"):
        return _choose_settings(ready.data, ready.fingerprint, runs, kind)


def at_other_levels(runs, settings) -> NoiseSettings | None:
    """Return these settings with the levels at which this workspace measured most of the runs, and last; or None."""
    measured = {}
    for one in [one for r in runs for one in tasks.made_alike(settings.task(r), "levels")]:
        measured.setdefault(tuple(one.record["params"]["levels"]), []).append(one.created)
    best = max(measured, key=lambda levels: (len(measured[levels]), max(measured[levels])), default=None)
    return best and replace(settings, levels=list(best))


def _choose_settings(data, fingerprint, runs, kind):
    options = _options(kind)
    transferred = KINDS[kind].is_attack and _transferred(runs)
    tree = surrogate(fingerprint, results.K).key if transferred else ""
    scope = f"{kind} {options.get('norm', '')} {fingerprint[:8]}"
    levels = _levels(kind, options, cached.value_scale(fingerprint), scope)
    n_repeats = 1
    left, right = st.columns(2, vertical_alignment="bottom") if KINDS[kind].repeats else (None, st.container())
    if left is not None:  # where nothing is random, repeats would be equal
        with left:
            about = "Each repeat draws its noise anew; with more than one, attacks start at random places. The bands "
            about += "are 95\u00a0% intervals over repeats, so one repeat has none."
            key, first = f"robustness.repeats {kind}", KINDS[kind].repeats
            n_repeats = fields.whole("Repeats", 1, MOST_REPEATS, key, first, help=about)
    if "random_start" in (option.name for option in KINDS[kind].options):
        options["random_start"] = n_repeats > 1

    def settings(n_rows):
        return NoiseSettings(
            kind, levels, options, n_repeats, int(n_rows), data.n_test, data.Y_test.nnz > 0, transferred, tree
        )

    def values(n_rows):
        wanted = settings(n_rows)
        return max((wanted.task(record).work().values for record in wanted.alike(runs)), default=None)

    n_rows = fields.sample(
        1,
        data.n_test,
        f"robustness.rows {scope} {options.get('support', '')}",
        values,
        tasks.AUTOMATIC_BELOW,
        SAMPLES,
        place=right,
        help="Fewer rows are drawn at random, the same for every result: measuring is quicker, and the results are "
        "less certain.",
    )
    return settings(n_rows)


def _options(kind) -> dict:
    offered = [option for option in KINDS[kind].options if option.in_form]
    switches, options = {option.name: option.label for option in offered if option.kind == "bool"}, {}
    if switches:
        key, pills = f"robustness.switches {kind}", {"widget": "pills", "selection_mode": "multi"}
        picked = fields.several(KINDS[kind].switches, switches, key, list(switches), **pills)
        # Without a switch there would be no noise, so all are used.
        options |= {name: name in (picked or switches) for name in switches}
    for option in offered:
        if option.name not in switches:
            options[option.name] = fields.described(option, f"robustness.{option.name} {kind}")
    return options


def _transferred(runs) -> bool:
    """Return whether attacks are computed on one label tree for all: at first if a run's model has no gradient."""
    having = [has_gradient(r["model"]) for r in runs]
    if runs and not any(having):
        st.caption("None of these models has a gradient: the attack is computed on one label tree, the same for all.")
        return True
    mixed = not all(having)
    picked = fields.choice(
        "Attack computed on",
        GRADIENTS,
        f"robustness.gradient {'mixed' if mixed else 'alike'}",
        "tree" if mixed else "own",
        help="An attack follows the gradient of a model. *Each model itself*: the strongest attack, only for models "
        "that have a gradient; LdSM and DoubleSampling have none. *One label tree*: a binary PLT with logistic loss is "
        "trained on the same rows and attacked, and every model predicts the rows that were changed so. This is "
        "weaker, but the same for all; a model that resembles the tree suffers more.",
    )
    return picked == "tree"


def _levels(kind, options, values, scope) -> list[float]:
    """Return the levels typed in the field, at first levels that suit the data; if they cannot be read, the last."""
    first = list(robustness.default_levels(kind, options.get("norm", 2), values))
    widget, title = f"robustness.levels {scope}", level_title(kind, options)
    return fields.numbers(
        title,
        widget,
        first,
        lambda typed: parse_levels(typed, kind),
        help=f"Levels, with commas between them. Level 0, without {called(kind)}, is always measured. Feature "
        f"values of this data set (those that are not 0) have the median size "
        f"{format.significant(values.value)}; rows have the median length {format.significant(values.length)}.",
    )


GRADIENTS = {"own": "each model itself", "tree": "one label tree, the same for all"}
MOST_LEVELS = 12  # most levels measured at once


def parse_levels(text: str, kind: str) -> tuple[list[float], str | None]:
    """Read levels such as ``0.01, 0.05``, and say what is wrong with them."""
    none = "At least one level above 0 is needed, such as 0.1; 0 is always measured."
    return fields.numbers_in(text, "levels", "0.01, 0.05, 0.1", KINDS[kind].fault, MOST_LEVELS, none, skip=0)


def called(kind: str) -> str:
    return "attack" if KINDS[kind].is_attack else "noise"


def level_title(kind: str, options: dict) -> str:
    return KINDS[kind].axis.format(norm=NORMS[str(options.get("norm", 2))])


def level_text(kind: str, level: float) -> str:
    """Return a level with its symbol, to be read after "at": ``σ = 0.1``, ``10 % of words changed``."""
    return KINDS[kind].level.format(level, 100 * level)


def noise_text(kind: str, options: dict, level: float | None = None) -> str:
    """Return noise in words, to be read within a sentence: ``Gaussian noise of σ = 0.1 on all features``."""
    return (KINDS[kind].text if level is None else KINDS[kind].at(level)) + KINDS[kind].in_words(options)
