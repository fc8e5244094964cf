"""Write matrices and texts to files, each completely or not at all: XMLC text, svmlight, npz, ARFF, fastText."""

import bz2
import gzip
import io
import lzma
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from xml.sax.saxutils import quoteattr

import numpy as np

from xmlcore.arrays import blocks_of
from xmlcore.datasets.errors import InputError
from xmlcore.datasets.readers.label_cells import PREFIX
from xmlcore.datasets.readers.sources import stem
from xmlcore.datasets.texts.vectorizer import check_texts
from xmlcore.progress import ProgressLike, silent, to_progress
from xmlcore.system import atomic_write
from xmlcore.typing import FilePath, Labels, Matrix
from xmlcore.validation import check_features, check_labels, check_list, check_names
from xmlcore.wording import size

_HALF = re.compile("[\ud800-\udfff]")
_CHUNK = 1 << 18  # number of stored values that are formatted as text at a time


_PACKED = {
    # without time and name, so that the same matrices make the same file
    ".gz": lambda raw: gzip.GzipFile(filename="", mode="wb", fileobj=raw, compresslevel=6, mtime=0),
    ".bz2": lambda raw: bz2.BZ2File(raw, "wb"),
    ".xz": lambda raw: lzma.LZMAFile(raw, "wb"),
}


@contextmanager
def atomic(path):
    """Open a temporary file for writing, which replaces the file ``path`` at the end if there was no error."""
    suffix = path.suffix.lower()
    if suffix == ".zip":
        raise ValueError(f"{path.name}: zip is not written; end the name in .gz, .bz2 or .xz, or none of these")
    with atomic_write(path) as raw, _PACKED.get(suffix, nullcontext)(raw) as stream:
        yield stream


WRITTEN = ("xmlc", "svmlight", "arff", "npz")  # formats of write_matrix


def write_matrix(
    path: FilePath,
    X: Matrix,
    Y: Labels,
    format: str = "xmlc",
    *,
    feature_names: Sequence[str] | None = None,
    label_names: Sequence[str] | None = None,
    xml: FilePath | None = None,
    progress: ProgressLike = silent,
) -> None:
    """Write features and labels to a file, so that :func:`read_matrix` gives the same matrices back.

    Parameters
    ----------
    path : str or path
        The file is compressed if the name ends in .gz, .bz2 or .xz. It is written completely or not at all.
    X : sparse or array_like, shape (N, D)
        Features. In text, values have as few digits as needed to read the same float32 again.
    Y : sparse, array_like of 0 and 1, or lists of label ids, shape (N, L)
        Labels.
    format : {"xmlc", "svmlight", "arff", "npz"}
        ``"svmlight"`` says D and L only by the largest ids: features and labels after the last one used are lost.
        ``"arff"``: sparse rows, as :func:`write_arff` writes them.
    feature_names, label_names : sequence of str, optional
        D and L names, for npz and ARFF; the other formats hold none. In ARFF all names must be different; by default
        they are ``feature0``, ``feature1``, ... and ``label0``, ``label1``, ...
    xml : str or path, optional
        For ARFF: a Mulan XML file of the labels, written as well. By default MEKA's option ``-C`` says what they are.
    progress : :class:`xmlcore.progress.Progress` or "bar", optional
    """
    if format not in WRITTEN:
        raise ValueError(f"format {format!r:.200} cannot be written: use one of {', '.join(map(repr, WRITTEN))}")
    if format == "arff":
        write_arff(path, X, Y, feature_names, label_names, xml=xml, progress=progress)
        return
    if xml is not None:
        found = f"there is a file for the names of an ARFF file's labels, but the format is {format!r:.200}"
        raise InputError(found, argument="format", value="arff")
    X = check_features(X)
    Y = check_labels(Y, n_rows=X.shape[0])
    given = (("feature_names", feature_names, X.shape[1]), ("label_names", label_names, Y.shape[1]))
    names = {field: _names(names, field, count, ending="\0") for field, names, count in given if names is not None}
    if names and format != "npz":
        raise ValueError(f"{format} has no place for names: write them to files of their own, one name per line")
    with atomic(Path(path)) as stream:
        if format == "npz":
            _write_npz(stream, X, Y, names)
        else:
            _write_rows(stream, X, Y, format, to_progress(progress))


