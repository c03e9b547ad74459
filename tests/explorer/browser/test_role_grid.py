"""The grids of thumbnails: what they say, the bytes that are sent, and the heads that a browser may report."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from explorer.browser import wire
from explorer.browser.role_grid import colour_of, encode, head_from
from explorer.probing.pattern_shares import BINS, relative_map, uniform_like
from explorer.probing.role_grid import SCALE, RoleGrid
from explorer.probing.roles import LETTERS, NO_ROLE, Role

SINK = Role("sink: first token + previous token", ("first", "previous"), "")
PLAIN = Role(NO_ROLE, (), "")
MAPS = np.random.default_rng(0).random((2, 3, BINS, BINS))
ENCODER = RoleGrid("encoder", MAPS, {place: SINK if place == (1, 2) else PLAIN for place in np.ndindex(2, 3)})
CROSS = RoleGrid(
    "cross", np.ones((1, 2, BINS, BINS)) / 2, dict.fromkeys(np.ndindex(1, 2), PLAIN), {(0, 1): "off"}, [(0, 0)]
)


def test_every_cell_and_every_head_is_sent() -> None:
    header, arrays = wire.read(encode((ENCODER, CROSS), choosing=True))
    assert header["choosing"]
    first, second = header["grids"]
    assert (first["kind"], first["layers"], first["heads"], first["bins"]) == ("encoder", 2, 3, BINS)
    above = np.clip(MAPS - 1 / BINS, 0, SCALE)
    np.testing.assert_allclose(arrays["encoder"] * first["largest"] / 255, above, atol=0.5 / 255 * MAPS.max() + 1e-9)
    assert set(arrays["cross"].ravel()) == {255}, "full colour from there on"
    assert first["largest"] == second["largest"] == SCALE, "all kinds have one scale"
    assert [tile["name"] for tile in first["tiles"]] == [f"L{layer} H{head}" for layer in (1, 2) for head in (1, 2, 3)]
    assert [tile["letters"] for tile in first["tiles"]] == [""] * 5 + ["S1+Pv"], "a role shows without its colour"
    assert [(tile["mark"], tile["chosen"]) for tile in second["tiles"]] == [("", True), ("off", False)]


def test_uniform_attention_is_pale_and_rows_without_a_choice_do_not_set_the_scale() -> None:
    for kind, causal in (("encoder", False), ("decoder", True)):
        for length in (9, 30):
            seen = np.tri(length, dtype=np.bool_) if causal else np.ones((length, length), np.bool_)
            maps = relative_map(uniform_like(seen))[None, None]
            grid = RoleGrid(kind, maps, {(0, 0): PLAIN})
            _, arrays = wire.read(encode((grid,), choosing=False))
            shades = arrays[kind].reshape(BINS, BINS)
            assert not shades.any(), "uniform attention has no colour"
            assert "No cell is far above uniform attention." in grid.caption()
    previous = np.eye(30, k=-1, dtype=np.float32)
    previous[0, 0] = 1
    grid = RoleGrid("decoder", relative_map(previous)[None, None], {(0, 0): PLAIN})
    assert "The cell furthest above uniform attention" in grid.caption()
    assert np.unravel_index(grid.above_uniform.argmax(), grid.maps.shape)[2] > 0


def test_a_role_has_one_colour_and_its_letters_are_explained() -> None:
    assert [colour_of(role) for role in ENCODER.roles.values()] == [-1] * 5 + [colour_of(SINK)]
    assert colour_of(SINK) == colour_of(Role("previous token", ("previous",), "")) >= 0
    assert {colour_of(Role(name, (name,), "")) for name in LETTERS} == set(range(8))
    assert (
        "1 of 6 encoder heads have a clear role (S1 = sink: first token and Pv = previous token)" in ENCODER.caption()
    )
    layer, head, *_ = np.unravel_index(MAPS.argmax(), MAPS.shape)
    assert f"is in L{layer + 1} H{head + 1}" in ENCODER.caption()


def test_a_broken_model_is_named() -> None:
    with pytest.raises(ValueError, match="cross heads hold a value that is not a number"):
        encode((RoleGrid("cross", np.full((1, 1, BINS, BINS), np.nan), {(0, 0): PLAIN}),), choosing=False)


@pytest.mark.parametrize(
    ("message", "head"),
    [
        ({"kind": "encoder", "layer": 2, "head": 3}, ("encoder", (1, 2))),
        ({"kind": "cross", "layer": 1, "head": 1}, ("cross", (0, 0))),
        ({"kind": "cross", "layer": 2, "head": 1}, None),
        ({"kind": "encoder", "layer": 0, "head": 1}, None),
        ({"kind": "encoder", "layer": True, "head": 1}, None),
        ({"kind": "encoder", "layer": "1", "head": [1]}, None),
        ({"kind": "other", "layer": 1, "head": 1}, None),
        ("encoder 1 1", None),
        (None, None),
    ],
)
def test_messages_are_not_trusted(message: Any, head: tuple[str, tuple[int, int]] | None) -> None:
    found = head_from(message, (ENCODER, CROSS))
    assert (None if found is None else (found[0].kind, found[1])) == head
