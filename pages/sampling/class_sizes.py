"""What is drawn at random: training rows of each class, and the copies of its examples from which f was learned."""

from pages.shared import format
from pages.shared.figures import charts
from xmlcore import figures
from xmlcore.explain import candidates


def class_sizes(view) -> None:
    sizes = candidates.class_sizes(view.model, view.data)
    figure = figures.sampled_classes(sizes)
    meta = figure.layout.meta
    parts = [
        f"{view.n_copies:,} copies of {format.count(view.n_examples, 'example')}"
        + (f" and of {format.count(view.n_noisy, 'noisy copy', 'noisy copies')}" if view.n_noisy else ""),
        f"{view.examples:g} drawn {'of each label' if view.balanced else 'per label'} on average",
    ]
    if view.near:
        parts.append("those whose own label is no candidate left out")
    elif view.run.params.get("leave_one_out"):
        parts.append("labels of one row left out")
    if meta["without_copies"]:
        parts.append(f"{meta['without_copies']:,} of {meta['total']:,} labels without a copy")
    if meta["without_rows"]:
        parts.append(f"{format.count(meta['without_rows'], 'label')} without training rows not drawn")
    if meta["shown"] < meta["total"]:
        parts.append(f"{meta['shown']:,} of {meta['total']:,} labels are points, the CSV has all")
    text = "; ".join(parts) + "."
    charts.show_figure(figure, sizes, f"{view.files}-label-sizes", text, key="sampling.class_sizes")
