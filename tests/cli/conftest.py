"""Files of rows, and the command line in this process."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from xmlcore import datasets
from xmlcore.cli import main


@pytest.fixture
def run(capsys):
    """Run a command; the answer has ``status``, ``out`` and ``err``."""

    def one(*arguments, status=0):
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        assert (ended.value.code or 0) == status, out + err
        return SimpleNamespace(status=ended.value.code, out=out, err=err)

    return one


@pytest.fixture
def json_of(run):
    return lambda *arguments: json.loads(run(*arguments, "--json", "--quiet").out)


@pytest.fixture(scope="session")
def rows():
    """Rows whose labels follow from their features."""
    rng = np.random.default_rng(1)
    group = rng.integers(0, 6, 200)
    Y = (rng.random((200, 12)) < 0.05) | (np.arange(12) // 2 == group[:, None]) & (rng.random((200, 12)) < 0.8)
    Y[:, 0] |= ~Y.any(axis=1)
    X = np.repeat(Y, 2, axis=1) * rng.uniform(0.5, 1.5, (200, 24))
    return sp.csr_array(X.astype(np.float32)), sp.csr_array(Y)


@pytest.fixture(scope="session")
def files(rows, tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    X, Y = rows
    datasets.write_matrix(folder / "train.txt", X[:150], Y[:150])
    datasets.write_matrix(folder / "test.txt", X[150:], Y[150:])
    names = [f"feature {j}" for j in range(24)], [f"label {chr(97 + j)}" for j in range(12)]
    datasets.write_matrix(folder / "named.npz", X, Y, "npz", feature_names=names[0], label_names=names[1])
    return folder
