"""The other commands, and errors: one line, and status 2."""

import io
import json
import os
import re
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from serve.running import served

import xmlcore
from xmlcore import PLT, Ranking, datasets
from xmlcore.cli import group, main, output, predict
from xmlcore.cli.group import COMMANDS
from xmlcore.models import PackedModel, read_packed

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def packed(rows, tmp_path):
    X, Y = rows
    return PackedModel(PLT(max_leaf_labels=4, n_jobs=1).fit(X, Y)).save(tmp_path / "m.zip")


@pytest.mark.parametrize("out", ["small.zip", "small"])
def test_compact_writes_a_model_with_small_weights(out, packed, rows, run, tmp_path):
    said = json.loads(run("compact", packed, tmp_path / out, "--bits", "6", "--json").out)
    small, whole = read_packed(tmp_path / out).model, read_packed(packed).model
    assert said["bits"] == 6 and said["bytes_after"] < said["bytes_before"]
    scores = whole.compact(6).predict_topk(rows[0], 3).scores
    np.testing.assert_array_equal(small.predict_topk(rows[0], 3).scores, scores)
    assert "give --force" in run("compact", packed, tmp_path / out, status=2).err


def test_help_names_all_commands_and_errors_name_options(run, tmp_path):
    text = run("--help").out
    assert all(f"  {name} " in text for name in COMMANDS)
    for name in COMMANDS:
        assert run(name, "--help").out.startswith(f"Usage: xmlcore {name}")
    assert run("--version").out == f"xmlcore, version {xmlcore.__version__}\n"
    (tmp_path / "a.txt").write_text("2 2 2\n1 1:1\n2 2:1\n")
    assert "a.txt, line 3, column 1: label id 2" in (err := run("describe", tmp_path / "a.txt", status=2).err)
    assert err.endswith("its ids seem to start at 1 (--first-index 1).\n")
    said = [group.option(*each) for each in (("labels", [1, 2]), ("names",), ("max_bytes", 9))]
    assert said == ["--labels 1 --labels 2", "--vocabulary", "only in Python"]


def test_describe_says_what_is_in_a_file_or_a_model(run, json_of, files, packed):
    got = json_of("describe", files / "named.npz")
    assert (got["n_train"], got["n_test"], got["n_features"], got["n_labels"]) == (160, 40, 24, 12)
    assert re.search(
        r"training rows +160\n.*\nfeatures +24\nlabels +12\n", run("describe", files / "named.npz", "--quiet").out
    )
    assert run("describe", packed).out.startswith("# PLT\n")
    assert json_of("describe", packed)["labels"] == 12


@pytest.mark.parametrize("name", ["out.npz", "out.arff", "out.txt.gz", "out.svm"])
def test_convert_keeps_rows_and_names(run, files, rows, tmp_path, name):
    got = run("convert", files / "named.npz", tmp_path / name)
    assert "200 rows, 24 features, 12 labels" in got.out
    X, Y, features, labels = datasets.read_matrix(tmp_path / name)
    assert np.array_equal(X.toarray(), rows[0].toarray()) and np.array_equal(Y.toarray(), rows[1].toarray())
    if name in ("out.npz", "out.arff"):
        assert (features[0], labels[-1]) == ("feature 0", "label l")
    else:
        assert (tmp_path / f"{name}.label_names.txt").read_text().splitlines()[-1] == "label l"
    assert "give --force" in run("convert", files / "named.npz", tmp_path / name, status=2).err
    run("convert", files / "named.npz", tmp_path / name, "--force")


