"""The sections of the Data page, below its answer."""

from pages.data import alike, frequency, labels, problems, rows, sizes, together
from pages.shared import format, sections


def show(ready, described, examination) -> None:
    data, fingerprint, name = ready.data, ready.fingerprint, format.file_name(ready.name)

    def of_labels_together():
        together.show(data, examination, fingerprint, name)
        labels.show_sets(data, fingerprint, name)

    further = {
        "Rows": lambda: rows.show(data, fingerprint),
        "All labels": lambda: labels.show(data, described.labels, examination, name),
        "Frequency": lambda: frequency.show(data, described, fingerprint, name),
        "Size": lambda: sizes.show(described, examination, fingerprint, name),
        "Train and test": lambda: alike.show(data, described, examination, name),
        "Labels together": of_labels_together,
        problems.TITLE: lambda: problems.show(data, described, examination, name),
    }
    sections.show("data", further)
