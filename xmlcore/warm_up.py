"""Compile all kernels into the cache folder, for container images and servers: python -m xmlcore.warm_up"""

import argparse
import multiprocessing
import os
import sys
import time

from xmlcore import wording
from xmlcore.system import ALL_KERNELS_SECONDS, effective_jobs, kernel_cache_variable


def main(arguments=None) -> int:
    parser = argparse.ArgumentParser(prog="python -m xmlcore.warm_up", description=__doc__)
    parser.add_argument("--jobs", type=int, help="processes that compile at the same time; by default one per core")
    jobs = effective_jobs(parser.parse_args(arguments).jobs)

    from xmlcore._kernels._caching import holds_code
    from xmlcore._kernels._jit import CACHE_FOLDER, CACHE_IS_USED, NAMED_FOLDER  # warns if that cannot be used

    start = time.perf_counter()
    print(f"Compiled kernels are kept in {CACHE_FOLDER}" if CACHE_IS_USED else "Nothing can be kept", flush=True)
    print(f"All take about {ALL_KERNELS_SECONDS} s of processor time; those that are kept are only loaded", flush=True)
    helpers = []
    if CACHE_IS_USED:  # otherwise each process would compile for itself
        spawning = multiprocessing.get_context("spawn")
        helpers = [spawning.Process(target=compile_and_tell, args=(False,)) for _ in range(jobs - 1)]
    for helper in helpers:
        helper.start()
    compile_and_tell()
    for helper in helpers:
        helper.join()
    seconds, spent = time.perf_counter() - start, sum(os.times()[:4])  # that of the helpers included
    print(f"All kernels: {seconds:.1f} s, processor time {spent:.0f} s")
    if not CACHE_IS_USED:
        print(f"This had no lasting effect: name a writable folder in {kernel_cache_variable()}", file=sys.stderr)
        return 1
    if CACHE_FOLDER != NAMED_FOLDER and CACHE_FOLDER.is_dir() and holds_code(CACHE_FOLDER):
        print(
            f"{NAMED_FOLDER} does not have all kernels, and nothing can be written there: name a writable folder in "
            f"{kernel_cache_variable()}",
            file=sys.stderr,
        )
        return 1
    size = sum(path.stat().st_size for path in CACHE_FOLDER.rglob("*") if path.is_file())
    print(f"The folder has {wording.size(size)}")
    return 0


def compile_and_tell(wait_for_others: bool = True) -> None:
    """Compile all pieces, and print the seconds of each; see :func:`xmlcore.experiment.warm_up.compile_pieces`."""
    from xmlcore.experiment.warm_up import compile_pieces

    compile_pieces(
        ended=lambda piece, seconds: print(f"{piece.title}: {seconds:.1f} s", flush=True),
        wait_for_others=wait_for_others,
    )


if __name__ == "__main__":
    sys.exit(main())
