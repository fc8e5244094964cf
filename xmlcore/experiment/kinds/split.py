"""Another split of a kept data set into training and test rows, as a second data set."""

import contextlib
from dataclasses import dataclass

from xmlcore import datasets, store
from xmlcore.datasets import save_dataset
from xmlcore.datasets.splits import check_folds, count_test_rows
from xmlcore.experiment.engine import given
from xmlcore.experiment.engine.task import DATASETS, Estimate, register
from xmlcore.experiment.engine.task_parameters import RANDOM_STATE, TEST_SIZE
from xmlcore.experiment.kinds.prepare import MakesDataset
from xmlcore.parameters import Parameter, filled
from xmlcore.progress import silent
from xmlcore.validation import check_count

# The ways to split, each with its parameters.
WAYS = {
    "stratified": ("test_size", "random_state"),
    "random": ("test_size", "random_state"),
    "folds": ("n_folds", "fold", "random_state"),
    "file": ("files", "column", "first", "drawn_with"),
    "unseen": (),
}
START, SPLIT_BYTE = 0.1, 4e-8  # seconds to begin, and to split and keep a byte of a kept data set


@dataclass(frozen=True)
class SplitDataset:
    """A data set with other training and test rows, which is kept."""

    dataset: str
    n_train: int
    n_test: int
    notes: list


@register
class SplitAgain(MakesDataset):
    """Choose other training and test rows, and keep the data set that has them. Inputs: ``dataset``.

    A way has the parameters in :data:`WAYS`. ``"stratified"``, ``"random"`` and ``"folds"``: as for
    :func:`xmlcore.datasets.split_again`. ``"unseen"``: leave out test rows that occur in training. ``"file"``: by row
    numbers in the files ``train`` and ``test``, given by :func:`xmlcore.experiment.engine.given.give`; ``column`` and
    ``first`` as for :func:`xmlcore.datasets.read_row_numbers`. ``drawn_with`` is the seed with which the test rows were
    drawn from a single file, whose rows the numbers are of; None if the rows are in the order of the files.
    """

    kind, folder, result, needs = "split", "splits", SplitDataset, ("dataset",)
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
        Parameter("files", "Files", "See ``given.described``.", "files", {}, options=("train", "test")),
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

    def estimate(self) -> Estimate:
        n_bytes = store.info(DATASETS, self.fingerprint)["bytes"]
        return Estimate(START + SPLIT_BYTE * n_bytes, 3 * n_bytes)

    def run(self, progress=silent, files=None):
        by_file = self.params["way"] == "file"
        with given.taken(self.key, ("train", "test") if by_file else ()) as paths:
            data = self.dataset(progress)
            progress("Choosing rows", 0.0)
            made = self._split(data, paths)
        progress("Saving", 0.0)
        note = made.notes[-1]
        object.__setattr__(made, "notes", ())  # the class is frozen; this data set is ours
        object.__setattr__(made, "name", "data split anew")
        return {
            "dataset": save_dataset(made, self.made_by()),
            "n_train": made.n_train,
            "n_test": made.n_test,
            "notes": [note],
        }

    def _split(self, data, paths):
        """Return the data set with other training and test rows; its last note says how they were chosen."""
        params = {name: value for name, value in self.params.items() if name != "way"}
        way = self.params["way"]
        if way == "file":
            return self._by_files(data, paths)
        if way == "unseen":
            return datasets.without_leaks(data)
        return datasets.split_again(data, "stratified" if way == "folds" else way, **params)

    def _by_files(self, data, paths):
        params, n_rows = self.params, data.n_train + data.n_test
        rows = [
            datasets.read_row_numbers(path, n_rows, params["column"], first=params["first"]) for path in paths.values()
        ]
        if params["drawn_with"] is not None:
            place = datasets.rows_of_file(data.n_train, data.n_test, params["drawn_with"])
            rows = [place[part] for part in rows]
        note = f"Split anew by files of row numbers, split {params['column'] + 1}."
        return datasets.resplit(data, *rows, note)
