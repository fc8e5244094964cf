"""Making data sets: of the catalog, synthetic ones, and other splits of a kept one."""

import contextlib
from dataclasses import dataclass, field
from typing import Any

from xmlcore import datasets, store
from xmlcore.datasets import SYNTHETIC_SHAPES, make_synthetic, prepare, save_dataset, synthetic_sizes
from xmlcore.datasets.registry.catalog import entry, made_from
from xmlcore.datasets.splits import check_folds, count_test_rows
from xmlcore.experiment.catalog import RANDOM_STATE, TEST_SIZE
from xmlcore.experiment.engine import task_files
from xmlcore.experiment.engine.task import DATASETS, Task, register
from xmlcore.experiment.engine.times import Work
from xmlcore.parameters import REQUIRED, Parameter, filled
from xmlcore.progress import silent
from xmlcore.validation import check_count, check_known, check_number

USUAL_BYTES = 2e7  # of the matrices of a data set of the catalog, where that is not known


@dataclass(frozen=True)
class MadeDataset:
    """A data set that a task has made or read, and that is kept."""

    dataset: str  # its fingerprint
    notes: list = field(default_factory=list)  # from files: they name these as task_files.NAME does
    name: str = ""
    # numbers of rows and labels, where the task tells them
    n_train: int | None = None
    n_test: int | None = None
    n_labels: int | None = None


class MakesDataset(Task):
    """A task whose result has the fingerprint of a data set that it made, as ``dataset``."""

    result, version = MadeDataset, 2

    def exists(self) -> bool:
        """Return whether the result and the data set are kept, and the data set is not known to be damaged."""
        try:
            if not super().exists():
                return False
            made = self.load().dataset
            return store.exists(DATASETS, made) and not store.damaged(DATASETS, made)
        except store.StoreError:
            return False

    def made_by(self) -> dict | None:
        """Return the record by which the data set can be made again; None if it cannot."""
        return {"made_by": self.kind, "inputs": self.inputs} if self.can_be_made_again else None

    def saved(self, data, progress, name: str, notes: list, **facts) -> dict:
        """Keep a data set that is ours, whose notes the workspaces keep, and return the result."""
        progress("Saving", 0.0)
        for attribute, value in (("notes", ()), ("name", name)):
            object.__setattr__(data, attribute, value)  # the class is frozen
        return {"dataset": save_dataset(data, self.made_by()), "notes": notes, **facts}


@register
class Prepare(MakesDataset):
    """Make or download a data set of the catalog, and keep it. No inputs."""

    kind, folder, needs = "prepare", "prepared", ()
    doing = "Preparing {name}"

    PARAMETERS = (
        Parameter("name", "Name", "In the catalog.", "text", REQUIRED),
        Parameter(
            "made_from", "Made from",
            "Source of the data set, such as the versions of the libraries whose documentation it has. When "
            "this changes, the data set is made again. Empty: what it is made from today.",
            "any", None,
        ),
    )  # fmt: skip

    def complete(self, params):
        return {"made_from": made_from(params["name"])} | {name: v for name, v in params.items() if v is not None}

    def dataset_name(self):
        return self.params["name"]

    def work(self):
        n_bytes = int(entry(self.params["name"]).memory() or USUAL_BYTES)
        return Work(self.kind, n_bytes, 3 * n_bytes, {"name": self.params["name"]})

    def run(self, progress=silent, files=None):
        return {"name": self.params["name"], "dataset": prepare(self.params["name"], progress)}


SIZES = ("n_train", "n_test", "n_features", "n_labels", "features_per_row", "labels_per_row")
TAIL = "label_exponent"
USUAL_NOISE = 0.3
LEAST_ROWS, LEAST_LABELS = 50, 10  # of a scaled data set


def scaled(shape: str, share: float) -> dict[str, Any]:
    """Return the sizes of a smaller data set of a shape: rows and labels are multiplied by ``share``, features stay."""
    whole, share = check_known(SYNTHETIC_SHAPES, shape, "shape"), check_number(share, "share", 0, 1)
    sizes = dict(whole) | {
        field: min(int(whole[field]), max(least, round(whole[field] * share)))
        for field, least in (("n_train", LEAST_ROWS), ("n_test", LEAST_ROWS), ("n_labels", LEAST_LABELS))
    }
    return sizes | {"labels_per_row": min(whole["labels_per_row"], sizes["n_labels"] / 2)}


