"""Further measures as columns of the table, chosen by the user."""

from pages.shared import fields
from xmlcore import experiment, metrics


def choose() -> tuple[str, ...]:
    known = experiment.MORE_MEASURES
    chosen = fields.several(
        "More measures",
        known,
        "compare.more",
        [],
        placeholder="none",
        width=170,
        help="Columns of the table, and lines of the measures side by side.  \n"
        + "  \n".join(f"**{name}**: {metrics.MEASURES[name].explained}." for name in names(known)),
    )
    return tuple(measure for measure in known if measure in chosen)


def names(chosen) -> list[str]:
    """Return the names of measures of which some k was chosen: ``["macro F1@k"]`` for ``["macro F1@5"]``."""
    return list(dict.fromkeys(f"{measure.rpartition('@')[0]}@k" for measure in chosen))
