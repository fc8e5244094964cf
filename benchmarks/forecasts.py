"""Check forecasts of learning curves: from 5 to 50 % of the training rows to all of them, which are then trained on.

    python -m benchmarks.forecasts FOLDER [--data bibtex delicious ...] [--seeds 0 1 2]

FOLDER has NAME/train.txt.gz and NAME/test.txt.gz. Prints a line for each data set, as docs/sweeps.md has them.
"""

from pathlib import Path

import numpy as np

from benchmarks.library import command
from xmlcore.datasets import read_dataset
from xmlcore.experiment import learning_curve

DATA = ("bibtex", "delicious", "eurlex4k-dev", "20ng", "corel5k", "ohsumed", "scene", "tmc2007-500", "yeast")
SHARES = (0.05, 0.1, 0.2, 0.35, 0.5)


def check(data, seeds):
    """Return a DataFrame with the forecasts for all rows, and as ``truth`` what training on all rows gave."""
    on = ["bucket", "measure", "k"]
    half = learning_curve(data, shares=SHARES, seeds=seeds).forecasts
    whole = learning_curve(data, shares=(1.0,), seeds=seeds).frame.groupby(on)["value"].mean().rename("truth")
    return half.join(whole, on=on)


def line(name, data, found):
    """Return a line of the table: how many forecasts there were, and how good they were, in points."""
    made = found[found["reason"] == ""]
    inside = ((made["low"] <= made["truth"]) & (made["truth"] <= made["high"])).sum()
    first = found[(found["measure"] == "P@k") & (found["k"] == 1)].iloc[0]
    said = "none"
    if not first["reason"]:
        said = f"{100 * first['value']:.1f} ({100 * first['low']:.1f} to {100 * first['high']:.1f})"
    points = [(made["high"] - made["low"]), (made["value"] - made["truth"]).abs(), (made["now"] - made["truth"]).abs()]
    cells = [name, f"{data.n_train:,}", len(made), inside, *(f"{100 * np.mean(part):.1f}" for part in points)]
    cells += [f"{100 * first['now']:.1f}", said, f"{100 * first['truth']:.1f}"]
    return "| " + " | ".join(map(str, cells)) + " |"


def main():
    parser = command.parser("forecasts", __doc__)
    parser.add_argument("folder", type=Path, help="data sets: NAME/train.txt.gz and NAME/test.txt.gz")
    parser.add_argument("--data", nargs="+", default=list(DATA), help="names of data sets")
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    options = parser.parse_args()
    for name in options.data:
        data = read_dataset(options.folder / name / "train.txt.gz", options.folder / name / "test.txt.gz", name=name)
        print(line(name, data, check(data, options.seeds)), flush=True)


if __name__ == "__main__":
    main()
