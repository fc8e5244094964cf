"""Models that the workers of a Dask cluster train together, here in threads; tests/jobs kills processes."""

import numpy as np
import pytest

from xmlcore import PLT, ExtendedPLT, OneVsRest, cluster, jobs
from xmlcore.datasets import make_synthetic
from xmlcore.mapped import write_rows
from xmlcore.models import by_workers
from xmlcore.models.plt import on_cluster
from xmlcore.validation import csr_parts

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def data():
    made = make_synthetic(n_train=1200, n_test=1, n_labels=300, n_features=500, n_jobs=1)
    return made.X_train, (made.Y_train * (np.arange(300) % 7 > 0)).tocsr()  # some labels without rows


@pytest.fixture(scope="module")
def workers():
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address="127.0.0.1:0"
    ) as made:
        yield made


@pytest.fixture
def parts(monkeypatch):
    """How many parts each training gave to the cluster; they are small."""
    given, run = [], cluster.TrainingCluster.run

    def counted(self, function, tasks, *others):
        given.append(len(tasks))
        return run(self, function, tasks, *others)

    monkeypatch.setattr(on_cluster, "LEAST_COST", 1.0)
    monkeypatch.setattr(on_cluster, "PARTS", 12)
    monkeypatch.setattr(cluster.TrainingCluster, "run", counted)
    return given


def arrays(model):
    return model._state()[1]


@pytest.mark.parametrize("model", [
    PLT(arity=4, max_leaf_labels=8, C=1.0, loss="logistic"),
    PLT(arity=50, max_leaf_labels=50, n_estimators=2, C=1.0, normalize="l2+idf"),
    PLT(tree="huffman", C=1.0),
    ExtendedPLT(max_leaf_labels=300, C=1.0),
    OneVsRest(C=1.0, normalize="idf"),
], ids=lambda model: type(model).__name__)  # fmt: skip
def test_a_model_of_a_cluster_is_that_of_one_process(model, data, workers, parts, tmp_path):
    expected = arrays(model.fit(*data))
    rows, weights = write_rows(data[0], tmp_path), {"label_weight": np.arange(300) % 3 + 1.0}
    with jobs.on_cluster(workers):
        found = arrays(model.fit(*data))
        weighted = arrays(model.fit(rows, data[1], **weights))
    for same, other in ((found, expected), (weighted, arrays(model.fit(*data, **weights)))):
        assert same.keys() == other.keys() and all(np.array_equal(same[name], other[name]) for name in same)
    assert min(parts) > 5
    assert sorted(path.name for path in tmp_path.iterdir()) == ["rows.columns", "rows.npz", "rows.values"]


def test_a_stopped_training_goes_on_with_its_parts(data, workers, parts, tmp_path):
    model, rows = PLT(arity=4, max_leaf_labels=8, C=1.0, loss="logistic", normalize="l2"), write_rows(data[0], tmp_path)

    def stop(phase, fraction, detail=""):
        if "parts" in detail and fraction > 0.6:
            raise InterruptedError

    with jobs.on_cluster(workers.scheduler_address):
        with pytest.raises(InterruptedError):
            model.fit(rows, data[1], progress=stop)
        [kept] = tmp_path.glob("nodes-*")
        torn = next(kept.glob("part-*"))
        torn.write_bytes(torn.read_bytes()[:-1])
        found = arrays(model.fit(rows, data[1]))
    assert parts[1] < 0.8 * parts[0]
    expected = arrays(model.fit(*data))
    assert all(np.array_equal(found[name], expected[name]) for name in expected) and not kept.exists()


@pytest.mark.parametrize("model", [PLT(arity=4, max_leaf_labels=8, C=1.0), OneVsRest(C=1.0)], ids=["PLT", "OneVsRest"])
def test_rows_in_files_are_predicted_by_workers(model, data, workers, parts, monkeypatch, tmp_path):
    model.fit(*data)
    rows, mask, weights = write_rows(data[0], tmp_path), np.arange(300) % 2 > 0, np.arange(300) % 5 + 1.0
    monkeypatch.setattr(by_workers, "BLOCK", rows.nnz // 6)
    with jobs.on_cluster(workers):
        found = [model.predict_topk(rows, 4), model.predict_topk(rows, 3, labels=mask)]
        found += [model.predict_topk(rows, k=3, weights=weights)]
        sparse = model.predict_proba(rows, 0.1)
        with pytest.raises(ValueError, match="weights"):
            model.predict_topk(rows, 3, weights=-weights)
        model.predict_topk(data[0], 4)  # rows in memory are predicted here
        assert model.predict_topk(write_rows(rows[:0], tmp_path / "none"), 4).labels.shape == (0, 4)
    assert parts == [7] * 4
    expected = [model.predict_topk(data[0], 4), model.predict_topk(data[0], 3, labels=mask)]
    expected += [model.predict_topk(data[0], 3, weights=weights)]
    for one, other in zip(found, expected):
        assert np.array_equal(one.labels, other.labels) and np.array_equal(one.scores, other.scores)
    same = model.predict_proba(data[0], 0.1)
    assert all(np.array_equal(*two) for two in zip(csr_parts(sparse), csr_parts(same)))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["none", "rows.columns", "rows.npz", "rows.values"]


@pytest.mark.parametrize("answer, told", [
    (("xmlcore 0.1 with kernels 00", True), "has xmlcore 0.1 with kernels 00, and this machine xmlcore"),
    ((on_cluster.version(), False), "does not see the files of .*rows: share this folder"),
    (ModuleNotFoundError("No module named 'xmlcore'"), "has none .No module named"),
])  # fmt: skip
def test_workers_that_could_not_train_are_named_first(answer, told, data, workers, monkeypatch, tmp_path):
    monkeypatch.setenv("XMLCORE_CACHE", str(tmp_path))

    def facts(*args):
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(cluster, "_facts", facts)
    with jobs.on_cluster(workers), pytest.raises(ValueError, match=f"the worker inproc://.* {told}"):
        PLT().fit(*data)


def test_a_cluster_that_is_not_there_is_an_error(monkeypatch):
    monkeypatch.setattr(cluster, "ANSWER_SECONDS", 0.3)
    with (
        pytest.raises(ConnectionError, match="tcp://127.0.0.1:9 does not answer"),
        jobs.on_cluster("tcp://127.0.0.1:9"),
    ):
        pass
    with distributed.LocalCluster(n_workers=0, processes=False, dashboard_address="127.0.0.1:0") as none:
        with pytest.raises(ConnectionError, match="has no workers: start one with: dask worker inproc"):
            with jobs.on_cluster(none):
                pass


@pytest.mark.parametrize("n_open, cuts", [(16, []), (18, []), (19, [16]), (34, [16]), (35, [16, 32])])
def test_a_group_is_cut_where_sixteen_are_trained(n_open, cuts):
    counts = np.concatenate([[0], np.full(n_open, 3), [9]])  # no row has the first, all have the last
    under = on_cluster.NodeRows(np.concatenate([[0], np.cumsum(counts)]), None, None)
    group = on_cluster.Group(0, -1, 0, counts.size)
    assert on_cluster._cuts(under, group, 9) == [1 + cut for cut in cuts]
