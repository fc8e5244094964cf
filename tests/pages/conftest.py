"""The dashboard in one process: real pages, the real queue, threads in place of worker processes."""

import sys
import time
import types
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
APP = ROOT / "app.py"


def small_data(name="small", seed=0, names=True):
    """60 training and 20 test rows; label j goes with the features 2j and 2j + 1, so that it can be learned."""
    from xmlcore.datasets import Dataset

    rng = np.random.default_rng(seed)
    n_labels = 8
    Y = rng.random((80, n_labels)) < 0.25
    Y[:, 0] |= ~Y.any(axis=1)
    X = np.repeat(Y, 2, axis=1) * rng.uniform(0.5, 1.5, (80, 2 * n_labels)) + (rng.random((80, 2 * n_labels)) < 0.05)
    return Dataset(
        name,
        X[:60],
        Y[:60],
        X[60:],
        Y[60:],
        feature_names=[f"word_{j}" for j in range(2 * n_labels)] if names else None,
        label_names=[f"topic *{j}*" for j in range(n_labels)] if names else None,
    )


def xmlc(data, part="train") -> bytes:
    """A part of a data set as the text a user uploads."""
    X, Y = getattr(data, f"X_{part}"), getattr(data, f"Y_{part}")
    lines = [f"{X.shape[0]} {X.shape[1]} {Y.shape[1]}"]
    for i in range(X.shape[0]):
        labels = ",".join(str(j) for j in Y.indices[Y.indptr[i] : Y.indptr[i + 1]])
        pairs = (f"{X.indices[p]}:{X.data[p]:.4f}" for p in range(X.indptr[i], X.indptr[i + 1]))
        lines.append(" ".join([labels, *pairs]))
    return ("\n".join(lines) + "\n").encode()


class Session:
    """A browser tab, as far as AppTest can be one."""

    def __init__(self, query=None):
        from streamlit.testing.v1 import AppTest

        self.at = AppTest.from_file(APP, default_timeout=60)
        if query:
            self.at.query_params["workspace"] = query

    def run(self):
        self.at.run()
        assert not self.at.exception, self.at.exception[0].value + "\n" + "\n".join(self.at.exception[0].stack_trace)
        return self

    def go(self, page):
        self.at.switch_page(f"pages/{page}/page.py")
        return self.run()

    def until(self, condition, seconds=120):
        """Run again and again, as the page's own polling would, until ``condition(self)``."""
        end = time.monotonic() + seconds
        while not condition(self):
            assert time.monotonic() < end, f"waited {seconds} s; the page says:\n{self.text()}"
            time.sleep(0.1)
            self.run()
        return self

    def press(self, key):
        self.at.button(key=key).click()
        return self.run()

    @property
    def token(self):
        value = self.at.query_params["workspace"]
        return value[0] if isinstance(value, list) else value

    def text(self, where=None):
        """All that is written, without Markdown's backslashes."""
        where = where or self.at
        kinds = ("title", "header", "subheader", "markdown", "caption", "info", "warning", "error", "toast")
        said = [element.value for kind in kinds for element in getattr(where, kind)]
        said += [element.proto.text for element in where.get("progress")]
        return "\n".join(map(str, said)).replace("\\", "")

    def metrics(self):
        return {metric.label: metric.value for metric in self.at.metric}

    def downloads(self):
        return {element.proto.label for element in self.at.get("download_button")}

    def frame(self, *columns):
        """The first table on the page with these columns."""
        for element in self.at.dataframe:
            if set(columns) <= set(element.value.columns):
                return element.value
        raise AssertionError(f"no table with the columns {columns}")


@pytest.fixture(autouse=True)
def server(own_cache, monkeypatch):
    """A server process's shared parts, new for each test."""
    import streamlit as st

    from pages.shared import server
    from xmlcore import jobs

    st.cache_resource.clear()
    with ThreadPoolExecutor(2) as threads:
        queue = jobs.Queue(executor=threads)
        monkeypatch.setattr(server, "queue", lambda: queue)
        yield queue
        queue.shutdown()
    st.cache_resource.clear()


@pytest.fixture(autouse=True)
def small_catalog(monkeypatch):
    """``api-docs`` is made in no time here; ``catalog.load`` may be replaced by a test."""
    from xmlcore.datasets import registry

    catalog = types.ModuleType("catalog_of_the_tests")
    catalog.load = lambda progress: small_data("api-docs")
    monkeypatch.setitem(sys.modules, catalog.__name__, catalog)
    entry, _ = registry._ENTRIES["api-docs"]
    monkeypatch.setitem(registry._ENTRIES, "api-docs", (entry, catalog.__name__))
    return catalog


@pytest.fixture
def session():
    """Open the dashboard: ``session()`` as a new visitor, ``session(token)`` at a known address."""
    return lambda query=None: Session(query).run()


@pytest.fixture
def ready(session):
    """A session whose data set is there."""
    return session().until(lambda s: "Labels per row" in s.metrics())
