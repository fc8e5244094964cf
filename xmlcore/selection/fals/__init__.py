"""FALS: features selected for each label by the gradients of a small network.

The steps are: train the network (:mod:`.network`, :mod:`.training`); compute the scores of all features for all labels
in the cheapest order of computation (:mod:`.orders` has the costs; :mod:`.exact`, :mod:`.sampled` and :mod:`.present`
compute scores); select the best features of each label (:mod:`.selecting`). :mod:`.label_networks` trains a network for
each label, and computes scores from these networks.
"""

from xmlcore.selection.fals.estimator import FALS

__all__ = ["FALS"]
