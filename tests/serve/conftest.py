"""Two small models: one for texts, whose labels are URIs, and one for rows."""

import warnings

import numpy as np
import pytest

from xmlcore import PLT, TextClassifier
from xmlcore.datasets.texts import TextVectorizer
from xmlcore.models import PackedModel
from xmlcore.serve import Limits, Served, make_app

TEXTS = ["a red cat", "the red dog", "blue cat and dog", "a blue bird", "red bird", "green cat", "green dog"] * 5
LABELS = [["red", "cat"], ["red"], ["blue"], ["blue", "bird"], ["bird"], ["green"], ["green"]] * 5
FEATURES = ["weight", "length", "12", "age"]


def uri(name):
    return f"http://example.org/{name}"


@pytest.fixture(scope="session")
def of_texts():
    model = TextClassifier(PLT(max_leaf_labels=2, n_jobs=1), TextVectorizer(min_df=1))
    return PackedModel(model.fit(TEXTS, [[uri(name) for name in row] for row in LABELS]), card={"name": "Animals"})


@pytest.fixture(scope="session")
def of_rows():
    X = np.random.default_rng(0).random((40, 4), np.float32)
    model = PLT(max_leaf_labels=2, n_jobs=1).fit(X, [[i % 3] for i in range(40)])
    return PackedModel(model, ["small", "medium", "large"], FEATURES)


@pytest.fixture
def served(of_texts, of_rows):
    return [Served("animals", of_texts, titles={uri("cat"): "cats"}), Served("sizes", of_rows)]


@pytest.fixture
def client(served):
    return client_of(served)


def client_of(served, learner=None, **limits):
    with warnings.catch_warnings(action="ignore"):  # Starlette's about its choice of HTTP library
        from starlette.testclient import TestClient
    return TestClient(
        make_app(served, Limits(**{"at_once": 2} | limits), learner=learner), raise_server_exceptions=False
    )
