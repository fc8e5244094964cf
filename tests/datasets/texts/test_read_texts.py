"""Files of documents: all formats give the same texts and labels, and what is wrong is said with line and remedy."""

import bz2
import gzip
import io
import json
import lzma
import subprocess
import sys
import warnings
import zipfile
from pathlib import Path

import pandas as pd
import pytest

from tests.archiving import zipped
from xmlcore.datasets import DatasetFormatError, DatasetWarning, guess_columns, read_texts, write_fasttext

TEXTS = ['A cat, "small";\nand a dog.', "Bread & wine\r\nfor two", "Ünïcode 東京", "x"]
LABELS = [["animal", "small things"], ["food"], ["city", "animal"], ["food", "city"]]
ROOT = Path(__file__).parents[3]
URI = "http://example.org/thesaurus/"


pytestmark = pytest.mark.filterwarnings("error::xmlcore.datasets.DatasetWarning")


def frame(**columns):
    return pd.DataFrame({"id": range(4), "text": TEXTS} | columns)


def listed(mark):
    return [mark.join(row) for row in LABELS]


def csv(delimiter=",", **columns):
    return frame(**columns).to_csv(index=False, sep=delimiter).encode()


def parquet(frame):
    buffer = io.BytesIO()
    frame.to_parquet(buffer)
    return buffer.getvalue()


def json_lines(key, values):
    lines = [json.dumps({"id": i, "text": text, key: value}) for i, (text, value) in enumerate(zip(TEXTS, values))]
    return "\n".join(lines).encode()


def subjects(row, labels=True):
    return [{"uri": URI + name.replace(" ", "_")} | ({"label": name} if labels else {}) for name in row]


KEYS = zipped(
    {f"corpus/{i}.{'txt' if i % 2 else 'TXT'}": text.encode() for i, text in enumerate(TEXTS)}
    | {f"corpus/{i}.{'key' if i > 1 else 'KEY'}": "\n".join(row) for i, row in enumerate(LABELS)}
    | {"corpus/README.md": "about"}
)
FILES = {
    "commas": csv(labels=listed("; ")),
    "semicolons": csv(";", labels=listed("|")),
    "tabs": csv("\t", labels=listed(",")),
    "bars": csv("|", labels=listed(";")),
    "line breaks between labels": csv(labels=listed("\n")),
    "JSON lists in cells": csv(labels=[json.dumps(row) for row in LABELS]),
    "Python lists in cells": csv(labels=[str(row) for row in LABELS]),
    "byte order mark": b"\xef\xbb\xbf" + csv(labels=listed(";")),
    "Windows line ends": csv(labels=listed(";")).replace(b"\n", b"\r\n").replace(b"\r\r\n", b"\r\n"),
    "JSON lines": json_lines("labels", LABELS),
    "JSON lines with text": json_lines("labels", listed(";")),
    "Annif's JSON lines": json_lines("subjects", [subjects(row) for row in LABELS]),
    "Parquet lists": parquet(frame(labels=LABELS)),
    "Parquet text": parquet(frame(labels=listed(";"))),
    "Parquet categories": parquet(frame(labels=pd.Categorical(listed(";")))),
    "gzip": gzip.compress(csv(labels=listed(";"))),
    "bzip2": bz2.compress(csv(labels=listed(";"))),
    "xz": lzma.compress(csv(labels=listed(";"))),
    "zip": zipped({"documents.csv": csv(labels=listed(";"))}),
    "folder of .key": KEYS,
    "folder of .tsv": zipped(
        {f"{i}.txt": text.encode() for i, text in enumerate(TEXTS)}
        | {
            f"{i}.tsv": "\n".join(f"<{URI}{name.replace(' ', '_')}>\t{name}\tmore" for name in row)
            for i, row in enumerate(LABELS)
        }
    ),
    "folder of .json": zipped(
        {f"{i}.json": json.dumps({"text": text, "subjects": subjects(LABELS[i])}) for i, text in enumerate(TEXTS)}
    ),
}