BAD = {
    "no command": (("nothing",), "No such command 'nothing'"),
    "no file": (("train", "absent.txt"), "there is no file absent.txt"),
    "no test file": (("train", "{files}/train.txt", "--test", "absent.txt"), "there is no file absent.txt"),
    "no model of this name": (("train", "x", "--model", "Tree"), "there are PLT, LdSM"),
    "an option of another model": (("train", "x", "--model", "LdSM", "--beam", "3"), "No such option"),
    "a value out of bounds": (("train", "x", "--arity", "1"), "arity must be from 2"),
    "a word for a number": (("train", "x", "--arity", "many"), "arity must be a whole number or \"auto\", not 'many'"),
    "no such choice": (("train", "x", "--loss", "best"), "loss must be one of"),
    "no such settings": (("train", "x", "--preset", "best"), "has no settings named 'best'"),
    "no folder": (("train", "{files}/train.txt", "-o", "absent/m.zip"), "there is no folder"),
    "no data": (("describe", "{files}/empty.txt"), "empty"),
    "damaged data": (("describe", "{files}/bad.txt"), "line 2"),
    "no packed model": (("predict", "{files}/train.txt", "{files}/test.txt"), "no zip file"),
    "no rows and no text": (("predict", "m.zip"), "give either a file of rows or texts, or --text"),
    "a text for a model of rows": (("predict", "{packed}", "--text", "x"), "not texts"),
    "no file of rows": (("predict", "{packed}", "absent.txt"), "there is no file absent.txt"),
    "rows of other features": (("evaluate", "{packed}", "{files}/wide.txt"), "the model has 24"),
    "no ending": (("convert", "{files}/train.txt", "out"), "has no known ending"),
    "a model that is not there": (("serve", "absent.zip"), "there is no file or folder absent.zip"),
    "a port in use": (("serve", "{packed}", "--port", "{port}"), "cannot listen at 127.0.0.1, port"),
    "two models of one name": (("serve", "{packed}", "{packed}", "--port", "0"), "two models have the name 'm'"),
    "a vocabulary that is not there": (("serve", "{packed}", "--vocabulary", "absent.tsv"), "absent.tsv"),
    "a bad name": (("serve", "a/b={packed}", "--port", "0"), "cannot be the name"),
}


@pytest.mark.parametrize("what", list(BAD))
def test_bad_input_is_one_line_and_status_2(run, files, packed, tmp_path, monkeypatch, what):
    monkeypatch.chdir(tmp_path)
    (files / "empty.txt").write_text("")
    (files / "bad.txt").write_text("2 3 2\n0 1:x\n1 2:1\n")
    (files / "wide.txt").write_text("2 30 2\n0 29:1\n1 2:1\n")
    with socket.create_server(("127.0.0.1", 0)) as busy:
        values = {"files": files, "packed": packed, "port": busy.getsockname()[1]}
        arguments, said = BAD[what]
        got = run(*(argument.format(**values) for argument in arguments), status=2)
    last = got.err.strip().splitlines()[-1]
    assert last.startswith("xmlcore: ") and said in last and "Traceback" not in got.err, got.err


def test_what_needs_too_much_memory_is_one_line_and_status_2(run, files, packed, monkeypatch):
    monkeypatch.setattr("xmlcore.system.free_bytes", lambda: 1 << 30)
    said = run("predict", packed, files / "test.txt", "-k", 2**31 - 1, "--quiet", status=2).err.splitlines()[-1]
    assert said.startswith("xmlcore: A ranking would need about 859.0 GB of memory for 50 rows of 2,147,483,647 labels")


