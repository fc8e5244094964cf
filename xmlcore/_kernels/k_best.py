"""Keep the k best labels, in sorted rows or in a heap with the last in rank on top, and keep nodes in a heap."""

from xmlcore._kernels._jit import inlined, kernel


@inlined
def better(score_a, label_a, score_b, label_b):
    """Return whether a comes before b in a ranking: larger score, then smaller label id."""
    return score_a > score_b or (score_a == score_b and label_a < label_b)


@inlined
def offer(best_scores, best_labels, r, count, k, score, label):
    """Insert a label into row r of the sorted k best labels, if it is among them; return the row's number of labels."""
    if count < k or better(score, label, best_scores[r, k - 1], best_labels[r, k - 1]):
        count = min(count + 1, k)
        at = count - 1
        while at > 0 and better(score, label, best_scores[r, at - 1], best_labels[r, at - 1]):
            best_scores[r, at] = best_scores[r, at - 1]
            best_labels[r, at] = best_labels[r, at - 1]
            at -= 1
        best_scores[r, at] = score
        best_labels[r, at] = label
    return count


@inlined
def heap_push(scores, nodes, size, score, node):
    """Push a node onto a heap; return the new size. The top has the largest score, and the smallest id among equals."""
    at = size
    while at > 0:
        up = (at - 1) >> 1
        if better(scores[up], nodes[up], score, node):
            break
        scores[at] = scores[up]
        nodes[at] = nodes[up]
        at = up
    scores[at] = score
    nodes[at] = node
    return size + 1


@inlined
def heap_pop(scores, nodes, size):
    """Remove the top of the heap, which is ``scores[0]`` and ``nodes[0]`` before the call; return the new size."""
    size -= 1
    score = scores[size]
    node = nodes[size]
    at = 0
    while True:
        down = 2 * at + 1
        if down >= size:
            break
        if down + 1 < size and better(scores[down + 1], nodes[down + 1], scores[down], nodes[down]):
            down += 1
        if better(score, node, scores[down], nodes[down]):
            break
        scores[at] = scores[down]
        nodes[at] = nodes[down]
        at = down
    scores[at] = score
    nodes[at] = node
    return size


@inlined
def _sink(scores, labels, size, at):
    """Restore a heap of labels, where only the one at position ``at`` may be better than those below it."""
    while True:
        child = 2 * at + 1
        if child >= size:
            return
        if child + 1 < size and better(scores[child], labels[child], scores[child + 1], labels[child + 1]):
            child += 1
        if not better(scores[at], labels[at], scores[child], labels[child]):
            return
        scores[at], scores[child] = scores[child], scores[at]
        labels[at], labels[child] = labels[child], labels[at]
        at = child


@inlined
def keep(scores, labels, size, score, label):
    """Add a label to a heap that keeps the best ``scores.size`` labels; return the number of labels in it."""
    if size < scores.size:
        at = size
        while at > 0:
            parent = (at - 1) >> 1
            if not better(scores[parent], labels[parent], score, label):
                break
            scores[at] = scores[parent]
            labels[at] = labels[parent]
            at = parent
        scores[at] = score
        labels[at] = label
        return size + 1
    if better(score, label, scores[0], labels[0]):
        scores[0] = score
        labels[0] = label
        _sink(scores, labels, size, 0)
    return size


@kernel
def rank_heap(scores, labels, size):
    """Sort the heap into a ranking, best first."""
    for last in range(size - 1, 0, -1):
        scores[0], scores[last] = scores[last], scores[0]
        labels[0], labels[last] = labels[last], labels[0]
        _sink(scores, labels, last, 0)


@kernel
def sort_best_first(scores, labels, size):
    """Sort labels in place by falling score, the smaller id first among equals."""
    for at in range(size // 2 - 1, -1, -1):
        _sink(scores, labels, size, at)
    rank_heap(scores, labels, size)
