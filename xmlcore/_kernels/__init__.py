"""Compiled code only: flat arrays in, arrays out, one file per algorithm.

Kernels never raise: where input can be wrong they return a status, and the Python around them turns it into an error.
They hold no Python object and run without the interpreter lock, so that several threads can run them at once.
"""
