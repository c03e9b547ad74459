"""The models of a folder, to evaluate lessons without the app."""

from __future__ import annotations

import functools
from pathlib import Path

from explorer.decoding.translator import InputError, Translation, Translator
from explorer.lessons.checks import Live, answer
from explorer.lessons.evaluation import Models
from explorer.lessons.expressions import Term, TermError, Value
from model.checkpoint import load_model
from model.config import DecodeConfig
from model.folder import CheckpointError, find_model, list_models


def models_in(checkpoints: Path) -> Models:
    """The models of a folder; each is loaded when it is first asked and kept, and so are translations and values."""
    summaries = {summary["name"]: summary for summary in list_models(checkpoints) if summary["error"] is None}

    @functools.cache
    def translator(model: str) -> Translator:
        return Translator(load_model(find_model(checkpoints, model)))

    @functools.cache
    def translation(model: str, text: str, path: tuple[int, ...]) -> Translation:
        return translator(model).translate(text, DecodeConfig(), prefix=path)

    def encode(model: str, text: str) -> tuple[int, ...]:
        try:
            return translator(model).loaded.target.encode(text).ids
        except (InputError, CheckpointError) as error:
            raise TermError(error) from error

    @functools.cache
    def check(model: str, text: str, path: tuple[int, ...], term: Term) -> Value:
        try:
            live = Live(translator(model), translation(model, text, path), summaries[model])
        except (InputError, CheckpointError) as error:
            raise TermError(error) from error
        return answer(term, live)

    return Models(lambda: summaries, encode, check)
