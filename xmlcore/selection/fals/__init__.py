"""FALS: features selected for each label by the gradients of a small network.

Training (:mod:`.network`, :mod:`.training`), then scores of all features for all labels in the cheapest order of
computation (:mod:`.orders` says what each costs; :mod:`.exact`, :mod:`.sampled` and :mod:`.present` compute them), then
the best features of each label (:mod:`.selecting`). :mod:`.label_networks` does both with one network for each label.
"""

from xmlcore.selection.fals.estimator import FALS

__all__ = ["FALS"]
