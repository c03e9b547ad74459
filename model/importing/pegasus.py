"""Import Pegasus (Zhang et al. 2020): Marian's positions in a pre-norm model, which summarises."""

from __future__ import annotations

from typing import Any

from model.importing.languages import Languages, refuse_languages
from model.importing.source_folder import CONFIG, PIECES, TOKENIZER, SourceFolder, settings_of
from model.importing.translator import Id, ImportedTranslator, Settings, TokenizerSettings, check_settings, reorder
from model.importing.weights import INTERLEAVED, assembled, check_positions, interleaved, read_shared
from model.text.sentencepiece import SentencePieceTokenizer, read_piece_model, read_piece_names

_SWITCHES = {
    "normalize_before": True,
    "add_final_layer_norm": True,
    "normalize_embedding": False,
    "static_position_embeddings": True,
    "add_bias_logits": False,
}
_SPECIAL = ("<pad>", "</s>", "<mask_1>", "<mask_2>")
_PIECES_FROM = 2  # of the .spm file: those before are <pad> and </s>


class _Settings(Settings, kw_only=True):
    pad_token_id: Id = 0
    eos_token_id: Id = 1
    decoder_start_token_id: Id = 0


def read_pegasus(folder: SourceFolder, config: dict[str, Any], languages: Languages) -> ImportedTranslator:
    """Read a Pegasus folder."""
    refuse_languages(languages, "Pegasus")
    check_settings(config, _Settings, _SWITCHES, "Pegasus", known=("extra_pos_embeddings",))
    settings = settings_of(config, _Settings, CONFIG)
    offset = settings_of(folder.optional_json(TOKENIZER), TokenizerSettings, TOKENIZER).offset
    content = folder.read(PIECES)
    pieces = read_piece_names(content, PIECES)
    names = {name: i for i, name in enumerate(_SPECIAL)}
    names |= {f"<unk_{n - 2}>": n for n in range(len(_SPECIAL), offset + _PIECES_FROM)}
    names |= {piece: n + offset for n, piece in enumerate(pieces) if n >= _PIECES_FROM}
    vocabulary = reorder(
        names,
        settings.vocab_size,
        pad=settings.pad_token_id,
        start=settings.decoder_start_token_id,
        eos="</s>",
        unk="<unk>",
        file=PIECES,
    )
    order = interleaved(settings.d_model)
    ledger, model, search, remarks = read_shared(
        folder, config, settings, (vocabulary, vocabulary), order, norm_first=True
    )
    check_positions(ledger, model.d_model)
    tokenizer = SentencePieceTokenizer(vocabulary.pieces, read_piece_model(content, PIECES), lang="xx")
    sides = tokenizer, tokenizer
    return assembled(folder, ledger, "Pegasus", model, sides, search, changes=INTERLEAVED, remarks=remarks)
