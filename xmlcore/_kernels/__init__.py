"""Compiled functions (kernels), which read and write flat arrays; the beginning of a file name is the algorithm.

Kernels never raise an exception: where input can be wrong they return a status, and their caller raises the error.
They use no Python objects and run without the interpreter lock, so that several threads can run them at once.
"""