def plain(texts):
    return [text.replace("\r\n", "\n") for text in texts]


@pytest.mark.parametrize("name", FILES)
def test_each_format_gives_the_same_and_a_guess_finds_the_columns(name):
    guess = guess_columns(FILES[name])
    assert guess.text == "text" and guess.labels in ("labels", "subjects")
    for options in ({}, guess.options):
        texts, label_lists = read_texts(FILES[name], **options)
        assert plain(texts) == plain(TEXTS) and label_lists == LABELS
    assert plain([row[guess.text] for row in guess.rows]) == plain(TEXTS)


@pytest.mark.parametrize("name", ["commas", "JSON lines", "Parquet lists", "gzip", "folder of .key", "zip"])
def test_paths_bytes_and_file_objects_are_read_alike(name, tmp_path):
    path = tmp_path / "data"
    path.write_bytes(FILES[name])
    expected = read_texts(FILES[name])
    with path.open("rb") as file:
        assert read_texts(path) == read_texts(str(path)) == read_texts(file) == expected
    assert read_texts(io.BytesIO(FILES[name])) == expected


def test_a_folder_on_the_disk_is_read(tmp_path):
    with zipfile.ZipFile(io.BytesIO(KEYS)) as archive:
        archive.extractall(tmp_path)
    assert read_texts(tmp_path / "corpus") == read_texts(KEYS)


def test_files_that_systems_add_are_not_read_and_said(tmp_path):
    names = (
        "corpus/.hidden.txt",
        "corpus/~$0.txt",
        ".git/0.txt",
        "corpus/._0.TXT",
        "corpus/._0.key",
        "corpus/.DS_Store",
        "__MACOSX/corpus/._0.txt",
        "Thumbs.db",
    )
    with zipfile.ZipFile(io.BytesIO(KEYS)) as archive:
        files = {name: archive.read(name) for name in archive.namelist()} | dict.fromkeys(names, b"\0\5\x16\7")
    zipfile.ZipFile(io.BytesIO(zipped(files))).extractall(tmp_path / "folder")
    for source in (zipped(files), tmp_path / "folder"):
        with pytest.warns(
            DatasetWarning, match="8 files are not read, as hidden ones and those of macOS or Windows are"
        ):
            assert read_texts(source) == read_texts(KEYS)


@pytest.mark.parametrize(("names", "alike", "error"), [
    (("a.txt", "a.key", "a.KEY"), "a.KEY' and 'a.key", True),
    (("a.TXT", "a.txt", "a.key"), "a.TXT' and 'a.txt", True),
    (("b/a.json", "b/a.JSON", "a.json"), "b/a.JSON' and 'b/a.json", True),
    (("A.txt", "a.txt", "A.key", "a.key"), "A.key' and 'a.key", False),
])  # fmt: skip
def test_files_that_differ_only_in_case_are_named(tmp_path, names, alike, error):
    files = {name: b'{"text": "x", "subjects": ["y"]}' for name in names}
    zipfile.ZipFile(io.BytesIO(zipped(files))).extractall(tmp_path / "folder")
    for source in (zipped(files), tmp_path / "folder"):
        said = pytest.raises(DatasetFormatError, match=alike) if error else pytest.warns(DatasetWarning, match=alike)
        with said:
            assert len(read_texts(source)[0]) == 2


FASTTEXT = (
    "__label__a __label__b-c a text\n__label__d_e other, text\n",  # labels first, last, and between
    "a text __label__a __label__b-c\nother, text __label__d_e",
    "\ufeffa\t__label__a __label__b-c text\r\n\tother, __label__d_e text\r\n\r\n",
)


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lambda content: zipped({"train.ft": content})])
@pytest.mark.parametrize("content", FASTTEXT)
def test_labels_of_fasttext_are_read_wherever_they_stand(content, pack):
    expected = [text.replace("\t", " ") for text in ("a text", "other, text")], [["a", "b-c"], ["d_e"]]
    texts, labels = read_texts(pack(content.encode()), **guess_columns(pack(content.encode())).options)
    assert ([" ".join(text.split()) for text in texts], labels) == expected
    assert read_texts(content.replace("__label__", "#").encode(), format="fasttext", delimiter="#") == (texts, labels)


