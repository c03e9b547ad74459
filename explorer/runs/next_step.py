"""What a person may do after a run, as settings of a run like it."""

from __future__ import annotations

from pathlib import Path

from explorer.runs.settings import Changes
from model.analysis.run_diagnosis import NextStep
from model.config import ConfigError, ModelConfig, TrainConfig, from_dict, with_current_names
from model.data.proposal import larger
from model.folder import CheckpointError, read_config, section
from model.headline import headline_name, number

MORE_DROPOUT, MOST_DROPOUT = 0.2, 0.5
LOWER_RATE = 4.0  # a rate that diverged is divided by this


def changes_for(step: NextStep, folder: Path) -> Changes:
    """The settings that a run like the one in this folder changes for a next step; () if there are none.

    A rate is lowered if a run diverged with it; dropout is raised; a larger model follows from vocabulary, lengths and
    the score that was reached.
    """
    try:
        config = read_config(folder)
        model = from_dict(ModelConfig, with_current_names(section(config, "model")))
        training = from_dict(TrainConfig, with_current_names(section(config, "training")))
    except (CheckpointError, ConfigError):
        return ()
    if step == "dropout" and model.dropout < MOST_DROPOUT:
        return (("dropout", f"{min(model.dropout + MORE_DROPOUT, MOST_DROPOUT):g}"),)
    if step == "rate":
        return (
            ("learning_rate", f"{training.learning_rate / LOWER_RATE:.2g}"),
            ("warmup_steps", str(max(2 * training.warmup_steps, 100))),
        )
    if step == "larger":
        results = section(config, "results")
        scores = results.get("test") or results.get("valid") or {}
        share = (number(scores, headline_name(scores)) or 0.0) / (100 if headline_name(scores) == "bleu" else 1)
        return tuple((name, f"{value:g}") for name, value in larger(model, training, share).items())
    return ()
