"""MarianMT (OPUS-MT): the Transformer of the paper, post-norm, with a bias on the logits."""

from __future__ import annotations

import re
from typing import Any

from model.config import DataConfig, ModelConfig
from model.data.task import IMPORTED
from model.importing.source_folder import CONFIG, TOKENIZER, VOCABULARY, ImportFailed, SourceFolder, flag, integer
from model.importing.translator import (
    ImportedTranslator,
    Vocabulary,
    language_code,
    read_first_token,
    read_search,
    refuse_other_kinds,
    reorder,
    sizes,
)
from model.importing.weights import Ledger, check_positions, interleaved, set_layers, set_tables, settled, use_tables
from model.text.sentencepiece import SentencePieceTokenizer, read_unigram_model

_SWITCHES = {"normalize_before": False, "add_final_layer_norm": False, "normalize_embedding": False}
_EOS, _UNK = "</s>", "<unk>"
LICENCE = "CC-BY-4.0"


def read_marian(folder: SourceFolder, config: dict[str, Any]) -> ImportedTranslator:
    """Read a MarianMT folder.

    Raises:
        ImportFailed, CheckpointError, TokenizerError, ConfigError: one sentence on what is wrong or not supported.
    """
    refuse_other_kinds(config, _SWITCHES, "MarianMT")
    settings = folder.optional_json(TOKENIZER)
    separate = flag(settings, "separate_vocabs", False)
    one = flag(config, "share_encoder_decoder_embeddings", True)
    if one and separate:
        raise ImportFailed(f"{TOKENIZER} has two vocabularies, but {CONFIG} shares one embedding.")
    source_size = integer(config, "vocab_size", low=4)
    target_size = source_size if one else integer(config, "decoder_vocab_size", low=4, default=source_size)
    pad, eos = integer(config, "pad_token_id"), integer(config, "eos_token_id")
    start = integer(config, "decoder_start_token_id", default=pad)
    names = folder.json(VOCABULARY)
    target_names = folder.json("target_vocab.json") if separate else names
    if target_names.get(_EOS) != eos:
        raise ImportFailed(
            f"{CONFIG} ends sentences with id {eos}, but the vocabulary says {target_names.get(_EOS)!r}."
        )
    source_pad = names.get("<pad>", pad)
    source = reorder(names, source_size, pad=source_pad, start=source_pad, eos=_EOS, unk=_UNK, file=VOCABULARY)
    target = reorder(
        target_names,
        target_size,
        pad=pad,
        start=start,
        eos=_EOS,
        unk=_UNK,
        file="target_vocab.json" if separate else VOCABULARY,
    )
    if one:
        source = target

    search, banned, remarks = read_search(folder, config, target)
    first, said = read_first_token(folder, config, target)
    ledger = Ledger(folder.weights())
    tables = use_tables(ledger, tied=flag(config, "tie_word_embeddings", True), one_vocabulary=one)
    remarks += [f"{name} is not used, since the model reads each side's own table." for name in tables.unused]
    bias = ledger.take_optional("final_logits_bias")
    model = ModelConfig(
        src_vocab_size=len(source.rows),
        tgt_vocab_size=len(target.rows),
        share_embeddings=tables.shared,  # type: ignore[arg-type]
        output_bias=bias is not None,
        banned_tokens=banned,
        first_token=first,
        **sizes(config),
    )
    order = interleaved(model.d_model)
    set_tables(ledger, tables, source.rows, target.rows, order)
    if bias is not None:
        if bias.numel() <= max(target.rows):
            raise ImportFailed(f"final_logits_bias has {bias.numel()} numbers for {target_size} tokens.")
        ledger.parameters["output.bias"] = bias.flatten()[list(target.rows)]
    check_positions(ledger, model.d_model)
    set_layers(ledger, model.n_encoder_layers, model.n_decoder_layers, order)

    languages = [str(settings.get(f"{side}_lang") or "") for side in ("source", "target")]
    return ImportedTranslator(
        family="MarianMT",
        model=model,
        data=DataConfig(
            task=IMPORTED,
            tokenizer="sentencepiece",
            src_lang=language_code(languages[0]),
            tgt_lang=language_code(languages[1]),
        ),
        source=_tokenizer(folder, "source.spm", source, languages[0], punctuation=True),
        target=_tokenizer(folder, "target.spm", target, languages[1], punctuation=False),
        parameters=settled(ledger, model),
        search=search,
        licence=folder.licence() or LICENCE,
        changes="The dimensions of its vectors stand in another order than in the files that were read (sine and "
        "cosine of a position side by side), and so do the ids of its tokens; what it computes is the same.",
        remarks=(*ledger.remarks, *remarks, *said),
    )


def _tokenizer(
    folder: SourceFolder, file: str, vocabulary: Vocabulary, lang: str, *, punctuation: bool
) -> SentencePieceTokenizer:
    known = re.fullmatch(r"[A-Za-z_]{2,16}", lang)
    return SentencePieceTokenizer(
        vocabulary.pieces,
        read_unigram_model(folder.read(file), file),
        lang=language_code(lang),
        punctuation=(lang if known else "xx") if punctuation else None,
    )
