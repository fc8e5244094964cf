"""The table of trainings on a cluster."""

from benchmarks import cluster


def test_the_table_has_the_gain_and_the_model_counts_rounds_of_jobs():
    one = {"workers": 1, "first_s": 9.0, "seconds": 40.0, "job_s": 1.9, "fit_s": 1.5, "data_bytes": 4e6,
           "result_bytes": 2e6}  # fmt: skip
    two = {**one, "workers": 2, "seconds": 25.0}
    about = {"date": "2020-01-01", "versions": {"python": "3.12"}, "threads": 1, "xmlcore_code": "abc"}
    about["machine"] = {"cpu": "a processor", "cores": 2, "memory_gib": None, "system": "Linux"}
    text = cluster.markdown({**about, "runs": [one, two], "count": 20, "data": "api-docs", "model": "PLT"})
    assert "| 2 | 25.0 | 1.60 | 1.90 | 1.50 | 9.0 |" in text and "| 4 | 10.0 | 100.0 |" in text
    assert cluster.cost(2.0, 16, 20) == cluster.cost(2.0, 10, 20) == 4.0  # two rounds
