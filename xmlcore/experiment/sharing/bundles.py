"""Bundles: a run in one archive, which another person or machine can run again and compare.

A bundle has the settings, the fingerprint of the data set, versions, measures and predictions of a run, and the code
that makes it again. The data set is not in it. Reading a bundle runs nothing that is in it.
"""

import io
import platform
from collections.abc import Container
from dataclasses import dataclass
from typing import Any

import numpy as np

from xmlcore import __version__, archives, datasets, store
from xmlcore.artifact_keys import LIBRARIES, library_versions, plain
from xmlcore.experiment.engine.task import load
from xmlcore.experiment.kinds.train import FOLDER, Run, full_params, run_and_model
from xmlcore.experiment.sharing.run_code import code_of, data_code, made_by_task
from xmlcore.first_use import pd
from xmlcore.progress import ProgressLike, silent, to_progress
from xmlcore.ranking import Ranking
from xmlcore.system import atomic_write, effective_jobs
from xmlcore.typing import DataFrame, Dataset, FilePath, Source
from xmlcore.validation import check_count

PREDICTIONS, CODE, MEASURES, FIGURE = "predictions.npz", "code.py", "measures.csv", "measures.html"


class BundleError(ValueError):
    """A file is no bundle of a run, or it is damaged."""


USE = archives.Use("run", "bundle of a run", "|".join((PREDICTIONS, CODE, MEASURES, FIGURE)), BundleError)


@dataclass(frozen=True)
class Rerun:
    """Comparison of a bundle with the same run made again."""

    run: Run
    fingerprint: bool  # whether the data set has the same content
    bits: bool  # whether all predicted labels and scores are the same, bit for bit
    labels: float  # share of the places of all test rows at which the same label is predicted
    # columns `measure`, `k`, `then` (in the bundle), `now`, `difference` (`now` less `then`), `same`
    measures: "DataFrame"
    # columns `what`, `then`, `now`, `same`: the versions of Python, the libraries and the program, and the machine
    versions: "DataFrame"

    @property
    def agrees(self) -> bool:
        """Whether data set, predictions and measures are the same; versions may differ."""
        return self.fingerprint and self.bits and bool(self.measures["same"].all())

    def __str__(self):
        differing, other = self.measures[~self.measures["same"]], self.versions[~self.versions["same"]]
        changed = [f"{package.what} {package.then} then, {package.now} now" for package in other.itertuples()]
        return (
            f"The run, made again, {'is the same' if self.agrees else 'differs'}. Content of the data set: "
            f"{'the same' if self.fingerprint else 'other'}. Predicted labels that are the same: "
            f"{100 * self.labels:.2f} %{', bit for bit' * self.bits}. Measures that differ: {len(differing)} of "
            f"{len(self.measures)}. Versions: {'; '.join(changed) or 'the same'}."
        )


def bundle(
    key: str, path: FilePath | None = None, files: dict[str, Any] | None = None, makers: Container[str] | None = None
) -> bytes:
    """Write a kept run into one zip file, for :func:`rerun`."""
    from xmlcore import figures

    run, facts, made = load("train", key), store.info(FOLDER, key), io.BytesIO()
    with archives.writing(made, USE, _record(key, run, facts, makers)) as archive:
        archive.text(CODE, code_of(key, files, makers))
        archive.text(MEASURES, run.measures.to_csv(index=False))
        archive.text(FIGURE, figures.measures_at_k(run.measures).to_html(include_plotlyjs=True, div_id="measures"))
        archive.arrays(PREDICTIONS, run.ranking._asdict())
    content = made.getvalue()
    if path is not None:
        with atomic_write(path) as file:
            file.write(content)
    return content


def rerun(path: Source, data: "Dataset | None" = None, progress: ProgressLike = silent) -> Rerun:
    """Run the run of a bundle again, and compare.

    Parameters
    ----------
    path : str, path-like, bytes or binary file object
        What :func:`bundle` wrote.
    data : Dataset, optional
        The data set. Without it, the one of the same fingerprint in the cache is used, or the one of the catalog from
        which the run was made.
    progress : :class:`xmlcore.progress.Progress` or "bar", optional

    Returns
    -------
    Rerun
        ``str(report)`` says in sentences what agrees.

    Raises
    ------
    BundleError
        The file is no bundle, or it is damaged.
    ValueError
        The data set of the bundle is not here, or the settings are not accepted by this version.
    """
    progress = to_progress(progress)
    record, ranking = _read(path)
    data = _data_of(record, progress) if data is None else data
    run = run_and_model(data, record["model"], record["params"], record["k"], progress)[0]
    same_shape = run.ranking.labels.shape == ranking.labels.shape
    bits = same_shape and all(
        np.array_equal(now, then) and now.dtype == then.dtype for now, then in zip(run.ranking, ranking)
    )
    labels = float((run.ranking.labels == ranking.labels).mean()) if same_shape else 0.0
    before = pd.DataFrame(record["measures"], columns=["measure", "k", "value"]).astype({"value": float})
    after, on = run.measures.rename(columns={"value": "now"}), ["measure", "k"]
    both = before.rename(columns={"value": "then"}).merge(after, on=on, how="outer", sort=False)
    equal = (both["then"] == both["now"]) | (both["then"].isna() & both["now"].isna())
    then, now = record["versions"], versions()
    lines = [(package, str(then.get(package, "unknown")), now.get(package, "unknown")) for package in {**now, **then}]
    packages = pd.DataFrame(lines, columns=["what", "then", "now"])
    return Rerun(
        run, data.content_hash == record["dataset"]["content_hash"], bool(bits), labels,
        both.assign(difference=both["now"] - both["then"], same=equal),
        packages.assign(same=packages["then"] == packages["now"]),
    )  # fmt: skip