@register
class MakeSynthetic(MakesDataset):
    """Make a synthetic data set, see :func:`xmlcore.datasets.make_synthetic`, and keep it. No inputs."""

    kind, folder, needs = "synthetic", "synthetic", ()
    doing = "Making {dataset}"

    PARAMETERS = (
        Parameter(
            "shape", "Sizes",
            "The data set whose sizes are taken.",
            "choice", "small", options=tuple(SYNTHETIC_SHAPES),
            option_names=(
                "Small", "Like Bibtex", "Like Mediamill", "Like Delicious", "Like EUR-Lex 4K", "Like Wiki10-31K",
                "Like AmazonCat-13K", "Like Amazon-670K",
            ),
        ),
        *(Parameter(name, name, "Empty: as the shape.", "any", None, optional=True) for name in SIZES),
        Parameter(
            TAIL, "Tail: how much rarer the rare labels are",
            "The label at rank r is drawn with a probability proportional to r to the power of minus this number. At 0 "
            "all labels are equally frequent.",
            "float", None, minimum=0.0, maximum=2.0, step=0.05, optional=True, details="None: as the shape.",
        ),
        Parameter(
            "feature_noise", "Noise: words that say nothing about the labels",
            "The share of a row's features that are drawn whatever its labels are. At 100\u00a0% only the frequencies "
            "of labels can be learned.",
            "float", USUAL_NOISE, minimum=0.0, maximum=1.0,
        ),
        Parameter(
            "label_noise", "Wrong labels",
            "The share of labels that are replaced by any other label after the features are drawn.",
            "float", 0.1, minimum=0.0, maximum=1.0,
        ),
        RANDOM_STATE,
    )  # fmt: skip

    def complete(self, params):
        return params | synthetic_sizes(params["shape"], **{name: params[name] for name in (*SIZES, TAIL)})

    def dataset_name(self):
        shape, noise, tail = (self.params[name] for name in ("shape", "feature_noise", "label_exponent"))
        name = f"synthetic {shape}, {self.params['n_labels']:,} labels"
        name += "" if noise == USUAL_NOISE else f", noise {100 * noise:.0f} %"
        return name + ("" if tail == SYNTHETIC_SHAPES[shape]["label_exponent"] else f", tail {tail:g}")

    def work(self):
        p, n_rows = self.params, self.params["n_train"] + self.params["n_test"]
        features, labels = n_rows * p["features_per_row"], n_rows * p["labels_per_row"]
        wide = 100 * (p["n_features"] + p["n_labels"])
        n_bytes = 2 * (8 * features + 5 * labels) + wide  # twice: the data set checks copies of the matrices
        return Work(self.kind, features + labels, int(n_bytes))

    def run(self, progress=silent, files=None):
        data = make_synthetic(**self.params, name=self.dataset_name(), progress=progress)
        progress("Saving", 0.0)
        return {"name": data.name, "dataset": save_dataset(data, self.made_by()), "notes": list(data.notes)}


# The ways to split, each with its parameters.
WAYS = {
    "stratified": ("test_size", "random_state"),
    "random": ("test_size", "random_state"),
    "folds": ("n_folds", "fold", "random_state"),
    "file": ("files", "column", "first", "drawn_with"),
    "unseen": (),
}


@register
class SplitAgain(MakesDataset):
    """Choose other training and test rows, and keep the data set that has them. Inputs: ``dataset``."""

    kind, folder, needs = "split", "splits", ("dataset",)
    doing = "Splitting {dataset}"
    on_cluster = False  # it keeps a data set besides its result

    PARAMETERS = (
        Parameter(
            "way", "How",
            "How rows are chosen.",
            "choice", "stratified", options=tuple(WAYS),
            option_names=(
                "Stratified: each label is shared out evenly",
                "At random",
                "One fold of several",
                "By files of row numbers",
                "As it is, without test rows that occur in training",
            ),
        ),
        TEST_SIZE,
        RANDOM_STATE,
        Parameter("n_folds", "Folds", "Equal parts of the rows.", "int", 5, minimum=2, offered=(2, 100)),
        Parameter("fold", "Test fold", "Its rows are the test rows.", "int", 0, minimum=0, details="From 0."),
        Parameter("files", "Files", "See ``task_files.described``.", "files", {}, options=("train", "test")),
        Parameter(
            "column", "Split", "The column of the files.", "int", 0, minimum=0, offered=(0, 999), details="From 0."
        ),
        Parameter("first", "Number of the first row", "In the files.", "int", 1, minimum=0, maximum=1),
        Parameter("drawn_with", "Drawn with", "See above.", "int", None, minimum=0, optional=True),
    )  # fmt: skip

    def accepted(self, params):
        way, *others = self.PARAMETERS
        chosen = way.check(params.get("way", way.default))
        return filled((way, *(other for other in others if other.name in WAYS[chosen])), params, f"way {chosen!r:.200}")

    def complete(self, params):
        if "fold" in params:
            check_count(params["fold"], "fold", 0, params["n_folds"] - 1)
        with contextlib.suppress(store.StoreError):  # the data set may be gone
            facts = store.info(DATASETS, self.fingerprint)
            if "fold" in params:
                check_folds(params["n_folds"], facts["n_train"] + facts["n_test"])
            elif "test_size" in params:
                count_test_rows(facts["n_train"] + facts["n_test"], params["test_size"])
        return params

    @property
    def can_be_made_again(self):
        return self.params["way"] != "file"

    def work(self):
        work = super().work()
        return work._replace(bytes=3 * work.bytes)

    def run(self, progress=silent, files=None):
        by_file = self.params["way"] == "file"
        with task_files.taken(self.key, ("train", "test") if by_file else ()) as paths:
            data = self.dataset(progress)
            progress("Choosing rows", 0.0)
            made = self._split(data, paths)
        sizes = {"n_train": made.n_train, "n_test": made.n_test}
        return self.saved(made, progress, "data split anew", [made.notes[-1]], **sizes)

    def _split(self, data, paths):
        params = {name: value for name, value in self.params.items() if name != "way"}
        way = self.params["way"]
        if way == "unseen":
            return datasets.without_leaks(data)
        if way != "file":
            return datasets.split_again(data, "stratified" if way == "folds" else way, **params)
        n_rows, column, first = data.n_train + data.n_test, params["column"], params["first"]
        rows = [datasets.read_row_numbers(path, n_rows, column, first=first) for path in paths.values()]
        if params["drawn_with"] is not None:
            place = datasets.rows_of_file(data.n_train, data.n_test, params["drawn_with"])
            rows = [place[part] for part in rows]
        return datasets.resplit(data, *rows, f"Split anew by files of row numbers, split {column + 1}.")
