"""Reading of ARFF: layouts, ways to name the labels, and errors with line, column and remedy."""

import io
import warnings

import numpy as np
import pytest
from datasets.reads import failure, read_named, warned

from xmlcore.datasets import DatasetFormatError, DatasetWarning, read_dataset, read_matrix

HEAD = """% made by hand
@relation 'small: -C -2'

@attribute height numeric
@attribute colour {red, green, 'dark blue'}
@attribute sex {female,male}
@attribute old {0,1}
@attribute tall {0,1}
@attribute "a fan" {no,yes}

@data
"""
ROWS = "1.5,green,male,1,1,no\n0,'dark blue',female,0,0,yes\n-2,red,male,0,1,yes\n"
FEATURES = ["height", "colour=red", "colour=green", "colour=dark blue", "sex=male", "old"]
X = [[1.5, 0, 1, 0, 1, 1], [0, 0, 0, 1, 0, 0], [-2, 1, 0, 0, 1, 0]]
Y = [[1, 0], [0, 1], [1, 1]]
XML = b"""<?xml version="1.0" encoding="utf-8"?>
<labels xmlns="http://mulan.sourceforge.net/labels">
<label name="tall"></label><label name="a fan"></label>
</labels>"""


def head(*attributes, relation="a"):
    """Return the header of a file with these attributes."""
    lines = "".join(f"@attribute {attribute}\n" for attribute in attributes)
    return f"@relation {relation}\n{lines}@data\n"


def read(content, **options):
    return read_named(content.encode() if isinstance(content, str) else content, **options)


pytestmark = pytest.mark.filterwarnings("ignore:.*(no row has|every row has):xmlcore.datasets.DatasetWarning")
EXPECTED = (X, Y, FEATURES, ["tall", "a fan"])


@pytest.mark.parametrize("content", [
    HEAD + ROWS,
    (HEAD + ROWS).rstrip("\n"),
    (HEAD + ROWS).replace("\n", "\r\n"),
    "\ufeff" + HEAD + ROWS,
    HEAD.replace("@attribute", "  @ATTRIBUTE").replace("numeric", "\tREAL % metres").replace("@data", "@DATA  \t")
    + ROWS,
    HEAD.replace("@relation", "@Relation").replace("numeric", "integer [0,10]").replace("@data", "@Data % rows")
    + ROWS,
    HEAD.replace("{red, green, 'dark blue'}", '{ red green\t"dark blue" , } % three').replace(" {0,1}", "{ 0 ,1}")
    + ROWS,
    HEAD.replace("'small: -C -2'", "small: -C -2") + ROWS.replace(",", " , ").replace("\n", " \t\n\n% row\n"),
    HEAD.replace("'small: -C -2'", '"s: -split 3 -C -2 -c 1"')
    + ROWS.replace(",male", ",'male'").replace(",", "\t"),
    HEAD + "{0 1.5,1 green,2 male,3 1,4 1}\n{1 'dark blue', 5 yes}\n{0 -2, 2 male, 4 1,5 yes}",
    HEAD + "{0 1.5,1 green,2 male,3 1,4 1}\n0,'dark blue',female,0,0,yes\n{ 0 -2 , 2 male , 4 1 , 5 yes }\n",
    HEAD + ROWS.replace("no\n", "no, {1}\n").replace("1,yes\n", "1,yes,\n"),
    HEAD + ROWS.replace("green", '"green"').replace("1.5", "'1.50'").replace("-2", "-.2e+1"),
])  # fmt: skip
def test_all_layouts_of_a_file_read_the_same(content):
    assert read(content) == EXPECTED
    assert read(content, format="arff") == EXPECTED