def _names(given, field, count, ending: str | None = None) -> list[str]:
    """Return names after a check, also of an ``ending`` that is lost; by default feature0, feature1, ..."""
    noun = field.removesuffix("_names")
    names = [f"{noun}{i}" for i in range(count)] if given is None else check_names(given, field, count)
    for i, name in enumerate(names):
        if _HALF.search(name):
            raise ValueError(f"{field}[{i}] is {name!r:.200}, which is not valid Unicode text")
        if ending and name.endswith(ending):
            raise ValueError(f"{field}[{i}] is {name!r:.200}: npz files lose the NUL at its end")
    return names


def _write_npz(stream, X, Y, names):
    """Write the arrays that :mod:`xmlcore.datasets.readers.npz` reads. ``Y_data`` is left out: all values are 1."""
    arrays = {
        "X_data": X.data,
        "X_indices": X.indices,
        "X_indptr": X.indptr,
        "X_shape": np.array(X.shape, np.int64),
        "Y_indices": Y.indices,
        "Y_indptr": Y.indptr,
        "Y_shape": np.array(Y.shape, np.int64),
    }
    archive = io.BytesIO()  # a zip archive is not written from its beginning to its end, as compressed files are
    np.savez_compressed(archive, **arrays, **{field: np.array(given, str) for field, given in names.items()})
    stream.write(archive.getbuffer())


def _write_rows(stream, X, Y, format, progress):
    if format == "xmlc":
        stream.write(f"{X.shape[0]} {X.shape[1]} {Y.shape[1]}\n".encode())
    empty = " 0:0" if format == "svmlight" else ""  # a row without labels and features
    for rows in _rows(X, Y, ":", stream, progress):
        lines = (" ".join([",".join(map(str, labels)), *features]) or empty for features, labels in rows)
        stream.write("".join(f"{line}\n" for line in lines).encode())


