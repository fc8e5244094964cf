"""LdSM: scores of labels from the leaves that a row reaches."""

from naive.ldsm_reaching import leaves_of


def shares_of(tree, labels, row, M, of_rows=False):
    """Algorithm 2: mean of the normalised histograms of the leaves that a row reaches; {label: share}.

    Normalised by the sum of their counts; ``of_rows``: by the leaf's rows.
    """
    rows_of, leaves, shares = tree[2], leaves_of(tree, row, M), {}
    for v in leaves:
        found = [k for i in rows_of[v] for k in labels[i]]
        for k in found:
            shares[k] = shares.get(k, 0) + 1 / ((len(rows_of[v]) if of_rows else len(found)) * len(leaves))
    return shares