@pytest.mark.parametrize(("labels", "names"), [
    (XML, ["tall", "a fan"]),
    (io.BytesIO(XML), ["tall", "a fan"]),
    (XML.replace(b"tall", b"old"), ["old", "a fan"]),
    (["a fan", "old"], ["a fan", "old"]),
    (("height",), ["height"]),
    (np.array(["old"]), ["old"]),
    (-1, ["a fan"]),
    (np.int64(-3), ["old", "tall", "a fan"]),
    (1, ["height"]),
])  # fmt: skip
def test_labels_are_told_by_xml_by_names_or_by_a_number(labels, names):
    content = HEAD + ROWS.replace("1.5", "1").replace("-2", "1")
    _, found, features, label_names = read(content, labels=labels)
    columns = {"height": [1, 0, 1], "old": [1, 0, 0], "tall": [1, 0, 1], "a fan": [0, 1, 1]}
    assert label_names == names
    assert found == [list(row) for row in zip(*(columns[name] for name in names))]
    assert features == [name for name in [*FEATURES, "tall", "a fan"] if name not in names]


@pytest.mark.parametrize(
    ("relation", "n"),
    [("'a: -C 2'", 2), ("'a: -c 2'", 2), ("'a: -V -C -1 -split-number 7'", -1), ('"a:-C 2"', 2), ("'a: -c 1 -C 2'", 2),
     ("a: -C 2", 2)],
)  # fmt: skip
def test_the_option_of_meka_says_how_many_attributes_are_labels(relation, n):
    content = (
        f"@relation {relation}\n@attribute a {{0,1}}\n@attribute b {{0,1}}\n@attribute c {{0,1}}\n@data\n1,0,1\n0,1,0\n"
    )
    assert read(content)[3] == list("abc")[:n] if n > 0 else list("abc")[n:]
    assert read(content, labels=["b"])[3] == ["b"]


def test_labels_may_stand_anywhere_and_columns_have_their_order():
    content = head("l1 {0,1}", "f1 real", "l2 {0,1}", "f2 real") + "1,2,0,3\n{2 1}\n"
    found = read(content, labels=["l2", "l1"])
    assert found == ([[2, 3], [0, 0]], [[0, 1], [1, 0]], ["f1", "f2"], ["l2", "l1"])


def test_a_left_out_nominal_value_is_the_first_one():
    content = head("f {1,0}", "g {x,y,z}", "h {b,c}", "l {1,0}", "m {false,true}")
    found = read(content + "{}\n{0 0,1 y,2 c,3 0,4 true}\n{3 ?}\n", labels=-2)
    assert found[2:] == (["f", "g=x", "g=y", "g=z", "h=c"], ["l", "m"])
    assert found[0] == [[1, 1, 0, 0, 0], [0, 0, 1, 0, 1], [1, 1, 0, 0, 0]]
    assert found[1] == [[1, 0], [0, 1], [0, 0]]
    with warnings.catch_warnings(action="ignore", category=DatasetWarning):
        assert read(content + "1,x,b,1,false\n0,y,c,0,true\n1,x,b,?,false", labels=-2) == found


@pytest.mark.parametrize(
    ("values", "column"),
    [("{0,1}", [0, 1]), ("{1,0}", [1, 0]), ("{FALSE,TRUE}", [0, 1]), ("{t,f}", [1, 0]), ("{Yes,No}", [1, 0]),
     ("{n,y}", [0, 1]), ("{-1,1}", [0, 1])],
)  # fmt: skip
def test_labels_of_two_values_know_which_means_yes(values, column):
    rows = values[1:-1].replace(",", ",1\n") + ",1\n"
    content = f"@relation 'a: -C 1'\n@attribute l {values}\n@attribute f real\n@data\n{rows}"
    assert [row[0] for row in read(content)[1]] == column
    found = read(content.replace("-C 1", "-C -1").replace("f real", "g {0,1}"))
    assert (found[2], [row[0] for row in found[0]]) == (["l"], column)


def test_names_are_read_with_quotation_marks_escapes_and_blanks():
    names = [
        r"'it\'s'", r"TAG_m\'usica", '"say \\"x\\""', "'a b\\tc'", r"'\u00e9\u001e'", "naïve", "x,y%z'", r"'50\%'",
        r"C:\dir",
    ]  # fmt: skip
    content = "@relation r\n" + "".join(f"@attribute {name} {{0,1}}\n" for name in names) + "@data\n" + "1," * 8 + "0\n"
    plain = ["it's", "TAG_m'usica", 'say "x"', "a b\tc", "é\x1e", "naïve", "x,y%z'", "50%", r"C:\dir"]
    assert read(content, labels=1)[2:] == (plain[1:], plain[:1])
    xml = rb"""<labels><label name="TAG_m\'usica"/><label name=" na&#239;ve "/><label name="it's"/></labels>"""
    for given in (xml, xml.replace(b"\\'", b"&apos;"), [r"TAG_m\'usica", "naïve", "it's"]):
        assert read(content, labels=given)[3] == ["TAG_m'usica", "naïve", "it's"]


