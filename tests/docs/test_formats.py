"""The examples of the page about file formats."""

import re
from pathlib import Path

from xmlcore.datasets import read_matrix

PAGE = Path(__file__).resolve().parents[2] / "docs" / "formats.md"


def test_the_arff_example_is_read_as_the_page_says():
    (example,) = re.findall(r"```text\n(@relation.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    X, Y, feature_names, label_names = read_matrix(example.encode())
    assert X.toarray().tolist() == [[95, 1, 1, 0, 0], [120, 1, 0, 0, 1]]
    assert Y.toarray().tolist() == [[True, False], [False, True]]
    assert feature_names == ["length", "film's mood=wild", "country=fr", "country=it", "country=us"]
    assert label_names == ["comedy", "drama"]
