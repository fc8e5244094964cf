"""Every kind of perturbation, described once: its class, levels, options, what it needs of a model, and its words.

Evaluation, training with noise, tasks, figures and the Robustness page read :data:`KINDS`.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace

from xmlcore.models.plt.parameters import NOISE_PARAMETERS
from xmlcore.noise import LARGEST_SIGMA, GaussianNoise, WordNoise
from xmlcore.parameters import Parameter
from xmlcore.robustness.attacks import FGSM, PGD
from xmlcore.validation import check_known, check_number
from xmlcore.wording import listed

GRADIENT, REFERENCE, CERTIFICATE = "gradient", "reference", "certificate"
CERTIFIED = "certified"  # measure: share of rows whose first label no change of a size can alter
WAYS = {"drop": "dropped", "swap": "swapped", "insert": "inserted"}
NORMS = {"2": "L2", "inf": "L∞"}


@dataclass(frozen=True)
class PerturbationKind:
    """A kind of perturbation."""

    cls: type | None  # class of the perturbation; None for certificates, which change no row
    title: str  # in a list
    text: str  # within a sentence
    about: str  # what it does, in a sentence or two
    axis: str  # title of an axis of levels; ``{norm}`` stands for that of an attack
    level: str  # a level after "at": ``{0:g}`` is the level, ``{1:g}`` the level in percent
    of_level: str  # a level after the text; empty if the level says it all
    needs: str  # GRADIENT, REFERENCE, CERTIFICATE, or nothing
    options: tuple[Parameter, ...]  # those that forms offer and that parameters of tasks always have
    in_words: Callable[[dict], str]  # options to words that follow the text and the level
    repeats: int  # how often it is measured at first; 0 where nothing is random
    most: float = LARGEST_SIGMA  # largest level
    default_size: str = "value"  # what default levels are a share of: "value" or "length" of rows, or nothing
    makes_negative: bool = True
    steps: int = 0
    switches: str = ""  # title of the options that are on or off, in a form

    @property
    def is_attack(self) -> bool:
        return self.needs == GRADIENT

    def fault(self, level: float) -> str:
        """Return why a level is invalid; empty if it is valid."""
        if 0 <= level <= self.most:
            return ""
        return f"{level:g} is no level of {self.text}: levels are from 0 to {self.most:g}"

    def at(self, level: float) -> str:
        """Return the perturbation with a level, within a sentence: ``the FGSM attack of ε = 0.1``."""
        return self.text + self.of_level.format(level) if self.of_level else self.level.format(level, 100 * level)

    def fills(self, options: dict) -> bool:
        """Return whether changed rows have a value of every feature."""
        return self.cls is GaussianNoise and options.get("support", "all") == "all"


def _where(options):
    return " on all features" if options.get("support", "all") == "all" else " on present features"


def _attack_in_words(options):
    only = "" if options.get("support", "all") == "all" else ", present features only"
    return f" ({NORMS[str(options.get('norm', 2))]}{only})"


def _ways_in_words(options):
    ways = [text for name, text in WAYS.items() if options.get(name, True)]
    return f" ({'each ' * (len(ways) > 1)}{', '.join(ways)})"


_SUPPORT = replace(
    NOISE_PARAMETERS[2],
    name="support",
    label="Features that are changed",
    help="A row usually has only few of all features. Noise on all features gives small values to all others.",
    in_form=True,
)
NORM = Parameter(
    "norm", "Size measured as", "How the size of a change is measured.", "choice", 2, options=(2, "inf"),
    option_names=("L2, length of the change", "L∞, largest change of a feature"),
)  # fmt: skip
_OF_ATTACKS = (NORM, replace(_SUPPORT, option_names=("all features", "present features only")))
_WAYS = tuple(Parameter(name, text, f"Whether words are {text}.", "bool", True) for name, text in WAYS.items())
_RANDOM_START = Parameter(
    "random_start", "Random start", "On where an attack is repeated.", "bool", False, in_form=False
)

_SIZE = "Size of the change, ε ({norm})"
KINDS = {
    "gaussian": PerturbationKind(
        GaussianNoise, "Gaussian noise", "Gaussian noise",
        "Adds N(0, σ²) to the feature values of test rows before they are predicted, as the paper (Date and Mehar, "
        "2025) does. The model was trained without this noise.",
        "Noise, standard deviation σ", "σ = {0:g}", " of σ = {0:g}", "", (_SUPPORT,), _where, repeats=3,
    ),
    "words": PerturbationKind(
        WordNoise, "Changed words", "changed words",
        "A share of a row’s features is dropped, as many are swapped for others, and as many are inserted, drawn as "
        "often as the training rows have them.",
        "Share of words changed", "{1:g}\u00a0% of words changed", "", REFERENCE, _WAYS,
        _ways_in_words, repeats=3, most=1.0, default_size="", makes_negative=False, switches="Words are",
    ),
    "fgsm": PerturbationKind(
        FGSM, "FGSM attack", "the FGSM attack",
        "Fast gradient sign method (Goodfellow et al., ICLR 2015): one step of size ε along the gradient that raises "
        "the best wrong label over the best true label.",
        _SIZE, "ε = {0:g}", " of ε = {0:g}", GRADIENT, _OF_ATTACKS, _attack_in_words, repeats=0, steps=1,
    ),
    "pgd": PerturbationKind(
        PGD, "PGD attack", "the PGD attack",
        "Projected gradient descent (Madry et al., ICLR 2018): many small steps of an attack within ε; stronger than "
        "FGSM, and slower.",
        _SIZE, "ε = {0:g}", " of ε = {0:g}", GRADIENT, (*_OF_ATTACKS, _RANDOM_START),
        _attack_in_words, repeats=1, steps=21,
    ),
    CERTIFICATE: PerturbationKind(
        None, "Certificate", "any change",
        "The share of rows whose first label no change of this length can alter: proved, for every attack. "
        "For a PLT of one tree with exact search.",
        _SIZE, "ε = {0:g}", " of length ε = {0:g}", CERTIFICATE, (), lambda options: "", repeats=0,
        default_size="length", makes_negative=False,
    ),
}  # fmt: skip
CHANGES = tuple(kind for kind, row in KINDS.items() if row.cls is not None)  # those that change rows
ATTACKS = tuple(kind for kind, row in KINDS.items() if row.is_attack)


def perturbation(kind: str, level: float, **options: object) -> GaussianNoise | WordNoise | FGSM | PGD:
    """Make the perturbation of a kind of :data:`KINDS`: "gaussian", "words", "fgsm" or "pgd".

    ``level`` says how strong it is: sigma of "gaussian", rate of "words", epsilon of an attack. 0 leaves rows as they
    are. ``options`` are the other arguments of its class.
    """
    check_options(kind, options)
    cls = KINDS[kind].cls
    if cls is None:
        raise ValueError(f"{kind!r:.200} changes no rows: those that do are {', '.join(CHANGES)}")
    return cls(check_number(level, "level"), **options)


def check_options(kind: str, options: dict):
    """Raise ValueError if a kind of perturbation is unknown, or has no option of a name; values are not checked."""
    known = option_defaults(kind)
    unknown = set(options) - set(known)
    if unknown:
        raise ValueError(
            f"{kind!r:.200} has no option {listed(map(repr, sorted(unknown)))}: it has {', '.join(known) or 'none'}"
        )


def option_defaults(kind: str) -> dict:
    """Return the arguments that a kind of perturbation takes beside its level, with their defaults."""
    cls = check_known(KINDS, kind, "perturbation").cls
    return {} if cls is None else {f.name: f.default for f in fields(cls)[1:] if f.init}
