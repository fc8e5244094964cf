"""Parallel coordinates: a line for each setting, through its values and its measure."""

from pages.shared import format
from pages.shared.figures import charts
from xmlcore import figures


def draw(settings: tuple, title: str, file_name: str, key: str, of: list | None = None) -> None:
    """Draw settings of a model, as :func:`xmlcore.experiment.side_by_side.settings_of_models` returns them."""
    frame, labels = settings
    measure = frame.columns[-1]
    figure = figures.parameters_compared(frame, labels, measure, title)
    cut = [label for label, axis in zip(labels.values(), figure.data[0].dimensions) if "…" in axis.label]
    charts.show_figure(
        figure,
        frame,
        file_name,
        f"Each line is one setting: orange lines are the best in {measure}, blue ones the worst. Draw along an axis to "
        "keep only the lines through that part; a click on the axis brings all back."
        + (f" In full, names above the axes are: {format.listed(cut)}." if cut else ""),
        key=f"wide.{key}",
        of=of,
    )
