"""What the Sampling page asks for and what it costs: values of κ, q and examples per class, estimates, tables."""

import math

import numpy as np
import pandas as pd

from pages.shared import settings, tables
from xmlcore import metrics, system
from xmlcore.datasets.statistics import BUCKETS, label_buckets

MODEL = "DoubleSampling"
CANDIDATES = (1, 2, 5, 10, 20, 50, 100)
ADVERSARIAL = (1, 2, 5, 10, 20, 50)
EXAMPLES = (0.5, 1.0, 2.0, 5.0, 10.0)
FEWER = 2  # the largest values left out where all would take too long: they take most of the time
MOST_VALUES = 12
REPEATS = 3
AXES = ("n_adversarial", "examples_per_class")


def parse_values(text: str, what: str, *, whole: bool, least: float, most: float) -> tuple[list, str | None]:
    """Read ``1, 2, 5``: the values, without repetition and in order, and what is wrong with them."""
    values = set()
    for part in text.replace(";", ",").split(","):
        part = part.strip()
        if not part:
            continue
        try:
            value = float(part)
        except ValueError:
            return [], f"“{part[:20]}” is not a number. Write values as 1, 2, 5."
        if not math.isfinite(value) or (whole and value != int(value)):
            return [], f"{what} cannot be {part[:20]}: it is a {'whole ' if whole else ''}number."
        if not least <= value <= most:
            return [], f"{what} cannot be {part[:20]}: it is from {least:,g} to {most:,g} here."
        values.add(int(value) if whole else value)
    if not values:
        return [], "At least one value is needed, such as 5."
    if len(values) > MOST_VALUES:
        return [], f"{len(values)} values are more than the {MOST_VALUES} this page measures at once."
    return sorted(values), None


def first_candidates(times: dict, own: int, most: int, within: float) -> tuple:
    """Numbers of candidates to begin with: as many as take no longer than ``within`` seconds, and the run's own."""
    values = [value for value in CANDIDATES if value <= most]
    while values and candidates_seconds(times, own, with_own(values, own)) > within:
        values.pop()
    return with_own(values, own)


def with_own(values, own) -> tuple:
    """The values and the model's own among them, in order."""
    return tuple(sorted({*values, own}))


def written(values) -> str:
    return ", ".join(f"{value:.10g}" for value in values)


def candidates_seconds(times: dict, own: int, values) -> float:
    """Estimate how long predicting with other numbers of candidates takes, from the run's own ``times``."""
    return 1.0 + times["predict_s"] * (1.0 + sum(0.6 + 0.3 * value / own for value in values))


def sweep_seconds(times: dict, own: tuple, adversarial, examples, n_repeats: int) -> float:
    """Estimate how long training with other values takes; ``own`` are κ and examples per class of the run."""
    shares = [value / own[0] for value in adversarial] + [value / own[1] for value in examples]
    training = times["fit_s"] * sum(0.15 + 0.85 * share for share in shares)
    return 1.0 + n_repeats * (training + times["predict_s"] * len(shares))


def first_sweep(times: dict, own: tuple, most_adversarial: int, within: float) -> tuple[tuple, tuple, int]:
    """Values of κ, examples per class, and repeats to begin with: as many as take no longer than ``within`` seconds."""
    adversarial = tuple(value for value in ADVERSARIAL if value <= most_adversarial)
    for left_out, n_repeats in ((0, REPEATS), (0, 1), (1, 1), (FEWER, 1)):
        kept = adversarial[: len(adversarial) - left_out], EXAMPLES[: len(EXAMPLES) - left_out]
        asked = tuple(with_own(values, value) for values, value in zip(kept, own))
        if sweep_seconds(times, own, *asked, n_repeats) <= within:
            return *asked, n_repeats
    return with_own(adversarial, own[0]), with_own(EXAMPLES, own[1]), 1  # it waits for a button in any case


def pair_bytes(n_pairs: int, n_features: int, own: tuple, adversarial, examples) -> float:
    """Memory of the pairs of the largest training of a sweep: their features, float64, and signs.

    ``n_pairs`` are those that the run made, before it left any out. ``own`` are its κ, capped at the
    adversaries that an example can have, and its examples per class.
    """
    share = max([value / own[0] for value in adversarial] + [value / own[1] for value in examples], default=1.0)
    return n_pairs * share * (8.0 * n_features + 1.0)


def too_large(needed: float) -> int | None:
    """Free memory, in bytes, when ``needed`` is more than half of it; else None, or where the system does not tell."""
    free = system.free_bytes()
    return free if free is not None and needed > free / 2 else None


def failures(sweep: pd.DataFrame) -> list[tuple[str, float, str, int]]:
    """What could not be trained: axis, value, why, and how many trainings of it, in the order of the sweep."""
    failed, found = sweep[sweep["failed"] != ""], {}
    for axis, kappa, examples, why in zip(*(failed[name] for name in ("axis", *AXES, "failed"))):
        why = settings.in_form(MODEL, why)
        value = float(kappa if axis == AXES[0] else examples)
        found[axis, value, why] = found.get((axis, value, why), 0) + 1
    return [(*what, n) for what, n in found.items()]


# --- tables ---


