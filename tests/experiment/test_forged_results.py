"""What somebody changed in the file of a workspace is in nobody's results but of those who have read the file."""

import io
import json

import numpy as np
import pytest
from making import kept, train

from tests.archiving import changed
from tests.pages.making import word_data
from xmlcore import experiment, store
from xmlcore.datasets import load_saved, save_dataset
from xmlcore.experiment.engine import given
from xmlcore.experiment.kinds.robustness import surrogate
from xmlcore.experiment.sharing import workspace_reading
from xmlcore.models import PLT

FALS = {"n_epochs": 3, "n_features": 4}
SELECTIONS = [["FALS", FALS]]
SEVERAL = {"shares": [0.5, 1.0], "seeds": [0, 1]}


@pytest.fixture
def to_cache(monkeypatch, tmp_path):
    """Have results kept in a folder of this name from now on."""
    return lambda name: monkeypatch.setenv("XMLCORE_CACHE", str(tmp_path / name))


@pytest.fixture
def fingerprint(to_cache):
    to_cache("of the forger")
    return save_dataset(word_data())


def forged(tmp_path, to_cache, keys, change):
    """Write the results of some keys to a file, change this, and go to the folder of another user with his data."""
    path = tmp_path / "w.zip"
    experiment.export_workspace(path, keys)
    path.write_bytes(changed(path.read_bytes(), change))
    to_cache("of another user")
    save_dataset(word_data())
    return path


def of_arrays(kind, change):
    """A change of all arrays of the values of a kind."""

    def changes(files, about):
        for name in [
            one for one in files if one.startswith(f"{kind}/") and one.endswith("/arrays.npz") and "model" not in one
        ]:
            arrays = {part: change(array) for part, array in np.load(io.BytesIO(files[name])).items()}
            made = io.BytesIO()
            np.savez(made, **arrays)
            files[name] = made.getvalue()

    return changes


def of_value(kind, change):
    """A change of the value of a kind, as JSON."""

    def changes(files, about):
        for name in [one for one in files if one.startswith(f"{kind}/") and one.endswith("value.json")]:
            value = json.loads(files[name])
            change(value)
            files[name] = json.dumps(value).encode()

    return changes


def all_wrong(array):
    """Other labels in the place of those that a row has, and 0.001 for all numbers."""
    if array.dtype.kind == "i" and array.ndim == 2:
        return np.stack([np.random.default_rng(i).permutation(8)[: array.shape[1]] for i in range(len(array))]).astype(
            array.dtype
        )
    return np.full_like(array, 0.001) if array.dtype.kind == "f" else array


def first_measure(run):
    return run.measures.set_index(["measure", "k"])["value"]["P@k", 1]


def test_nothing_is_computed_from_a_result_that_came_with_a_file(tmp_path, to_cache, fingerprint):
    whole = kept("train", {"dataset": fingerprint}, model="OneVsRest", params={}, k=5)
    honest = first_measure(whole.load())
    path = forged(tmp_path, to_cache, [whole.key], of_arrays("runs", all_wrong))
    experiment.import_workspace(path)
    assert first_measure(whole.load()) < honest / 2 and experiment.provenance(whole) == "imported"
    curve = kept(
        "learning_curve", {"dataset": fingerprint}, model="OneVsRest", params={}, shares=[1.0], seeds=[0]
    ).load()
    assert curve.frame.query("measure == 'P@k' and k == 1")["value"].tolist() == pytest.approx([honest])
    assert whole.came_with_file() and not whole.is_computed()
    chosen = kept("select", {"dataset": fingerprint}, method="FALS", params=FALS)
    reduced = kept("reduced", {"selection": chosen.key}, model="OneVsRest", params={}, k=5)
    on_all = reduced.load().measures.query("features == 'all' and measure == 'P@k' and k == 1")["value"]
    assert on_all.tolist() == pytest.approx([honest]) and experiment.provenance(reduced) == "current"
    assert first_measure(whole.load()) == honest and whole.is_computed(), "it was computed here in its place"