def test_nominal_attributes_that_became_features_are_noted():
    rows = ROWS * 5
    said = read_dataset((HEAD + rows).encode(), test=(HEAD + rows).encode()).notes
    assert said == ("1 nominal attribute became 3 features, one for each value: 'colour'.",)
    binary = head("f {a,b}", "g {0,1}", "l {0,1}", relation="'r: -C -1'") + "a,0,1\nb,1,0\n" * 5
    assert len(read_dataset(binary.encode()).notes) == 1, "it says how the rows were split, and no more"


def test_nominal_values_are_compared_as_weka_writes_them():
    values = [r"it's", r'say "x"', "50%", "a\\b", "tab\tx", "ü", "?", ""]
    written = [r"'it\'s'", r"'say \"x\"'", r"'50\%'", r"'a\\b'", r"'tab\tx'", "ü", "'?'", "''"]
    first = head("l {0,1}", "v {" + ",".join(written) + "}", relation="'r: -C 1'")
    for ways in (written, ['"it\'s"', "'say \"x\"'", "50%", r"'a\\b'", r"'tab\tx'", "'ü'", '"?"', '""']):
        found = read(first + "".join(f"{i % 2},{value}\n" for i, value in enumerate(ways)))
        assert found[2] == [f"v={value}" for value in values]
        assert found[0] == np.eye(len(values)).tolist()


def test_names_in_an_older_encoding_are_read_with_a_warning():
    content = (
        HEAD.replace("colour", "größe").replace("dark blue", "dark blü") + ROWS.replace("dark blue", "dark blü")
    ).encode("cp1252")
    said = warned(read_matrix, content, name="f.arff")
    assert said == ["f.arff: its names are not UTF-8, and were read as Windows-1252 (Western European)"]
    with warnings.catch_warnings(action="ignore", category=DatasetWarning):
        found = read(content)
    assert found[:2] == EXPECTED[:2] and found[2][3] == "größe=dark blü"


def test_what_is_read_otherwise_than_written_is_said():
    said = warned(read_matrix, (HEAD + "1,?,male,?,1,no\n?,red,male,0,?,no,{2.5}\n").encode(), name="f.arff")
    assert said == [
        "f.arff: 3 missing values (first in line 12) are read as 0",
        "f.arff: 1 missing label (first in line 13) is read as not given",
        "f.arff: 1 row weight (first in line 13) is not used",
        "f.arff: there is a label that no row has: 'a fan'",
    ]
    said = warned(read_matrix, (HEAD + "1,red,male,0,1,yes\n" * 2).encode(), name="f.arff")
    assert said == ["f.arff: there are 2 labels that every row has: 'tall', 'a fan'"]


def test_text_attributes_are_left_out_if_that_is_asked():
    content = HEAD.replace("height", "t string\n@attribute d date yyyy-MM-dd\n@attribute height")
    rows = ROWS.replace("1.5", "'it\\'s, x',2020-01-01,1.5").replace("\n0,", "\n?,?,0,").replace("-2", "a,b,-2")
    said = "data: 2 attributes of type string or date left out: 't', 'd'"
    assert warned(read_matrix, (content + rows).encode(), leave_out=True) == [said]
    with pytest.warns(DatasetWarning):
        assert read(content + rows, leave_out=True) == EXPECTED
    assert failure((content + rows).encode()).fault[-2:] == ("leave_out", True)


def error(rows="", old=None, new="", **options):
    assert old is None or old in HEAD
    return failure(
        ((HEAD if old is None else HEAD.replace(old, new)) + (rows or ROWS)).encode(), format="arff", **options
    )


