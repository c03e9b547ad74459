"""A manifest says exactly which view to open; a manifest from an unknown source does no harm."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from explorer.decoding.selection import Selection
from explorer.files.manifest import MAX_BYTES, ManifestError, link, manifest_text, model_hash, read_manifest


def text_of(selection: Selection, **changes: Any) -> str:
    given = {"path": (5, 9, 2), "translation": "je lis", "edits": (), "model_hash": "ab" * 32} | changes
    return manifest_text(selection, **given)


def test_a_text_too_long_for_a_link_is_whole_in_the_manifest_which_names_versions_and_edits() -> None:
    selection = Selection(model="m", text="word " * 5000, path=(4, 2), cell=(1, 1))
    edits = ("cross layer 1 head 2: zero",)
    text = text_of(selection, edits=edits)
    assert read_manifest(text.encode()).selection == selection
    assert "text=" not in link(selection)
    values = json.loads(text)
    assert (values["model"], values["edits"]) == ({"name": "m", "sha256": "ab" * 32}, list(edits))
    assert set(values["versions"]) == {"python", "numpy", "torch", "streamlit", "matplotlib", "spacy"}
    assert "missing" not in values["versions"].values()


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"\xff", b"[]", b"{}", b"nothing", b"[" * 50_000),
        *(b'{"manifest_version": 2}', b'{"manifest_version": 1}'),
        b'{"manifest_version": 1, "model": {"name": 5}, "text": "x"}',
        b'{"manifest_version": 1, "model": {"name": "m"}, "text": ["x"]}',
        b" " * (MAX_BYTES + 1),
    ],
)
def test_what_is_not_a_manifest_gets_a_message(content: bytes) -> None:
    with pytest.raises(ManifestError):
        read_manifest(content)


def test_invalid_parts_are_dropped_and_named() -> None:
    values = json.loads(text_of(Selection(model="m", text="t", path=(5, 2)))) | {"target_ids": [1, "2"]}
    values["selection"] = {"path": "x", "kind": "sideways", "step": "first", "model": "evil", "text": "evil"}
    found = read_manifest(json.dumps(values).encode())
    assert (found.selection.model, found.selection.text, found.selection.path) == ("m", "t", None)
    assert len(found.problems) == 4
    values["selection"] = {"layer": 3, "kind": "encoder"}
    ids, selection = read_manifest(json.dumps(values).encode()).problems
    assert "'target_ids[1]'" in ids
    assert "'selection" in selection


def test_the_hash_is_of_the_weights(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"weights")
    assert model_hash(tmp_path) == hashlib.sha256(b"weights").hexdigest()
    assert model_hash(tmp_path / "gone") == ""
