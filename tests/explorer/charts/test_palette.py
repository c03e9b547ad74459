"""The two token hues are legible on every background of the app, and differ from each other."""

from __future__ import annotations

import pytest

from explorer.charts.palette import palettes
from tests.test_theme import contrast, surfaces


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_token_hues_can_be_read(theme: str) -> None:
    palette = palettes()[theme]
    for ground in surfaces(theme):
        assert contrast(palette["source"], ground) >= 4.5
        assert contrast(palette["target"], ground) >= 4.5


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_masked_is_grey_and_its_hatching_can_be_seen(theme: str) -> None:
    palette = palettes()[theme]
    for name in ("masked", "hatch"):
        channels = bytes.fromhex(palette[name][1:])
        assert max(channels) - min(channels) <= 10
    assert contrast(palette["masked"], palette["hatch"]) >= 1.5