@pytest.mark.parametrize(
    ("rows", "column", "found", "remedy"),
    [
        ("1,blue,male,1,1,no", 3, "'blue' is not a value of the attribute 'colour'", "line 5, are 'red', 'green',"),
        ("x,red,male,1,1,no", 1, "'x' where the attribute 'height' needs a number", "3e-5"),
        ("'1,5',red,male,1,1,no", 1, "'1,5' where the attribute 'height' needs a number", "a point"),
        ("1;red;male;1;1;no", 1, "'1;red;male;1;1;no' where the attribute", "separated by commas"),
        ("NaN,red,male,1,1,no", 1, "'NaN' where the attribute 'height' needs a number", "written as ?"),
        ("1e50,red,male,1,1,no", 1, "too large for float32", "Scale"),
        ("1,red,male,1,1", 15, "the row ends after 5 values, but there are 6 attributes", "written as ?"),
        ("1,red,male,1,1,no,1", 19, "'1' after the 6 values of the row", "quotation marks"),
        ("1,,male,1,1,no", 3, "no value of the attribute 'colour'", "written as ?"),
        ("1,'red,male,1,1,no", 3, "quotation mark that is not closed", "backslash"),
        ("1,'red'x,male,1,1,no", 3, "something right behind the quoted value of the attribute 'colour'", ""),
        ("{6 1}", 2, "attribute number 6, but there are 6 attributes, numbered from 0", "Correct"),
        ("{2 male,0 1}", 9, "attribute number 0 after number 2", "ascend"),
        ("{0 1,0 1}", 6, "attribute number 0 twice", "ascend"),
        ("{0 1,tall 1}", 6, "'tall' where the number of an attribute belongs", "number value"),
        ("{0}", 3, "no value of the attribute 'height'", "followed by a blank"),
        ("{0 1 2 male}", 6, "'2' after the value of the attribute 'height'", "commas"),
        ("{0 1", 5, "a brace is not closed", "number value"),
        ("{0 1} 2", 7, "'2' after the end of the row", "weight"),
        ("{0 1}, {x}", 8, "a weight that is not a number", "{2}"),
    ],
)  # fmt: skip
def test_a_wrong_row_is_an_error_with_its_place(rows, column, found, remedy):
    caught = error(f"{ROWS}% comment\n{rows}\n", name="f.arff")
    assert found in caught.found and remedy in caught.remedy
    assert (caught.source, caught.line, caught.column) == ("f.arff", 16, column)


@pytest.mark.parametrize(
    ("old", "new", "line", "found", "remedy"),
    [
        ("@data\n", "", 11, "'1.5,green,male,1,1,no' in the header", "put a line @data before"),
        ("@data\n" + "", "@data 1\n", 11, "'1' in the line of @data", "next line"),
        ("old {0,1}", "height {0,1}", 7, "a second attribute is named 'height', as that in line 4", "of its own"),
        ("numeric", "float", 4, "'float' where the type of 'height' belongs", "numeric, real, integer"),
        ("numeric", "", 4, "the attribute 'height' has no type", "numeric, real, integer"),
        ("numeric", "numeric x", 4, "'x' after the type", ""),
        ("{red, green, 'dark blue'}", "{red, green", 5, "no closing brace", "in one line"),
        ("{red, green, 'dark blue'}", "{red, green, 'dark}", 5, "'dark}\" in the list of values", "in one line"),
        ("{red, green, 'dark blue'}", "{red, green, red}", 5, "has the value 'red' twice", "once"),
        ("{red, green, 'dark blue'}", "{ }", 5, "has no values", ""),
        ("{red, green, 'dark blue'}", "{a,b} c", 5, "'c' after the values", ""),
        ("height numeric", "'height numeric", 4, "quotation mark is not closed", "\\'"),
        ("height numeric", "height string", 4, "the attribute 'height' has the type string", "remove"),
        ("height numeric", "height date", 4, "the attribute 'height' has the type date", "remove"),
        ("height numeric", "height relational", 4, "the attribute 'height' has the type relational", "remove"),
        ("@attribute height numeric", "@part height", 4, "'@part' in the header", "@relation, @attribute"),
        ("@attribute height numeric", "1,2,3", 4, "'1,2,3' in the header", "@data"),
        ("tall {0,1}", "tall {a,b,c}", 8, "the label 'tall' has the values 'a', 'b', 'c'", "{0,1}"),
        ("tall {0,1}", "tall {low,high}", 8, "the label 'tall' has the values 'low', 'high'", "{0,1}"),
        ("tall {0,1}", "tall string", 8, "the label 'tall' has the type string", "{0,1}"),
    ],
)  # fmt: skip
def test_a_wrong_header_is_an_error_with_its_line(old, new, line, found, remedy):
    caught = error(old=old, new=new)
    assert found in caught.found and remedy in caught.remedy
    assert caught.line == line


