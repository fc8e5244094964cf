"""TextClassifier: label names in and out, cross-validation, and files that other processes read."""

import copy
import inspect

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.preprocessing import normalize

from xmlcore import PLT, DoubleSampling, LdSM, OneVsRest, TextClassifier, load_model, metrics
from xmlcore.datasets.texts import TextVectorizer
from xmlcore.models import DenseOutput, PackedModel

TOPICS = {"animals": "cat dog horse", "food": "bread cheese wine", "law": "court judge crime", "art": "paint museum"}


def some_texts(n=80, seed=0):
    rng = np.random.default_rng(seed)
    texts, label_lists = [], []
    for _ in range(n):
        topics = rng.choice(list(TOPICS), rng.integers(1, 3), replace=False).tolist()
        words = [word for topic in topics for word in TOPICS[topic].split()]
        texts.append(" ".join(rng.choice([*words, "the", "of"], 8)))
        label_lists.append(topics)
    return texts, label_lists


@pytest.fixture(scope="module")
def fitted():
    return TextClassifier().fit(*some_texts())


def test_it_answers_with_the_names_of_labels(fitted):
    assert fitted.labels_ == sorted(TOPICS) and fitted.n_labels_ == 4
    new = ["a court judged the crime", "wine, bread and cheese", "zzz"]
    ranking = fitted.predict_topk(new, k=2)
    suggested = fitted.suggest(new, k=2)
    assert [row[0][0] for row in suggested[:2]] == ["law", "food"]
    names = [[name for name, _ in row] for row in suggested]
    assert names == [[fitted.labels_[j] for j in row if j >= 0] for row in ranking.labels]
    assert suggested[0][0][1] == pytest.approx(ranking.scores[0, 0])
    assert fitted.predict(new)[1] == ["food"]
    assert not fitted.predict(new, threshold=0.0)[2] and not suggested[2], "a text without a known word has no labels"
    [row], [names] = fitted.suggest(["cat dog bread cheese wine"]), fitted.predict(["cat dog bread cheese wine"])
    assert names == [name for name, score in row if score >= 0.5] and len(names) == 2


def test_series_sets_and_repeated_labels_are_read():
    texts, label_lists = some_texts()
    expected = TextClassifier().fit(texts, label_lists)
    for given in (pd.Series(label_lists), [set(row) for row in label_lists], [row + row for row in label_lists]):
        found = TextClassifier().fit(pd.Series(texts), given)
        np.testing.assert_array_equal(found.predict_topk(texts).scores, expected.predict_topk(texts).scores)


def test_cross_validation_takes_names():
    texts, label_lists = some_texts()
    assert min(cross_val_score(TextClassifier(), texts, label_lists, cv=3)) > 0.9
    scores = cross_val_score(TextClassifier(), texts, label_lists, cv=3, scoring=metrics.scorer("nDCG@2"))
    assert min(scores) > 0.9
    assert min(cross_val_score(TextClassifier(), pd.Series(texts), pd.Series(label_lists), cv=3)) > 0.9


def test_parameters_of_parts_have_two_underscores_and_are_copied():
    one = TextClassifier(PLT(C=2.0))
    other = clone(one).set_params(model__C=3.0, vectorizer__min_df=4)
    assert one.get_params()["model__C"] == 2.0 and one.vectorizer is None
    assert other.get_params()["model__C"] == 3.0 and other.vectorizer.min_df == 4
    for name in ("model__never", "vectorizer__never", "never", "never__C"):
        with pytest.raises(ValueError, match="never"):
            other.set_params(**{name: 1})
    model, vectorizer = PLT(), TextVectorizer()
    TextClassifier(model, vectorizer).fit(*some_texts())
    assert not hasattr(model, "n_features_in_") and not hasattr(vectorizer, "idf_")


def test_a_label_that_was_not_in_training_counts_as_never_found(fitted):
    texts, label_lists = some_texts(20)
    assert fitted.score(texts, label_lists) > 0.9
    assert fitted.score(texts, [["new"]] * 20) == 0.0
    assert metrics.scorer("R@1")(fitted, ["cat dog horse"], [["animals", "new"]]) == 0.5
    assert fitted.label_ids([["new", "law", "newer"], ["newer", "art", "art"]]) == [[4, 3, 5], [5, 1]]


