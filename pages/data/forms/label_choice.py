"""What the upload form says of the chosen file, and which of its columns are labels."""

import streamlit as st

from pages.shared import format, looking
from xmlcore.datasets.readers.looks import Look, look

LAST, FIRST, NAMED, LISTED, SAID = "last", "first", "named", "listed", "said"
TITLES = {
    SAID: "as the file says",
    LAST: "the last columns",
    FIRST: "the first columns",
    NAMED: "columns that I name",
    LISTED: "one column that lists them",
}
MOST_NAMES = 5000  # columns offered by name at most: the browser gets the whole list


def look_at(file):
    """Return what the beginning of a chosen file says, or the message of an error; None without a file."""
    if file is None:
        return None
    try:
        return looking.look("rows", look, file)[0]
    except (ValueError, OSError) as error:
        return error


def relation(file) -> str:
    """Return what a chosen ARFF file calls its data; empty if that says nothing, or for other files."""
    return getattr(look_at(file), "relation", "")


def describe_file(beginning, file, has_label_file: bool) -> None:
    name = format.plain(file.name)
    if not isinstance(beginning, Look):
        return  # the message comes when the files are read
    if beginning.inside:
        parts = {
            "train": "training rows",
            "test": "test rows",
            "labels": "labels",
            "test_labels": "labels of the test rows",
        }
        if "train_rows" in beginning.inside:
            parts = {"train": "all rows", "train_rows": "training row numbers", "test_rows": "test row numbers"}
        named = {words: beginning.inside[role] for role, words in parts.items() if role in beginning.inside}
        shown = [f"{words} from {format.plain(inside)}" for words, inside in named.items()]
        st.caption(f"{name} is an archive: {', '.join(shown)}.")
        name = format.plain(beginning.inside["train"])
        has_label_file |= "labels" in beginning.inside
    if beginning.format == "xmlc" and len(beginning.sizes) == 3:
        rows, features, labels = beginning.sizes
        text = f"XMLC text. Its header promises {rows:,} rows, {features:,} features and {labels:,} labels."
    elif beginning.format == "xmlc":
        text = f"XMLC text with features alone: {beginning.sizes[0]:,} rows, {beginning.sizes[1]:,} features."
        text += "" if has_label_file else " Choose the file with the labels at “Label file”."
    elif beginning.format == "svmlight":
        text = "svmlight text, without a header. The largest ids say how many features and labels there are."
    elif beginning.format == "npz":
        text = "a NumPy archive (npz)."
        text += (
            "" if has_label_file else " If it holds features alone, choose the file with the labels at “Label file”."
        )
    elif beginning.format == "csv":
        text = f"a table of {format.count(len(beginning.columns), 'column')}."
    elif beginning.format != "arff":
        text = f"a file in the format {beginning.format}."
    elif beginning.columns is None:
        text = "an ARFF file."
    else:
        text = f"an ARFF file with {format.count(len(beginning.columns), 'attribute')}."
        if beginning.n_said:
            place = "first" if beginning.n_said > 0 else "last"
            text += f" Its relation says that the {place} {abs(beginning.n_said):,} are labels."
        elif not has_label_file:
            text += " If a Mulan XML file names its labels, choose that at “Label file”."
    st.caption(f"{name} is {text}")


def choose(beginning, key: str):
    """Show the fields that say which columns are labels, and return the argument ``labels`` of ``read_dataset``."""
    noun = "attributes" if beginning.format == "arff" else "columns"
    options = [SAID] * bool(beginning.n_said) + [LAST, FIRST]
    if beginning.columns and len(beginning.columns) <= MOST_NAMES:
        options += [NAMED] + [LISTED] * (beginning.format == "csv")
    first = SAID if beginning.n_said else LISTED if beginning.listing else None  # None: the user must say it
    if beginning.n_likely and not beginning.n_said:
        first = FIRST if beginning.n_likely > 0 else LAST
    left, right = st.columns(2)
    with left:
        how = st.selectbox(
            "Labels are",
            options,
            index=options.index(first) if first in options else None,
            placeholder="Choose how to name the labels",
            format_func=lambda option: TITLES[option].replace("columns", noun),
            key=f"{key}.how",
            help="A label file, if you choose one below, comes before this.",
        )
    with right:
        return _which(beginning, how, noun, key)


def _which(beginning, how, noun, key):
    """Show the field that belongs to a way of naming labels; return the argument ``labels``."""
    if how in (LAST, FIRST):
        most = max(1, len(beginning.columns) - 1) if beginning.columns else None
        likely = abs(beginning.n_likely) if (beginning.n_likely < 0) == (how == LAST) else 0
        count = st.number_input(
            f"How many {noun}",
            min_value=1,
            max_value=most,
            value=min(max(1, likely), most or max(1, likely)),
            step=1,
            key=f"{key}.count.{how}",
            help=f"The {how} {likely:,} hold nothing but 0 and 1 in the first rows." if likely else None,
        )
        return -count if how == LAST else count
    if how == NAMED:
        near = (
            beginning.columns[beginning.n_likely :]
            if beginning.n_likely < 0
            else beginning.columns[: beginning.n_likely]
        )
        names = st.multiselect("Names", dict.fromkeys(beginning.columns), near, key=f"{key}.names")
        return names or None
    if how == LISTED:
        columns = list(dict.fromkeys(beginning.columns))
        index = columns.index(beginning.listing) if beginning.listing else len(columns) - 1
        return st.selectbox(
            "Column",
            columns,
            index=index,
            key=f"{key}.column",
            help="Each cell lists the labels of its row, such as a; b or [“a”, “b”].",
        )
    return None
