"""The experiments, read from `experiments.toml`. Any that is added there is run by `python -m model.experiments`."""

from __future__ import annotations

import tomllib
from pathlib import Path

import msgspec

from model.config import ConfigError, nearest
from model.experiments.recipe import Experiment

CATALOGUE = Path(__file__).parent / "experiments.toml"


def _read(path: Path) -> dict[str, Experiment]:
    """The experiments of a file by name, each with its base in place of the base's name."""
    held = tomllib.loads(path.read_text(encoding="utf-8"))
    bases = {name: {"name": name, **values} for name, values in held["base"].items()}
    entries = [{**entry, "base": bases[entry["base"]]} for entry in held["experiment"]]
    return {each.name: each for each in msgspec.convert(entries, list[Experiment])}


EXPERIMENTS = _read(CATALOGUE)


def get_experiment(name: str) -> Experiment:
    """The experiment of this name.

    Raises:
        ConfigError: there is none; the nearest is named.
    """
    if name not in EXPERIMENTS:
        raise ConfigError(f"there is no experiment '{name}'{nearest(name, EXPERIMENTS)}")
    return EXPERIMENTS[name]
