"""Further columns of the table, chosen by the user."""

from pages.shared import fields
from xmlcore import experiment, metrics

DIFFERING, EVERY, MEMORY, TRAINED = "Settings that differ", "All settings", "Memory", "Time of training"
TIMES = "Both training times"  # of the processor and by the clock
SHOWN = ("P@1", "P@3", "P@5", "nDCG@5", "PSP@1", "PSP@5")  # measures that every result has
COLUMNS = (DIFFERING, EVERY, TIMES, MEMORY, TRAINED, *SHOWN, *experiment.DECIDED, *experiment.MORE_MEASURES)
OF_DECISION = (
    "Of the labels that predict returns for test rows: by the decision that is kept on Predict, which the column "
    "Decision then names, else by the one that the model had after training. Older results lack it."
)


def choose() -> tuple[str, ...]:
    chosen = fields.several(
        "More columns",
        COLUMNS,
        "compare.more",
        [],
        placeholder="none",
        help="Further measures are lines of the measures side by side, too.  \n"
        + "  \n".join(f"**{name}**: {metrics.MEASURES[name].explained}." for name in names(COLUMNS))
        + f"  \n**{', '.join(experiment.DECIDED)}**: {OF_DECISION}",
    )
    return tuple(column for column in COLUMNS if column in chosen)


def measures(columns) -> list[str]:
    """Return the further measures among chosen columns."""
    return [column for column in columns if column in experiment.MORE_MEASURES]


def names(columns) -> list[str]:
    """Return the names of further measures of which some k was chosen: ``["macro F1@k"]`` for ``["macro F1@5"]``."""
    return list(dict.fromkeys(f"{measure.rpartition('@')[0]}@k" for measure in measures(columns)))
