"""Data sets of the catalog and synthetic ones are made once, kept, and made again when what they come from changes."""

from types import SimpleNamespace

import pytest

from xmlcore import experiment, store
from xmlcore.datasets import SYNTHETIC_SHAPES, load_saved, make_synthetic
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


SMALL = {"n_train": 60, "n_test": 20, "feature_noise": 0.5, "label_exponent": 1.2}


def test_the_kept_data_set_is_the_one_that_make_synthetic_makes():
    task = experiment.task("synthetic", {}, SMALL)
    assert not task.exists() and task.title == "Making synthetic small, 200 labels, noise 50 %, tail 1.2"
    experiment.keep(task)
    made = task.load()
    assert load_saved(made.dataset).content_hash == make_synthetic("small", **SMALL).content_hash
    assert task.exists() and "feature_noise=0.5" in made.notes[0] and made.name == task.dataset_name()
    store.delete("datasets", made.dataset)
    assert not task.exists()


def test_each_setting_is_in_the_key_and_is_checked():
    keys = {experiment.task("synthetic", {}, {**SMALL, **one}).key for one in (
        {}, {"shape": "bibtex"}, {"label_noise": 0.2}, {"random_state": 1}, {"n_test": 21}
    )}  # fmt: skip
    assert len(keys) == 5
    assert experiment.task("synthetic", {}, {}) == experiment.task("synthetic", {}, {"feature_noise": 0.3})
    for wrong in ({"shape": "mnist"}, {"feature_noise": 2}, {"random_state": -1}, {"n_labels": 1}, {"depth": 3}):
        with pytest.raises(ValueError):
            experiment.task("synthetic", {}, wrong)


@pytest.mark.parametrize("shape", SYNTHETIC_SHAPES)
@pytest.mark.parametrize("share", [1.0, 0.1, 0.001])
def test_scaled_sizes_can_be_made_and_keep_what_is_asked_for(shape, share):
    sizes = experiment.scaled(shape, share)
    task = experiment.task("synthetic", {}, {"shape": shape} | sizes)
    whole = SYNTHETIC_SHAPES[shape]
    assert all(task.params[name] == sizes[name] for name in sizes)
    assert sizes["n_features"] == whole["n_features"] and sizes["n_train"] <= whole["n_train"]
    assert share < 1 or sizes == dict(whole) | {"labels_per_row": sizes["labels_per_row"]}
    assert sizes["n_train"] >= 50 and sizes["n_labels"] >= 10 and sizes["labels_per_row"] <= sizes["n_labels"] / 2


def test_the_estimate_grows_with_the_data():
    small, large = (experiment.task("synthetic", {}, {"shape": s}).estimate() for s in ("eurlex-4k", "amazon-670k"))
    assert large.values > 5 * small.values and large.bytes > 5 * small.bytes
    assert 500e6 < large.bytes < 2e9
