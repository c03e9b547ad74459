"""The app's configuration: every option exists in Streamlit, and colours have enough contrast."""

import subprocess
import sys
import tomllib

import pytest

from tests.paths import ROOT

CONFIG = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))


def luminance(colour: str) -> float:
    """Relative luminance of #rrggbb (WCAG 2.2)."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, two: str) -> float:
    dark, light = sorted((luminance(one), luminance(two)))
    return (light + 0.05) / (dark + 0.05)


def surfaces(theme: str) -> list[str]:
    main = CONFIG["theme"][theme]
    return [part[key] for part in (main, main["sidebar"]) for key in ("backgroundColor", "secondaryBackgroundColor")]


@pytest.mark.slow
def test_streamlit_knows_every_option() -> None:
    shown = subprocess.run(
        [sys.executable, "-m", "streamlit", "config", "show"], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert shown.returncode == 0
    assert "not a valid config option" not in shown.stderr + shown.stdout


def test_the_server_keeps_to_this_machine_and_tells_nobody() -> None:
    assert CONFIG["server"]["address"] == "localhost"
    assert CONFIG["server"]["enableXsrfProtection"] is True
    assert CONFIG["server"]["enableCORS"] is True
    assert CONFIG["server"]["maxUploadSize"] <= 100  # an upload is held in memory
    assert CONFIG["browser"]["gatherUsageStats"] is False
    assert CONFIG["client"]["showErrorDetails"] in ("none", "type")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_everything_stands_out_from_what_it_is_written_on(theme: str) -> None:
    colours = CONFIG["theme"][theme]
    for surface in surfaces(theme):
        assert contrast(colours["textColor"], surface) >= 7
        assert contrast(colours["linkColor"], surface) >= 4.5
    assert contrast("#ffffff", colours["primaryColor"]) >= 4.5, "Streamlit writes white on primary buttons"
    assert contrast(colours["primaryColor"], colours["backgroundColor"]) >= 4.0
    assert all(contrast(each, colours["backgroundColor"]) >= 3 for each in colours["chartCategoricalColors"])


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_scales_are_ordered_by_lightness(theme: str) -> None:
    background = CONFIG["theme"][theme]["backgroundColor"]
    sequential = [contrast(colour, background) for colour in CONFIG["theme"][theme]["chartSequentialColors"]]
    assert len(sequential) == 10
    assert sequential == sorted(sequential), "more attention is further from the page's colour"
    diverging = [contrast(colour, background) for colour in CONFIG["theme"][theme]["chartDivergingColors"]]
    assert len(diverging) == 10
    assert diverging[:5] == sorted(diverging[:5], reverse=True)
    assert diverging[5:] == sorted(diverging[5:])
