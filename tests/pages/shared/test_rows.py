"""Texts, words, explanations and changes of a row, and predictions beside the truth."""

import dataclasses
import html
import json
import math
import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from pages.shared import tables
from pages.shared.figures import charts
from pages.shared.results import predictions, run_names
from pages.shared.rows import explaining, row_editor, row_text
from pages.train import labels
from tests.figures.seen import contrast
from tests.pages.making import said_plainly, train, word_data
from tests.pages.small import small_data
from xmlcore import Ranking, experiment

TEXT = "The cat sat.\nA CAT & <b>mat</b>"
CAT, MAT, SAT = 3, 5, 8
SPANS = tuple(np.array(part) for part in ([4, 8, 15, 24], [7, 11, 18, 27], [CAT, SAT, CAT, MAT]))
GIVEN = {CAT: 0.5, MAT: -0.25, SAT: 0.0}


def test_pieces_have_sums_of_contributions_and_words_counts():
    cut = row_text.pieces(TEXT, SPANS, GIVEN)
    assert "".join(piece for piece, _ in cut) == TEXT
    assert [(piece, value) for piece, value in cut if value] == [("cat", 0.5), ("CAT", 0.5), ("mat", -0.25)]
    spans = ([0, 4, 0], [3, 7, 7], [1, 2, 9])  # two words, and the pair of them
    for given, pieces in (
        ({1: 1.0, 2: -0.5, 9: 0.25}, [("big", 1.25), (" ", 0.25), ("cat", -0.25)]),
        ({1: 0.1, 2: 0.3, 9: -0.1}, [("big", 0.0), (" ", -0.1), ("cat", 0.3 - 0.1)]),
    ):
        assert row_text.pieces("big cat", spans, given) == pieces
    words = row_text.words(TEXT, SPANS, GIVEN)[["word", "times", "contribution"]]
    assert words.values.tolist() == [["cat", 2, 0.5], ["mat", 1, -0.25], ["sat", 1, 0.0]]
    spans = ([0, 2, 4, 6], [1, 3, 5, 7], [0, 0, 0, 0])
    assert row_text.words("a b c d", spans, {0: 1.0})["word"].tolist() == ["a / b / c and 1 more"]


def test_texts_are_escaped_and_named_for_screen_readers():
    made = row_text.page(TEXT, SPANS, GIVEN, "<i>animal</i>", "log P & more")
    text = made.split('tabindex="0">', 1)[1].split("</div>", 1)[0]
    assert re.sub("<[^>]+>", "", text) == html.escape(TEXT, quote=False)
    assert "<b>" not in made and "<i>" not in made and "&lt;i&gt;animal&lt;/i&gt;" in made
    assert 'aria-label="Text, with words for and against &lt;i&gt;animal' in made
    regions = [
        re.findall('role="region" aria-label="([^"]+)"', row_text.page(TEXT, SPANS, GIVEN, "animal", "log P", what))
        for what in ("Text", "Changed text")
    ]
    assert regions[0] == ["Text, with words for and against animal"] != regions[1]
    made = row_text.page("cat\u202e sat", ([0], [3], [CAT]), GIVEN, "animal", "log P")
    assert "\u202e" not in made and "� sat" in made


def test_colours_say_for_and_against_and_how_much():
    made = row_text.page(TEXT, SPANS, GIVEN, "animal", "log P")
    marks = re.findall(r'<mark class="hl-(\w+) hl-(\d)" title="([^"]+)">(\w+)</mark>', made)
    assert marks == [
        ("for", "5", "+0.50 to log P", "cat"),
        ("for", "5", "+0.50 to log P", "CAT"),
        ("against", "3", "−0.25 to log P", "mat"),
    ]
    assert "raises the score of <strong>animal</strong>" in made


@pytest.mark.parametrize(("paper", "ink"), [((255, 255, 255), (11, 17, 22)), ((20, 24, 28), (230, 234, 237))])
def test_marked_words_can_be_read_in_light_and_dark(paper, ink):
    rules = re.findall(r"background: rgba\((\d+), (\d+), (\d+), ([\d.]+)\)", row_text.STYLE)
    assert len(rules) == 2 * row_text.LEVELS
    for *color, alpha in rules:
        mixed = [float(alpha) * int(c) + (1 - float(alpha)) * p for c, p in zip(color, paper)]
        assert contrast(mixed, ink) >= 7