def test_an_attack_is_computed_on_another_model_that_was_trained_here(tmp_path, to_cache, fingerprint):
    other = surrogate(fingerprint, 5)
    experiment.keep(other)
    path = forged(tmp_path, to_cache, [other.key], of_arrays("runs", all_wrong))
    experiment.import_workspace(path)
    run = kept("train", {"dataset": fingerprint}, model="PLT", params={"n_estimators": 2}, k=5)
    attacked = kept("robustness", {"run": run.key}, kind="fgsm", levels=[0.5], transferred=True)
    assert other.is_computed() and experiment.provenance(attacked) == "current"


def test_a_file_that_is_read_while_the_same_is_computed_does_not_take_its_place(tmp_path, to_cache, fingerprint):
    run = kept("train", {"dataset": fingerprint}, model="OneVsRest", params={}, k=5)
    honest = first_measure(run.load())
    path, reports = forged(tmp_path, to_cache, [run.key], of_arrays("runs", all_wrong)), []

    def meanwhile(phase, fraction, detail=""):
        if not reports:
            experiment.import_workspace(path)
        reports.append(phase)

    experiment.keep(run, meanwhile)
    assert first_measure(run.load()) == honest and run.is_computed()


def test_a_decision_that_came_with_a_file_is_learnt_again_before_a_model_is_packed_with_it(
    tmp_path, to_cache, fingerprint
):
    run = kept("train", {"dataset": fingerprint}, model="PLT", params={"n_estimators": 2}, k=5)
    decisions = kept("decide", {"run": run.key})
    path = forged(tmp_path, to_cache, [decisions.key], of_value("decisions", lambda value: value.update(n_held_out=5)))
    experiment.import_workspace(path)
    assert not decisions.came_with_file(), "it is as doubtful as the run, which only the reader of the file uses"
    experiment.keep(run)
    assert decisions.came_with_file() and decisions.load().n_held_out == 5
    kept("pack_model", {"run": run.key}, dataset_name="words", decision="macro F1@3")
    assert decisions.load().n_held_out == 24 and decisions.is_computed()


def test_trees_on_the_way_to_an_ensemble_are_in_no_file(tmp_path, to_cache, fingerprint):
    tree = kept("tree", {"dataset": fingerprint}, model="LdSM", params={"n_estimators": 2}, number=0)
    made = experiment.export_workspace(tmp_path / "w.zip", [tree.key])
    assert made["count"] == 1, "the data set"


def test_of_two_files_with_other_values_of_a_result_each_reader_has_his_own_or_none(tmp_path, to_cache, fingerprint):
    run = kept("train", {"dataset": fingerprint}, model="PLT", params={"n_estimators": 2}, k=5)
    noise = kept("robustness", {"run": run.key}, kind="gaussian", levels=[0.1])
    created = store.info("runs", run.key)["created"]
    contents = {"runs": [{"key": run.key, "created": created}], "made": [[noise.folder, noise.key]]}
    experiment.export_workspace(tmp_path / "honest.zip", [noise.key], contents)
    experiment.import_workspace(forged(tmp_path, to_cache, [run.key], of_arrays("runs", all_wrong)))
    made = experiment.import_workspace(tmp_path / "honest.zip")
    assert (made["added"], made["there"], made["left_out"]) == (0, 1, 2)
    assert made["contents"]["runs"] == [] == made["contents"]["made"]
    experiment.keep(run)
    made = experiment.import_workspace(tmp_path / "honest.zip")
    assert (made["added"], made["there"], made["left_out"]) == (1, 2, 0)
    assert [one["key"] for one in made["contents"]["runs"]] == [run.key]


def test_two_machines_that_compute_the_same_have_the_same_results_but_for_times(tmp_path, to_cache, fingerprint):
    for name in ("one", "other"):
        to_cache(name)
        run = kept("train", {"dataset": save_dataset(word_data())}, model="LdSM", params={"n_estimators": 2}, k=5)
        curve = kept("learning_curve", {"dataset": fingerprint}, model="PLT", params={}, shares=[1.0], seeds=[0])
        experiment.export_workspace(tmp_path / f"{name}.zip", [run.key, curve.key])
    to_cache("of another user")
    assert experiment.import_workspace(tmp_path / "one.zip")["added"] == 3
    made = experiment.import_workspace(tmp_path / "other.zip")
    assert (made["added"], made["there"], made["left_out"]) == (0, 3, 0)


