"""The description of a parameter: its words, its check, its docstring and its form."""

import dataclasses

import numpy as np
import pytest

from xmlcore import LabelTree
from xmlcore.parameters import Parameter, in_form

SIZE = Parameter("size", "Size", "Larger is slower.", "int", 3, minimum=1, maximum=9, offered=(2, 4), step=1)
BEAM = Parameter("beam", "Beam", "Empty is exact. Off is off.", "int", None, minimum=1, optional=True, others=(-1,))
SHARE = Parameter(
    "share", "Share", "How much.", "float", 0.5, minimum=0.0, maximum=1.0, above_minimum=True, below_maximum=True
)
NORM = Parameter("norm", "Norm", "Which.", "choice", 2, options=(2, "inf"))
TREE = Parameter("tree", "Tree", "Which.", "choice", "a", options=("a", "b"), also=("LabelTree",), in_form=False)
WEIGHT = Parameter("weight", "Weight", "How much.", "float", "auto", minimum=0.0, others=("auto",))
DEPTH = Parameter("depth", "Depth", "How deep.", "int", 3, minimum=1, optional=True, others=("auto",))
FLAG = Parameter("flag", "Flag", "Off: nothing.", "bool", False)


def test_types_and_bounds_are_stated_in_words():
    assert SIZE.type_text == "int in [1, 9]"
    assert BEAM.type_text == "int, at least 1, or -1 or None"
    assert SHARE.type_text == "float in (0, 1)"
    assert TREE.type_text == '{"a", "b"}, or LabelTree'
    assert BEAM.doc.splitlines()[1].strip() == "None is exact. Off is off."
    assert FLAG.doc == "flag : bool, default False\n    False: nothing."
    big = dataclasses.replace(SIZE, maximum=2**31 - 1)
    assert big.type_text == "int, at least 1"


def test_messages_say_what_is_allowed():
    for parameter, value, message in (
        (SIZE, 0, "size must be from 1 to 9, not 0"),
        (BEAM, 0, "beam must be at least 1, not 0"),
        (SHARE, 1.0, "share must be above 0 and below 1, not 1.0"),
        (TREE, "c", "tree must be one of a, b, a LabelTree, not 'c'"),
        (NORM, 3, "norm must be one of 2, inf, not 3"),
        (FLAG, 1, "flag must be True or False, not 1"),
        (WEIGHT, "Auto", "weight must be a finite number or \"auto\", not 'Auto'"),
        (DEPTH, "deep", "depth must be a whole number, \"auto\" or None, not 'deep'"),
    ):
        with pytest.raises((TypeError, ValueError)) as caught:
            parameter.check(value)
        assert str(caught.value) == message
    for parameter, value in ((BEAM, -1), (BEAM, None), (TREE, LabelTree.from_nested([0, 1])), (SIZE, np.int32(9))):
        parameter.check(value)
    assert [NORM.check(value) for value in (2, np.int64(2), 2.0, "inf", np.inf)] == [2, 2, 2, "inf", "inf"]
    for value in ("auto", np.array(["auto", "x"])[0]):
        WEIGHT.check(value)


def test_a_form_gets_what_it_offers():
    size, beam, share, flag = in_form((SIZE, BEAM, SHARE, TREE, FLAG))
    assert (size.minimum, size.maximum) == (2, 4) and (flag.kind, flag.default) == ("bool", False)
    assert beam.optional and beam.others == () and share.above_minimum
    assert not in_form((dataclasses.replace(BEAM, empty=""),))[0].optional


def test_options_are_called_by_their_names_in_texts_for_users():
    help = "plt: the most probable ones. near: the others, in the order of plt: see there."
    one = Parameter("from_", "From", help, "choice", "plt", options=("plt", "near"), option_names=("a tree", "nearest"))
    assert [one.named(option) for option in ("plt", "near", "other", None)] == ["a tree", "nearest", "other", "None"]
    assert one.form_help.startswith("**a tree**: the most probable ones. **nearest**: the others, in")
    assert dataclasses.replace(one, option_names=()).form_help.startswith("**plt**: the most")
    other = dataclasses.replace(one, help=help + " Empty: none of them.", optional=True, empty="nothing")
    assert other.named(None) == "nothing" and other.form_help.endswith("**nothing**: none of them.")
    assert " None: none of them." in other.doc


def test_every_option_of_a_form_has_a_name_that_is_no_code():
    from xmlcore.experiment import MODELS, SELECTORS

    for info in (MODELS | SELECTORS).values():
        for one in (p for p in info.parameters if p.kind == "choice"):
            names = [one.named(option) for option in one.options]
            assert len(set(names)) == len(one.options) and len(one.option_names) in (0, len(one.options))
            assert not any("_" in name or name in ("auto", "tfidf", "kmeans", "plt", "nag", "idf") for name in names)
