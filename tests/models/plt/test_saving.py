"""Saved PLTs: written, read, and refused when damaged."""

import json
import tracemalloc

import numpy as np
import pytest
from models.plt.plt_problems import problem

from xmlcore import PLT, load_model
from xmlcore._kernels import plt_search
from xmlcore.models import ModelFormatError


def test_saving_never_removes_what_it_did_not_write(small, tmp_path, monkeypatch):
    model = small[0]
    folder = model.save(tmp_path / "model")
    (folder / "notes.txt").write_text("mine")
    with pytest.raises(FileExistsError):
        model.save(folder)
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    (foreign / "params.json").write_text("{}")
    with pytest.raises(FileExistsError):
        model.save(foreign)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileExistsError):
        model.save(".")
    assert (folder / "notes.txt").exists() and (foreign / "params.json").read_text() == "{}"


def test_a_failed_save_keeps_the_old_model(small, tmp_path, monkeypatch):
    model, _, _, X_test = small
    folder = model.save(tmp_path / "model")

    def full(*_, **__):
        raise OSError("No space left on device")

    monkeypatch.setattr(np, "savez", full)
    with pytest.raises(OSError, match="No space"):
        model.save(folder)
    assert [p.name for p in tmp_path.iterdir()] == ["model"]
    np.testing.assert_array_equal(load_model(folder).predict_topk(X_test).scores, model.predict_topk(X_test).scores)


def test_changing_parameters_after_fit_changes_neither_predictions_nor_what_is_saved(tmp_path):
    X, Y, X_test, _ = problem()
    model = PLT(max_leaf_labels=4).fit(X, Y)
    before = model.predict_topk(X_test).scores
    model.set_params(n_estimators=3, loss="squared_hinge", tol=0.5)
    np.testing.assert_array_equal(model.predict_topk(X_test).scores, before)
    np.testing.assert_array_equal(load_model(model.save(tmp_path / "m")).predict_topk(X_test).scores, before)


def damage_json(folder):
    (folder / "params.json").write_text("{")


def newer(folder):
    edit(folder, lambda d: d.update(format=99))


def class_in_a_list(folder):
    edit(folder, lambda d: d.update({"class": ["PLT"]}))


def labels_as_float(folder):
    edit(folder, lambda d: d["values"].update(n_labels=30.0))


def other_class(folder):
    edit(folder, lambda d: d.update({"class": "os.system"}))


def other_parameter(folder):
    edit(folder, lambda d: d["params"].update(evil=1))


def cut_arrays(folder):
    path = folder / "arrays.npz"
    path.write_bytes(path.read_bytes()[:-100])


def far_index(folder):
    change(folder, "tree0.columns", lambda a: a + 1000)


def circle(folder):
    change(folder, "tree0.group_first", lambda a: np.where(np.arange(a.size) == 3, 0, a).astype(a.dtype))


def swapped_columns(folder):
    change(folder, "tree0.columns", lambda a: a[::-1].copy())


def feature_twice(folder):
    change(folder, "feature_of_column", lambda a: np.concatenate([a[:1], a[:-1]]))


def feature_too_large(folder):
    change(folder, "feature_of_column", lambda a: a + np.int32(1))


def column_without_feature(folder):
    change(folder, "feature_of_column", lambda a: a[:-1])


def features_as_floats(folder):
    change(folder, "feature_of_column", lambda a: a.astype(np.float32))


def two_leaves_of_a_label(folder):
    change(folder, "tree0.label", lambda a: np.where(a == 3, 4, a).astype(a.dtype))


def pickled(folder):
    arrays = dict(np.load(folder / "arrays.npz"))
    np.savez(folder / "arrays.npz", **{**arrays, "tree0.bias": np.array([{}], dtype=object)})


def missing_array(folder):
    arrays = dict(np.load(folder / "arrays.npz"))
    del arrays["tree0.bias"]
    np.savez(folder / "arrays.npz", **arrays)


def edit(folder, how):
    description = json.loads((folder / "params.json").read_text())
    how(description)
    (folder / "params.json").write_text(json.dumps(description))


def change(folder, name, how):
    arrays = dict(np.load(folder / "arrays.npz"))
    np.savez(folder / "arrays.npz", **{**arrays, name: how(arrays[name])})


