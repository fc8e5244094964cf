"""Archives are unpacked inside their folder, up to a limit, or refused."""

import io
import tarfile

import pytest
from datasets.reads import zip_without_a_name

from tests import archiving
from xmlcore.datasets import DatasetFormatError
from xmlcore.datasets.registry.unpack import unpack
from xmlcore.progress import Cancelled


def zipped(path, members):
    path.write_bytes(archiving.zipped(members))
    return path


def tarred(path, members, mode="w:gz"):
    with tarfile.open(path, mode) as archive:
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return path


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "inside"
    path.mkdir()
    return path


FILES = {"Set/train.txt": b"1 1 1\n0 0:1\n", "Set/test.txt": b"x" * 3000, "__MACOSX/Set/._train.txt": b"?"}


@pytest.mark.parametrize("pack", [zipped, tarred])
def test_files_keep_folders_and_lose_what_macos_adds(tmp_path, folder, pack):
    archive = pack(tmp_path / "a", FILES)
    found = unpack(archive, folder)
    assert {str(path.relative_to(folder)): path.read_bytes() for path in found} == {
        name: content for name, content in FILES.items() if "MACOSX" not in name
    }


def test_other_files_are_returned_as_they_are(tmp_path, folder):
    for name, content in (("a.txt", b"1 1 1\n0 0:1\n"), ("empty", b""), ("a.arff", b"@relation x\n")):
        (tmp_path / name).write_bytes(content)
        assert unpack(tmp_path / name, folder) == [tmp_path / name]


@pytest.mark.parametrize("pack", [zipped, tarred])
@pytest.mark.parametrize("name", ["../out.txt", "/out.txt", "a/../../out.txt", "..\\out.txt", "C:/out.txt"])
def test_names_that_lead_out_of_the_folder_are_refused(tmp_path, folder, pack, name):
    with pytest.raises(DatasetFormatError, match="leads out"):
        unpack(pack(tmp_path / "a", {name: b"x"}), folder)
    assert not (tmp_path / "out.txt").exists() and not list(folder.iterdir())


def test_links_in_a_tar_archive_are_refused(tmp_path, folder):
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        member = tarfile.TarInfo("train.txt")
        member.type, member.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(member)
    with pytest.raises(DatasetFormatError, match="'train.txt' is a link"):
        unpack(tmp_path / "a.tar", folder)


@pytest.mark.parametrize("pack", [zipped, tarred])
def test_bombs_are_refused_by_what_they_unpack_to(tmp_path, folder, pack, monkeypatch):
    archive = pack(tmp_path / "a", {"train.txt": bytes(5_000_000)})
    assert archive.stat().st_size < 50_000
    monkeypatch.setattr("xmlcore.datasets.registry.unpack.MAX_BYTES", 1_000_000)
    monkeypatch.setattr("xmlcore.datasets.registry.unpack.MAX_FILES", 1)
    with pytest.raises(DatasetFormatError, match="unpacks to more than 1,000,000 bytes"):
        unpack(archive, folder)
    with pytest.raises(DatasetFormatError, match="more than 1 files"):
        unpack(pack(tmp_path / "b", FILES), folder)


@pytest.mark.parametrize("pack", [zipped, tarred])
def test_damaged_archives_say_so(tmp_path, folder, pack):
    import os

    archive = pack(tmp_path / "a", {"train.txt": os.urandom(20_000)})
    whole = archive.read_bytes()
    for harmed in (whole[:9_000] + bytes([whole[9_000] ^ 255]) + whole[9_001:], whole[:15_000]):
        archive.write_bytes(harmed)
        with pytest.raises(DatasetFormatError, match="the archive cannot be read"):
            unpack(archive, folder)


def test_rar_and_7z_are_named(tmp_path, folder):
    for magic, kind in ((b"Rar!\x1a\x07\x00", "RAR"), (b"7z\xbc\xaf\x27\x1c", "7z")):
        (tmp_path / "a").write_bytes(magic + b"rest")
        with pytest.raises(DatasetFormatError, match=f"a {kind} archive.*Unpack it with another program"):
            unpack(tmp_path / "a", folder)


def test_unpacking_can_be_stopped(tmp_path, folder):
    def stop(phase, share, detail=""):
        raise Cancelled

    with pytest.raises(Cancelled):
        unpack(zipped(tmp_path / "a", FILES), folder, progress=stop)


def test_a_file_without_a_name_is_refused(tmp_path, folder):
    (tmp_path / "a.zip").write_bytes(zip_without_a_name(b"1"))
    with pytest.raises(DatasetFormatError, match="the name '' leads out"):
        unpack(tmp_path / "a.zip", folder)
