"""Choose whether words, pairs of words, stems or letters of texts are features, by trials on some training texts."""

import math
from collections.abc import Callable
from functools import partial

import numpy as np
import scipy.sparse as sp

from xmlcore.datasets.errors import InputError
from xmlcore.datasets.texts import TextVectorizer, cutting
from xmlcore.datasets.texts.vectorizer import UNTRIED, texts_and_blocks
from xmlcore.datasets.texts.words import lack_blanks
from xmlcore.models.plt import PLT
from xmlcore.models.plt.parameters import FAST
from xmlcore.models.plt.trials import RULE, Data, hits_of, rows_of_some_labels
from xmlcore.parameters import AUTO
from xmlcore.progress import Progress, ProgressLike, part_of, silent, to_progress
from xmlcore.ranking import KS
from xmlcore.validation import check_labels

# Each is tried with what was best before it. "+letters" are a block beside it.
LETTERS = "+letters"
STEPS = ({"features": cutting.STEMS}, {"ngrams": (1, 2)}, {"min_df": 1}, {"features": LETTERS})
MOST_ROWS = 16_000  # texts on which settings are tried, at most; and of all texts at most this share:
MOST_SHARE = 0.25
LETTERS_SHARE = 0.1  # this one for letters, of which a text has ten times as many as words
# With fewer texts, trials would take longer than training, and decide by chance. Words that one text has are features
# then: on 1,000 and 2,500 texts of cooking P@1 rose by 1.0 and 1.4, PSP@5 by 3.3 and 3.2.
LEAST_TEXTS = 3000
# A step must raise P@1, P@3 and P@5 on average by this share, and by this one for each doubling of the values of a row,
# and by so many standard errors.
LEAST, DOUBLING, ERRORS = 0.005, 0.007, 1.0
MOST_FOR_LETTERS = 30_000  # texts: with more, a trial of letters takes longer than training, and they gain little
SEED = 5


def words_by_trials(vectorizer: TextVectorizer | None = None) -> Callable[..., tuple[TextVectorizer, sp.csr_array]]:
    r"""Return a function that fits a vectoriser to texts, with settings chosen by trials where they are "auto".

    Parameters
    ----------
    vectorizer : TextVectorizer, optional
        By default one with its defaults.

    Returns
    -------
    function
        Takes texts, or ``[texts, vectors]``, their labels and progress; returns the fitted vectoriser and the rows.
        For the argument ``vectorizer`` of :func:`xmlcore.datasets.read_text_dataset` and
        :func:`xmlcore.datasets.with_words`.

    Examples
    --------
    >>> from xmlcore.datasets import read_text_dataset
    >>> from xmlcore.models import words_by_trials
    >>> lines = b"text,labels\n" + b"a cat sat,animal\nthe court sat,law\n" * 20
    >>> data = read_text_dataset(lines, vectorizer=words_by_trials())
    >>> data.vectorizer.settings_["features"]
    'words'
    """
    return partial(_fitted, TextVectorizer() if vectorizer is None else vectorizer)


def _fitted(vectorizer, texts, Y, progress: ProgressLike = silent):
    progress, (texts, beside) = to_progress(progress), texts_and_blocks(texts)
    vectorizer.check()
    chosen, trials = _chosen(vectorizer, texts, check_labels(Y, len(texts)), part_of(progress, 0.0, 0.5))
    made = type(vectorizer)(**vectorizer.get_params() | chosen)
    X = made.fit_transform([texts, *beside] if beside else texts, progress=part_of(progress, 0.5, 1.0))
    made.trials_ = trials
    return made, X


def _chosen(vectorizer, texts, Y, progress: Progress) -> tuple[dict, list[dict]]:
    """Return settings in place of "auto", and the trials that led to them."""
    given, n_texts = vectorizer.given(), len(texts)
    steps = [step for step in STEPS if not given.keys() & step.keys()]
    if n_texts < LEAST_TEXTS:
        return ({"min_df": 1} if n_texts >= RULE.least_rows and "min_df" not in given else {}), []
    if n_texts > MOST_FOR_LETTERS:
        steps = [step for step in steps if step.get("features") != LETTERS]
    if not steps or lack_blanks(texts[: cutting.LOOKED_AT]):
        return {}, []
    made = []
    trials, best = _Trials(vectorizer, texts, Y, MOST_SHARE, made), UNTRIED | given
    if best["language"] == AUTO and "features" not in given:
        best["language"] = vectorizer.language_of(texts) or AUTO
    for i, step in enumerate([{}, *steps]):
        progress("Choosing words", i / (len(steps) + 1), f"trial {i + 1}")
        if step.get("features") != cutting.STEMS or best["language"] != AUTO:
            settings = best | step
            if settings["features"].startswith("+"):
                settings["features"] = best["features"] + settings["features"]
                trials = _Trials(vectorizer, texts, Y, LETTERS_SHARE, made)
            best = trials.better(best, settings)
    return best, made


class _Trials:
    """Trains small models on some texts, with features of one kind and another, and measures them on other texts."""

    def __init__(self, vectorizer, texts, Y, share: float, made: list[dict]):
        data, n_rows = Data(np.arange(len(texts)), Y, None, None), min(MOST_ROWS, int(share * len(texts)))
        rng = np.random.default_rng(SEED)
        part = rows_of_some_labels(data, n_rows, [SEED, 1])
        part = data.of_rows(rng.choice(len(texts), n_rows, replace=False)) if part is None else part
        order = rng.permutation(part.X.shape[0])
        self._train, self._other = np.split(order, [int(RULE.trained_share * order.size)])
        self._texts, self._Y, self._vectorizer = [texts[i] for i in part.X.tolist()], part.Y, vectorizer
        self._hits, self._made = {}, made  # every trial is added to made
        self._impossible = not (self._Y[self._train].nnz and self._Y[self._other].nnz)

    def better(self, first: dict, other: dict) -> dict:
        """Return the settings that are better, by what they cost, after a trial of those that were not tried yet."""
        if self._impossible:
            return first
        hits, values = self._tried(other)
        reference, before = self._tried(first)
        gains = ((hits - reference) / np.maximum(reference.mean(axis=0), 1 / hits.shape[0])).mean(axis=1)
        doublings = math.log2(max(values, 1) / max(before, 1))
        surely = ERRORS * gains.std() / math.sqrt(gains.size)
        return other if gains.mean() > max(LEAST, DOUBLING * doublings, surely) else first

    def _tried(self, settings) -> tuple[np.ndarray, float]:
        """Return the hits of rows, and the values that a row has."""
        key = repr(settings)
        if key not in self._hits:
            made = type(self._vectorizer)(**self._vectorizer.get_params() | settings)
            try:
                X = made.fit_transform([self._texts[i] for i in self._train])
            except InputError:  # no word is in enough texts
                return np.zeros((self._other.size, len(KS))), 1.0
            model = PLT(quality=FAST, random_state=0).fit(X, self._Y[self._train])
            ranking = model.predict_topk(made.transform([self._texts[i] for i in self._other]), max(KS))
            hits, values = hits_of(self._Y[self._other], ranking.labels), X.nnz / X.shape[0]
            measures = {f"P@{k}": value for k, value in zip(KS, hits.mean(axis=0).tolist())}
            self._made.append(made.settings_ | measures | {"features of a text": values, "texts": len(self._texts)})
            self._hits[key] = hits, values
        return self._hits[key]
