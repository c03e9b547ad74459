"""Rows edited by hand, moved tokens, and names of edits. Of whole heads: tests/explorer/browser/test_live.py."""

from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

from explorer.decoding.head_change import Change, added, from_link, to_link
from explorer.decoding.head_edits import digest_of, edits_for, moved_by
from explorer.decoding.translator import Translator
from model.analysis.operations import added_positions, record
from model.checkpoint import load_model
from model.config import DecodeConfig
from model.edits import HeadEdit, HeadEdits
from model.trace import AttentionTrace
from tests.explorer.edited import edits_of
from tests.paths import ROOT

TEXT = "headlight"


@pytest.fixture(scope="module")
def reverse() -> Translator:
    return Translator(load_model(ROOT / "checkpoints" / "reverse"))


def edited(reverse: Translator, *change: Any, **values: Any) -> AttentionTrace:
    edit = edits_of(reverse, TEXT, Change(*change, **values))
    return reverse.translate(TEXT, DecodeConfig(), edit=edit).trace


def test_a_row_edited_by_hand_is_the_row_that_the_model_uses(reverse: Translator) -> None:
    trace = edited(reverse, "cross", 1, 1, "row", row=2, weights=(0, 500, 500))
    assert np.allclose(trace.cross[0, 0, 1], [0, 0.5, 0.5, *[0] * 7])
    own = reverse.translate(TEXT, DecodeConfig()).trace
    assert np.allclose(trace.cross[0, 0, 0], own.cross[0, 0, 0], atol=1e-6)
    decoder = edited(reverse, "decoder", 1, 1, "row", row=2, weights=(100, 300, 600, 900)).decoder[0, 0, 1]
    assert np.allclose(decoder[:2], [0.25, 0.75])
    assert not decoder[2:].any(), "it stays within what it may see"


def test_edits_have_a_name_that_their_values_are_subsample() -> None:
    def row(values: list[float]) -> HeadEdits:
        return HeadEdits((HeadEdit("cross", 0, 0, "row", row=1, values=np.array(values, dtype=np.float32)),))

    assert digest_of(row([0.25, 0.75])) == digest_of(row([0.25, 0.75]))
    named = [
        row([0.25, 0.75]),
        row([0.75, 0.25]),
        row([0.25, 0.75, 0.0]),
        HeadEdits(),
        HeadEdits((HeadEdit("cross", 0, 0, "zero"),)),
    ]
    assert len({digest_of(edits) for edits in named}) == len(named)


@pytest.mark.parametrize(("kind", "side"), [("encoder", "src"), ("decoder", "tgt")])
def test_a_moved_token_has_the_vector_of_its_new_position_and_no_other_has(
    reverse: Translator, kind: Any, side: str
) -> None:
    change = Change(kind, 0, 0, "position", row=2, to=5)
    assert from_link(to_link((change,))) == ((change,), [])
    model = reverse.loaded.model
    edit = edits_for((change,), model.config, Mock(), lambda asked: moved_by(model, asked))
    shown = reverse.translate(TEXT, DecodeConfig(), edit=edit)
    assert shown.trace.edits == (f"{'source' if side == 'src' else 'target'} token 2 at position 5",)
    own, moved = (record(model, shown.source.ids, shown.path, len(shown.path), edit=each) for each in (None, edit))
    point = f"{side}.positions"
    table = added_positions(model, own)[point]
    difference = (moved[point].value - own[point].value)[0].numpy()
    assert np.allclose(difference[1], table[4] - table[1], atol=1e-5)
    assert not np.delete(difference, 1, axis=0).any()
    assert np.allclose(added_positions(model, moved)[point], np.vstack([table[:1], table[4:5], table[2:]]), atol=1e-6)
    # What was decoded step by step is what the machine records at once.
    recorded = moved["decoder.0.cross_attn.weights"].value[0].numpy()
    assert np.allclose(recorded, shown.trace.cross[0], atol=1e-5)
    back = Change(kind, 0, 0, "position", row=2, to=2)
    assert added((change,), (back,)) == (back,)
