"""The edits that `reverse` and other models are given for changes to their heads."""

import numpy as np

from explorer.decoding.head_change import Change
from explorer.decoding.head_edits import edits_for
from explorer.decoding.translator import Translator
from explorer.probing.edit_effect import from_another
from model.config import DecodeConfig
from model.edits import HeadEdits


def edits_of(translator: Translator, text: str, *changes: Change) -> HeadEdits:
    shown = translator.translate(text, DecodeConfig())
    return edits_for(
        changes,
        translator.loaded.model_config,
        lambda heads: {head: np.zeros(16, np.float32) for head in heads},
        lambda change: from_another(translator, translator.translate(change.other, DecodeConfig()), shown, change),
    )
