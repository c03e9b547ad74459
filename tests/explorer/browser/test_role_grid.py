"""The grids of thumbnails: what they say, the bytes that are sent, and the heads that a browser may report."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from explorer.browser import wire
from explorer.browser.role_grid import encode, head_from
from explorer.probing.pattern_shares import BINS, relative_map
from explorer.probing.role_grid import TOP, RoleGrid, uniform_maps
from explorer.probing.roles import LETTERS, NO_ROLE, Role
from model.analysis.recorded_batches import Sample
from model.text.tokenizer import Encoding
from tests.tiny import tiny_config

SINK = Role("sink: first token + previous token", ("first", "previous"), "")
PLAIN = Role(NO_ROLE, (), "")
MAPS = np.random.default_rng(0).random((2, 3, BINS, BINS))
UNIFORM = np.full((BINS, BINS), 1 / BINS)
ENCODER = RoleGrid("encoder", MAPS, UNIFORM, {place: SINK if place == (1, 2) else PLAIN for place in np.ndindex(2, 3)})
CROSS = RoleGrid(
    "cross",
    np.ones((1, 2, BINS, BINS)) / BINS,
    UNIFORM,
    dict.fromkeys(np.ndindex(1, 2), PLAIN),
    {(0, 1): "off"},
    [(0, 0)],
)


def test_every_cell_and_every_head_is_sent() -> None:
    header, arrays = wire.read(encode((ENCODER, CROSS), choosing=True))
    assert header["choosing"]
    first, second = header["grids"]
    assert (first["kind"], first["layers"], first["heads"], first["bins"]) == ("encoder", 2, 3, BINS)
    sent = TOP ** (arrays["encoder"] / 255)
    np.testing.assert_allclose(sent, np.clip(BINS * MAPS, 1, TOP), rtol=0.51 / 255 * np.log(TOP) * 1.01)
    assert set(arrays["cross"].ravel()) == {0}, "uniform attention stays blank"
    assert first["top"] == second["top"] == TOP
    assert [tile["name"] for tile in first["tiles"]] == [f"L{layer} H{head}" for layer in (1, 2) for head in (1, 2, 3)]
    assert [tile["letters"] for tile in first["tiles"]] == [""] * 5 + ["S1+Pv"], "a role shows without its colour"
    assert [(tile["mark"], tile["chosen"]) for tile in second["tiles"]] == [("", True), ("off", False)]


def test_a_row_without_a_choice_is_as_uniform_attention_and_bleaches_nothing() -> None:
    """The first row of a decoder sees one key: its weight of 1 says nothing about the head."""
    source = Encoding(tuple(range(10, 19)), (), (), (), "")
    sample = Sample((source,) * 3, ((7,) * 11,) * 3, (None,) * 3, (None,) * 3)
    uniform = uniform_maps(sample, tiny_config())
    maps = np.stack([[uniform["decoder"], relative_map(np.eye(12))]])
    grid = RoleGrid("decoder", maps, uniform["decoder"], dict.fromkeys(np.ndindex(1, 2), PLAIN))
    even, itself = grid.times_uniform[0]
    assert np.allclose(even[np.tril_indices(BINS)], 1)
    assert itself[0, 0] == pytest.approx(1)
    assert itself[-1, -1] == pytest.approx(12), "the last row could see twelve keys"
    assert not wire.read(encode((grid,), choosing=False))[1]["decoder"][0, 0].any()
    both = Role("sink: end of sentence + alignment (predicts)", ("end", "aligned"))
    named = replace(grid, roles={**grid.roles, (0, 1): both})
    aligning = replace(grid, roles=dict.fromkeys(grid.roles, Role("alignment (predicts)", ("aligned",))))
    header = wire.read(encode([named, aligning], choosing=False))[0]
    assert [(role["letters"], role["name"], role["heads"]) for role in header["roles"]] == [
        ("Ap", "alignment (predicts)", 3),
        ("Se", "sink: end of sentence", 1),
    ], "one legend of all grids, in which a head with two roles counts twice"


def test_roles_have_different_colours_as_long_as_there_are_any() -> None:
    """“Next token” and “end of sentence” would have the same."""
    names = list(LETTERS)
    grids = [replace(ENCODER, roles=dict.fromkeys(ENCODER.roles, Role(name, (name,)))) for name in names]
    for n in (2, 8, len(names)):
        some = [grids[names.index(name)] for name in ("sink: end of sentence", "next token", *names)[:n]]
        header = wire.read(encode(some, choosing=False))[0]
        colours = [role["colour"] for role in header["roles"]]
        assert len({*colours}) == min(len(colours), 8)
        by_letters = {role["letters"]: role["colour"] for role in header["roles"]}
        for grid in header["grids"]:
            assert {tile["colour"] for tile in grid["tiles"]} == {by_letters[grid["tiles"][0]["letters"]]}


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
