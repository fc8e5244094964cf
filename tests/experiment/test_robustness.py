"""Kept runs under noise and attacks."""

import pytest
from making import robustness, stop, train

from xmlcore import experiment, store
from xmlcore.datasets import save_dataset
from xmlcore.experiment.kinds.robustness import SURROGATE, SURROGATE_PARAMS
from xmlcore.experiment.kinds.train import sampled_rows
from xmlcore.progress import Cancelled
from xmlcore.robustness.perturbations import KINDS


def test_a_kept_run_is_measured_under_noise_once(data):
    from xmlcore.robustness import evaluate as measured

    key = experiment.keep(train(save_dataset(data), "PLT"))
    asked = (key, "gaussian", [0.1, 0.05, 0.1], {"support": "nonzero"}, 2, 7)
    stored = experiment.keep(robustness(*asked))
    assert stored == robustness(*asked).key
    assert stored == robustness(key, "gaussian", (0.05, 0.1), {"support": "nonzero"}, 2, 7).key
    found = experiment.load("robustness", stored)
    model = experiment.load_run_model(key)
    options = {"support": "nonzero", "n_repeats": 2, "random_state": 7, "Y_train": data.Y_train}
    expected = measured(model, data.X_test, data.Y_test, (0.05, 0.1), **options)
    times = expected["measure"].isin(["predict_s", "perturb_s"])
    assert expected[~times].equals(found.frame[~times])
    assert (found.kind, found.levels, found.n_rows, found.n_test, found.surrogate) == (
        "gaussian", [0.05, 0.1], 30, 30, None,
    )  # fmt: skip
    assert experiment.keep(robustness(*asked), stop) == stored  # at once
    with pytest.raises(Cancelled):
        experiment.keep(robustness(key, "gaussian", [0.3]), stop)


@pytest.mark.parametrize("kind", KINDS)
def test_a_level_beyond_those_of_its_kind_is_refused(kind):
    for level in (-1.0, 2 * KINDS[kind].most):
        with pytest.raises(ValueError) as raised:
            robustness("k", kind, [0.1, level])
        assert str(raised.value) == KINDS[kind].fault(level)


def test_a_sample_of_test_rows_is_drawn_by_the_seed(data):
    key = experiment.keep(train(save_dataset(data), "PLT"))
    found = experiment.load("robustness", experiment.keep(robustness(key, "words", [0.2], n_repeats=1, n_rows=11)))
    assert (found.n_rows, found.n_test) == (11, 30)
    rows = [sampled_rows(30, 11, seed).tolist() for seed in (0, 0, 1)]
    assert rows[0] == rows[1] != rows[2] and len(set(rows[0])) == 11
    assert sampled_rows(30, 99, 0).size == sampled_rows(30, None, 0).size == 30


@pytest.mark.filterwarnings("ignore:.*splits separated nothing")
def test_models_without_a_gradient_are_attacked_through_plt(data):
    fingerprint = save_dataset(data)
    own = experiment.keep(train(fingerprint, "PLT", SURROGATE_PARAMS))
    created = store.info("runs", own)["created"]
    for model, said in (("PLT", None), ("OneVsRest", None), ("LdSM", "a binary PLT with logistic loss")):
        key = experiment.keep(train(fingerprint, model, {"n_estimators": 2} if model == "LdSM" else {}))
        found = experiment.load("robustness", experiment.keep(robustness(key, "fgsm", [2.0], n_repeats=1)))
        assert (found.surrogate or "").startswith(said or "") and (found.surrogate is None) == (said is None)
        at_1 = found.frame.query("measure == 'P@k' and k == 1 and bucket == 'all'")["value"]
        assert at_1.iloc[-1] < at_1.iloc[0]
    assert store.info("runs", own)["created"] == created  # the attacked model was not trained again


def test_a_transferred_attack_has_its_own_key(data):
    key = experiment.keep(train(save_dataset(data), "OneVsRest"))
    params = {"kind": "fgsm", "levels": [2.0], "n_repeats": 1}
    own, other = (experiment.task("robustness", {"run": key}, params | {"transferred": t}) for t in (False, True))
    assert own.key == experiment.task("robustness", {"run": key}, params).key != other.key
    found = experiment.load("robustness", experiment.keep(other))
    assert found.transferred and found.surrogate == SURROGATE
    with pytest.raises(ValueError, match="only attacks can be transferred"):
        experiment.task("robustness", {"run": key}, params | {"kind": "words", "transferred": True})
    with pytest.raises(TypeError, match="transferred must be True or False"):
        experiment.task("robustness", {"run": key}, params | {"transferred": 1})


@pytest.mark.parametrize("params, message", [
    ({"levels": [0.1]}, "needs the parameter kind"),
    ({"kind": "words"}, "needs the parameter levels"),
    ({}, "needs the parameter kind and levels"),
    ({"kind": "salt", "levels": [0.1]}, "kind must be one of gaussian, words, fgsm, pgd"),
    ({"kind": "gaussian", "levels": [0.1], "options": {"drop": 1}}, "no option 'drop': it has support"),
    ({"kind": "fgsm", "levels": [0.1], "options": {"norm": 3}}, "norm must be one of 2, inf, not 3"),
    ({"kind": "gaussian", "levels": [0.1], "options": {"support": "some"}}, "support must be one of all, nonzero"),
    ({"kind": "pgd", "levels": [0.1], "options": {"n_steps": 0}}, "n_steps must be at least 1"),
])  # fmt: skip
def test_unknown_options_of_a_perturbation_are_refused(params, message):
    with pytest.raises(ValueError, match=message):
        experiment.task("robustness", {"run": "0" * 32}, params)


@pytest.mark.parametrize(("kind", "some", "all_of_them"), [
    ("gaussian", {}, {"support": "all"}),
    ("words", {"drop": 0}, {"drop": False, "swap": True, "insert": True, "reference": None}),
    ("fgsm", {"norm": float("inf")}, {"norm": "inf", "support": "all", "objective": "margin", "nonnegative": False}),
    ("pgd", {"n_steps": 20}, {"norm": 2, "support": "all", "random_start": False}),
])  # fmt: skip
def test_options_at_their_defaults_do_not_change_the_key(kind, some, all_of_them):
    def made(options):
        wanted = {"kind": kind, "levels": [0.1], "options": options}
        return experiment.task("robustness", {"run": "ab" * 16}, wanted)

    other = {"swap": False} if kind == "words" else {"support": "nonzero"}
    assert made(some).key == made(all_of_them).key != made({**all_of_them, **other}).key
