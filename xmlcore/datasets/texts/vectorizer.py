"""TextVectorizer: texts in, tf-idf weights of words and n-grams out."""

import functools
import hashlib
from array import array
from collections.abc import Iterable
from typing import Any

import numpy as np
import scipy.sparse as sp

from xmlcore.arrays import packed, unpacked
from xmlcore.datasets.errors import InputError, warn
from xmlcore.datasets.texts.words import LETTERS, WORD, WordFinder, lack_blanks
from xmlcore.parameters import AUTO, HasParameters, Parameter, check_parameters, described
from xmlcore.progress import ProgressLike, part_of, silent, to_progress
from xmlcore.validation import INT32_MAX, check_count, check_fitted
from xmlcore.wording import plain, refusal

FORMAT = 1  # of what to_plain returns
SLICE = 1 << 12  # words between two moments, at least, at which other threads may run
BLOCK = 4096  # texts between two reports of progress
ENGLISH = "english"
LONGEST = 8  # words of an n-gram

PARAMETERS = (
    Parameter(
        "ngrams", "Words in a row",
        "Shortest and longest n-gram. (1, 1) are single words; (1, 2) are also pairs of neighbouring words, which tell "
        "more and make several times as many features.",
        "pair", (1, 1), minimum=1, maximum=LONGEST,
    ),
    Parameter(
        "min_df", "Min texts with a word",
        "A word in fewer texts is no feature. A larger number leaves out rare words and misspellings.",
        "share", 2, maximum=INT32_MAX,
        details="A whole number counts texts, a fraction is their share. With hashing_bits, it counts texts with a "
        "word of the same hash.",
    ),
    Parameter(
        "max_df", "Max texts with a word",
        "A word in more texts is no feature.",
        "share", 1.0, maximum=INT32_MAX, offered=(0.01, 1.0),
        details="0.5 leaves out words that more than half of the texts have. A whole number counts texts, a fraction "
        "is their share; 1.0 leaves out none.",
    ),
    Parameter(
        "max_features", "Max features",
        "Only so many words are features, those that occur most often. Empty keeps all.",
        "int", None, step=1000, minimum=1, maximum=INT32_MAX, optional=True, empty="all",
    ),
    Parameter(
        "sublinear", "Dampen repeated words", "A word that occurs n times counts 1 + ln(n) instead of n.", "bool", True
    ),
    Parameter(
        "stop_words", "Stop words",
        "Words that are left out before n-grams are formed: english is scikit-learn's list of 318 words such as "
        '"the". Empty leaves out none.',
        "choice", None, options=(ENGLISH,), optional=True, empty="none", also=("list", "tuple"),
        details="A list has words as the texts have them after lower case and accents.",
    ),
    Parameter("lowercase", "Lower case", '"Cat" and "cat" are the same word.', "bool", True),
    Parameter(
        "strip_accents", "Accents",
        'unicode: "é" is read as "e". ascii: characters that have no ASCII form are left out as well. Empty keeps '
        "accents.",
        "choice", None, options=("unicode", "ascii"), optional=True, empty="kept",
    ),
    Parameter(
        "pattern", "Pattern of a word",
        "Regular expression of a word; its group is the word if it has one.",
        "text", WORD, advanced=True,
        details="Other patterns have the syntax of ``re``, but are searched for by the package ``regex``: "
        "a word character is a letter, a digit, an underscore, or a mark that combines with letters.",
    ),
    Parameter(
        "hashing_bits", "Hashing, bits",
        "Bits of a hash: words get one of 2**bits features by their hash, and no list of words is kept. Words with "
        "the same hash share a feature. Empty keeps the list.",
        "int", None, minimum=1, maximum=26, optional=True, empty="off", advanced=True,
        details="For vocabularies that do not fit into memory.",
    ),
    Parameter(
        "analyzer", "Scripts without blanks",
        "How words of Chinese, Japanese, Thai, Khmer and other scripts without blanks between words are found. words: "
        "as all others. letters: each letter is a word, and each pair of neighbouring letters. auto: letters and pairs "
        "if such scripts have more than 5 % of the characters, and the pattern of a word is the usual one.",
        "choice", AUTO, options=(AUTO, "words", "letters"), advanced=True,
        option_names=("automatic", "words", "letters and pairs"),
        details="Words of other scripts are the same with each.",
    ),
)  # fmt: skip


