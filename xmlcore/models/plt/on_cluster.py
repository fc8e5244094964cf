"""Classifiers trained on a cluster: jobs train a part of them each, and their results are files that all share."""

import functools
import os
import shutil
import tempfile
import uuid
from collections import defaultdict
from contextlib import closing
from pathlib import Path

import numpy as np

from xmlcore._kernels.lanes import LANES
from xmlcore._kernels.plt_training import NodeRows, ScaledRows, prune
from xmlcore.cluster import in_use
from xmlcore.models.by_workers import check_version, version
from xmlcore.models.plt.journal import Journal, name_of, opened_alone
from xmlcore.models.plt.memory import FOLDER
from xmlcore.models.plt.scaling import of_features
from xmlcore.models.plt.training import NODES, Group, GroupResult, own_rows, trained
from xmlcore.progress import Progress
from xmlcore.system import cache_root

PARTS = 256  # into which a training is cut at most, all of about the same cost
LEAST_COST = 2e6  # of a part: values of rows that are visited by sixteen classifiers; some 0.2 s
FILES = [f"{name}.npy" for name in (*(f"rows-{name}" for name in ScaledRows._fields), *NodeRows._fields)]


def by_cluster(X):
    """Return a function that has classifiers of rows trained by the cluster in use, after a look at it, or None."""
    cluster = in_use.get()
    if cluster is None:
        return None
    folder = getattr(X, "folder", None) or cache_root() / FOLDER
    cluster.check(version, folder)
    return functools.partial(_results, cluster, folder)


def _results(cluster, folder, rows, x, under, groups, settings, progress: Progress, phase=NODES, tree=None):
    """Return the results of groups that a cluster has trained."""
    shared = folder / name_of(*x, *under, settings, groups)
    shared.mkdir(exist_ok=True)
    alone = opened_alone(shared / "in-use")
    if alone is None:  # another process trains the same at this moment
        shared = Path(tempfile.mkdtemp(prefix="nodes-", dir=folder))
        alone = open(shared / "in-use", "ab")
    with closing(alone):
        for name, array in zip(FILES, (*x, *under)):
            if not (shared / name).exists():
                np.save(shared / "new.npy", array)
                os.replace(shared / "new.npy", shared / name)
        parts, costs = _parts(x, under, groups if tree is None else _depth_first(tree, groups))
        found = _finished(shared, parts)
        missing = [name for name in parts if name not in found]
        tasks = [(str(shared), name, parts[name], rows.X.shape[1], settings, version()) for name in missing]
        cluster.run(train_part, tasks, [costs[name] for name in missing], progress, phase)
        found |= _finished(shared, {name: parts[name] for name in missing})
        if len(found) < len(parts):
            raise OSError(f"{shared} lacks files that workers have written: fit again goes on with those that it has")
    pieces = defaultdict(list)
    for name, part in parts.items():
        for piece, result in zip(part, found[name]):
            pieces[piece.number].append((piece.first, result))
    shutil.rmtree(shared, ignore_errors=True)  # what is mapped from it is readable further on
    return [of_features(_joined(group, pieces[group.number]), group.size, rows.scaling) for group in groups]


def train_part(folder: str, name: str, part: list[Group], n_columns: int, settings, needed: str) -> None:
    """Train groups, or slices of them, and keep their results as a file; a worker calls it."""
    check_version(needed)
    shared = Path(folder)
    # "c": kernels are compiled for arrays that can be written to
    arrays = [np.asarray(np.load(shared / file, mmap_mode="c")) for file in FILES]
    x, under = ScaledRows(*arrays[: len(ScaledRows._fields)]), NodeRows(*arrays[len(ScaledRows._fields) :])
    unfinished = shared / f"{name}.{uuid.uuid4().hex}"
    with closing(Journal(unfinished)) as journal:
        for group in part:
            own = own_rows(under, group, x.ptr.size - 1)
            found = trained(x, n_columns, None, own, under, group.first, group.size, settings, group.number)
            journal.write(group.first, found)
    os.replace(unfinished, shared / name)


def _depth_first(tree, groups: list[Group]) -> list[Group]:
    """Return groups in the order in which those of a sub-tree follow each other."""
    of_parent = defaultdict(list)
    for group in groups:
        of_parent[group.parent].append(group)
    order, waiting, first, count = of_parent[-1], [0], tree.first_child.tolist(), tree.n_children.tolist()
    while waiting:
        v = waiting.pop()
        order += of_parent[v]
        waiting += range(first[v] + count[v] - 1, first[v] - 1, -1)
    return order


def _parts(x, under, groups) -> tuple[dict[str, list[Group]], dict[str, float]]:
    """Cut groups into parts of about the same cost; return these, and their costs, by name."""
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
            parts[name].append(group._replace(first=group.first + start, size=end - start))
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
            if all(group.first in journal for group in parts[name]):
                found[name] = [GroupResult(*journal.read(group.first)) for group in parts[name]]
    return found


def _joined(group, slices) -> GroupResult:
    """Return the result of a group, of its slices in their order."""
    if len(slices) == 1:
        return slices[0][1]
    results = [result for _, result in slices]
    columns = np.unique(np.concatenate([result.columns for result in results]))
    weights = np.zeros((columns.size, group.size), np.float32)
    for first, result in slices:
        at = np.searchsorted(columns, result.columns)
        if result.ptr.size:
            at = np.repeat(at, np.diff(result.ptr.astype(np.int64)))
            weights[at, first - group.first + result.child] = result.value
        elif at.size:
            size, start = result.bias.size, first - group.first
            weights[at, start : start + size] = result.value.reshape(at.size, -1)[:, :size]
    kept = prune(weights, columns.astype(np.int32), np.float32(0), np.arange(group.size), group.size)
    bias = np.concatenate([result.bias for result in results])
    return GroupResult(*kept, bias, max(r.epochs for r in results), max(r.violation for r in results))
