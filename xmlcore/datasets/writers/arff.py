"""Write matrices to ARFF files, as Mulan and MEKA read them."""

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import quoteattr

import numpy as np

from xmlcore.datasets.readers.sources import stem
from xmlcore.datasets.writers.files import atomic, chunks
from xmlcore.progress import ProgressLike, silent, to_progress
from xmlcore.typing import FilePath, Labels, Matrix
from xmlcore.validation import check_features, check_labels, check_names

_PLAIN = re.compile(r"[A-Za-z0-9_.][A-Za-z0-9_.:/+=-]*")
_ESCAPES = {"\\": r"\\", "'": r"\'", '"': r"\"", "%": r"\%", "\n": r"\n", "\r": r"\r", "\t": r"\t"}
_ESCAPED = re.compile("[\x00-\x1f\x7f\\\\'\"%]")
_NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_MEKA = re.compile(r"(?:^|[\s:])-[Cc]\s*-?[0-9]")


def write_arff(
    path: FilePath,
    X: Matrix,
    Y: Labels,
    feature_names: Sequence[str] | None = None,
    label_names: Sequence[str] | None = None,
    relation: str | None = None,
    xml: FilePath | None = None,
    progress: ProgressLike = silent,
) -> None:
    """Write features and labels as a sparse ARFF file, so that :func:`read_matrix` gives the same back.

    Features are numeric attributes, the first of the file, with as few digits as needed to read the same float32 again.
    Labels are the last attributes, with the values {0,1}. Names are all different, as ARFF requires: by default
    ``feature0``, ``feature1``, ... and ``label0``, ``label1``, ... The relation has the name of the file by default. A
    Mulan XML file of the labels is written to ``xml``; without it the relation ends with MEKA's option ``-C``. What
    ARFF or XML cannot hold is a ValueError. Files are written completely or not at all.
    """
    path = Path(path)
    X = check_features(X)
    Y = check_labels(Y, n_rows=X.shape[0])
    n_features, n_labels = X.shape[1], Y.shape[1]
    if n_labels == 0:
        raise ValueError("Y has no columns: an ARFF file cannot say that it has no labels")
    features = _names(feature_names, "feature", n_features)
    labels = _names(label_names, "label", n_labels)
    _check_different(features, labels)
    relation = stem(path.name) if relation is None else relation
    if xml is None:
        if _MEKA.search(relation):
            raise ValueError(
                f"relation={relation!r:.200} has an option -C, which says what the labels are: leave it out"
            )
        relation = f"{relation}: -C -{n_labels}"
    else:
        content = _xml(labels)
    lines = [f"@relation {_quoted(relation, always=True)}", ""]
    lines += [f"@attribute {_quoted(name)} numeric" for name in features]
    lines += [f"@attribute {_quoted(name)} {{0,1}}" for name in labels]
    with atomic(path) as stream:
        stream.write("\n".join([*lines, "", "@data", ""]).encode())
        for first, stop in chunks(X.indptr.astype(np.int64) + Y.indptr, stream, to_progress(progress)):
            stream.write(_rows_text(X, Y, first, stop))
    if xml is not None:
        with atomic(Path(xml)) as stream:
            stream.write(content)


def _names(given, noun, count) -> list[str]:
    if given is None:
        return [f"{noun}{i}" for i in range(count)]
    names = check_names(given, f"{noun}_names", count)
    for i, name in enumerate(names):
        try:
            name.encode()
        except UnicodeEncodeError:
            raise ValueError(f"{noun}_names[{i}] is {name!r:.200}, which is not valid Unicode text") from None
    return names


def _check_different(features, labels):
    if len(set(features) | set(labels)) == len(features) + len(labels):
        return
    twice = [name for name, count in Counter(features + labels).items() if count > 1]
    both = sorted(set(features) & set(labels))
    name = (both or twice)[0]
    names = f"{name!r:.200} names a feature and a label" if both else f"{name!r:.200} is given twice"
    names += f" ({len(twice):,} names occur twice)" if len(twice) > 1 else ""
    raise ValueError(f"in ARFF each attribute has a name of its own, but {names}: rename, or give no names")


def _quoted(text, always=False) -> str:
    if not always and _PLAIN.fullmatch(text):
        return text
    return "'" + _ESCAPED.sub(lambda match: _ESCAPES.get(match[0], f"\\u{ord(match[0]):04x}"), text) + "'"


def _xml(labels) -> bytes:
    for name in labels:
        if _NOT_IN_XML.search(name):
            raise ValueError(
                f"XML cannot hold the label name {name!r:.200}, which has a control character: rename it, or leave out "
                "xml="
            )
    lines = ['<?xml version="1.0" encoding="utf-8"?>', '<labels xmlns="http://mulan.sourceforge.net/labels">']
    lines += [f"<label name={quoteattr(name)}></label>" for name in labels]
    return "\n".join([*lines, "</labels>", ""]).encode()


def _rows_text(X, Y, first, stop) -> bytes:
    """Return rows ``first`` to ``stop - 1`` as text, in bytes."""
    x = slice(X.indptr[first], X.indptr[stop])
    y = slice(Y.indptr[first], Y.indptr[stop])
    values = X.data[x].astype("U").tolist()  # the shortest digits that give the float32 back
    features = [f"{i} {value.removesuffix('.0')}" for i, value in zip(X.indices[x].tolist(), values)]
    labels = [f"{i} 1" for i in (Y.indices[y].astype(np.int64) + X.shape[1]).tolist()]
    x_ends = (X.indptr[first : stop + 1] - X.indptr[first]).tolist()
    y_ends = (Y.indptr[first : stop + 1] - Y.indptr[first]).tolist()
    lines = [
        "{" + ",".join(features[x_ends[i] : x_ends[i + 1]] + labels[y_ends[i] : y_ends[i + 1]]) + "}\n"
        for i in range(stop - first)
    ]
    return "".join(lines).encode()
