"""The command that fills the cache of compiled kernels."""

from importlib import import_module
from pathlib import Path

import pytest

from xmlcore import warm_up
from xmlcore._kernels import _caching, _jit
from xmlcore.models import compiling
from xmlcore.system import ALL_KERNELS_SECONDS, FIRST_FIT_SECONDS

pieces_module = import_module("xmlcore.experiment.warm_up")


@pytest.fixture
def quick(tmp_path, monkeypatch):
    """Two pieces that compile nothing, and a folder of 2 MB."""
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "kernel.nbc").write_bytes(bytes(2_000_000))
    ran = []
    made = [pieces_module.Piece(name, f"{name} kernels", lambda name=name: ran.append(name)) for name in "ab"]
    monkeypatch.setattr(pieces_module, "pieces", lambda: made)
    monkeypatch.setattr(compiling, "CACHE_FOLDER", tmp_path)
    monkeypatch.setattr(_jit, "CACHE_FOLDER", tmp_path)
    monkeypatch.setattr(_jit, "NAMED_FOLDER", tmp_path)
    monkeypatch.setattr(_jit, "CACHE_IS_USED", True)
    return ran


def test_documentation_and_message_name_the_same_seconds():
    text = " ".join(Path("docs/installation.md").read_text().split())
    for said in (text, _caching.COMPILING):
        assert f"take about {FIRST_FIT_SECONDS} s of processor time longer" in said
        assert f"in about {ALL_KERNELS_SECONDS} s" in said


def test_it_tells_each_piece_the_folder_and_its_size(quick, tmp_path, capsys):
    assert warm_up.main(["--jobs", "1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert quick == ["a", "b"]
    assert lines[0] == f"Compiled kernels are kept in {tmp_path}"
    assert "s of processor time" in lines[1] and "processor time" in lines[4]
    assert lines[2:4] == ["a kernels: 0.0 s", "b kernels: 0.0 s"]
    assert lines[-1] == "The folder has 2.0 MB"


def test_it_says_that_nothing_was_kept_but_compiles_to_the_end(quick, monkeypatch, capsys):
    monkeypatch.setattr(_jit, "CACHE_IS_USED", False)
    monkeypatch.delenv("XMLCORE_KERNEL_CACHE", raising=False)
    assert warm_up.main(["--jobs", "2"]) == 1
    said = capsys.readouterr()
    assert quick == ["a", "b"]
    assert "Nothing can be kept" in said.out and "no lasting effect" in said.err and "XMLCORE_CACHE" in said.err


def test_its_status_says_that_code_was_kept_elsewhere(quick, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(_jit, "NAMED_FOLDER", tmp_path / "read-only")
    assert warm_up.main(["--jobs", "1"]) == 1
    assert "read-only does not have all kernels" in capsys.readouterr().err
    (tmp_path / "a" / "kernel.nbc").unlink()  # all that is needed was in the folder that cannot be written to
    assert warm_up.main(["--jobs", "1"]) == 0


def test_it_refuses_a_number_of_processes_that_makes_no_sense(quick):
    with pytest.raises(ValueError, match="n_jobs"):
        warm_up.main(["--jobs", "0"])
    assert not quick
