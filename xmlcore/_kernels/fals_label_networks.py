"""FALSb: train a small network for one label."""

from typing import NamedTuple

import numpy as np

from xmlcore._kernels import rng
from xmlcore._kernels._jit import kernel
from xmlcore._kernels.fals_training import by_feature, catch_up, dense_step, first_layer, sparse_step


class Schedule(NamedTuple):
    """The step sizes of Adam."""

    rates: np.ndarray  # float64 (steps,)
    tail: np.ndarray  # float64 (steps + 1,), see catch_up


class Options(NamedTuple):
    """The settings by which a network is trained."""

    l2: float  # weight decay: this times a weight is added to the weight's gradient
    dropout: float  # probability that a hidden unit is set to 0
    relu: bool  # whether hidden units are ReLU; otherwise they are sigmoid


class LabelNetwork(NamedTuple):
    """A network with one output; all arrays are float32 or all float64."""

    into: np.ndarray  # (D, H), weights before the hidden units
    bias: np.ndarray  # (H,), of the hidden units
    out_of: np.ndarray  # (H,), weights after the hidden units
    output_bias: np.ndarray  # (1,)


@kernel
def train_binary(x, order, batch_size, member, schedule, options, state, network):
    """Train a network with one output, in place, by the same steps as a network of all labels."""
    (ptr, columns, values), (into, bias, out_of, output_bias) = x, network
    rates, tail, l2 = schedule.rates, schedule.tail, options.l2
    D, H = into.shape
    kind = into.dtype.type
    m_into, v_into = np.zeros_like(into), np.zeros_like(into)
    small = np.zeros((3, 2 * H + 1), into.dtype)  # gradient and both moments of bias, out_of and output_bias
    rest = np.empty((1, 2 * H + 1), into.dtype)  # bias, out_of and output_bias
    done, place = np.zeros(D, np.int32), np.zeros(D, np.int32)
    everything = np.arange(D).astype(np.int32)
    hidden = np.empty((batch_size, H), into.dtype)
    step, n_rows = 0, order.shape[1]
    for epoch in range(order.shape[0]):
        for start in range(0, n_rows, batch_size):
            rows = order[epoch, start : start + batch_size]
            features, feature_ptr, entry_rows, entry_values = by_feature(ptr, columns, values, rows, place)
            if l2 > 0:
                features, feature_ptr = with_absent(features, feature_ptr, D)
            catch_up(features, done, step, tail, into, m_into, v_into, 0, H)
            first_layer(ptr, columns, values, rows, into, bias, 0, H, hidden)
            small[0] = 0
            state = gradients(hidden, rows, member, options, state, out_of, output_bias, small[0])
            sparse_step(
                features, feature_ptr, entry_rows, entry_values, hidden, rates[step], l2, into, m_into, v_into, 0, H
            )
            for feature in features:
                done[feature] = step + 1
            rest[0, :H], rest[0, H : 2 * H], rest[0, 2 * H] = bias, out_of, output_bias[0]
            for h in range(H):
                small[0, H + h] += kind(l2) * out_of[h]
            dense_step(small[:1], rates[step], 0.0, rest, small[1:2], small[2:])
            bias[:], out_of[:], output_bias[0] = rest[0, :H], rest[0, H : 2 * H], rest[0, 2 * H]
            step += 1
    catch_up(everything, done, step, tail, into, m_into, v_into, 0, H)


@kernel
def with_absent(features, feature_ptr, n_features):
    """Extend a list of entries by feature by the features without an entry, which weight decay changes as well."""
    n_present, n_entries = features.size, feature_ptr[-1]
    seen = np.zeros(n_features, np.bool_)
    for feature in features:
        seen[feature] = True
    extended, ends = np.empty(n_features, np.int32), np.full(n_features + 1, n_entries)
    extended[:n_present], ends[: n_present + 1] = features, feature_ptr
    at = n_present
    for feature in range(n_features):
        if not seen[feature]:
            extended[at] = feature
            at += 1
    return extended, ends


@kernel
def gradients(hidden, rows, member, options, state, out_of, output_bias, small):
    """Compute the gradients of one batch of B rows, for H hidden units, and add or write them in place."""
    _, dropout, relu = options
    H = out_of.size
    kind = small.dtype.type
    grow = kind(1.0 / (1.0 - dropout))
    for b in range(rows.size):
        values_of_row = hidden[b]
        margin = output_bias[0]
        for h in range(H):
            value = values_of_row[h]
            value = max(value, kind(0)) if relu else kind(1) / (kind(1) + np.exp(-value))
            if dropout > 0:
                state, chance = rng.uniform(state)
                value = value * grow if chance >= dropout else kind(0)
            values_of_row[h] = value
            margin += value * out_of[h]
        delta = kind(1) / (kind(1) + np.exp(-margin)) - kind(member[rows[b]])
        delta /= kind(rows.size)
        small[2 * H] += delta
        for h in range(H):
            value = values_of_row[h]
            small[H + h] += delta * value
            rise = (grow if value > 0 else kind(0)) if relu else value * (kind(1) - value / grow)
            values_of_row[h] = delta * out_of[h] * rise
            small[h] += values_of_row[h]
    return state
