"""From scores to decisions: the best labels for a measure, calibrated probabilities, promises, rows for people.

``rule = learn(model, X, Y, "macro F1@3")`` learns from held-out rows; ``rule.predict(X)`` decides for new rows, and
``rule.keep()`` makes it the decision of the model, which is saved with it.
"""

from xmlcore.decisions.backing_off import Entry, back_off
from xmlcore.decisions.calibrating import abstention, calibrate
from xmlcore.decisions.learning import best_sets, cuts, learn
from xmlcore.decisions.promises import promise
from xmlcore.models.rules import Calibration, Drift, Rule, rule_of

__all__ = [
    "Calibration", "Drift", "Entry", "Rule", "abstention", "back_off", "best_sets", "calibrate", "cuts", "learn",
    "promise", "rule_of",
]  # fmt: skip
