"""Data sets that the program can make or download."""
