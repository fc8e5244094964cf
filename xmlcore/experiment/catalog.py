"""The models and feature selectors that can be run, with their texts for users, and parameters that tasks share."""

from dataclasses import dataclass, replace

from xmlcore.models.base import Estimator
from xmlcore.models.double_sampling import DoubleSampling
from xmlcore.models.ldsm import LdSM
from xmlcore.models.mixture import Mixture
from xmlcore.models.nearest_rows import NearestRows
from xmlcore.models.one_vs_rest import OneVsRest
from xmlcore.models.plt import PLT
from xmlcore.parameters import Parameter, filled, in_form
from xmlcore.robustness import AdversarialTraining
from xmlcore.selection.fals import FALS
from xmlcore.selection.gradenfs import GradEnFSSelection
from xmlcore.selection.lift import LIFT
from xmlcore.selection.rivals import (
    ChiSquaredSelection,
    LassoSelection,
    MutualInformationSelection,
    RandomForestSelection,
)
from xmlcore.validation import INT32_MAX


@dataclass(frozen=True)
class ModelInfo:
    """A model or feature selector that can be run: its class, and the parameters that forms have."""

    cls: type[Estimator]  # the estimator; its `ABOUT` has the texts for users, its `PRESETS` the published settings
    parameters: tuple[Parameter, ...]

    def filled(self, name: str, params: dict | None) -> dict:
        """Return parameters with the defaults filled in, checked, in the spelling that is kept."""
        given = dict(params or {})
        members = given.pop("members", None) if self.cls is Mixture else None
        values = filled(self.accepted, given, name)
        if members is not None:  # the parameters of other trainings, whose models are mixed
            if values["noise_sigma"]:
                raise ValueError("members that are trained already are mixed without noise: noise_sigma must be 0")
            values["members"] = [with_settings(filled((MODEL, SETTINGS, K), one, "a member")) for one in members]
        return values

    @property
    def accepted(self) -> tuple[Parameter, ...]:
        """The parameters as the estimator accepts them, which may be more than a form offers."""
        accepted = {p.name: p for p in (*NOISE_ACCEPTED, *self.cls.PARAMETERS)}
        return tuple(accepted.get(p.name, p) for p in self.parameters)

    @property
    def defaults(self) -> dict:
        return {p.name: p.default for p in self.parameters}


# Parameters of training with noise, as models have them, and as AdversarialTraining calls them.
NOISE_NAMES = {"noise_sigma": "sigma", "noise_ratio": "augment_ratio", "noise_support": "noise_support",
               "noise_kind": "kind"}  # fmt: skip


_TABLE = {p.name: replace(p, in_form=True, advanced=True) for p in AdversarialTraining.PARAMETERS}
# Training on noisy copies of rows beside the clean rows, which every model can: what is accepted, and what forms offer.
NOISE_ACCEPTED = (
    replace(
        _TABLE["sigma"], name="noise_sigma", help=f"{_TABLE['sigma'].help} 0 trains on the rows as they are.",
        default=0.0, above_minimum=False, offered=(0.0, 1e6),
    ),
    replace(_TABLE["augment_ratio"], name="noise_ratio", offered=(0.01, 100.0)),
    _TABLE["noise_support"],
    replace(_TABLE["kind"], name="noise_kind"),
)  # fmt: skip
NOISE = in_form(NOISE_ACCEPTED)
NOISE_SUPPORTS = {option: _TABLE["noise_support"].named(option) for option in _TABLE["noise_support"].options}

MODELS = {
    cls.__name__: ModelInfo(cls, (*in_form(cls.PARAMETERS), *NOISE))
    for cls in (PLT, LdSM, OneVsRest, DoubleSampling, NearestRows, Mixture)
}

GIVEN = "Predictions"  # in the place of a model, in results whose predictions another program has made

# Forms set n_features as a share; a number of features is also accepted.
SELECTORS = {
    name: ModelInfo(cls, in_form(cls.PARAMETERS))
    for name, cls in {
        "FALS": FALS,  # then those with which its paper compares
        "RandomForest": RandomForestSelection,
        "Lasso": LassoSelection,
        "GradEnFS": GradEnFSSelection,
        "ChiSquared": ChiSquaredSelection,
        "MutualInformation": MutualInformationSelection,
    }.items()
}
# In comparisons there is also a method that selects no features, but makes some for each label.
COMPARED = SELECTORS | {"LIFT": ModelInfo(LIFT, in_form(LIFT.PARAMETERS))}


# Parameters that tasks of several kinds have.
MODEL = Parameter("model", "Model", "The model that is trained.", "choice", "PLT", options=tuple(MODELS))
METHOD = Parameter("method", "Method", "How features are selected.", "choice", "FALS", options=tuple(SELECTORS))
SETTINGS = Parameter(
    "params", "Settings", "Parameters that differ from the defaults. Empty: none.", "dict", None, optional=True
)
K = Parameter("k", "k", "Measures are taken at 1 to k.", "int", 5, minimum=1)
SEED = Parameter("seed", "Seed", "The same seed draws the same rows.", "int", 0, minimum=0, offered=(0, INT32_MAX))
RANDOM_STATE = replace(SEED, name="random_state", help="The same seed gives the same result.")
SEEDS = Parameter("seeds", "Seeds", "One training for each.", "ints", (0, 1, 2), minimum=0)
MOST_SEEDS = 20  # that forms offer
TEST_SIZE = Parameter(
    "test_size", "Test share",
    "Which part of the rows is held out for testing. Not used when there is a test file.",
    "share", 0.2, offered=(0.01, 0.99), details="A share, or a number of rows.",
)  # fmt: skip
N_ROWS = Parameter(
    "n_rows", "Rows", "Size of a random sample of the rows. Empty: all.", "int", None, minimum=1, optional=True
)


def with_settings(params: dict) -> dict:
    """Return parameters of a task with all settings of the model or selection that they name, checked."""
    if "params" not in params:
        return params
    name, known = (params["model"], MODELS) if "model" in params else (params["method"], SELECTORS)
    return params | {"params": known[name].filled(name, params["params"])}
