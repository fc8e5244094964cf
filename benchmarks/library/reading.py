"""One reader of one library, one file, in a process of its own. `benchmarks.readers` starts it; it stands alone,
because the other libraries may live in another Python.

    python reading.py READER TOY FILE    read TOY, so that nothing is loaded or compiled later, then measure FILE

Prints JSON: "seconds" of processor time of each reading (all readers have one thread), "system", the seconds that the
system took of each, "rows", and "rise", by how many bytes the first reading raised the peak of memory, None where the
system does not tell.
"""

import json
import os
import sys
import time

SECONDS, LEAST, REPEATS = 2.0, 3, 5  # a file is read again until this many seconds have passed, so many times


def xmlcore():
    from xmlcore.datasets import read_matrix

    return lambda path: read_matrix(path)[0].shape[0]


def liac_arff():
    import arff
    import numpy as np
    import scipy.sparse as sp

    def read(path):  # as scikit-learn's fetch_openml does, to a matrix
        with open(path, encoding="utf-8") as file:
            sparse = next(line for line in file if line.lower().startswith("@data")) and next(file).startswith("{")
            file.seek(0)
            found = arff.load(file, encode_nominal=True, return_type=arff.COO if sparse else arff.DENSE)
        if not sparse:
            return np.array(found["data"], np.float64).shape[0]
        values, rows, columns = found["data"]
        shape = (max(rows) + 1, len(found["attributes"]))
        return sp.coo_array((np.array(values), (rows, columns)), shape=shape).tocsr().shape[0]

    return read


def scipy():
    from scipy.io import arff

    return lambda path: len(arff.loadarff(path)[0])


def scikit_learn():
    from sklearn.datasets import load_svmlight_file

    return lambda path: load_svmlight_file(path, multilabel=True, zero_based=True)[0].shape[0]


READERS = {"xmlcore": xmlcore, "liac-arff": liac_arff, "scipy": scipy, "scikit-learn": scikit_learn}


def memory(field):
    """Return a field of the memory of this process in bytes; None where the system does not tell."""
    try:
        with open("/proc/self/status") as file:
            return next(int(line.split()[1]) * 1024 for line in file if line.startswith(field))
    except (OSError, StopIteration):
        return None


def reset_peak():
    """Forget the peak of memory; return whether the system allows that."""
    try:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
        return True
    except OSError:
        return False


def measure(reader, toy, path):
    """Return the seconds, rows and memory of reading a file."""
    read = READERS[reader]()
    read(toy)
    before, reset = memory("VmRSS:"), reset_peak()
    seconds, system, rise = [], [], None
    while len(seconds) < LEAST or (sum(seconds) < SECONDS and len(seconds) < REPEATS):
        system_before, start = os.times().system, time.process_time()
        rows = read(path)
        seconds.append(time.process_time() - start)
        system.append(os.times().system - system_before)
        if len(seconds) == 1 and before is not None and reset:
            rise = memory("VmHWM:") - before
    return {"seconds": seconds, "system": system, "rows": rows, "rise": rise}


if __name__ == "__main__":
    print(json.dumps(measure(*sys.argv[1:4])))
