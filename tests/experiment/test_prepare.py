"""Data sets of the catalog are made once, kept, and made again when what they are made from changes."""

from types import SimpleNamespace

import pytest

from xmlcore import experiment, store
from xmlcore.datasets import load_saved
from xmlcore.datasets.registry import catalog as registry


@pytest.fixture
def toy(easy, monkeypatch):
    """A catalog in which "toy" is made by a module of the test, which counts how often."""
    module = SimpleNamespace(made=0, versions={"numpy": "1"})

    def load(progress):
        progress("Making", 0.5)
        module.made += 1
        return easy

    module.load, module.made_from = load, lambda: dict(module.versions)
    monkeypatch.setattr(registry, "import_module", lambda name: module)
    monkeypatch.setitem(registry._ENTRIES, "toy", (registry.CatalogEntry("toy", "Rows.", "Made."), "anywhere"))
    return module


def prepare():
    return experiment.task("prepare", {}, {"name": "toy"})


def test_a_result_has_the_fingerprint_of_its_data_set(toy, easy):
    made = prepare()
    assert not made.exists() and made.dataset_name() == "toy" and "toy" in made.title
    experiment.keep(made)
    assert made.exists() and made.load().name == "toy"
    assert load_saved(made.load().dataset).fingerprint == easy.fingerprint
    experiment.keep(prepare())
    assert toy.made == 1


def test_another_version_of_what_it_is_made_from_is_another_task(toy):
    first = prepare()
    experiment.keep(first)
    toy.versions = {"numpy": "2"}
    assert prepare().key != first.key and not prepare().exists()
    toy.versions = {"numpy": "1"}
    assert prepare().exists()


def test_a_result_without_its_data_set_is_made_again(toy):
    made = prepare()
    experiment.keep(made)
    store.delete("datasets", made.load().dataset)
    assert not made.exists()
    experiment.keep(made)
    assert made.exists() and toy.made == 2


def test_unknown_names_are_refused_before_any_work(toy):
    with pytest.raises(ValueError, match="no data set 'mnist'"):
        experiment.task("prepare", {}, {"name": "mnist"})
    with pytest.raises(ValueError, match="shape"):
        experiment.task("prepare", {}, {"name": "toy", "shape": 3})
    assert toy.made == 0
