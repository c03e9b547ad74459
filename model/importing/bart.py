"""Import BART (Lewis et al. 2020): learned positions, a norm on the embeddings, GELU, and byte-level BPE.

The tokenizer's files are tokenizer.json, or vocab.json and merges.txt; they are read as data alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from model.config import DataConfig, ModelConfig
from model.data.task import IMPORTED
from model.file_formats import fits
from model.importing.languages import Languages, refuse_languages
from model.importing.source_folder import (
    CONFIG,
    MERGES,
    TOKENIZER,
    TOKENIZERS,
    VOCABULARY,
    ImportFailed,
    SourceFolder,
    settings_of,
)
from model.importing.translator import (
    Id,
    ImportedTranslator,
    Settings,
    TokenizerSettings,
    check_settings,
    reorder,
)
from model.importing.weights import Ledger, read_shared, set_norm, settled
from model.text.bytelevel import ByteLevelTokenizer, read_byte_merges
from model.text.pieces import Merge

# Options of BPE that GPT-2 does not use.
_SWITCHED_OFF = ("dropout", "continuing_subword_prefix", "end_of_word_suffix", "byte_fallback", "ignore_merges")
BEGIN, END = "<s>", "</s>"  # BART's own, unless the files say otherwise


@dataclass(frozen=True)
class BytePairs:
    """A vocabulary with its ids, the merges in order, and the tokens before and after every text."""

    names: dict[str, Any]
    merges: tuple[Merge, ...]
    begin: str
    end: str
    prefix_space: bool
    file: str


def read_byte_pairs(folder: SourceFolder) -> BytePairs:
    """Read the tokenizer of a folder.

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
        raise ImportFailed(f"{folder.name}/{MERGES} is not text; it is damaged.") from None
    merges = [line for line in lines if line.strip() and not line.startswith("#version")]
    return BytePairs(names, tuple(read_byte_merges(merges)), BEGIN, END, settings.add_prefix_space, VOCABULARY)


def _from_one_file(values: dict[str, Any]) -> BytePairs:
    """Read tokenizer.json of the `tokenizers` library, if it is a byte-level BPE."""
    model, splitter = _part(values, "model"), _part(values, "pre_tokenizer")
    for key, value in model.items():
        if (key in _SWITCHED_OFF and value) or (key == "type" and value != "BPE"):
            raise _other_kind(f"a model with {key}={value!r:.40}")
    if values.get("normalizer") is not None:
        raise _other_kind("a normaliser")
    if splitter.get("type") != "ByteLevel" or splitter.get("use_regex", True) is not True:
        raise _other_kind("text split otherwise")
    names, added = model.get("vocab"), values.get("added_tokens") or []
    has_merges = fits(model.get("merges"), list[tuple[str, str] | str])
    if not isinstance(names, dict) or not has_merges or not isinstance(added, list):
        raise ImportFailed(f"{TOKENIZERS} has no vocabulary with merges.")
    for token in added:
        match token:
            case {"content": str(content), "id": i} if names.setdefault(content, i) == i:
                continue
        raise ImportFailed(f"{TOKENIZERS} adds {token!r:.80}, which is no token with the id of its entry.")
    lines = [pair if isinstance(pair, str) else " ".join(pair) for pair in model["merges"]]
    begin, end = _begin_and_end(_part(values, "post_processor"))
    prefix_space = settings_of(splitter, TokenizerSettings, TOKENIZERS).add_prefix_space
    return BytePairs(names, tuple(read_byte_merges(lines)), begin, end, prefix_space, TOKENIZERS)


def _part(values: Mapping[str, Any], name: str) -> dict[str, Any]:
    part = values.get(name)
    if not isinstance(part, dict):
        raise _other_kind(f"no {name}")
    return part


def _other_kind(what: str) -> ImportFailed:
    return ImportFailed(f"{TOKENIZERS} has {what}; only the byte-level BPE of GPT-2 and BART can be read.")


