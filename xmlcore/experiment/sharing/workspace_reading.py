"""Reading a workspace from a file: nothing in it is believed without a check, and no pickle is read."""

import contextlib
import re
import shutil
import uuid
from collections import defaultdict
from datetime import UTC, datetime
from typing import Any, NamedTuple

import scipy.sparse as sp

from xmlcore import archives, store
from xmlcore.datasets import Dataset, save_dataset
from xmlcore.datasets.saved import FORMAT, MATRICES, OTHERS, texts_from_plain
from xmlcore.experiment.catalog import MODELS
from xmlcore.experiment.engine.task import FOLDERS, KINDS, task
from xmlcore.experiment.kinds.read import MAX_FEATURES, MAX_LABELS
from xmlcore.experiment.sharing.portable import NotPortableError, pack, unpack
from xmlcore.experiment.sharing.result_checks import check_result
from xmlcore.experiment.sharing.workspace_files import (
    ARRAYS,
    DATASETS,
    LEFT_OUT,
    MADE_AGAIN,
    MODEL_FILES,
    USE,
    VALUE,
    WorkspaceFileError,
)
from xmlcore.first_use import pd
from xmlcore.models import load_model
from xmlcore.progress import ProgressLike, silent, to_progress
from xmlcore.system import cache_root, make_private
from xmlcore.typing import FilePath
from xmlcore.versions import LIBRARIES, refusal

MAX_ARTIFACTS = 20_000
LONGEST_TEXT = 5000  # characters of a name or a note
LATEST = 4e9  # seconds since 1970: later times are none
# Parts and columns of values that are other ones on another machine.
TIMES = ["created", "cpu_s", "dataset_name", "fit_s", "memory", "predict_ms_per_row", "seconds", "select_s", "times"]
_KEY = re.compile(r"[0-9a-f]{32}")


def import_workspace(
    path: FilePath, progress: ProgressLike = silent, max_bytes: int = archives.MOST_BYTES
) -> dict[str, Any]:
    """Keep the data sets and results of a file that :func:`export_workspace` has written.

    Each data set is checked against its fingerprint, each key against the settings it stands for, and each model is
    loaded. Results are marked as imported, as their numbers cannot be checked without computing them again. What was
    computed here stays. A result of which an earlier file had another value is left out, with what was computed from
    it: the workspace that has read that file keeps its own. If something is wrong, nothing of the file is kept.

    Parameters
    ----------
    path : str or path-like
    progress : :class:`xmlcore.progress.Progress` or "bar", optional
    max_bytes : int
        Most bytes that the file may unpack to.

    Returns
    -------
    dict
        ``contents``, what the workspace lists (see :func:`export_workspace`), ``added``, ``there`` and ``left_out``:
        how many artifacts are new, how many were kept before, and how many are left out; and ``readings``, by which
        what it lists is told from what other files brought: the fact ``of_file`` of artifacts.

    Raises
    ------
    WorkspaceFileError
        The file is damaged, was made by something else, or is too large; the message says what is wrong, and where.
    xmlcore.store.CannotKeepError
        The disk has no room for it.
    """
    progress = to_progress(progress)
    added, left_out, reading = [], set(), uuid.uuid4().hex
    try:
        with archives.reading(path, USE, most_bytes=max_bytes, scratch=make_private(cache_root() / "given")) as archive:
            artifacts = [artifact for artifact in _artifacts(archive) if artifact.kind not in MADE_AGAIN]
            store.check_room(archive.total)
            for i, artifact in enumerate(artifacts):
                progress("Reading the workspace", i / len(artifacts), f"{i + 1} of {len(artifacts)}")
                is_other = bool(artifact.needs & left_out) or _has_another_value(archive, artifact)
                if not is_other and _keep(archive, artifact, reading):
                    added.append(artifact)
                    # Another file may have been read at the same time, and its value be the one that is kept.
                    is_other = _reading_of(artifact) != reading and _has_another_value(archive, artifact)
                if is_other:
                    left_out.add((artifact.kind, artifact.key))
            artifacts = [artifact for artifact in artifacts if (artifact.kind, artifact.key) not in left_out]
            contents = _contents(archive.about.get("contents"), artifacts)
        if left_out:  # the trials of a sweep may be those of the other file
            contents["sweeps"] = []
        for sweep in contents["sweeps"]:
            added += _keep_sweep(sweep, reading)
    except BaseException:
        for artifact in reversed(added):
            if _reading_of(artifact) == reading:  # else somebody has made it since
                store.delete(artifact.kind, artifact.key)
        raise
    new = sum(isinstance(artifact, _Described) and (artifact.kind, artifact.key) not in left_out for artifact in added)
    counts = {"added": new, "there": len(artifacts) - new, "left_out": len(left_out)}
    return {"contents": contents, **counts, "readings": sorted({reading, *map(_reading_of, artifacts)} - {""})}


