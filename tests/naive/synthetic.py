"""Made-up data sets: twins of xmlcore/_kernels/synthetic.py."""

import math

from naive.rng import GOLDEN, MASK, _scramble, stream


class Numbers:
    """Numbers in [0, 1) of a random stream, one after the other."""

    def __init__(self, seed, number):
        self.state = stream(seed, number)

    def __call__(self):
        self.state = (self.state + GOLDEN) & MASK
        return (_scramble(self.state) >> 11) / 2**53


def zipf(law, u):
    """The number in [0, n) below which a share u of the law's density (r + offset) ** (power - 1) lies."""
    if law.power == 0:
        x = law.offset * ((law.n + law.offset) / law.offset) ** u
    else:
        low, high = law.offset**law.power, (law.n + law.offset) ** law.power
        x = (low + u * (high - low)) ** (1 / law.power)
    return min(max(int(x - law.offset), 0), law.n - 1)


def draw_place(cumulative, first, last, u):
    sought = cumulative[first] + u * (cumulative[last] - cumulative[first])
    return max(place for place in range(first, last) if place == first or cumulative[place] <= sought)


def synthetic_row(problem, seed, i, label_sizes, feature_sizes):
    """Label ids, ascending, and {feature id: value} of row i."""
    draw = Numbers(seed, i)
    n_own = label_sizes[int(draw() * len(label_sizes))]
    n_features = feature_sizes[int(draw() * len(feature_sizes))]
    n_places = len(problem.bottom)

    def path(topic):
        """A topic and those above it, up to the one of all labels."""
        return [topic] + (path(problem.parent[topic]) if problem.parent[topic] >= 0 else [])

    def climb(steps, chance):
        """One of the steps, the first unless chance lets one go on, again and again."""
        return climb(steps[1:], chance) if len(steps) > 1 and draw() < chance else steps[0]

    own = [draw_place(problem.cumulative, 0, n_places, draw())]
    while len(own) < n_own:
        topic = climb(path(problem.bottom[own[0]]), 0.3)
        misses = 0
        place = draw_place(problem.cumulative, problem.first[topic], problem.last[topic], draw())
        while place in own:
            misses += problem.parent[topic] < 0
            if misses > 32:
                place = next(p % n_places for p in range(place, place + n_places) if p % n_places not in own)
                break
            topic = max(problem.parent[topic], 0)
            place = draw_place(problem.cumulative, problem.first[topic], problem.last[topic], draw())
        own.append(place)

    def word():
        if draw() < problem.feature_noise:
            return zipf(problem.words, draw())
        place = own[int(draw() * n_own)]
        # Vocabularies: those of the topics, then those of the labels. The topic of all labels says nothing.
        speaker = climb([len(problem.parent) + place, *path(problem.bottom[place])[:-1]], 0.5)
        number = zipf(problem.vocabulary, draw())
        state = (stream(problem.vocabulary_seed, int(speaker)) + number * GOLDEN) & MASK
        return zipf(problem.words, (_scramble(state) >> 11) / 2**53)

    counts = {}
    for _ in range(4 * n_features):
        if len(counts) < n_features:
            f = int(problem.feature_ids[word()])
            counts[f] = counts.get(f, 0) + 1
    while len(counts) < n_features:
        f = int(problem.feature_ids[zipf(problem.words, draw())])
        while f in counts:
            f = (f + 1) % len(problem.feature_ids)
        counts[f] = 1
    values = {f: (1 + math.log(counts[f])) * float(problem.idf[f]) for f in sorted(counts)}
    length = math.sqrt(sum(value**2 for value in values.values()))

    said, taken = list(own), set(own)
    for c in range(n_own):
        if draw() < problem.label_noise:
            for _ in range(32):
                place = draw_place(problem.cumulative, 0, n_places, draw())
                if place not in taken:
                    taken.add(place)
                    said[c] = place
                    break
    return sorted(int(problem.label_ids[p]) for p in said), {f: value / length for f, value in values.items()}
