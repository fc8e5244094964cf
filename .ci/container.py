"""Run the Dockerfile's steps, the Compose file and the systemd unit of the docs as plain commands in a folder.

python .ci/container.py WHEEL [--kernels FOLDER] [--quick]

The folders that the Dockerfile names, such as /opt, are folders in a temporary one. What the container runs is run as
its user, without a home folder and an entry in the list of users, with nothing but the data writable, and on two cores.
So are the servers of the Compose file and of the unit, with the check of health of the one, and with what has them read
a new model file. Only root can become another user: anyone else runs it all as they are.
"""

import argparse
import configparser
import contextlib
import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import sysconfig
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import NamedTuple

import yaml  # comes with mkdocs

DOCS = Path(__file__).resolve().parents[1] / "docs"
CONTAINERS, SERVING = ((DOCS / name).read_text(encoding="utf-8") for name in ("containers.md", "serving.md"))
FOLDERS = r"(?<![\w.$/])/(?=(?:opt|srv|var)\b)"  # those that get another place
IMAGE = "labels"
SWAPPED = str.maketrans("12", "21")  # labels of the second model
LINES = [
    "0,1 1:2",
    "0 1:1 2:1",
    "1 3:1",
    "2 4:2 5:1",
    "2,3 4:1 6:3",
    "3 6:2",
    "0,1 1:1 3:2",
    "2 5:2",
    "3 6:1 4:1",
    "1 3:2",
]


class Container:
    """Folders and variables as the steps of a Dockerfile leave them."""

    def __init__(self, folder, kernels):
        self.folder = folder
        self.env = {
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), "/usr/bin", "/bin"]),
            "TMPDIR": f"{folder}/tmp",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "PIP_QUIET": "1",
            # Where colorama is, which mkdocs brings, Numba asks the terminal at each attempt to find a type.
            "NUMBA_DISABLE_ERROR_MESSAGE_HIGHLIGHTING": "1",
        }
        self.user, self.command = None, None
        for name in ("opt", "srv/models", "tmp", "away", "var/cache"):
            (folder / name).mkdir(parents=True)
        if kernels is not None:
            kernels.mkdir(parents=True, exist_ok=True)
            (folder / "opt" / "kernels").symlink_to(kernels)

    def placed(self, text):
        """Return a text with the folders of the image as they are here."""
        return re.sub(FOLDERS, f"{self.folder}/", text)

    def step(self, line, wheel):
        """Do what a line of the Dockerfile says; return how long it took."""
        start = time.perf_counter()
        kind, rest = line.split(maxsplit=1)
        if kind == "RUN":
            subprocess.run(["sh", "-ec", self.placed(rest)], env=self.env, cwd=self.folder / "away", check=True)
        elif kind == "ENV":
            for name, value in re.findall(r"(\w+)=(\S*)", rest):
                self.env[name] = re.sub(r"\$(\w+)", lambda match: self.env[match[1]], self.placed(value))
        elif kind == "COPY":
            target = Path(self.placed(rest.split()[-1]))
            target.mkdir(parents=True)
            shutil.copy(wheel, target)
        elif kind == "USER":
            self.user = rest
        elif kind == "CMD":
            self.command = [self.placed(part) for part in json.loads(rest)]
        elif kind != "FROM":
            raise SystemExit(f"containers.md: this does not know {kind!r}")
        return time.perf_counter() - start

    def close(self):
        """Take from everyone the right to write to the image."""
        for inner, _, names in os.walk(self.folder / "opt"):
            for path in (inner, *(os.path.join(inner, name) for name in names)):
                if not os.path.islink(path):
                    os.chmod(path, os.stat(path).st_mode & ~0o222)

    def inside(self, command, variables=None, **options):
        """Start a command as the user of the container, with further variables of its environment."""
        as_user = []
        if os.geteuid() == 0:
            # The user may read what lies in folders of the user who runs this, such as Python.
            reading = ["--inh-caps", "-all,+dac_read_search", "--ambient-caps", "-all,+dac_read_search"]
            as_user = [
                "setpriv",
                "--reuid",
                self.user,
                "--regid",
                self.user,
                "--clear-groups",
                *reading,
                "--no-new-privs",
            ]
        cores = sorted(os.sched_getaffinity(0))[:2]
        command = ["taskset", "-c", ",".join(map(str, cores)), *as_user, *command]
        env = self.env | (variables or {})
        return subprocess.Popen(command, env=env, cwd=self.folder / "away", text=True, **options)


