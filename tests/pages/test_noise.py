"""What the Robustness page asks for, without a page around it."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from pages.robustness import noise
from xmlcore import experiment
from xmlcore.datasets import Dataset


def record(key, model="PLT", **params):
    return {"key": key, "model": model, "params": experiment.full_params(model, params)}


def test_runs_are_named_as_short_as_tells_them_apart():
    plain, noisy = record("a"), record("b", noise_sigma=0.05)
    assert noise.names([plain]) == {"a": "PLT"}
    assert noise.names([plain, noisy]) == {"a": "PLT", "b": "PLT trained with noise"}
    more = record("c", noise_sigma=0.1)
    assert noise.names([noisy, more])["c"] == "PLT trained with noise σ = 0.1"
    other = record("d", C=1.0)
    assert noise.names([plain, other]) == {"a": "PLT (default settings)", "d": "PLT (C, weight of the loss: 1)"}
    sparse = record("e", noise_sigma=0.05, noise_support="nonzero")
    assert noise.names([noisy, sparse])["e"].endswith("(Noise in training, on: nonzero)")
    assert len(set(noise.names([plain, noisy, more, other, sparse]).values())) == 5


def test_a_plt_trained_with_noise_has_the_colour_of_the_extended_plt():
    assert noise.style_model(record("b", noise_sigma=0.05)) == "ExtendedPLT"
    assert noise.style_model(record("b", "LdSM", noise_sigma=0.05)) == "LdSM"


def test_twins_differ_by_the_noise_alone():
    plain, twin = record("a", C=1.0), record("b", C=1.0, noise_sigma=0.05, noise_support="nonzero")
    assert noise.pairs([plain, twin, record("c"), record("d", "LdSM")]) == [(plain, twin)]


@pytest.mark.parametrize(
    ("text", "levels"), [("0.1", [0.1]), (" .5; 0.1,0,0.1,", [0.1, 0.5]), ("1e-3,2", [0.001, 2]), ("0,1", [1.0])]
)
def test_levels_are_read(text, levels):
    assert noise.parse_levels(text, "gaussian") == (levels, None)


@pytest.mark.parametrize(
    ("text", "kind", "said"),
    [
        ("", "gaussian", "At least one level"),
        ("0", "gaussian", "At least one level"),
        ("a", "gaussian", "not a number"),
        ("nan", "gaussian", "cannot be nan"),
        ("-1", "gaussian", "0 or more"),
        ("1.5", "words", "between 0 and 1"),
        (",".join(str(i) for i in range(1, 20)), "gaussian", "more than the 12"),
    ],
)
def test_levels_that_make_no_sense_are_said_to_be_so(text, kind, said):
    levels, problem = noise.parse_levels(text, kind)
    assert levels == [] and said in problem


def test_levels_are_the_papers_unless_values_are_much_larger_or_smaller():
    assert noise.default_levels("gaussian", "2", noise.Scale(0.3, 1, 10)) == (0.01, 0.05, 0.1)
    assert noise.default_levels("gaussian", "2", noise.Scale(40, 200, 10)) == (1.0, 5.0, 10.0)
    assert noise.default_levels("fgsm", "2", noise.Scale(0.3, 1, 10)) == (0.05, 0.1, 0.2)
    for length in (0.003, 0.7, 7.03, 1234.5):
        found = noise.default_levels("pgd", "2", noise.Scale(1, length, 10))
        assert 0 < found[0] < found[1] < found[2] < length


def test_the_scale_is_of_what_is_there():
    X = sp.csr_array(np.array([[3.0, 4, 0], [0, 0, 0], [0, 1, 0]], np.float32))
    assert noise.Scale.of(X) == noise.Scale(value=3.0, length=3.0, features=1.0)
    assert noise.Scale.of(sp.csr_array((2, 3), dtype=np.float32)) == noise.Scale(1.0, 1.0, 0.0)


def test_rows_are_all_when_quick_else_the_largest_sample_that_is():
    assert noise.default_rows(lambda n: n / 1000, 9000, 20.0) == 9000
    assert noise.default_rows(lambda n: n / 100, 9000, 20.0) == 2000
    assert noise.default_rows(lambda n: 1e9, 9000, 20.0) == 100
    assert noise.default_rows(lambda n: 1e9, 40, 20.0) == 40


def test_more_rows_levels_and_values_take_longer():
    scale = noise.Scale(0.1, 1.0, 50.0)

    def seconds(kind="gaussian", levels=(0.1,), options=None, n_repeats=3, n_rows=1000):
        times = {"predict_ms_per_row": 0.1}
        return noise.seconds(
            "PLT", times, scale, 5000, kind, levels, options or {"support": "nonzero"}, n_repeats, n_rows
        )

    assert seconds(n_rows=2000) > seconds() and seconds(levels=(0.1, 0.2)) > seconds()
    assert seconds(options={"support": "all"}) > 1.5 * seconds()
    assert seconds("pgd", options={"norm": 2}) > 5 * seconds("fgsm", options={"norm": 2}) > seconds()


def test_noisy_rows_have_the_largest_features_and_some_that_noise_made():
    X = sp.csr_array(np.array([[3.0, 0, -4, 1, 0, 0]], np.float32))
    noisy = sp.csr_array(np.array([[2.0, 0.1, -4, 0, 0.9, -0.2]], np.float32))
    data = Dataset("d", X, [[1]], X, [[1]], feature_names=list("abcdef"))
    frame = noise.noisy_rows(data, X, noisy, [7], 4, lambda row: f"row {row}")
    assert frame[["row_name", "name", "clean", "noisy"]].values.tolist() == [
        ["row 7", "c", -4, -4],
        ["row 7", "a", 3, 2],
        ["row 7", "e", 0, pytest.approx(0.9)],
        ["row 7", "f", 0, pytest.approx(-0.2)],
    ]
    assert len(noise.noisy_rows(data, X, noisy, [7], 6, str, new=6)) == 6
    own, added = noise.lengths(X, noisy)
    np.testing.assert_allclose([*own, *added], [26**0.5, (1 + 0.01 + 1 + 0.81 + 0.04) ** 0.5], rtol=1e-6)


def test_the_table_of_losses_has_a_line_per_run_and_k():
    line = {"run": "PLT", "bucket": "all", "measure": "P@k", "k": 1, "low": 0.0, "high": 1.0}
    times = {**line, "measure": "predict_s", "k": 5, "drop_mean": np.nan}
    summary = pd.DataFrame(
        [
            {**line, "sigma": 0.0, "mean": 0.8, "drop_mean": 0.0},
            {**line, "sigma": 0.1, "mean": 0.6, "drop_mean": 0.25},
            {**times, "sigma": 0.0, "mean": 1.0},
            {**times, "sigma": 0.1, "mean": 3.0},
        ]
    )
    (found,) = noise.drop_table(summary, 0.1, ["P@k"], [1], {"PLT": 100}).to_dict("records")
    assert (found["P@k clean"], found["P@k"], found["P@k drop"]) == (0.8, 0.6, 0.25)
    assert (found["ms per row clean"], found["ms per row"]) == pytest.approx((10, 30))
