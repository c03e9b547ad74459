"""Whatever bytes a .spm file holds: one sentence, or a model that cuts any text into pieces that cover it."""

from hypothesis import given
from hypothesis import strategies as st
from sentencepiece.sentencepiece_model_pb2 import ModelProto  # type: ignore[attr-defined]  # made on import

from model.text.pieces import TokenizerError
from model.text.sentencepiece import Segmenter, read_piece_model


def spm(pieces: list[tuple[str, int]], charsmap: bytes, flags: int, extra: bytes = b"") -> bytes:
    """A file with these pieces (and their types), normalisation and switches."""
    made = ModelProto()
    for piece, kind in pieces:
        made.pieces.add(piece=piece, score=-1.0, type=kind)
    made.trainer_spec.model_type = 1
    made.normalizer_spec.precompiled_charsmap = charsmap
    made.normalizer_spec.add_dummy_prefix, made.normalizer_spec.remove_extra_whitespaces = flags & 1, flags >> 1 & 1
    return made.SerializeToString() + extra


TEXT = st.text(max_size=40)
PIECES = st.lists(st.tuples(st.text(min_size=1, max_size=5), st.sampled_from([1, 1, 1, 1, 3, 5])), max_size=12)
UNITS = st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=40)


def check(content: bytes, text: str) -> None:
    text = text.encode("utf-8", "replace").decode()
    found, said = [], ""
    try:
        found = list(Segmenter(read_piece_model(content)).cut(text))
    except TokenizerError as error:
        said = str(error)
    assert "\n" not in said
    assert len(said) < 400
    ends = [0, *(end for _, _, end in found)]
    assert all(piece and 0 <= start <= end <= len(text) for piece, start, end in found)
    assert ends == sorted(ends)


@given(st.binary(max_size=300), TEXT)
def test_any_bytes(content: bytes, text: str) -> None:
    check(content, text)


@given(PIECES, st.booleans(), UNITS, st.binary(max_size=30), st.integers(0, 3), st.binary(max_size=20), TEXT)
def test_anything_in_the_place_of_a_model(
    pieces: list[tuple[str, int]],
    normalises: bool,
    units: list[int],
    replacements: bytes,
    flags: int,
    extra: bytes,
    text: str,
) -> None:
    trie = b"".join(unit.to_bytes(4, "little") for unit in units)
    charsmap = len(trie).to_bytes(4, "little") + trie + replacements + b"\0"
    if normalises:
        check(spm([("<unk>", 2), *pieces], charsmap, flags, extra), text)
    else:
        check(spm([("<unk>", 2), ("▁", 1), *dict(pieces).items()], b"", 3), text)