def _artifacts(archive) -> list["_Described"]:
    """Return the artifacts of an archive, each after what it was computed from."""
    described = archive.about.get("artifacts")
    if not isinstance(described, list) or len(described) > MAX_ARTIFACTS:
        raise WorkspaceFileError(f"{archives.MANIFEST} has no list of at most {MAX_ARTIFACTS:,} artifacts")
    files = defaultdict(set)
    for name in archive.members:
        kind, key, file = name.split("/", 2)
        files[kind, key].add(file)
    artifacts = [_Described(artifact, files) for artifact in described]
    if len({(artifact.kind, artifact.key) for artifact in artifacts}) < len(artifacts):
        raise WorkspaceFileError(f"{archives.MANIFEST} names an artifact twice")
    if len(files) > len(artifacts):
        raise WorkspaceFileError("the file has files of artifacts that it does not describe")
    _check_chains(artifacts)
    return artifacts


class _Described:
    """An artifact as the manifest describes it, checked; ``task``, which makes a result, is None for a data set."""

    def __init__(self, described, files):
        if not isinstance(described, dict) or not isinstance(described.get("record"), dict):
            raise WorkspaceFileError(f"{archives.MANIFEST} describes something that is no artifact")
        self.kind, self.key, self.record = described.get("kind"), described.get("key"), described["record"]
        if not (isinstance(self.key, str) and _KEY.fullmatch(self.key)):
            raise WorkspaceFileError(f"{str(self.key)[:60]!r} is no key")
        self.task, self.version = (None, 1) if self.kind == DATASETS else self._task()
        given = files.get((self.kind, self.key))
        if given not in ({VALUE, ARRAYS}, {VALUE, ARRAYS, *MODEL_FILES}):
            raise WorkspaceFileError(f"{self.name} has other files than a value and a model")
        self.has_model = len(given) > 2

    @property
    def name(self) -> str:
        return f"{str(self.kind)[:40]}/{self.key}"

    @property
    def needs(self) -> set[tuple[str, str]]:
        """Kind and key of what it was computed from."""
        return set() if self.task is None else {(FOLDERS[name], key) for name, key in self.task.inputs.items()}

    def _task(self):
        """Return the task that makes the result, and the version of its kind; it must have this key."""
        name, version = self.record.get("task"), self.record.get("version")
        kind = KINDS.get(name) if isinstance(name, str) else None
        if kind is None or kind.folder != self.kind or self.kind in {*LEFT_OUT, "sweeps"} - {*MADE_AGAIN}:
            raise WorkspaceFileError(f"{self.name} is of an unknown kind: this version of xmlcore has no such results")
        try:
            made = task(name, self.record["inputs"], self.record["params"])
            if type(version) is int and 1 <= version <= kind.version and made._key(version) == self.key:
                return made, version
        except Exception as error:  # parameters of any form
            raise WorkspaceFileError(f"{self.name} has settings that this version does not have", error) from None
        raise WorkspaceFileError(f"{self.name} has settings that do not belong to its key")


def _check_chains(artifacts):
    """Raise WorkspaceFileError unless each result comes after what it was computed from, down to a data set."""
    # Who brings a data set has it; a file that only names one must not open what another workspace keeps.
    before = set()
    for artifact in artifacts:
        if not artifact.needs <= before:
            raise WorkspaceFileError(f"{artifact.name} was computed from something that is not in the file")
        before.add((artifact.kind, artifact.key))


def _reading_of(artifact) -> str:
    """Return which reading of a file has written what is kept under the key of an artifact; empty if none has."""
    with contextlib.suppress(store.StoreError):
        return store.info(artifact.kind, artifact.key).get("of_file", "")
    return ""


