"""Workspaces are written to a file and read elsewhere with the same bits; what is not what it says is refused."""

import io
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from making import kept

from tests.archiving import changed, npz_bomb, npz_of_objects
from tests.pages.making import word_data
from xmlcore import experiment, store, wording
from xmlcore.datasets import load_saved, save_dataset
from xmlcore.datasets.texts import TextVectorizer
from xmlcore.experiment.sharing.portable import NotPortableError, pack, unpack
from xmlcore.progress import Cancelled

NAMED = {"name": "my best", "tags": ["paper"], "note": "as in table 2"}


def export(root):
    """The bytes of a workspace with a data set, a run and its measurement under noise; their keys; and predictions."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XMLCORE_CACHE", str(root / "cache"))
        vectorizer = TextVectorizer(min_df=1).fit([f"word_{j}" for j in range(24)])
        data = replace(word_data(), texts_test=[f"text {i}" for i in range(30)], vectorizer=vectorizer)
        fingerprint = save_dataset(data)
        run = kept("train", {"dataset": fingerprint}, model="PLT", params={"n_estimators": 2}, k=5)
        noise = kept("robustness", {"run": run.key}, kind="gaussian", levels=[0.1])
        created = store.info("runs", run.key)["created"]
        contents = {
            "known": {fingerprint: {"name": "Words of mine", "source": "upload", "notes": ["a note"]}},
            "runs": [{"key": run.key, "created": created} | NAMED],
            "made": [[noise.folder, noise.key]],
        }
        said = experiment.export_workspace(root / "w.zip", [noise.key], contents)
        assert said == {"count": 3, "left_out": {}}
        predicted = experiment.load_run_model(run.key).predict_topk(data.X_test, 5)
    return (root / "w.zip").read_bytes(), (fingerprint, run.key, noise.key), predicted


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    return export(tmp_path_factory.mktemp("exported"))


@pytest.fixture
def file(exported, tmp_path):
    """The file of a workspace, in a cache folder without results."""
    path = tmp_path / "w.zip"
    path.write_bytes(exported[0])
    return path


def test_a_workspace_comes_back_with_the_same_bits_names_tags_and_notes(exported, file):
    _, (fingerprint, run, noise), predicted = exported
    made = experiment.import_workspace(file)
    assert (made["added"], made["there"]) == (3, 0)
    contents = made["contents"]
    assert contents["known"] == {fingerprint: {"name": "Words of mine", "source": "upload", "notes": ["a note"]}}
    (record,) = contents["runs"]
    assert record["key"] == run and {name: record[name] for name in NAMED} == NAMED
    assert record["params"]["n_estimators"] == 2 and contents["made"] == [["robustness", noise]]
    ranking = experiment.load_run_model(run).predict_topk(load_saved(fingerprint).X_test, 5)
    np.testing.assert_array_equal(ranking.labels, predicted.labels)
    np.testing.assert_array_equal(ranking.scores, predicted.scores)
    data = load_saved(fingerprint)
    assert data.texts_train is None and data.texts_test[29] == "text 29"
    assert data.vectorizer.transform(["word_3"]).nnz == 1
    assert experiment.load("train", run).measures.shape[1] == 3
    assert experiment.load("robustness", noise) is not None
    other = kept("robustness", {"run": run}, kind="gaussian", levels=[0.2])
    assert experiment.provenance(other) == "imported", "computed here, but from a model that came with the file"
    assert "imported" in store.info("runs", run) and experiment.runs([run])["P@1"].notna().all()
    assert store.info("datasets", fingerprint)["again"] is False, "it is never removed to make room"
    again = experiment.import_workspace(file)
    assert (again["added"], again["there"]) == (0, 3)


@pytest.mark.parametrize("written", ["2026-01-02T03:04:05", "2026-W01-5T04:04:05+01:00"])
def test_times_in_the_list_have_one_form(file, written):
    rewritten(file, of_contents(lambda contents: contents["runs"][0].update(created=written)))
    assert experiment.import_workspace(file)["contents"]["runs"][0]["created"] == "2026-01-02T03:04:05+00:00"


@pytest.mark.parametrize("key", [["runs"], {}, None, 7])
def test_what_the_list_names_by_no_key_is_left_out(file, key):
    rewritten(file, of_contents(lambda contents: contents["runs"][0].update(key=key)))
    assert experiment.import_workspace(file)["contents"]["runs"] == []


def test_progress_is_in_bytes_also_within_one_data_set(easy, tmp_path):
    fingerprint, reports = save_dataset(easy), []
    experiment.export_workspace(tmp_path / "w.zip", [fingerprint], progress=lambda *report: reports.append(report))
    shares = [share for _, share, _ in reports]
    assert len({share for share in shares if 0 < share < 1}) > 3 and shares == sorted(shares)
    total = wording.size(store.info("datasets", fingerprint)["bytes"])
    assert reports[0] == ("Writing", 0.0, f"0 bytes of {total}") and reports[-1][2].endswith(f" of {total}")
    with pytest.raises(Cancelled):
        experiment.export_workspace(tmp_path / "v.zip", [fingerprint], progress=stopped_at(0.3))
    assert not (tmp_path / "v.zip").exists()


def stopped_at(most):
    def progress(phase, share, detail=""):
        if share > most:
            raise Cancelled

    return progress


def test_what_no_task_makes_is_left_out_and_said(tmp_path):
    store.save("runs", "ab" * 16, {"model": "PLT"})
    said = experiment.export_workspace(tmp_path / "w.zip", ["ab" * 16])
    assert said == {"count": 0, "left_out": {"no task makes it": 1}}
    with pytest.raises(KeyError, match="nothing is kept"):
        experiment.export_workspace(tmp_path / "w.zip", ["cd" * 16])
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == ["w.zip"]


# --- sweeps


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    """The bytes of the file of a sweep, its task as a record, and its result."""
    root = tmp_path_factory.mktemp("swept")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XMLCORE_CACHE", str(root / "cache"))
        grid = {"C": [0.5, 1.0]}
        found = experiment.sweep(word_data(), "OneVsRest", grid, test=False)
        (record,) = store.entries("sweeps")
        said = experiment.export_workspace(root / "w.zip", [record["key"]])
        assert said == {"count": 3, "left_out": {}}  # the data set and two trials
        task = experiment.task("sweep", record["inputs"], record["params"])
    return (root / "w.zip").read_bytes(), task.to_record(), found


@pytest.fixture
def sweep_file(swept, tmp_path):
    path = tmp_path / "w.zip"
    path.write_bytes(swept[0])
    return path


def test_a_sweep_comes_back_with_its_trials_and_its_result_follows_from_them(swept, sweep_file):
    _, record, expected = swept
    made = experiment.import_workspace(sweep_file)
    task = experiment.from_record(record)
    (listed,) = made["contents"]["sweeps"]
    assert listed["key"] == task.key and listed["params"] == task.params and made["contents"]["made"] == []
    assert (made["added"], made["there"]) == (3, 0) and experiment.provenance(task) == "imported"
    found = task.load()
    assert found.best == expected.best and found.trials.equals(expected.trials) and found.table.equals(expected.table)
    assert task.plan(imported=True).complete and task.plan().done == 0, "a sweep here trains them itself"
    assert experiment.import_workspace(sweep_file)["added"] == 0


def test_a_sweep_that_lacks_a_trial_is_listed_and_trains_all_of_them_itself(swept, sweep_file):
    rewritten(sweep_file, only_first_trial)
    rewritten(sweep_file, in_value("trials", lambda tree: tree.update(seconds=1e6)))
    made = experiment.import_workspace(sweep_file)
    task = experiment.from_record(swept[1])
    assert not task.exists() and made["contents"]["sweeps"][0]["stopped"] is True
    experiment.keep(task)
    found = task.load()
    assert found.trials["seconds"].max() < 1e6 and experiment.provenance(task) == "current", "trained here"


# --- files that are not what they say


def rewritten(path, change):
    """Write the file anew after ``change(files, about)``."""
    path.write_bytes(changed(path.read_bytes(), change))


def of_contents(change):
    """A change of what the workspace lists."""
    return lambda files, about: change(about["contents"])


def of_list(change):
    """A change of the list of artifacts."""
    return lambda files, about: change(about["artifacts"])


def first(artifacts, kind):
    return next(one for one in artifacts if one["kind"] == kind)


def only_first_trial(files, about):
    """Remove all trials but one: the changes below are of the one artifact of a kind."""
    _, *others = [one for one in about["artifacts"] if one["kind"] == "trials"]
    for one in others:
        about["artifacts"].remove(one)
        for name in [name for name in files if name.startswith(f"trials/{one['key']}/")]:
            del files[name]


def in_file(kind, ending, make):
    """A change of the file of the artifact of a kind to ``make(content)``."""

    def change(files, about):
        (name,) = [name for name in files if name.startswith(f"{kind}/") and name.split("/", 2)[2] == ending]
        files[name] = make(files[name])

    return change


def in_value(kind, change):
    """A change of the value of the artifact of a kind."""

    def make(content):
        tree = json.loads(content)
        change(tree)
        return json.dumps(tree).encode()

    return in_file(kind, "value.json", make)


def in_arrays(kind, change):
    """A change of the arrays of the artifact of a kind, given as a dict."""

    def make(content):
        arrays = dict(np.load(io.BytesIO(content), allow_pickle=False))
        change(arrays)
        target = io.BytesIO()
        np.savez(target, **arrays)
        return target.getvalue()

    return in_file(kind, "arrays.npz", make)


LONG = "q" * 50_000


def first_run(artifacts):
    return first(artifacts, "runs")["record"]


def raise_ids(arrays):
    """Add 1,000 to all ids."""
    for array in arrays.values():
        if array.dtype == np.int32:
            array += 1000


def other_class(text):
    """Description of a model of a class that is none of ours."""
    return text.replace(b'"PLT"', b'"os.system"')


# What an archive is refused for whatever it holds stands in tests/test_archives.py.
HOSTILE = {
    "no list": (lambda files, about: about.pop("artifacts"), "has no list"),
    "half of a character": (of_list(lambda found: first(found, "runs")["record"].update(xmlcore="\ud800")), "damaged"),
    "no artifact": (of_list(lambda found: found.append(7)), "no artifact"),
    "files of no artifact": (lambda files, about: files.update({f"runs/{'0' * 32}/value.json": b""}), "not describe"),
    "file missing": (lambda files, about: files.pop(next(n for n in files if "value" in n)), "other files"),
    "key of a path": (of_list(lambda found: first(found, "runs").update(key="../../../x")), "is no key"),
    "unknown kind": (of_list(lambda found: first(found, "runs").update(kind="evil")), "unknown kind"),
    "kind of a path": (of_list(lambda found: first(found, "runs").update(kind="../runs")), "unknown kind"),
    "other settings": (
        of_list(lambda found: first_run(found)["params"]["params"].update(n_estimators=3)),
        "not belong",
    ),
    "unknown parameter": (of_list(lambda found: first_run(found)["params"]["params"].update(evil=3)), "does not have"),
    "long parameter": (of_list(lambda found: first_run(found)["params"].update({LONG: 3})), "does not have"),
    "long setting": (of_list(lambda found: first_run(found)["params"]["params"].update({LONG: 3})), "does not have"),
    "long input": (of_list(lambda found: first_run(found)["inputs"].update({LONG: "0" * 32})), "does not have"),
    "settings of no form": (of_list(lambda found: first_run(found).update(params=[1])), "does not have"),
    "input not in the file": (of_list(lambda found: found.pop(0)), "not describe"),
    "order": (of_list(lambda found: found.reverse()), "not in the file"),
    "twice": (of_list(lambda found: found.append(found[0])), "twice"),
    "content of a data set": (in_arrays("datasets", lambda a: a["a2"].__iadd__(1)), "another fingerprint|no data set"),
    "later form of a data set": (in_value("datasets", lambda tree: tree.update(format=2)), "update xmlcore"),
    "ids out of range": (in_arrays("datasets", lambda a: a["a1"].__iadd__(10**6)), "is no data set"),
    "labels out of range": (in_arrays("runs", raise_ids), "no result of its kind"),
    "value of no form": (in_value("runs", lambda tree: tree.pop("measures")), "no result of its kind"),
    "values of another type": (
        in_value("robustness", lambda tree: tree.update(n_rows="many")),
        "no result of its kind.*n_rows is of the type str",
    ),
    "value of a mark": (in_value("runs", lambda tree: tree.update(size={"$": "evil"})), "is damaged"),
    "bomb": (in_file("runs", "arrays.npz", lambda _: npz_bomb()), "no plain array"),
    "pickle in a model": (in_file("runs", "model/arrays.npz", lambda _: npz_of_objects()), "kind.*no plain array"),
    "model of another class": (in_file("runs", "model/params.json", other_class), "no result of its kind"),
}


def check_refused(path, change, reason):
    """Change the file; reading it says the reason and keeps nothing."""
    rewritten(path, change)
    with pytest.raises(experiment.WorkspaceFileError, match=reason) as caught:
        experiment.import_workspace(path)
    assert len(str(caught.value)) < 600
    assert store.inventory().artifacts == {}
    assert not list((store.cache_root() / "given").glob("*"))


@pytest.mark.parametrize("change, reason", HOSTILE.values(), ids=HOSTILE)
def test_a_file_that_is_not_what_it_says_is_refused_and_nothing_of_it_is_kept(file, change, reason):
    check_refused(file, change, reason)


@pytest.mark.parametrize(
    "change, reason",
    [
        (of_contents(lambda contents: contents["sweeps"][0]["params"].update(seed=5)), "not belong"),
        (of_contents(lambda contents: contents["sweeps"][0].update(params=7)), "does not have"),
        (in_value("trials", lambda tree: tree.update(measures=None)), "no result of its kind"),
        (in_value("trials", lambda tree: tree.update(error=["x"])), "no result of its kind"),
    ],
    ids=["other settings", "no settings", "trial without measures", "trial with a strange error"],
)
def test_a_sweep_that_is_not_what_it_says_is_refused_and_nothing_of_it_is_kept(sweep_file, change, reason):
    rewritten(sweep_file, only_first_trial)
    check_refused(sweep_file, change, reason)


def without_a_rule(tree):
    tree["rules"].pop("macro F1@3")


def strange_rule(tree):
    tree["rules"]["macro F1@3"][0]["k"] = "many"


@pytest.mark.parametrize("change", [without_a_rule, strange_rule])
def test_decisions_that_are_none_of_this_version_are_refused_and_true_ones_decide(file, tmp_path, change, monkeypatch):
    experiment.import_workspace(file)
    (run,) = (entry["key"] for entry in store.entries("runs"))
    made = kept("decide", {"run": run})
    path = tmp_path / "decisions.zip"
    experiment.export_workspace(path, [made.key])
    expected = made.load().rule("macro F1@3").offsets
    monkeypatch.setenv("XMLCORE_CACHE", str(tmp_path / "elsewhere"))
    experiment.import_workspace(path)
    np.testing.assert_array_equal(made.load().rule("macro F1@3").offsets, expected)
    monkeypatch.setenv("XMLCORE_CACHE", str(tmp_path / "a third place"))
    check_refused(path, in_value("decisions", change), "no result of its kind")


def test_a_file_that_unpacks_to_more_than_the_bound_is_refused(file):
    with pytest.raises(experiment.WorkspaceFileError, match="at most 1,000 are read"):
        experiment.import_workspace(file, max_bytes=1000)


def test_a_file_that_only_names_a_data_set_does_not_open_that_of_another_workspace(file, exported):
    fingerprint = exported[1][0]
    save_dataset(word_data())  # another workspace has it

    def leave_out(files, about):
        for name in [name for name in files if name.startswith("datasets/")]:
            del files[name]
        about["artifacts"] = [one for one in about["artifacts"] if one["kind"] != "datasets"]

    rewritten(file, leave_out)
    with pytest.raises(experiment.WorkspaceFileError, match="not in the file"):
        experiment.import_workspace(file)
    assert store.exists("datasets", fingerprint)


# --- values without pickle


def test_values_come_back_from_json_and_arrays_as_they_were():
    frame = pd.DataFrame({"a": [1, 2], "s": ["x", None], "c": pd.Categorical(["u", "v"]), "f": np.float32([1, np.nan])})
    value = {
        "frame": frame,
        "indexed": frame.set_index("s"),
        "empty": pd.DataFrame(columns=["z"]),
        "scalar": np.float32(2.5),
        "tuple": (1, float("inf"), None, True),
        "ints": {1: "one", 2: [2]},
        "mark": {"$": "a user's own"},
        "objects": np.array([["a", None]], dtype=object),
        "none": np.zeros((0, 3)),
    }
    tree, arrays = pack(value)
    back = unpack(json.loads(json.dumps(tree, allow_nan=False)), arrays)
    for name in ("frame", "indexed", "empty"):
        pd.testing.assert_frame_equal(back[name], value[name])
    assert back["tuple"] == value["tuple"] and back["ints"] == value["ints"] and back["mark"] == value["mark"]
    assert back["scalar"] == 2.5 and back["scalar"].dtype == np.float32
    np.testing.assert_array_equal(back["objects"], value["objects"])
    assert back["none"].shape == (0, 3)


def test_what_is_no_plain_value_is_refused():
    with pytest.raises(NotPortableError, match="the value.'x'. is a Estimate"):
        pack({"x": experiment.Estimate(1.0)})
    for tree in ({"$": "evil"}, {"$": "array", "array": "a9"}, {"$": "frame"}, {"$": ["x"]}):
        with pytest.raises(NotPortableError):
            unpack(tree, {})
