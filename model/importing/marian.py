"""MarianMT (OPUS-MT): the Transformer of the paper, post-norm, with a bias on the logits."""

from __future__ import annotations

import math
import re
from typing import Any

from model.architectures import empty_transformer
from model.config import DataConfig, ModelConfig
from model.importing.source_folder import CONFIG, TOKENIZER, ImportFailed, SourceFolder, choice, flag, fraction, integer
from model.importing.translator import TASK, ImportedTranslator, read_search
from model.importing.vocabulary import Vocabulary, reorder
from model.importing.weights import Ledger, check_positions, interleaved, set_layers, set_tables, take_tables
from model.text.sentencepiece import SentencePieceTokenizer
from model.text.sentencepiece_file import read_unigram_model

ACTIVATIONS = {"relu": "relu", "gelu": "gelu", "swish": "silu", "silu": "silu"}
_FOREIGN = ("normalize_before", "add_final_layer_norm", "normalize_embedding")  # of other members of BART's family
_EOS, _UNK = "</s>", "<unk>"
LICENCE = "CC-BY-4.0"
MAX_LAYERS, MAX_WIDTH, MAX_LENGTH = 64, 16_384, 65_536


def read_marian(folder: SourceFolder, config: dict[str, Any]) -> ImportedTranslator:
    """Read a MarianMT folder.

    Raises:
        ImportFailed, CheckpointError, TokenizerError, ConfigError: one sentence on what is wrong or not supported.
    """
    for key in _FOREIGN:
        if config.get(key):
            raise ImportFailed(f"{CONFIG} has {key}={config[key]!r}, which MarianMT models do not have.")
    settings = folder.optional_json(TOKENIZER)
    separate = flag(settings, "separate_vocabs", False)
    one = flag(config, "share_encoder_decoder_embeddings", True)
    if one and separate:
        raise ImportFailed(f"{TOKENIZER} has two vocabularies, but {CONFIG} shares one embedding.")
    source_size = integer(config, "vocab_size", low=4)
    target_size = source_size if one else integer(config, "decoder_vocab_size", low=4, default=source_size)
    pad, eos = integer(config, "pad_token_id"), integer(config, "eos_token_id")
    start = integer(config, "decoder_start_token_id", default=pad)
    names = folder.json("vocab.json")
    target_names = folder.json("target_vocab.json") if separate else names
    if target_names.get(_EOS) != eos:
        raise ImportFailed(
            f"{CONFIG} ends sentences with id {eos}, but the vocabulary says {target_names.get(_EOS)!r}."
        )
    source_pad = names.get("<pad>", pad)
    source = reorder(names, source_size, pad=source_pad, start=source_pad, eos=_EOS, unk=_UNK, file="vocab.json")
    target = reorder(
        target_names,
        target_size,
        pad=pad,
        start=start,
        eos=_EOS,
        unk=_UNK,
        file="target_vocab.json" if separate else "vocab.json",
    )
    if one:
        source = target

    search, banned, remarks = read_search(folder, config, target)
    ledger = Ledger(folder.weights())
    tables = take_tables(ledger, tied=flag(config, "tie_word_embeddings", True), one_vocabulary=one)
    remarks += [f"{name} is not used, since the model reads each side's own table." for name in tables.unused]
    bias = ledger.take_any(["final_logits_bias"])
    model = ModelConfig(
        src_vocab_size=len(source.rows),
        tgt_vocab_size=len(target.rows),
        share_embeddings=tables.shared,  # type: ignore[arg-type]
        output_bias=bias is not None,
        banned_tokens=banned,
        norm_first=False,
        **sizes(config),
    )
    order = interleaved(model.d_model)
    set_tables(ledger, tables, source.rows, target.rows, order)
    if bias is not None:
        if bias.numel() <= max(target.rows):
            raise ImportFailed(f"final_logits_bias has {bias.numel()} numbers for {target_size} tokens.")
        ledger.set("output.bias", bias.flatten()[list(target.rows)])
    check_positions(ledger, model.d_model)
    set_layers(ledger, model.n_encoder_layers, model.n_decoder_layers, order)

    languages = [str(settings.get(f"{side}_lang") or "") for side in ("source", "target")]
    if ledger.halves:
        remarks.insert(
            0, f"{ledger.halves} of {len(ledger.names)} tensors were stored with 16 bits a number and are 32 here."
        )
    return ImportedTranslator(
        family="MarianMT",
        model=model,
        data=DataConfig(
            task=TASK,
            tokenizer="sentencepiece",
            src_lang=language_code(languages[0]),
            tgt_lang=language_code(languages[1]),
        ),
        source=_tokenizer(folder, "source.spm", source, languages[0], punctuation=True),
        target=_tokenizer(folder, "target.spm", target, languages[1], punctuation=False),
        parameters=ledger_of(ledger, model),
        search=search,
        licence=folder.licence() or LICENCE,
        remarks=tuple(remarks),
    )


def sizes(config: dict[str, Any]) -> dict[str, Any]:
    """The settings of ModelConfig that Marian and BART name alike.

    Raises:
        ImportFailed: one is missing, out of range, or not computed here.
    """
    d_ff = integer(config, "encoder_ffn_dim", low=1, high=16 * MAX_WIDTH)
    if integer(config, "decoder_ffn_dim", low=1, high=16 * MAX_WIDTH) != d_ff:
        raise ImportFailed(
            f"{CONFIG} has feed-forward layers of {d_ff} units in the encoder and {config['decoder_ffn_dim']} in the "
            f"decoder; this Transformer has one size for both."
        )
    d_model = integer(config, "d_model", low=2, high=MAX_WIDTH)
    scaled = flag(config, "scale_embedding", False)
    return {
        "d_model": d_model,
        "d_ff": d_ff,
        "n_encoder_layers": integer(config, "encoder_layers", low=1, high=MAX_LAYERS),
        "n_decoder_layers": integer(config, "decoder_layers", low=1, high=MAX_LAYERS),
        "n_encoder_heads": integer(config, "encoder_attention_heads", low=1, high=MAX_WIDTH),
        "n_decoder_heads": integer(config, "decoder_attention_heads", low=1, high=MAX_WIDTH),
        "max_positions": integer(config, "max_position_embeddings", low=2, high=MAX_LENGTH),
        "activation": ACTIVATIONS[choice(config, "activation_function", ACTIVATIONS)],
        "dropout": fraction(config, "dropout"),
        "attention_dropout": fraction(config, "attention_dropout"),
        "activation_dropout": fraction(config, "activation_dropout"),
        "scale_embeddings": scaled,
        "embedding_factor": math.sqrt(d_model) if scaled else 1.0,
    }


def ledger_of(ledger: Ledger, config: ModelConfig) -> dict[str, Any]:
    """The parameters, once nothing is left over on either side.

    Raises:
        ImportFailed: something is; the message names it.
    """
    model = empty_transformer(config)
    aliases = model.tied_names()
    ledger.settle({name: tuple(tensor.shape) for name, tensor in model.state_dict().items() if name not in aliases})
    return ledger.parameters


def language_code(lang: str) -> str:
    """A language as our tokenizers name it: `xx` for several languages, or one without a short code."""
    return lang if re.fullmatch(r"[a-z]{2,3}", lang) else "xx"


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
