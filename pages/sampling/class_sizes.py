"""The training rows of each class, and the copies of its examples from which f was learned."""

from pages.shared import format
from pages.shared.figures import charts
from xmlcore import figures
from xmlcore.explain import candidates


def class_sizes(view) -> None:
    sizes = candidates.class_sizes(view.model, view.data)
    figure = figures.sampled_classes(sizes)
    meta, drawn = figure.layout.meta, "of each label" if view.balanced else "per label"
    charts.show_figure(
        figure,
        sizes,
        f"{view.files}-label-sizes",
        f"{view.n_copies:,} copies of {format.count(view.n_examples, 'example')}; {view.examples:g} drawn {drawn} on "
        f"average. {meta['shown']:,} of {meta['total']:,} labels are points, the CSV has all.",
        key="sampling.class_sizes",
    )
