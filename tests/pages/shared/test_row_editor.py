"""A row that is changed by hand."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from pages.shared import label_tables
from pages.shared.results import before_after
from pages.shared.rows import row_editor
from tests.pages.making import said_plainly


def test_the_changed_row_leaves_out_what_is_dropped_or_has_no_value():
    row = row_editor.row_of([7, 2, 5, 1, 3], [1.5, 2.0, 0.0, np.nan, -1.0], [False, True, False, False, False], 9)
    assert row.dtype == np.float32 and row.shape == (1, 9)
    assert row.toarray()[0].tolist() == [0, 0, 0, -1, 0, 0, 0, 1.5, 0]
    assert row_editor.row_of([], [], [], 4).nnz == 0


def test_features_are_found_by_a_part_of_their_name_the_shortest_first():
    data = SimpleNamespace(feature_names=["Matrix", "matrix norm", "norm", "Norms"], n_features=4)
    assert row_editor.find_features(data, " NORM").tolist() == [2, 3, 1]
    assert row_editor.find_features(data, "norm", without=[3]).tolist() == [2, 1]
    nameless = SimpleNamespace(feature_names=None, n_features=4)
    assert row_editor.find_features(nameless, "3").tolist() == [3] and not row_editor.find_features(nameless, "4").size


@pytest.mark.parametrize(
    ("ranks", "said"),
    [
        ([(2, 1), (1, 2)], "**a** goes from 2nd to 1st and **b** goes from 1st to 2nd."),
        ([(pd.NA, 1), (1, pd.NA)], "**a** is newly ranked 1st and **b** is no longer among the first 5."),
        ([(1, 1), (2, 2)], "No rank changes. **b** moves most, from P = 50 % to P = 10 %."),
    ],
)
def test_what_moved_is_said(ranks, said):
    before, after = zip(*ranks)
    found = pd.DataFrame({"rank_before": before, "rank_after": after, "before": [0.8, 0.5], "after": [0.7, 0.1]})
    assert said_plainly(before_after.moved(found, ["a", "b"], "log_proba", 5)) == said


def test_of_many_labels_that_move_the_first_are_named_and_the_others_counted():
    found = pd.DataFrame({"rank_before": range(1, 21), "rank_after": range(20, 0, -1), "before": 0.5, "after": 0.5})
    said = before_after.moved(found, [f"l{j}" for j in range(20)], "log_proba", 20)
    assert said.count(" goes from ") == 6 and said.endswith(" and 14 more labels move, which the table has.")


def test_rows_of_a_table_are_high_enough_for_the_longest_name():
    (narrow, one_line), (wide, two_lines), (widest, more) = (label_tables.sizes(["x" * n]) for n in (5, 40, 100))
    assert label_tables.sizes([]) == (narrow, one_line)
    assert {label_tables.sizes(["x" * n])[1] for n in range(1, 25)} == {one_line}  # they fit into their column
    assert narrow < wide == widest and one_line < two_lines < more


def test_changes_come_back_when_streamlit_has_forgotten_what_was_typed(monkeypatch):
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
