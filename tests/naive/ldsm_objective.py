"""LdSM: the objective of a split, and the children that make it least for a row."""

import math


def objective(P, P_of, pi, integrity_weight, multiway_weight):
    """Equation 2: (J, balance, integrity, multi-way penalty); ``P_of[i][j]`` of label i, ``pi[i]`` its share."""
    M = len(P)
    pairs = [(j, other) for j in range(M) for other in range(j + 1, M)]
    balance = sum(abs(P[j] - P[other]) for j, other in pairs)
    integrity = sum(pi[i] * abs(P_of[i][j] - P_of[i][other]) for i in pi for j, other in pairs)
    penalty = abs(sum(P) - 1)
    return balance - integrity_weight * integrity + multiway_weight * penalty, balance, integrity, penalty


def directions(P, P_of, C, met, labels, integrity_weight, multiway_weight):
    """Algorithm 3: the set of children, as bits, of least J when a row with these labels goes there."""
    M, best, chosen = len(P), math.inf, 0
    for s in range(1, 2**M):
        to = [s >> m & 1 for m in range(M)]
        new = [((C - len(labels)) * P[m] + len(labels) * to[m]) / C for m in range(M)]
        new_of = {k: [((met[k] - 1) * P_of[k][m] + to[m]) / met[k] for m in range(M)] for k in labels}
        J, *_ = objective(new, new_of, {k: met[k] / C for k in labels}, integrity_weight, multiway_weight)
        if J < best - 1e-9:  # of equal ones the first
            best, chosen = J, s
    return chosen
