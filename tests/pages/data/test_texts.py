"""Files of texts with labels on the Data page: the guess, the fields that change it, and what is read."""

import io

import numpy as np
import pytest

from pages.data.forms import form
from tests.pages.making import put_file
from xmlcore import datasets

TOPICS = {"animals": "cat dog horse", "food": "bread cheese wine", "law": "court judge crime"}

FORMS = ("Upload data", "Upload texts", "Other words")


def documents(n=60):
    rows = ["id,headline,story,keywords"]
    names = list(TOPICS)
    for i in range(n):
        first, second = names[i % 3], names[(i * 7 + 1) % 3]
        story = f'"The {TOPICS[first]}, and\nthe {TOPICS[second]} of number {i}"'
        rows.append(f"{i},Title {i % 5},{story},{first};{second}" if first != second else f"{i},T,{story},{first}")
    return "\n".join(rows).encode()


def choose(session, content=None, name="news.csv"):
    round_ = session.at.session_state["texts.round"]
    content = documents() if content is None else content
    put_file(session, f"texts.train.{round_}", name, content)
    return session.run()


def field(session, kind, ending):
    fields = [each for each in getattr(session.at, kind) if each.key.startswith("texts.columns.")]
    return next(each for each in fields if each.key.endswith(ending))


def n_features(page):
    """The number of features of the documents in the form, which stands above that of the data set in use."""
    return int(next(metric.value for metric in page.at.metric if metric.label == "Features"))


def test_documents_become_a_data_set_with_texts(ready):
    page = choose(ready)
    assert "a CSV table of 4 columns" in page.text()
    assert "documents, which have 3 labels" in page.text()
    assert field(page, "multiselect", ".text").value == ["story"]
    assert field(page, "multiselect", ".labels").value == ["keywords"]
    assert n_features(page) == 13 and page.metrics()["Without features"] == "0"
    page.press("texts.make").until(lambda s: "60 rows" in s.text())
    assert "**news**" in page.text() and "Words became" in page.text()
    assert page.frame("row", "text", "labels")["text"].str.startswith("The ").all()
    assert any("The cat dog horse, and\nthe" in element.proto.body for element in page.at.get("html"))
    kept = datasets.load_saved(page.at.session_state["workspace.snapshot"]["dataset"])
    assert kept.n_train == 48 and kept.label_names == ["animals", "food", "law"] and kept.vectorizer is not None


def test_a_redacted_file_shows_no_text_of_the_raw_one(ready, session):
    for page, name in ((ready, "Zoe"), (session(), "***")):
        content = f"text,labels\n{name} and the bird,a\n" + "a bird,a\nthe cat,b\n" * 20
        choose(page.go("data"), content.encode()).press("texts.make").until(lambda s: "41 rows" in s.text())
        kept = datasets.load_saved(page.at.session_state["workspace.snapshot"]["dataset"])
        assert any(name in text for text in [*kept.texts_train, *kept.texts_test])
    shown = [*page.frame("row", "text", "labels")["text"], *(element.proto.body for element in page.at.get("html"))]
    assert not any("Zoe" in text for text in [*shown, page.text()])


def test_texts_among_the_files_of_numbers_are_recognised(ready):
    put_file(ready, "upload.train.0", "numbers.csv", b"a,b,y\n1,2,0\n3,4,1\n")
    assert "seems to hold texts" not in ready.run().text()
    put_file(ready, "upload.train.0", "news.csv", documents())
    assert "news.csv seems to hold texts" in ready.run().text()
    page = ready.press("upload.to_texts")
    assert "seems to hold texts" not in page.text() and "Chosen before: news.csv" in page.text()
    page.press("texts.make").until(lambda s: "60 rows" in s.text())


