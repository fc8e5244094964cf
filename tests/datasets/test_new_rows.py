"""Whether new rows are like test rows: no false alarms, and what differs is found."""

import numpy as np
import pytest
import scipy.sparse as sp

from xmlcore import OneVsRest
from xmlcore.datasets import Dataset, TextVectorizer, facts_of_rows, unlike_test_rows

TOPICS = 6
WORDS = [[f"word{topic}x{i}" for i in range(30)] for topic in range(TOPICS)]


def texts(n, random, spelled=str):
    """Texts of one topic each, whose words have frequencies as in a language, and the topics."""
    topics = random.choice(TOPICS, n, p=np.arange(TOPICS, 0, -1) / 21)
    share = 1 / np.arange(1, 31)
    share /= share.sum()
    return [" ".join(spelled(w) for w in random.choice(WORDS[t], 12, p=share)) for t in topics], topics


@pytest.fixture(scope="module")
def known():
    random = np.random.default_rng(0)
    (train, of_train), (test, of_test) = texts(300, random), texts(400, random)
    vectorizer = TextVectorizer(min_df=3)
    X, Y = vectorizer.fit_transform(train), [[t] for t in of_train]
    data = Dataset("topics", X, Y, vectorizer.transform(test), [[t] for t in of_test], texts_test=test,
                   texts_train=train, vectorizer=vectorizer)  # fmt: skip
    model = OneVsRest(C=10.0, n_jobs=1).fit(data.X_train, data.Y_train)
    return data, model, facts_of_rows(data, data.X_test, model.predict_topk(data.X_test, 2), test)


def found(known, new, X=None):
    data, model, test = known
    X = data.vectorizer.transform(new) if X is None else X
    ranking = model.predict_topk(X, 2)
    if new is None:
        test = facts_of_rows(data, data.X_test, model.predict_topk(data.X_test, 2))
    return unlike_test_rows(facts_of_rows(data, X, ranking, new), test)


@pytest.mark.parametrize("n", [1, 40, 500])
def test_rows_like_the_test_rows_raise_nothing_however_few(known, n):
    raised = [found(known, texts(n, np.random.default_rng(seed))[0])["differs"] for seed in range(1, 16)]
    assert np.sum(raised) <= 1, "45 lines with one chance in a thousand each"


def test_another_language_other_topics_and_empty_texts_are_found(known):
    random = np.random.default_rng(5)
    foreign = found(known, texts(30, random, lambda word: word[::-1])[0])
    assert (
        foreign["differs"].tolist() == [True] * 4
        and foreign.loc["unknown", "new"] == 1 > foreign.loc["unknown", "bound"]
    )
    rare = [text for text, topic in zip(*texts(300, random)) if topic >= 4]
    assert found(known, rare)["differs"].to_dict()["labels"]
    half = found(known, ["", *texts(1, random)[0]] * 20)
    assert half.loc["empty", ["new", "test", "differs"]].tolist() == [0.5, 0.0, True]
    one = found(known, ["gar nichts davon ist bekannt"])
    assert one.loc["unknown", "differs"] and not one.loc["labels", "differs"]


def test_shuffled_and_unseen_features_are_found(known):
    data = known[0]
    X, random = data.X_test[:60], np.random.default_rng(1)
    assert not found(known, None, X)["differs"].any()
    shuffled = sp.csr_array(X.toarray()[:, random.permutation(X.shape[1])])
    assert found(known, None, shuffled).loc[["score", "labels"], "differs"].any()
    seen = data.X_train.copy()
    seen.data[seen.indices < 40] = 0
    seen.eliminate_zeros()
    less = Dataset("less", seen, data.Y_train, data.X_test, data.Y_test)
    ranking = known[1].predict_topk(X, 2)
    unknown = facts_of_rows(less, X, ranking)
    assert unknown["unknown"].tolist() == (X.toarray()[:, :40] != 0).sum(axis=1).tolist()
    assert unknown["terms"].tolist() == np.diff(X.indptr).tolist()
    damaged = X.copy()
    damaged.indptr = damaged.indptr[::-1].copy()
    with pytest.raises(ValueError, match="X is damaged"):
        facts_of_rows(less, damaged, ranking)
    few = facts_of_rows(data, data.X_test[:9], known[1].predict_topk(data.X_test[:9], 2))
    assert not unlike_test_rows(few.assign(unknown=few["terms"])[:1], few)["differs"].any(), "nine rows tell nothing"
    with pytest.raises(ValueError, match="there are 0 new and 400 test rows"):
        unlike_test_rows(unknown.head(0), known[2])