@described
class TextVectorizer(HasParameters):
    """Turn texts into rows of tf-idf weights.

    The results are those of scikit-learn's ``TfidfVectorizer`` with the same settings: a word's weight in a text is its
    count n there, or 1 + ln(n), times ln((1 + N) / (1 + its texts)) + 1, where N is the number of all texts; then rows
    are scaled to Euclidean length 1. Its ``CountVectorizer`` chooses the words. A fitted vectoriser counts without
    scikit-learn, which takes long to import, so that the first answer of a saved model comes quickly.

    {parameters}

    Attributes
    ----------
    n_features_ : int
    n_rows_ : int
        Texts it was fitted to.
    names_ : list of str
        The words of each feature, with blanks between them; empty with ``hashing_bits``.
    idf_ : ndarray of float64, shape (D,)
        Factor of each feature; 0 for features that are left out (with ``hashing_bits`` only).
    stop_words_ : list of str
    analyzer_ : {{"words", "letters"}}

    Examples
    --------
    >>> from xmlcore.datasets.texts import TextVectorizer
    >>> X = TextVectorizer(min_df=1).fit_transform(["a cat and a dog", "a dog"])
    >>> X.shape, X.nnz
    ((2, 3), 4)
    """

    PARAMETERS = PARAMETERS

    ngrams: tuple[int, int] = (1, 1)
    min_df: float = 2
    max_df: float = 1.0
    max_features: int | None = None
    sublinear: bool = True
    stop_words: str | list[Any] | tuple[Any, ...] | None = None
    lowercase: bool = True
    strip_accents: str | None = None
    pattern: str = WORD
    hashing_bits: int | None = None
    analyzer: str = AUTO

    def __sklearn_tags__(self):
        from sklearn.utils import InputTags, Tags, TargetTags, TransformerTags

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=False),
            transformer_tags=TransformerTags(),
            input_tags=InputTags(string=True, two_d_array=False),
        )

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "idf_")

    def fit(self, texts: Iterable[str], y: object = None, progress: ProgressLike = silent) -> "TextVectorizer":
        """Choose the features, and count the texts that have each.

        Parameters
        ----------
        texts : list, pandas Series or other iterable of str
        y : object
            Not used; scikit-learn's pipelines pass it.
        progress : :class:`xmlcore.progress.Progress` or "bar", optional

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
        progress : :class:`xmlcore.progress.Progress` or "bar", optional

        Returns
        -------
        csr_array of float32, shape (number of texts, D)
        """
        progress = to_progress(progress)
        self.check()
        texts = check_texts(texts)
        if not texts:
            raise ValueError("there are no texts: give at least one")
        stop = list(self.stop_words or ())
        if self.stop_words == ENGLISH:
            from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

            stop = sorted(ENGLISH_STOP_WORDS)
        least, most = self._bounds(len(texts))
        analyzer = self._analyzer_for(texts)
        words = _words(texts, self._finder_of(analyzer), frozenset(stop), part_of(progress, 0.0, 0.8))
        if self.hashing_bits is None:
            names, matrix = self._chosen(words)
        else:
            names, matrix = [], _counts(words, self.ngrams, self.hashing_bits, {})
        progress("Weighting words", 0.8, f"{matrix.nnz:,} words")
        rows = np.bincount(matrix.indices, minlength=matrix.shape[1])
        used = (rows >= max(least, 1)) & (rows <= most)
        idf = np.where(used, np.log((len(texts) + 1) / (rows + 1.0)) + 1.0, 0.0)
        if not idf.any():
            found = f"no word is in at least {least:g} and at most {most:g} of the {len(texts):,} texts"
            remedy = f"Look at how {analyzer} are found, or let fewer texts be enough."
            raise InputError(found, remedy, argument="min_df")
        self._set_fitted(names, idf, stop, len(texts), analyzer)
        return self._weighted(matrix)

    def transform(self, texts: Iterable[str], progress: ProgressLike = silent) -> sp.csr_array:
        """Return the rows of texts.

        Parameters
        ----------
        texts : list, pandas Series or other iterable of str
            Words that are no features are ignored; a text without any gives an empty row.
        progress : :class:`xmlcore.progress.Progress` or "bar", optional

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
        words = _words(texts, self._finder, self._stop, progress)
        return self._weighted(_counts(words, self._fitted["ngrams"], self._fitted["hashing_bits"], self._numbers))

    def count_unknown(self, texts: Iterable[str]) -> tuple[np.ndarray, np.ndarray]:
        """Count the words, or n-grams, of each text, and those that are no features; stop words are not counted."""
        check_fitted(self)
        number, counts = _number_of(self._fitted["hashing_bits"], self._numbers), []
        for words in _words(check_texts(texts), self._finder, self._stop, silent):
            features = [number(gram) for gram in _grams(words, self._fitted["ngrams"])]
            counts.append((len(features), sum(j is None or self.idf_[j] == 0 for j in features)))
        terms, unknown = np.array(counts, np.int64).reshape(-1, 2).T
        return terms, unknown

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
        hashed = self._fitted["hashing_bits"] is not None
        return np.array([f"hash {i}" for i in range(self.n_features_)] if hashed else self.names_, dtype=object)

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
        kept = np.array([i for i, word in enumerate(words) if word not in self._stop], np.int64)
        least, most = self._fitted["ngrams"]
        ends = [ends[kept[n - 1 :]] for n in range(least, most + 1)]
        starts = [starts[kept[: part.size]] for part in ends]
        starts, ends = np.concatenate(starts), np.concatenate(ends)
        grams = _grams([words[i] for i in kept], (least, most))
        number = _number_of(self._fitted["hashing_bits"], self._numbers)
        features = np.array([-1 if j is None else j for j in map(number, grams)], np.int32)
        used = features >= 0
        used[used] = self.idf_[features[used]] > 0
        starts, ends, features = starts[used], ends[used], features[used]
        order = np.lexsort((ends, starts))
        return starts[order], ends[order], features[order]

    def to_plain(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return the fitted vectoriser as settings for JSON and arrays, for :meth:`from_plain`; no pickle is needed."""
        check_fitted(self)
        names, name_ends = packed(self.names_)
        stop, stop_ends = packed(self.stop_words_)
        settings = {"format": FORMAT, "params": dict(self._fitted), "n_rows": self.n_rows_, "analyzer": self.analyzer_}
        arrays = {"names": names, "name_ends": name_ends, "idf": self.idf_}
        return settings, arrays | {"stop_words": stop, "stop_word_ends": stop_ends}

    @classmethod
    def from_plain(cls, settings: dict[str, Any], arrays: dict[str, np.ndarray]) -> "TextVectorizer":
        """Return the vectoriser whose :meth:`to_plain` is given; ValueError if the parts do not fit together."""
        if settings.get("format") != FORMAT:
            raise ValueError(refusal("the vectoriser", settings.get("format"), FORMAT))
        try:
            params = {name: tuple(value) if name == "ngrams" else value for name, value in settings["params"].items()}
            made = cls(**params)
            made.check()
            names = unpacked(arrays["names"], arrays["name_ends"])
            stop = unpacked(arrays["stop_words"], arrays["stop_word_ends"])
            n_rows, analyzer = check_count(settings["n_rows"], "n_rows"), settings.get("analyzer", "words")
            if analyzer not in ("words", "letters"):
                raise ValueError(f"its analyzer is {analyzer!r:.200}")
            _check_features(made, names, arrays["idf"])
        except (KeyError, IndexError, TypeError, AttributeError, ValueError) as error:
            raise ValueError(f"the vectoriser is damaged ({error})") from error
        made._set_fitted(names, arrays["idf"], stop, n_rows, analyzer)
        return made

    def check(self) -> None:
        """Raise ValueError or TypeError for the first parameter that ``fit`` would refuse."""
        check_parameters(self, self.PARAMETERS)
        if isinstance(self.stop_words, (list, tuple)):
            for word in self.stop_words:
                if not isinstance(word, str):
                    raise TypeError(f"stop_words has {word!r:.200}: words are strings")
        if self.hashing_bits is not None and self.max_features is not None:
            found = "a number of features needs the list of words that hashing avoids"
            raise InputError(found, "Set one of both to None.", argument="max_features")
        if self.analyzer == "letters" and self.pattern != WORD:
            raise InputError("letters are not found by a pattern", "Reset one of both.", argument="pattern")
        WordFinder(self.pattern)

    def _analyzer_for(self, texts) -> str:
        """Return how texts are analysed; warn if they lack blanks between words, and are analysed as if they had."""
        if self.analyzer != "letters" and lack_blanks(texts):
            if self.analyzer == AUTO and self.pattern == WORD:
                return "letters"
            warn("blanks do not show the words of the texts, as in Chinese, Japanese or Thai, so that they are hardly "
                 "found. Letters and pairs of letters can be features.", "analyzer", "letters")  # fmt: skip
        return "words" if self.analyzer == AUTO else self.analyzer

    def _finder_of(self, analyzer) -> WordFinder:
        return WordFinder(LETTERS if analyzer == "letters" else self.pattern, self.lowercase, self.strip_accents)

    def _bounds(self, n_texts) -> tuple[float, float]:
        limits = (self.min_df, self.max_df)  # counts of texts, or shares of them
        least, most = (n if isinstance(n, (int, np.integer)) else n * n_texts for n in limits)
        if most < least:
            found = f"at most {most:g} texts with a word are fewer than at least {least:g}, of {n_texts:,} texts"
            raise InputError(found, "No word can be a feature.", argument="max_df")
        return least, most

    def _set_fitted(self, names, idf, stop, n_rows, analyzer):
        self._fitted = {name: plain(getattr(self, name)) for name in self._param_names()}
        if self._fitted["stop_words"] != ENGLISH:
            self._fitted["stop_words"] = list(stop) or None
        self._finder, self.analyzer_ = self._finder_of(analyzer), analyzer
        self.names_, self.idf_, self.stop_words_ = names, idf, list(stop)
        self.n_rows_, self.n_features_ = int(n_rows), int(idf.size)
        self._stop, self._numbers = frozenset(stop), {name: i for i, name in enumerate(names)}

    def _chosen(self, words) -> tuple[list[str], sp.csr_array]:
        """Return the n-grams that are features, and how often each text has each; none if there are too few words."""
        from sklearn.feature_extraction.text import CountVectorizer

        counter = CountVectorizer(
            analyzer=functools.partial(_grams, ngrams=self.ngrams),
            min_df=self.min_df,
            max_df=self.max_df,
            max_features=self.max_features,
            dtype=np.float64,
        )
        try:
            matrix = sp.csr_array(counter.fit_transform(words))
        except ValueError as error:
            if str(error).startswith(("empty vocabulary", "After pruning")):
                return [], sp.csr_array((1, 1))
            raise
        matrix.sort_indices()
        return counter.get_feature_names_out().tolist(), matrix

    def _weighted(self, counted: sp.csr_array) -> sp.csr_array:
        weights = counted.data
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


