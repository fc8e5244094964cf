"""The error about a file that is not in its format."""

import pickle

from xmlcore.datasets import DatasetFormatError


def test_format_errors_survive_a_trip_between_processes():
    error = DatasetFormatError("f.txt", "odd", "Mend it.", 3, 7)
    copy = pickle.loads(pickle.dumps(error))
    assert str(copy) == str(error) == "f.txt, line 3, column 7: odd. Mend it."
    assert (copy.source, copy.found, copy.remedy, copy.line, copy.column) == ("f.txt", "odd", "Mend it.", 3, 7)