def test_of_two_files_that_are_read_at_once_one_value_is_kept_and_the_other_left_out(
    tmp_path, to_cache, fingerprint, monkeypatch
):
    run = kept("train", {"dataset": fingerprint}, model="OneVsRest", params={}, k=5)
    experiment.export_workspace(tmp_path / "honest.zip", [run.key])
    path, check = forged(tmp_path, to_cache, [run.key], of_arrays("runs", all_wrong)), workspace_reading._check_model

    def meanwhile(*args):
        monkeypatch.setattr(workspace_reading, "_check_model", check)
        assert experiment.import_workspace(path)["added"] == 1
        check(*args)

    monkeypatch.setattr(workspace_reading, "_check_model", meanwhile)
    made = experiment.import_workspace(tmp_path / "honest.zip")
    assert (made["added"], made["left_out"]) == (0, 1) and made["contents"]["runs"] == []


def test_a_file_is_read_again_when_something_of_it_was_left_out_or_is_another_files(tmp_path, to_cache, fingerprint):
    run = kept("train", {"dataset": fingerprint}, model="OneVsRest", params={}, k=5)
    experiment.export_workspace(tmp_path / "honest.zip", [run.key])
    forged_file = forged(tmp_path, to_cache, [run.key], of_arrays("runs", all_wrong))
    experiment.import_workspace(forged_file)
    file = {"workspace": io.BytesIO((tmp_path / "honest.zip").read_bytes())}
    reading = experiment.task("import_workspace", {}, {"files": given.described(file)})

    def read():
        assert not reading.exists()
        given.give(reading.key, {"workspace": io.BytesIO((tmp_path / "honest.zip").read_bytes())})
        experiment.keep(reading)
        return reading.load()

    assert read().left_out == 1
    store.delete("runs", run.key)
    assert read().left_out == 0 and reading.exists()
    store.delete("runs", run.key)
    experiment.import_workspace(forged_file)
    assert read().left_out == 1


def test_what_others_make_while_a_file_is_read_stays_when_this_is_refused(tmp_path, to_cache, fingerprint, monkeypatch):
    run = kept("train", {"dataset": fingerprint}, model="OneVsRest", params={}, k=5)
    path = forged(tmp_path, to_cache, [run.key], of_arrays("runs", all_wrong))
    store.delete("datasets", fingerprint)

    def meanwhile(*args):
        save_dataset(word_data())
        raise ValueError("no")

    monkeypatch.setattr(workspace_reading, "check_result", meanwhile)
    with pytest.raises(experiment.WorkspaceFileError):
        experiment.import_workspace(path)
    assert load_saved(fingerprint) is not None, "an upload cannot be made again"


def test_what_is_computed_from_a_result_of_a_file_has_its_mark_also_when_this_is_replaced_meanwhile(
    tmp_path, to_cache, fingerprint
):
    run = kept("train", {"dataset": fingerprint}, model="PLT", params={"n_estimators": 2}, k=5)
    experiment.import_workspace(forged(tmp_path, to_cache, [run.key], of_arrays("runs", all_wrong)))
    noise, reports = experiment.task("robustness", {"run": run.key}, {"kind": "gaussian", "levels": [0.1]}), []

    def meanwhile(phase, fraction, detail=""):
        if phase.startswith("Changing rows") and not reports:
            reports.append(experiment.keep(run))

    experiment.keep(noise, meanwhile)
    assert reports and run.is_computed() and noise.came_with_file(), "it is not used for anything, and made again"


