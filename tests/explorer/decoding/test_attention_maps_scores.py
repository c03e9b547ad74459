"""The numbers under the thumbnails, checked on heads whose role is known by construction."""

from __future__ import annotations

import math

import numpy as np
import pytest

from explorer.decoding.attention_maps import MIXED, attention_maps
from tests.explorer.planted import planted_trace
from tests.explorer.planted_heads import CROSS, DECODER, ENCODER, heads_trace


@pytest.mark.parametrize(("kind", "roles"), [("encoder", ENCODER), ("decoder", DECODER), ("cross", CROSS)])
def test_planted_heads_get_their_role_and_uniform_ones_none(kind: str, roles: dict[str, object]) -> None:
    summary = attention_maps(heads_trace(), kind)  # type: ignore[arg-type]
    for head, name in enumerate(roles):
        assert summary.role(0, head) == name
        assert summary.shares[name][0, head] == 1.0, "exactly 1, not (n - 1)/n"
        assert summary.effective[0, head] == pytest.approx(1)
    assert summary.role(0, len(roles)) == MIXED


def test_a_uniform_head_looks_at_as_many_keys_as_there_are() -> None:
    summary = attention_maps(heads_trace(), "cross")
    assert summary.effective[0, -1] == pytest.approx(6)
    # Rows of 2 to 6 visible keys; the first row has no choice and does not count.
    summary = attention_maps(heads_trace(), "decoder")
    assert summary.effective[0, -1] == pytest.approx(np.mean([2, 3, 4, 5, 6]))
    assert summary.shares["previous"][0, -1] == pytest.approx(np.mean([1 / n for n in (2, 3, 4, 5, 6)]))
    assert summary.shares["previous"][0, -1] == pytest.approx(summary.chance["previous"])


def test_one_token_has_no_choice() -> None:
    trace = planted_trace(("<eos>",), ("<sos>",), layers=(1, 1), heads=(1, 1))
    for kind in ("encoder", "decoder", "cross"):
        summary = attention_maps(trace, kind)  # type: ignore[arg-type]
        assert math.isnan(summary.effective[0, 0])
        assert all(math.isnan(share[0, 0]) for share in summary.shares.values())
        assert summary.role(0, 0) == MIXED


def test_a_row_that_sees_nothing_is_left_out() -> None:
    trace = heads_trace()
    trace.encoder_mask[2] = 2
    trace.encoder[:, :, 2] = 0
    summary = attention_maps(trace, "encoder")
    assert summary.shares["itself"][0, 0] == 1.0
    assert summary.effective[0, -1] == pytest.approx(6)
