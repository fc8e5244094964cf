"""TextVectorizer: texts in, tf-idf weights of words, of words in a row, of stems and of letters out."""

import functools
import hashlib
from array import array
from collections import defaultdict
from collections.abc import Iterable
from itertools import chain, islice
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from xmlcore.arrays import are_blocks, checked_blocks, packed, side_by_side, unpacked
from xmlcore.datasets.errors import InputError, warn
from xmlcore.datasets.texts import cutting
from xmlcore.datasets.texts.words import LETTERS, WORD, WordFinder, lack_blanks
from xmlcore.parameters import AUTO, HasParameters, Parameter, check_parameters, described
from xmlcore.progress import ProgressLike, part_of, silent, to_progress
from xmlcore.typing import Auto, Texts
from xmlcore.validation import INT32_MAX, check_count, check_fitted
from xmlcore.wording import plain, refusal

FORMAT = 1  # of what to_plain returns
SLICE = 1 << 12  # words between two moments, at least, at which other threads may run
BLOCK = 4096  # texts between two reports of progress
ENGLISH = "english"
LONGEST = 8  # words of an n-gram

# In place of "auto" where nothing is tried; the language is guessed where there are stems.
UNTRIED = {"features": cutting.WORDS, "ngrams": (1, 1), "min_df": 2, "language": AUTO}