def test_columns_and_settings_can_be_changed(ready):
    page = choose(ready)
    field(page, "multiselect", ".text").set_value(["headline", "story"])
    assert n_features(page.set("texts.units", "words 2")) > 30
    assert page.frame("text", "labels")["text"].iloc[0].startswith("Title 0\nThe cat")
    page.press("texts.make").until(lambda s: "60 rows" in s.text())
    first = page.at.session_state["workspace.snapshot"]["dataset"]
    kept = datasets.load_saved(first)
    assert kept.vectorizer.ngrams == (1, 2) and any("title" in name for name in kept.feature_names)
    page.set("reword.units", "words 3").make("reword.make")
    page.until(lambda s: s.at.session_state["workspace.snapshot"]["dataset"] != first)
    again = datasets.load_saved(page.at.session_state["workspace.snapshot"]["dataset"])
    assert "**news, words, pairs and triples**" in page.run().text() and again.vectorizer.ngrams == (1, 3)
    assert again.texts_train == kept.texts_train


def test_a_file_of_vectors_stands_beside_the_words(ready):
    np.save(file := io.BytesIO(), np.eye(60, 4))
    page = choose(ready)
    put_file(page, f"texts.vectors.{page.at.session_state['texts.round']}", "v.npy", file.getvalue())
    page.run().press("texts.make").until(lambda s: "60 rows" in s.text())
    kept = datasets.load_saved(page.at.session_state["workspace.snapshot"]["dataset"])
    assert kept.vectorizer.widths_beside_ == [4] and kept.feature_names[-1] == "vector 3"


@pytest.mark.parametrize("labels", ['["law", "art"]', '"law"'])
def test_nothing_stands_between_labels_of_lists(ready, labels):
    line = '{"text": "a long text of a court", "labels": ' + labels + "}\n"
    page = choose(ready, line.encode() * 4, "news.jsonl")
    found = next(box for box in page.at.selectbox if box.label == "Between labels")
    shown = found.options[found.index]
    assert shown == ("nothing: the cells have lists" if labels[0] == "[" else "nothing: a cell is one label")


@pytest.mark.parametrize(("content", "said"), [
    (b"text,labels\none word,\none more word,\n", "No document has a label"),
    (b'text,labels\none,x\n"two,y\n', "news.csv, line 3"),
    (b"text,labels\none,x\ntwo,y\n", "no word is in at least 2"),
])  # fmt: skip
def test_what_cannot_be_read_is_said_at_once(ready, content, said):
    page = choose(ready, content)
    assert said in page.text()


@pytest.mark.parametrize(("error", "control"), [
    (lambda: datasets.read_texts(b"text,labels\n\xe9,x\n"), "Encoding"),
    (lambda: datasets.read_texts(b"story,tags\none two,x;y\n"), "Texts are in"),
    (lambda: datasets.TextVectorizer().fit(["one", "two"]), "Min texts with a word"),
    (lambda: datasets.TextVectorizer(min_df=2, max_df=0.1).fit(["one"] * 9), "Max texts with a word"),
    (lambda: datasets.TextVectorizer(hashing_bits=3, max_features=3).check(), "Max features"),
    (lambda: datasets.read_matrix(b'{"text": "a"}\n'), "Upload texts"),
    (lambda: datasets.read_matrix(b"text,a\none,1\ntwo,0\n", labels=-1), "Leave out columns of text"),
])  # fmt: skip
def test_refusals_name_the_controls_and_no_arguments(error, control):
    with pytest.raises(ValueError) as caught:
        error()
    message = form.explain(caught.value).replace("\\", "")
    assert f"“{control}”" in message and "=" not in message and "_" not in message


def test_a_missing_column_or_another_encoding_is_asked_for(ready):
    page = choose(ready, documents().replace(b"Title", "Titré".encode("cp1252")))
    assert "is not UTF-8" in page.text()
    page.set(next(box.key for box in page.at.selectbox if "encoding" in box.key), "cp1252")
    assert "Showing 5 of 60 documents" in page.text()
    page = choose(ready, b"number,remark\n1,this is a text\n2,so is this one\n")
    assert "Choose the column of the texts" in page.text() and page.at.button(key="texts.make").disabled
    page = choose(ready, b"a cat\na dog\n", "news.txt")
    assert "It has no labels" in page.text()