def test_a_sweep_whose_trials_are_those_of_another_file_is_not_listed(tmp_path, to_cache, fingerprint):
    experiment.sweep(fingerprint, "OneVsRest", {"C": [0.1, 1.0]}, test=False)
    (record,) = store.entries("sweeps")
    experiment.export_workspace(tmp_path / "honest.zip", [record["key"]])
    of_trials = of_arrays("trials", lambda array: array * 0.9 if array.dtype.kind == "f" else array)
    experiment.import_workspace(forged(tmp_path, to_cache, [record["key"]], of_trials))
    assert store.exists("sweeps", record["key"])
    made = experiment.import_workspace(tmp_path / "honest.zip")
    assert made["left_out"] == 2 and made["contents"]["sweeps"] == []


def named(note, texts=None):
    data = word_data()
    return type(data)(
        data.name, data.X_train, data.Y_train, data.X_test, data.Y_test, label_names=data.label_names,
        feature_names=data.feature_names, notes=(note,), texts_test=texts,
    )  # fmt: skip


@pytest.mark.parametrize("is_first", [True, False])
def test_names_notes_and_texts_of_a_file_give_way_to_those_of_an_upload(tmp_path, to_cache, is_first):
    to_cache("of the forger")
    experiment.export_workspace(tmp_path / "w.zip", [save_dataset(named("a lie", [f"text {i}" for i in range(30)]))])
    to_cache("of another user")
    if is_first:
        experiment.import_workspace(tmp_path / "w.zip")
        assert load_saved(named("").fingerprint).notes == ("a lie",)
    fingerprint = save_dataset(named("the truth"))
    if not is_first:
        experiment.import_workspace(tmp_path / "w.zip")
    assert load_saved(fingerprint).notes == ("the truth",) and load_saved(fingerprint).texts_test is None


def everything(fingerprint):
    """Results of all kinds that a file can have."""
    data = {"dataset": fingerprint}
    plt, ldsm, sampling = (
        kept("train", data, model=model, params=params, k=5)
        for model, params in (("PLT", {"n_estimators": 2}), ("LdSM", {"n_estimators": 2}), ("DoubleSampling", {}))
    )
    selection = kept("select", data, method="FALS", params=FALS)
    return [
        plt, ldsm, sampling, selection, train(fingerprint, "OneVsRest", {"noise_sigma": 0.1}),
        train(fingerprint, "DoubleSampling", {"C": 1e-6}),  # predicts nothing, so that its precision is nan
        kept("robustness", {"run": plt.key}, kind="gaussian", levels=[0.1]),
        kept("decide", {"run": plt.key}), kept("measures", {"run": plt.key}), kept("node_quality", {"run": plt.key}),
        kept("explanations", {"run": plt.key}), kept("explanations", {"run": sampling.key}),
        kept("prefixes", {"run": ldsm.key}),
        kept("learning_curve", data, model="PLT", params={}, **SEVERAL),
        kept("reduced", {"selection": selection.key}, model="PLT", params={"n_estimators": 1}, k=5),
        kept("sampling", {"run": sampling.key}, n_candidates=[1, 2], n_adversarial=[1, 2], examples_per_class=[1.0]),
        kept("sampling", {"run": sampling.key}, n_candidates=[1, 2]),
        kept("selection_stability", data, method="FALS", params=FALS, seeds=[0, 1]),
        kept("compare_selections", data, selections=SELECTIONS, shares=[0.5], seeds=[0]),
        kept("power_law", data, n_samples=20),
        kept("description", data), kept("examine", data),
    ]  # fmt: skip


@pytest.fixture(scope="module")
def of_everything(tmp_path_factory):
    folder = tmp_path_factory.mktemp("everything")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XMLCORE_CACHE", str(folder / "cache"))
        tasks = everything(save_dataset(word_data()))
        for task in tasks:
            experiment.keep(task)
        experiment.export_workspace(folder / "w.zip", [task.key for task in tasks])
    return (folder / "w.zip").read_bytes(), tasks


def test_honest_results_of_all_kinds_are_taken(of_everything, tmp_path):
    content, tasks = of_everything
    (tmp_path / "w.zip").write_bytes(content)
    experiment.import_workspace(tmp_path / "w.zip")
    there = {task.kind for task in tasks if task.exists()}
    assert {task.kind for task in tasks} - there == {"description", "examine"}, "they are made again at once"


