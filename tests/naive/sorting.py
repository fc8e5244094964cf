"""Sorting and selection with Python's own sort."""


def stable_order(keys):
    """Sort places by key; Python's sort is stable."""
    return sorted(range(len(keys)), key=lambda i: keys[i])


def sort_in_place(keys):
    """Sort a list of integers; nothing is returned."""
    keys.sort()


def nth_smallest(values, n):
    """Sort, and take place n."""
    return sorted(values)[n]