def _keep(archive, artifact, reading) -> bool:
    there = store.exists(artifact.kind, artifact.key)
    if artifact.task is not None and there:
        return False
    value, model = _read(archive, artifact)
    if artifact.task is None:
        save_dataset(_dataset(value, artifact), of_file=reading)
        return not there
    try:
        check_result(value, artifact.task, artifact.version)
        if model is not None:
            _check_model(model, artifact)
    except Exception as error:  # values of any form
        raise WorkspaceFileError(f"{artifact.name} is no result of its kind", error) from None
    summary = artifact.task.summary(value)
    facts = artifact.task.facts() | ({"summary": summary} if summary else {})
    facts |= {"version": artifact.version, "imported": datetime.now(UTC).isoformat(timespec="seconds")}
    facts |= {"of_file": reading}
    facts |= {"xmlcore": str(artifact.record.get("xmlcore", ""))[:40], "libraries": _libraries(artifact.record)}
    with store.writing(artifact.kind, artifact.key, **facts) as path:
        store.write_value(path, value)
        if model is not None:
            shutil.move(model, path / "model")
    return True


def _read(archive, artifact):
    """Return the value of an artifact, and the folder with its model; None without one."""
    place = f"{artifact.kind}/{artifact.key}"
    try:
        value = unpack(archive.json(f"{place}/{VALUE}"), archive.arrays(f"{place}/{ARRAYS}"))
    except (NotPortableError, RecursionError) as error:
        raise WorkspaceFileError(f"the value of {artifact.name} is damaged", error) from None
    if artifact.task is not None and not isinstance(value, dict):
        raise WorkspaceFileError(f"{artifact.name} is no result of its kind: it is a {type(value).__name__}")
    return value, [archive.extract(f"{place}/{name}") for name in MODEL_FILES][0].parent if artifact.has_model else None


def _without_times(value) -> dict:
    """Return a value without what two machines that compute the same do not have alike."""
    return {
        name: part.drop(columns=TIMES, errors="ignore") if isinstance(part, pd.DataFrame) else part
        for name, part in value.items()
        if name not in TIMES
    }


def _has_another_value(archive, artifact) -> bool:
    """Return whether a result is kept that came with a file, too, and is not the same but for times."""
    if artifact.task is None or not store.exists(artifact.kind, artifact.key):
        return False
    if "imported" not in store.info(artifact.kind, artifact.key):
        return False
    value, model = _read(archive, artifact)
    try:
        (one, arrays), (other, others) = (
            pack(_without_times(part)) for part in (value, store.load(artifact.kind, artifact.key))
        )
    except store.StoreError:  # it was damaged since
        return True
    kept = store.folder(artifact.kind, artifact.key) / "model"
    if kept.is_dir() != (model is not None) or one != other or arrays.keys() != others.keys():
        return True
    pairs = zip(arrays.values(), others.values())
    if any((a.dtype, a.shape, a.tobytes()) != (b.dtype, b.shape, b.tobytes()) for a, b in pairs):
        return True
    return model is not None and any(
        (model.parent / name).read_bytes() != (kept.parent / name).read_bytes() for name in MODEL_FILES
    )


def _libraries(record) -> dict[str, str]:
    """Return the versions of libraries in the record of an artifact, as far as it has them."""
    stated = record.get("libraries")
    return {name: str(stated[name])[:40] for name in LIBRARIES if name in stated} if isinstance(stated, dict) else {}


def _dataset(value, artifact):
    """Return a data set from its plain dict; it must have the fingerprint that is its key."""
    if isinstance(value, dict) and value.get("format") != FORMAT:
        raise WorkspaceFileError(refusal(artifact.name, value.get("format"), FORMAT, artifact.record.get("xmlcore")))
    try:
        parts = {name: value[name] for name in OTHERS} | texts_from_plain(value)
        for name in MATRICES:
            shape = tuple(int(size) for size in value[name]["shape"])
            most = MAX_LABELS if name.startswith("Y") else MAX_FEATURES
            if len(shape) != 2 or shape[1] > most:
                raise ValueError(f"{name} has the shape {shape}; at most {most:,} columns are read")
            content = tuple(value[name][part] for part in ("data", "indices", "indptr"))
            parts[name] = sp.csr_array(content, shape=shape)
            parts[name].check_format(full_check=True)
        data = Dataset(**parts)
    except Exception as error:  # values of any form
        raise WorkspaceFileError(f"{artifact.name} is no data set", error) from None
    if data.fingerprint != artifact.key:
        raise WorkspaceFileError(f"the content of {artifact.name} has another fingerprint: {data.fingerprint}")
    return data


