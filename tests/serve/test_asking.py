"""The command lines that serve a model and ask it, run as they are written."""

import json
import shlex
import shutil
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from serve.running import on_thread

from xmlcore import PLT, decisions
from xmlcore.models import PackedModel
from xmlcore.serve import commands

HEADER = "curl http://127.0.0.1:8000/"
with_shell = pytest.mark.skipif(
    shutil.which("curl") is None or sys.platform == "win32", reason="needs curl and a POSIX shell"
)


def answer(lines, url):
    """What the second line prints, as a shell runs it."""
    serve, *cut, ask = lines.split("\n")
    assert all(line.startswith("# its ") for line in cut)
    assert serve == "python -m xmlcore serve model.zip" and ask.startswith(HEADER)
    ask = ask.replace(HEADER, f"curl -sS {url}/")
    found = subprocess.run(["sh", "-c", ask], capture_output=True, text=True, timeout=30, check=True)
    return json.loads(found.stdout)["predictions"][0]


@with_shell
def test_the_lines_get_what_the_model_predicts(of_texts):
    with on_thread(of_texts) as url:
        for text in ('a red cat\'s "dog"', "@red `cat` $(dog) \\ !\nblue\u202e é", "red cat " * 500, "", "\ud800 bird"):
            labels, scores = of_texts.predict_topk([text[:300]], 3)
            found = answer(commands(of_texts, text, k=3), url)
            if not text:
                assert found == []
                continue
            assert [one["id"] for one in found] == labels[0].tolist()
            np.testing.assert_allclose([one["score"] for one in found], scores[0], rtol=1e-6)


@with_shell
def test_a_row_is_sent_by_names_or_ids_and_in_part_if_long():
    random = np.random.default_rng(0)
    X = random.random((40, 80), np.float32)
    names = [*(f"it's {j}" for j in range(78)), "same", "same"]
    packed = PackedModel(PLT(n_jobs=1).fit(X, [[i % 3] for i in range(40)]), ["a", "b", "c"], names)
    x = sp.csr_array(X[[0]] * (np.arange(80) >= 40))
    kept = X[[1]].copy()
    kept[0, np.argsort(-kept[0])[50:]] = 0
    with on_thread(packed) as url:
        for row, sent in ((x, x), (X[[1]], kept)):
            labels, scores = packed.predict_topk(sent, 3)
            found = answer(commands(packed, row, k=3), url)
            assert [one["id"] for one in found] == labels[0].tolist()
            np.testing.assert_allclose([one["score"] for one in found], scores[0], rtol=1e-5)


@with_shell
def test_a_kept_decision_is_asked_for_what_it_predicts():
    X = np.random.default_rng(0).random((60, 5), np.float32)
    Y = [[i % 3, 3 + i % 4] for i in range(60)]
    model = decisions.learn(PLT(n_jobs=1).fit(X, Y), X, Y, "macro F1@2").keep()
    with on_thread(PackedModel(model)) as url:
        found = answer(commands(PackedModel(model), X[[7]]), url)
    assert sorted(one["id"] for one in found) == model.predict(X[[7]]).indices.tolist() and len(found) == 2


def test_without_a_question_an_example_is_asked(of_rows, of_texts):
    for packed, kind in ((of_rows, "row"), (of_texts, "text")):
        serve, example, ask = commands(packed, None, "my model.zip").split("\n")
        assert serve == "python -m xmlcore serve 'my model.zip'" and example.startswith("# an example")
        sent = json.loads(shlex.split(ask)[-1])[kind]
        assert (sent.split() if kind == "text" else list(sent)) == packed.feature_names[:3]
    with pytest.raises(ValueError, match="rows of features, not texts"):
        commands(of_rows, "a text")
