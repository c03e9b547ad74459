"""Small BART folders, as `transformers` and `tokenizers` write them, with random weights everywhere."""

import functools
import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

import torch

from tests.model.importing.peer import SIZES, TEXT, randomize, require

SPECIAL = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
_MADE_UP = 3  # rows without an entry at the end of the table, as in BART's own


@functools.cache
def vocabulary() -> Path:
    """A folder with vocab.json and merges.txt of a toy byte-level BPE; <mask> comes last, as in BART's."""
    tokenizers = require("tokenizers")
    trained = tokenizers.ByteLevelBPETokenizer()
    lines = [line + mark for side in TEXT.values() for line in side for mark in (".", "!", " ?", ", “so”", " 1990's")]
    trained.train_from_iterator(lines * 3, vocab_size=340, special_tokens=list(SPECIAL[:-1]), show_progress=False)
    folder = Path(tempfile.mkdtemp(prefix="bart-"))
    trained.save_model(str(folder))
    path = folder / "vocab.json"
    names = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(names | {SPECIAL[-1]: len(names)}), encoding="utf-8")
    return folder


def tokenizer(**settings: Any) -> Any:
    """The tokenizer that `transformers` makes of that vocabulary."""
    return require("transformers").BartTokenizer.from_pretrained(vocabulary(), **settings)


def bart(*, generation: dict[str, Any] | None = None, **changes: Any) -> Any:
    """A BART model in evaluation mode whose attention shows its weights."""
    transformers = require("transformers")
    settings = SIZES | {"vocab_size": len(tokenizer()) + _MADE_UP, "forced_eos_token_id": None}
    model = transformers.BartForConditionalGeneration(transformers.BartConfig(**(settings | changes)))
    randomize(model, end=7.0)
    never = [1, *range(model.config.vocab_size - _MADE_UP, model.config.vocab_size)]  # <pad>, and rows of no entry
    own = {"num_beams": 4, "max_length": 40, "length_penalty": 1.0, "renormalize_logits": True}
    for name, value in (own | {"bad_words_ids": [[i] for i in never]} | (generation or {})).items():
        setattr(model.generation_config, name, value)
    return model


def save(
    model: Any, folder: Path, *, half: bool = False, one_file: bool = False, bare: bool = False, **kind: Any
) -> Path:
    """Write the folder that a person would have downloaded.

    `one_file`: with tokenizer.json, as `transformers` writes it today, instead of vocab.json and merges.txt; `bare`:
    saved without its output projection.
    """
    (model.half() if half else model).save_pretrained(folder)
    if bare:
        config = (folder / "config.json").read_text(encoding="utf-8")
        model.model.save_pretrained(folder)
        (folder / "config.json").write_text(config, encoding="utf-8")
    model.float()
    if one_file:
        tokenizer(**kind).save_pretrained(folder)
        return folder
    for name in ("vocab.json", "merges.txt"):
        (folder / name).write_bytes((vocabulary() / name).read_bytes())
    (folder / "tokenizer_config.json").write_text(json.dumps({"model_max_length": 64, **kind}), encoding="utf-8")
    return folder


@functools.cache
def standard() -> Path:
    """A folder of an ordinary model, made once; tests copy what they change."""
    parent = Path(tempfile.mkdtemp(prefix="bart-"))
    with torch.inference_mode():
        return save(bart(generation={"forced_bos_token_id": 0}), parent / "bart-en-de")


def copied(folder: Path) -> Path:
    return Path(shutil.copytree(standard(), folder))
