"""Fitted models that tests of explanations share."""

import warnings

import pytest
from explain.fitted import data, ldsm, of_pairs, plt

from xmlcore import OneVsRest


@pytest.fixture(scope="session")
def models():
    with warnings.catch_warnings(action="ignore"):  # trees are small, and values are negative
        trees = {"PLT": plt(), "PLTs": plt(n_estimators=3), "PLT as is": plt(normalize=None), "LdSM": ldsm()}
        linear = {"OneVsRest": OneVsRest(n_jobs=1), "OneVsRest by column": OneVsRest(normalize="standardize")}
        return trees | {name: model.fit(*data()) for name, model in linear.items()} | {"pairs": of_pairs()}
