"""The catalog names its data sets, loads them by name, and keeps them."""

from types import SimpleNamespace

import numpy as np
import pytest

from xmlcore import experiment, metrics
from xmlcore.datasets import Dataset, load, load_saved, prepare
from xmlcore.datasets.registry import catalog as registry
from xmlcore.datasets.registry import entries
from xmlcore.progress import Cancelled
from xmlcore.ranking import Ranking

MADE = Dataset("toy", [[1.0], [2.0]], [[0], [1]], [[1.0]], [[0]], label_names=["a", "b"])


@pytest.fixture
def toy(monkeypatch):
    """A catalog with one more data set, and a list of the progress callbacks that its loader was given."""
    given = []

    def load_toy(progress):
        given.append(progress)
        progress("Making", 0.5)
        return MADE

    entry = registry.CatalogEntry("toy", "Two rows.", "Made here.")
    monkeypatch.setitem(registry._ENTRIES, "toy", (entry, "where.it.is.made"))
    module = SimpleNamespace(load=load_toy)
    monkeypatch.setattr(registry, "import_module", {"where.it.is.made": module}.__getitem__)
    return given, module


def test_unknown_names_list_the_known_ones():
    for act in (load, prepare, registry.made_from):
        with pytest.raises(ValueError, match="no data set 'mnist' in the catalog: it has 'api-docs'"):
            act("mnist")


def test_a_data_set_is_loaded_by_the_module_of_its_entry(toy):
    given, _ = toy
    reports = []
    assert load("toy") is MADE and load("toy", lambda *facts: reports.append(facts)) is MADE
    assert reports == [("Making", 0.5)] and len(given) == 2


def test_preparing_keeps_the_data_set_under_its_fingerprint(toy):
    fingerprint = prepare("toy")
    assert fingerprint == MADE.fingerprint and load_saved(fingerprint).label_names == ["a", "b"]


def test_preparing_can_be_stopped_and_keeps_nothing(toy):
    def stop(phase, fraction, detail=""):
        raise Cancelled

    with pytest.raises(Cancelled):
        prepare("toy", stop)
    with pytest.raises(KeyError):
        load_saved(MADE.fingerprint)


def test_a_module_says_what_its_data_set_is_made_from(toy):
    _, module = toy
    assert registry.made_from("toy") == {}
    module.made_from = lambda: {"numpy": "2.0"}
    assert registry.made_from("toy") == {"numpy": "2.0"}


def test_api_docs_is_made_from_versions_of_libraries():
    libraries = registry.made_from("api-docs")["versions"]
    assert libraries.keys() == {"numpy", "scipy", "scikit-learn", "pandas"} and libraries["numpy"] == np.__version__


def test_data_of_the_sizes_of_amazon_670k_have_its_propensities():
    amazon = next(entry for entry in registry.catalog() if entry.name == "amazon-670k")
    n_train = amazon.n_rows - amazon.n_test
    assert entries.propensity_of(n_train, amazon.n_test, amazon.n_features, amazon.n_labels) == (0.6, 2.6)
    assert entries.propensity_of(n_train, amazon.n_test, amazon.n_features, 5) == MADE.propensity == (0.55, 1.5)


def test_a_data_set_is_weighed_by_the_propensities_of_its_sizes(monkeypatch):
    monkeypatch.setattr(Dataset, "propensity", (0.6, 2.6))
    Y = np.eye(9, dtype=int)
    data = Dataset("some", np.ones((9, 1)), Y, np.ones((9, 1)), Y)
    np.testing.assert_allclose(data.inverse_propensity(), metrics.inverse_propensity(Y, 0.6, 2.6))
    ranking = [[0, 1, 2]] * 9
    model = SimpleNamespace(predict_topk=lambda X, k: Ranking(np.array(ranking, np.int32), np.ones((9, 3))))
    assert (
        experiment.evaluate(model, data, 3)["PSP@k"][0]
        == metrics.psprecision_at_k(Y, ranking, 3, inv_ps=data.inverse_propensity())[0]
    )