def test_lines_of_fasttext_without_labels_or_words_are_said():
    with pytest.warns(DatasetWarning) as warned:
        assert read_texts(b"x\n\n__label__a y\n__label__b\n\n") == (["x", "", "y", ""], [[], [], ["a"], ["b"]])
    assert ["2 of 4 texts (first in line 2)" in str(warned[0].message), len(warned)] == [True, 2]
    for line in ("__label__ x", "__label__a__label__b x", "__label__a,__label__b x"):
        with pytest.raises(DatasetFormatError, match="line 2: .*blanks between labels"):
            read_texts(f"__label__a y\n{line}\n__label__c z\n".encode())


@pytest.mark.parametrize(
    "table",
    [
        "text\tlabels\nx, y\t__label__a __label__b\n",
        'labels,text\n__label__a __label__b,"x, y"\n',
        'labels,text\n"__label__a, __label__b","x, y"\n',
        'labels,text\n__label__a;__label__b,"x, y"\n',
    ],
)
def test_labels_of_fasttext_in_cells_lose_their_prefix(table):
    assert read_texts(table.encode(), **guess_columns(table.encode()).options) == (["x, y"], [["a", "b"]])
    assert (
        guess_columns(b"__label__a,foo bar\n__label__b,foo\n").options.items() >= {"text": "2", "labels": "1"}.items()
    )
    with pytest.raises(DatasetFormatError, match="line 3: the label 'b __label__c' in column 'labels' has __label__"):
        read_texts(b'text,labels\nx,"__label__a, __label__b"\ny,__label__b __label__c\n')


REFUSED = {"has blanks, where fastText": "a b", "is empty": "", "has __label__ in it": "x__label__"}


def test_what_is_written_for_fasttext_is_read_back(tmp_path):
    write_fasttext(tmp_path / "a.ft.gz", ["a\tb\n", "x"], [["small things", "b"], ["É\xa0x"]], blanks="_")
    assert read_texts(tmp_path / "a.ft.gz") == (["a b", "x"], [["small_things", "b"], ["É\xa0x"]])
    for wrong, name in REFUSED.items():
        with pytest.raises(ValueError, match=f"the label '{name}' of row 0 {wrong}"):
            write_fasttext(tmp_path / "b", ["x"], [[name]])
    with pytest.raises(ValueError, match="the text of row 0 has a word that starts with __label__"):
        write_fasttext(tmp_path / "b", ["is\n__label__x"], [["a"]])
    with pytest.raises(ValueError, match="'a_b' of row 0 would be 'a_b', as 'a b' is"):
        write_fasttext(tmp_path / "b", ["x"], [["a b", "a_b"]], blanks="_")
    assert not (tmp_path / "b").exists()


@pytest.mark.parametrize(("texts", "lists", "blanks", "error", "said"), [
    ("abc", [["x"]] * 3, None, TypeError, "texts is one str: give a list"),
    (["a", None], [["x"]] * 2, None, TypeError, r"texts\[1\] is None"),
    (["a"], ["xyz"], None, TypeError, r"label_lists\[0\] must be a sequence of strings, not 'xyz'"),
    (["a", "b"], [["x"], None], None, TypeError, r"label_lists\[1\] must be a sequence of strings, not None"),
    (["a"], [["x", 5]], None, TypeError, r"label_lists\[0\]\[1\] is 5: names are strings"),
    (["a"], "x", None, TypeError, "label_lists must be a sequence of lists of names, not 'x'"),
    (["a", "b"], [["x"]], None, ValueError, "2 texts, but 1 lists of labels"),
    (["a"], [["x"]], 5, TypeError, "blanks is 5"),
    (["a", "\ud800"], [["x"]] * 2, None, ValueError, "row 1 has half a character"),
    (["a"], [["\udc80"]], None, ValueError, "row 0 has half a character"),
    (["a", " \n"], [["x"], []], None, ValueError, "row 1, the last, has neither a text nor labels"),
])  # fmt: skip
def test_what_fasttext_cannot_hold_is_refused_by_its_row(tmp_path, texts, lists, blanks, error, said):
    with pytest.raises(error, match=said):
        write_fasttext(tmp_path / "a.ft", texts, lists, blanks=blanks)
    assert not list(tmp_path.iterdir())


