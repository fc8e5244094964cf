"""Writing data sets to files that other programs read."""

import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

from xmlcore import store, wording
from xmlcore.datasets import write_matrix
from xmlcore.experiment.engine.task import Task, register
from xmlcore.parameters import Parameter
from xmlcore.progress import part_of, silent

FILE = "data.zip"
FORMATS = {"xmlc": ".txt", "svmlight": ".svm", "arff": ".arff", "npz": ".npz"}  # with the ending of the files
PACKED_FROM = 0.7  # share of the time after which a file is complete and is put into the archive
LABELS_XML = "labels.xml"  # Mulan's file of the labels, for ARFF


@dataclass(frozen=True)
class Exported:
    """A data set that is kept as a file: see :meth:`Export.file`."""

    format: str
    names: list  # names of the files in the zip archive


@register
class Export(Task):
    """Write a data set to a zip archive. Inputs: ``dataset``."""

    kind, folder, result = "export", "exports", Exported
    doing = "Writing {dataset} as {format}"

    PARAMETERS = (Parameter("format", "Format", "Of the files.", "choice", "xmlc", options=tuple(FORMATS)),)

    def file(self) -> Path:
        return store.folder(self.folder, self.key) / FILE

    def run(self, progress=silent, files=None):
        format, data = self.params["format"], self.dataset()
        names = [f"train{FORMATS[format]}", f"test{FORMATS[format]}"]
        inside = _names_inside(format, data)
        texts = {"labels.txt": data.label_names, "features.txt": data.feature_names} if inside is None else {}
        texts = {name: lines for name, lines in texts.items() if lines is not None and _one_line_each(lines)}
        if files is not None:
            files[FILE] = lambda path: _write(path, data, format, names, inside or {}, texts, progress)
        return {"format": format, "names": [*names, *([LABELS_XML] if format == "arff" else []), *texts]}


def _names_inside(format, data) -> dict | None:
    """Return the names of features and labels that the files hold; None if they cannot hold those of the data set."""
    given = {"feature_names": data.feature_names, "label_names": data.label_names}
    given = {field: names for field, names in given.items() if names is not None}
    every = [name for names in given.values() for name in names]
    if format == "npz":
        return given
    if format == "arff" and len(given) == 2 and len(set(every)) == len(every) and _one_line_each(every):
        return given
    return None


def _one_line_each(names) -> bool:
    return not any("\n" in name or "\r" in name for name in names)


def _write(path, data, format, names, inside, texts, progress):
    parts = ((data.X_train, data.Y_train), (data.X_test, data.Y_test))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=3) as archive:
        n_values, done = [X.nnz + Y.nnz for X, Y in parts], 0.0
        for i, (name, (X, Y)) in enumerate(zip(names, parts)):
            own = n_values[i] / max(sum(n_values), 1)
            of_part = part_of(progress, done, done + own, phase="Writing", detail=name)
            formatting, packing = part_of(of_part, 0.0, PACKED_FROM), part_of(of_part, PACKED_FROM, 1.0)
            done += own
            formatting("", 0.0)
            with tempfile.TemporaryDirectory(dir=path.parent) as folder:  # on the disk of the archive, not in memory
                written, xml = Path(folder) / name, Path(folder) / LABELS_XML
                write_matrix(
                    written, X, Y, format, **inside, xml=xml if format == "arff" else None, progress=formatting
                )
                _pack(archive, written, packing)
                if i and format == "arff":  # the labels of both parts are the same
                    _pack(archive, xml, packing)
        for name, lines in texts.items():
            archive.writestr(name, "".join(f"{line}\n" for line in lines))


def _pack(archive, path, progress):
    """Add a file to a zip archive in pieces, so that this can be stopped."""
    size = path.stat().st_size
    with open(path, "rb") as source, archive.open(path.name, "w", force_zip64=True) as target:
        while piece := source.read(1 << 20):
            target.write(piece)
            progress("", source.tell() / size, f"{wording.size(source.tell())} of {wording.size(size)}")
