"""Making synthetic data sets, so that other tasks can read them."""

from dataclasses import dataclass
from typing import Any

from xmlcore.datasets import SYNTHETIC_SHAPES, make_synthetic, save_dataset, synthetic_sizes
from xmlcore.experiment.engine import estimates
from xmlcore.experiment.engine.task import Estimate, register
from xmlcore.experiment.engine.task_parameters import RANDOM_STATE
from xmlcore.experiment.kinds.prepare import MakesDataset
from xmlcore.parameters import Parameter
from xmlcore.progress import silent
from xmlcore.validation import check_number

SIZES = ("n_train", "n_test", "n_features", "n_labels", "features_per_row", "labels_per_row", "label_exponent")
USUAL_NOISE = 0.3
LEAST_ROWS, LEAST_LABELS = 50, 10  # of a scaled data set


@dataclass(frozen=True)
class Made:
    """A synthetic data set that is kept."""

    name: str
    dataset: str
    notes: list


def scaled(shape: str, share: float) -> dict[str, Any]:
    """Return the sizes of a smaller data set of a shape: rows and labels are multiplied by ``share``, features stay."""
    whole, share = SYNTHETIC_SHAPES[shape], check_number(share, "share", 0, 1)
    sizes = dict(whole) | {
        field: min(int(whole[field]), max(least, round(whole[field] * share)))
        for field, least in (("n_train", LEAST_ROWS), ("n_test", LEAST_ROWS), ("n_labels", LEAST_LABELS))
    }
    return sizes | {"labels_per_row": min(whole["labels_per_row"], sizes["n_labels"] / 2)}


@register
class MakeSynthetic(MakesDataset):
    """Make a synthetic data set, see :func:`xmlcore.datasets.make_synthetic`, and keep it. No inputs."""

    kind, folder, result, needs = "synthetic", "synthetic", Made, ()

    PARAMETERS = (
        Parameter("shape", "Sizes", "The data set whose sizes are taken.", "text", "small"),
        *(Parameter(name, name, "Empty: as the shape.", "any", None, optional=True) for name in SIZES),
        Parameter("feature_noise", "Noise", "Features that say nothing.", "float", USUAL_NOISE, minimum=0, maximum=1),
        Parameter("label_noise", "Wrong labels", "Labels that are replaced.", "float", 0.1, minimum=0, maximum=1),
        RANDOM_STATE,
    )

    def complete(self, params):
        return params | synthetic_sizes(params["shape"], **{name: params[name] for name in SIZES})

    def title_on(self, dataset):
        return f"Making {self.dataset_name()}"

    def dataset_name(self):
        shape, noise, tail = (self.params[name] for name in ("shape", "feature_noise", "label_exponent"))
        name = f"synthetic {shape}, {self.params['n_labels']:,} labels"
        name += "" if noise == USUAL_NOISE else f", noise {100 * noise:.0f} %"
        return name + ("" if tail == SYNTHETIC_SHAPES[shape]["label_exponent"] else f", tail {tail:g}")

    def about(self):
        return {"name": self.dataset_name()}

    def estimate(self) -> Estimate:
        return estimates.synthetic(self.params)

    def run(self, progress=silent, files=None):
        data = make_synthetic(**self.params, name=self.dataset_name(), progress=progress)
        progress("Saving", 0.0)
        return {"name": data.name, "dataset": save_dataset(data, self.made_by()), "notes": list(data.notes)}