def annif(rows, between=" "):
    lines = [f"{text}\t{between.join(f'<{URI}{name}>' for name in row)}" for text, row in rows]
    return "\n".join(lines).encode()


def test_short_texts_of_annif_are_read():
    rows = [('"Quoted" title', ["s1", "s2"]), ("it's 5\" long", ["s2"]), ("third, with comma; and more", ["s3"])]
    expected = [text for text, _ in rows], [[URI + name for name in names] for _, names in rows]
    assert (
        read_texts(annif(rows)) == read_texts(annif(rows, "\t")) == read_texts(gzip.compress(annif(rows))) == expected
    )
    table = f'text,subject_uris,title\n"{TEXTS[2]}",<{URI}a> <{URI}b>,t\nother,{URI}b,t\n'.encode()
    assert read_texts(table) == ([TEXTS[2], "other"], [[URI + "a", URI + "b"], [URI + "b"]])


def test_a_vocabulary_gives_names_to_uris():
    rows = [("one", ["s1", "s2"]), ("two", ["s2"])]
    tsv = f"<{URI}s1>\tnetworks\n<{URI}s2>\tInternet\t42.42\n".encode()
    table = f"uri,label_en,label_fi\n{URI}s1,networks,verkot\n{URI}s2,Internet,Internet\n".encode()
    for names in (tsv, gzip.compress(tsv), {f"{URI}s1": "networks", f"{URI}s2": "Internet"}):
        assert read_texts(annif(rows), names=names)[1] == [["networks", "Internet"], ["Internet"]]
    with pytest.warns(DatasetWarning, match="names are those of the column label_en. It also has names in: fi"):
        assert read_texts(annif(rows), names=table)[1][0] == ["networks", "Internet"]


def test_a_vocabulary_that_lacks_labels_is_named():
    with pytest.warns(DatasetWarning, match=rf"1 of 2 labels \({URI}s2 in line 1\) is not in the vocabulary and kept"):
        found = read_texts(annif([("one", ["s1", "s2"]), ("two", ["s2"])]), names={f"{URI}s1": "networks"})
    assert found[1] == [["networks", f"{URI}s2"], [f"{URI}s2"]]


def test_two_subjects_of_one_name_stay_two_labels():
    names = {f"{URI}planet": "Mercury", f"{URI}metal": "Mercury"}
    found = read_texts(annif([("one", ["planet", "metal"]), ("two", ["metal"])]), names=names)
    assert found[1] == [[f"Mercury <{URI}planet>", f"Mercury <{URI}metal>"], [f"Mercury <{URI}metal>"]]


def test_labels_may_be_in_several_columns():
    named = csv(first=[row[0] for row in LABELS], second=[(row + [""])[1] for row in LABELS])
    assert read_texts(named, labels=["first", "second"])[1] == LABELS
    names = sorted({name for row in LABELS for name in row})
    for yes, no in ((1, 0), ("yes", "no"), (True, False)):
        table = csv(**{name: [yes if name in row else no for row in LABELS] for name in names})
        assert [sorted(row) for row in read_texts(table, labels=names)[1]] == [sorted(row) for row in LABELS]
    lines = b'{"text": "a", "l1": "x", "l2": ["y", "z"]}\n{"text": "b", "l1": "z", "l2": null}'
    assert read_texts(lines, labels=["l1", "l2"])[1] == [["x", "y", "z"], ["z"]]