PARAMETERS = (
    Parameter(
        "features", "Features are",
        "Words, their stems (run for running and runs), or three to five of their letters in a row, which rare words "
        "and misspellings share with others; with letters, each of both blocks has half of the weight. auto: what "
        "trials choose where labels are known, as in TextClassifier and in uploads, and else words.",
        "choice", AUTO,
        options=(AUTO, "words", "stems", "letters", "words+letters", "stems+letters"),
        option_names=("chosen by trials", "words", "stems", "letters", "words and letters", "stems and letters"),
        details="Stems need the package snowballstemmer, which the extra stems brings.",
    ),
    Parameter(
        "ngrams", "Words in a row",
        "Shortest and longest n-gram. (1, 1) are single words; (1, 2) are also pairs of neighbouring words, which tell "
        "more and make several times as many features. Automatic: as features, (1, 1) where nothing is tried.",
        "pair", AUTO, minimum=1, maximum=LONGEST, others=(AUTO,),
    ),
    Parameter(
        "min_df", "Min texts with a word",
        "A word in fewer texts is no feature. A larger number leaves out rare words and misspellings. Automatic: as "
        "features, 2 where nothing is tried.",
        "share", AUTO, maximum=INT32_MAX, others=(AUTO,),
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
    Parameter(
        "language", "Language of stems",
        "auto: the one whose frequent words the texts have.",
        "choice", AUTO, options=(AUTO, *cutting.FREQUENT), option_names=("automatic", *cutting.FREQUENT), advanced=True,
    ),
)  # fmt: skip


@described
class TextVectorizer(HasParameters):
    """Turn texts into rows of tf-idf weights.

    The results are those of scikit-learn's ``TfidfVectorizer`` with the same settings; docs/text.md has the formula.
    Rows are scaled to Euclidean length 1, of each of several blocks alike.

    In place of texts, a list ``[texts, vectors]`` has texts and matrices with a row for each, sparse or dense, such as
    embeddings: each is a block, whose columns come after those of the words.

    {parameters}

    Attributes
    ----------
    n_features_ : int
    n_rows_ : int
        Texts it was fitted to.
    names_ : list of str
        The words of each feature, with blanks between them, or its letters: ``_pre…`` begins a word, ``…ing_`` ends
        one; empty with ``hashing_bits``.
    settings_ : dict
        "features", "ngrams", "min_df" and "language" that it was fitted with: as given, or chosen.
    widths_beside_ : list of int
        Columns of each of the matrices beside the texts; empty for texts alone.
    trials_ : list of dict
        The trials by which they were chosen, in their order: the settings, values of a row in it, and measures.
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

    features: str = AUTO
    ngrams: tuple[int, int] | Auto = AUTO
    min_df: float | Auto = AUTO
    max_df: float = 1.0
    max_features: int | None = None
    sublinear: bool = True
    stop_words: str | list[Any] | tuple[Any, ...] | None = None
    lowercase: bool = True
    strip_accents: str | None = None
    pattern: str = WORD
    hashing_bits: int | None = None
    analyzer: str = AUTO
    language: str = AUTO
    trials_: ClassVar[list[dict[str, Any]]] = []  # of one that was not chosen by trials

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

    @property
    def about(self) -> str:
        """The features in words, such as "stems of English words and pairs of them"."""
        check_fitted(self)
        runs = {(1, 1): "", (1, 2): " and pairs of them"}
        settings, ngrams = self.settings_, tuple(self.settings_["ngrams"])
        row = runs.get(ngrams, f", {ngrams[0]} to {ngrams[1]} in a row,")
        units = {"words": f"words{row}", "letters": "letters in words"}
        units["stems"] = f"stems of {str(settings['language']).title()} words{row}"
        blocks = [units[unit] for unit in settings["features"].split("+")]
        if self.analyzer_ == "letters":
            blocks = ["letters and pairs of letters (analyzer 'letters', for scripts without blanks between words)"]
        return " beside ".join([*blocks, *(f"vectors of {width:,} values" for width in self.widths_beside_)])

    def fit(self, texts: Texts, y: object = None, progress: ProgressLike = silent) -> "TextVectorizer":
        """Choose the features, and count the texts that have each.

        A TypeError says which text is no string, a ValueError that no word is in enough texts, or that there are none.

        Parameters
        ----------
        texts : list, pandas Series or other iterable of str
        y : object, not used, which scikit-learn's pipelines pass
        progress : :class:`xmlcore.progress.Progress` or "bar", optional
        """
        progress = to_progress(progress)
        self.fit_transform(texts, y, progress)
        return self

    def fit_transform(self, texts: Texts, y: object = None, progress: ProgressLike = silent) -> sp.csr_array:
        """Fit to texts, and return their rows, float32 (number of texts, D); each text is read once.

        Parameters
        ----------
        texts : list, pandas Series or other iterable of str
        y : object, not used, which scikit-learn's pipelines pass
        progress : :class:`xmlcore.progress.Progress` or "bar", optional
        """
        progress = to_progress(progress)
        self.check()
        texts, beside = texts_and_blocks(texts)
        if not texts:
            raise ValueError("there are no texts: give at least one")
        stop = list(self.stop_words or ())
        if self.stop_words == ENGLISH:
            from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

            stop = sorted(ENGLISH_STOP_WORDS)
        settings = UNTRIED | self.given()
        least, most = self._bounds(settings["min_df"], len(texts))
        finder = self._finder_of(analyzer := self._analyzer_for(texts))
        if cutting.STEMS in settings["features"]:
            if settings["language"] == AUTO:
                settings["language"] = self.language_of(texts)
            if settings["language"] is None:
                found = "the language of the texts is unknown, so that their words have no stems"
                raise InputError(found, f"Name it: {', '.join(cutting.FREQUENT)}.", argument="language")
        blocks, cuts = [], cutting.cuts_of(settings)
        for i, cut in enumerate(cuts):
            part = part_of(progress, 0.8 * i / len(cuts), 0.8 * (i + 1) / len(cuts))
            blocks.append(self._block(_words(texts, finder, frozenset(stop), part), cut, least, most, len(texts)))
        names, factors, counted = zip(*blocks)
        progress("Weighting words", 0.8, f"{sum(matrix.nnz for matrix in counted):,} words")
        if not any(idf.any() for idf in factors):
            found = f"no word is in at least {least:g} and at most {most:g} of the {len(texts):,} texts"
            remedy = f"Look at how {analyzer} are found, or let fewer texts be enough."
            raise InputError(found, remedy, argument="min_df")
        self._set_fitted(names, factors, stop, len(texts), analyzer, settings, [block.shape[1] for block in beside])
        return self._weighted(counted, beside)

    def transform(self, texts: Texts, progress: ProgressLike = silent) -> sp.csr_array:
        """Return the rows of texts, float32 (number of texts, D).

        Parameters
        ----------
        texts : list, pandas Series or other iterable of str, or [texts, vectors] as they were fitted
            Words that are no features are ignored; a text without any gives an empty row. A TypeError or ValueError
            says which text is no string, or that the vectors do not fit.
        progress : :class:`xmlcore.progress.Progress` or "bar", optional
        """
        progress = to_progress(progress)
        check_fitted(self)
        texts, beside = texts_and_blocks(texts, self.widths_beside_)
        blocks = []
        for cut, numbers in zip(cutting.cuts_of(self.settings_), self._numbers):
            words = _words(texts, self._finder, self._stop, progress)
            blocks.append(_counts(words, cut, self._fitted["hashing_bits"], numbers)[0])
        return self._weighted(blocks, beside)

    def without_vectors(self, texts: list[str]) -> list:
        """Return texts as :meth:`transform` takes them, with zeros in place of vectors that nobody knows."""
        empty = [sp.csr_array((len(texts), width), dtype=np.float32) for width in self.widths_beside_]
        return [texts, *empty] if empty else texts

    def count_unknown(self, texts: Iterable[str]) -> tuple[np.ndarray, np.ndarray]:
        """Count the words, n-grams or letters of each text, and those that are no features, but no stop words."""
        check_fitted(self)
        counts = []
        for words in _words(check_texts(texts), self._finder, self._stop, silent):
            features = [j for cut, number in self._blocks() for j in map(number, cut.terms(words))]
            counts.append((len(features), sum(j is None or self.idf_[j] == 0 for j in features)))
        terms, unknown = np.array(counts, np.int64).reshape(-1, 2).T
        return terms, unknown

    def get_feature_names_out(self, input_features: object = None) -> np.ndarray:
        """Return the words of each feature: ndarray of str objects, shape (D,). Others are "hash 17" and "vector 17".

        Parameters
        ----------
        input_features : object, not used, which scikit-learn's pipelines pass
        """
        check_fitted(self)
        hashed = self._fitted["hashing_bits"] is not None
        words = [f"hash {i}" for i in range(self.idf_.size)] if hashed else self.names_
        return np.array([*words, *(f"vector {i}" for i in range(sum(self.widths_beside_)))], dtype=object)

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
        found = [part for cut, number in self._blocks() for part in self._places(text, cut, number)]
        found = np.array([part for part in found if part[2] is not None and self.idf_[part[2]] > 0], np.int64)
        starts, ends, features = found.reshape(-1, 3).T
        order = np.lexsort((ends, starts))
        return starts[order], ends[order], features[order]

    def to_plain(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return the fitted vectoriser as settings for JSON and arrays, for :meth:`from_plain`; no pickle is needed."""
        check_fitted(self)
        names, name_ends = packed(self.names_)
        stop, stop_ends = packed(self.stop_words_)
        settings = {"format": FORMAT, "params": dict(self._fitted), "n_rows": self.n_rows_, "analyzer": self.analyzer_}
        settings |= {"sizes": self._sizes, "trials": self.trials_}
        settings |= {"beside": self.widths_beside_} if self.widths_beside_ else {}
        arrays = {"names": names, "name_ends": name_ends, "idf": self.idf_}
        return settings, arrays | {"stop_words": stop, "stop_word_ends": stop_ends}

    @classmethod
    def from_plain(cls, settings: dict[str, Any], arrays: dict[str, np.ndarray]) -> "TextVectorizer":
        """Return the vectoriser whose :meth:`to_plain` is given; ValueError if the parts do not fit together."""
        if settings.get("format") != FORMAT:
            raise ValueError(refusal("the vectoriser", settings.get("format"), FORMAT))
        try:
            params = UNTRIED | settings["params"]
            made = cls(**params | {"ngrams": tuple(params["ngrams"])})
            made.check()
            chosen = UNTRIED | made.given()
            trials = [trial | {"ngrams": tuple(trial["ngrams"])} for trial in settings.get("trials", [])]
            names = unpacked(arrays["names"], arrays["name_ends"])
            stop = unpacked(arrays["stop_words"], arrays["stop_word_ends"])
            n_rows, analyzer = check_count(settings["n_rows"], "n_rows"), settings.get("analyzer", "words")
            beside = [check_count(width, "beside", most=INT32_MAX) for width in settings.get("beside", [])]
            if analyzer not in ("words", "letters"):
                raise ValueError(f"its analyzer is {analyzer!r:.200}")
            ends = np.cumsum(settings.get("sizes", [arrays["idf"].size]))[:-1]
            factors = np.split(arrays["idf"], ends)
            names = [names[a:b] for a, b in zip([0, *ends], [*ends, len(names)])]
            _check_features(made, names, factors, cutting.cuts_of(chosen))
        except (KeyError, IndexError, TypeError, AttributeError, ValueError) as error:
            raise ValueError(f"the vectoriser is damaged ({error})") from error
        made._set_fitted(names, factors, stop, n_rows, analyzer, chosen, beside)
        made.trials_ = trials
        return made

    def given(self) -> dict[str, Any]:
        """Return those of the parameters in ``settings_`` that are not "auto"."""
        return {name: value for name in UNTRIED if (value := getattr(self, name)) != AUTO}

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
        """Return how words are found; warn if texts lack blanks between words, and are analysed as if they had."""
        if self.analyzer != "letters" and lack_blanks(texts):
            if self.analyzer == AUTO and self.pattern == WORD:
                return "letters"
            warn("blanks do not show the words of the texts, as in Chinese, Japanese or Thai, so that they are hardly "
                 "found. Letters and pairs of letters can be features.", "analyzer", "letters")  # fmt: skip
        return "words" if self.analyzer == AUTO else self.analyzer

    def language_of(self, texts: list[str]) -> str | None:
        """Return the language of texts by their first words; None if it is unknown, or no stemmer is installed."""
        finder = self._finder_of(cutting.WORDS)
        return cutting.guess_language(_words(texts[: cutting.LOOKED_AT], finder, frozenset(), silent))

    def _finder_of(self, analyzer) -> WordFinder:
        return WordFinder(LETTERS if analyzer == "letters" else self.pattern, self.lowercase, self.strip_accents)

    def _bounds(self, min_df, n_texts) -> tuple[float, float]:
        limits = (min_df, self.max_df)  # counts of texts, or shares of them
        least, most = (n if isinstance(n, (int, np.integer)) else n * n_texts for n in limits)
        if most < least:
            found = f"at most {most:g} texts with a word are fewer than at least {least:g}, of {n_texts:,} texts"
            raise InputError(found, "No word can be a feature.", argument="max_df")
        return least, most

    def _set_fitted(self, names, factors, stop, n_rows, analyzer, settings, beside):
        settings = UNTRIED | settings | {"ngrams": tuple(settings["ngrams"])}
        self._fitted = {name: plain(value) for name, value in (self.get_params() | settings).items()}
        if self._fitted["stop_words"] != ENGLISH:
            self._fitted["stop_words"] = list(stop) or None
        self._finder, self.analyzer_, self.settings_ = self._finder_of(analyzer), analyzer, settings
        self.names_, self.idf_, self.stop_words_ = [*chain(*names)], np.concatenate(factors), list(stop)
        self.n_rows_, self.widths_beside_, self._sizes = int(n_rows), beside, [idf.size for idf in factors]
        self.n_features_ = self.idf_.size + sum(beside)
        self._stop, self._numbers = frozenset(stop), [{name: i for i, name in enumerate(part)} for part in names]

    def _blocks(self):
        """Yield how each block is cut, and a function that gives the feature of a term; None without a feature."""
        first = np.cumsum([0, *self._sizes])
        for cut, numbers, before in zip(cutting.cuts_of(self.settings_), self._numbers, first.tolist()):
            number = _number_of(self._fitted["hashing_bits"], numbers)
            yield cut, lambda term, number=number, before=before: None if (j := number(term)) is None else before + j

    def _places(self, text, cut, number):
        """Yield where each term of a block begins and ends in a text, and its feature; None for others."""
        if cut.unit == cutting.LETTERS:
            words, starts, ends = self._finder.places(text, lambda w: [] if w in self._stop else cutting.letters_of(w))
            yield from zip(starts, ends, map(number, words))
            return
        words, starts, ends = self._finder.places(text)
        kept = [i for i, word in enumerate(words) if word not in self._stop]
        least, most = cut.ngrams
        runs = [(i, j) for n in range(least, most + 1) for i, j in zip(kept, kept[n - 1 :])]
        yield from (
            (starts[i], ends[j], number(term)) for (i, j), term in zip(runs, cut.terms([words[i] for i in kept]))
        )

    def _block(self, words, cut, least, most, n_texts):
        """Return the names of the features of a block, their factors, and how often each text has each."""
        matrix, numbers = _counts(words, cut, self.hashing_bits)
        rows, names = np.bincount(matrix.indices, minlength=matrix.shape[1]), []
        used = (rows >= max(least, 1)) & (rows <= most)
        if self.hashing_bits is None:
            terms = list(numbers)
            kept = np.array(sorted(np.flatnonzero(used).tolist(), key=terms.__getitem__), np.int64)
            if self.max_features is not None and kept.size > self.max_features:
                kept = kept[np.sort(np.argsort(-matrix.sum(axis=0)[kept], kind="stable")[: self.max_features])]
            names = [terms[j] for j in kept]
            matrix, rows, used = sp.csr_array(matrix[:, kept]), rows[kept], used[kept]
            matrix.sort_indices()
        return names, np.where(used, np.log((n_texts + 1) / (rows + 1.0)) + 1.0, 0.0), matrix

    def _weighted(self, blocks, beside) -> sp.csr_array:
        """Return the rows: the weights of each block in a text have the same length, and all together length 1."""
        for counted, idf in zip(blocks, np.split(self.idf_, np.cumsum(self._sizes)[:-1])):
            weights = counted.data
            if self._fitted["sublinear"]:
                np.log(weights, out=weights)
                weights += 1.0
            weights *= idf[counted.indices]
        matrix = side_by_side([*blocks, *beside]).astype(np.float32)
        matrix.eliminate_zeros()  # of hashed features that are in too few or too many texts
        return matrix


def texts_and_blocks(X, widths=None) -> tuple[list[str], list[sp.csr_array]]:
    """Return texts, and the matrices that a list has beside them."""
    texts, *beside = X if are_blocks(X) else (X,)
    texts = check_texts(texts)
    return texts, checked_blocks(beside, widths, "the vectoriser", len(texts))


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


def _number_of(bits, numbers):
    """Return a function that gives the feature of an n-gram; None for n-grams without a feature."""
    if bits is None:
        return numbers.get
    return functools.lru_cache(maxsize=1 << 20)(functools.partial(_hashed, bits=bits))  # nothing is kept after the call


def _counts(words, cut, bits, numbers=None):
    """Return how often each text has each term, from the words of each text, and the numbers of terms.

    Where no ``numbers`` are given, all terms get one.
    """
    if cut.unit == cutting.LETTERS:  # of each word once
        whole, vocabulary = _counted(words, None, None)
        parts, numbers = _counted((cut.terms([word]) for word in vocabulary), bits, numbers)
        matrix = sp.csr_array(whole @ parts)
        matrix.sort_indices()
        return matrix, numbers
    return _counted(map(cut.terms, words), bits, numbers)


def _counted(lists, bits, numbers):
    """Return what :func:`_counts` does, of the terms of each text."""
    grown = numbers is None
    if grown:
        numbers = defaultdict()
        numbers.default_factory = numbers.__len__
    number = numbers.__getitem__ if grown and bits is None else _number_of(bits, numbers)
    parts, width, lists = [sp.csr_array((0, 1))], len(numbers) if bits is None else 1 << bits, iter(lists)
    while block := list(islice(lists, BLOCK)):
        indices, ends = array("i"), array("q", [0])
        for terms in block:
            for at in range(0, len(terms), SLICE):  # millions at once would keep other threads waiting
                indices.extend([j for j in map(number, terms[at : at + SLICE]) if j is not None])
            ends.append(len(indices))
        indices, ends = np.array(indices, np.int32), np.array(ends, np.int64)
        width = len(numbers) if bits is None else 1 << bits
        parts.append(sp.csr_array((np.ones(indices.size), indices, ends), shape=(len(block), width)))
        parts[-1].sum_duplicates()
    for part in parts:
        part.resize(part.shape[0], width)
    return sp.csr_array(sp.vstack(parts, format="csr")), numbers


def _hashed(gram, bits) -> int:
    """Return the feature of an n-gram by its hash, which is the same on every machine."""
    content = gram.encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(content, digest_size=8).digest(), "little") >> (64 - bits)


def _check_features(vectorizer, names, factors, cuts):
    idf = np.concatenate(factors)
    if idf.dtype != np.float64 or idf.ndim != 1 or idf.size == 0 or not np.isfinite(idf).all() or (idf < 0).any():
        raise ValueError("its idf is no array of numbers")
    sizes = [part.size for part in factors]
    if len(cuts) != len(sizes):
        raise ValueError("its features are not as many as it says")
    if vectorizer.hashing_bits is not None:
        if set(sizes) != {1 << vectorizer.hashing_bits} or any(names):
            raise ValueError("its hashed features are not as many as it says")
    elif [*map(len, names)] != sizes or any(len(set(part)) < len(part) for part in names):
        raise ValueError("its features and its factors differ in number, or a feature occurs twice")
