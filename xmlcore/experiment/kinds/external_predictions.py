"""Results whose predictions another program has made: they are measured and compared as those of our models."""

import io
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from xmlcore.datasets import read_ranking, save_dataset
from xmlcore.experiment.catalog import GIVEN, K
from xmlcore.experiment.engine import task_files
from xmlcore.experiment.engine.task import keep, register, task
from xmlcore.experiment.engine.times import Work
from xmlcore.experiment.kinds.train import LEAST_RANKED, Run, Train, evaluate
from xmlcore.metrics import as_ranking
from xmlcore.parameters import REQUIRED, Parameter, filled
from xmlcore.progress import ProgressLike, silent, to_progress
from xmlcore.typing import Dataset, Predictions, Source
from xmlcore.validation import check_count, check_dataset

FILE = "predictions"  # what the file is called that is given to the task
OF_RUNS = ("model", "params")  # parameters that all runs have, and that follow from the others here
MOST_K = 1000
LONGEST = 60  # characters of a name
MEMORY = 8  # bytes for a byte of the file


@register
class GivenPredictions(Train):
    """Measure the labels that another program predicts for the test rows. Inputs: ``dataset``."""

    kind, on_cluster = "given_predictions", False  # the file is here
    can_be_made_again = False

    PARAMETERS = (
        Parameter("files", "File", "See ``task_files.described``.", "files", REQUIRED, options=(FILE,)),
        Parameter("name", "Name", "Name of the other program.", "text", REQUIRED),
        replace(K, maximum=MOST_K),
    )

    def accepted(self, params):
        made = filled(self.PARAMETERS, {name: params[name] for name in params if name not in OF_RUNS}, self.kind)
        n_letters = len(made["name"].strip())
        if not 0 < n_letters <= LONGEST:
            raise ValueError(f"the name of the program has {n_letters} characters: give 1 to {LONGEST}")
        return made | {"name": made["name"].strip()}

    def complete(self, params):
        about = {"program": params["name"], "file": params["files"][FILE]["hash"]}
        return params | {"model": GIVEN, "params": about}

    def title_on(self, dataset):
        return f"Reading predictions of {self.params['name']} for {dataset}"

    def work(self):
        n_bytes = self.params["files"][FILE]["bytes"]
        return Work(self.kind, n_bytes, MEMORY * n_bytes)

    def _took(self, value, seconds):
        return seconds, 0

    def run(self, progress=silent, files=None):
        data, k = self.dataset(progress), self.params["k"]
        of_data = (data.n_test, data.n_labels, data.label_names, max(k, LEAST_RANKED))
        with task_files.taken(self.key, (FILE,)) as paths:
            ranking = read_ranking(paths[FILE], *of_data, max_bytes=task_files.MAX_TEXT, progress=progress)
        progress("Measuring", 0.0)
        few = int(((ranking.labels[:, :k] >= 0).sum(axis=1) < k).sum())
        fewer = f"{few:,} of {data.n_test:,} test rows have fewer than {k} predicted labels"
        return Run(
            model=self.params["model"],
            params=self.params["params"],
            dataset_name=data.name,
            fingerprint=data.fingerprint,
            k=k,
            measures=evaluate(SimpleNamespace(predict_topk=lambda X, k: ranking), data, k).to_frame(),
            times={},
            size={},
            ranking=ranking,
            warnings=[f"{fewer}: the missing ones count as wrong."] if few else [],
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            content_hash=data.content_hash,
        )

    def after_keeping(self):
        """Nothing was computed on the way to the result."""


def add_predictions(
    dataset: "Dataset", predictions: Predictions | Source, name: str, k: int = 5, progress: ProgressLike = silent
) -> str:
    """Keep the predictions of any other program for the test rows as a result, and measure them.

    Parameters
    ----------
    dataset : Dataset
    predictions : path, bytes, binary file object, Ranking, ndarray, sparse matrix or list of lists of int
        A file as :func:`xmlcore.datasets.read_ranking` reads it; or labels, best first, or scores, in the forms of
        :func:`xmlcore.metrics.as_ranking`.
    name : str
        What the other program is called; 1 to 60 characters.
    k : int
        Measures are taken at 1 to k, which is at most 1,000. A row with fewer predicted labels misses the others.
    progress : :class:`xmlcore.progress.Progress` or "bar", optional

    Returns
    -------
    str
        The key: ``load("train", key)`` is the :class:`Run`, with ``has_model`` False, and :func:`runs` lists it.

    Raises
    ------
    DatasetFormatError
        The predictions are not those of the test rows; the message names the place.
    """
    check_dataset(dataset)
    k = check_count(k, "k", most=MOST_K)
    if isinstance(predictions, (str, Path)):
        content = Path(predictions).read_bytes()
    elif isinstance(predictions, (bytes, bytearray)):
        content = bytes(predictions)
    elif hasattr(predictions, "read"):
        content = predictions.read()
    else:
        if getattr(predictions, "dtype", np.dtype(int)).kind == "f" and predictions.shape[1:] != (dataset.n_labels,):
            raise ValueError(f"the scores have the shape {predictions.shape}, but there are {dataset.n_labels} labels")
        file = io.BytesIO()
        np.savez_compressed(file, **as_ranking(predictions, max(k, LEAST_RANKED))._asdict())
        content = file.getvalue()
    files = {FILE: io.BytesIO(content)}
    params = {"files": task_files.described(files), "name": name, "k": k}
    made = task("given_predictions", {"dataset": save_dataset(dataset)}, params)
    if not made.exists():
        task_files.put(made.key, files)
    return keep(made, to_progress(progress))