MIXED = b'text,labels\none,"a, b; c|d"\n'
NAMELESS = b"a long text of several words,x;y\nanother long text of words,y\n"
LONG = b"this is a long document without a name in the first line of its file\nthis is another one, of words\n"
READ = {
    "several columns of text": (b"title,abstract,tags\nOne,first text,a\nTwo,,b\n",
                                {"text": ["title", "abstract"], "labels": "tags"}, ["One\nfirst text", "Two"], None),
    "columns by number": (NAMELESS, {"text": "1", "labels": "2"}, None, [["x", "y"], ["y"]]),
    "no header": (b"text,labels\nmore,x\n", {"text": "1", "labels": "2", "header": False}, ["text", "more"], None),
    "other case": (b"TEXT,Labels\none,x\n", {}, ["one"], [["x"]]),
    "no labels": (b"text\none\ntwo\n", {"labels": None}, ["one", "two"], [[], []]),
    "JSON without labels": (b'{"text": "one"}\n{"text": "two"}', {"labels": None}, ["one", "two"], None),
    "folder without labels": (zipped({"a.txt": "one", "b.txt": "two"}), {"labels": None}, ["one", "two"], None),
    "lines of text": (LONG, {"labels": None}, LONG.decode().splitlines(), None),
    "between labels: ;": (MIXED, {"separator": ";"}, None, [["a, b", "c|d"]]),
    "between labels: ,": (MIXED, {"separator": ","}, None, [["a", "b; c|d"]]),
    "between labels: |": (MIXED, {"separator": "|"}, None, [["a, b; c", "d"]]),
    "between labels: none": (MIXED, {"separator": "none"}, None, [["a, b; c|d"]]),
    "brackets in part": (b"text,labels\none,[x];y\ntwo,y\n", {}, None, [["[x]", "y"], ["y"]]),
    "halves of characters": (b'{"text": "a \\ud800 b", "labels": ["\\udc00", "ok \\ud83d\\ude00"]}', {}, ["a \ufffd b"],
                             [["\ufffd", "ok \U0001f600"]]),
}  # fmt: skip


@pytest.mark.parametrize("kind", READ)
def test_columns_and_separators_are_read_as_said(kind):
    content, options, texts, label_lists = READ[kind]
    found = read_texts(content, **options)
    assert texts is None or found[0] == texts
    assert label_lists is None or found[1] == label_lists


def test_a_mark_in_few_cells_does_not_divide_all():
    rows = ["Smith, J.; Doe, A.", "Roe, B.", "Poe, E.; Lee, C.", "plain", "Kay, D.; Day, K."]
    table = pd.DataFrame({"text": list("abcde"), "labels": rows}).to_csv(index=False).encode()
    assert guess_columns(table).separator == ";"
    rows = ["a, b", "c, d", "R&amp;B, e", "f, g", "h, i"]
    table = pd.DataFrame({"text": list("abcde"), "labels": rows}).to_csv(index=False).encode()
    assert guess_columns(table).separator == ","


def test_other_encodings_are_read_when_they_are_said():
    text = "text,labels\nœuvre – naïve,été\n"
    for encoding in ("cp1252", "utf-16", "utf-16-le"):
        assert read_texts(text.encode(encoding), encoding=encoding) == (["œuvre – naïve"], [["été"]])
    with pytest.raises(
        DatasetFormatError, match=r"data, line 2: the byte b'\\x9c' is not UTF-8. Choose its encoding.*encoding="
    ):
        read_texts(text.encode("cp1252"))
    with pytest.raises(DatasetFormatError, match="it is UTF-16 text"):
        read_texts(text.encode("utf-16"))
    with pytest.raises(ValueError, match="there is no encoding 'klingon'"):
        read_texts(text.encode(), encoding="klingon")