@pytest.mark.skipif(os.name != "posix", reason="a shell closes the streams")
def test_a_command_runs_with_closed_streams(files, tmp_path):
    train = f"'{sys.executable}' -m xmlcore train '{files / 'train.txt'}' --quality fast -o '{tmp_path / 'm.zip'}'"
    done = subprocess.run(["sh", "-c", f"{train} <&- >&- 2>&-"], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0 and xmlcore.load_model(tmp_path / "m.zip").size()["n_weights"] > 0


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_what_is_no_file_is_not_replaced_by_an_output(run, files, packed, tmp_path):
    os.mkfifo(pipe := tmp_path / "pipe.npz")
    for command in (("predict", packed, files / "test.txt", "-o"), ("convert", files / "test.txt", "--force")):
        assert f"{pipe} is there and is no file" in run(*command, pipe, "--quiet", status=2).err
    assert pipe.is_fifo()


def test_tracebacks_are_shown_and_commands_imported_if_asked(files):
    with pytest.raises(FileNotFoundError):
        main(["--debug", "describe", "absent.txt"])
    code = (
        "import sys, xmlcore.cli.group; print([name for name in ('numpy', 'numba', 'pandas') if name in sys.modules])"
    )
    got = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert got.stdout.strip() == "[]"


@pytest.mark.parametrize("place", [ROOT, "xmlcore/_dashboard"])
def test_the_dashboard_runs_streamlit_on_its_script(run, tmp_path, monkeypatch, place):
    if place != ROOT:  # an installed package
        place = tmp_path / place
        (place / "pages" / "main").mkdir(parents=True)
        (place / "app.py").touch()
        (place / "pages" / "main" / "script.py").touch()
        monkeypatch.setattr(xmlcore, "__file__", str(tmp_path / "xmlcore" / "__init__.py"))
    called = []
    if os.name == "posix":
        monkeypatch.setattr(os, "execv", lambda program, command: called.append(command) or sys.exit(0))
    else:
        monkeypatch.setattr(subprocess, "call", lambda command: called.append(command) or 0)
    run("dashboard", "--port", 8600, "--headless", "--server.address", "0.0.0.0")
    assert called[0][1:6] == ["-P", "-m", "streamlit", "run", str(place / "app.py")]
    assert called[0][6:] == ["--server.port", "8600", "--server.headless", "true", "--server.address", "0.0.0.0"]


@pytest.mark.skipif(os.name != "posix", reason="users without a home folder are those of containers")
def test_the_dashboard_gives_a_user_a_home_folder(run, tmp_path, monkeypatch):
    def nobody():
        raise RuntimeError("Could not determine home directory.")

    seen, cache = [], os.environ["XMLCORE_CACHE"]
    monkeypatch.setattr(Path, "home", nobody)
    monkeypatch.setenv("HOME", "to be restored")
    monkeypatch.setattr("xmlcore.system.tempfile.gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr(os, "execv", lambda program, command: seen.append(dict(os.environ)) or sys.exit(0))
    run("dashboard", "--headless")
    assert seen[0]["HOME"] == str(tmp_path / f"xmlcore-{os.geteuid()}") and Path(seen[0]["HOME"]).is_dir()
    assert seen[0]["XMLCORE_CACHE"] == cache  # as it was


def test_the_dashboard_without_pages_says_what_to_do(run, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "streamlit", None)
    assert "pip install 'xmlcore[app]'" in run("dashboard", status=2).err
    monkeypatch.setitem(sys.modules, "streamlit", sys)
    monkeypatch.setattr(xmlcore, "__file__", str(tmp_path / "xmlcore" / "__init__.py"))
    assert "install the package with pip" in run("dashboard", status=2).err


def test_warm_up_compiles_with_so_many_processes(run, monkeypatch):
    called = []
    monkeypatch.setattr("xmlcore.warm_up.main", lambda arguments: called.append(arguments) or 1)
    run("warm-up", "--jobs", 3, status=1)
    assert called == [["--jobs", "3"]]


def test_a_served_model_answers_in_a_process_of_its_own(packed, rows):
    """A real server: started by the command line, asked over HTTP, and stopped as by Ctrl+C."""
    X, _ = rows
    body = {"rows": [{str(j): float(X[i, j]) for j in X[[i]].indices} for i in range(5)], "k": 3}
    with served(f"toy={packed}", "--timeout", 1) as place:
        request = urllib.request.Request(
            f"{place}/v1/models/toy/predict", json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            found = json.load(answer)["predictions"]
        port = int(place.rsplit(":", 1)[1])
        with socket.create_connection(("127.0.0.1", port), timeout=30) as slow:  # a body that does not come
            slow.sendall(b"POST /predict HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n")
            slow.sendall(b"Content-Length: 9\r\n\r\n{")
            assert b" 408 " in slow.recv(1000)
    labels, scores = xmlcore.load_model(packed).predict_topk(X[:5], 3)
    assert [[one["id"] for one in row] for row in found] == labels.tolist()
    assert [[one["score"] for one in row] for row in found] == scores.tolist()


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress_is_one_line_or_quiet(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    monkeypatch.setattr(output.time, "monotonic", iter(range(100)).__next__)
    with output.ProgressLine() as progress:
        for i in range(3):
            progress("Training nodes of trees", i / 2, f"{i} of 2 nodes")
        output.note("Two\nlines")
    lines = terminal.getvalue().split("\r\x1b[K")
    assert lines[1].startswith("[........................] Training nodes of trees   0 % 0 of 2")
    assert lines[3].startswith("[########################] Training nodes of trees 100 %")
    assert lines[4:] == ["Note: Two lines\n", ""]
    with output.ProgressLine(quiet=True) as progress:
        progress("Training", 0.5)
    assert capsys.readouterr() == ("", "")


def test_names_that_a_spreadsheet_would_run_are_marked():
    ranking = Ranking(np.array([[0]], np.int32), np.ones((1, 1), np.float32))
    predict._write(file := io.StringIO(), SimpleNamespace(label_name=lambda label: "=cmd()"), ranking, to_json=False)
    assert "'=cmd()" in file.getvalue() and ",=cmd()" not in file.getvalue()