def test_a_file_without_rows_or_attributes_or_data():
    assert failure(b"@relation a\n@attribute b real\n").found == "it ends without a line @data"
    assert failure(b"@relation a\n@data\n1\n").found == "@data without any @attribute before it"
    assert read(HEAD)[0] == [] and read_matrix(HEAD.encode())[0].shape == (0, 6)
    assert failure("@relation a\n".encode("utf-16")).remedy == "Save the file as UTF-8."


def test_a_numeric_label_that_is_not_binary_is_an_error():
    caught = error("1,red,male,1,0,no\n1.5,red,male,1,0,no\n", labels=["height"])
    assert (caught.found, caught.line, caught.column) == ("'1.5' as the value of the label 'height'", 13, 1)


def test_unknown_labels_are_named_with_the_nearest_names():
    caught = error(labels=["tal", "a fan", "fame"])
    assert caught.found == "2 of the 3 labels are not among its attributes: 'tal', 'fame'"
    assert caught.remedy.startswith("Attributes with a name like 'tal': 'tall'.")
    caught = error(labels=XML.replace(b"tall", b"zz"))
    assert caught.found == "1 of the 2 labels is not among its attributes: 'zz'"


@pytest.mark.parametrize(("content", "value"), [
    (HEAD.replace(": -C -2", ""), -3),
    (head("l {0,1}", "f real"), 1),
    (head("l {0,1}", "f {0,1}"), None),
    (head("l real", "f real"), None),
])  # fmt: skip
def test_without_labels_the_error_says_how_many_seem_to_be(content, value):
    caught = failure(content.encode())
    assert caught.found == "it does not say which attributes are labels"
    assert caught.fault[-2:] == ("labels", value)


def test_a_wrong_number_of_labels_is_an_error():
    assert "labels are to be the first 7 attributes, but it has 6 attributes" in error(labels=7).found
    assert (
        "its relation says that labels are the last 9 attributes, but it has 6" in error(old="-C -2", new="-C -9").found
    )
    content = "@relation a\n" + "".join(f"@attribute {i} {{0,1}}\n" for i in range(4)) + "@data\n0,1,1,1\n"
    assert failure(content.encode(), labels=4).found == "all of its attributes are labels"
    for wrong, kind in (
        (0, ValueError),
        ([], ValueError),
        (["old", "old"], ValueError),
        (True, TypeError),
        ([1], TypeError),
        (1.5, TypeError),
    ):
        with pytest.raises(kind, match="labels"):
            read_matrix((HEAD + ROWS).encode(), labels=wrong)


def test_many_defaults_of_sparse_rows_are_refused():
    content = "@relation 'a: -C 1'\n@attribute l {0,1}\n" + "".join(f"@attribute a{i} {{x,y,z}}\n" for i in range(1000))
    content = (content + "@data\n" + "{}\n" * 1000).encode()
    caught = failure(content, max_bytes=1_000_000)
    assert "its first 1,000 sparse rows leave out up to 1,000,000 values that are not 0" in caught.found
    with warnings.catch_warnings(action="ignore", category=DatasetWarning):
        assert read_matrix(content)[0].nnz == 1_000_000


def test_training_and_test_files_become_a_data_set_with_names(tmp_path):
    train, test = (HEAD + ROWS).encode(), (HEAD + "0,red,male,1,1,no\n").encode()
    assert warned(read_dataset, train, test, labels=XML) == []  # the label that no test row has is in a training row
    dataset = read_dataset(train, test, name="d", labels=XML)
    assert (dataset.n_train, dataset.n_test) == (3, 1)
    (tmp_path / "a.xml").write_bytes(XML)
    with open(tmp_path / "a.xml", "rb") as file:
        assert read_dataset(train, test, name="d", labels=file).fingerprint == dataset.fingerprint
    assert (dataset.feature_names, dataset.label_names) == (FEATURES, ["tall", "a fan"])


