"""The class :class:`CatalogEntry`, and the table of published data sets that can be downloaded.

The numbers are those that the sources publish. The addresses of the Extreme Classification Repository's files and the
four checksums come from programs that download them; the other files have no published checksum.
"""

import csv
import functools
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class CatalogEntry:
    """A data set that :func:`xmlcore.datasets.load` knows; what is not known of it is None or empty."""

    name: str
    description: str
    source: str  # where it comes from, and how long it takes to get
    collection: str = "xmlcore"  # that publishes it; "xmlcore": made on this machine
    row: str = ""  # what a row is, such as "a web page"
    label: str = ""
    n_rows: int | None = None
    n_test: int | None = None  # None without a published split: test rows are drawn at random
    n_features: int | None = None
    n_labels: int | None = None
    features_per_row: float | None = None  # mean
    page: str = ""  # address of the web page that publishes it
    citation: str = ""
    addresses: tuple[str, ...] = ()  # of the file: the next one is tried when one fails; empty: fetched by hand
    checksum: str | None = None  # of the file at the first address, such as "md5:..."
    prompt: str = ""  # asks for a text to be labelled
    example: str = ""  # of such a text
    propensity: tuple[float, float] = (0.55, 1.5)  # A and B of :func:`xmlcore.metrics.inverse_propensity`

    @property
    def published(self) -> bool:
        """Whether the data set is published elsewhere, so that its file has to be fetched."""
        return bool(self.page)

    def memory(self) -> int | None:
        """Estimate the bytes that its matrices take."""
        if self.features_per_row is None:
            return None
        return int(self.n_rows * (8 * self.features_per_row + 40))


REPOSITORY = "Extreme Classification Repository"
CORDOBA = "Multi-label collection of Córdoba, with the sets of Mulan and MEKA"
PAGES = {
    REPOSITORY: "http://manikvarma.org/downloads/XC/XMLRepository.html",
    CORDOBA: "https://www.uco.es/kdis/mllresources/",
}
_ASKS = " The repository also asks to cite Bhatia et al. (2016), The extreme classification repository."


@functools.cache
def of_sizes(n_rows: int, n_features: int, n_labels: int) -> CatalogEntry | None:
    """Return the published data set that has so many rows in all, features and labels."""
    sizes = (n_rows, n_features, n_labels)
    return next((one for one in published() if (one.n_rows, one.n_features, one.n_labels) == sizes), None)


def propensity_of(n_train: int, n_test: int, n_features: int, n_labels: int) -> tuple[float, float]:
    """Return A and B of :func:`xmlcore.metrics.inverse_propensity` for a data set of these sizes."""
    return (of_sizes(n_train + n_test, n_features, n_labels) or CatalogEntry).propensity


def published() -> list[CatalogEntry]:
    """Return the published data sets, smaller ones first within each collection."""
    with open(Path(__file__).with_name("published.csv"), encoding="utf-8", newline="") as file:
        return [_entry(**line) for line in csv.DictReader(file)]


def _entry(collection, name, row, label, per_row, citation, addresses, checksum, a, b, **sizes) -> CatalogEntry:
    of_repository, addresses = collection == REPOSITORY, tuple(addresses.split())
    whence = "Google Drive" if of_repository else "the University of Córdoba" + " or SourceForge" * (len(addresses) > 1)
    numbers = {size: int(number) if number else None for size, number in sizes.items()}
    return CatalogEntry(
        name, _described(row, label, **numbers), f"Downloaded once, from {whence}.", collection, row, label, **numbers,
        features_per_row=float(per_row) if per_row else None, page=PAGES[collection],
        citation=f"{citation}.{_ASKS * of_repository}", addresses=addresses, checksum=checksum or None,
        propensity=(float(a), float(b)) if a else CatalogEntry.propensity,
    )  # fmt: skip


def _described(row, label, n_rows, n_test, n_features, n_labels) -> str:
    split = "" if n_test is None else f", of which {n_test:,} are test rows"
    sizes = f"{n_rows:,} rows{split}, {n_features:,} features and {n_labels:,} labels"
    return f"A row is {row}, a label is {label}. {sizes}."
