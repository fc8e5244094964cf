"""The orders of computation of scores: the cost of each, and the choice of the cheapest."""

from typing import NamedTuple

from xmlcore.selection.fals.attribution import IG_STEPS

DRAWN, PRESENT, PRESENT_SAMPLED = "drawn rows", "present features", "present features of some rows"
ORDERS = ("closed form", "direct", "expanded", "reference", DRAWN, PRESENT, PRESENT_SAMPLED)

EXACT_UP_TO = 1e13  # multiply-adds up to which scoring="auto" computes exact scores: about 90 s on one core
DRAWN_ROWS = 16  # rows drawn for each label, unless n_scored_rows is given
SAMPLED_ROWS = 1000  # rows drawn for all labels, for attributions other than the gradient
ROWS_PER_REFERENCE = 100  # mean number of rows in a group of the reference order
MAX_REFERENCES = 256  # largest number of groups of the reference order
# Share of hidden units in which a row differs from the reference of its group. It is used until the share is measured.
TYPICAL_DEVIATION = 0.12
PASS = 12.0  # time for reading and writing one number, in multiply-adds of a matrix product


class Size(NamedTuple):
    """The sizes of the data and of the network, on which costs depend."""

    rows: int
    features: int
    labels: int
    hidden: tuple  # widths of the hidden layers
    nonzeros: int  # entries of X that are not 0


def references(n_rows: int) -> int:
    """Return the number of groups that :func:`xmlcore.selection.fals.exact.reference_order` divides the rows into."""
    return max(1, min(MAX_REFERENCES, n_rows // ROWS_PER_REFERENCE))


def gradient_costs(size: Size, activation: str, deviation: float = TYPICAL_DEVIATION) -> dict:
    """Return the multiply-adds of the exact orders for the gradient that the network allows, by name."""
    N, D, L = size.rows, size.features, size.labels
    if not size.hidden:
        return {"closed form": float(L * D + N * L)}
    H = size.hidden[0]
    inner = sum(a * b for a, b in zip(size.hidden[:-1], size.hidden[1:]))
    costs = {"direct": N * L * (float(H) * D + inner + PASS * (D + H))}
    if len(size.hidden) == 1:
        costs["expanded"] = L * (N * H * (H / 2 + PASS) + D * H * (H + PASS))
        if activation == "relu":
            cost_of_references = references(N) * L * H * D
            costs["reference"] = N * L * D * (deviation * H + PASS) + cost_of_references
    return costs


def sampled_cost(size: Size, n_rows: int) -> float:
    """Return the multiply-adds of scores that are estimated from ``n_rows`` drawn rows per label."""
    N, D, L = size.rows, size.features, size.labels
    H = size.hidden[0]
    inner = sum(a * b for a, b in zip(size.hidden[:-1], size.hidden[1:]))
    return 2.0 * N * L * H + L * (n_rows + 1.0) * (H * D + inner + PASS * D)


def present_cost(size: Size, method: str, share: float = 1.0) -> float:
    """Return the multiply-adds of the attributions of all non-zero values in a share of the rows."""
    N, L, nonzeros = size.rows * share, size.labels, size.nonzeros * share
    widths = [*size.hidden, L]
    inner = sum(a * b for a, b in zip(widths[:-1], widths[1:])) or L
    if method != "integrated_gradients":
        return nonzeros * (inner + PASS * L) + N * inner
    if len(size.hidden) == 1:
        H = size.hidden[0]
        return IG_STEPS * N * (2.0 * H * L + PASS * (H + L)) + nonzeros * H * L + N * PASS * H * L
    return IG_STEPS * (nonzeros + N) * (inner + PASS * L)


class ScoringPlan(NamedTuple):
    """The order of computation that was chosen."""

    order: str
    scoring: str  # "exact" or "sampled"
    costs: dict  # multiply-adds of all orders that were possible, by name
    n_rows: int  # the number of rows that a score comes from


def plan(params, size: Size, networks: int, deviation: float = TYPICAL_DEVIATION) -> ScoringPlan:
    """Return the cheapest order of computation that the parameters allow."""
    if params.attribution == "gradient":
        costs = gradient_costs(size, params.activation, deviation)
        if params.binary:
            costs = {"expanded": costs["expanded"]}
        exact = min(costs, key=costs.get)
        sampled, n_rows = DRAWN, params.n_scored_rows or DRAWN_ROWS
        if size.hidden and not params.binary:
            costs[sampled] = sampled_cost(size, n_rows)
    else:
        exact, sampled = PRESENT, PRESENT_SAMPLED
        n_rows = min(size.rows, params.n_scored_rows or SAMPLED_ROWS)
        costs = {exact: present_cost(size, params.attribution)}
        if not params.binary:
            costs[sampled] = present_cost(size, params.attribution, n_rows / size.rows)
    costs = {name: networks * cost for name, cost in costs.items()}
    exact_is_slow = sampled in costs and costs[exact] > max(EXACT_UP_TO, costs[sampled])
    if params.scoring == "sampled" or (params.scoring == "auto" and exact_is_slow):
        return ScoringPlan(sampled, "sampled", costs, n_rows)
    return ScoringPlan(exact, "exact", costs, size.rows)
