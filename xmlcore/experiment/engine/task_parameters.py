"""Parameters that tasks of several kinds have, and the completion of the settings of a model or selection."""

from dataclasses import replace

from xmlcore.experiment.catalog import MODELS, SELECTORS
from xmlcore.parameters import Parameter
from xmlcore.validation import INT32_MAX

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
