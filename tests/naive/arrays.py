"""Arrays as lists."""


def enlarged(array, filled, size):
    """Cut or extend a list; None stands for anything."""
    return array[:filled] + [None] * (size - filled)