def check_texts(texts) -> list[str]:
    if isinstance(texts, (str, bytes)):
        raise TypeError(f"texts is one {type(texts).__name__}: give a list of texts")
    if len(getattr(texts, "shape", ())) > 1:
        raise TypeError(f"texts has the shape {texts.shape}: give one column of texts")
    try:
        texts = texts if isinstance(texts, list) else list(texts)
    except TypeError:
        raise TypeError(f"texts must be a list of strings, not {type(texts).__name__}") from None
    if not set(map(type, texts)) <= {str}:
        for i, text in enumerate(texts):
            if not isinstance(text, str):
                shown = repr(text)
                raise TypeError(
                    f"texts[{i}] is {shown[:60] + '...' if len(shown) > 60 else shown}: texts are strings, and an "
                    'empty text is ""'
                )
        texts = [str(text) for text in texts]
    return texts


def _words(texts, finder, stop, progress):
    for start in range(0, len(texts), BLOCK):
        progress("Reading words", start / len(texts), f"{start:,} of {len(texts):,} texts")
        for words in finder.words(texts[start : start + BLOCK]):
            yield [word for word in words if word not in stop] if stop else words


def _grams(words, ngrams) -> list[str]:
    """Return the n-grams in words, with blanks between the words of each; shorter ones come first."""
    if tuple(ngrams) == (1, 1):
        return words
    lengths = range(ngrams[0], ngrams[1] + 1)
    return [" ".join(words[at : at + n]) for n in lengths for at in range(len(words) - n + 1)]