def with_texts():
    data = small_data()
    texts = [f"<b>Text</b> {i}\r\nof *{'odd' if i % 2 else 'even'}* words\u202e" + " and more" * 40 for i in range(60)]
    return replace(data, texts_train=texts, texts_test=["", "short"] * 10)


def test_tables_have_the_beginning_of_a_text_and_find_by_it():
    data = with_texts()
    frame = tables.rows(data, "training", [3])
    assert list(frame.columns[-3:]) == ["text", "labels", "features"]
    assert frame["text"][0].startswith("<b>Text</b> 3 of *odd* words") and frame["text"][0].endswith("…")
    assert len(frame["text"][0]) == tables.TEXT and tables.rows(data, "test", [1])["text"][0] == "short"
    assert "text" not in tables.rows(replace(data, texts_test=None), "test", [1])
    assert tables.find_rows(data, "training", "*ODD*").tolist() == list(range(1, 60, 2))
    assert tables.find_rows(data, "test", "Short").tolist() == list(range(1, 20, 2))


def shown(part, row):
    def page(data, part, row):
        from pages.shared.rows import row_text

        row_text.show(data, part, row)

    at = AppTest.from_function(page, args=(with_texts(), part, row)).run()
    assert not at.exception
    return [element.proto.body for element in at.get("html")], [caption.value for caption in at.caption]


def test_a_text_is_shown_with_its_line_breaks_and_no_html():
    (body,), captions = shown("training", 3)
    assert "&lt;b&gt;Text&lt;/b&gt; 3\nof *odd* words�" in body and "<b>" not in body and not captions
    assert 'tabindex="0"' in body and 'aria-label="Text of the row"' in body
    assert shown("test", 0) == ([], ["The text of this row is empty."])


def test_a_changed_row_and_the_search_for_features():
    row = row_editor.row_of([7, 2, 5, 1, 3], [1.5, 2.0, 0.0, np.nan, -1.0], [False, True, False, False, False], 9)
    assert row.dtype == np.float32 and row.shape == (1, 9)
    assert row.toarray()[0].tolist() == [0, 0, 0, -1, 0, 0, 0, 1.5, 0]
    assert row_editor.row_of([], [], [], 4).nnz == 0
    names = ["Matrix", "matrix norm", "norm", "Norms"]
    data = SimpleNamespace(feature_names=names, n_features=4, feature_name=names.__getitem__)
    assert row_editor.find_features(data, " NORM").tolist() == [2, 3, 1]
    assert row_editor.find_features(data, "norm", without=[3]).tolist() == [2, 1]
    nameless = SimpleNamespace(feature_names=None, n_features=4, feature_name="feature {}".format)
    assert row_editor.find_features(nameless, "3").tolist() == [3] and not row_editor.find_features(nameless, "4").size


@pytest.mark.parametrize(("ranks", "fact"), [
    ([(2, 1), (1, 2)], "2 labels changed in rank."),
    ([(pd.NA, 1), (1, 1)], "1 label changed in rank."),
    ([(1, 1), (2, 2)], "No rank changes."),
])  # fmt: skip
def test_what_moved_is_said(ranks, fact):
    before, after = zip(*ranks)
    frame = pd.DataFrame({"rank_before": before, "rank_after": after, "before": [0.8, 0.5], "after": [0.7, 0.1]})
    said = said_plainly(row_editor.moved(frame, ["a", "b"], "log_proba"))
    assert said == f"{fact} **b** moves most, from P = 50 % to P = 10 %."
    assert row_editor.moved(frame.assign(after=frame["before"]), ["a", "b"], "log_proba") == fact


def test_a_table_of_labels_has_ids_and_thresholds_where_they_tell():
    def script():
        import pandas as pd

        from pages.shared.rows import explaining

        frame = pd.DataFrame({"rank": [1, 2], "correct": "✓ right", "decided": ["yes", "no"], "score": [0.5, 0.09671]})
        for key, names, cuts in (
            ("bare", ["label 7", "label 8"], [0.25, 0.25]),
            ("named", ["cat", "dog"], [0.25, 0.5]),
        ):
            explaining.show_labels(frame.assign(name=names, label=[7, 8], cut=cuts), "log_score", key, 7)

    bare, named = AppTest.from_function(script).run(timeout=30).dataframe
    assert [*bare.value] == ["rank", "name", "score", "correct", "decided"] and [*named.value][5:] == ["cut", "label"]
    assert named.value["name"].tolist() == ["→ cat", "dog"] and named.value["cut"].tolist() == [0.25, 0.5]
    assert "0.25" in json.loads(bare.proto.columns)["decided"]["help"], "the threshold of all is said once"