def _rows(X, Y, between, stream, progress):
    """Yield the rows in parts of about ``_CHUNK`` values: of each its features as texts, and the ids of its labels.

    ``between`` stands between id and value. By the share of values, the size of the whole file is known roughly.
    """
    ends = X.indptr.astype(np.int64) + Y.indptr
    for first, stop in blocks_of(ends, _CHUNK, _CHUNK):
        x, y = slice(X.indptr[first], X.indptr[stop]), slice(Y.indptr[first], Y.indptr[stop])
        values = X.data[x].astype("U").tolist()  # the shortest digits that give the float32 back
        features = [f"{i}{between}{value.removesuffix('.0')}" for i, value in zip(X.indices[x].tolist(), values)]
        labels = Y.indices[y].tolist()
        x_ends, y_ends = ((A.indptr[first : stop + 1] - A.indptr[first]).tolist() for A in (X, Y))
        yield [(features[x_ends[i] : x_ends[i + 1]], labels[y_ends[i] : y_ends[i + 1]]) for i in range(stop - first)]
        share, written = float(ends[stop] / ends[-1]) if ends[-1] else 1.0, stream.tell()
        progress("Writing", share, f"{size(written)} of about {size(written / max(share, 1e-9))}")


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

    Features are the first attributes, with as few digits as needed to read the same float32 again, labels the last
    ones. The relation has the name of the file by default. What ARFF or XML cannot hold is a ValueError. Files are
    written completely or not at all. See :func:`write_matrix`.
    """
    path = Path(path)
    X = check_features(X)
    Y = check_labels(Y, n_rows=X.shape[0])
    if Y.shape[1] == 0:
        raise ValueError("Y has no columns: an ARFF file cannot say that it has no labels")
    features = _names(feature_names, "feature_names", X.shape[1])
    labels = _names(label_names, "label_names", Y.shape[1])
    _check_different(features, labels)
    relation = stem(path.name) if relation is None else relation
    if xml is None:
        if _MEKA.search(relation):
            raise ValueError(f"the relation {relation!r:.200} says by -C what the labels are: leave that out")
        relation = f"{relation}: -C -{len(labels)}"
    else:
        content = _xml(labels)
    lines = [f"@relation {_quoted(relation, always=True)}", ""]
    lines += [f"@attribute {_quoted(name)} numeric" for name in features]
    lines += [f"@attribute {_quoted(name)} {{0,1}}" for name in labels]
    with atomic(path) as stream:
        stream.write("\n".join([*lines, "", "@data", ""]).encode())
        for rows in _rows(X, Y, " ", stream, to_progress(progress)):
            lines = (",".join(features + [f"{X.shape[1] + label} 1" for label in labels]) for features, labels in rows)
            stream.write("".join(f"{{{line}}}\n" for line in lines).encode())
    if xml is not None:
        with atomic(Path(xml)) as stream:
            stream.write(content)


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


_BLANKS = re.compile(r"[\s\0]+", re.ASCII)  # where fastText ends a word


def write_fasttext(
    path: FilePath, texts: Iterable[str], label_lists: Iterable[Collection[str]], *, blanks: str | None = None
) -> None:
    """Write texts and labels in fastText's format: ``__label__art __label__law The court``.

    Parameters
    ----------
    path : str or path
        The file is compressed if the name ends in .gz, .bz2 or .xz. It is written completely or not at all.
    texts : iterable of str
        A line break or tab within a text becomes a blank, and repeated blanks one: fastText does not tell them apart.
    label_lists : iterable of lists of str
        Names of the labels of each text.
    blanks : str, optional
        What is written for blanks in names of labels, such as ``"_"``. By default such names are refused, as fastText
        would end them there.

    Raises
    ------
    ValueError
        There are not as many lists as texts, or the last row is empty.
        A name of a label is empty or has blanks, or two become the same; or a text has a word that starts with
        ``__label__``, and would be a label. The message has the row, from 0.
    """
    texts, label_lists = check_texts(texts), check_list(label_lists, "label_lists", "lists of names")
    label_lists = [check_names(row, f"label_lists[{i}]") for i, row in enumerate(label_lists)]
    if len(texts) != len(label_lists):
        raise ValueError(f"there are {len(texts):,} texts, but {len(label_lists):,} lists of labels: give one for each")
    if texts and not texts[-1].strip(" \t\n\r\v\f\0") and not label_lists[-1]:
        raise ValueError(
            f"row {len(texts) - 1}, the last, has neither a text nor labels, and would be lost: leave it out"
        )
    if blanks is not None and (not isinstance(blanks, str) or not blanks or _BLANKS.search(blanks)):
        kind = ValueError if isinstance(blanks, str) else TypeError
        raise kind(f"blanks is {blanks!r:.200}: give a mark without blanks, such as '_'")
    written = {}  # names of labels by what is written for them
    with atomic(Path(path)) as stream:
        for i, (text, labels) in enumerate(zip(texts, label_lists)):
            if broken := next((each for each in (text, *labels) if _HALF.search(each)), None):
                raise ValueError(f"row {i} has half a character in {broken!r:.60}, which UTF-8 cannot write: change it")
            words = [PREFIX + _word(name, blanks, i, written) for name in labels]
            text = _BLANKS.sub(" ", text).strip()
            if text.startswith(PREFIX) or f" {PREFIX}" in text:
                raise ValueError(f"the text of row {i} has a word that starts with {PREFIX}, as labels do: change it")
            stream.write(" ".join([*words, text + "\n"]).encode("utf-8"))


def _word(name, blanks, row, written) -> str:
    """Return the name of a label as it is written; ``written`` maps written forms to the names before."""
    word = name if blanks is None else _BLANKS.sub(blanks, name)
    where, other = f"the label {name!r:.200} of row {row}", written.setdefault(word, name)
    if _BLANKS.search(word):
        found = f"{where} has blanks, where fastText would end it"
        raise InputError(found, "Choose what is written for them.", argument="blanks", value="_")
    if not word or PREFIX in word:
        raise ValueError(f"{where} {'has ' + PREFIX + ' in it' if word else 'is empty'}: rename it")
    if other != name:
        raise ValueError(f"{where} would be {word!r:.200}, as {other!r:.200} is: rename one of them")
    return word
