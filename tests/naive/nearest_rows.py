"""Nearest rows: twin of nearest_rows.py."""


def nearest(row, rows, k):
    """The k rows of largest product above 0 with a row, rows as {column: value}: (product, number), best first."""
    products = [sum(value * other.get(c, 0) for c, value in row.items()) for other in rows]
    return sorted(((-p, i) for i, p in enumerate(products) if p > 0))[:k]
