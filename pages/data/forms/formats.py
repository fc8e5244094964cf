"""The formats of files that can be uploaded, with examples."""

import tempfile
from pathlib import Path

import streamlit as st

from pages.shared import cached
from pages.shared.figures import charts
from xmlcore import datasets
from xmlcore.experiment.kinds.export import FORMATS as WRITTEN

SAMPLE_ROWS = 200
FORMATS = {
    "XMLC text, as in the Extreme Classification Repository": (
        "A header with the numbers of rows, features and labels. Then a line per row: label ids, and pairs of a "
        "feature id and a value. Ids start at 0.",
        "3 6 4\n0,2 1:0.5 4:2\n3 0:1 5:0.25",
    ),
    "XMLC text in two files": (
        "Features alone, and at *Label file* the labels. A header has the numbers of rows and of features, or labels.",
        "3 6          3 4\n1:0.5 4:2    0:1 2:1\n0:1 5:0.25   3:1",
    ),
    "svmlight, LIBSVM multi-label": (
        "The lines of XMLC text without a header. In most LIBSVM files, ids start at 1: choose that below.",
        "1,3 2:0.5 5:2\n4 1:1 6:0.25\n2 3:1",
    ),
    "ARFF of Mulan, MEKA and Weka, dense or sparse": (
        "Labels are named by a Mulan XML file at *Label file*, by MEKA's `-C` in the relation, or at *Labels are*.",
        "@relation 'fruit: -C -1'\n@attribute width numeric\n@attribute sweet {0,1}\n@data\n2.5,1",
    ),
    "CSV: a table with commas, semicolons, tabs or vertical bars": (
        "Names of columns, then a line per row. *Labels are* says which columns are labels: those with 0 and 1 (true "
        "and false, yes and no), or one that lists the labels of a row, such as `apple;red`. Features are numbers: "
        "*Leave out columns of text* skips the others.",
        "width,weight,apple,red\n2.5,1,1,0\n0.5,3,0,1",
    ),
    "fastText: texts with labels, read at *Upload texts*": (
        "A line per text, with `__label__` before the name of each of its labels. Names have no spaces.",
        "__label__apple __label__red A red apple\n__label__pear Pears in autumn\nNo label here",
    ),
    "npz of NumPy and SciPy": (
        "Matrices of `scipy.sparse.save_npz` in two files, or one file with the arrays `X` and `Y`, or `X_data`, "
        "`X_indices`, `X_indptr`, `X_shape` and the same for Y. A list `Y` has the one label of each row, its "
        "number or its name. `feature_names` and `label_names` are read too. An npy file is one of two dense matrices.",
        'scipy.sparse.save_npz("features.npz", X)\nscipy.sparse.save_npz("labels.npz", Y)\n'
        'numpy.savez("both.npz", X=X.toarray(), Y=Y.toarray())',
    ),
    "Label names, feature names": (
        "One name per line, in the order of the ids, in files of their own.",
        "apple\nbanana\ncherry",
    ),
}


def show(fingerprint) -> None:
    """Show the formats, each with three lines of an example, and offer a sample file of the data set in use."""
    with st.popover("Formats, and a sample file", icon=":material/description:", width="content"):
        for name, (about, example) in FORMATS.items():
            st.markdown(f"**{name}**. {about}")
            st.code(example, language=None)
        st.caption("All of them plain, or packed with gzip, bzip2, xz or zip: one archive may hold all of the files.")
        if fingerprint is not None:
            st.caption(f"Sample files, with the first {SAMPLE_ROWS} training rows of the data set in use:")
            with st.container(horizontal=True):
                has_texts = cached.dataset(fingerprint).texts_train is not None
                for name, ending in (WRITTEN | ({"fasttext": ".ft"} if has_texts else {})).items():
                    charts.file_button(
                        f"Sample, {ending}",
                        lambda name=name: _sample(fingerprint, name),
                        f"sample{ending}",
                        f"The first {SAMPLE_ROWS} training rows of the data set in use as {name}",
                    )


def _sample(fingerprint, format_name) -> bytes:
    data = cached.dataset(fingerprint)
    n = min(SAMPLE_ROWS, data.n_train)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sample"
        X, Y, names = data.X_train[:n], data.Y_train[:n], (data.feature_names, data.label_names)
        if format_name == "fasttext":
            lists = [[data.label_name(j) for j in row] for row in Y.tolil().rows]
            try:
                datasets.write_fasttext(path, data.texts_train[:n], lists, blanks="_")
            except ValueError as error:  # two names become one, or a text has the prefix
                return f"There is no sample: {error}\n".encode()
        elif format_name != "arff":
            datasets.write_matrix(path, X, Y, format_name)
        elif None in names or len({*names[0], *names[1]}) < len(names[0]) + len(names[1]):
            datasets.write_arff(path, X, Y)  # the names in ARFF must all be different
        else:
            datasets.write_arff(path, X, Y, *names)
        return path.read_bytes()