def _number_of(bits, numbers):
    """Return a function that gives the feature of an n-gram; None for n-grams without a feature."""
    if bits is None:
        return numbers.get
    return functools.lru_cache(maxsize=1 << 20)(functools.partial(_hashed, bits=bits))  # nothing is kept after the call


def _counts(words, ngrams, bits, numbers) -> sp.csr_array:
    """Return how often each text has each feature, from the words of each text and the numbers of n-grams."""
    indices, ends, number = array("i"), array("q", [0]), _number_of(bits, numbers)
    for text in words:
        grams = _grams(text, ngrams)
        while grams:  # millions at once, also to free them, would keep other threads waiting
            indices.extend([feature for feature in map(number, grams[-SLICE:]) if feature is not None])
            del grams[-SLICE:]
        ends.append(len(indices))
    shape = len(ends) - 1, len(numbers) if bits is None else 1 << bits
    indices, ends = np.array(indices, np.int32), np.array(ends, np.int64)
    matrix = sp.csr_array((np.ones(indices.size), indices, ends), shape=shape)
    matrix.sum_duplicates()
    return matrix


def _hashed(gram, bits) -> int:
    """Return the feature of an n-gram by its hash, which is the same on every machine."""
    content = gram.encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(content, digest_size=8).digest(), "little") >> (64 - bits)


def _check_features(vectorizer, names, idf):
    if idf.dtype != np.float64 or idf.ndim != 1 or idf.size == 0 or not np.isfinite(idf).all() or (idf < 0).any():
        raise ValueError("its idf is no array of numbers")
    if vectorizer.hashing_bits is not None:
        if idf.size != 1 << vectorizer.hashing_bits or names:
            raise ValueError("its hashed features are not as many as it says")
    elif len(names) != idf.size or len(set(names)) < len(names):
        raise ValueError("its features and its factors differ in number, or a feature occurs twice")
