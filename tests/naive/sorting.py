"""Sorting and selection with Python's own sort."""


def stable_order(keys):
    """Sort places by key; Python's sort is stable."""
    return sorted(range(len(keys)), key=lambda i: keys[i])


def nth_smallest(values, n):
    """Sort, and take place n."""
    return sorted(values)[n]
