"""The Python examples of the documentation run as they are written, on small data."""

import re
import sys
import types
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from xmlcore import experiment, jobs
from xmlcore.datasets import Dataset, save_dataset
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
OTHERS = {"docs/formats.md": 3, "docs/pages/train.md": 1, "docs/text.md": 2}
# They repeat what benchmarks/ measures; other pages use all that they use.
LONG = {
    f"docs/tutorials/claim_{name}.md" for name in ("label_trees", "double_sampling", "ldsm", "extended_plt", "fals")
}


def test_no_example_is_left_out():
    assert {page: COUNTS[page] for page in OTHERS} == OTHERS


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=[pytest.mark.long] * (page in LONG))
        for page, count in COUNTS.items()
        if count and page not in OTHERS
    ],
)
def test_examples_run_as_they_are_written(page, data, monkeypatch):
    with ThreadPoolExecutor(1) as threads:  # in place of worker processes
        queue = jobs.Queue(threads)
        monkeypatch.setattr(jobs, "Queue", lambda: queue)
        names = {}
        for block in examples(page):
            names = run(block, page, names)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_the_example_with_a_kept_result_runs(data):
    task = experiment.task("train", {"dataset": save_dataset(data)}, {"model": "PLT"})
    Path("bibtex-PLT-1a2b3c.zip").write_bytes(experiment.bundle(experiment.keep(task)))
    (block,) = examples("docs/pages/train.md")
    assert run(block, "docs/pages/train.md")["report"].agrees


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("page", ["docs/formats.md", "docs/text.md"])
def test_each_example_of_files_makes_them_and_runs_alone(page, data, tmp_path_factory, monkeypatch):
    for block in examples(page):
        monkeypatch.chdir(tmp_path_factory.mktemp("empty"))
        found = run(block, page)
        if "dataset" in found:
            assert (found["dataset"].Y_test != data.Y_test).nnz == 0
        if "guess" in found:
            assert found["label_lists"] == [["law"], ["art"]] and list(found["names"].values()) == ["law", "art"]
