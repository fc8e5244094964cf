"""Searching many rows together: twins of xmlcore/_kernels/plt_search_together.py."""


def keep_best_of_rows(pairs, expanded, beam):
    """Of (score, row, node): each row's best, as many as its beam has room for."""
    kept = []
    for row, done in enumerate(expanded):
        own = sorted((p for p in pairs if p[1] == row), key=lambda p: (-p[0], p[2]))
        kept += own[: beam - done]
    return kept
