"""Fitted models that tests of explanations share."""

import pytest
from explain.fitted import data, ldsm, plt

from xmlcore import OneVsRest


@pytest.fixture(scope="session")
def models():
    return {"PLT": plt(), "PLTs": plt(n_estimators=3), "OneVsRest": OneVsRest(n_jobs=1).fit(*data()), "LdSM": ldsm()}
