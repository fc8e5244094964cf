"""Planted faults are found first, and decisions of a reviewer make the labels that they say."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from xmlcore import PLT, LdSM, NearestRows, OneVsRest, TextClassifier, review
from xmlcore.datasets import make_synthetic
from xmlcore.progress import silent
from xmlcore.review.out_of_fold import out_of_fold

N_PLANTED = 60


@pytest.fixture(scope="module")
def planted():
    """Rows, labels with faults, and the places of labels that were put in and that were taken out."""
    data = make_synthetic("small", n_train=1500, feature_noise=0.1, label_noise=0.0, random_state=1)
    Y, rng = data.Y_train.toarray().astype(bool), np.random.default_rng(0)
    out = rng.permutation(np.argwhere(Y & (Y.sum(axis=1) > 1)[:, None]))[:N_PLANTED]
    drawn = np.column_stack([rng.integers(1500, size=999), rng.permutation(data.Y_train.indices)[:999]])  # by frequency
    into = drawn[~Y[tuple(drawn.T)]][:N_PLANTED]
    Y[tuple(out.T)], Y[tuple(into.T)] = False, True
    return data.X_train, sp.csr_array(Y), set(map(tuple, into.tolist())), set(map(tuple, out.tolist()))


@pytest.fixture(scope="module")
def found(planted):
    return review.doubts(PLT(), *planted[:2], n_candidates=5)


def test_planted_faults_are_the_first_doubts_of_their_kind(found, planted):
    def n_right(lines, faults):
        return sum(
            pair in faults for pair in lines[["row", "label"]].head(N_PLANTED).itertuples(index=False, name=None)
        )

    missing, wrong = (found[found["kind"] == kind] for kind in ("missing", "wrong"))
    assert n_right(missing, planted[3]) > 10 * N_PLANTED * N_PLANTED / len(missing)  # ten times as many as by chance
    assert n_right(wrong, planted[2]) > 10 * N_PLANTED * N_PLANTED / len(wrong)


def test_doubts_are_of_all_labels_of_rows_and_of_candidates(found, planted):
    Y = planted[1]
    has = np.asarray(Y[found["row"], found["label"]]).astype(bool)
    assert (has == (found["kind"] == "wrong")).all() and has.sum() == Y.nnz
    assert (np.diff(found["doubt"]) <= 0).all() and found["doubt"].between(0, 1).all()
    missing = found[~has]
    assert (missing["doubt"] == missing["probability"]).all()
    assert not found.duplicated(["row", "label"]).any()


def test_rows_are_scored_by_models_that_have_not_seen_them(planted):
    X, Y = planted[:2]
    parts, seen = np.arange(X.shape[0]) % 3, []

    class Spy(NearestRows):
        def fit(self, X, Y, **named):
            seen.append(X.shape[0])
            return super().fit(X, Y, **named)

    given, first, drawn = out_of_fold(Spy(n_neighbors=1), X, Y, parts, 5, 0, silent)
    assert seen == [1000, 1000, 1000]
    counts = np.bincount(Y.indices, minlength=Y.shape[1])
    own = np.stack([np.bincount(sp.csr_array(Y[parts == i]).indices, minlength=Y.shape[1]) for i in range(3)])
    assert (given.learnt == (counts - own)[parts[given.row], given.label]).all()
    assert not np.asarray(Y[drawn.row, drawn.label]).any() and not np.asarray(Y[first.row, first.label]).any()
    twin = NearestRows(n_neighbors=1).fit(X[parts != 0], Y[parts != 0])
    rows = np.flatnonzero(parts == 0)[:20]
    wanted = twin.predict_proba(X[rows]).toarray()
    for row, label, p in zip(given.row, given.label, given.p):
        if row in rows[:20]:
            assert p == pytest.approx(wanted[list(rows).index(row), label])


@pytest.mark.filterwarnings("ignore:.*splits separated nothing")
@pytest.mark.parametrize("model", [NearestRows(), LdSM(n_estimators=2), OneVsRest()])
def test_probabilities_are_those_of_predict_proba(planted, model):
    X, Y, parts = planted[0][:300], planted[1][:300], np.arange(300) % 2
    found = review.doubts(model, X, Y, parts, n_candidates=3)
    assert found[found["kind"] == "missing"].groupby("row").size().max() == 3
    for part in (0, 1):
        P = model.fit(X[parts != part], Y[parts != part]).predict_proba(X).toarray()
        lines = found[parts[found["row"]] == part]
        assert lines["probability"].to_numpy() == pytest.approx(P[lines["row"], lines["label"]], abs=1e-5)
    pd.testing.assert_frame_equal(found.head(50), review.doubts(model, X, Y, parts, n_candidates=3, most=50))


@pytest.mark.parametrize("X", [np.eye(4), [np.eye(3), np.eye(4)], ["a"] * 2, np.eye(4).tolist()])
def test_rows_that_do_not_fit_the_labels_are_refused(X):
    with pytest.raises(ValueError, match="X and Y must have as many rows, but have (4|-1|2) and 3"):
        review.doubts(PLT(), X, [[0], [1], [0]], cv=2)


def test_a_wrong_label_of_a_text_is_found():
    words = [("sun rain wind", [0]), ("goal team score", [1]), ("bread soup cake", [2])] * 20
    texts, labels = [f"{text} {i}" for i, (text, _) in enumerate(words)], [list(one) for _, one in words]
    labels[3] = [2]
    found = review.doubts(TextClassifier(), texts, labels, cv=4)
    assert found[found["kind"] == "wrong"].iloc[0][["row", "label"]].tolist() == [3, 2]
    assert found[found["kind"] == "missing"].iloc[0][["row", "label"]].tolist() == [3, 0]


@pytest.mark.parametrize(
    "form", [np.array, list, lambda names: [{name} for name in names]], ids=["array", "list", "sets"]
)
def test_doubts_take_names_of_labels_as_fit_does(form):
    ids = np.arange(60) % 3
    ids[7] = 0
    X, Y = np.eye(3)[np.arange(60) % 3], form([["goal", "soup", "sun"][i] for i in ids])
    found, by_ids = (review.doubts(PLT(), X, labels, cv=3) for labels in (Y, [[i] for i in ids]))
    pd.testing.assert_frame_equal(found.drop(columns="name"), by_ids)
    assert found["name"].tolist() == [["goal", "soup", "sun"][i] for i in found["label"]]
    made = review.corrected(Y, [[7, 0, "remove"], [7, 1, "add"]])
    assert made.indices.tolist() == (np.arange(60) % 3).tolist()


def test_numbers_by_label_are_the_sums_of_doubts(found):
    table = review.by_label(found)
    for kind in ("wrong", "missing"):
        sums = found[found["kind"] == kind].groupby("label")["doubt"].sum()
        assert table.set_index("label")[kind].to_numpy() == pytest.approx(
            sums.reindex(table["label"], fill_value=0).to_numpy()
        )
        assert (table[f"{kind}_low"] <= table[kind]).all() and (table[kind] <= table[f"{kind}_high"]).all()


def test_labels_that_other_parts_lack_are_not_doubted():
    X = np.eye(6) + 0.1
    found = review.doubts(PLT(), X, [[0], [0], [0], [1], [1], [2]], cv=[0, 1, 0, 1, 0, 1])
    of = found[(found["kind"] == "wrong") & (found["label"] == 2)]
    assert of["doubt"].tolist() == [0.0]


@pytest.mark.parametrize(
    ("cv", "what"),
    [(1, "n_folds"), ([0, 1], "the part of each of 3 rows"), ([1, 1, 1], "of at least two parts"),
     (4, "there are only 3 rows")],
)  # fmt: skip
def test_parts_that_cannot_be_are_refused(cv, what):
    with pytest.raises(ValueError, match=what):
        review.doubts(PLT(), np.eye(3), [[0], [1], [0]], cv=cv)


@pytest.mark.parametrize("n_labels", [3, 5, 20])
def test_labels_that_are_all_right_are_hardly_doubted(n_labels):
    rng = np.random.default_rng(n_labels)
    Y = np.eye(n_labels, dtype=bool)[rng.integers(n_labels, size=300)]
    found = review.doubts(PLT(), Y + 0.3 * rng.random(Y.shape), sp.csr_array(Y))
    assert found.loc[found["kind"] == "wrong", "doubt"].sum() < 0.02 * 300


def test_rows_without_labels_have_nothing_to_doubt():
    with pytest.raises(ValueError, match="no labels at all|none of the 3 rows has a label"):
        review.doubts(PLT(), np.eye(3), [[], [], []])


def test_the_last_decision_holds_and_the_labels_given_stay():
    Y = sp.csr_array(np.array([[1, 0, 1], [0, 1, 0]], bool))
    decisions = [[0, 0, "remove"], [1, 2, "add"], [0, 2, "remove"], [0, 2, "keep"], [1, 1, "keep"]]
    assert review.corrected(Y, decisions).toarray().tolist() == [[0, 0, 1], [0, 1, 1]]
    assert review.corrected(Y, pd.DataFrame(decisions, columns=["row", "label", "decision"])).nnz == 3
    assert Y.toarray().tolist() == [[1, 0, 1], [0, 1, 0]] and review.corrected(Y, []).nnz == 3


@pytest.mark.parametrize(
    ("decisions", "what"),
    [([[0, 0, "keep"], [2, 0, "add"]], "decision 1: row is 2, but must be 0 to 1"),
     ([[0, -1, "add"]], "decision 0: label is -1, but must be 0 to 2"),
     ([[0, 0, "drop"]], "decision 0: decision is 'drop', but must be one of keep, remove, add"),
     (pd.DataFrame({"row": [0], "label": [0]}), "decisions lack the column decision: they need row, label, decision")],
)  # fmt: skip
def test_decisions_that_cannot_be_are_refused_with_their_place(decisions, what):
    with pytest.raises(ValueError, match=what):
        review.corrected(np.eye(2, 3), decisions)