def test_names_and_types_of_attributes_may_be_written_in_many_ways():
    from xmlcore.datasets.readers.arff_header import read_header

    lines = [
        r"@attribute a real",
        "",
        "% c",
        " \t@ATTRIBUTE\t'it\\'s' {0,1}\r",
        r'@Attribute  "x \\"numeric',
        "@attribute ä{0,1}",
    ]
    text = np.frombuffer("\n".join([*lines, "@data"]).encode(), np.uint8)
    header = read_header(text, "f")
    assert header.names == ["a", "it's", "x \\", "ä"] and header.lines.tolist() == [1, 4, 5, 6]
    assert header.type_of.tolist() == [0, 1, 2, 1] and [one.kind for one in header.types[1:]] == ["nominal", "numeric"]


def test_a_header_of_many_attributes_is_read_quickly():
    import time

    from xmlcore.datasets.readers.arff_header import read_header

    lines = "".join(f"@attribute 'feature {i}' {{0,1}}\n" for i in range(20_000))
    text = np.frombuffer(f"@relation 'r: -C 2'\n{lines}@data\n".encode(), np.uint8)
    start = time.process_time()
    assert len(read_header(text, "f").names) == 20_000
    assert time.process_time() - start < 1  # about 0.05 s


def real_pair(folder, name, part):
    files = {"corel5k": ("Corel5k-{}-sparse.arff", "Corel5k.xml"), "yeast": ("yeast-{}.arff", "yeast.xml")}[name]
    return folder / "arff" / files[0].format(part), folder / "arff" / files[1], folder / name


@pytest.mark.real_data
@pytest.mark.parametrize("name", ["corel5k", "yeast"])
@pytest.mark.parametrize("part", ["train", "test"])
@pytest.mark.filterwarnings("ignore::xmlcore.datasets.DatasetWarning")
def test_real_files_equal_the_same_data_in_xmlc(real_data, name, part):
    file, xml, folder = real_pair(real_data, name, part)
    matrix, labels, feature_names, label_names = read_matrix(file, labels=xml)
    expected_X, expected_Y, _, _ = read_matrix(folder / f"{part}.txt.gz")
    assert matrix.shape == expected_X.shape and (matrix != expected_X).nnz == 0
    assert labels.shape == expected_Y.shape and (labels != expected_Y).nnz == 0
    assert feature_names == (folder / "features.txt").read_text().splitlines()
    assert label_names == (folder / "labels.txt").read_text().splitlines()


def test_a_number_of_labels_that_seems_to_be_off_is_said():
    head = "@attribute a numeric\n@attribute b {0,1,2}\n@attribute c numeric\n"
    labels = "".join(f"@attribute l{i} {{0,1}}\n" for i in range(4))
    rows = "@data\n1,2,1,1,0,1,0\n0,0,0,0,1,0,1\n"

    def warned_of(n):
        with warnings.catch_warnings(record=True, action="always") as caught:
            read_matrix(f"@relation 'r: -C {n}'\n{head}{labels}{rows}".encode())
        return [str(w.message) for w in caught]

    assert warned_of(-4) == warned_of(-1) == []  # one of four labels is no slip
    said = "Exactly the last 4 attributes have the two values of a label. Are these the labels? (labels=-4)"
    assert warned_of(-3) == [f"data: the last 3 attributes are read as labels. {said}"]
    assert warned_of(-5) == [f"data: the last 5 attributes are read as labels. {said}"]  # c has 0 and 1
    for n in (-6, 4):  # b has other values; the labels are at the other end
        with pytest.raises(DatasetFormatError) as caught:
            warned_of(n)
        assert caught.value.fault[-2:] == ("labels", -4)


def test_a_name_of_an_attribute_alone_is_told_from_a_path():
    with pytest.raises(ValueError, match=r"labels=\['tall'\]"):
        read_matrix(HEAD.encode() + ROWS.encode(), labels="tall")
    with pytest.raises(FileNotFoundError):
        read_matrix(HEAD.encode() + ROWS.encode(), labels="nothing.xml")