def class_sizes(data, model) -> pd.DataFrame:
    """A line per class, most training rows first: ``label, name, class_size, sampled_size``.

    ``class_size`` are the data's own rows: a model that was trained with noise has counted noisy copies, too.
    """
    class_size = np.bincount(data.Y_train.indices, minlength=data.n_labels)
    order = np.argsort(-class_size, kind="stable")
    return pd.DataFrame(
        {
            "label": order,
            "name": tables.label_names(data, order),
            "class_size": class_size[order],
            "sampled_size": model.sampled_size_[order],
        }
    )


def weights(model, meanings) -> pd.DataFrame:
    """A line per feature, the largest influence first: ``name, value, weight, scale, meaning``."""
    frame = pd.DataFrame(
        {
            "name": list(model.feature_names_),
            "value": model.weights_ * model.feature_scale_,
            "weight": model.weights_,
            "scale": model.feature_scale_,
            "meaning": [meanings.get(name, "") for name in model.feature_names_],
        }
    )
    return frame.iloc[np.argsort(-frame["value"].abs().to_numpy(), kind="stable")].reset_index(drop=True)


def by_bucket(data, ranking) -> pd.DataFrame:
    """Measures of a run's first predictions for head, torso and tail classes.

    ``bucket, n_classes, n_rows, accuracy, macro_f1``, as :func:`xmlcore.experiment.sampling_study` has them.
    """
    buckets = label_buckets(np.bincount(data.Y_train.indices, minlength=data.n_labels))
    first, lines = ranking.labels[:, 0], []
    for bucket in BUCKETS:
        inside = buckets == bucket
        own = data.Y_test.indices[inside[data.Y_test.indices]]
        accuracy, macro = (
            measure(data.Y_test, first, classes=inside) for measure in (metrics.accuracy, metrics.macro_f1)
        )
        lines.append((bucket, np.unique(own).size, own.size, accuracy, macro))
    return pd.DataFrame(lines, columns=["bucket", "n_classes", "n_rows", "accuracy", "macro_f1"])


class Row:
    """The candidates of a test row, by f, and the true classes that are none."""

    def __init__(self, data, model, row: int):
        x, true = data.X_test[[row]], tables.ids(data.Y_test, row)
        nearest = model.candidates(x)[0]
        missed = true[~np.isin(true, nearest)]
        classes = np.concatenate([nearest, missed]).astype(np.int32)
        features = model.pair_features(x, classes[None, :])[0]
        f = features @ model.weights_
        q = nearest.size
        order = np.concatenate([np.lexsort((nearest, -f[:q])), q + np.argsort(-f[q:], kind="stable")])
        self.q, self.true, self.missed = q, true, classes[q:][order[q:] - q]
        self.labels, self.features, self.f = classes[order], features[order], f[order]
        self.place = np.concatenate([np.arange(1, q + 1), np.zeros(missed.size, np.int64)])  # 0: no candidate
        self.nearness = np.concatenate([order[:q] + 1, np.zeros(missed.size, np.int64)])
        self.right = np.isin(self.labels, true)
        self.contributions = (self.features - self.features[:q].mean(axis=0)) * model.weights_
        self.names = tables.label_names(data, self.labels)
        self.feature_names = list(model.feature_names_)

    @property
    def shares(self) -> np.ndarray:
        """What :meth:`predict_proba` makes of f; nan for classes that are no candidates."""
        shares = np.full(self.f.size, np.nan)
        parts = np.exp(self.f[: self.q] - self.f[0])
        shares[: self.q] = parts / parts.sum()
        return shares

    def wide(self) -> pd.DataFrame:
        """A line per class: ``rank, name, label, true, f, share, nearness`` and a column per feature."""
        frame = pd.DataFrame(
            {
                "rank": pd.array(np.where(self.place > 0, self.place, -1), dtype="Int64"),
                "name": self.names,
                "label": self.labels,
                "true": self.right,
                "f": self.f,
                "share": self.shares,
                "nearness": pd.array(np.where(self.nearness > 0, self.nearness, -1), dtype="Int64"),
            }
        )
        for column in ("rank", "nearness"):
            frame.loc[frame[column] < 0, column] = pd.NA
        values = pd.DataFrame(self.features, columns=self.feature_names)
        return pd.concat([frame, values], axis=1)

    def tidy(self, most: int | None = None, most_missed: int | None = None) -> pd.DataFrame:
        """A line per class and feature, of the first ``most`` candidates and ``most_missed`` true classes."""
        shown = np.concatenate([np.arange(self.q)[:most], np.arange(self.q, self.f.size)[:most_missed]])
        n, m = shown.size, len(self.feature_names)
        return pd.DataFrame(
            {
                "label": np.repeat(self.labels[shown], m),
                "name": np.repeat(np.array(self.names, dtype=object)[shown], m),
                "right": np.repeat(self.right[shown], m),
                "candidate": np.repeat(shown < self.q, m),
                "f": np.repeat(self.f[shown], m),
                "feature": np.tile(np.array(self.feature_names, dtype=object), n),
                "value": self.features[shown].ravel(),
                "contribution": self.contributions[shown].ravel(),
            }
        )
