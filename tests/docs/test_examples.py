"""The Python examples of the documentation run as they are written, on small data."""

import re
import sys
import types
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from xmlcore import experiment, jobs
from xmlcore.datasets import Dataset, save_dataset, write_matrix
from xmlcore.datasets.registry import catalog as registry

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def examples(page):
    return re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL)


def run(block, page, names=()):
    names = dict(names, __name__="example")
    exec(compile(block, page, "exec"), names)
    return names


@pytest.fixture
def data(tmp_path, monkeypatch):
    """The catalog's ``api-docs``, as a small data set: 8 labels of 50 or more of 250 rows. Files go to a new folder."""
    rng = np.random.default_rng(0)
    Y = rng.random((290, 8)) < 0.3
    Y[:, 0] |= ~Y.any(axis=1)
    X = np.hstack([2 * np.repeat(Y, 2, axis=1), rng.random((290, 84)) < 0.05]).astype(np.float32)
    names = {"feature_names": [f"word_{j}" for j in range(100)], "label_names": [f"topic_{j}" for j in range(8)]}
    small = Dataset("api-docs", X[:250], Y[:250], X[250:], Y[250:], **names)
    catalog = types.ModuleType("catalog_of_the_examples")
    catalog.load = lambda progress: small
    monkeypatch.setitem(sys.modules, catalog.__name__, catalog)
    monkeypatch.setitem(registry._ENTRIES, "api-docs", (registry._ENTRIES["api-docs"][0], catalog.__name__))
    monkeypatch.chdir(tmp_path)
    return small


COUNTS = {page.relative_to(ROOT).as_posix(): len(examples(page)) for page in PAGES if page.name != "architecture.md"}
# Pages whose examples need more than the data set have tests of their own below; the recipes, in test_recipes.py.
OTHERS = {"docs/formats.md": 3, "docs/pages/compare.md": 2, "docs/pages/train.md": 1}
OTHERS |= {"docs/text.md": 4}


def test_no_example_is_left_out():
    assert {page: COUNTS[page] for page in OTHERS} == OTHERS


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("page", [page for page, count in COUNTS.items() if count and page not in OTHERS])
def test_examples_run_as_they_are_written(page, data, monkeypatch):
    with ThreadPoolExecutor(1) as threads:  # in place of worker processes
        queue = jobs.Queue(threads)
        monkeypatch.setattr(jobs, "Queue", lambda: queue)
        names = {}
        for block in examples(page):
            names = run(block, page, names)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_examples_with_kept_results_run(data):
    task = experiment.task("train", {"dataset": save_dataset(data)}, {"model": "PLT"})
    Path("bibtex-PLT-1a2b3c.zip").write_bytes(experiment.bundle(experiment.keep(task)))
    for page in ("docs/pages/compare.md", "docs/pages/train.md"):
        for block in examples(page):
            found = run(block, page)
    assert found["report"].agrees and "api-docs" in Path("report.html").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_examples_of_files_run(data):
    names = {"feature_names": data.feature_names, "label_names": data.label_names}
    for name, X, Y in (
        ("yeast", data.X_train, data.Y_train),
        ("yeast-train", data.X_train, data.Y_train),
        ("yeast-test", data.X_test, data.Y_test),
    ):
        write_matrix(f"{name}.arff", X, Y, "arff", **names, xml="yeast.xml")
    for part, rows in (("trn", 3), ("tst", 2)):
        Path(f"{part}_X_Xf.txt").write_text(f"{rows} 4\n" + "0:1.5 3:2\n" * rows)
        Path(f"{part}_X_Y.txt").write_text(f"{rows} 2\n" + "1:1\n" * rows)
    Path("features.csv").write_text("weight,length\n1.5,2\n2.5,3\n")
    Path("labels.csv").write_text("apple,pear\n1,0\n0,1\n")
    columns = "weight,apple,pear,plum\n1.5,1,0,0\n2.5,0,1,1\n"
    cells = "weight,tags\n1.5,red;sweet\n2.5,green\n"
    whole, pairs, table = examples("docs/formats.md")
    found = run(pairs, "docs/formats.md", run(whole, "docs/formats.md"))
    for line in table.splitlines():
        Path("fruit.csv").write_text(cells if "tags" in line else columns)
        run(line, "docs/formats.md", found)
    assert found["dataset"].fingerprint and Path("yeast-copy.arff").stat().st_size > 1000


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_examples_of_texts_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    law, art = "The court has decided, and the judge agrees", "A museum shows paint"
    lines = [
        f'Title {i},"{(law, art)[i % 2]}.\nOf {i}",{("law;crime", "art")[i % 2]},d{i % 2},r{i % 3}' for i in range(30)
    ]
    Path("news.csv").write_text("\n".join(["headline,story,tags,desk,region", *lines]))
    Path("new.csv").write_text(f"story\n{art}\n")
    Path("corpus.tsv").write_text(f"{law}\t<http://a/1> <http://a/2>\n{art}\t<http://a/2>\n" * 5)
    Path("subjects.tsv").write_text("<http://a/1>\tlaw\n<http://a/2>\tart\n")
    Path("subjects.csv").write_text("uri,label_en,label_fr\nhttp://a/1,law,droit\n")
    with zipfile.ZipFile("corpus.zip", "w") as archive:
        for name, content in (("1.txt", law), ("1.key", "law"), ("2.txt", art), ("2.key", "art")):
            archive.writestr(name, content)
    names = {}
    for block in examples("docs/text.md"):
        names = run(block, "docs/text.md", names)
        if "new_texts" in names:
            assert names["new_texts"] == [art] and names["names"] == {"http://a/1": "law"}
            names["texts"], names["label_lists"] = names["texts"] * 10, names["label_lists"] * 10
    assert names["best"].predict([law]) == [["law"]] and min(names["scores"]) > 0.9
