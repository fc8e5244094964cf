"""The lines of the table: all results of this workspace, filtered, with the runs of one setting in one line."""

import dataclasses
import json
from collections import Counter

import numpy as np
import pandas as pd
import streamlit as st

from pages.shared import cached, door, fields, format
from pages.shared.results import decided, results, run_names
from pages.shared.workspaces import workspace
from xmlcore import experiment, metrics, store
from xmlcore.experiment import kept_runs
from xmlcore.experiment.kinds.decide import AMONG

MEASURES = (  # by which results are ordered
    "P@1", "P@3", "P@5", "nDCG@3", "nDCG@5", "PSP@1", "PSP@3", "PSP@5", "R@5", "F1 of means@1", "hierarchical F1@5",
)  # fmt: skip
DIFFERING, EVERY, MEMORY, TRAINED = "Settings that differ", "All settings", "Memory", "Time of training"
TIMES = "Both training times"  # of the processor and by the clock
SHOWN = ("P@1", "P@3", "P@5", "nDCG@5", "PSP@1", "PSP@5")  # measures that every result has
COLUMNS = (DIFFERING, EVERY, TIMES, MEMORY, TRAINED, *SHOWN, *experiment.DECIDED, *experiment.MORE_MEASURES)
OF_DECISION = (
    "Of the labels that predict returns for test rows: by the decision that is kept on Predict, which the column "
    "Decision then names, else by the one that the model had after training."
)
NAMED = 5  # results named at most in a sentence
LINES = {"settings": "settings, seeds together", "result": "each result", "model": "the best settings of each model"}
MEASURED = (*kept_runs.MEASURES, *kept_runs.MORE_MEASURES, *kept_runs.DECIDED)
ANY = "all"
# Columns of the table from the records of the workspace, with names made from these, and those left out of downloads.
RECORDED = ("run", "named", "tags", "note", "archived", "created", "star", "place", "decision")
TITLES = ("title", "setting_title", "setting_name")
INTERNAL = ("params", "rule", "setting", "named", "star", "place", *TITLES)


@dataclasses.dataclass(frozen=True)
class Listing:
    """The lines and columns that the user has chosen to see."""

    measure: str = MEASURES[0]
    lines: str = "settings"
    dataset: str = ANY  # fingerprint
    model: str = ANY
    tag: str = ANY
    text: str = ""
    archived: bool = False
    more: tuple = ()  # further columns
    used: str = ""  # fingerprint of the data set in use, whose lines come first


@dataclasses.dataclass(frozen=True)
class Listed:
    """All results of this workspace that are kept."""

    frame: pd.DataFrame  # a line for each: measures, settings, names, tags and times
    records: dict  # their records in the workspace, by key
    source: tuple  # what the frame is made from, as texts and numbers


class Results(door.Page):
    """A page about all results of this workspace, on whatever data sets: ``run`` is the :class:`Listed` ones."""

    def list(self, fingerprint) -> list:
        return [] if every().frame.empty else [every()]

    def is_open_without(self) -> bool:
        return False

    def pick(self, ready, page) -> bool:
        (ready.run,) = ready.records
        return True

    def begin(self, ready, page) -> None:
        used, found = door.in_use(), every()
        if found.records:
            missing(found)
        elif used.data is None:
            door.no_data()
        else:
            door.no_result(used, page, self)


def missing(listed: Listed) -> None:
    kept = set(listed.frame["key"])
    names = [f"{run.get('name') or run['model']} ({key[:4]})" for key, run in listed.records.items() if key not in kept]
    if names:
        named = [format.plain(name) for name in names[:NAMED]]
        named += [f"{len(names) - NAMED:,} more"] if len(names) > NAMED else []
        st.caption(f"Deleted or damaged, so not in the table: {format.listed(named)}. Train them again.")


def every() -> Listed:
    runs, known, widgets = map(workspace.get, ("runs", "known", "widgets"))
    runs = list(filter(results.is_made_so, runs))
    records = {record["key"]: record for record in runs[::-1]}
    known = {fingerprint: entry["name"] for fingerprint, entry in known.items()}
    stars, places = run_names.starred(runs, dict.fromkeys(records, "")), run_names.places(runs)
    recorded = {
        key: (
            record.get("name") or record["model"],
            bool(record.get("name")),
            ", ".join(record.get("tags", ())),
            record.get("note", ""),
            bool(record.get("archived")),
            record["created"],
            stars[key],
            places[key],
            decided.in_force(key, widgets) or "",
        )
        for key, record in records.items()
    }
    source = (" ".join(records), store.changed("runs"), json.dumps([recorded, known]))
    return Listed(_every(*source), records, source)


