"""The cold start: which processes are started, and the tables."""

from benchmarks import cold_start


def test_two_processes_begin_with_different_pieces_of_label_trees():
    (alone,) = cold_start.commands("label trees", 1, "api-docs")
    one, other = cold_start.commands("label trees", 2, "api-docs")
    assert alone == one and set(one) == set(other)
    assert one[-2:] == other[:-3:-1] == list(cold_start.LABEL_TREES)


def test_everything_is_what_the_command_for_users_compiles():
    (command,) = cold_start.commands("everything", 2, "api-docs")
    assert command[1:] == ["-m", "xmlcore.warm_up", "--jobs", "2"]


def test_tables_name_each_measurement_with_its_processes():
    base = {"processes": 2, "seconds": 9.96, "cpu_s": 18.5, "bytes": 3_100_000, "others_cpu": 0.02}
    machine = {"cpu": "a processor", "cores": 2, "memory_gib": 8.0, "system": "Linux"}
    results = {
        "date": "2025-01-01", "machine": machine, "versions": {"numba": "1"}, "threads": 2, "data": "toy",
        "xmlcore_code": "abc", "runs": [
            base | {"what": "label trees"}, base | {"what": "everything", "processes": 1},
            base | {"what": "PLT", "press_to_result_s": 11.26, "compile_s": 9.0, "fit_s": 0.75},
        ],
    }  # fmt: skip
    text = cold_start.markdown(results)
    assert "| kernels of label trees | 2 | 10.0 | 18.5 | 3.1 |" in text
    assert "| all kernels | 1 |" in text
    assert "| PLT | 11.3 | 9.0 | 0.8 |" in text and "on toy" in text
