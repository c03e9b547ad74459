"""Patching over many pairs: which pairs are taken, what is averaged, and when a head is named."""

from dataclasses import replace

import numpy as np
import pytest

from explorer.decoding.translator import Translator
from explorer.probing.minimal_pairs import suggested_other
from explorer.probing.patching import (
    FLOOR,
    MeanPatches,
    patched,
    row_changes,
)
from model.analysis import bootstrap
from model.analysis.bootstrap import Estimate
from model.analysis.patching import PatchError
from model.checkpoint import LoadedModel
from model.config import DecodeConfig


def test_it_opens_on_a_sentence_that_changes_the_answer_and_on_the_row_that_changes_most(reverse: LoadedModel) -> None:
    translation = Translator(reverse).translate("headlight", DecodeConfig())
    other = suggested_other(reverse, translation)
    assert len(other) == 9
    (place,) = (i for i, (a, b) in enumerate(zip("headlight", other, strict=True)) if a != b)
    row = int(np.abs(row_changes(reverse, translation, other)).argmax())
    assert row == 8 - place, "the model reverses letters"
    grids = patched(reverse, translation, other, row)
    assert row > 0, "the decoder has rows before it"
    assert f"“{other[place]}” becomes likeliest" in grids.caption("encoder")
    assert ", nearly alike in L1 and L2: " in grids.caption("encoder"), "the embedding of the replaced token has it all"
    half = grids.grid.log_probs["encoder"].copy()
    half[2] = grids.grid.own + (half[2] - grids.grid.own) / 2
    apart = replace(grids, grid=replace(grids.grid, log_probs=grids.grid.log_probs | {"encoder": half}))
    assert ", output of L1: " in apart.caption("encoder"), "L2 has half of it"
    assert "is there by construction: the embedding of the replaced token." in grids.caption("encoder")
    assert "by construction: the output from which the prediction is computed." in grids.caption("decoder")
    assert f"at {row + 1} “{grids.columns['decoder'][-1]}”, output of L2" not in grids.caption("decoder")
    assert grids.heads_matter
    several = patched(reverse, translation, "xxxxxxxxx", row)
    assert "Not counted" not in several.caption("encoder"), "no single token is the difference"
    with pytest.raises(PatchError, match="equal length in tokens"):
        row_changes(reverse, translation, "short")
    untouched = patched(reverse, translation, other, (row + 4) % 9)
    assert untouched.top >= FLOOR, "what hardly changes stays pale"
    still = {kind: np.full_like(values, grids.grid.own) for kind, values in grids.heads.items()}
    assert not replace(grids, heads=still).heads_matter


def planted(effects: np.ndarray) -> MeanPatches:
    """Effects of the four cross heads over pairs, [pair, head]."""
    item = bootstrap.of_ratio(effects[:, None, :], np.ones((len(effects), 1, 4)))
    return MeanPatches({}, {}, {"cross": item}, len(effects))


def test_a_head_is_named_where_it_stands_out_and_not_among_random_ones() -> None:
    claims = 0
    for seed in range(40):
        noise = 0.2 * np.random.default_rng(seed).normal(size=(50, 4))
        claims += "stands out most" in planted(noise).caption()
        loud = planted(noise + np.array([0, 0, 0.5, 0])).caption()
        assert "The head that stands out most is cross L1 H3: its output alone carries" in loud
        assert "In brackets: a 95 % interval" in loud
        alike = planted(np.repeat(noise[:, :1], 4, axis=1)).caption()
        assert "No head stands out" in alike
        assert "brackets" not in alike, "there are none"
    assert claims <= 6, "at 5 %, more than six of forty by chance is a case of 1 in 70"
    sure = Estimate(np.array([[0.02, 0.0]]), np.array([[0.02, 0.0]]), np.array([[0.02, 0.0]]))
    assert "No head stands out" in MeanPatches({}, {}, {"cross": sure}, 9).caption(), "certain, but small"
