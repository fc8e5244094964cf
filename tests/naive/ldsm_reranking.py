"""LdSM: mixing shares with nearness to the means of labels."""

import math


def rank_again(shares, row, means, beta, gamma):
    """{label: score} from {label: share}: the paper's tail re-ranking (section 5, as Jain et al., 2016)."""
    scores = {}
    for label, share in shares.items():
        mean = means[label]
        distance = sum((row.get(f, 0.0) - mean.get(f, 0.0)) ** 2 for f in set(row) | set(mean))
        scores[label] = beta * share + (1 - beta) / (1 + math.exp(gamma * distance / 2))
    return scores


def label_means(rows, labels):
    """{label: mean of its rows}."""
    means = {}
    for k in sorted({k for own in labels for k in own}):
        own = [row for row, of in zip(rows, labels) if k in of]
        means[k] = {f: sum(row.get(f, 0.0) for row in own) / len(own) for f in {f for row in own for f in row}}
    return means


def idf_unit(rows, idf):
    """Rows weighted by idf and of unit length."""
    out = []
    for row in rows:
        weighted = {f: v * idf[f] for f, v in row.items()}
        length = math.sqrt(sum(v * v for v in weighted.values())) or 1.0
        out.append({f: v / length for f, v in weighted.items()})
    return out
