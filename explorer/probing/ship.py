"""Measure the shipped models and store the results beside their weights: `python -m explorer.probing.ship [NAME …]`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from explorer.probing.findings import check_lines, findings
from explorer.probing.importance import measure_importance
from explorer.probing.measured import measure, sample_hash, save, seeds_for
from explorer.probing.reporting import unheard
from explorer.probing.sample import default_choice
from model.checkpoint import find_model, load_model
from model.folder import list_models


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure each named model on its default sample and write its file."""
    parser = argparse.ArgumentParser(prog="python -m explorer.probing.ship", description=__doc__)
    parser.add_argument("names", nargs="*", help="models in the checkpoints folder (default: all Transformers)")
    parser.add_argument("--checkpoints", type=Path, default=Path("checkpoints"))
    parser.add_argument("--card", action="store_true", help="print what a model's card quotes, and store nothing")
    options = parser.parse_args(arguments)
    names = options.names or [str(entry["name"]) for entry in list_models(options.checkpoints)]
    for name in names:
        loaded = load_model(find_model(options.checkpoints, name))
        if loaded.model_config.architecture != "transformer" or loaded.folder is None:
            continue
        found = measure(default_choice(loaded.data_config), loaded, unheard, again=True)
        importance = measure_importance(loaded, found.sample, unheard)
        if options.card:
            lines = (*findings(loaded, found, importance), *check_lines(loaded, found.sample))
            print("\n".join((f"# {name}", *(f"- {line}" for line in lines))), flush=True)
            continue
        hashed = sample_hash(found.sample, seeds_for(loaded))
        path = save(loaded.folder, found.probe, importance, hashed)
        print(f"{path}: {path.stat().st_size / 1e3:.0f} kB, {found.about}")


if __name__ == "__main__":
    main()