@pytest.mark.parametrize(
    ("texts", "label_lists", "error", "message"),
    [
        (["one"], [[["law"]]], TypeError, r"Y row 0 has the label \['law'\]: a name must be hashable"),
        (["one"], [["law", 1]], TypeError, "Y row 0 has the label 1, but other labels are names"),
        (["one", "two"], [["law"], None], TypeError, "Y row 1 is None: give a list of labels for each row"),
        (["one"], [{"law": 1}], TypeError, "Y row 0 is {'law': 1}: give a list of labels for each row"),
        (["one"], "law", TypeError, "y is 'law'"),
        (["one"], [], ValueError, "there are 1 texts, but 0 lists of labels"),
        (["one"], [[]], ValueError, "has no labels at all"),
        ([None], [["law"]], TypeError, r"texts\[0\] is None"),
    ],
    ids=str,
)
def test_what_does_not_fit_is_named(texts, label_lists, error, message):
    with pytest.raises(error, match=message):
        TextClassifier().fit(texts, label_lists)


@pytest.mark.parametrize("given", [iter, lambda lists: map(list, lists), lambda lists: (row for row in lists)])
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_labels_that_can_be_read_once_only_are_learnt_whole(method, given):
    texts, label_lists = some_texts()
    found = getattr(TextClassifier(DoubleSampling(random_state=0)), method)(texts, given(label_lists))
    assert found.score(texts, given(label_lists)) > 0.5 and found.labels_ == sorted(TOPICS)


def test_a_vectoriser_that_cannot_be_saved_is_refused():
    with pytest.raises(TypeError, match="vectorizer must be a TextVectorizer, not TfidfVectorizer"):
        TextClassifier(vectorizer=TfidfVectorizer(analyzer=str.split)).fit(*some_texts())
    with pytest.raises(TypeError, match="model must be a model of xmlcore"):
        TextClassifier(TextClassifier()).fit(*some_texts())


def test_it_has_whatever_every_model_has(fitted):
    models = [OneVsRest(), PLT(), LdSM(), DoubleSampling()]
    texts, label_lists = some_texts()
    X = TextVectorizer().fit_transform(texts)
    of_models = set.intersection(*(set(dir(model.fit(X, label_lists))) for model in models))
    lacking = {name for name in of_models - set(dir(fitted)) if not name.startswith("_")}
    assert lacking == {"feature_of_column_", "n_jobs"}, "columns are those of rows, and model__n_jobs is a parameter"
    for name in ("fit", "predict", "predict_topk", "predict_proba", "decision_function", "score"):
        mine, theirs = (set(inspect.signature(getattr(cls, name)).parameters) for cls in (TextClassifier, PLT))
        assert theirs - mine <= {"n_candidates", "n_trees"}, name


def test_weights_and_thresholds_are_those_of_the_model():
    texts, label_lists = some_texts()
    X, weights = TextVectorizer().fit_transform(texts), np.arange(80) % 3
    given = {"sample_weight": weights, "label_weight": [1.0, 2.0, 1.0, 5.0]}
    found = TextClassifier(OneVsRest()).fit(texts, label_lists, **given)
    expected = OneVsRest().fit(X, label_lists, **given)
    assert abs(found.predict_proba(texts) - expected.predict_proba(X)).max() == 0
    np.testing.assert_array_equal(found.decision_function(texts), expected.decision_function(X))
    found.threshold_ = 0.9
    assert found.predict(texts) == found.predict(texts, threshold=0.9) != found.predict(texts, threshold=0.2)
    assert found.model_.threshold_ == 0.9 and found.label_counts_.tolist() == expected.label_counts_.tolist()
    with pytest.raises(TypeError, match="DenseOutput takes no sample_weight"):
        TextClassifier(DenseOutput()).fit(texts, label_lists, sample_weight=weights)
    with sklearn.config_context(enable_metadata_routing=True):
        asked = TextClassifier(OneVsRest()).set_fit_request(sample_weight=True)
        search = GridSearchCV(asked, {"model__C": [1.0]}, cv=2).fit(texts, label_lists, sample_weight=weights)
    expected = OneVsRest(C=1.0).fit(X, label_lists, sample_weight=weights)
    np.testing.assert_array_equal(search.best_estimator_.decision_function(texts), expected.decision_function(X))


