"""The benchmark of the default data set."""

import pytest

from benchmarks.library import default_data


@pytest.mark.slow
def test_every_part_of_making_the_default_data_set_is_timed():
    found = default_data.measure()
    parts = ("importing_s", "reading_s", "counting_s", "saving_s", "loading_s", "describing_s")
    assert list(found) == [*parts, "total_s", "cpu_s"]
    assert all(seconds > 0 for seconds in found.values())
    assert found["total_s"] == sum(found[part] for part in parts)
