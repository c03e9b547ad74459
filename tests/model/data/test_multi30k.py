"""Multi30k from a folder and over the network (from a local server); the corpus itself is not needed."""

import gzip
import hashlib
import os
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from model.config import DataConfig
from model.data import TASKS, DataError, get_task, multi30k
from model.data.multi30k import MULTI30K_TASKS, SHA256, by_length, download
from model.data.task import Example, MissingCorpusError
from model.presets import get_preset
from model.training.card import write_card
from model.training.settings import make_settings

LINES = {
    "en": ["Two dogs  run.", "A man\u00a0sits, reading.", 'She said "go".', "The dog's ball."],
    "de": ["Zwei Hunde  rennen.", " Ein Mann sitzt und liest.", "Sie sagte „geh“.", "Der Ball\tdes Hundes."],
    "fr": ["Deux chiens courent.", "Un homme est assis\u00a0; il lit.", "Elle a dit « va ».", "La balle du chien. "],
}
STEMS = {"train": 4, "val": 2, "test_2016_flickr": 1}


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """A small corpus: English compressed, German plain, French plain with Windows line ends."""
    for stem, n in STEMS.items():
        for lang, lines in LINES.items():
            data = "".join(line + ("\r\n" if lang == "fr" else "\n") for line in lines[:n]).encode()
            path = tmp_path / (f"{stem}.{lang}.gz" if lang == "en" else f"{stem}.{lang}")
            path.write_bytes(gzip.compress(data) if lang == "en" else data)
    return tmp_path


def test_every_direction_has_a_task_in_subwords_and_in_words() -> None:
    assert len(MULTI30K_TASKS) == 12
    assert set(MULTI30K_TASKS) <= set(TASKS)
    task = get_task("multi30k-de-fr")
    assert (task.data.src_lang, task.data.tgt_lang, task.data.tokenizer) == ("de", "fr", "subwords")
    words = get_task("multi30k-de-fr-words")
    assert words.data == DataConfig(
        task=words.name, src_lang="de", tgt_lang="fr", tokenizer="words", lowercase=True, min_frequency=2
    )
    for name in MULTI30K_TASKS:
        assert len(get_task(name).examples) >= 3
        assert "research" in get_task(name).description


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("train.en.gz", gzip.compress(b"Two dogs.\n" * 50)[:-20], r"train\.en\.gz cannot .*fetch the file again"),
        ("train.en.gz", b"<html>not a gzip file</html>", r"train\.en\.gz cannot be read .*fetch the file again"),
        ("train.de", "Ein Mädchen\n".encode("latin-1"), r"train\.de is not UTF-8: line 1"),
        ("train.de", b"Nur eine Zeile.\n", r"train\.en\.gz has 4 lines and train\.de has 1;"),
        ("val.de", None, r"has neither val\.de\.gz nor val\.de; .* leave out --data-dir"),
    ],
    ids=("cut off", "not gzip", "not UTF-8", "shorter", "missing"),  # the bytes of gzip are no name
)
def test_a_broken_or_missing_file_gets_a_message(corpus: Path, name: str, data: bytes | None, said: str) -> None:
    (corpus / name).unlink()
    if data is not None:
        (corpus / name).write_bytes(data)
    with pytest.raises(DataError, match=said):
        _ = get_task("multi30k-en-de", data_dir=corpus).splits


def test_groups_are_lengths() -> None:
    groups = [by_length(Example(" ".join("x" * n), "")) for n in (9, 10, 14, 15)]
    assert groups == ["up to 9 words", "10 to 14 words", "10 to 14 words", "15 words and more"]


# --- downloads --------------------------------------------------------------------------------------------------


@pytest.fixture
def site() -> Iterator[Any]:
    """A web server with some files; it breaks off after `cut` bytes and counts the requests."""
    here = SimpleNamespace(files={}, cut=None, requests=0)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            here.requests += 1
            data = here.files.get(self.path[1:])
            if data is None:
                self.send_error(404)
                return
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data[: here.cut])

        def log_message(self, *args: object) -> None:
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    here.address = f"http://127.0.0.1:{server.server_port}/"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield here
    server.shutdown()
    thread.join()
    server.server_close()


CONTENT = os.urandom(200_000)
DIGEST = hashlib.sha256(CONTENT).hexdigest()


@pytest.mark.parametrize(
    ("content", "cut", "said"),
    [
        (CONTENT, None, ""),
        (CONTENT, 150_000, r"a\.gz could not be downloaded .*broke off 50,000 bytes .*--data-dir"),
        (CONTENT[::-1], None, r"is not the expected file \(SHA-256 .*--data-dir"),
        (None, None, r"a\.gz is not available \(HTTP 404"),
    ],
    ids=["whole", "cut", "wrong", "absent"],
)
def test_a_download_is_whole_and_as_expected_or_leaves_nothing(
    site: Any, tmp_path: Path, content: bytes | None, cut: int | None, said: str
) -> None:
    site.files, site.cut = {"a.gz": content} if content else {}, cut
    path = tmp_path / "deep" / "a.gz"
    if said:
        with pytest.raises(DataError, match=said):
            download(site.address + "a.gz", path, DIGEST)
    else:
        download(site.address + "a.gz", path, DIGEST)
        assert path.read_bytes() == CONTENT
    assert [*tmp_path.rglob("*.*")] == ([] if said else [path])
    with pytest.raises(DataError, match=r"could not be downloaded .*Connection refused.*check the connection"):
        download("http://127.0.0.1:9/a.gz", path, DIGEST)


def test_a_task_downloads_what_it_needs_once_that_is_allowed(
    site: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for stem, n in STEMS.items():
        for lang in ("en", "de"):
            data = gzip.compress("".join(line + "\n" for line in LINES[lang][:n]).encode())
            site.files[f"{stem}.{lang}.gz"] = data
            monkeypatch.setitem(SHA256, f"{stem}.{lang}.gz", hashlib.sha256(data).hexdigest())
    monkeypatch.setattr(multi30k, "ADDRESS", site.address)
    monkeypatch.setattr(multi30k, "cache_folder", lambda: tmp_path)
    monkeypatch.delenv("HEADLIGHT_DATA", raising=False)
    with pytest.raises(MissingCorpusError, match="are not on this machine"):
        _ = get_task("multi30k-de-en").splits
    assert not site.requests
    for fetch in (True, False):
        splits = get_task("multi30k-de-en", fetch=fetch).splits
        assert [pair.source for pair in splits["train"]] == LINES["de"]
    assert site.requests == 6


def test_a_card_names_no_folder_of_this_machine_and_the_corpus_terms(corpus: Path) -> None:
    task = get_task("multi30k-en-de", data_dir=corpus)
    settings = make_settings(task.data, get_preset(task.default_preset), {})
    card = write_card("mine", task, settings, 1, {"preset": "small"}, {})
    assert "python -m model.train --task multi30k-en-de --name mine --data-dir DIR --preset small" in card
    assert str(corpus) not in card
    assert "non-commercial research and education" in card
