"""Keep the k best labels in sorted rows, and keep nodes in a heap."""

from xmlcore._kernels._jit import inlined


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
