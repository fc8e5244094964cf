"""The Data page: rows that are looked at, files that are chosen, and what one session learns of another."""

import io
import re
import threading
import zipfile

import pytest

from pages.data import answer
from pages.data.forms import formats
from pages.shared import addresses, door
from tests.pages.making import fields_of, put_file, train
from tests.pages.small import small_data, xmlc
from xmlcore import datasets, experiment

FORMS = ("Upload data", "Rename, convert or remove")


def choose(session, name, content, what="train"):
    key = f"upload.{what}.{session.at.session_state['upload.round']}"
    put_file(session, key, name, content)
    return session.run()


def upload(session, name, content):
    return choose(session, name, content).make("upload.make")


def table(session):
    """The table of rows."""
    return next(t for t in session.at.dataframe if {"row", "labels"} <= set(t.value.columns))


def shown(session):
    """The row whose features are shown."""
    heading = next(m.value for m in session.at.markdown if m.value.startswith("**Training row"))
    return int(heading.removeprefix("**Training row ").split("*")[0].split(":")[0].replace(",", ""))


def tick(session, *lines):
    """What the browser sends when a line of the table is ticked, or no more."""
    return session.tick(table(session), *lines)


def listed(session):
    return table(session).value["row"].tolist()


def test_the_row_looked_at_outlives_page_and_search(ready):
    assert (shown(ready), listed(ready)) == (0, list(range(60)))
    assert shown(tick(ready, 3)) == 3 == shown(tick(ready))
    before = table(ready).proto.id
    assert table(ready.click("Random row")).proto.id != before, "a new table, in which another line is ticked"
    assert shown(ready) != 3 and listed(ready) == list(range(60))
    assert shown(tick(ready, 7)) == 7 == shown(ready.go("train").go("data"))
    assert shown(ready.search("rows.query", "topic *3*")) in listed(ready)
    assert shown(ready.search("rows.query", "")) == 7


def test_chosen_files_outlive_a_page_switch_and_can_be_cleared(ready):
    content = xmlc(small_data("other", seed=1))
    choose(ready, "mine.txt", content).set("upload.name.0", "Mine").go("train").go("data")
    assert "Chosen before: mine.txt" in ready.text()
    assert ready.at.text_input(key="upload.name.0").value == "Mine"
    assert ready.make("upload.make").metrics()["Training rows"] == "48"
    assert "**Mine**" in ready.text()
    choose(ready, "other.txt", content).go("train").go("data").press("upload.train.1.clear")
    assert "Chosen before" not in ready.text()
    assert ready.at.button(key="upload.make").disabled
    choose(ready, "mine.txt", content).set(f"upload.train.{ready.at.session_state['upload.round']}", None)
    assert "Chosen before" not in ready.text() + ready.go("train").go("data").text()


def test_a_form_stays_open_when_its_file_is_taken_off(ready):
    is_open = lambda: next(e for e in ready.at.expander if e.label == "Add a data set").proto.expanded  # noqa: E731
    del ready.at.session_state["data.box.add"]
    content = xmlc(small_data("other", seed=1))
    ready.at.session_state[addresses.ADDING] = True
    choose(ready.run(), "mine.txt", content)
    assert is_open() and ready.set("upload.train.0", None) and is_open()
    assert choose(ready, "mine.txt", content).go("train").go("data").press("upload.train.0.clear") and is_open()
    choose(ready, "mine.txt", content).make("upload.make")
    assert not is_open(), "its data set is there"


def test_names_of_files_are_told_to_no_other_session(ready, session):
    content = xmlc(small_data("other", seed=1))
    upload(ready, "secret-client.txt", content)
    assert "60 rows of secret-client.txt" in ready.text()
    upload(ready, "vegetables.txt", content)
    assert "secret-client with the same content as vegetables" in ready.text()
    names = [entry["name"] for entry in ready.at.session_state["workspace.snapshot"]["known"].values()]
    assert names == ["api-docs", "secret-client"]
    stranger = upload(session(), "fruit.txt", content)
    assert "12 of the 60 rows of fruit.txt" in stranger.text()
    assert "secret" not in stranger.text() and "fruit" not in ready.run().text()


def test_a_file_is_read_by_a_worker_while_the_page_can_be_used(ready, monkeypatch):
    going_on, read = threading.Event(), datasets.read_dataset

    def held(*args, progress, **options):
        progress("Reading the training rows", 0.5)
        assert going_on.wait(20)
        return read(*args, progress=progress, **options)

    monkeypatch.setattr("xmlcore.experiment.kinds.read.read_dataset", held)
    choose(ready, "fruit.txt", xmlc(small_data("other", seed=1))).press("upload.make")
    ready.until(lambda s: "training rows: 50 %" in s.text())
    assert "**Reading fruit**" in ready.text() and ready.at.button(key="upload.make").disabled
    ready.click("Random row")  # the page answers meanwhile
    going_on.set()
    ready.until(lambda s: "**fruit**: 60 rows" in s.text())
    assert ready.at.session_state["upload.round"] == 1  # empty widgets: the bytes are let go


