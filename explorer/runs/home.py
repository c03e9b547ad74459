"""The location of this copy of Headlight: a clone, or an installed package."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
"""The folder of app.py, pages/, model/ and explorer/."""

INSTALLED = ROOT.parts[-2:] == ("headlight", "_app")
"""Whether Headlight was installed as a package; users' models must then be stored elsewhere."""
