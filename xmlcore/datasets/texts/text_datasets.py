"""Make data sets from files of documents."""

from collections.abc import Callable
from dataclasses import replace
from inspect import signature

import numpy as np
import scipy.sparse as sp

from xmlcore.arrays import columns_of_blocks
from xmlcore.datasets.columns import kept_columns
from xmlcore.datasets.dataset import Dataset
from xmlcore.datasets.errors import DatasetFormatError, InputError
from xmlcore.datasets.readers.label_cells import label_matrix
from xmlcore.datasets.readers.new_rows import read_vectors
from xmlcore.datasets.readers.reading import name_of, named_parts
from xmlcore.datasets.splits import chosen_rows
from xmlcore.datasets.texts.reading import read_like, read_texts
from xmlcore.datasets.texts.vectorizer import TextVectorizer
from xmlcore.progress import ProgressLike, part_of, silent, to_progress
from xmlcore.typing import ArrayLike, Source
from xmlcore.validation import check_dataset


def read_text_dataset(
    train: Source,
    test: Source | None = None,
    name: str | None = None,
    test_size: float | int = 0.2,
    random_state: int = 0,
    *,
    vectorizer: "TextVectorizer | Callable[..., tuple[TextVectorizer, sp.csr_array]] | None" = None,
    split: tuple[ArrayLike, ArrayLike] | None = None,
    vectors: Source | None = None,
    test_vectors: Source | None = None,
    progress: ProgressLike = silent,
    **read_options: object,
) -> Dataset:
    """Read a data set from one or two files of documents: its features are words.

    Parameters
    ----------
    train, test : path, bytes, or binary file object
        See :func:`read_texts`. Without ``test``, some documents of ``train`` become the test rows, drawn at random by
        :func:`split_rows`; the data set's ``notes`` say so.
    name : str, optional
        By default that of the training file, as for :func:`read_dataset`.
    test_size : float or int
        The share of test rows, or their number, if there is no test file.
    random_state : int
        Seed of the split, if there is no test file.
    vectorizer : TextVectorizer or function, optional
        What turns texts into rows; it is copied, and fitted to the training texts, without trials. By default one with
        its defaults. Or what :func:`xmlcore.models.words_by_trials` returns, which chooses the features.
    split : pair of array_like of int, optional
        Numbers of the training rows and of the test rows of ``train``, from 0, in place of a random split.
    vectors, test_vectors : path, bytes, or binary file object, optional
        A matrix with a row for each document of ``train``, and of ``test``, such as embeddings: npy, npz, or another
        file that :func:`read_matrix` reads. Its columns are features beside the words, as a block of the same weight.
    progress : :class:`xmlcore.progress.Progress` or "bar", optional
    **read_options
        The arguments ``text``, ``labels``, ``format``, ``separator``, ``names``, ``encoding``, ``delimiter``,
        ``quoted``, ``header`` and ``max_bytes`` of :func:`read_texts`, for both files.

    Returns
    -------
    Dataset
        With ``texts_train``, ``texts_test`` and the fitted ``vectorizer``. Its labels are those of both files. Other
        columns of a table become ``columns``: docs/text.md.

    Raises
    ------
    DatasetFormatError
        A file cannot be read, or no document has a label.
    """
    progress = to_progress(progress)
    labels = [source.name for source in named_parts(train, test, split)]
    reading = part_of(progress, 0.0, 0.5, phase="Reading the training texts")
    options = signature(read_texts).bind(train, **read_options, name=labels[0], progress=reading)
    options.apply_defaults()
    *part, reader, table = read_like(None, **options.arguments, with_columns=True)
    parts, files, tables = [part], [vectors], [table]
    if test is not None:
        reading = part_of(progress, 0.0, 0.5, phase="Reading the test texts")
        options.arguments |= {"source": test, "name": labels[1], "progress": reading}
        *part, _, table = read_like(reader, **options.arguments, with_columns=True)
        parts.append(part)
        files.append(test_vectors)
        tables.append(table)
    if (test_vectors is None) != (None in (test, vectors)):
        found = "there are vectors of the training texts or of the test texts alone"
        raise InputError(found, "Give both, or one file of texts and one of vectors.", argument="test_vectors")
    most = options.arguments["max_bytes"]
    parts = [(*part, read_vectors(file, len(part[0]), most, progress)) for part, file in zip(parts, files)]
    table, about = kept_columns(tables)
    notes = ()
    if test is None:
        (texts, lists, beside), noun = parts[0], f"documents of {labels[0]}"
        chosen, notes = chosen_rows(len(texts), noun, split, test_size, random_state)
        parts = [
            ([texts[i] for i in rows], [lists[i] for i in rows], [block[rows] for block in beside])
            for rows in map(np.ndarray.tolist, chosen)
        ]
        order = np.concatenate(chosen)
        table = {name: np.asarray(values)[order] for name, values in table.items()}
    names = sorted({label for _, lists, _ in parts for row in lists for label in row})
    if not names:
        remedy = "Does another column list the labels?"
        raise DatasetFormatError(labels[0], "no document has a label", remedy, argument="labels")
    (texts_train, lists_train, _), (texts_test, lists_test, _) = parts
    inputs = [[texts, *beside] if beside else texts for texts, _, beside in parts]
    Y_train = label_matrix(lists_train, names)
    made, X_train = _fitted_to(TextVectorizer() if vectorizer is None else vectorizer, inputs[0], Y_train, progress)
    return Dataset(
        name_of(train) if name is None else name,
        X_train,
        Y_train,
        made.transform(inputs[1], progress=progress),
        label_matrix(lists_test, names),
        made.get_feature_names_out(),
        names,
        notes=(*notes, *about, note_on_features(made)),
        texts_train=texts_train,
        texts_test=texts_test,
        vectorizer=made,
        columns=table or None,
    )