def test_an_unreadable_file_is_named_with_line_and_remedy(ready):
    upload(ready, "fruit.txt", b"3 4 2\n0 0:1\n1 1:zwei\n0 2:1\n")
    said = ready.until(lambda s: s.at.error).at.error[0].value.replace("\\", "")
    assert "fruit.txt, line 3, column 5: " in said
    assert ready.at.session_state["upload.round"] == 0, "the files stay chosen"
    assert not upload(ready, "fruit.txt", xmlc(small_data("other", seed=1))).at.error


@pytest.mark.sections("Frequency")
def test_arff_with_xml_is_converted_to_npz_and_read_back(ready, tmp_path):
    data = small_data("other", seed=1)
    datasets.write_arff(tmp_path / "a.arff", data.X_train, data.Y_train, data.feature_names, data.label_names,
                        xml=tmp_path / "a.xml")  # fmt: skip
    choose(ready, "fruit.arff", (tmp_path / "a.arff").read_bytes())
    choose(ready, "fruit.xml", (tmp_path / "a.xml").read_bytes(), "label_file")
    assert "**fruit**: 60 rows" in ready.make("upload.make").text()
    assert {"Mean imbalance (IRLbl)", "SCUMBLE"} <= ready.metrics().keys()
    ready.at.selectbox(key="manage.format").set_value("npz")
    ready.run().press("manage.write").until(lambda s: any(label.startswith("fruit.zip") for label in s.downloads()))
    used = ready.at.session_state["workspace.snapshot"]["dataset"]
    written = experiment.task("export", {"dataset": used}, {"format": "npz"}).file()
    with zipfile.ZipFile(written) as archive:
        parts = [io.BytesIO(archive.read(f"{part}.npz")) for part in ("train", "test")]
    back = datasets.read_dataset(*parts)
    assert back.content_hash == datasets.load_saved(used).content_hash and back.n_train + back.n_test == 60
    assert (back.label_names, back.feature_names) == (data.label_names, data.feature_names)


@pytest.mark.sections("all")
def test_data_without_labels_draw_no_empty_figure(ready):
    upload(ready, "bare.txt", b"20 3 4\n" + b"".join(b" %d:1\n" % (i % 3) for i in range(20)))
    assert any("No training row has a label" in warning.value for warning in ready.at.warning)
    assert len(ready.at.get("plotly_chart")) == 2, "labels and features per row"
    upload(ready, "five.txt", b"5 3 4\n0,1 0:1\n1 1:1\n2 2:1\n\n3 0:1 1:2\n")
    assert "5 rows, 3 features, 4 labels." in ready.text()
    about = next(metric.help for metric in ready.at.metric if metric.label == "Labels")
    assert re.findall("\\d+ at most \\d+", about) == ["1 at most 0", "3 at most 1", "4 at most 5", "4 at most 10"]


def test_the_panel_goes_on_from_a_data_set_until_all_are_trained(ready, session):
    def offered(page):
        return [b.key for b in page.at.main.button if (b.key or "").startswith("data.start.")]

    assert answer.API_DOCS in ready.text() and "related ones" in answer.API_DOCS, "a text may name others"
    upload(ready, "fruit.txt", xmlc(small_data("other", seed=1)))
    assert answer.OTHER.format("fruit") in ready.text()
    assert offered(ready) == ["data.start.Train", "data.start.Compare", "data.start.close"]
    train(ready)
    assert offered(ready.run()), "what is being read does not move"
    with fields_of(ready) as fields:  # it was begun in the background
        fields["runs"][0]["asked"], fields["unasked"] = 0.0, {fields["runs"][0]["key"]: True}
    assert offered(ready.go("train").go("data")), "nobody has trained a model yet"
    with fields_of(ready) as fields:
        fields["runs"][0]["asked"] = 1.0  # by pressing Train
    assert offered(ready.go("train").go("data"))[0] == "data.start.Compare", "three models are left"
    assert ready.at.button(key="data.start.Compare").label == "Train LdSM, OneVsRest and DoubleSampling"
    for model in ("LdSM", "OneVsRest", "DoubleSampling"):
        train(ready, model)
    assert not offered(ready.go("train").go("data")), "all models are trained"
    ready = session()
    ready.press("data.start.close")
    for token, is_there in ((ready.token, False), (ready.look_only(), False), (None, True)):
        assert bool(offered(session(token))) == is_there


def test_all_models_are_trained_by_one_button(ready, server, held):
    ready.press("data.start.Compare")
    waits = {job.plan.task["params"]["model"] for job in server.jobs() if job.plan.task["kind"] == "train"}
    assert waits == {"PLT", "LdSM", "OneVsRest", "DoubleSampling"}
    held()


def test_a_model_that_cannot_learn_the_data_is_left_out_and_named(ready):
    upload(ready, "one.txt", b"4 3 1\n0 0:1\n0 1:1\n0 2:1\n0 0:1 1:1\n")
    assert ready.at.button(key="data.start.Compare").label == "Train PLT, LdSM and OneVsRest"
    assert door.NO_PAIRS in ready.text() and "DoubleSampling" in ready.text()


