"""TextVectorizer: texts in, tf-idf weights of words and n-grams out."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import scipy.sparse as sp

from xmlcore.datasets.texts.grams import Grams, HashedGrams, counts, learn
from xmlcore.datasets.texts.packed import packed, unpacked
from xmlcore.datasets.texts.words import IGNORED, UNKNOWN, WORD, Coder, WordFinder, known_codes
from xmlcore.parameters import HasParameters, Parameter, check_parameters, described
from xmlcore.progress import ProgressLike, part_of, silent, to_progress
from xmlcore.validation import INT32_MAX, check_count, check_fitted
from xmlcore.versions import refusal

FORMAT = 1  # of what to_plain returns
BLOCK = 4096  # texts between two reports of progress, and texts that are hashed at once
ENGLISH = "english"
LONGEST = 8  # words of an n-gram

PARAMETERS = (
    Parameter(
        "ngrams",
        "Words in a row",
        "Shortest and longest n-gram. (1, 1) are single words; (1, 2) are also pairs of neighbouring words, which tell "
        "more and make several times as many features.",
        "pair",
        (1, 1),
        minimum=1,
        maximum=LONGEST,
    ),
    Parameter(
        "min_df",
        "Min texts with a word",
        "A word in fewer texts is no feature. A whole number counts texts, a fraction is their share. A larger number "
        "leaves out rare words and misspellings.",
        "share",
        2,
        maximum=INT32_MAX,
        details="With hashing_bits, it counts texts with a word of the same hash.",
    ),
    Parameter(
        "max_df",
        "Max texts with a word",
        "A word in more texts is no feature: 0.5 leaves out words that more than half of the texts have. A whole "
        "number counts texts, a fraction is their share; 1.0 leaves out none.",
        "share",
        1.0,
        maximum=INT32_MAX,
    ),
    Parameter(
        "max_features",
        "Max features",
        "Only so many words are features, those that occur most often. Empty keeps all.",
        "int",
        None,
        minimum=1,
        maximum=INT32_MAX,
        optional=True,
        empty="all",
    ),
    Parameter(
        "sublinear",
        "Dampen repeated words",
        "A word that occurs n times counts 1 + ln(n) instead of n.",
        "bool",
        True,
    ),
    Parameter(
        "stop_words",
        "Stop words",
        "Words that are left out before n-grams are formed: english is scikit-learn's list of 318 words such as "
        '"the". Empty leaves out none.',
        "choice",
        None,
        options=(ENGLISH,),
        optional=True,
        empty="none",
        also=("list", "tuple"),
        details="A list has words as the texts have them after lower case and accents.",
    ),
    Parameter("lowercase", "Lower case", '"Cat" and "cat" are the same word.', "bool", True),
    Parameter(
        "strip_accents",
        "Accents",
        'unicode: "é" is read as "e". ascii: characters that have no ASCII form are left out as well. Empty keeps '
        "accents.",
        "choice",
        None,
        options=("unicode", "ascii"),
        optional=True,
        empty="kept",
    ),
    Parameter(
        "pattern",
        "Pattern of a word",
        "Regular expression of a word; its group is the word if it has one.",
        "text",
        WORD,
        advanced=True,
        details="Other patterns have the syntax of ``re``, but are searched for by the package ``regex``: "
        "a word character is a letter, a digit, an underscore, or a mark that combines with letters.",
    ),
    Parameter(
        "hashing_bits",
        "Hashing",
        "Bits of a hash: words get one of 2**bits features by their hash, and no list of words is kept. Words with "
        "the same hash share a feature. Empty keeps the list.",
        "int",
        None,
        minimum=1,
        maximum=26,
        optional=True,
        empty="off",
        advanced=True,
        details="For vocabularies that do not fit into memory.",
    ),
)


@described
class TextVectorizer(HasParameters):
    """Turn texts into rows of tf-idf weights.

    The results are those of scikit-learn's ``TfidfVectorizer`` with the same settings: a word's weight in a text is its
    count n there, or 1 + ln(n), times ln((1 + N) / (1 + its texts)) + 1, where N is the number of all texts; then rows
    are scaled to Euclidean length 1. Nothing of scikit-learn is used, so that a saved vectoriser gives the same numbers
    whatever version is installed.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    n_features_ : int
    n_rows_ : int
        Texts it was fitted to.
    words_ : list of str
        Words that features consist of; empty with ``hashing_bits``.
    grams_ : ndarray of int32, shape (D, longest n-gram)
        The words of each feature, by their numbers in ``words_``; shorter ones end with -1.
    idf_ : ndarray of float64, shape (D,)
        Factor of each feature; 0 for features that are left out (with ``hashing_bits`` only).
    stop_words_ : list of str

    Examples
    --------
    >>> from xmlcore.datasets.texts import TextVectorizer
    >>> X = TextVectorizer(min_df=1).fit_transform(["a cat and a dog", "a dog"])
    >>> X.shape, X.nnz
    ((2, 3), 4)
    """

    PARAMETERS = PARAMETERS

    def __init__(
        self,
        ngrams: tuple[int, int] = (1, 1),
        min_df: float = 2,
        max_df: float = 1.0,
        max_features: int | None = None,
        sublinear: bool = True,
        stop_words: str | list[Any] | tuple[Any, ...] | None = None,
        lowercase: bool = True,
        strip_accents: str | None = None,
        pattern: str = WORD,
        hashing_bits: int | None = None,
    ):
        self.ngrams = ngrams
        self.min_df = min_df
        self.max_df = max_df
        self.max_features = max_features
        self.sublinear = sublinear
        self.stop_words = stop_words
        self.lowercase = lowercase
        self.strip_accents = strip_accents
        self.pattern = pattern
        self.hashing_bits = hashing_bits

    def __sklearn_tags__(self):
        """Return the tags by which scikit-learn's tools learn what the vectoriser accepts."""
        from sklearn.utils import InputTags, Tags, TargetTags, TransformerTags

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=False),
            transformer_tags=TransformerTags(),
            input_tags=InputTags(string=True, two_d_array=False),
        )

    def __sklearn_is_fitted__(self) -> bool:
        """Return whether ``fit`` has been completed."""
        return hasattr(self, "idf_")

    def fit(self, texts: Iterable[str], y: object = None, progress: ProgressLike = silent) -> "TextVectorizer":
        """Choose the features, and count the texts that have each.

        Parameters
        ----------
        texts : list, pandas Series or other iterable of str
        y : object
            Not used; scikit-learn's pipelines pass it.
        progress : callable or "bar", optional
            See :class:`xmlcore.progress.Progress`.

        Returns
        -------
        TextVectorizer
            The vectoriser.

        Raises
        ------
        TypeError
            A text is not a string; the message says which.
        ValueError
            There are no texts, or no word is in enough of them.
        """
        progress = to_progress(progress)
        self.fit_transform(texts, y, progress)
        return self

    def fit_transform(self, texts: Iterable[str], y: object = None, progress: ProgressLike = silent) -> sp.csr_array:
        """Fit to texts, and return their rows; each text is read once.

        Parameters
        ----------
        texts : list, pandas Series or other iterable of str
        y : object
            Not used; scikit-learn's pipelines pass it.
        progress : callable or "bar", optional
            See :class:`xmlcore.progress.Progress`.

        Returns
        -------
        csr_array of float32, shape (number of texts, D)
        """
        progress = to_progress(progress)
        self._check_params()
        texts = check_texts(texts)
        if not texts:
            raise ValueError("there are no texts: give at least one")
        stop = english_stop_words() if self.stop_words == ENGLISH else list(self.stop_words or ())
        finder = WordFinder(self.pattern, self.lowercase, self.strip_accents)
        if self.hashing_bits is not None:
            numbers = dict.fromkeys(stop, IGNORED)
            matrix = _hashed(texts, finder, numbers, tuple(self.ngrams), self.hashing_bits, progress)
            rows = np.bincount(matrix.indices, minlength=matrix.shape[1])
            least, most = self._bounds(len(texts))
            idf = np.where((rows >= max(least, 1)) & (rows <= most), _idf(rows, len(texts)), 0.0)
            words, grams = [], np.zeros((0, self.ngrams[1]), np.int32)
        else:
            coder = Coder(finder, stop)
            codes, ends = _in_blocks(texts, coder.codes, progress)
            words, grams, rows, codes = self._chosen(coder.words, codes, ends)
            idf = _idf(rows, len(texts))
            matrix = counts(Grams(grams, len(words)), codes, ends, len(grams))
        if not idf.any():
            raise ValueError(
                f"no word is in at least {self.min_df} and at most {self.max_df} of the {len(texts):,} texts (whole "
                "numbers count texts, fractions are shares): lower min_df, raise max_df, or look at pattern and "
                "stop_words"
            )
        self._set_fitted(words, grams, idf, stop, len(texts))
        return self._weighted(matrix)

    def transform(self, texts: Iterable[str], progress: ProgressLike = silent) -> sp.csr_array:
        """Return the rows of texts.

        Parameters
        ----------
        texts : list, pandas Series or other iterable of str
            Words that are no features are ignored; a text without any gives an empty row.
        progress : callable or "bar", optional
            See :class:`xmlcore.progress.Progress`.

        Returns
        -------
        csr_array of float32, shape (number of texts, D)

        Raises
        ------
        NotFittedError
            The vectoriser is not fitted.
        TypeError
            A text is not a string; the message says which.
        """
        progress = to_progress(progress)
        check_fitted(self)
        texts = check_texts(texts)
        if self._grams is None:
            ngrams, bits = tuple(self._fitted["ngrams"]), self._fitted["hashing_bits"]
            return self._weighted(_hashed(texts, self._finder, self._numbers, ngrams, bits, progress))
        codes, ends = _in_blocks(texts, lambda block: known_codes(block, self._finder, self._numbers), progress)
        return self._weighted(counts(self._grams, codes, ends, self.n_features_))

    def get_feature_names_out(self, input_features: object = None) -> np.ndarray:
        """Return the words of each feature: ndarray of str objects, shape (D,). Hashed features are "hash 17".

        Parameters
        ----------
        input_features : object
            Not used; scikit-learn's pipelines pass it.

        Returns
        -------
        ndarray of object
        """
        check_fitted(self)
        if self._grams is None:
            return np.array([f"hash {i}" for i in range(self.n_features_)], dtype=object)
        return np.array(_names(self.words_, self.grams_), dtype=object)

    def spans(self, text: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return where features stand in a text.

        Parameters
        ----------
        text : str

        Returns
        -------
        starts, ends : ndarray of int64
            Characters ``text[start:end]``, in the order of the starts. An n-gram reaches from its first to its last
            word, over stop words between them.
        features : ndarray of int32
        """
        check_fitted(self)
        (text,) = check_texts([text])
        words, starts, ends = self._finder.places(text)
        numbers, grams = self._numbers, self._grams
        if grams is None:
            distinct = [word for word in dict.fromkeys(words) if word not in numbers]
            grams = HashedGrams(tuple(self._fitted["ngrams"]), self._fitted["hashing_bits"], distinct)
            numbers = numbers | {word: i for i, word in enumerate(distinct)}
        codes = np.array([numbers.get(word, UNKNOWN) for word in words], np.int32)
        kept = codes != IGNORED
        codes, starts, ends = codes[kept], starts[kept], ends[kept]
        found = [
            (starts[at], ends[at + length - 1], features)
            for length, at, features in grams.find(codes, np.array([codes.size], np.int64))
        ]
        starts, ends, features = (np.concatenate(parts) for parts in zip(*found))
        used = self.idf_[features] > 0
        starts, ends, features = starts[used], ends[used], features[used]
        order = np.lexsort((ends, starts))
        return starts[order], ends[order], features[order]

    def to_plain(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return the fitted vectoriser as settings for JSON, and arrays, for :meth:`from_plain`; no pickle is needed.

        Returns
        -------
        settings : dict
        arrays : dict of str to ndarray
        """
        check_fitted(self)
        words, word_ends = packed(self.words_)
        stop, stop_ends = packed(self.stop_words_)
        settings = {"format": FORMAT, "params": dict(self._fitted), "n_rows": self.n_rows_}
        arrays = {"words": words, "word_ends": word_ends, "grams": self.grams_, "idf": self.idf_}
        return settings, arrays | {"stop_words": stop, "stop_word_ends": stop_ends}

    @classmethod
    def from_plain(cls, settings: dict[str, Any], arrays: dict[str, np.ndarray]) -> "TextVectorizer":
        """Return the vectoriser whose :meth:`to_plain` is given; it gives exactly the same numbers.

        Parameters
        ----------
        settings : dict
        arrays : dict of str to ndarray

        Returns
        -------
        TextVectorizer

        Raises
        ------
        ValueError
            The parts do not fit together, or another version of the program wrote them.
        """
        if settings.get("format") != FORMAT:
            raise ValueError(refusal("the vectoriser", settings.get("format"), FORMAT))
        try:
            params = {name: tuple(value) if name == "ngrams" else value for name, value in settings["params"].items()}
            made = cls(**params)
            made._check_params()
            words = unpacked(arrays["words"], arrays["word_ends"])
            stop = unpacked(arrays["stop_words"], arrays["stop_word_ends"])
            grams, idf = arrays["grams"], arrays["idf"]
            n_rows = check_count(settings["n_rows"], "n_rows")
            _check_grams(made, words, grams, idf)
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise ValueError(f"the vectoriser is damaged ({error})") from error
        made._set_fitted(words, grams, idf, stop, n_rows)
        return made

    def check(self) -> None:
        """Raise an error if ``fit`` would refuse the parameters.

        Raises
        ------
        ValueError, TypeError
            The message names the first parameter whose value cannot be used.
        """
        self._check_params()

    def _check_params(self) -> None:
        """Raise a ValueError or TypeError that names the first parameter with a value that ``fit`` cannot use."""
        check_parameters(self, self.PARAMETERS)
        if isinstance(self.stop_words, (list, tuple)):
            for word in self.stop_words:
                if not isinstance(word, str):
                    raise TypeError(f"stop_words has {word!r}: words are strings")
        if self.hashing_bits is not None and self.max_features is not None:
            raise ValueError("max_features needs the list of words that hashing_bits avoids: set one of them to None")
        WordFinder(self.pattern)

    def _bounds(self, n_texts) -> tuple[float, float]:
        """Return in how many texts a word must be, at least and at most."""
        least, most = (value if _is_count(value) else value * n_texts for value in (self.min_df, self.max_df))
        if most < least:
            raise ValueError(
                f"max_df={self.max_df!r} is fewer texts than min_df={self.min_df!r}, of {n_texts:,} texts: no word can "
                "be a feature"
            )
        return least, most

    def _chosen(self, words, codes, ends):
        """Return the words and n-grams that are features, their numbers of texts, and the codes for these words."""
        least, most = self._bounds(ends.size)
        grams, rows, times = learn(codes, ends, len(words), tuple(self.ngrams), max(least, 1))
        few = rows <= most
        grams, rows, times = grams[few], rows[few], times[few]
        names = _names(words, grams)
        order = sorted(range(len(names)), key=names.__getitem__)
        if self.max_features is not None and self.max_features < len(order):
            order = np.array(order)
            often = np.argsort(-times[order], kind="stable")[: self.max_features]
            order = order[np.sort(often)]
        grams, rows = grams[order], rows[order]
        used = np.unique(grams[grams >= 0])
        number = np.full(len(words) + 1, -1, np.int32)  # the last one is for the -1 that ends shorter n-grams
        number[used] = np.arange(used.size)
        return [words[i] for i in used], number[grams], rows, number[codes]

    def _set_fitted(self, words, grams, idf, stop, n_rows):
        """Set the fitted attributes."""
        self._fitted = {name: _plain(getattr(self, name)) for name in self._param_names()}
        if self._fitted["stop_words"] != ENGLISH:
            self._fitted["stop_words"] = list(stop) or None
        self._finder = WordFinder(self.pattern, self.lowercase, self.strip_accents)
        self.words_, self.grams_, self.idf_, self.stop_words_ = words, grams, idf, list(stop)
        self.n_rows_, self.n_features_ = int(n_rows), int(idf.size)
        hashed = self.hashing_bits is not None
        self._grams = None if hashed else Grams(grams, len(words))
        self._numbers = {word: i for i, word in enumerate(words)} | dict.fromkeys(stop, IGNORED)

    def _weighted(self, counted: sp.csr_array) -> sp.csr_array:
        """Return tf-idf weights from counts."""
        weights = counted.data.astype(np.float64)
        if self._fitted["sublinear"]:
            weights = np.log(weights) + 1.0
        weights *= self.idf_[counted.indices]
        row_of = np.repeat(np.arange(counted.shape[0]), np.diff(counted.indptr))
        lengths = np.sqrt(np.bincount(row_of, weights**2, minlength=counted.shape[0]))
        lengths[lengths == 0] = 1.0
        weights /= lengths[row_of]
        matrix = sp.csr_array((weights.astype(np.float32), counted.indices, counted.indptr), shape=counted.shape)
        matrix.eliminate_zeros()  # of hashed features that are in too few or too many texts
        matrix.has_canonical_format = True
        return matrix


def check_texts(texts, name: str = "texts") -> list[str]:
    """Return texts as a list, or raise TypeError that says which one is not a string."""
    if isinstance(texts, (str, bytes)):
        raise TypeError(f"{name} is one {type(texts).__name__}: give a list of texts")
    if len(getattr(texts, "shape", ())) > 1:
        raise TypeError(f"{name} has the shape {texts.shape}: give one column of texts")
    try:
        texts = texts if isinstance(texts, list) else list(texts)
    except TypeError:
        raise TypeError(f"{name} must be a list of strings, not {type(texts).__name__}") from None
    if not set(map(type, texts)) <= {str}:
        for i, text in enumerate(texts):
            if not isinstance(text, str):
                shown = repr(text)
                raise TypeError(
                    f"{name}[{i}] is {shown[:60] + '...' if len(shown) > 60 else shown}: texts are strings, and an "
                    'empty text is ""'
                )
        texts = [str(text) for text in texts]
    return texts


def english_stop_words() -> list[str]:
    """Return scikit-learn's list of English stop words, sorted."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    return sorted(ENGLISH_STOP_WORDS)


def _in_blocks(texts, read, progress) -> tuple[np.ndarray, np.ndarray]:
    """Return what ``read`` returns for all texts, read in blocks: codes, and the end of each text."""
    report = part_of(progress, 0.0, 0.8)
    codes, ends, size = [], [], 0
    for start in range(0, len(texts), BLOCK):
        report("Reading words", start / len(texts), f"{start:,} of {len(texts):,} texts")
        found, stops = read(texts[start : start + BLOCK])
        codes.append(found)
        ends.append(stops + size)
        size += found.size
    progress("Weighting words", 0.8, f"{size:,} words")
    if not codes:
        return np.zeros(0, np.int32), np.zeros(0, np.int64)
    return np.concatenate(codes), np.concatenate(ends)


def _hashed(texts, finder, ignored, ngrams, bits, progress) -> sp.csr_array:
    """Count the hashed features of texts, without the words that are ``ignored``."""
    blocks = []
    for start in range(0, max(len(texts), 1), BLOCK):
        progress("Reading words", start / max(len(texts), 1), f"{start:,} of {len(texts):,} texts")
        coder = Coder(finder, ignored)
        codes, ends = coder.codes(texts[start : start + BLOCK])
        blocks.append(counts(HashedGrams(ngrams, bits, coder.words), codes, ends, 1 << bits))
    return sp.csr_array(sp.vstack(blocks, format="csr"))


def _names(words, grams) -> list[str]:
    """Return the words of each n-gram, with blanks between them."""
    if grams.shape[1] == 1:
        return [words[i] for i in grams[:, 0].tolist()]
    return [" ".join([words[i] for i in gram if i >= 0]) for gram in grams.tolist()]


def _idf(rows, n_texts) -> np.ndarray:
    """Return the smoothed inverse document frequencies of features that are in so many rows."""
    return np.log((n_texts + 1) / (rows + 1.0)) + 1.0


def _is_count(value) -> bool:
    """Return whether a number of texts is a count, and not a share."""
    return isinstance(value, (int, np.integer))


def _plain(value):
    """Return the value of a parameter as JSON has it."""
    value = value.item() if isinstance(value, np.generic) else value
    return [_plain(part) for part in value] if isinstance(value, (list, tuple)) else value


def _check_grams(vectorizer, words, grams, idf):
    """Raise ValueError unless the arrays of a saved vectoriser fit together."""
    width = vectorizer.ngrams[1]
    if idf.dtype != np.float64 or idf.ndim != 1 or idf.size == 0 or not np.isfinite(idf).all() or (idf < 0).any():
        raise ValueError("its idf is no array of numbers")
    if grams.dtype != np.int32 or grams.ndim != 2 or grams.shape[1] != width:
        raise ValueError(f"its n-grams have the shape {grams.shape} and type {grams.dtype}")
    if vectorizer.hashing_bits is not None:
        if idf.size != 1 << vectorizer.hashing_bits or len(grams) or words:
            raise ValueError("its hashed features are not as many as it says")
        return
    if len(grams) != idf.size or len(set(words)) < len(words):
        raise ValueError("its features and its factors differ in number, or words occur twice")
    ended = np.diff((grams >= 0).astype(np.int8), axis=1)
    if grams.min() < -1 or grams.max() >= len(words) or (grams[:, 0] < 0).any() or (ended > 0).any():
        raise ValueError("its n-grams have words that are not in its list")
    if len(np.unique(grams, axis=0)) < len(grams):
        raise ValueError("an n-gram occurs twice")
