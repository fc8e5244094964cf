"""The options by which commands read a data set, and the reading."""

from pathlib import Path

import click

FORMATS = ("auto", "xmlc", "svmlight", "npz", "arff", "csv")
_OPTIONS = (
    click.option("--test", type=click.Path(), help="File of test rows. Without it, some rows of DATA are drawn."),
    click.option("--labels", multiple=True, metavar="FILE|COLUMN|NUMBER",
                 help="Which columns are labels: the first NUMBER, the last -NUMBER, a column that lists them, or "
                      "several columns if the option is given several times. Or a file with the labels of DATA."),
    click.option("--test-labels", type=click.Path(), help="File with the labels of the test rows."),
    click.option("--format", "file_format", type=click.Choice(FORMATS), default="auto", show_default=True,
                 help="Format of a matrix."),
    click.option("--first-index", type=click.IntRange(0, 1), default=0, show_default=True,
                 help="Smallest id in a file."),
    click.option("--test-size", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.2,
                 show_default=True, help="Share of rows that are drawn for testing."),
    click.option("--split-seed", type=click.IntRange(0), default=0, show_default=True,
                 help="Seed with which test rows are drawn."),
    click.option("--feature-names", type=click.Path(), help="File with a name of a feature in each line."),
    click.option("--label-names", type=click.Path(), help="File with a name of a label in each line."),
)  # fmt: skip
NAMES = ("test", "labels", "test_labels", "file_format", "first_index", "test_size", "split_seed", "feature_names",
         "label_names")  # fmt: skip


def data_options(function):
    """Add the options of a data set to a command."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def read(data: str, options: dict, progress):
    """Return a data set: one of the catalog, by its name, or from files.

    Parameters
    ----------
    data : str
        A path, or a name of the catalog. A path goes first.
    options : dict
        Values of all options of :func:`data_options`, by :data:`NAMES`.
    progress : callable

    Returns
    -------
    Dataset

    Raises
    ------
    FileNotFoundError
        There is neither a file nor a data set of this name.
    ValueError, TypeError, OSError
        See :func:`xmlcore.datasets.read_dataset` and :func:`xmlcore.datasets.load`.
    """
    from xmlcore import datasets

    if is_of_catalog(data):
        return datasets.load(data, progress)
    for path in (data, *(options[name] for name in ("test", "test_labels", "feature_names", "label_names"))):
        must_exist(path)
    return datasets.read_dataset(
        data,
        options["test"],
        test_size=options["test_size"],
        random_state=options["split_seed"],
        test_labels=options["test_labels"],
        feature_names=options["feature_names"],
        label_names=options["label_names"],
        format=options["file_format"],
        labels=labels_of(options["labels"]),
        first_index=options["first_index"],
        progress=progress,
    )


def is_of_catalog(data: str) -> bool:
    """Return whether a text is the name of a data set in the catalog, and not a path."""
    from xmlcore import datasets

    return not Path(data).exists() and data in {entry.name for entry in datasets.catalog()}


def must_exist(path: str | None) -> None:
    """Raise FileNotFoundError if a path is given and there is no file."""
    if path is not None and not Path(path).exists():
        from xmlcore import datasets

        raise FileNotFoundError(
            f"there is no file {path}, and no data set of this name in the catalog, which has "
            f"{', '.join(entry.name for entry in datasets.catalog()[:3])} and others (docs/catalog.md)"
        )


def labels_of(given: tuple[str, ...]):
    """Return the argument ``labels`` of the readers for the values of the option ``--labels``."""
    if len(given) > 1:
        return list(given)
    if not given:
        return None
    return int(given[0]) if given[0].removeprefix("-").isdecimal() else given[0]
