"""A damaged model is refused by one kind of error, or it predicts: no crash, no other exception, no gigabytes."""

import os
import resource
import time
import warnings

import numpy as np
import pytest
from contract.estimators import MODELS
from models import damaged_models

from xmlcore import load_model
from xmlcore.models import ModelFormatError
from xmlcore.models.base import warm_up

N_MODELS = int(os.environ.get("XMLCORE_FUZZ_MODELS", 150))
MEMORY = 2 << 30  # bytes that loading and predicting may ask for, beyond what the tests have
SECONDS = 10  # for one model


@pytest.fixture(scope="module")
def compiled():
    """Compile all kernels first, which takes time and memory of its own."""
    for case in MODELS:
        if case.saves_itself:
            warm_up(case.make())


@pytest.fixture
def little_memory(compiled):
    """Make requests for more than ``MEMORY`` fail."""
    with open("/proc/self/statm") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, hard))
    yield
    resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def outcome(path):
    """Load a model and predict with it: the error if it is refused, else None."""
    try:
        model = load_model(path)
    except ModelFormatError as error:
        return error
    rows = damaged_models.rows_for(model)
    ranking = model.predict_topk(rows, 3)
    assert ranking.labels.shape == (2, 3) and ranking.labels.max() < model.n_labels_ and ranking.labels.min() >= -1
    if model.n_labels_ < 1000:
        proba = model.predict_proba(rows, 0.1)
        assert proba.shape == (2, model.n_labels_)
    return None


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="the system does not tell the memory of a process")
@pytest.mark.timeout(300 + N_MODELS / 10)
def test_a_damaged_model_is_refused_or_predicts(tmp_path, little_memory):
    refused, wrong = 0, []
    for number in range(N_MODELS):
        with np.errstate(all="ignore"):
            name, files, done = damaged_models.damaged(number)
        path, start = damaged_models.write(files, tmp_path), time.perf_counter()
        try:
            with warnings.catch_warnings(action="ignore"):
                error = outcome(path)
        except Exception as other:
            wrong.append(f"{number} ({name}; {done}): {type(other).__name__}: {other}"[:400])
        else:
            if error is not None:
                refused += 1
                if len(str(error)) < 20 or str(path) not in str(error):
                    wrong.append(f"{number} ({name}; {done}): says too little: {error}")
        if time.perf_counter() - start > SECONDS:
            wrong.append(f"{number} ({name}; {done}): took {time.perf_counter() - start:.1f} s")
    assert not wrong, f"{len(wrong)} of {N_MODELS}:\n" + "\n".join(wrong[:20])
    assert 0.5 * N_MODELS < refused < N_MODELS  # some damages leave a model that can be used


def test_whole_models_are_loaded_and_predict(tmp_path):
    for files in damaged_models.whole().values():
        assert outcome(damaged_models.write(files, tmp_path)) is None