@cached.shared("Reading the results", most=8)
def _kept(keys: str, changed: int) -> pd.DataFrame:
    frame = experiment.runs(keys.split())
    has_labels = frame["PSP@1"].notna()  # a test row of the data set; else no measure says anything
    return frame.assign(**{name: frame[name].where(has_labels) for name in MEASURED})


@cached.shared(most=8)
def _every(keys: str, changed: int, records_json: str) -> pd.DataFrame:
    """Return the table of runs with the columns :data:`RECORDED`; ``records_json`` has these and names of data sets."""
    recorded, known = json.loads(records_json)
    frame = _kept(keys, changed).copy()
    own = pd.DataFrame([recorded[key] for key in frame["key"]], columns=list(RECORDED), index=frame.index)
    names = [known.get(f, name) for f, name in zip(frame["fingerprint"], frame["dataset"])]
    for at in frame.index[own["decision"] != ""]:
        line = decided.outcome(frame.loc[at, "key"], own.loc[at, "decision"])
        if AMONG in own.loc[at, "decision"]:  # known with all labels only
            frame.loc[at, [*experiment.DECIDED]] = np.nan
        elif line is not None:
            frame.loc[at, [*experiment.DECIDED]] = line[[*experiment.DECIDED]].astype(float)
    named = zip(own["decision"], frame["rule"])
    own["decision"] = [decided.title(name) if name else f"after training: {rule}" * bool(rule) for name, rule in named]
    return _titles(frame.assign(**{name: own[name] for name in RECORDED}, dataset=names))


def measures(frame) -> list[str]:
    """Return the :data:`MEASURES` whose k is at most the number of labels of one of the data sets."""
    n_labels = {entry["key"]: entry["n_labels"] for entry in store.entries("datasets")}
    most = max((n_labels.get(key, results.K) for key in {*frame["fingerprint"]}), default=results.K)
    return results.measurable(taken(frame, MEASURES), most)


def taken(frame, columns) -> tuple[str, ...]:
    """Return the columns without hierarchical measures that were taken of no result."""
    return tuple(name for name in columns if "hierarchical F1" not in name or frame[name].notna().any())


def choose(frame) -> Listing:
    datasets = dict(zip(frame["fingerprint"], frame["dataset"]))
    models = sorted(frame["model"].unique())
    tags = sorted({tag for text in frame["tags"] for tag in text.split(", ") if tag})
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        offered = measures(frame)
        measure = fields.choice("Best by", offered, "compare.measure", width=max(100, 9 * max(map(len, offered)) + 30))
        text = fields.text("Find", "compare.text", placeholder="name, note, setting", width=140)
        widgets, several = workspace.get("widgets"), {"dataset": datasets, "model": models, "tag": [*tags, ANY]}
        on = sum(widgets.get(f"compare.{of}", ANY) in {*own} - {ANY} for of, own in several.items() if len(own) > 1)
        filters = f" ({format.count(on, 'filter')})" if on else ""
        how = st.popover(f"Lines and columns{filters}", icon=":material/tune:", key="compare.how")
    with how:
        lines = fields.choice("One line for", LINES, "compare.lines")
        among = {"Data set": datasets, "Model": dict(zip(models, models)), "Tag": dict(zip(tags, tags))}
        picked = {}
        for title, offered in among.items():
            of = title.lower().replace(" ", "")
            if len(offered) > (of != "tag"):
                picked[of] = fields.choice(title, {ANY: f"All {title.lower()}s"} | offered, f"compare.{of}")
        archived = bool(frame["archived"].any()) and fields.switch("Archived, too", "compare.archived", False)
        columns, used = _choose_columns(taken(frame, COLUMNS)), workspace.get("dataset") or ""
    return Listing(measure, lines, text=text.strip(), archived=archived, more=columns, used=used, **picked)


def _choose_columns(offered) -> tuple[str, ...]:
    chosen = fields.several(
        "More columns",
        offered,
        "compare.more",
        [],
        placeholder="none",
        help="Further measures are lines of the measures side by side, too.  \n"
        + "  \n".join(f"**{name}**: {metrics.MEASURES[name].explained}." for name in further_names(offered))
        + f"  \n**{', '.join(experiment.DECIDED)}**: {OF_DECISION}",
    )
    return tuple(column for column in offered if column in chosen)


def further_measures(columns) -> list[str]:
    return [column for column in columns if column in experiment.MORE_MEASURES]


def further_names(columns) -> list[str]:
    """Return the names of further measures of which some k was chosen: ``["macro F1@k"]`` for ``["macro F1@5"]``."""
    return list(dict.fromkeys(f"{measure.rpartition('@')[0]}@k" for measure in further_measures(columns)))