def test_the_data_set_in_use_can_be_changed_on_every_page(ready):
    upload(ready, "fruit.txt", xmlc(small_data("other", seed=1)))
    known = [*ready.at.session_state["workspace.snapshot"]["known"]]
    for name, wanted in (("train", known[0]), ("storage", known[1])):
        page = ready.go(name).set("sidebar.dataset", wanted)
        assert page.at.session_state["workspace.snapshot"]["dataset"] == wanted


def test_the_sample_file_can_be_read_and_has_the_first_rows(ready):
    fingerprint = ready.at.session_state["workspace.snapshot"]["dataset"]
    data = datasets.load_saved(fingerprint)
    X, Y, *_ = datasets.read_matrix(formats._sample(fingerprint, "xmlc"))
    n = min(formats.SAMPLE_ROWS, data.n_train)
    for name in ("arff", "npz", "svmlight"):
        assert datasets.read_matrix(formats._sample(fingerprint, name), name)[0].shape[0] == n
    assert (X != data.X_train[:n]).nnz == 0 and (Y != data.Y_train[:n]).nnz == 0
    if data.texts_train is not None:
        assert len(datasets.read_texts(formats._sample(fingerprint, "fasttext"))[0]) == n
    for _, example in formats.FORMATS.values():
        assert 2 <= example.count("\n") <= 4, "three lines of each, and five of ARFF's header and rows"


CSV = b"width,weight,apple,red\n" + b"1,2,1,0\n3,0,0,1\n" * 20
ARFF = (
    b"@relation fruit\n@attribute width numeric\n@attribute weight numeric\n@attribute apple {0,1}\n@data\n"
    + b"1,2,1\n3,1,0\n" * 9
)


def selectbox(session, label):
    return next(box for box in session.at.selectbox if box.label == label)


def counts(session):
    return [session.metrics()[name] for name in ("Training rows", "Test rows", "Features", "Labels")]


def test_a_table_or_archive_is_recognised(ready):
    choose(ready, "fruit.csv", CSV)
    assert "a table with 4 columns" in ready.text()
    assert selectbox(ready, "Labels are").value == "last"
    assert next(n.value for n in ready.at.number_input if n.label == "How many columns") == 2
    assert counts(ready.make("upload.make")) == ["32", "8", "2", "2"]
    choose(ready, "fruit.csv", b"a,b\n3,4\n5,6\n" * 5)
    assert selectbox(ready, "Labels are").value is None
    assert "“Labels are”" in ready.make("upload.make").at.error[0].value.replace("\\", "")
    header = "@relation fruit\n@attribute width numeric\n@attribute apple {0,1}\n@attribute red {0,1}\n@data\n"
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("fruit-train.arff", header + "1,0,1\n2,1,0\n")
        archive.writestr("fruit-test.arff", header + "3,1,1\n")
        archive.writestr("fruit.xml", '<labels><label name="apple"></label><label name="red"></label></labels>')
    choose(ready, "fruit.zip", packed.getvalue())
    assert "test rows from fruit-test.arff" in ready.text()
    assert not any(box.label == "Labels are" for box in ready.at.selectbox)
    assert counts(ready.make("upload.make")) == ["2", "1", "1", "2"]


def test_columns_of_labels_are_named_or_in_their_own_file(ready):
    choose(ready, "fruit.csv", CSV)
    selectbox(ready, "Labels are").set_value("named").run()
    assert ready.at.multiselect[0].value == ["apple", "red"]
    ready.at.multiselect[0].set_value(["red"]).run()
    assert counts(ready.make("upload.make"))[2:] == ["3", "1"]
    choose(ready, "fruit.arff", ARFF)
    assert "an ARFF file with 3 attributes" in ready.text()
    xml = b'<labels xmlns="http://mulan.sourceforge.net/labels"><label name="apple"></label></labels>'
    choose(ready, "fruit.xml", xml, "label_file")
    assert not any(box.label == "Labels are" for box in ready.at.selectbox)
    assert counts(ready.make("upload.make"))[2:] == ["2", "1"]


@pytest.mark.parametrize(
    ("name", "content", "offer", "n_features"),
    [
        ("fruit.csv", b"id,width,apple,red\n" + b"first,1.5,1,0\nsecond,2,0,1\n" * 5, "Leave out columns of text", "1"),
        ("fruit.txt", b"9 2 2\n" + b"0 1:1\n1 3:1\n" * 9, "Ignore the header’s counts", "4"),
    ],
)
def test_what_a_refusal_offers_is_ticked_and_the_file_is_read(ready, name, content, offer, n_features):
    upload(ready, name, content)
    assert f"“{offer}”" in ready.at.error[0].value.replace("\\", "")
    next(box for box in ready.at.checkbox if box.label == offer).check().run()
    assert counts(ready.make("upload.make"))[2] == n_features
