"""Import BART (Lewis et al. 2020): learned positions, a norm on the embeddings, GELU, and byte-level BPE."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from model.config import ModelConfig
from model.importing.byte_pairs import read_byte_pairs
from model.importing.languages import Languages, refuse_languages
from model.importing.source_folder import CONFIG, ImportFailed, SourceFolder, settings_of
from model.importing.translator import Id, ImportedTranslator, Settings, check_settings, reorder
from model.importing.weights import Ledger, assembled, read_shared, set_norm
from model.text.bytelevel import ByteLevelTokenizer

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
    pairs = read_byte_pairs(folder, "<s>", "</s>")
    if pairs.names.get(pairs.end) != eos:
        raise ImportFailed(
            "{config} ends sentences with id {eos}, but {file} with {end:.40}, which is {token:.20}.",
            config=CONFIG,
            eos=eos,
            file=pairs.file,
            end=repr(pairs.end),
            token=repr(pairs.names.get(pairs.end)),
        )
    size = settings.vocab_size
    vocabulary = reorder(pairs.names, size, pad=pad, start=start, eos=pairs.end, unk=_UNK, file=pairs.file)
    tokenizer = ByteLevelTokenizer(vocabulary.pieces, pairs.merges, begin=pairs.begin, prefix_space=pairs.prefix_space)

    order = torch.arange(settings.d_model)  # dimensions keep their order: there is no sinusoidal table to match
    ledger, model, search, remarks = read_shared(
        folder, config, settings, (vocabulary, vocabulary), order, positions="learned", norm_embeddings=True
    )
    set_learned_positions(ledger, model, order)
    return assembled(folder, ledger, "BART", model, (tokenizer, tokenizer), search, remarks=remarks)


def set_learned_positions(ledger: Ledger, model: ModelConfig, order: Tensor) -> None:
    """Set the tables of positions, and the norms of the embeddings, which BART and mBART share."""
    for side, stack in (("src", "encoder"), ("tgt", "decoder")):
        shape = model.max_positions + POSITIONS_OFFSET, model.d_model
        table = ledger.take(f"model.{stack}.embed_positions.weight", *shape)
        ledger.parameters[f"positions_{side}.embedding.weight"] = table[POSITIONS_OFFSET:]
        set_norm(ledger, f"norm_{side}", f"model.{stack}.layernorm_embedding", order)