def test_a_wrong_byte_far_behind_the_beginning_has_its_line(monkeypatch):
    monkeypatch.setattr("xmlcore.datasets.texts.guess.HEAD", 1 << 16)
    table = b"text,labels\n" + b"a text of some words,x\n" * 50_000 + b"na\xefve,x\n"
    with pytest.raises(DatasetFormatError) as error:
        read_texts(table)
    assert error.value.line == 50_002


def test_empty_texts_no_labels_and_repeated_labels_are_said():
    table = b"text,labels\none,x;y;x\n ,x\ntwo,\n\n,\n"
    with pytest.warns(DatasetWarning) as seen:
        texts, label_lists = read_texts(table)
    assert (texts, label_lists) == (["one", " ", "two", ""], [["x", "y"], ["x"], [], []])
    assert [str(one.message) for one in seen] == [
        "data: 2 of 4 texts (first in line 3) are empty and will have no features",
        "data: 2 of 4 documents (first in line 4) are without labels",
        "data: 1 of 4 documents (in line 2) is listed with a label more than once, which counts once",
    ]


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        (b"text,labels\none,x\ntwo,y,z\n", {}, "data, line 3: it has 3 cells, but the first line 2. Put cells"),
        (b"text,labels\none,x\ntwo\n", {}, "data, line 3: it has 1 cell, but the first line 2"),
        (b'text,labels\none,x\n"two,y\nthree,z\n', {}, "data, line 3: a quotation mark opens a cell here and is never"),
        (b'text,labels\none,x\n"two" 2,y\n', {}, "data, line 3: a cell goes on after its closing quotation mark"),
        (b"title,body,tags\nTwo words,a long text of many words,x;y\n", {},
         "no column 'text'. Its columns are 'title', 'body', 'tags'. Texts seem to be in 'body', labels in 'tags'"),
        (b"text,tags\none,x\n", {}, "it has no column 'labels'"),
        (b'{"text": "one", "labels": ["x"]}\n{"text": 5, "labels": []}', {}, "data, line 2: the text in 'text' is 5"),
        (b'{"text": "one", "labels": ["x"]}\n{"text": "two", "labels": [["x"]]}', {}, r"line 2: a label .* is \['x'\]"),
        (b'{"text": "one", "labels": {"x": 1}}', {}, r"line 1: .*, an object with the keys 'x'. Write names"),
        (b'{"text": "one", "labels": ["x"]}\n{"text": ', {}, "data, line 2: it is no JSON"),
        (b'{"text": "one", "labels": ["x"], "labels": ["y"]}', {}, "line 1: .* 'labels' stands twice in an object"),
        (b'{"text": "one", "labels": ["x"]}\n5', {}, "data, line 2: it is a JSON number, not an object"),
        (b'{"text": {"en": "one", "fr": "un"}, "labels": []}', {}, "line 1: .* an object with the keys 'en', 'fr'"),
        (b'{"text": ["one", 2], "labels": []}', {}, r"data, line 1: the text in 'text' is \['one', 2\]"),
        (b'{"n": 1, "labels": ["x"]}', {"text": None}, "nothing says which of its columns has the texts: n, labels"),
        (b'{"text": "one", "labels": ["x"]}\n["two"]', {}, "data, line 2: it is a JSON list, not an object"),
        (b'[{"text": "one", "labels": ["x"]}]', {}, "it is one JSON list, not an object in each line"),
        (b"text,labels\none,[x\n", {"separator": "lists"}, r"data, line 2: '\[x' .* is no list of names"),
        (b"text,labels\none,x\n", {"separator": "uris"}, "data, line 2: 'x' in column 'labels' is no list of URIs"),
        (b"text,labels\n", {}, "it has no documents"),
        (b"\n\n", {}, "it holds no rows, only blank lines"),
        (b"", {}, "it is empty"),
        (b"PAR1 and nothing more", {}, "the Parquet file cannot be read"),
        (parquet(frame(labels=LABELS))[:-20], {}, "the Parquet file cannot be read"),
        (parquet(frame(labels=[1.5, 2.0, 3.0, 4.0])), {}, "data: row 1: a label in column 'labels' is 1.5"),
        (zipped({"a.txt": b"\xff", "a.key": "x"}), {}, r"data: a.txt, line 1: the byte b'\\xff' is not UTF-8"),
        (zipped({"a.json": "{", "b.json": "{}"}), {}, "data: a.json: it is no JSON"),
        (gzip.compress(csv(labels=listed(";")))[:-9], {}, "its gzip data cannot be read"),
        (b"\x89PNG\r\n", {}, "it is a PNG image"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",  # contents of packed files differ with the time
)  # fmt: skip
def test_what_is_wrong_is_said_with_its_place_and_a_remedy(content, options, message):
    with pytest.raises(DatasetFormatError, match=message) as error:
        read_texts(content, **options)
    assert error.value.remedy