def test_further_texts_are_learnt_as_the_model_learns_rows():
    texts, label_lists = some_texts()
    found = TextClassifier(LdSM(n_estimators=2)).partial_fit(texts[:50], label_lists[:50])
    vectorizer = TextVectorizer().fit(texts[:50])
    expected = LdSM(n_estimators=2).fit(vectorizer.transform(texts[:50]), label_lists[:50])
    found.partial_fit(texts[50:], [*label_lists[50:-1], ["new"]])
    expected.partial_fit(vectorizer.transform(texts[50:]), [*label_lists[50:-1], ["new"]])
    assert found.labels_ == expected.label_names_ and found.labels_[-1] == "new" and found.n_rows_seen_ == 80
    scores = expected.decision_function(vectorizer.transform(texts))
    np.testing.assert_array_equal(found.decision_function(texts), scores)
    with pytest.raises(TypeError, match="OneVsRest does not learn further texts: LdSM, DoubleSampling,"):
        TextClassifier(OneVsRest()).partial_fit(texts, label_lists)


def test_corrected_texts_are_learnt_as_the_model_learns_corrected_rows():
    texts, label_lists = some_texts()
    found = TextClassifier(PLT(learnable=True)).fit(texts, label_lists)
    before, X = copy.copy(found), found.vectorizer_.transform(texts)
    expected = copy.copy(found.model_).correct([3, 7], X[[3, 8]], [["new"], label_lists[9]])
    assert found.correct([3, 7], [texts[3], texts[8]], [["new"], label_lists[9]]) is found
    assert found.labels_ == expected.label_names_ and found.labels_[-1] == "new" and found.n_rows_seen_ == len(texts)
    np.testing.assert_array_equal(found.decision_function(texts), expected.decision_function(X))
    assert "new" not in before.labels_
    with pytest.raises(TypeError, match="LdSM does not learn corrected texts: learnable PLTs do"):
        TextClassifier(LdSM(n_estimators=1)).fit(texts, label_lists).correct([3], texts[3:4], label_lists[3:4])


def test_scikit_learns_measures_take_predictions_of_texts():
    texts, label_lists = some_texts()
    Y = np.array([[name in row for name in sorted(TOPICS)] for row in label_lists])
    for measure in ("f1_micro", "average_precision"):
        assert min(cross_val_score(TextClassifier(), texts, Y, cv=3, scoring=measure, error_score="raise")) > 0.8
    classes = [row[0] for row in label_lists]
    for measure in ("accuracy", None):
        assert min(cross_val_score(TextClassifier(), texts, classes, cv=3, scoring=measure, error_score="raise")) > 0.4


def test_packed_classes_keep_their_type_and_names_may_be_given(tmp_path):
    texts, label_lists = some_texts()
    model = TextClassifier().fit(texts, [10 * len(row) for row in label_lists])
    again = load_model(PackedModel(model).save(tmp_path / "m.zip"))
    assert again.classes_.tolist() == [10, 20] and again.predict(texts).tolist() == model.predict(texts).tolist()
    named = PackedModel(model.model_, ["short", "long"], vectorizer=model.vectorizer_).estimator
    assert named.classes_.tolist() == ["short", "long"] and model.model_.label_names_ == [10, 20]
    assert TextClassifier().fit(texts, np.eye(4)[np.arange(80) % 4]).suggest(texts[:1], 1)[0][0][0] in range(4)


def test_vectors_beside_texts_are_a_block_of_the_same_weight(tmp_path):
    texts, label_lists = some_texts()
    vectors = np.random.default_rng(0).normal(size=(80, 6))
    model = TextClassifier().fit([pd.Series(texts), vectors], label_lists)
    words = TextVectorizer().fit_transform(texts)
    expected = sp.hstack([words, normalize(vectors)]).toarray() / np.sqrt(2)
    np.testing.assert_allclose(model.vectorizer_.transform([texts, vectors]).toarray(), expected, atol=1e-7)
    assert model.vectorizer_.get_feature_names_out()[-1] == "vector 5"
    PackedModel(model).save(tmp_path / "m.zip")
    for loaded in (load_model(tmp_path / "m.zip"), load_model(model.save(tmp_path / "model"))):
        assert loaded.suggest([texts, sp.csr_array(vectors)]) == model.suggest([texts, vectors])
    assert '[["A text to label"], vectors]' in PackedModel(model).describe()
    alone = model.vectorizer_.transform(model.vectorizer_.without_vectors(texts)).toarray()
    np.testing.assert_array_equal(alone[:, :-6], words.toarray())
    with pytest.raises(ValueError, match="beside the texts in X is 0, but the vectoriser was fitted to 1, of 6"):
        model.predict(texts)
    with pytest.raises(ValueError, match=r"X\[1\] has 9 rows, but X\[0\] has 80 texts"):
        model.fit([texts, vectors[:9]], label_lists)
