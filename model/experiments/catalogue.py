"""The experiments, read from `experiments.toml`; `python -m model.experiments` runs every experiment listed there."""

from __future__ import annotations

import tomllib
from pathlib import Path

import msgspec

from model.config import ConfigError
from model.experiments.recipe import Experiment
from model.nearest import nearest

CATALOGUE = Path(__file__).parent / "experiments.toml"


def _read(path: Path) -> dict[str, Experiment]:
    """Read the experiments of a file by name, with each base's name replaced by the base."""
    content = tomllib.loads(path.read_text(encoding="utf-8"))
    bases = {name: {"name": name, **values} for name, values in content["base"].items()}
    entries = [{**entry, "base": bases[entry["base"]]} for entry in content["experiment"]]
    return {experiment.name: experiment for experiment in msgspec.convert(entries, list[Experiment])}


EXPERIMENTS = _read(CATALOGUE)


def get_experiment(name: str) -> Experiment:
    """The experiment of this name; a ConfigError names the nearest if there is none."""
    if name not in EXPERIMENTS:
        raise ConfigError("there is no experiment '{name}'. {nearest}", name=name, nearest=nearest(name, EXPERIMENTS))
    return EXPERIMENTS[name]