def test_a_cell_that_does_not_say_yes_or_no_is_named():
    table = b"text,a,b\n" + b"one,1,0\n" * 1500 + b"two,1,maybe\n"
    with pytest.raises(DatasetFormatError, match="data, line 1502: the cell of the label 'b' is 'maybe'") as error:
        read_texts(table, labels=["a", "b"])
    assert error.value.line == 1502


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"format": "xml"}, ValueError, "format must be 'auto', 'csv'"),
        ({"separator": "and"}, ValueError, "separator must be one of 'auto'"),
        ({"text": []}, ValueError, "text names no column"),
        ({"text": 0}, TypeError, "'int' object is not iterable|a column is 0"),
        ({"labels": [1]}, TypeError, "a column is 1: give its name"),
    ],
    ids=str,
)
def test_arguments_that_mean_nothing_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        read_texts(FILES["commas"], **options)


def test_more_text_than_allowed_is_refused():
    bomb = gzip.compress(b"text,labels\n" + b"a,b\n" * 1_000_000)
    with pytest.raises(DatasetFormatError, match="more than 100,000 bytes of text"):
        read_texts(bomb, max_bytes=100_000)
    with pytest.raises(DatasetFormatError, match="more than 10 bytes of text"):
        read_texts(FILES["Parquet text"], max_bytes=10)
    many = zipped({"a.txt": "x" * 100_000, "a.key": "y"})
    with pytest.raises(DatasetFormatError, match="more than 10,000 bytes of text"):
        read_texts(many, max_bytes=10_000)


def test_without_pyarrow_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(DatasetFormatError, match="pyarrow, which reads it, is missing. Install it"):
        read_texts(FILES["Parquet lists"])


def test_reading_reports_how_far_it_is_and_can_be_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr("xmlcore.datasets.readers.sources._CHUNK", 1000)
    path = tmp_path / "d.csv"
    path.write_bytes(b"text,labels\n" + b"a text of words,x;y\n" * 200)
    seen = []
    read_texts(path, progress=lambda *facts: seen.append(facts))
    assert len(seen) > 2 and [share for _, share, *_ in seen] == sorted(share for _, share, *_ in seen)

    def stop(*facts):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        read_texts(path, progress=stop)


