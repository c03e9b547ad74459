"""Whatever tokenizer.json, vocab.json and merges.txt hold: one sentence, or a tokenizer that gives any text back."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from model.importing.byte_pairs import read_byte_pairs
from model.importing.source_folder import ImportFailed, SourceFolder
from model.importing.translator import reorder
from model.text.bytelevel import LETTERS, ByteLevelTokenizer
from model.text.pieces import TokenizerError
from model.text.tokenizer_kinds import tokenizer_from_dict
from tests.fuzz.inputs import VALUES, changed

SPECIAL = ("<s>", "<pad>", "</s>", "<unk>")
# Without new files for each example, a fixture of the test function may be used by all of them.
SAME_FOLDER = settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])

letters = st.sampled_from([*"abĠÃ¤Ċ"])
merges = st.lists(
    st.tuples(st.text(letters, min_size=1, max_size=3), st.text(letters, min_size=1, max_size=3)), max_size=8
)
texts = st.text(max_size=30)


def described(pairs: list[tuple[str, str]]) -> dict[str, Any]:
    """A tokenizer.json of all bytes and these merges."""
    names = dict.fromkeys((*SPECIAL, *LETTERS.values(), *map("".join, pairs)))
    return {
        "added_tokens": [{"id": i, "content": name, "special": True} for i, name in enumerate(SPECIAL)],
        "normalizer": None,
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False},
        "post_processor": {"type": "RobertaProcessing", "sep": ["</s>", 2], "cls": ["<s>", 0]},
        "model": {
            "type": "BPE",
            "vocab": {name: i for i, name in enumerate(names)},
            "merges": [list(p) for p in pairs],
        },
    }


def read(folder: Path) -> ByteLevelTokenizer | str:
    """The tokenizer of a folder, or the sentence that refuses it."""
    try:
        pairs = read_byte_pairs(SourceFolder(folder), "<s>", "</s>")
        size = len(pairs.names)
        found = reorder(pairs.names, size, pad=1, start=2, eos=pairs.end, unk="<unk>", file=pairs.file)
        return ByteLevelTokenizer(found.pieces, pairs.merges, begin=pairs.begin, prefix_space=pairs.prefix_space)
    except (ImportFailed, TokenizerError) as error:
        said = str(error)
        assert "\n" not in said
        assert 10 < len(said) < 400
        return said


def check(tokenizer: ByteLevelTokenizer | str, text: str) -> None:
    if isinstance(tokenizer, str):
        return
    encoding = tokenizer.encode(text)
    assert 3 not in encoding.ids
    assert tokenizer.decode(encoding.ids) == encoding.text
    assert all(0 <= start <= end <= len(text) for start, end in encoding.offsets)
    assert sorted(encoding.words) == list(encoding.words)
    assert tokenizer.words_of(encoding.ids) == encoding.words


@SAME_FOLDER
@given(merges, texts)
def test_any_merges(tmp_path: Path, pairs: list[tuple[str, str]], text: str) -> None:
    (tmp_path / "tokenizer.json").write_text(json.dumps(described(pairs)), encoding="utf-8")
    found = read(tmp_path)
    whole, known = True, set(LETTERS.values())
    for left, right in pairs:
        whole &= {left, right} <= known
        known.add(left + right)
    assert isinstance(found, ByteLevelTokenizer) == whole
    check(found, text)


@SAME_FOLDER
@given(values=changed(described([("a", "b")])), text=texts)
def test_any_json_in_the_place_of_any_part(tmp_path: Path, values: Any, text: str) -> None:
    (tmp_path / "tokenizer.json").write_text(json.dumps(values), encoding="utf-8")
    check(read(tmp_path), text)


@SAME_FOLDER
@given(st.binary(max_size=60))
def test_any_bytes_in_the_place_of_merges(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "none").mkdir(exist_ok=True)
    with pytest.raises(ImportFailed, match=r"no vocab\.json"):
        read_byte_pairs(SourceFolder(tmp_path / "none"), "<s>", "</s>")
    (tmp_path / "vocab.json").write_text(json.dumps(described([])["model"]["vocab"]), encoding="utf-8")
    (tmp_path / "merges.txt").write_bytes(content)
    check(read(tmp_path), "ab a")


@given(st.sampled_from(["pieces", "merges", "begin", "prefix_space", "lowercase", "counts", "lang"]), VALUES)
def test_any_json_in_a_stored_tokenizer(name: str, value: Any) -> None:
    whole = ByteLevelTokenizer(["<s>", *LETTERS.values()], (), begin="<s>").to_dict()
    try:
        again = tokenizer_from_dict(whole | {name: value})
    except TokenizerError as error:
        said = str(error)
    else:
        said = again.decode(again.encode("ä b").ids)
        assert said == "ä b"
    assert "\n" not in said