def versions() -> dict[str, str]:
    """Return the versions of libraries and the machine, on which the bits of a result depend, too."""
    return {
        "xmlcore": __version__,
        "Python": platform.python_version(),
        **library_versions(),
        "system": platform.system(),
        "processor": platform.machine(),
        "cores": str(effective_jobs(None)),
    }


def versions_of(facts: dict) -> dict[str, str]:
    """Return :func:`versions`, as far as they are known, of a result; ``facts`` is its record in the store."""
    if not facts:  # it was made just now
        return versions()
    libraries = dict.fromkeys(LIBRARIES, "unknown") | facts.get("libraries", {})
    return versions() | {"xmlcore": facts.get("xmlcore", "unknown")} | libraries


def _record(key, run, facts, makers) -> dict:
    made = made_by_task(run.fingerprint, makers)
    lines = run.measures.to_dict("records")
    return plain(
        {
            "key": key,
            "model": run.model,
            "params": run.params,
            "seed": run.params.get("random_state"),
            "k": run.k,
            "dataset": {
                "name": run.dataset_name,
                "fingerprint": run.fingerprint,
                "content_hash": run.content_hash,
                "catalog": made[2]["name"] if made is not None and made[0] == "prepare" else None,
                "made": data_code(run.fingerprint, {}, makers)[0],
            },
            "versions": versions_of(facts),
            "measures": [{**line, "k": int(line["k"]), "value": float(line["value"])} for line in lines],
            "times": run.times,
            "size": run.size,
            "memory": run.memory,
            "chosen": run.chosen,
            "warnings": run.warnings,
            "created": run.created,
        }
    )


def _read(source) -> tuple[dict, Ranking]:
    if isinstance(source, (bytes, bytearray, memoryview)):
        source = io.BytesIO(source)
    try:
        with archives.reading(source, USE) as archive:
            record, arrays = _checked(archive.about), archive.arrays(PREDICTIONS)
    except OSError as error:
        raise BundleError(f"the bundle cannot be read: {error}") from error
    labels, scores = arrays.get("labels"), arrays.get("scores")
    if labels is None or scores is None or labels.ndim != 2 or labels.shape != scores.shape or labels.dtype.kind != "i":
        raise BundleError("the predictions of the bundle are damaged: labels and scores do not fit together")
    return record, Ranking(labels, scores)


def _checked(record: dict) -> dict:
    """Return the record of a bundle; BundleError unless it has what :func:`rerun` needs."""
    kinds = {"model": str, "params": dict, "k": int, "dataset": dict, "versions": dict, "measures": list}
    wrong = [name for name, kind in kinds.items() if not isinstance(record.get(name), kind)]
    if not wrong and not all(isinstance(record["dataset"].get(name), str) for name in ("fingerprint", "content_hash")):
        wrong = ["dataset"]
    if not wrong and not all(map(_is_measured, record["measures"])):
        wrong = ["measures"]
    if wrong:
        raise BundleError(f"the bundle is damaged: it has no valid {wrong[0]}")
    check_count(record["k"], "k", most=1000)
    return record | {"params": full_params(record["model"], record["params"])}


def _is_measured(line) -> bool:
    """Return whether a line of a bundle has a measure, a k and a value, which may be undefined."""
    return (
        isinstance(line, dict)
        and "measure" in line
        and type(line.get("k")) is int
        and (line.get("value", "") is None or type(line.get("value")) is float)
    )


def _data_of(record, progress):
    about = record["dataset"]
    try:
        return datasets.in_use_or_saved(about["fingerprint"])
    except (store.StoreError, ValueError):
        if isinstance(about.get("catalog"), str) and about["catalog"] in {entry.name for entry in datasets.catalog()}:
            return datasets.load(about["catalog"], progress)
    raise ValueError(
        f"the data set {about.get('name')!r:.200} of the bundle is not on this machine: pass it as data=...; "
        f"its fingerprint is {about['fingerprint']}"
    )