def clear() -> None:
    values = {"compare.dataset": ANY, "compare.model": ANY, "compare.tag": ANY, "compare.text": ""}
    for key in values.keys() & st.session_state.keys():
        st.session_state[key] = values[key]
    workspace.update(lambda data: data["widgets"].update(values))


def table(listed: Listed, choice: Listing) -> pd.DataFrame:
    return _table(*listed.source, choice)


@cached.shared(most=16)
def _table(keys: str, changed: int, records_json: str, choice: Listing) -> pd.DataFrame:
    return grouped(filtered(_every(keys, changed, records_json), choice), choice)


def filtered(frame, choice: Listing) -> pd.DataFrame:
    wanted = pd.Series(True, index=frame.index)
    if not choice.archived:
        wanted &= ~frame["archived"]
    for column, value in (("fingerprint", choice.dataset), ("model", choice.model)):
        if value != ANY:
            wanted &= frame[column] == value
    if choice.tag != ANY:
        wanted &= frame["tags"].map(lambda text: choice.tag in text.split(", ")).astype(bool)
    if choice.text:
        settings = [" ".join(f"{name}={value}" for name, value in own.items()) for own in frame["params"]]
        others = (frame[name] for name in ("run", "model", "dataset", "tags", "note", "key"))
        texts = pd.Series([" ".join(texts) for texts in zip(*others, settings)], index=frame.index, dtype="str")
        wanted &= texts.str.contains(choice.text, case=False, regex=False)
    return frame[wanted]


def grouped(frame, choice: Listing) -> pd.DataFrame:
    """Return the lines of the table, the data set in use first, then by measure: see :data:`LINES`."""
    alone = choice.lines == "result"
    lines = experiment.seeds_grouped(frame.assign(setting=frame["key"]) if alone else frame)
    lines = lines.join(frame.set_index("key")[[*(name for name in RECORDED if name != "created"), *TITLES]], on="key")
    decision = dict(zip(frame["key"], frame["decision"]))
    lines["decision"] = [", ".join(sorted({*map(decision.get, keys)} - {""})) for keys in lines["keys"]]
    if not alone:
        named = lines["setting_name"] != ""
        run = lines["setting_name"].where(named, lines["model"])
        lines = lines.assign(run=run, named=named, title=lines["setting_title"])
    lines = lines.assign(title=lines["title"] + lines["star"].where(lines["n"] == 1, ""))
    lines = lines.sort_values(choice.measure, ascending=False, kind="stable", na_position="last")
    place = np.where(lines["fingerprint"] == choice.used, -1, pd.factorize(lines["fingerprint"])[0])
    lines = lines.iloc[np.argsort(place, kind="stable")]
    if choice.lines == "model":
        lines = lines.drop_duplicates(["fingerprint", "model"])
    return lines.reset_index(drop=True)


def chosen(frame, lines, choice: Listing, ticked: set) -> pd.DataFrame:
    here = lines[lines["keys"].map(ticked.issuperset).astype(bool)]
    if ticked == {key for keys in here["keys"] for key in keys}:
        return here
    kind = "result" if choice.lines == "result" else "settings"
    return grouped(frame[frame["key"].isin(ticked)], Listing(choice.measure, kind, used=choice.used))


def _titles(frame) -> pd.DataFrame:
    """Return a table of runs with their names and those of their settings, which leave the seed out."""
    newest = frame[frame["named"].astype(bool)].drop_duplicates("setting")
    names = dict(zip(newest["setting"], newest["run"]))
    frame = frame.assign(setting_name=[names.get(setting, "") for setting in frame["setting"]])
    titles, of_settings, seeds = {}, {}, Counter(frame["setting"])
    for _, own in frame.groupby("fingerprint", sort=False):
        first = own.drop_duplicates("setting")
        of_settings |= dict(zip(first["setting"], _names(first, first["setting_name"], {kept_runs.SEED}).values()))
        alone = _names(own, own["run"].where(own["named"].astype(bool), ""))
        pairs = zip(own["key"], own["setting"])
        titles |= fields.told_apart({key: of_settings[of] if seeds[of] == 1 else alone[key] for key, of in pairs})
    of_settings = [of_settings[setting] for setting in frame["setting"]]
    return frame.assign(setting_title=of_settings, title=[titles[key] for key in frame["key"]])


def _names(runs, own_names, without=()) -> dict[str, str]:
    """Return the names of runs on one data set, by key: the user's own, or else the settings but ``without`` some."""
    params = [{name: value for name, value in own.items() if name not in without} for own in runs["params"]]
    lines = zip(runs["key"], own_names, runs["model"], params)
    return run_names.names([dict(zip(("key", "name", "model", "params"), line)) for line in lines])
