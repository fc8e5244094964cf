"""Where a column is found: twin of xmlcore/_kernels/plt_index.py."""


def find_column(part, shift, columns, column):
    """Place of a column among those of its group, by the group's part of the index; None when it is not there."""
    if shift == -2:
        return column if column < len(columns) else None
    n_words = len(part) // 2 if shift == -1 else len(columns)
    if shift == -1 or column // 32 < n_words:
        word = min(column // 32, n_words - 1)
        bits = int(part[2 * word])
        before = bin(bits % 2 ** (column % 32)).count("1")
        return int(part[2 * word + 1]) + before if bits >> column % 32 & 1 else None
    starts = part[2 * n_words :]
    bucket = min((column - 32 * n_words) >> shift, len(starts) - 2)
    places = range(int(starts[bucket]), int(starts[bucket + 1]))
    return next((place for place in places if columns[place] == column), None)
