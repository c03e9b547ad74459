"""The files of a byte-level BPE: tokenizer.json, or vocab.json and merges.txt. They are read as data alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from model.file_formats import fits
from model.importing.source_folder import (
    MERGES,
    TOKENIZER,
    TOKENIZERS,
    VOCABULARY,
    ImportFailed,
    SourceFolder,
    settings_of,
)
from model.importing.translator import TokenizerSettings
from model.text.bytelevel import BY_BYTES, SPLITS, Split
from model.wording import Later, later

# Options of BPE that no supported tokenizer uses.
_SWITCHED_OFF = ("dropout", "continuing_subword_prefix", "end_of_word_suffix", "byte_fallback", "ignore_merges")


@dataclass(frozen=True)
class BytePairs:
    """A vocabulary with its ids, the merges ("left right") in order, and the tokens around every text, if any.

    `split` says how text is cut before merging; `file` is the name of the vocabulary in messages.
    """

    names: dict[str, Any]
    merges: list[str]
    begin: str
    end: str
    prefix_space: bool
    file: str
    split: Split = "gpt2"


def read_byte_pairs(folder: SourceFolder, begin: str, end: str) -> BytePairs:
    """Read the tokenizer of a folder; `begin` and `end` are the family's own, where the files do not say them.

    Raises:
        ImportFailed, TokenizerError: a file is missing or damaged, or describes another kind of tokenizer.
    """
    if folder.has(TOKENIZERS):
        return _from_one_file(folder.json(TOKENIZERS))
    settings = settings_of(folder.optional_json(TOKENIZER), TokenizerSettings, TOKENIZER)
    names = folder.json(VOCABULARY)
    try:
        lines = folder.read(MERGES).decode().splitlines()
    except UnicodeDecodeError:
        raise ImportFailed("{name}/merges.txt is not text; it is damaged.", name=folder.name) from None
    merges = [line for line in lines if line.strip() and not line.startswith("#version")]
    return BytePairs(names, merges, begin, end, settings.add_prefix_space, VOCABULARY)


def _from_one_file(values: dict[str, Any]) -> BytePairs:
    """Read tokenizer.json of the `tokenizers` library, if it is a byte-level BPE."""
    model = _part(values, "model")
    for key, value in model.items():
        if (key in _SWITCHED_OFF and value) or (key == "type" and value != "BPE"):
            raise _other_kind(later("a model with {key}={value:.40}", key=key, value=repr(value)))
    split, prefix_space = _split(_part(values, "pre_tokenizer"), values.get("normalizer"))
    names, added = model.get("vocab"), values.get("added_tokens") or []
    has_merges = fits(model.get("merges"), list[tuple[str, str] | str])
    if not isinstance(names, dict) or not has_merges or not isinstance(added, list):
        raise ImportFailed("tokenizer.json has no vocabulary with merges.")
    for token in added:
        match token:
            case {"content": str(content), "id": i} if names.setdefault(content, i) == i:
                continue
        raise ImportFailed(
            "tokenizer.json adds {token:.80}, which is no token with the id of its entry.", token=repr(token)
        )
    lines = [pair if isinstance(pair, str) else " ".join(pair) for pair in model["merges"]]
    return BytePairs(names, lines, *_begin_and_end(values.get("post_processor")), prefix_space, TOKENIZERS, split)


def _split(splitter: dict[str, Any], normalizer: Any) -> tuple[Split, bool]:
    """How text is cut before merging, and whether a space is put before it."""
    steps = splitter.get("pretokenizers") if splitter.get("type") == "Sequence" else [splitter]
    if not isinstance(steps, list) or not all(isinstance(step, dict) for step in (*steps, normalizer or {})):
        raise _other_kind(later("text cut by {steps:.160}", steps=repr(steps)))
    *before, last = steps or [{}]
    prefix_space = settings_of(last, TokenizerSettings, TOKENIZERS).add_prefix_space
    last = {**BY_BYTES, **last, "add_prefix_space": False, "trim_offsets": True}  # the latter concerns offsets alone
    for split, known in SPLITS.items():
        if known == (normalizer, [*before, last]):
            return split, prefix_space
    names = [f"{step.get('type')} {step.get('pattern', '')}".strip() for step in (normalizer, *steps) if step]
    raise _other_kind(later("text cut by {steps:.160}", steps=" + ".join(names)))


def _part(values: Mapping[str, Any], name: str) -> dict[str, Any]:
    part = values.get(name)
    if not isinstance(part, dict):
        raise _other_kind(later("no {name}", name=name))
    return part


def _other_kind(what: Later) -> ImportFailed:
    return ImportFailed(
        "tokenizer.json has {what}; only the byte-level BPE of GPT-2, BART, SmolLM2 and Qwen2.5 can be read.", what=what
    )


def _begin_and_end(processor: Any) -> tuple[str, str]:
    """The special tokens before and after every text; empty if there are none."""
    match processor:
        case None | {"type": "ByteLevel"}:
            return "", ""
        case {"type": "RobertaProcessing", "cls": [str(begin), *_], "sep": [str(end), *_]}:
            return begin, end
        case {"type": "TemplateProcessing", "single": [*single]}:
            match single:
                case [{"Sequence": _}]:
                    return "", ""
                case [{"SpecialToken": {"id": str(begin)}}, {"Sequence": _}]:
                    return begin, ""
                case [{"SpecialToken": {"id": str(begin)}}, {"Sequence": _}, {"SpecialToken": {"id": str(end)}}]:
                    return begin, end
    raise _other_kind(later("a post-processor with special tokens other than one before and one after a text"))
