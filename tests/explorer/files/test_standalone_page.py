"""Pages that stand alone: what is packed comes out again, forks share what they have in common, no markup gets in."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import json
import re

import numpy as np
import pytest

from explorer.decoding.decoding import Decoding, place_in
from explorer.files.standalone_page import Recording, forks_of
from explorer.files.standalone_page import page as page_of
from model.trace import AttentionTrace
from tests.explorer.files.unpacked import header_of, message_of, parts_of, weights_of
from tests.explorer.planted_heads import random_trace

SOURCE = ["a", "b", "c", "<eos>"]


def recording(trace: AttentionTrace, path: tuple[int, ...], seq: str = "one") -> Recording:
    return Recording(Decoding(trace, seq, "planted", path))


def page(recordings: list[Recording], **choices: object) -> bytes:
    return page_of(recordings, place_in(recordings[0].decoding.trace), **choices)


def forked(trace: AttentionTrace, row: int, length: int) -> AttentionTrace:
    """Another decoding of the same source that agrees with `trace` in the rows before `row`."""
    other = random_trace(SOURCE, ["<sos>", *"uvwxyz"[: length - 1]], seed=9)
    changes = {"encoder": trace.encoder}
    for kind in ("decoder", "cross"):
        weights = getattr(other, kind).copy()
        keys = row if kind == "decoder" else len(SOURCE)
        weights[:, :, :row, :keys] = getattr(trace, kind)[:, :, :row, :keys]
        changes[kind] = weights
    return dataclasses.replace(other, **changes)


@pytest.fixture(scope="module")
def trace() -> AttentionTrace:
    return random_trace(SOURCE, ["<sos>", "u", "v", "w"])


@pytest.mark.parametrize("length", [3, 4, 6])
def test_every_recording_comes_out_as_it_went_in(trace: AttentionTrace, length: int) -> None:
    other = forked(trace, 2, length)
    html = page(
        [recording(trace, (5, 6, 7, 3)), recording(other, (5, 6, 9, 8, 4, 3)[:length], "two")], title="x"
    ).decode()
    for number, one in enumerate((trace, other)):
        for kind, weights in weights_of(html, number).items():
            np.testing.assert_array_equal(weights, getattr(one, kind))


def test_forks_are_found_from_both_sides(trace: AttentionTrace) -> None:
    paths = [(5, 6, 7, 3), (5, 8, 3, 1), (5, 8, 4, 3), (5, 6, 7, 3)]
    assert forks_of([recording(trace, path) for path in paths]) == [
        [{}, {8: 1}, {}, {}],
        [{}, {6: 0}, {4: 2}, {}],
        [{}, {6: 0}, {3: 1}, {}],
        [{}, {8: 1}, {}, {}],
    ]


def test_a_masked_cell_with_a_weight_is_not_hidden(trace: AttentionTrace) -> None:
    weights = trace.decoder.copy()
    weights[0, 0, 0, 3] = 0.25
    leaking = dataclasses.replace(trace, decoder=weights)
    html = page([recording(leaking, (5, 6, 7, 3))], title="x").decode()
    np.testing.assert_array_equal(weights_of(html)["decoder"], weights)
    assert message_of(html)[0]["decoding"]["checks"]["leaks"] == 1


def test_the_policy_allows_two_scripts_and_nothing_else(trace: AttentionTrace) -> None:
    html = page([recording(trace, (5, 6, 7, 3))], title="</title><script>alert(1)</script>", facts=["<b>bold"]).decode()
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', html)
    (boot,) = re.findall(r'<script type="module">(.*?)</script>', html, re.DOTALL)
    allowed = f"'sha256-{base64.b64encode(hashlib.sha256(boot.encode()).digest()).decode()}'"
    assert policy.split("script-src ")[1].split(";")[0].split() == [allowed, "blob:"]
    assert policy.startswith("default-src 'none'")
    assert html.count("<script") == 2
    assert "<b>bold" not in html
    assert not re.findall(r'(?:src|href)="(?!#)', html), "nothing is loaded"


def test_every_term_that_the_views_link_is_explained(trace: AttentionTrace) -> None:
    html = page([recording(trace, (5, 6, 7, 3))], title="x").decode()
    looks = json.loads(parts_of(html)[0])["looks"]
    marked = "".join(look["html"] for look in looks.values())
    linked = set(re.findall(r"#term-[a-z-]+", marked)) | {"#term-self-attention", "#term-cross-attention"}
    assert linked == set(header_of(html)["terms"])
