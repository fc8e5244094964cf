"""The real Annif uses a served model as a backend, without a change: suggest and eval on a small corpus."""

import json
import os
import shutil
import subprocess

import pytest
from serve.conftest import LABELS, TEXTS, uri
from serve.running import served

ANNIF = os.environ.get("XMLCORE_ANNIF") or shutil.which("annif")


@pytest.fixture
def annif(tmp_path):
    """Run a command of Annif in a folder of its own."""
    if ANNIF is None:
        pytest.skip("no Annif: install it in an environment of its own, and name its executable in XMLCORE_ANNIF")
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}

    def run(*arguments, stdin=""):
        done = subprocess.run([ANNIF, *map(str, arguments)], cwd=tmp_path, input=stdin, capture_output=True, text=True,
                              timeout=120, env=environment)  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


@pytest.mark.slow
def test_annif_suggests_and_evaluates_with_a_served_model(annif, of_texts, tmp_path):
    names = sorted({name for row in LABELS for name in row})
    (tmp_path / "subjects.tsv").write_text("".join(f"<{uri(name)}>\t{name}\n" for name in names))
    corpus = zip(TEXTS[:7], LABELS[:7])
    lines = (f"{text}\t{' '.join(f'<{uri(name)}>' for name in row)}\n" for text, row in corpus)
    (tmp_path / "documents.tsv").write_text("".join(lines))
    with served(f"animals={of_texts.save(tmp_path / 'm.zip')}") as place:
        (tmp_path / "projects.cfg").write_text(
            "[xmlcore]\nname=xmlcore\nlanguage=en\nbackend=http\nvocab=subjects\nlimit=3\n"
            f"endpoint={place}/v1/projects/animals/suggest\n"
        )
        annif("load-vocab", "-L", "en", "subjects", "subjects.tsv")
        assert "True" in annif("list-projects")  # is trained, says the server
        found = [line.split("\t") for line in annif("suggest", "xmlcore", stdin=TEXTS[0]).splitlines()]
        annif("eval", "xmlcore", "documents.tsv", "--metrics-file", "measures.json")
    labels, scores = of_texts.predict_topk(TEXTS[:1], 3)
    assert [line[0] for line in found] == [f"<{of_texts.label_name(j)}>" for j in labels[0]]
    assert [float(line[2]) for line in found] == pytest.approx(scores[0].tolist(), abs=1e-3)
    measures = json.loads((tmp_path / "measures.json").read_text())
    assert measures["Documents_evaluated"] == 7 and measures["NDCG@5"] > 0.9
