"""Columns that list labels: however lists are written, and cells without a value."""

import pytest
from datasets.reads import failure, warned

from xmlcore.datasets import read_matrix


def listed(*cells):
    """Return the names of labels of a table, and those of each row."""
    rows = "".join(f'{i},"{cell.replace(chr(34), chr(34) * 2)}"\n' for i, cell in enumerate(cells, 1))
    _, Y, _, names = read_matrix(f"size,tags\n{rows}".encode(), labels="tags")
    return [[names[j] for j in Y[[i]].indices] for i in range(Y.shape[0])]


@pytest.mark.parametrize("cells", [("['a, b', 'c']", "[]", "['c']"), ('["a, b", "c"]', "[ ]", '["c"]')])
def test_lists_of_python_and_json_are_read_as_lists(cells):
    assert listed(*cells) == [["a, b", "c"], [], ["c"]]
    assert listed("[3, 10]", "(3,)", "", "{7}") == [["10", "3"], ["3"], [], ["7"]]


@pytest.mark.parametrize("cell", ["[x]", "[1 2]", "[None]", "[['a']]", "[" * 5000 + "]" * 5000, "['a' * 9]"])
def test_brackets_that_are_no_list_are_refused_with_their_line(cell):
    error = failure(f'size,tags\n1,"[\'a\']"\n2,"{cell}"\n'.encode(), labels="tags")
    assert error.line == 3
    assert "is no list of names" in error.found


def test_brackets_that_only_some_cells_have_belong_to_names():
    assert listed("[a]", "b;c") == [["[a]"], ["b", "c"]]


def test_whole_numbers_may_have_blanks_between_them_but_names_have_blanks_of_their_own():
    assert listed("3 7", "7", "") == [["3", "7"], ["7"], []]
    assert listed("red wine", "7 8") == [["red wine"], ["7 8"]]


def test_cells_without_a_value_have_no_labels_and_this_is_said():
    content = b"size,tags\n1,red\n2,NA\n3,nan\n"
    assert warned(read_matrix, content, labels="tags") == [
        "data: 2 cells are missing in column 'tags', first 'NA' in line 3: read as no labels"
    ]
    with pytest.warns(UserWarning, match="missing"):
        assert listed("red", "NA") == [["red"], []]
    assert listed("NA;US", "NA", "US") == [["NA", "US"], ["NA"], ["US"]]  # Namibia
