"""What tests of studies share."""

import json
from importlib import import_module

import pytest

from benchmarks import growth


@pytest.fixture
def in_this_process(monkeypatch):
    """Points are measured here: a process of its own for each would take most of the time of a test."""

    def run(job, folder, options, module="benchmarks.growth", kernels=None):
        jobs = {"make": growth.make} if module == "benchmarks.growth" else import_module(module).JOBS
        job = json.loads(json.dumps(job))
        return json.loads(json.dumps(jobs[job["what"]](job))) | {"others_cpu": 0.0}

    monkeypatch.setattr(growth, "run_process", run)