def without_columns(value):
    for part in value.values():
        if isinstance(part, dict) and part.get("$") == "frame":
            part["columns"] = part["columns"][:1]


def with_texts(value):
    for part in value.values():
        if isinstance(part, dict) and part.get("$") == "frame":
            name, _, _ = part["columns"][-1]
            part["columns"][-1] = [name, "object", ["x"] * part["rows"]]


TABLES = ("robustness", "measures", "explanations", "learning-curves", "sampling", "reduced", "runs")
OF_VALUES = [
    *((kind, without_columns, "have no column") for kind in TABLES),
    *((kind, with_texts, "has other values than numbers") for kind in TABLES),
    ("runs", lambda value: value.update(times={}), "it has no times"),
    ("runs", lambda value: value["times"].update(fit_s="x"), "its times are no numbers"),
    ("runs", lambda value: value["size"].update(depth=[1]), "its size are no numbers"),
    ("runs", lambda value: value["chosen"].update(C=[1]), "C must be"),
    ("runs", lambda value: value["memory"].update(peak_bytes=None), "its memory are no numbers"),
    ("runs", lambda value: value.update(warnings=[{"a": 1}]), "a part of its warnings is of the type dict"),
    ("robustness", lambda value: value.update(levels=["a", None]), "a part of its levels is of the type str"),
    ("robustness", lambda value: value.update(transferred="yes"), "its transferred is of the type str"),
    ("learning-curves", lambda value: value.update(notes=[5]), "a part of its notes is of the type int"),
]


@pytest.mark.parametrize(("kind", "change", "said"), OF_VALUES)
def test_values_with_other_types_than_their_kind_has_are_refused(of_everything, tmp_path, kind, change, said):
    content, tasks = of_everything
    assert kind in {task.folder for task in tasks}
    (tmp_path / "w.zip").write_bytes(changed(content, of_value(kind, change)))
    with pytest.raises(experiment.WorkspaceFileError, match=said):
        experiment.import_workspace(tmp_path / "w.zip")
    assert not any(task.exists() for task in tasks)


def test_a_value_without_parts_is_refused_also_where_an_earlier_file_has_brought_one(of_everything, tmp_path):
    (tmp_path / "w.zip").write_bytes(of_everything[0])
    experiment.import_workspace(tmp_path / "w.zip")

    def a_list(files, about):
        name = next(one for one in files if one.startswith("runs/") and one.endswith("value.json"))
        files[name] = b"[1]"

    (tmp_path / "w.zip").write_bytes(changed(of_everything[0], a_list))
    with pytest.raises(experiment.WorkspaceFileError, match="is no result of its kind: it is a list"):
        experiment.import_workspace(tmp_path / "w.zip")


@pytest.mark.parametrize(
    "change", [lambda counts: counts[:, 1:], lambda counts: 9 * counts, lambda counts: -1 - counts]
)
def test_counts_under_noise_that_are_of_other_rows_or_repeats_are_refused(of_everything, tmp_path, change):
    forged = of_arrays("robustness", lambda array: change(array) if array.ndim == 2 else array)
    (tmp_path / "w.zip").write_bytes(changed(of_everything[0], forged))
    with pytest.raises(experiment.WorkspaceFileError, match="its counts of right labels"):
        experiment.import_workspace(tmp_path / "w.zip")


def test_a_ranking_that_has_a_label_twice_is_refused_and_settings_are_those_of_the_key(of_everything, tmp_path):
    content, tasks = of_everything
    path = tmp_path / "w.zip"

    def twice(array):
        return np.full_like(array, 7) if array.dtype.kind == "i" and array.ndim == 2 else array

    path.write_bytes(changed(content, of_arrays("runs", twice)))
    with pytest.raises(experiment.WorkspaceFileError, match="has label 7 twice"):
        experiment.import_workspace(path)
    path.write_bytes(changed(content, of_value("runs", lambda value: value["params"].update(n_estimators="text"))))
    experiment.import_workspace(path)
    assert tasks[0].load().params["n_estimators"] == 2 and isinstance(experiment.load_run_model(tasks[0].key), PLT)
