"""Import MarianMT (OPUS-MT): the Transformer of the paper, post-norm, with a bias on the logits."""

from __future__ import annotations

import re
from typing import Any

from model.importing.languages import Languages, refuse_languages
from model.importing.source_folder import CONFIG, TOKENIZER, VOCABULARY, ImportFailed, SourceFolder, settings_of
from model.importing.translator import (
    Id,
    ImportedTranslator,
    Rows,
    Settings,
    TokenizerSettings,
    Vocabulary,
    check_settings,
    language_code,
    reorder,
)
from model.importing.weights import INTERLEAVED, assembled, check_positions, interleaved, read_shared
from model.text.sentencepiece import SentencePieceTokenizer, read_piece_model

_SWITCHES = {"normalize_before": False, "add_final_layer_norm": False, "normalize_embedding": False}
_EOS, _UNK = "</s>", "<unk>"
LICENCE = "CC-BY-4.0"


class _Settings(Settings, kw_only=True):
    share_encoder_decoder_embeddings: bool = True
    decoder_vocab_size: Rows | None = None
    decoder_start_token_id: Id | None = None


def read_marian(folder: SourceFolder, config: dict[str, Any], languages: Languages) -> ImportedTranslator:
    """Read a MarianMT folder."""
    refuse_languages(languages, "MarianMT")
    check_settings(config, _Settings, _SWITCHES, "MarianMT", known=("static_position_embeddings", "add_bias_logits"))
    settings = settings_of(config, _Settings, CONFIG)
    texts = settings_of(folder.optional_json(TOKENIZER), TokenizerSettings, TOKENIZER)
    separate, shared = texts.separate_vocabs, settings.share_encoder_decoder_embeddings
    if shared and separate:
        raise ImportFailed(
            "{tokenizer} has two vocabularies, but {config} shares one embedding.", tokenizer=TOKENIZER, config=CONFIG
        )
    source_size = settings.vocab_size
    target_size = source_size if shared else settings.decoder_vocab_size or source_size
    pad, eos, start = settings.pad_token_id, settings.eos_token_id, settings.decoder_start_token_id
    start = pad if start is None else start
    target_file = "target_vocab.json" if separate else VOCABULARY
    names = folder.json(VOCABULARY)
    target_names = folder.json(target_file) if separate else names
    if target_names.get(_EOS) != eos:
        raise ImportFailed(
            "{config} ends sentences with id {eos}, but the vocabulary says {token}.",
            config=CONFIG,
            eos=eos,
            token=repr(target_names.get(_EOS)),
        )
    source_pad = names.get("<pad>", pad)
    source = reorder(names, source_size, pad=source_pad, start=source_pad, eos=_EOS, unk=_UNK, file=VOCABULARY)
    target = reorder(target_names, target_size, pad=pad, start=start, eos=_EOS, unk=_UNK, file=target_file)
    if shared:
        source = target

    order = interleaved(settings.d_model)
    ledger, model, search, remarks = read_shared(folder, config, settings, (source, target), order)
    check_positions(ledger, model.d_model)

    codes = [str(lang or "") for lang in (texts.source_lang, texts.target_lang)]
    return assembled(
        folder,
        ledger,
        "MarianMT",
        model,
        (
            _tokenizer(folder, "source.spm", source, codes[0], punctuation=True),
            _tokenizer(folder, "target.spm", target, codes[1], punctuation=False),
        ),
        search,
        languages=(language_code(codes[0]), language_code(codes[1])),
        licence=LICENCE,
        changes=INTERLEAVED,
        remarks=remarks,
    )


def _tokenizer(
    folder: SourceFolder, file: str, vocabulary: Vocabulary, lang: str, *, punctuation: bool
) -> SentencePieceTokenizer:
    is_name = re.fullmatch(r"[A-Za-z_]{2,16}", lang)
    return SentencePieceTokenizer(
        vocabulary.pieces,
        read_piece_model(folder.read(file), file),
        lang=language_code(lang),
        punctuation=(lang if is_name else "xx") if punctuation else None,
    )