@pytest.mark.parametrize(
    "harm",
    [
        damage_json,
        newer,
        class_in_a_list,
        labels_as_float,
        other_class,
        other_parameter,
        cut_arrays,
        far_index,
        circle,
        swapped_columns,
        feature_twice,
        feature_too_large,
        column_without_feature,
        features_as_floats,
        two_leaves_of_a_label,
        pickled,
        missing_array,
    ],
)
def test_a_damaged_model_is_refused_with_the_reason(small, tmp_path, harm):
    folder = small[0].save(tmp_path / "model")
    harm(folder)
    with pytest.raises(ModelFormatError, match="model|params|arrays"):
        load_model(folder)


HARM_TO_WEIGHTS = {
    "child outside its group": ("entry_child", lambda a: a + np.uint8(200)),
    "pointers fall": ("entry_ptr", lambda a: np.concatenate([a[:2], a[:1], a[3:]])),
    "pointers start late": ("entry_ptr", lambda a: a + np.uint32(1)),
    "pairs of another group": ("sparse_ptr", lambda a: np.where(np.arange(a.size) == a.size - 2, a - 1, a)),
    "pointers of another group": ("entry_at", lambda a: np.where(np.arange(a.size) == a.size - 2, a - 1, a)),
    "row of weights missing": ("dense", lambda a: a[:-2]),
    "rows of another group": ("dense_ptr", lambda a: np.where(a > 0, a - 2, a)),
    "weight not a number": ("dense", lambda a: np.where(np.arange(a.size) == 1, np.float32(np.nan), a)),
    "infinite weight": ("entry_value", lambda a: np.where(np.arange(a.size) == 1, np.float32(np.inf), a)),
}


@pytest.mark.parametrize("harm", list(HARM_TO_WEIGHTS))
def test_damaged_weights_are_refused_before_a_kernel_reads_them(tmp_path, harm):
    X, Y, _, _ = problem()
    model = PLT(max_leaf_labels=20, loss="logistic", weight_threshold=2.5, n_jobs=1).fit(X, Y)
    assert model.fitted_[0].dense.size and model.fitted_[0].entry_value.size  # both ways of storing
    folder = model.save(tmp_path / "model")
    name, how = HARM_TO_WEIGHTS[harm]
    change(folder, f"tree0.{name}", how)
    with pytest.raises(ModelFormatError, match="the weights in its arrays"):
        load_model(folder)


def test_no_model_there(tmp_path):
    with pytest.raises(FileNotFoundError, match="params.json is missing"):
        load_model(tmp_path)


def test_a_model_mapped_from_a_file_needs_no_kernels_of_its_own(small, tmp_path):
    joblib = pytest.importorskip("joblib")
    model, *_, X_test = small
    expected = model.predict_topk(X_test, 5)
    before = len(plt_search.search_best_first.signatures)
    joblib.dump(model, tmp_path / "model.joblib")
    for mode in (None, "r"):
        again = joblib.load(tmp_path / "model.joblib", mmap_mode=mode)
        np.testing.assert_array_equal(again.predict_topk(X_test, 5).labels, expected.labels)
    assert len(plt_search.search_best_first.signatures) == before


@pytest.mark.parametrize("name, least", [("n_labels", 1), ("n_features", 1), ("n_iter", 0), ("n_trees", 1)])
def test_a_saved_number_beyond_the_format_is_refused(small, tmp_path, name, least):
    folder = small[0].save(tmp_path / "m")
    edit(folder, lambda d: d["values"].update({name: 2**31}))
    with pytest.raises(ModelFormatError, match=f"{name} must be from {least} to 2147483647, not 2147483648"):
        load_model(folder)


def test_a_forged_number_of_labels_takes_no_memory(small, tmp_path):
    folder = small[0].save(tmp_path / "m")
    edit(folder, lambda d: d["values"].update(n_labels=10**8))
    tracemalloc.start()
    try:
        with pytest.raises(ModelFormatError, match="the tree in its arrays cannot be"):
            load_model(folder)
        assert tracemalloc.get_traced_memory()[1] < 20e6
    finally:
        tracemalloc.stop()


def test_pointers_whose_differences_overflow_are_refused(small, tmp_path):
    folder = small[0].save(tmp_path / "m")
    around = [2**63 - 1, -(2**63), -1]  # between 0 and a positive last one no difference is negative in int64
    change(folder, "tree0.column_ptr", lambda a: np.concatenate([a[:1], np.array(around), a[4:]]))
    with pytest.raises(ModelFormatError, match="the weights in its arrays cannot be"):
        load_model(folder)
