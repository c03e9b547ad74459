"""Where this copy of Headlight lives: a clone, or inside an installed package."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
"""The folder of app.py, pages/, model/ and explorer/."""

INSTALLED = ROOT.parts[-2:] == ("headlight", "_app")
"""Whether it was installed as a package; its folder is then no place for a person's own models."""