def _begin_and_end(processor: Mapping[str, Any]) -> tuple[str, str]:
    """The special tokens before and after every text."""
    match processor:
        case {"type": "RobertaProcessing", "cls": [str(begin), *_], "sep": [str(end), *_]}:
            return begin, end
        case {
            "type": "TemplateProcessing",
            "single": [{"SpecialToken": {"id": str(begin)}}, {"Sequence": _}, {"SpecialToken": {"id": str(end)}}],
        }:
            return begin, end
    raise _other_kind("a post-processor with special tokens other than one before and one after a text")


_UNK = "<unk>"
_SWITCHES = {
    "normalize_before": False,
    "add_final_layer_norm": False,
    "normalize_embedding": True,
    "static_position_embeddings": False,
    "add_bias_logits": False,
    "extra_pos_embeddings": 2,
}
POSITIONS_OFFSET = 2
"""Row of the first position: fairseq counts positions from the id after padding, and the rows before it are unused."""


class _Settings(Settings, kw_only=True):
    pad_token_id: Id = 1
    eos_token_id: Id = 2
    decoder_start_token_id: Id = 2


def read_bart(folder: SourceFolder, config: dict[str, Any], languages: Languages) -> ImportedTranslator:
    """Read a BART folder."""
    refuse_languages(languages, "BART")
    check_settings(config, _Settings, _SWITCHES, "BART")
    settings = settings_of(config, _Settings, CONFIG)
    pad, eos, start = settings.pad_token_id, settings.eos_token_id, settings.decoder_start_token_id
    pairs = read_byte_pairs(folder)
    if pairs.names.get(pairs.end) != eos:
        raise ImportFailed(
            f"{CONFIG} ends sentences with id {eos}, but {pairs.file} with {pairs.end!r:.40}, "
            f"which is {pairs.names.get(pairs.end)!r:.20}."
        )
    size = settings.vocab_size
    vocabulary = reorder(pairs.names, size, pad=pad, start=start, eos=pairs.end, unk=_UNK, file=pairs.file)
    tokenizer = ByteLevelTokenizer(vocabulary.pieces, pairs.merges, begin=pairs.begin, prefix_space=pairs.prefix_space)

    order = torch.arange(settings.d_model)  # dimensions keep their order: there is no sinusoidal table to match
    ledger, model, search, remarks = read_shared(
        folder, config, settings, (vocabulary, vocabulary), order, positions="learned", norm_embeddings=True
    )
    set_learned_positions(ledger, model, order)
    return ImportedTranslator(
        family="BART",
        model=model,
        data=DataConfig(task=IMPORTED, tokenizer="bytelevel", src_lang="xx", tgt_lang="xx"),
        source=tokenizer,
        target=tokenizer,
        parameters=settled(ledger, model),
        search=search,
        licence=folder.licence(),
        changes="The ids of its tokens are in another order than in the imported files; its results are the same.",
        remarks=remarks,
    )


def set_learned_positions(ledger: Ledger, model: ModelConfig, order: Tensor) -> None:
    """Set the tables of positions, and the norms of the embeddings, which BART and mBART share.

    Raises:
        ImportFailed: a table has another shape than config.json says.
    """
    for side, stack in (("src", "encoder"), ("tgt", "decoder")):
        table = ledger.take(f"model.{stack}.embed_positions.weight")
        if table.shape != (model.max_positions + POSITIONS_OFFSET, model.d_model):
            raise ImportFailed(
                f"model.{stack}.embed_positions.weight has shape {list(table.shape)}, but {CONFIG} asks for "
                f"{[model.max_positions + POSITIONS_OFFSET, model.d_model]}."
            )
        ledger.parameters[f"positions_{side}.embedding.weight"] = table[POSITIONS_OFFSET:]
        set_norm(ledger, f"norm_{side}", f"model.{stack}.layernorm_embedding", order)
