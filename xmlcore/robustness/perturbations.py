"""All kinds of perturbation, by name: two kinds of noise and two kinds of attack."""

from dataclasses import fields

from xmlcore.noise import GaussianNoise, WordNoise
from xmlcore.robustness.attacks import FGSM, PGD

_CLASSES = {cls.name: cls for cls in (GaussianNoise, WordNoise, FGSM, PGD)}
KINDS = tuple(_CLASSES)
ATTACKS = (FGSM.name, PGD.name)


def perturbation(kind: str, level: float, **options: object) -> GaussianNoise | WordNoise | FGSM | PGD:
    """Make a perturbation of the named kind.

    Parameters
    ----------
    kind : {"gaussian", "words", "fgsm", "pgd"}
        :class:`GaussianNoise`, :class:`WordNoise`, :class:`~xmlcore.robustness.FGSM` or
        :class:`~xmlcore.robustness.PGD`.
    level : float
        How strong it is: sigma of "gaussian", rate of "words", epsilon of an attack. 0 leaves rows as they are.
    **options
        The other arguments of the class.

    Returns
    -------
    GaussianNoise, WordNoise, FGSM or PGD
        It has ``.apply(X, rows, seed, *, model, Y, n_jobs)``, ``.level`` and ``.name``.

    Raises
    ------
    ValueError
        The kind is unknown, the class has no such option, or the class refuses a value.
    """
    check_options(kind, options)
    return perturbation_class(kind)(level, **options)


def check_options(kind: str, options: dict):
    """Raise ValueError if a kind of perturbation is unknown, or has no option of a name; values are not looked at."""
    known = option_defaults(kind)
    unknown = set(options) - set(known)
    if unknown:
        raise ValueError(
            f"{kind!r} has no option {', '.join(map(repr, sorted(unknown)))}: it has {', '.join(known) or 'none'}"
        )


def perturbation_class(kind: str) -> type:
    """Return the class of a kind of perturbation; raise ValueError for an unknown kind."""
    if not isinstance(kind, str) or kind not in KINDS:
        raise ValueError(f"unknown perturbation {kind!r}: known are {', '.join(KINDS)}")
    return _CLASSES[kind]


def option_defaults(kind: str) -> dict:
    """Return the arguments that a kind of perturbation takes beside its level, with their defaults."""
    return {f.name: f.default for f in fields(perturbation_class(kind))[1:] if f.init}
