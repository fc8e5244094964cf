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
from xmlcore.validation import check_known, check_number

SIZES = ("n_train", "n_test", "n_features", "n_labels", "features_per_row", "labels_per_row")
TAIL = "label_exponent"
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
    whole, share = check_known(SYNTHETIC_SHAPES, shape, "shape"), check_number(share, "share", 0, 1)
    sizes = dict(whole) | {
        field: min(int(whole[field]), max(least, round(whole[field] * share)))
        for field, least in (("n_train", LEAST_ROWS), ("n_test", LEAST_ROWS), ("n_labels", LEAST_LABELS))
    }
    return sizes | {"labels_per_row": min(whole["labels_per_row"], sizes["n_labels"] / 2)}


@register
class MakeSynthetic(MakesDataset):
    """Make a synthetic data set, see :func:`xmlcore.datasets.make_synthetic`, and keep it. No inputs."""

    kind, folder, result, needs = "synthetic", "synthetic", Made, ()
    doing = "Making {dataset}"

    PARAMETERS = (
        Parameter(
            "shape", "Sizes",
            "The data set whose sizes are taken.",
            "choice", "small", options=tuple(SYNTHETIC_SHAPES),
            option_names=(
                "Small",
                "Like Bibtex",
                "Like Mediamill",
                "Like Delicious",
                "Like EUR-Lex 4K",
                "Like Wiki10-31K",
                "Like AmazonCat-13K",
                "Like Amazon-670K",
            ),
        ),
        *(Parameter(name, name, "Empty: as the shape.", "any", None, optional=True) for name in SIZES),
        Parameter(
            TAIL, "Tail: how much rarer the rare labels are",
            "The label at rank r is drawn with a probability proportional to r to the power of minus this number. At 0 "
            "all labels are equally frequent.",
            "float", None, minimum=0.0, maximum=2.0, step=0.05, optional=True, details="None: as the shape.",
        ),
        Parameter(
            "feature_noise", "Noise: words that say nothing about the labels",
            "The share of a row's features that are drawn whatever its labels are. At 100\u00a0% only the frequencies "
            "of labels can be learned.",
            "float", USUAL_NOISE, minimum=0.0, maximum=1.0,
        ),
        Parameter(
            "label_noise", "Wrong labels",
            "The share of labels that are replaced by any other label after the features are drawn.",
            "float", 0.1, minimum=0.0, maximum=1.0,
        ),
        RANDOM_STATE,
    )  # fmt: skip

    def complete(self, params):
        return params | synthetic_sizes(params["shape"], **{name: params[name] for name in (*SIZES, TAIL)})

    def dataset_name(self):
        shape, noise, tail = (self.params[name] for name in ("shape", "feature_noise", "label_exponent"))
        name = f"synthetic {shape}, {self.params['n_labels']:,} labels"
        name += "" if noise == USUAL_NOISE else f", noise {100 * noise:.0f} %"
        return name + ("" if tail == SYNTHETIC_SHAPES[shape]["label_exponent"] else f", tail {tail:g}")

    def estimate(self) -> Estimate:
        return estimates.synthetic(self.params)

    def run(self, progress=silent, files=None):
        data = make_synthetic(**self.params, name=self.dataset_name(), progress=progress)
        progress("Saving", 0.0)
        return {"name": data.name, "dataset": save_dataset(data, self.made_by()), "notes": list(data.notes)}
