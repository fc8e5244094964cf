"""The form for synthetic data sets on the Data page."""

import streamlit as st

from pages.data.forms import form
from pages.shared import format
from pages.shared.workspaces import workspace
from xmlcore import experiment
from xmlcore.datasets import SYNTHETIC_SHAPES

SHAPES = {
    "small": "Small",
    "bibtex": "Like Bibtex",
    "mediamill": "Like Mediamill",
    "delicious": "Like Delicious",
    "eurlex-4k": "Like EUR-Lex 4K",
    "wiki10-31k": "Like Wiki10-31K",
    "amazoncat-13k": "Like AmazonCat-13K",
    "amazon-670k": "Like Amazon-670K",
}
SHARES = (1, 2, 5, 10, 20, 50, 100)  # percent of the rows and labels
FIRST, FIRST_SHARE = "eurlex-4k", 10


def _fields() -> form.Request:
    st.caption(
        "Rows are drawn at random. The sizes, and how rare the labels are, are those of a well-known data set; labels "
        "belong to topics, so that they can be learned. Results are not those of that data set."
    )
    left, right = st.columns(2)
    with left:
        shape = st.selectbox(
            "Sizes",
            list(SHAPES),
            format_func=SHAPES.get,
            **workspace.keep("made.shape", FIRST, options=list(SHAPES)),
        )
        noise = st.slider(
            "Noise: words that say nothing about the labels, %",
            0,
            100,
            step=5,
            **workspace.keep("made.noise", 30, lambda v: isinstance(v, int) and 0 <= v <= 100),
            help="The share of a row's features that are drawn whatever its labels are. At 100\u00a0% only the "
            "frequencies of labels can be learned.",
        )
    with right:
        share = st.select_slider(
            "Size, % of its rows and labels",
            SHARES,
            **workspace.keep("made.share", FIRST_SHARE, SHARES.__contains__),
            help="Rows and labels are multiplied by this. The number of features stays.",
        )
        own = float(SYNTHETIC_SHAPES[shape]["label_exponent"])
        tail = st.slider(
            "Tail: how much rarer the rare labels are",
            0.0,
            2.0,
            step=0.05,
            **workspace.keep(f"made.tail.{shape}", own, lambda v: isinstance(v, float | int) and 0 <= v <= 2),
            help="The label at rank r is drawn with a probability proportional to r to the power of minus this number. "
            f"At 0 all labels are equally frequent; {SHAPES[shape].removeprefix('Like ')} has about {own:g}.",
        )
    label_noise, seed = _more()
    params = {"shape": shape} | experiment.scaled(shape, share / 100)
    params |= {
        "label_exponent": tail,
        "feature_noise": noise / 100,
        "label_noise": label_noise / 100,
        "random_state": seed,
    }
    task = experiment.task("synthetic", {}, params)
    sizes = task.params
    rows = f"{sizes['n_train']:,} training and {sizes['n_test']:,} test rows"
    wide = f"{format.count(sizes['n_features'], 'feature')} and {format.count(sizes['n_labels'], 'label')}"
    st.markdown(f"This makes **{rows}**, {wide}.")
    return form.Request(task)


def _more() -> tuple[float, int]:
    """Show the settings that few users change, and return the share of wrong labels in percent, and the seed."""
    with st.popover("More settings", icon=":material/tune:", width="content"):
        label_noise = st.number_input(
            "Wrong labels, %",
            min_value=0,
            max_value=100,
            step=5,
            **workspace.keep("made.label_noise", 10, lambda v: isinstance(v, int) and 0 <= v <= 100),
            help="The share of labels that are replaced by any other label after the features are drawn.",
        )
        seed = st.number_input(
            "Seed",
            min_value=0,
            max_value=2**31 - 1,
            step=1,
            **workspace.keep("made.seed", 0, lambda v: isinstance(v, int) and 0 <= v < 2**31),
            help="The same seed and settings make the same data.",
        )
    return label_noise, seed


FORM = form.Form("made", "synthetic", "Make the data set", "The data set could not be made:", _fields)
