"""How long tasks take, and what memory, before anything is done."""

from xmlcore.experiment.task import Estimate

SECONDS_PER_VALUE = 5e-8  # that a PLT reads of a dense row
GRADIENT_STEPS = {"fgsm": 1, "pgd": 21}
EXPLAIN_SECONDS = {"PLT": 0.01, "OneVsRest": 0.01, "LdSM": 0.04, "DoubleSampling": 0.04}  # per row explained


def train(dataset, model: str, params: dict) -> Estimate:
    """Estimate a training, and the measurement on the test rows."""
    return Estimate(1.0 + 1e-5 * dataset.X_train.nnz * params.get("n_estimators", 1))


def reduced(dataset, asked: dict, n_used: int, whole=None) -> Estimate:
    """Estimate a training on ``n_used`` features, and one on all unless its run is known."""
    both = train(dataset, asked["model"], asked["params"]).seconds if whole is None else whole.times["fit_s"]
    part = both * max(n_used / dataset.n_features, 0.1)
    return Estimate(part + (both if whole is None else 0.0))


def robustness(run, dataset, asked: dict) -> Estimate:
    """Estimate a measurement of a run under noise or an attack, from the run's own times."""
    kind, per_row = asked["kind"], run.times["predict_ms_per_row"] / 1000
    n_features = dataset.n_features
    filled = dataset.X_test.nnz / dataset.n_test
    dense = kind == "gaussian" and asked["options"].get("support", "all") == "all"
    wider = n_features / max(filled, 1.0) if dense else 1.5 if kind == "words" else 1.0
    noisy = per_row * (wider if run.model != "LdSM" else 1 + 0.2 * wider)  # its trees look at few nodes of any row
    if run.model == "PLT":
        noisy = min(noisy, per_row + SECONDS_PER_VALUE * n_features)  # dense rows go down its tree together
    noisy += 3e-8 * wider * filled + 2e-5  # making the noise
    if kind in GRADIENT_STEPS:
        noisy += GRADIENT_STEPS[kind] * (3 * per_row + 3e-4 + 3.5e-7 * n_features)
    n_rows = min(asked["n_rows"] or dataset.n_test, dataset.n_test)
    return Estimate(1.0 + n_rows * (per_row + len(asked["levels"]) * asked["n_repeats"] * noisy))


def explanations(run, n_rows: int) -> Estimate:
    """Estimate the explanation of rows: contributions, deletions and noisy copies of each."""
    deletions = 24 * run.times["predict_ms_per_row"] / 1000
    return Estimate(1.0 + n_rows * (EXPLAIN_SECONDS.get(run.model, 0.04) + deletions))


def sampling(run, dataset, asked: dict) -> Estimate:
    """Estimate a study of double sampling, from the run's own times."""
    own, times = run.params, run.times
    shares = [value / own["n_adversarial"] for value in asked["n_adversarial"]]
    shares += [value / own["examples_per_class"] for value in asked["examples_per_class"]]
    training = times["fit_s"] * sum(0.15 + 0.85 * share for share in shares)
    seconds = 1.0 + asked["n_repeats"] * (training + times["predict_s"] * len(shares))
    if asked["n_candidates"]:
        each = sum(0.6 + 0.3 * value / own["n_candidates"] for value in asked["n_candidates"])
        seconds += times["predict_s"] * (1.0 + each)
    return Estimate(seconds)
