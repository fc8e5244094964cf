"""What tests of studies share."""

import functools
import json
from importlib import import_module

import pytest

from benchmarks.library import data, machine, processes
from xmlcore.system import kernel_cache_root


@pytest.fixture(autouse=True, scope="session")
def sources_read_once():
    """Sources stay as they are: their hash takes most of a second, and each part of a study has it twice."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(machine, "code_now", functools.cache(machine.code_now))
        yield


@pytest.fixture(autouse=True)
def compiled_kernels(monkeypatch):
    """Processes that would compile all they need, in a folder of their own, take what the tests have compiled."""
    run = processes.run_process

    def run_compiled(job, folder, options, module=processes.MAKER, kernels=None):
        return run(job, folder, options, module, kernels or kernel_cache_root())

    monkeypatch.setattr(processes, "run_process", run_compiled)


@pytest.fixture
def in_this_process(monkeypatch):
    """Points are measured here: a process of its own for each would take most of the time of a test."""

    def run(job, folder, options, module=processes.MAKER, kernels=None):
        jobs = {"make": data.make} if module == processes.MAKER else import_module(module).JOBS
        job = json.loads(json.dumps(job))
        return json.loads(json.dumps(jobs[job["what"]](job))) | {"others_cpu": 0.0}

    monkeypatch.setattr(processes, "run_process", run)
