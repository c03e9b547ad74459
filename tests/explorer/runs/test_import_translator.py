"""A translator from a zip file or from a folder on the server: imported whole, or refused and nothing left."""

import io
import zipfile
from pathlib import Path

import pytest

from explorer.runs.archive import import_translator, import_zip
from model.checkpoint import load_model
from model.importing.source_folder import ImportFailed
from tests.model.importing import bart_peer, family_peers, peer


def zipped(folder: Path, *, top: str = "opus-mt-en-de/", **more: bytes) -> io.BytesIO:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.iterdir()):
            archive.write(path, top + path.name)
        for name, content in more.items():
            archive.writestr(top + name, content)
    made.seek(0)
    return made


def test_from_a_zip_file_and_from_a_folder_the_same_model(tmp_path: Path) -> None:
    """What else a downloaded folder has, pickles too, is not looked at."""
    more = {"pytorch_model.bin": b"\x80\x04pickle", "rust_model.ot": b"x", ".gitattributes": b"*"}
    assert import_zip(zipped(peer.standard(), **more), tmp_path) == "opus-mt-en-de"
    assert import_translator(peer.standard(), tmp_path, "again") == "again"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["again", "opus-mt-en-de"]
    weights = [(tmp_path / name / "model.safetensors").read_bytes() for name in ("again", "opus-mt-en-de")]
    assert weights[0] == weights[1]
    assert load_model(tmp_path / "again").summary["error"] is None


def test_the_languages_of_a_model_with_several_are_chosen(tmp_path: Path) -> None:
    folder = family_peers.save("m2m100", tmp_path / "theirs")
    assert import_translator(folder, tmp_path, "fr", ("de", "fr")) == "fr"
    assert import_zip(zipped(folder, top="m2m/"), tmp_path, "it", ("de", "it")) == "it"
    for name in ("fr", "it"):
        loaded = load_model(tmp_path / name)
        assert loaded.source.encode("a").tokens[0] == "__de__"
        assert loaded.target.piece(loaded.model_config.first_token) == f"__{name}__"
    with pytest.raises(ImportFailed, match="no target language 'xx'"):
        import_translator(folder, tmp_path, "xx", ("de", "xx"))
    assert not (tmp_path / "xx").exists()


def test_nothing_is_told_of_other_folders_of_the_server(tmp_path: Path) -> None:
    """Finding D38: who typed a path learned whether it exists, is a folder, and may be read."""
    (tmp_path / "empty").mkdir()
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "config.json").write_text('{"secret": 1}', encoding="utf-8")
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    (tmp_path / "file").write_text("x", encoding="utf-8")
    paths = [tmp_path / name for name in ("empty", "foreign", "missing", "circle", "file", "file/below", "\0")]
    said = set()
    for path in [*paths, Path("/root"), Path("/etc"), Path("/proc/1/root"), Path("")]:
        with pytest.raises(ImportFailed) as refused:
            import_translator(path, tmp_path / "models", "mine")
        said.add(str(refused.value))
    assert said == {"There is no translator to import at this path: give its folder, with config.json and weights."}
    assert not (tmp_path / "models").exists()


def test_a_bart_model_from_a_zip_file_with_either_form_of_tokenizer(tmp_path: Path) -> None:
    """vocab.json and merges.txt, or the one tokenizer.json, which our own folders have as well."""
    assert import_zip(zipped(bart_peer.standard(), top="bart/"), tmp_path) == "bart"
    folder = bart_peer.copied(tmp_path / "theirs")
    for name in ("vocab.json", "merges.txt"):
        (folder / name).unlink()
    bart_peer.tokenizer().save_pretrained(folder)
    assert import_zip(zipped(folder, top=""), tmp_path, "one-file") == "one-file"
    one, other = (load_model(tmp_path / name) for name in ("bart", "one-file"))
    assert one.source == other.source
    assert one.source.encode("ein Rad — “so”") == other.source.encode("ein Rad — “so”")
