"""What compiling costs in a new process. `benchmarks.compare` starts it, with the kernel cache it is to use:

python cold_start.py FOLDER {empty,filled}

"empty": a small training and prediction, then everything else that the label tree offers, all compiled on the way.
"filled": training and predicting twice on the whole training set; the first call has to load what was compiled.
Prints JSON, all times in seconds.
"""

import json
import sys
import time

started = time.perf_counter()

from numba.core import event  # noqa: E402

from benchmarks.library.contestant import matrix  # noqa: E402
from xmlcore import PLT  # noqa: E402
from xmlcore.models.base import warm_up  # noqa: E402

imported = time.perf_counter()


def timed(function):
    """Call a function; return the seconds that it took, and its result."""
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


def from_empty(folder):
    """Train, predict, and use everything else that the label tree offers, with nothing compiled; return seconds."""
    X, Y = matrix(folder, "toy", "X"), matrix(folder, "toy", "Y").astype(bool)
    fit_s, model = timed(lambda: PLT().fit(X, Y))
    predict_s, _ = timed(lambda: model.predict_topk(X, 5))

    def everything_else():
        model.predict_proba(X, threshold=0.1)
        model.set_params(beam=10).predict_topk(X, 5)
        for loss in ("logistic", "squared_hinge"):
            for tree in ("kmeans", "random"):
                several = PLT(tree=tree, loss=loss, n_estimators=2, arity=32).fit(X, Y)
                several.predict_topk(X, 5)
                several.set_params(beam=10).predict_topk(X, 5)
                several.predict_proba(X, threshold=0.1)
            PLT(tree="huffman", loss=loss).fit(X, Y).predict_topk(X, 5)
        warm_up(PLT())  # and what only large models run

    rest_s, _ = timed(everything_else)
    return {"fit_s": fit_s, "predict_s": predict_s, "rest_s": rest_s}


def from_filled(folder):
    """Train and predict twice on the whole training set, with everything compiled; return seconds."""
    X, Y = matrix(folder, "train", "X"), matrix(folder, "train", "Y").astype(bool)
    first_fit_s, model = timed(lambda: PLT().fit(X, Y))
    first_predict_s, _ = timed(lambda: model.predict_topk(X, 5))
    second_fit_s, model = timed(lambda: PLT().fit(X, Y))
    second_predict_s, _ = timed(lambda: model.predict_topk(X, 5))
    return {
        "first_fit_s": first_fit_s,
        "second_fit_s": second_fit_s,
        "first_predict_s": first_predict_s,
        "second_predict_s": second_predict_s,
    }


def main():
    compiling = event.TimingListener()
    event.register("numba:compile", compiling)
    found = {"empty": from_empty, "filled": from_filled}[sys.argv[2]](sys.argv[1])
    found |= {"import_s": imported - started, "compile_s": compiling.duration if compiling.done else 0.0}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