def with_words(
    dataset: Dataset,
    vectorizer: "TextVectorizer | Callable[..., tuple[TextVectorizer, sp.csr_array]]",
    progress: ProgressLike = silent,
) -> Dataset:
    """Return a data set whose features are made anew from its texts; its last note names the vectoriser.

    Parameters
    ----------
    dataset : Dataset
        With ``texts_train`` and ``texts_test``; without them, or without a word in enough of them, a ValueError.
    vectorizer : TextVectorizer or function
        It is copied, and fitted to the training texts; or as for :func:`read_text_dataset`.
    progress : :class:`xmlcore.progress.Progress` or "bar", optional
    """
    progress = to_progress(progress)
    check_dataset(dataset)
    if dataset.texts_train is None or dataset.texts_test is None:
        raise ValueError(f"the data set {dataset.name!r:.200} has no texts to make features from")
    made, X_train = _fitted_to(vectorizer, with_vectors(dataset, "train"), dataset.Y_train, progress)
    return replace(
        dataset,
        X_train=X_train,
        X_test=made.transform(with_vectors(dataset, "test"), progress=progress),
        feature_names=made.get_feature_names_out(),
        vectorizer=made,
        notes=(*dataset.notes, note_on_features(made)),
    )


def with_vectors(dataset: Dataset, part: str) -> list:
    """Return the texts of a part of a data set, in a list with the vectors beside them if there are some."""
    texts, X, vectorizer = getattr(dataset, f"texts_{part}"), getattr(dataset, f"X_{part}"), dataset.vectorizer
    beside = [] if vectorizer is None else columns_of_blocks(X, vectorizer.widths_beside_)
    return [texts, *beside] if beside else texts


def _fitted_to(vectorizer, texts, Y, progress):
    if not isinstance(vectorizer, TextVectorizer):
        return vectorizer(texts, Y, progress)
    made = TextVectorizer(**vectorizer.get_params())
    return made, made.fit_transform(texts, progress=progress)


def note_on_features(vectorizer: TextVectorizer) -> str:
    usual = repr(vectorizer) == f"{type(vectorizer).__name__}()"
    about = vectorizer.about + (", chosen by trials" if vectorizer.trials_ else "")
    how = "" if usual else f" by {vectorizer!r:.200}"
    return f"Features are tf-idf weights of {about}, made{how} from the {vectorizer.n_rows_:,} training texts."
