"""Estimates."""

from importlib import import_module

from xmlcore.experiment import estimates

prefixes_module = import_module("xmlcore.experiment.prefixes")
sampling_module = import_module("xmlcore.experiment.sampling")
FEW = {"n_epochs": 2, "n_hidden": 6}


def test_estimates_of_trees_grow_with_rows_and_features(words):
    seconds = estimates.tree_seconds
    assert seconds(words, 5, 50) < seconds(words, 30, 50) < seconds(words, 30)