def test_changes_come_back_when_streamlit_has_forgotten_them(monkeypatch):
    session = {}
    monkeypatch.setattr(row_editor.st, "session_state", session)
    names, x, typed = SimpleNamespace(n_features=4), row_editor.row_of([1], [1.0], [False], 4), [[1, 5.0]]
    first = row_editor.Editor("row", names, x, (7,))
    session["row.editor 0"] = {"edited_rows": {0: {"value": 5.0}}}
    first.state["drawn"] = True
    first.remembered(typed)
    assert row_editor.Editor("row", names, x, (7,), typed).state is first.state  # the widget still has it
    del session["row.editor 0"]  # as on a page switch
    again = row_editor.Editor("row", names, x, (7,), typed).state
    assert again["frame"]["value"].tolist() == [5.0] and again["version"] == 1
    assert row_editor.Editor("row", names, x, (8,)).state["frame"]["value"].tolist() == [1.0]  # another row


def test_changes_of_an_address_are_on_top_of_the_table(monkeypatch):
    monkeypatch.setattr(row_editor.st, "session_state", {})
    x = row_editor.row_of([0, 1, 2, 3], [4.0, 3.0, 2.0, 1.0], [False] * 4, 9)
    frame = row_editor.Editor("row", SimpleNamespace(n_features=9), x, (7,), [[1, None], [3, 5.0]]).state["frame"]
    assert frame["feature"].tolist() == [1, 3, 0, 2]
    assert frame["drop"].tolist() == [True] + 3 * [False] and frame["value"].tolist() == [3.0, 5.0, 4.0, 2.0]


@pytest.mark.parametrize(("kind", "total", "adds_up", "score"), [
    ("log_proba", -1.0, "In log P, the bars add up from P = 13.5 % of a row without features to P", "P = 36.8 %"),
    ("margin", -1.0, "In the margin, the bars add up from P = 11.9 % of a row without features to P", "P = 26.9 %"),
    ("score", -1.0, "add up to f = −1.00", "f = −1.00"),
    ("share", 0.4, "to P = 40 %", "P = 40 %"),
])  # fmt: skip
def test_scores_have_the_name_of_their_scale(kind, total, adds_up, score):
    assert adds_up in said_plainly(explaining.adds_up({"kind": kind, "baseline": -2.0, "total": total}))
    assert said_plainly(explaining.total(kind, total)) == score


def test_shares_are_percentages_and_sizes_have_one_digit():
    attrs = {"kind": "share", "baseline": 0.01, "total": 0.4}
    assert said_plainly(explaining.totals(attrs, {**attrs, "total": 0.2})) == "The label’s P goes from 40 % to 20 %."
    assert [explaining.round_size(size) for size in (0.0234, 0.0, math.nan)] == [0.02, 0.05, 0.05]
    frame = pd.DataFrame({"feature": [3], "name": ["x"], "value": [2.0], "contribution": [0.25]})
    for kind, contribution in (("share", 25.0), ("margin", 0.25)):
        assert explaining.named(frame, None, kind)["contribution"].tolist() == [contribution]
    assert explaining.in_title("a <b>") == "a &lt;b&gt;"
    assert explaining.in_title("a " + 30 * "x") == "<br>a " + 30 * "x", "in a line of its own"


@pytest.fixture
def ranking():
    labels = np.array([[2, 1, 0], [0, 2, -1], [1, -1, -1]], np.int32)
    return Ranking(labels, np.array([[0.9, 0.5, 0.1], [0.8, 0.3, 0], [0.7, 0, 0]], np.float32))


