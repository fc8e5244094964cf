from xmlcore import experiment
from xmlcore.jobs import Queue


def compiled():
    """Signatures of every kernel that is called from Python."""
    from importlib import import_module
    from pkgutil import iter_modules

    import xmlcore._kernels as kernels

    found = {}
    for info in iter_modules(kernels.__path__):
        for name, item in vars(import_module(f"{kernels.__name__}.{info.name}")).items():
            if hasattr(item, "signatures"):
                found[f"{info.name}.{name}"] = set(item.signatures)
    return found


def test_warm_up_leaves_nothing_to_compile(tmp_path):
    import numpy as np

    from xmlcore import PLT, metrics
    from xmlcore.datasets import read_matrix

    reports = []
    experiment.warm_up(lambda *report: reports.append(report))
    assert reports[0][0] == "Compiling kernels" and reports[-1][1] == 1.0
    assert [r[1] for r in reports] == sorted(r[1] for r in reports)
    before = compiled()

    random = np.random.default_rng(0)
    lines = [f"{i % 7},{7 + i % 4} {i % 9}:1 {9 + i % 3}:{random.random():.3f}" for i in range(60)]
    X, Y, *_ = read_matrix(("60 12 11\n" + "\n".join(lines) + "\n").encode())
    every = [{}, {"loss": "squared_hinge"}, {"tree": "random", "arity": 4}, {"n_estimators": 2}, {"beam": 3}]
    for options in [*every, {"tree": "huffman"}]:
        model = PLT(max_leaf_labels=3, max_iter=200, **options).fit(X, Y)
        metrics.measures(Y, model.predict_topk(X, k=5), 5, metrics.inverse_propensity(Y))
        model.predict_proba(X, threshold=0.2)
        model.predict(X)
        model.predict_topk(X.toarray() + 1, k=5)  # every row has every feature
    assert compiled() == before


def test_warm_up_runs_in_a_worker():
    queue = Queue(n_workers=1)
    assert queue.submit(experiment.warm_up, title="Compiling").result(timeout=120) is None
    queue.shutdown()
