"""Classifiers trained on a cluster: jobs train a part of them each, and their results are files that all share."""

import functools
import os
import shutil
import tempfile
import uuid
from collections import defaultdict
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import numpy as np

from xmlcore import __version__
from xmlcore._kernels._jit import kernels_version
from xmlcore._kernels.lanes import LANES
from xmlcore._kernels.plt_training import NodeRows, ScaledRows, prune
from xmlcore.models.plt.journal import Journal, name_of, opened_alone
from xmlcore.models.plt.memory import FOLDER
from xmlcore.models.plt.scaling import Scaling, of_features
from xmlcore.models.plt.training import GROUP_SIZE, NODES, Group, GroupResult, own_rows, trained
from xmlcore.progress import Progress
from xmlcore.system import cache_root

PARTS = 256  # into which a training is cut at most, all of about the same cost
LEAST_COST = 2e6  # of a part: values of rows that are visited by sixteen classifiers; some 0.2 s


class Siblings(NamedTuple):
    """Consecutive siblings of a group that are trained by one job: all, or sixteen that have rows."""

    group: Group
    first: int
    size: int

    @property
    def key(self) -> int:
        return self.group.number * GROUP_SIZE + self.first - self.group.first


def version() -> str:
    return f"xmlcore {__version__} with kernels {kernels_version()}"


def by_cluster(cluster, X):
    """Return a function by which a cluster trains classifiers of rows; None without a cluster.

    The workers are looked at, as nothing is to be found out after an hour.
    """
    if cluster is None:
        return None
    folder = getattr(X, "folder", None) or cache_root() / FOLDER
    cluster.check(version, folder)
    return functools.partial(_results, cluster, folder)


def _results(cluster, folder, rows, x, under, groups, settings, progress: Progress, phase=NODES, tree=None):
    """Return the results of groups that a cluster has trained; those of rows in files are mapped from files."""
    shared = folder / name_of(*x, *under, *(rows.scaling or ()), settings, groups)
    shared.mkdir(exist_ok=True)
    alone = opened_alone(shared / "in-use")
    if alone is None:  # another process trains the same at this moment
        shared = Path(tempfile.mkdtemp(prefix="nodes-", dir=folder))
        alone = opened_alone(shared / "in-use")
    with closing(alone):
        arrays = x._asdict() | {f"under_{name}": part for name, part in under._asdict().items()}
        arrays |= {} if rows.scaling is None else rows.scaling._asdict()
        for name, array in arrays.items():
            _keep(shared / f"{name}.npy", array)
        parts, costs = _parts(x, under, groups if tree is None else _depth_first(tree, groups))
        found = _finished(shared, parts)
        missing = [name for name in parts if name not in found]
        tasks = [(str(shared), name, parts[name], rows.X.shape[1], settings, version()) for name in missing]
        cluster.run(train_part, tasks, [costs[name] for name in missing], progress, phase)
        found |= _finished(shared, {name: parts[name] for name in missing})
        if len(found) < len(parts):
            raise OSError(f"{shared} lacks files that workers have written: fit again goes on with those that it has")
        results = _whole(parts, found, rows.scaling)
    shutil.rmtree(shared, ignore_errors=True)  # what is mapped from it is readable further on
    return [results[group.number] for group in groups]


def train_part(folder: str, name: str, pieces: list[Siblings], n_columns: int, settings, needed: str) -> None:
    """Train pieces of groups and keep their results as a file; a worker calls it."""
    if version() != needed:
        raise ValueError(f"a worker has {version()}, and {needed} is needed: install the same on all machines")
    shared = Path(folder)
    if not (shared / "in-use").exists():
        raise FileNotFoundError(f"a worker does not see the files of {shared}: share this folder with all machines")
    x = ScaledRows(*(_mapped(shared, name) for name in ScaledRows._fields))
    under = NodeRows(*(_mapped(shared, f"under_{name}") for name in NodeRows._fields))
    is_scaled = (shared / f"{Scaling._fields[0]}.npy").exists()
    scaling = Scaling(*(_mapped(shared, name) for name in Scaling._fields)) if is_scaled else None
    unfinished = shared / f"{name}.{uuid.uuid4().hex}"
    with closing(Journal(unfinished)) as journal:
        for piece in pieces:
            scales = scaling if piece.size == piece.group.size else None
            own = own_rows(under, piece.group, x.ptr.size - 1)
            found = trained(x, n_columns, scales, own, under, piece.first, piece.size, settings, piece.group.number)
            journal.write(piece.key, found)
    os.replace(unfinished, shared / name)


