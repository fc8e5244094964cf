"""Features are made anew from the texts of a data set, by a task."""

import pytest
from making import kept

from tests.experiment.conftest import read_documents
from xmlcore import datasets, experiment
from xmlcore.datasets import TextVectorizer, save_dataset, with_words


def test_the_kept_data_set_has_the_same_rows_and_other_features():
    before = datasets.load_saved(read_documents().load().dataset)
    task = kept("words", {"dataset": before.fingerprint}, vectorizer={"ngrams": (1, 2), "min_df": 1})
    after, made = datasets.load_saved(task.load().dataset), with_words(before, TextVectorizer(ngrams=(1, 2), min_df=1))
    assert after.content_hash == made.content_hash != before.content_hash
    assert (after.texts_train, after.label_names) == (before.texts_train, before.label_names)
    assert (after.Y_test != before.Y_test).nnz == 0 and "one two" in after.feature_names
    assert "min_df=1, ngrams=(1, 2)" in made.notes[-1]
    assert task.load().notes[0] == made.notes[-1] and task.load().notes[1].startswith("Words became")
    trained = kept("train", {"dataset": after.fingerprint}, model="PLT")
    code = experiment.code_of(trained.key)
    assert "words_by_trials(datasets.TextVectorizer(" in code and "datasets.with_words(data, vectorizer)" in code


def test_a_data_set_without_texts_is_refused(easy):
    with pytest.raises(ValueError, match="has no texts to make features from"):
        experiment.keep(experiment.task("words", {"dataset": save_dataset(easy)}, {}))