def test_predictions_have_names_and_missed_labels(data, ranking):
    frame = predictions.all_rows(data, ranking, 2)
    assert frame.columns.tolist() == ["row", "rank", "label", "name", "score", "true"]
    missed = frame[frame["rank"].isna()]
    assert missed["true"].all() and missed["score"].isna().all()
    assert frame.loc[frame["rank"].notna(), ["row", "rank", "name", "true"]].values.tolist() == [
        [0, 1, "South", True],
        [0, 2, "East", False],
        [1, 1, "North", False],
        [1, 2, "South", True],
        [2, 1, "East", False],
    ]
    named = dataclasses.replace(data, row_names_test=["=first", "second", "third"], label_names=["@n", "e", "s"])
    frame = predictions.all_rows(named, ranking, 1)
    assert frame.columns[1] == "row_name"
    assert frame.loc[frame["rank"].notna(), ["row_name", "name"]].values.tolist() == [
        ["=first", "s"],
        ["second", "@n"],
        ["third", "e"],
    ]
    assert [(row, name) for row, name in frame.loc[frame["rank"].isna(), ["row", "name"]].values] == [
        (row, name) for row in range(3) for name in predictions.missed(named, ranking, row, 1)
    ]
    assert b"'=first" in charts.csv_bytes(frame) and b"'@n" in charts.csv_bytes(frame)
    without = ranking._replace(scores=np.zeros_like(ranking.scores))  # as where another program gave none
    assert predictions.all_rows(data, without, 2)["score"].isna().all()
    assert predictions.one_row(data, without, 0, 2)["score"].isna().all()
    assert labels.rows_of_label(data, without, 2, 2)["score"].isna().all()
    assert predictions.missed(data, ranking, 0, 1) == ["North"] and predictions.missed(data, ranking, 0, 3) == []
    assert predictions.worst_mistakes(ranking, data.Y_test).tolist() == [1]


def record(key, model="PLT", **params):
    return {"key": key, "model": model, "params": experiment.full_params(model, params)}


def test_runs_are_named_by_what_tells_them_apart():
    plain, noisy, more = record("a"), record("b", noise_sigma=0.05), record("c", noise_sigma=0.1)
    other, ldsm = record("d", C=1.0), record("f", "LdSM")
    random = record("g", tree="random", arity=8)
    sparse = record("e", noise_sigma=0.05, noise_support="nonzero")
    mine, namesake = {**record("abcdef"), "name": "mine"}, {**record("bcdefg"), "name": "mine"}
    for records, names in (
        ([plain], ["PLT"]),
        ([plain, noisy], ["PLT", "PLT trained with noise σ = 0.05"]),
        ([plain, other, ldsm], ["PLT (C automatic)", "PLT (C 1)", "LdSM"]),
        ([plain, other, random], ["PLT", "PLT (C 1)", "PLT (Arity 8, How labels are grouped at random)"]),
        ([mine, plain], ["mine", "PLT"]),
        ([mine, namesake], ["mine [abcd]", "mine [bcde]"]),
        ([{**mine, "name": "PLT"}, record("c")], ["PLT [abcd]", "PLT [c]"]),
    ):
        assert list(run_names.names(records).values()) == names
    names = run_names.names([plain, noisy, more, other, sparse])
    assert len(set(names.values())) == 5 and "on present features only" in names["e"]


def test_noisy_plts_have_the_colour_of_the_extended_one():
    assert run_names.style_model(record("b", noise_sigma=0.05)) == "ExtendedPLT"
    assert run_names.style_model(record("b", "LdSM", noise_sigma=0.05)) == "LdSM"
    for method in ("FALS", "Old"):
        assert run_names.selection_title({"key": "a", "method": method, "params": {"gone": 3}}) == f"{method} (gone 3)"


@pytest.mark.sections("Path", "The tree")
def test_a_node_has_one_name_on_the_pages_explain_and_trees(ready):
    train(ready, arity=2, max_leaf_labels=1)
    page = ready.go("explain")
    path = page.frame("depth", "name", "factor")
    label = page.at.selectbox(key="explain.label").value
    assert len(path) >= 3 and any(" +" in name for name in path["name"])
    page.go("trees").set("trees.label", label)
    buttons = [b for b in page.at.button if b.key.startswith("trees.label.path.")]
    named = {int(b.key.rsplit(".", 1)[1]): b.label.replace("\\", "") for b in buttons}
    of_path = dict(zip(path["node"], path["name"]))
    both = named.keys() & of_path.keys()
    assert len(named) >= 2 and both and all(named[node] == of_path[node] for node in both)


@pytest.mark.sections("Rows like this one")
@pytest.mark.parametrize("name", ["predict", "explain"])
def test_training_rows_like_a_test_row_are_shown_with_their_labels(ready, name):
    train(ready)
    data, page = word_data(), ready.go(name)
    X = data.X_train.toarray()
    frame = page.frame("row", "cosine", "has")
    alike = [np.sort(X @ x / np.linalg.norm(X, axis=1) / np.linalg.norm(x))[::-1][:5] for x in data.X_test.toarray()]
    assert any(np.allclose(frame["cosine"], cosine, atol=1e-6) for cosine in alike)
    assert f"{(frame['has'] == 'yes').sum()} of 5 have topic" in page.text().replace("*", "")