def _keep(path, array):
    """Write an array to a file that is whole or not there."""
    if not path.exists():
        with open(path.with_suffix(".new"), "wb") as file:
            np.save(file, array)
        os.replace(path.with_suffix(".new"), path)


def _mapped(folder, name):
    # "c": kernels are compiled for arrays that can be written to
    return np.asarray(np.load(folder / f"{name}.npy", mmap_mode="c"))


def _depth_first(tree, groups: list[Group]) -> list[Group]:
    """Return groups in the order in which those of a sub-tree follow each other."""
    of_parent = defaultdict(list)
    for group in groups:
        of_parent[group.parent].append(group)
    order, waiting, first, count = of_parent[-1], [0], tree.first_child, tree.n_children
    while waiting:
        v = waiting.pop()
        order += of_parent[v]
        waiting += range(first[v] + count[v] - 1, first[v] - 1, -1)
    return order


def _parts(x, under, groups) -> tuple[dict[str, list[Siblings]], dict[str, float]]:
    """Cut groups into parts of about the same cost; return their pieces and costs by name, whatever the workers."""
    values = np.concatenate([[0], np.cumsum(np.diff(x.ptr)[under.rows])])
    values = values[under.ptr[1:]] - values[under.ptr[:-1]]

    def cost(group, size):
        return (int(x.ptr[-1]) if group.parent < 0 else int(values[group.parent])) * (-(-size // LANES) + 1)

    total = sum(cost(group, group.size) for group in groups)
    most, before = max(total / PARTS, LEAST_COST), 0.0
    parts, costs = defaultdict(list), defaultdict(float)
    for group in groups:
        n_rows = own_rows(under, group, x.ptr.size - 1).size
        cuts = _cuts(under, group, n_rows) if cost(group, group.size) > most else []
        for start, end in zip([0, *cuts], [*cuts, group.size]):
            name, more = f"part-{before // most:.0f}", cost(group, end - start)
            parts[name].append(Siblings(group, group.first + start, end - start))
            costs[name] += more
            before += more
    return parts, costs


def _cuts(under, group, n_rows) -> list[int]:
    """Return where a group can be cut, so that the same sixteen children are trained together as in one piece."""
    positives = np.diff(under.ptr[group.first : group.first + group.size + 1])
    trained_ones = np.flatnonzero((positives > 0) & (positives < n_rows))
    cuts = trained_ones[LANES::LANES].tolist()
    return cuts[:-1] if trained_ones.size % LANES in (1, 2) else cuts  # one or two alone are trained in another way


def _finished(folder, parts) -> dict[str, list[GroupResult]]:
    """Return the results of those parts, by name, that are whole in a folder."""
    found = {}
    for name in parts.keys() & set(os.listdir(folder)):  # NFS remembers for a while what was not found
        with closing(Journal(folder / name, stays=True)) as journal:
            if all(piece.key in journal for piece in parts[name]):
                found[name] = [GroupResult(*journal.read(piece.key)) for piece in parts[name]]
    return found


def _whole(parts, found, scaling) -> dict[int, GroupResult]:
    """Return the results of whole groups, by number."""
    of_groups = defaultdict(list)
    for name, pieces in parts.items():
        for piece, result in zip(pieces, found[name]):
            of_groups[piece.group.number].append((piece, result))
    return {
        number: pieces[0][1] if len(pieces) == 1 else of_features(_merged(pieces), pieces[0][0].group.size, scaling)
        for number, pieces in of_groups.items()
    }


def _merged(pieces) -> GroupResult:
    """Return the result of a group, of its pieces in their order."""
    group, results = pieces[0][0].group, [result for _, result in pieces]
    columns = np.unique(np.concatenate([result.columns for result in results]))
    weights = np.zeros((columns.size, group.size), np.float32)
    for piece, result in pieces:
        at = np.searchsorted(columns, result.columns)
        if result.ptr.size:
            at = np.repeat(at, np.diff(result.ptr.astype(np.int64)))
            weights[at, piece.first - group.first + result.child] = result.value
        elif at.size:
            block = result.value.reshape(at.size, -1)[:, : piece.size]
            weights[at, piece.first - group.first : piece.first - group.first + piece.size] = block
    kept = prune(weights, columns.astype(np.int32), np.float32(0), np.arange(group.size), group.size)
    bias = np.concatenate([result.bias for result in results])
    return GroupResult(*kept, bias, max(r.epochs for r in results), max(r.violation for r in results))
