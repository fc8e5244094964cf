"""Every block of code in the documentation is run, or says why it is not.

Blocks of Python are run on small data, and commands, in this process, on small files; JSON, INI and TOML are parsed. A
block that is not run says why in its first line: ```` ```sh not run: it installs packages ````.
"""

import configparser
import json
import re
import shlex
import sys
import textwrap
import tomllib
import types
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp

from xmlcore import PLT, TextClassifier, experiment, jobs, serve
from xmlcore.cli import main
from xmlcore.datasets import Dataset, TextVectorizer, save_dataset, write_matrix
from xmlcore.datasets.registry import catalog as registry
from xmlcore.models import PackedModel
from xmlcore.wording import COMMAND

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^( *)```(\w*)([^\n`]*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
# Figures, examples of files, and configurations of other programs.
NO_CODE = {"mermaid", "text", "nginx", "dockerfile", "yaml"}
PARSED = ("json", "jsonl", "ini", "toml")
MOST_NOT_RUN = 12  # blocks, in all pages
# Commands that are checked but not run, and why.
NOT_RUN = {
    "dashboard": "it becomes the server of the dashboard, which tests/cli and tests/e2e start",
    "warm-up": "it compiles all kernels, as tests/test_warm_up.py does",
}


class Block(NamedTuple):
    """A block of code of a page."""

    page: str
    number: int
    language: str
    reason: str | None  # why it is not run
    text: str


def blocks_of(page):
    """Return the blocks of a page."""
    found = []
    for number, (_, language, rest, text) in enumerate(FENCE.findall(page.read_text(encoding="utf-8"))):
        name = page.relative_to(ROOT).as_posix()
        assert not rest or re.fullmatch(r" not run: \S.{5,}", rest), f"{name}: ```{language}{rest}"
        reason = rest.removeprefix(" not run: ") or None
        found.append(Block(name, number, language, reason, textwrap.dedent(text)))
    return found


BLOCKS = [block for page in PAGES for block in blocks_of(page)]
SHELL = [block for block in BLOCKS if block.language == "sh" and block.reason is None]


def test_every_block_is_run_or_parsed_but_for_few():
    known = {"python", "sh", *PARSED, *NO_CODE}
    assert not [block for block in BLOCKS if block.language not in known]
    kept_back = [block for block in BLOCKS if block.reason and "test_recipes.py runs it" not in block.reason]
    assert 0 < len(kept_back) <= MOST_NOT_RUN, [(block.page, block.reason) for block in kept_back]
    fences = sum(len(re.findall(r"^ *```", page.read_text(encoding="utf-8"), re.MULTILINE)) for page in PAGES)
    assert fences == 2 * len(BLOCKS)  # none was overlooked


@pytest.mark.parametrize("block", [one for one in BLOCKS if one.language in PARSED], ids=lambda one: one.page)
def test_data_in_the_documentation_can_be_parsed(block):
    if block.language == "json":
        json.loads(block.text)
    elif block.language == "jsonl":
        assert all(isinstance(json.loads(line), dict) for line in block.text.splitlines())
    elif block.language == "toml":
        tomllib.loads(block.text)
    else:
        configparser.ConfigParser().read_string(block.text)


def commands(block):
    """Return the commands of a block, each as a list of words."""
    lines = block.text.replace("\\\n", " ").splitlines()
    return [words for line in lines if (words := shlex.split(line, comments=True))]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Make all the files that commands name: rows, documents, models."""
    folder = tmp_path_factory.mktemp("documents")
    rng = np.random.default_rng(0)
    Y = sp.csr_array(np.eye(4, dtype=bool)[rng.integers(0, 4, 120)])
    X = sp.csr_array((np.repeat(Y.toarray(), 2, axis=1) + (rng.random((120, 8)) < 0.1)).astype(np.float32))
    for name in ("train.txt", "test.txt", "more.txt"):
        write_matrix(folder / name, X, Y)
    write_matrix(folder / "train.arff", X, Y, "arff")
    kinds = [("the court has decided", "law"), ("a museum shows paint", "art"), ("a command converts files", "tools")]
    texts = [f"{kinds[i % 3][0]} number {i}" for i in range(60)]
    labels = [kinds[i % 3][1] for i in range(60)]
    for name, columns in (("articles.csv", "body,topics"), ("packages.csv", "description,tags")):
        lines = [columns, *(f'"{text}","{label}"' for text, label in zip(texts, labels))]
        (folder / name).write_text("\n".join(lines) + "\n")
    (folder / "documents.csv").write_text("body\n" + "\n".join(texts[:5]) + "\n")
    rows = [",".join(f"{value:g}" for value in row) for row in X[:5].toarray()]
    (folder / "rows.csv").write_text("\n".join([",".join(f"feature {j}" for j in range(8)), *rows]) + "\n")
    classifier = TextClassifier(PLT(max_leaf_labels=2), TextVectorizer()).fit(texts, [[label] for label in labels])
    for name in ("model.zip", "english.zip", "german.zip", "packages-PLT-b53944.zip"):
        PackedModel(classifier).save(folder / name)
    return folder


@pytest.fixture
def services(monkeypatch):
    """Keep the applications that ``xmlcore serve`` would serve, by the port, instead of serving them."""
    kept, asked, listen = {}, [], serve.listen

    def listening(host, port):
        asked.append(port)
        return listen(host, 0)

    monkeypatch.setattr(serve, "listen", listening)
    monkeypatch.setattr(serve, "run", lambda app, **given: kept.__setitem__(asked[-1], app))
    return kept


def run_xmlcore(words):
    """Run a command of xmlcore, or check its options if it is one of ``NOT_RUN``; it must succeed."""
    ended = SimpleNamespace(code=None)
    with pytest.raises(SystemExit) as stopped:
        main([*words, "--help"] if words[0] in NOT_RUN else words)
    ended.code = stopped.value.code
    assert not ended.code, f"xmlcore {shlex.join(words)}: status {ended.code}"


def ask(words, services):
    """Send the request of a ``curl`` command to the application that would be served at its port."""
    from starlette.testclient import TestClient

    (address,) = [word for word in words if word.startswith("localhost:")]
    port, _, path = address.removeprefix("localhost:").partition("/")
    headers = dict(words[i + 1].split(": ", 1) for i, word in enumerate(words) if word == "-H")
    body = words[words.index("-d") + 1]
    with TestClient(services[int(port)], base_url=f"http://localhost:{port}") as client:
        answer = client.post(f"/{path}", content=body, headers=headers)
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("page", dict.fromkeys(block.page for block in SHELL))
def test_commands_run_as_they_are_written(page, files, services, monkeypatch, tmp_path):
    for path in files.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    monkeypatch.chdir(tmp_path)
    n_run = 0
    for block in (block for block in SHELL if block.page == page):
        has_rows = "train.txt" in block.text
        Path("new.csv").write_bytes(Path("rows.csv" if has_rows else "documents.csv").read_bytes())
        for words in commands(block):
            is_ours = words[:3] == COMMAND.split()  # not xmlcore alone, which README's installation does not make
            assert is_ours or words[0] == "curl", f"{page}: mark the block as not run, with a reason: {words}"
            if is_ours:
                run_xmlcore(words[3:])
            else:
                assert ask(words[1:], services)["predictions"][0]
            n_run += 1
    assert n_run


def test_commands_that_are_not_run_are_there():
    written = {words[3] for block in SHELL for words in commands(block) if words[:3] == COMMAND.split()}
    assert written >= NOT_RUN.keys()


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
