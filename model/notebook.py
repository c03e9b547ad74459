"""Load a model in a notebook, translate a sentence and look at its attention.

import model
reverse = model.load("reverse")
reverse.translate("attention").trace.cross  # [layer, head, tgt, src]
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from model.checkpoint import LoadedModel, load_model
from model.config import DecodeConfig
from model.decoding.decode import decode_recorded
from model.edits import HeadEdits
from model.trace import AttentionTrace

CHECKPOINTS = Path(__file__).resolve().parents[1] / "checkpoints"


@dataclass(frozen=True, eq=False)
class Translation:
    """A sentence, its translation, and the attention of every head while it was translated."""

    source: str
    text: str
    trace: AttentionTrace


@dataclass(frozen=True, eq=False)
class LoadedTranslator:
    """A trained model with its tokenizers; `loaded.model` is the PyTorch module."""

    loaded: LoadedModel

    def translate(self, text: str, config: DecodeConfig | None = None, *, edit: HeadEdits | None = None) -> Translation:
        """Translate one sentence: greedily, or as `config` says, with the heads changed as `edit` says.

        Raises:
            ValueError: the sentence has no tokens, or more than the model can read.
            EditError: `edit` names a layer or head that the model does not have.
        """
        source, limit = self.loaded.source.encode(text), self.loaded.model_config.longest_source
        if not 0 < len(source) <= limit:
            raise ValueError(f"this model reads 1 to {limit} source tokens, and the sentence has {len(source)}.")
        decoding = decode_recorded(self.loaded.model, source, self.loaded.target, config or DecodeConfig(), edit=edit)
        return Translation(text, self.loaded.target.decode(decoding.answer), decoding.trace)


def load(name: str | Path) -> LoadedTranslator:
    """Load a model by its name in `checkpoints/`, or by the path of its folder.

    Raises:
        CheckpointError: there is no such model, or its folder is damaged.
    """
    folder = CHECKPOINTS / name
    return LoadedTranslator(load_model(folder if folder.is_dir() else Path(name)))