def test_the_first_documents_are_read_alone():
    assert [len(part) for part in read_texts(FILES["commas"], max_documents=3)] == [3, 3]
    late = b"text,labels\none,x\ntwo,y\nthree,x,y\n"
    assert read_texts(late, max_documents=2) == (["one", "two"], [["x"], ["y"]])
    with pytest.raises(ValueError, match="max_documents"):
        read_texts(late, max_documents=0)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"id;name;abstract;keywords\n1;n;a long text;a, b\n2;n;another text;b\n", ("abstract", "keywords", ",")),
        (b"nr,comment\n1,this is a text\n2,so is this one\n", ("comment", None, "none")),
        (b"review,spam,ham\na text of words,1,0\nmore of these,0,1\n", ("review", ("spam", "ham"), "none")),
        (b"question,tag_1,tag_2\nwhat is it?,a,b\nwho is it?,b,\n", ("question", ("tag_1", "tag_2"), "none")),
        (b'{"q": "what is this about?", "xs": ["a"]}\n{"q": "and what is that?", "xs": []}', ("q", "xs", "none")),
        (b'{"id": "a1", "text": ["a", "cat"], "labels": ["x"]}', ("text", "labels", "none")),
        (b'{"doc": "a1", "tokens": ["a", "cat", "sat"], "ys": ["b"]}', ("tokens", "ys", "none")),
        (b'{"q": "what is it?", "words": ["w1", "w2", "w3", "w4"], "tags": ["b"]}', ("q", "tags", "none")),
        (b'\xef\xbb\xbf{"text": "a", "labels": [1]}\r\n\n{"text": NaN, "labels": NaN}\r\n', ("text", "labels", "none")),
    ],
    ids=str,
)  # fmt: skip
def test_columns_of_other_names_are_guessed(content, expected):
    guess = guess_columns(content)
    assert (guess.text, guess.labels, guess.separator) == expected
    with warnings.catch_warnings(action="ignore"):
        read_texts(content, **guess.options)


def test_an_id_never_takes_the_place_of_texts():
    for name in ("text", "body", "payload"):
        options = guess_columns(f'{{"id": "a1", "{name}": {{"en": "a cat"}}, "labels": ["x"]}}'.encode()).options
        assert options["text"] == name
    assert guess_columns(b'{"id": "a1", "labels": ["x"]}').text is None
    assert read_texts(b'{"text": ["a", "cat"], "labels": ["x"]}') == (["a cat"], [["x"]])


def test_a_column_that_repeats_itself_has_labels():
    names = [f"a long name of the label number {i}" for i in range(6)]
    rows = [f"short text; of {i} words,{names[i % 6]}; {names[i % 4]}" for i in range(40)]
    guess = guess_columns(("gloss,hypernyms\n" + "\n".join(rows)).encode())
    assert (guess.text, guess.labels, guess.separator) == ("gloss", "hypernyms", ";")


def test_guessing_leaves_a_file_object_where_it_was():
    for name in ("commas", "JSON lines", "Parquet lists", "folder of .key"):
        file = io.BytesIO(FILES[name])
        guess_columns(file)
        assert plain(read_texts(file)[0]) == plain(TEXTS)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux says how much memory a process had")
def test_a_file_takes_little_more_memory_than_its_texts(tmp_path):
    """Texts of 40 MB grow the process by less than 80 MB: two bytes of memory for each byte of the file."""
    path = tmp_path / "large.csv"
    row = ("word " * 200) + ",first label;second label;third label\n"
    path.write_text("text,labels\n" + row * (40_000_000 // len(row)))
    code = (
        "import sys\nfrom pathlib import Path\nfrom xmlcore.datasets import read_texts\n"
        "status = Path('/proc/self/status')\n"
        "peak = lambda: 1024 * int(status.read_text().split('VmHWM:')[1].split()[0])\n"
        "read_texts(b'text,labels\\na,b\\n')\nbefore = peak()\nread_texts(sys.argv[1])\nprint(peak() - before)"
    )
    command = [sys.executable, "-c", code, str(path)]
    shown = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert 40e6 < int(shown.stdout) < 80e6


@pytest.mark.parametrize("read", [read_texts, guess_columns])
def test_an_archive_of_other_files_is_refused(read):
    with pytest.raises(DatasetFormatError, match="holds 2 files .*which are no documents") as raised:
        read(zipped({"a.md": "text", "a.tsv": f"<{URI}a>\ta"}))
    assert "document.txt" in raised.value.remedy and "rows" not in raised.value.remedy


def test_files_of_subjects_without_a_text_are_said():
    files = {"a.txt": "text", "a.key": "x", "b.key": "y", "deep/a.tsv": f"<{URI}a>\ta"}
    with pytest.warns(DatasetWarning, match=r"2 files of subjects have no \.txt file .* \(b\.key, a\.tsv\)"):
        assert read_texts(zipped(files)) == (["text"], [["x"]])
