"""BART (Lewis et al. 2020): learned positions, a norm on the embeddings, GELU, and byte-level BPE."""

from __future__ import annotations

from typing import Any

import torch

from model.config import DataConfig, ModelConfig
from model.data.task import IMPORTED
from model.importing.byte_pairs import read_byte_pairs
from model.importing.settings import refuse_other_kinds, sizes
from model.importing.source_folder import CONFIG, ImportFailed, SourceFolder, flag, integer
from model.importing.translator import ImportedTranslator, read_first_token, read_search
from model.importing.vocabulary import reorder
from model.importing.weights import Ledger, set_layers, set_norm, set_tables, settled, take_tables
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
"""Row of the first position: fairseq counted positions from the id of padding on, and the rows below stay unused."""


def read_bart(folder: SourceFolder, config: dict[str, Any]) -> ImportedTranslator:
    """Read a BART folder.

    Raises:
        ImportFailed, CheckpointError, TokenizerError, ConfigError: one sentence on what is wrong or not supported.
    """
    refuse_other_kinds(config, _SWITCHES, "BART")
    size = integer(config, "vocab_size", low=4)
    pad, eos = integer(config, "pad_token_id", default=1), integer(config, "eos_token_id", default=2)
    start = integer(config, "decoder_start_token_id", default=eos)
    pairs = read_byte_pairs(folder)
    if pairs.names.get(pairs.end) != eos:
        raise ImportFailed(
            f"{CONFIG} ends sentences with id {eos}, but {pairs.file} with {pairs.end!r:.40}, "
            f"which is {pairs.names.get(pairs.end)!r:.20}."
        )
    vocabulary = reorder(pairs.names, size, pad=pad, start=start, eos=pairs.end, unk=_UNK, file=pairs.file)
    tokenizer = ByteLevelTokenizer(vocabulary.pieces, pairs.merges, begin=pairs.begin, prefix_space=pairs.prefix_space)

    search, banned, remarks = read_search(folder, config, vocabulary)
    first, said = read_first_token(folder, config, vocabulary)
    ledger = Ledger(folder.weights())
    tables = take_tables(ledger, tied=flag(config, "tie_word_embeddings", True), one_vocabulary=True)
    bias = ledger.take_any(["final_logits_bias"])
    model = ModelConfig(
        src_vocab_size=len(vocabulary.rows),
        tgt_vocab_size=len(vocabulary.rows),
        share_embeddings=tables.shared,  # type: ignore[arg-type]
        output_bias=bias is not None,
        banned_tokens=banned,
        first_token=first,
        positions="learned",
        norm_embeddings=True,
        **sizes(config),
    )
    order = torch.arange(model.d_model)  # no table to agree with, so dimensions stay as they are
    set_tables(ledger, tables, vocabulary.rows, vocabulary.rows, order)
    if bias is not None:
        if bias.numel() <= max(vocabulary.rows):
            raise ImportFailed(f"final_logits_bias has {bias.numel()} numbers for {size} tokens.")
        ledger.set("output.bias", bias.flatten()[list(vocabulary.rows)])
    for side, stack in (("src", "encoder"), ("tgt", "decoder")):
        places = ledger.take(f"model.{stack}.embed_positions.weight")
        if places.shape != (model.max_positions + POSITIONS_OFFSET, model.d_model):
            raise ImportFailed(
                f"model.{stack}.embed_positions.weight has shape {list(places.shape)}, but {CONFIG} asks for "
                f"{[model.max_positions + POSITIONS_OFFSET, model.d_model]}."
            )
        ledger.set(f"positions_{side}.embedding.weight", places[POSITIONS_OFFSET:])
        set_norm(ledger, f"norm_{side}", f"model.{stack}.layernorm_embedding", order)
    set_layers(ledger, model.n_encoder_layers, model.n_decoder_layers, order)

    return ImportedTranslator(
        family="BART",
        model=model,
        data=DataConfig(task=IMPORTED, tokenizer="bytelevel", src_lang="xx", tgt_lang="xx"),
        source=tokenizer,
        target=tokenizer,
        parameters=settled(ledger, model),
        search=search,
        licence=folder.licence(),
        changes="The ids of its tokens stand in another order than in the files that were read; what it computes is "
        "the same.",
        remarks=(*ledger.remarks, *remarks, *said),
    )
