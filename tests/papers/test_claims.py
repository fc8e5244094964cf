"""The table of claims: complete, and its names, files and values are there."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from xmlcore import datasets, experiment, figures, metrics, papers
from xmlcore.datasets.registry.catalog import entry
from xmlcore.experiment import comparison_titles, repeating
from xmlcore.papers.claim import VALUES, AtMost

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", papers.PAPERS)
def test_every_table_and_figure_of_a_paper_is_a_claim(name):
    paper = papers.PAPERS[name]
    wanted = [f"Table {i + 1}" for i in range(paper.tables)] + [f"Figure {i + 1}" for i in range(paper.figures)]
    places = [place for claim in papers.CLAIMS if claim.paper == name for place in claim.where]
    assert set(wanted) <= set(places) and len(places) == len(set(places))


@pytest.mark.parametrize("claim", papers.CLAIMS, ids=lambda claim: f"{claim.paper} {claim.title}")
def test_names_of_a_claim_are_there(claim):
    assert claim.verdict in papers.VERDICTS and claim.says and claim.reason
    assert claim.figure in {"", "bound_terms", *figures.__all__}
    assert (ROOT / claim.evidence.partition("#")[0]).is_file() or not (ROOT / "docs").exists()
    assert (ROOT / "pages" / claim.page.lower() / "page.py").is_file()
    assert claim.values() is None or len(claim.values())
    assert claim.repeat is None or claim.repeat.kind in experiment.KINDS


@pytest.mark.skipif(not (ROOT / "docs").exists(), reason="a copy of the project without its documentation")
def test_evidence_is_a_section_of_its_file():
    for claim in papers.CLAIMS:
        name, _, section = claim.evidence.partition("#")
        heads = re.findall(r"^#+ (.*)", (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE)
        slugs = {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}
        assert not section or section in slugs, claim.evidence


def test_every_table_of_values_belongs_to_a_claim():
    assert {path.stem for path in VALUES.glob("*.csv")} == {claim.table for claim in papers.CLAIMS} - {""}


def test_published_tables_have_no_gap_that_the_paper_lacks():
    values = next(claim for claim in papers.CLAIMS if claim.table == "ldsm-precision").values()
    line = values[(values["dataset"] == "bibtex") & (values["method"] == "LdSM")]
    assert line.iloc[0, 2:].tolist() == [64.69, 39.70, 29.25, 64.69, 60.37, 62.73]
    comparison = next(claim for claim in papers.CLAIMS if claim.table == "fals-comparison").values()
    assert comparison.shape == (40, 13) and comparison.notna().all(axis=None)
    best = comparison.set_index(["measure", "dataset"])
    signs = np.where(best.index.get_level_values(0) == "AP", -1, 1)
    assert ((best.mul(signs, axis=0)).idxmin(axis=1) == "FALS").sum() == 14  # as the paper counts


def test_sizes_of_the_papers_are_those_of_the_catalog():
    sizes = next(claim for claim in papers.CLAIMS if claim.table == "ldsm-data").values().set_index("dataset")
    for name, line in sizes.drop(index="delicious-200k").iterrows():
        of = entry(name)
        assert (of.n_rows - of.n_test, of.n_test) == (line["training rows"], line["test rows"])
        assert (of.n_features, of.n_labels) == (line["features"], line["labels"])


def test_published_rows_need_the_published_split(monkeypatch):
    data = datasets.make_synthetic(n_train=30, n_test=10, n_features=8, n_labels=4)
    assert papers.published(data).empty
    monkeypatch.setattr(datasets.Dataset, "published", entry("mediamill"))
    assert papers.published(data).empty  # as many rows, another split
    monkeypatch.setattr(datasets.Dataset, "n_test", entry("mediamill").n_test)
    found = papers.published(data).set_index("method")
    assert found.loc["LdSM", "P@1"] == 90.64 and found.loc["LdSM", "source"] == "LdSM, Table 10, Table 9"
    assert found.loc["LdSM", "PSP@1"] == 70.27 and len(found) == found.index.nunique()
    assert found.loc["PLT, trained on clean rows", ["P@1", "P@5"]].tolist() == [82.10, 66.73]
    assert set(found.columns) - {"source"} <= {
        f"{name}@{k}" for name in ("P", "nDCG", "PSP", "PSnDCG") for k in (1, 3, 5)
    }


def test_a_repetition_measures_trained_models_only():
    data = datasets.make_synthetic(n_train=60, n_test=20, n_features=30, n_labels=6)
    fingerprint = datasets.save_dataset(data)
    noise = papers.extended_plt.NOISE
    trained = repeating.trainings(noise, fingerprint, k=3)
    assert [task.params["params"]["noise_sigma"] for task in trained.values()] == [0.0, 0.05]
    assert repeating.repetitions(noise, fingerprint, k=3) == {}
    key = experiment.keep(next(iter(trained.values())))
    measured = repeating.repetitions(noise, fingerprint, k=3)
    assert [(title, task.inputs["run"]) for title, task in measured.items()] == [("trained on clean rows", key)]


def test_each_repetition_is_a_task():
    data = datasets.make_synthetic(n_train=60, n_test=20, n_features=30, n_labels=6)
    fingerprint = datasets.save_dataset(data)
    for claim in papers.CLAIMS:
        if claim.repeat is not None and not claim.repeat.models:
            (task,) = repeating.repetitions(claim.repeat.on(data), fingerprint).values()
            assert task.kind == claim.repeat.kind


@pytest.mark.parametrize(
    ("values", "verdict"),
    [
        ({"density": 0.01, "P of a": 0.5, "P of b": 0.6}, papers.HOLDS),
        ({"density": 0.01, "P of a": 0.7, "P of b": 0.6}, papers.FAILS),
        ({"density": 0.01, "P of a": 0.5}, papers.OTHER),
        ({"density": 0.90, "P of a": 0.5, "P of b": 0.6}, papers.OTHER),
    ],
)
def test_a_verdict_is_that_of_comparisons(values, verdict):
    claim = replace(papers.CLAIMS[0], decided=(AtMost("P of a", "P of b"),), only=(AtMost("density", 0.05),))
    assert claim.verdict_on(values) == verdict
    assert replace(claim, decided=()).verdict_on(values) == papers.OTHER


def test_comparisons_are_of_what_the_repetition_measures():
    data = datasets.make_synthetic(n_train=60, n_test=20, n_features=30, n_labels=6)
    of_data = {"density", "log_M L", "least κ", "most κ"}
    for claim in papers.CLAIMS:
        names = {side for one in (*claim.decided, *claim.only) for side in one[:2] if isinstance(side, str)}
        titles = [title for title, *_ in claim.repeat.models] if claim.repeat else []
        if claim.repeat and claim.repeat.kind == "compare_selections":
            titles = comparison_titles(claim.repeat.on(data).params["selections"])
            titles = [
                title.replace("n_hidden 30", "n_hidden D").replace("n_hidden 6", "n_hidden C") for title in titles
            ]
        assert {name.rpartition(" of ")[2] for name in names - of_data} <= {*titles}, claim.title


@pytest.mark.parametrize(("name", "preset"), [("mediamill", "paper-bibtex"), ("amazon-670k", "paper"), (None, "paper")])
def test_a_repetition_has_the_preset_of_the_data(monkeypatch, name, preset):
    data = datasets.make_synthetic(n_train=30, n_test=10, n_features=8, n_labels=4)
    monkeypatch.setattr(datasets.Dataset, "published", name and entry(name))
    models = papers.ldsm.BESIDE_PARABEL.on(data).models
    assert [model[2] for model in models] == [preset, "parabel"]
    selections = papers.fals.NETWORKS.on(data).params["selections"]
    assert selections[0] is None and [one[1]["n_hidden"] for one in selections[-2:]] == [8, 4]


def test_values_are_named_as_measures_are():
    known = {*metrics.MEASURES}
    for name in ("ldsm-precision", "ldsm-propensity"):
        values = next(claim for claim in papers.CLAIMS if claim.table == name).values()
        assert {re.sub(r"@\d", "@k", column) for column in values.columns[2:]} <= known