class Service(NamedTuple):
    """A server as a page says to start it."""

    command: list
    reload: str = ""  # for a shell, with $MAINPID
    check: str = ""  # for a shell, says whether it is well
    variables: dict | None = None


def main():
    """Build, train, serve, ask; the status is 1 if anything is not as it should be."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--kernels", type=Path, help="a folder for compiled kernels, which stays; by default a new one")
    parser.add_argument(
        "--quick", action="store_true", help="install the wheel alone, beside the packages of the Python that runs this"
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="container-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        container = Container(folder, options.kernels and options.kernels.resolve())
        for line in written(CONTAINERS, "dockerfile").splitlines():
            if options.quick and "pip install" in line:
                line = line.replace("pip install", "pip install --no-deps")
                site = next((folder / "opt" / "xmlcore" / "lib").glob("python*/site-packages"))
                (site / "beside.pth").write_text(sysconfig.get_path("purelib") + "\n")
            print(f"{line}   # {container.step(line, options.wheel):.1f} s", flush=True)
        container.close()
        use(container)
        if options.quick:  # Streamlit is there
            open_dashboard(container)


def written(page, language):
    """Return the lines in a language on a page."""
    return re.search(rf"```{language}\n(.*?)```", page, re.DOTALL)[1]


def services(container):
    """Return the servers of the Compose file and of the systemd unit."""
    composed = yaml.safe_load(written(CONTAINERS, "yaml"))["services"][IMAGE]
    file = configparser.ConfigParser(interpolation=None)
    file.read_string(written(SERVING, "ini"))
    unit = file["Service"]
    name, folder = unit["Environment"].split("=")
    of_compose, of_unit = (shlex.split(container.placed(of)) for of in (composed["command"], unit["ExecStart"]))
    return [
        Service(of_compose, "kill -HUP $MAINPID", composed["healthcheck"]["test"]),
        Service(of_unit, unit["ExecReload"], variables={name: container.placed(folder)}),
    ]


def use(container):
    """Train two models as the user of the container, and serve them in all ways."""
    srv, temporary = container.folder / "srv", container.folder / "tmp"
    for writable in (srv, temporary):
        writable.chmod(0o777)
    kernels = Path(container.env["XMLCORE_KERNEL_CACHE"])
    compiled = sorted(kernels.rglob("*"))
    runs = re.findall(rf"^docker run .* {IMAGE}(?: (.*))?$", CONTAINERS, re.MULTILINE)
    training, serving = (shlex.split(container.placed(run or "")) or container.command for run in runs)
    swapped = [f"{labels.translate(SWAPPED)} {values}" for labels, _, values in (line.partition(" ") for line in LINES)]
    models = [trained(container, training, lines) for lines in (LINES, swapped)]
    srv.chmod(0o555)  # -v "$PWD:/srv:ro"
    for service in (Service(serving), *services(container)):
        serve(container, service, *models)
    expect(sorted(kernels.rglob("*")) == compiled, "something was written to the folder of compiled kernels")
    more = sorted(temporary.rglob("*.nbc"))
    expect(not more, f"the warm-up had left out {[path.name for path in more]}")


def trained(container, command, lines):
    """Return the file of the model that is trained on lines of XMLC text."""
    srv, start = container.folder / "srv", time.perf_counter()
    (srv / "train.txt").write_text(f"{len(lines)} 7 4\n" + "\n".join(lines) + "\n")
    training = container.inside(command, stderr=subprocess.PIPE)
    said = training.communicate(timeout=300)[1]
    print(f"{shlex.join(command)}   # {time.perf_counter() - start:.1f} s\n{said}", flush=True)
    expect(training.returncode == 0, "the training failed")
    if os.geteuid() == 0:
        expect((srv / "model.zip").stat().st_uid == int(container.user), "the model belongs to another user")
    return (srv / "model.zip").read_bytes()


def serve(container, service, first, second):
    """Start a server with a model, ask it, have it read another one, ask it again, and end it."""
    path = Path(next(part for part in service.command if part.endswith(".zip")))
    place(path, first)
    for folder in (service.variables or {}).values():  # which systemd makes for the unit's user
        Path(folder).mkdir(mode=0o700)
        if os.geteuid() == 0:
            os.chown(folder, int(container.user), -1)
    command = [*service.command, "--port", "0", "--json"]
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE}
    server = container.inside(command, service.variables, **pipes)
    try:
        description = json.loads("".join(until_closed(server.stdout)))
        url = description["url"].replace("0.0.0.0", "127.0.0.1")
        print(f"{shlex.join(command)}: labels {ask(url)}", flush=True)
        expect(ask(url) == [1, 2], "the labels are not [1, 2]")
        if service.check:
            check = service.check.replace("http://127.0.0.1:8000", url)
            expect(container.inside(["sh", "-c", check]).wait(timeout=60) == 0, f"{check} says that it is not well")
        if service.reload:
            place(path, second)
            environment = os.environ | {"MAINPID": str(server.pid)}
            subprocess.run(["sh", "-c", service.reload], env=environment, check=True)
            end = time.perf_counter() + 30
            while ask(url) != [2, 1]:
                expect(time.perf_counter() < end, f"{service.reload} has changed nothing")
                time.sleep(0.1)
    finally:
        server.terminate()
        status = server.wait(timeout=30)
    expect(status in (0, -15), f"the server ended with status {status}")


def place(path, model):
    """Move the file of a model to where a server reads it, in a folder that nobody can write to."""
    beside = path.with_suffix(".new")
    path.parent.chmod(0o755)
    beside.write_bytes(model)
    beside.replace(path)
    path.parent.chmod(0o555)


def ask(url):
    """Return the first labels of two rows."""
    body = json.dumps({"rows": [{"3": 2.0}, {"5": 1.0}], "k": 1}).encode()
    request = urllib.request.Request(f"{url}/predict", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return [row[0]["id"] for row in json.load(answer)["predictions"]]


def open_dashboard(container):
    """Start the dashboard of the wheel as the user of the container, and wait for its first answer."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    start, found = time.perf_counter(), None
    # In a session of its own, so that its worker processes are known.
    command = ["xmlcore", "dashboard", "--headless", "--port", str(port)]
    dashboard = container.inside(command, start_new_session=True)
    try:
        while found is None and dashboard.poll() is None and time.perf_counter() - start < 60:
            time.sleep(0.1)
            with contextlib.suppress(OSError):
                request = urllib.request.Request(f"http://localhost:{port}/", headers={"Accept": "text/html"})
                with urllib.request.urlopen(request, timeout=60) as answer:
                    found = answer.geturl()  # the dashboard's own code gives each visitor a workspace
        print(f"xmlcore dashboard: {found}   # {time.perf_counter() - start:.1f} s", flush=True)
    finally:
        dashboard.terminate()
        status = dashboard.wait(timeout=30)
        left = wait_for_the_end_of(dashboard.pid)
    expect(not left, "processes of the dashboard did not end with it")
    expect(found is not None and "?w" in found, f"the dashboard answered {found}")
    expect(status in (0, -15), f"the dashboard ended with status {status}")


def wait_for_the_end_of(session) -> bool:
    """Wait until all processes of a session have ended; return whether some are left after 30 seconds."""
    end = time.perf_counter() + 30
    while time.perf_counter() < end:
        try:
            os.killpg(session, 0)
        except ProcessLookupError:
            return False
        except PermissionError:  # another user's, whom only root could have become
            return True
        time.sleep(0.1)
    return True


def until_closed(lines):
    """Yield lines until the JSON object that they are is complete."""
    depth = 0
    for line in lines:
        yield line
        depth += line.count("{") - line.count("}")
        if depth == 0:
            return
    raise SystemExit("the server ended before it said where it is")


def expect(is_so, otherwise):
    """End with a message unless something is so."""
    if not is_so:
        raise SystemExit(f"container: {otherwise}")


if __name__ == "__main__":
    main()
