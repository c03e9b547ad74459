"""Describe a loaded model without running it: its settings and its tokenizers."""

from __future__ import annotations

from dataclasses import dataclass

from model.checkpoint import LoadedModel
from model.config import DataConfig, ModelConfig, TrainConfig
from model.text.tokenizer import Tokenizer


@dataclass(frozen=True, eq=False)
class ModelDescription:
    """A model's name, settings and tokenizers; only the gateway gives access to its weights."""

    name: str
    model_config: ModelConfig
    data_config: DataConfig
    train_config: TrainConfig
    source: Tokenizer
    target: Tokenizer

    @property
    def is_transformer(self) -> bool:
        """Whether the model has positions, masks and layers of attention."""
        return self.model_config.architecture != "lstm"

    @property
    def max_source_tokens(self) -> int:
        """Largest number of source tokens, without <eos>, that the model reads."""
        return self.model_config.longest_source


def description_of(loaded: LoadedModel) -> ModelDescription:
    """The description of a loaded model."""
    return ModelDescription(
        name=loaded.name,
        model_config=loaded.model_config,
        data_config=loaded.data_config,
        train_config=loaded.train_config,
        source=loaded.source,
        target=loaded.target,
    )
