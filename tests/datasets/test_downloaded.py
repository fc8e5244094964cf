"""Published data sets are downloaded, found where a user put them, unpacked and read."""

import gzip
import hashlib
import io
import json
import tarfile

import pytest
from datasets.reads import zip_without_a_name
from datasets.serving import File, serving

from tests.archiving import zipped
from xmlcore import store
from xmlcore.datasets import DatasetFormatError, DownloadError, make_synthetic, write_arff, write_matrix
from xmlcore.datasets.registry import catalog as registry
from xmlcore.datasets.registry import downloaded
from xmlcore.datasets.registry.downloaded import load, unpack
from xmlcore.datasets.registry.entries import CatalogEntry, published
from xmlcore.datasets.registry.fetch import DownloadLimits
from xmlcore.progress import Cancelled

QUICK = DownloadLimits(attempts=2, pause=0.01, silence=1.0)


@pytest.fixture(scope="module")
def data():
    return make_synthetic(n_train=40, n_test=10, n_features=30, n_labels=6, features_per_row=5, labels_per_row=2)


@pytest.fixture
def place(tmp_path, monkeypatch):
    """The folder for files of published data sets."""
    monkeypatch.setenv("XMLCORE_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


@pytest.fixture
def folder(place):
    """The folder of one data set, into which a user puts files."""
    (place / "some-set").mkdir(parents=True)
    return place / "some-set"


def text(data, part, tmp_path):
    path = tmp_path / "text"
    write_matrix(path, getattr(data, f"X_{part}"), getattr(data, f"Y_{part}"))
    return path.read_bytes()


@pytest.fixture
def whole(data, tmp_path):
    """An archive as the repository has it."""
    return zipped({f"Set/set_{part}.txt": text(data, part, tmp_path) for part in ("train", "test")})


def entry(*addresses, **changed):
    facts = {"n_rows": 50, "n_features": 30, "n_labels": 6, "page": "http://where.it.is", "addresses": addresses}
    return CatalogEntry("some-set", "Rows.", "There.", **(facts | changed))


def same(read, data):
    for name in ("X_train", "Y_train", "X_test", "Y_test"):
        assert (getattr(read, name) != getattr(data, name)).nnz == 0
    return True


def test_a_data_set_is_downloaded_once_and_says_what_came(place, whole, data):
    with serving({"/set.zip": File(whole)}) as address:
        read = load(entry(f"{address}/set.zip"), limits=QUICK)
    assert same(read, data) and read.name == "some-set"
    assert f"Downloaded from {address}/set.zip" in read.notes[0] and len(read.notes) == 1
    digest = hashlib.sha256(whole).hexdigest()
    assert f"SHA-256 of what came begins with {digest[:12]}" in read.notes[0]
    (kept,) = store.inventory().artifacts.values()
    assert kept.record["download"]["sha256"] == digest and kept.record["name"] == "some-set" and kept.again
    assert kept.bytes == len(whole) and not [*(place / "some-set").iterdir()]
    assert same(load(entry(f"{address}/set.zip")), data)  # the server is gone: the file is here
    (place / "some-set" / "mine.zip").write_bytes(whole)
    assert "Read from mine.zip" in load(entry()).notes[0], "what a user put there comes first"


def test_without_a_network_a_file_got_by_hand_is_found(place, whole, data):
    with serving({}) as address:
        pass
    wanted = entry(f"{address}/set.zip")
    with pytest.raises(DownloadError) as error:
        load(wanted, limits=QUICK)
    assert "is this machine offline" in str(error.value)
    note = error.value.__notes__[0]
    assert f"Get it from http://where.it.is and put the file, packed or unpacked, into {place / 'some-set'}." in note
    (place / "some-set").mkdir(exist_ok=True)
    (place / "some-set" / "any name.zip").write_bytes(whole)
    read = load(wanted)
    assert same(read, data) and "Read from any name.zip, put into" in read.notes[0]


def test_without_an_address_the_message_says_so(place):
    with pytest.raises(DownloadError, match="no address from which some-set can be downloaded"):
        load(entry())


@pytest.mark.parametrize("names", [("train.txt", "test.txt"), ("Set_train.txt.gz", "Set_test.txt.gz")])
def test_unpacked_files_are_found_too(folder, data, tmp_path, names):
    (folder / "README.txt").write_text("About this set.")
    (folder / "Xf.txt").write_text("word\n")
    for name, part in zip(names, ("train", "test")):
        content = text(data, part, tmp_path)
        (folder / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    assert same(load(entry()), data)


def test_a_file_of_the_data_sets_name_is_found_beside_the_folder(place, data, whole):
    place.mkdir()
    (place / "some-set.zip").write_bytes(whole)
    assert same(load(entry()), data)


def test_an_archive_that_was_unpacked_with_its_folder_is_found(folder, data, tmp_path):
    for name in ("Some Set", "__MACOSX"):
        (folder / name).mkdir()
    for part in ("train", "test"):
        (folder / "Some Set" / f"{part}.txt").write_bytes(text(data, part, tmp_path))
    assert same(load(entry()), data)


def test_the_first_published_split_is_used(folder, data, tmp_path):
    (folder / "Set_data.txt").write_bytes(text(data, "train", tmp_path))
    (folder / "set_trSplit.txt").write_text("1 5\n40 6\n2 7\n")
    (folder / "set_tstSplit.txt").write_text("3 1\n4 2\n")
    read = load(entry(n_rows=5))
    assert (read.X_train != data.X_train[[0, 39, 1]]).nnz == 0 and (read.Y_test != data.Y_train[[2, 3]]).nnz == 0
    assert "Training and test rows are the first of the published splits." in read.notes
    (folder / "set_trSplit.txt").write_text("1\n41\n")
    with pytest.raises(DatasetFormatError, match="line 2: '41' is not the number of a row.* from 1 to 40"):
        load(entry())


def test_one_file_without_a_split_is_split_at_random(folder, data, tmp_path):
    (folder / "all.txt").write_bytes(text(data, "train", tmp_path))
    read = load(entry(n_rows=40))
    assert (read.n_train, read.n_test) == (32, 8) and any("seed 0" in note or "random" in note for note in read.notes)


def test_files_that_do_not_tell_their_parts_are_named(folder, data, tmp_path):
    for name in ("a.txt", "b.txt"):
        (folder / name).write_bytes(text(data, "train", tmp_path))
    with pytest.raises(DatasetFormatError, match=r"\(a.txt, b.txt\). Name the training file train") as caught:
        load(entry())
    assert f"read from a.txt, b.txt in {folder}. Replace it by files" in caught.value.remedy


def test_a_download_that_is_not_understood_stays(place, whole, data):
    file = File(zipped({"pictures/a.jpg": b"x", "about.md": b"y"}))
    with serving({"/set.zip": file}) as address:
        for _ in range(2):
            with pytest.raises(DatasetFormatError, match="its 2 files do not tell .*a.jpg, about.md") as caught:
                load(entry(f"{address}/set.zip"), limits=QUICK)
            (kept,) = store.entries("catalog")
            again = f"Delete that folder to download it again, or put files that can be read into {place / 'some-set'}:"
            said = f"read from set.zip in {store.folder('catalog', kept['key'])}. {again}"
            assert said in caught.value.remedy
        store.delete("catalog", kept["key"])
        file.content = zipped({"train.txt": b"1 2 2\n0 0:x\n"})
        with pytest.raises(DatasetFormatError, match="set.zip in .*Delete that folder to download") as caught:
            load(entry(f"{address}/set.zip"), limits=QUICK)
        assert (caught.value.source, caught.value.line) == ("train.txt", 2)
        (place / "some-set" / "set.zip").write_bytes(whole)
        assert same(load(entry(f"{address}/set.zip"), limits=QUICK), data)


def test_other_sizes_than_published_are_said(folder, whole):
    (folder / "a.zip").write_bytes(whole)
    found = load(entry(n_rows=49, n_labels=7))
    assert found.notes[-1] == "Not as published: 49 rows, read are 50; 7 labels, read are 6."


def test_a_damaged_download_is_deleted_a_users_file_is_not(place, whole, data):
    broken = whole[: len(whole) // 2]
    file = File(broken)
    with serving({"/set.zip": file}) as address:
        with pytest.raises(DatasetFormatError, match="has been deleted, so the next attempt downloads it again"):
            load(entry(f"{address}/set.zip"), limits=QUICK)
        file.content = whole
        assert same(load(entry(f"{address}/set.zip"), limits=QUICK), data)
    (place / "some-set" / "mine.zip").write_bytes(broken)
    with pytest.raises(DatasetFormatError, match="Replace it: it is in"):
        load(entry())
    assert (place / "some-set" / "mine.zip").exists()
    assert not [path for path in (place / "some-set").iterdir() if path.name.startswith(".unpacked")]


def test_the_next_address_is_tried_when_one_fails(place, whole, data):
    with serving({"/set.zip": File(whole)}) as address:
        assert same(load(entry(f"{address}/gone.zip", f"{address}/set.zip"), limits=QUICK), data)


def test_a_mirror_replaces_the_addresses(place, whole, data):
    place.mkdir()
    with serving({"/set.zip": File(whole), "/mirror?file=1": File(whole)}) as address:
        for own in (f"{address}/mirror?file=1", {"address": f"{address}/set.zip", "checksum": "sha256:" + "0" * 64}):
            (place / "sources.json").write_text(json.dumps({"some-set": own}))
            if isinstance(own, str):
                assert same(load(entry("http://nowhere.invalid/a.zip", checksum="md5:0"), limits=QUICK), data)
                assert [path.name for path in downloaded.files(entry())] == ["some-set.zip"]
                store.delete("catalog", store.entries("catalog")[0]["key"])
            else:
                with pytest.raises(DownloadError, match="checksum differs"):
                    load(entry(), limits=QUICK)
    no_checksum = '{"some-set": {"address": "http://a/b.zip", "checksum": %s}}'
    for text in ("{", '{"some-set": 3}', "[]", no_checksum % 5, no_checksum % '"0a1b"'):
        (place / "sources.json").write_text(text)
        with pytest.raises(DownloadError, match="sources.json"):
            load(entry())


def test_stopping_keeps_nothing_but_the_file(place, whole):
    def stop(phase, share, detail=""):
        if phase == "Unpacking":
            raise Cancelled

    with serving({"/set.zip": File(whole)}) as address, pytest.raises(Cancelled):
        load(entry(f"{address}/set.zip"), stop, QUICK)
    assert [path.name for path in downloaded.files(entry())] == ["set.zip"]
    assert not [path for path in (place / "some-set").iterdir() if path.name.startswith(".unpacked")]


def test_arff_files_of_parts_come_before_one_of_all_rows(folder, data):
    for name, X, Y in (("-train", data.X_train, data.Y_train), ("-test", data.X_test, data.Y_test),
                       ("", data.X_train, data.Y_train)):  # fmt: skip
        write_arff(folder / f"set{name}.arff", X, Y, xml=folder / "set.xml")
    assert same(load(entry()), data)


def test_an_arff_file_of_meka_needs_no_xml(folder, data):
    write_arff(folder / "SET-F.arff", data.X_train, data.Y_train)
    assert load(entry(n_rows=40)).n_labels == 6


def test_the_catalog_loads_it_by_name(place, whole, data, monkeypatch):
    place.mkdir()
    (place / "bibtex.zip").write_bytes(whole)
    read = registry.load("bibtex")
    assert same(read, data) and read.name == "bibtex" and "Not as published" in read.notes[-1]


def test_every_published_entry_says_what_it_is():
    entries = published()
    assert len({one.name for one in entries}) == len(entries) >= 30
    assert [one.name for one in registry.catalog()] == ["api-docs", *(one.name for one in entries)]
    for one in entries:
        assert one.row and one.label and one.citation.endswith(".") and one.page.startswith("http")
        assert one.n_rows > (one.n_test or 0) and one.n_features and one.n_labels
        assert one.description.endswith(".") and one.source.endswith(".")
        assert all(address.startswith(("http://", "https://")) for address in one.addresses)
    known = {one.name: one for one in entries}
    wanted = "bibtex mediamill delicious eurlex-4k rcv1-2k amazoncat-13k wiki10-31k amazon-670k"
    assert set(wanted.split()) <= set(known)
    assert (known["eurlex-4k"].n_rows, known["eurlex-4k"].n_labels) == (19_348, 3_993)
    assert known["amazon-670k"].memory() > 300e6 and known["rcv1-2k"].memory() is None


def zip_file(path, members):
    path.write_bytes(zipped(members))
    return path


def tar_file(path, members, mode="w:gz"):
    with tarfile.open(path, mode) as archive:
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return path


@pytest.fixture
def inside(tmp_path):
    path = tmp_path / "inside"
    path.mkdir()
    return path


FILES = {"Set/train.txt": b"1 1 1\n0 0:1\n", "Set/test.txt": b"x" * 3000, "__MACOSX/Set/._train.txt": b"?"}


@pytest.mark.parametrize("pack", [zip_file, tar_file])
def test_files_keep_folders_and_lose_what_macos_adds(tmp_path, inside, pack):
    archive = pack(tmp_path / "a", FILES)
    found = unpack(archive, inside)
    assert {str(path.relative_to(inside)): path.read_bytes() for path in found} == {
        name: content for name, content in FILES.items() if "MACOSX" not in name
    }


def test_other_files_are_returned_as_they_are(tmp_path, inside):
    for name, content in (("a.txt", b"1 1 1\n0 0:1\n"), ("empty", b""), ("a.arff", b"@relation x\n")):
        (tmp_path / name).write_bytes(content)
        assert unpack(tmp_path / name, inside) == [tmp_path / name]


@pytest.mark.parametrize("pack", [zip_file, tar_file])
@pytest.mark.parametrize("name", ["../out.txt", "/out.txt", "a/../../out.txt", "..\\out.txt", "C:/out.txt"])
def test_names_that_lead_out_of_the_folder_are_refused(tmp_path, inside, pack, name):
    with pytest.raises(DatasetFormatError, match="leads out"):
        unpack(pack(tmp_path / "a", {name: b"x"}), inside)
    assert not (tmp_path / "out.txt").exists() and not list(inside.iterdir())


def test_links_in_a_tar_archive_are_refused(tmp_path, inside):
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        member = tarfile.TarInfo("train.txt")
        member.type, member.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(member)
    with pytest.raises(DatasetFormatError, match="'train.txt' is a link"):
        unpack(tmp_path / "a.tar", inside)


@pytest.mark.parametrize("pack", [zip_file, tar_file])
def test_bombs_are_refused_by_what_they_unpack_to(tmp_path, inside, pack, monkeypatch):
    archive = pack(tmp_path / "a", {"train.txt": bytes(5_000_000)})
    assert archive.stat().st_size < 50_000
    monkeypatch.setattr("xmlcore.datasets.registry.downloaded.MAX_BYTES", 1_000_000)
    monkeypatch.setattr("xmlcore.datasets.registry.downloaded.MAX_FILES", 1)
    with pytest.raises(DatasetFormatError, match="unpacks to more than 1,000,000 bytes"):
        unpack(archive, inside)
    with pytest.raises(DatasetFormatError, match="more than 1 files"):
        unpack(pack(tmp_path / "b", FILES), inside)


@pytest.mark.parametrize("pack", [zip_file, tar_file])
def test_damaged_archives_say_so(tmp_path, inside, pack):
    import os

    archive = pack(tmp_path / "a", {"train.txt": os.urandom(20_000)})
    whole = archive.read_bytes()
    for harmed in (whole[:9_000] + bytes([whole[9_000] ^ 255]) + whole[9_001:], whole[:15_000]):
        archive.write_bytes(harmed)
        with pytest.raises(DatasetFormatError, match="the archive cannot be read"):
            unpack(archive, inside)


def test_rar_and_7z_are_named(tmp_path, inside):
    for magic, kind in ((b"Rar!\x1a\x07\x00", "RAR"), (b"7z\xbc\xaf\x27\x1c", "7z")):
        (tmp_path / "a").write_bytes(magic + b"rest")
        with pytest.raises(DatasetFormatError, match=f"a {kind} archive.*Unpack it with another program"):
            unpack(tmp_path / "a", inside)


def test_a_file_without_a_name_is_refused(tmp_path, inside):
    (tmp_path / "a.zip").write_bytes(zip_without_a_name(b"1"))
    with pytest.raises(DatasetFormatError, match="the name '' leads out"):
        unpack(tmp_path / "a.zip", inside)