def _keep_sweep(record, reading) -> list:
    """Keep the result of a sweep, which follows from its trials if all are there; return what is new."""
    made = task("sweep", {"dataset": record["fingerprint"]}, record["params"])
    if made.exists() or made.n_trials > MAX_ARTIFACTS:
        return []
    plan = made.plan(imported=True)
    if not plan.complete:
        return []
    imported = datetime.now(UTC).isoformat(timespec="seconds")
    with store.writing(made.folder, made.key, **made.facts(), imported=imported, of_file=reading) as path:
        store.write_value(path, made.value(plan))
    return [_Kept(made.folder, made.key)]


class _Kept(NamedTuple):
    """Kind and key of an artifact."""

    kind: str
    key: str


def _check_model(folder, artifact):
    """Raise an exception unless a folder has a fitted model for the data set of the result."""
    model, facts = load_model(folder), store.info(DATASETS, artifact.task.fingerprint)
    for name, count in (("n_features_in_", "n_features"), ("n_labels_", "n_labels")):
        if getattr(model, name, facts[count]) != facts[count]:
            raise ValueError(f"its model is of another number of {count.removeprefix('n_')}")
    made = MODELS.get(artifact.task.params.get("model"))
    if made is not None and type(model) is not made.cls:
        raise ValueError(f"its model is a {type(model).__name__}")


def _contents(contents, artifacts) -> dict:
    """Return what a workspace lists, made from checked settings; of what the file says, only texts are taken over."""
    there = {(artifact.kind, artifact.key): artifact for artifact in artifacts}
    given = contents if isinstance(contents, dict) else {}
    known, lists = {}, {"runs": [], "selections": []}
    for key, entry in given.get("known", {}).items() if isinstance(given.get("known"), dict) else ():
        if (DATASETS, key) in there and isinstance(entry, dict):
            notes = entry.get("notes") if isinstance(entry.get("notes"), list) else []
            sources = ("upload", "synthetic", "split", "words")
            source = entry.get("source") if entry.get("source") in sources else "upload"
            name = _text(entry.get("name")) or "imported data"
            known[key] = {"name": name, "source": source, "notes": [_text(note) for note in notes[:100]]}
    for kind, records in lists.items():
        for record in given.get(kind, ()) if isinstance(given.get(kind), list) else ():
            artifact = there.get((kind, str(record.get("key")))) if isinstance(record, dict) else None
            if artifact is not None:
                records.append(_listed(record, artifact))
    made = [[kind, key] for kind, key in there if kind not in (DATASETS, "trials", *lists)]
    return {"known": known, **lists, "sweeps": _sweeps(given.get("sweeps"), there), "made": made}


def _sweeps(records, there) -> list[dict]:
    """Return the records of sweeps whose settings give their keys, and whose data sets are in the file."""
    found = []
    for record in records if isinstance(records, list) else ():
        fingerprint = record.get("fingerprint") if isinstance(record, dict) else None
        if not isinstance(fingerprint, str) or (DATASETS, fingerprint) not in there:
            continue
        try:
            made = task("sweep", {"dataset": fingerprint}, record["params"])
            asked = float(record.get("asked") or 0)
        except Exception as error:  # parameters of any form
            raise WorkspaceFileError("a sweep has settings that this version does not have", error) from None
        if made.key != record.get("key"):
            raise WorkspaceFileError("a sweep has settings that do not belong to its key")
        # Stopped: one that is not complete is not thought to be interrupted here, and can be resumed.
        about = {"key": made.key, "fingerprint": fingerprint, "params": made.params, "stopped": True}
        found.append(about | {"asked": asked if 0 <= asked < LATEST else 0.0})
    return found


def _listed(record, artifact) -> dict:
    """Return the record of a run or selection as a workspace lists it."""
    created = record.get("created")
    with contextlib.suppress(TypeError, ValueError, OverflowError):
        moment = datetime.fromisoformat(created)
        created = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC).isoformat()
        task = artifact.task
        listed = {"key": artifact.key, "fingerprint": task.inputs["dataset"], **task.params, "created": created}
        listed |= {name: text for name in ("name", "note") if (text := _text(record.get(name)))}
        if isinstance(record.get("tags"), list):
            listed["tags"] = [_text(tag)[:60] for tag in record["tags"][:20]]
        return listed | ({"archived": True} if record.get("archived") is True else {})
    raise WorkspaceFileError(f"the list says no time for {artifact.name}")


def _text(value) -> str:
    """Return a text of the file, cut to a bounded length; empty if it is none."""
    return value[:LONGEST_TEXT] if isinstance(value, str) else ""
