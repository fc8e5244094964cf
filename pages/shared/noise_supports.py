"""Which features of a row get Gaussian noise, in the words of the form for training with noise."""

from xmlcore.experiment.catalog import NOISE

_SUPPORT = next(parameter for parameter in NOISE if parameter.name == "noise_support")
SUPPORTS = dict(zip(_SUPPORT.options, _SUPPORT.option_names))
