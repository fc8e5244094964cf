"""How much of a selection stays with other seeds."""

from itertools import combinations

import numpy as np
import pytest
from making import stability

from xmlcore import experiment
from xmlcore.datasets import save_dataset
from xmlcore.experiment.kinds.compare_selections import expected_jaccard

FEW = {"n_epochs": 2, "n_hidden": 6}


def test_stability_compares_each_pair_of_seeds(words):
    from xmlcore.selection import jaccard, spearman

    found = experiment.selection_stability(words, "FALS", FEW, seeds=(0, 4, 2))
    assert found.seeds == [0, 2, 4] and len(found.pairs) == 3
    kept = [
        experiment.selector("FALS", {**FEW, "random_state": s}).fit(words.X_train, words.Y_train) for s in (0, 2, 4)
    ]
    line = found.pairs[(found.pairs["seed_a"] == 0) & (found.pairs["seed_b"] == 4)].iloc[0]
    assert line["jaccard"] == pytest.approx(jaccard(kept[0].selected_, kept[2].selected_).mean())
    ranks = spearman(kept[0].scores_, kept[0].selected_, kept[2].scores_, kept[2].selected_)
    assert line["spearman"] == pytest.approx(np.nanmean(ranks))
    assert found.labels.shape == (2, 6) and found.labels[0].mean() == pytest.approx(found.pairs["jaccard"].mean())
    shared = np.concatenate([jaccard(a.selected_, b.selected_) for a, b in combinations(kept, 2)])
    shares = [2 * j / (1 + j) for j in shared]
    assert found.share == pytest.approx(np.mean(shares)) and found.chance == expected_jaccard(3, 30)


@pytest.mark.parametrize("k, n_features", [(1, 4), (2, 6), (3, 5), (4, 4)])
def test_chance_is_the_mean_over_all_sets(k, n_features):
    sets = [set(one) for one in combinations(range(n_features), k)]
    mean = np.mean([len(sets[0] & other) / len(sets[0] | other) for other in sets])
    assert expected_jaccard(k, n_features) == pytest.approx(mean)


def test_stability_is_kept_whatever_the_selections_own_seed(words):
    fingerprint = save_dataset(words)
    key = experiment.keep(stability(fingerprint, "FALS", FEW, (0, 1)))
    assert key == stability(fingerprint, "FALS", {**FEW, "random_state": 9}, [1, 0]).key
    assert experiment.load("selection_stability", key).seeds == [0, 1]


@pytest.mark.parametrize(
    "method, seeds, message", [("ChiSquared", (0, 1), "has no seed"), ("FALS", (3, 3), "at least two")]
)
def test_stability_needs_seeds(words, method, seeds, message):
    with pytest.raises(ValueError, match=message):
        experiment.selection_stability(words, method, None, seeds)
