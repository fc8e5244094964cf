"""Are models together better than the best of them? Mixture() beside its members, as they come, on every set.

    python -m benchmarks.mixture FOLDER [--data bibtex ...] [--seeds 3] [--out FILE.json]
    python -m benchmarks.mixture --again --out FILE.json     # its table once more, without measuring

Each model is trained on all training rows and meets the test rows once; nothing is chosen there. Times are of the
processor. What was measured is kept, and a second start goes on from there; results/mixture.json has what is published.
"""

import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import xmlcore
from benchmarks.compare import quality
from benchmarks.library import command, files, machine, tables
from benchmarks.library.comparison import MEASURES
from benchmarks.library.data import names, read_data
from benchmarks.library.processes import say
from xmlcore import metrics

RESULTS = Path(tempfile.gettempdir()) / "xmlcore-mixture.json"
MODELS = ("PLT", "NearestRows", "LdSM", "DoubleSampling", "OneVsRest", "Mixture")
RIVAL = "napkinXC, three trees"
TIMES = ("train_s", "test_s")
ABOUT = """# Models together

`Mixture()` and its members, as they come, on the test rows, in percent: the mean over seeds, ± half of its 95 %
interval over seeds where there are several. The last lines have the mixture minus the member that is best in each
measure, found on the test rows. Times are those of the processor, in seconds, of training and of predicting all test
rows: medians over seeds, as the first run of a process may compile. Weights are those of the first seed. Below the
mixture stands another library, one seed, which writes and reads its model in these times. The second and third seeds of
tmc2007-500, ohsumed, delicious, wordnet-class and wordnet-hyper were measured with later sources, a118b149b9d8e7c9.

"""


class NapkinXC:
    """Three trees of napkinXC, its defaults otherwise."""

    def __init__(self, random_state):
        from napkinxc.models import PLT

        self.folder = tempfile.TemporaryDirectory()
        self.model = PLT(self.folder.name, ensemble=3, seed=random_state, threads=1, verbose=False)

    def fit(self, X, Y):
        self.known = np.unique(Y.indices)  # it does not survive labels without rows
        self.model.fit(sp.csr_matrix(X), sp.csr_matrix(Y[:, self.known], dtype=np.float32))
        return self

    def predict_topk(self, X, k):
        return [self.known[row].tolist() for row in self.model.predict(sp.csr_matrix(X), top_k=k)]


def measure(data, name, seed):
    """Return the measures of a model, its times, and for a mixture its weights."""
    cls = NapkinXC if name == RIVAL else getattr(xmlcore, name)
    params = {"random_state": seed} if name == RIVAL or "random_state" in cls().get_params() else {}
    params |= {"negative": "zero"} if name == "DoubleSampling" else {}
    times = [time.process_time()]
    model = cls(**params).fit(data.X_train, data.Y_train)
    times.append(time.process_time())
    ranking = model.predict_topk(data.X_test, 5)
    times.append(time.process_time())
    values = quality(data, metrics.inverse_propensity(data.Y_train), ranking)
    seconds = dict(zip(TIMES, np.diff(times).tolist()))
    found = {"model": name, "seed": seed, "measures": values} | seconds
    return found | ({"weights": model.chosen_.to_dict("list")} if name == "Mixture" else {})


def of_model(runs, name):
    """Return the measures of a model's runs, (seeds, measures)."""
    return np.array([[run["measures"][of] for of in MEASURES] for run in runs if run["model"] == name])


def seconds_of(runs, name):
    """Return the median times of a model's runs, of training and of predicting."""
    return np.median([[run[key] for key in TIMES] for run in runs if run["model"] == name], axis=0)


def text_of(values):
    """Return the mean of values of several seeds, and half of its interval."""
    half = 1.96 * values.std(ddof=1) / np.sqrt(values.size) if values.size > 1 else None
    return f"{values.mean():.2f}" + ("" if half is None else f" ± {half:.2f}")


def line_of(runs, model):
    """Return a model's line of the table."""
    kept = next(run for run in runs if run["model"] == model).get("weights")
    share = ", ".join(f"{m} {w:.2f}" for m, w in zip(kept["member"], kept["weight"]) if w) if kept else ""
    return [model, *map(text_of, of_model(runs, model).T), *map(tables.number, seconds_of(runs, model)), share]


def data_markdown(name, found):
    """Return the table of one data set."""
    runs = found["runs"]
    members = [one for one in MODELS if of_model(runs, one).size]
    lines = [line_of(runs, model) for model in members]
    if members[-1] == "Mixture" and len(members) > 1:
        best = np.max([of_model(runs, one).mean(axis=0) for one in members[:-1]], axis=0)
        gains = of_model(runs, "Mixture").mean(axis=0) - best
        shares = seconds_of(runs, "Mixture") / sum(seconds_of(runs, one) for one in members[:-1])
        ratios = [f"{share:.2f} times all members'" for share in shares]
        lines.append(["**mixture − best**", *(f"**{gain:+.2f}**" for gain in gains), *ratios, ""])
    lines += [line_of(runs, RIVAL)] if of_model(runs, RIVAL).size else []
    seeds = len({run["seed"] for run in runs})
    return f"## {name}\n\n{seeds} seed(s). {tables.measured_text(found)}\n\n" + tables.table(
        ["", *MEASURES, "training, s", "test, s", "weights"], lines
    )


def write(known, out):
    files.write_sets(out, known, ABOUT + "\n\n".join(data_markdown(*one) for one in known.items()) + "\n")


def main():
    parser = command.parser("mixture", __doc__)
    parser.add_argument("folder", type=Path, nargs="?", help="data sets: NAME/train.* and NAME/test.*")
    parser.add_argument("--data", nargs="+", metavar="NAME", help="data sets (default: all of the FOLDER)")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--again", action="store_true", help="measure nothing: write the table of the last time")
    options = parser.parse_args()
    known = files.read_json(options.out).get("data", {})
    for name in () if options.again else names(options):
        data, head = read_data(options.folder, name), machine.header("mixture", 2)
        found = known[name] = head | known.get(name, {})
        for seed in range(options.seeds):
            for model in (*MODELS, RIVAL)[: len(MODELS) + (seed == 0)]:
                done = {(run["model"], run["seed"]) for run in found["runs"]}
                if (model, seed) in done or (model == "OneVsRest" and data.n_labels > 1000):
                    continue
                with warnings.catch_warnings(action="ignore"):
                    found["runs"].append(measure(data, model, seed))
                say(f"{name}, {model}, seed {seed}: {found['runs'][-1]}")
                write(known, options.out)
    write(known, options.out)


if __name__ == "__main__":
    main()
