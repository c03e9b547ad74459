"""Import models that fairseq trained to translate between many languages: mBART, M2M100 and NLLB.

All are pre-norm and have a token for each language, which begins the source and is the first token of a translation.
In older mBART models, the source ends in it, after ``</s>``.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from model.importing.bart import set_learned_positions
from model.importing.languages import Languages, choose, read_languages
from model.importing.source_folder import (
    CONFIG,
    PIECES_OF_FAIRSEQ,
    TOKENIZER,
    VOCABULARY,
    SourceFolder,
    settings_of,
)
from model.importing.translator import (
    Id,
    ImportedTranslator,
    Settings,
    TokenizerSettings,
    check_settings,
    language_code,
    reorder,
)
from model.importing.weights import assembled, read_shared
from model.text.sentencepiece import SentencePieceTokenizer, read_piece_model, read_piece_names

_SPECIAL = {"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3}
_OFFSET = 1  # fairseq's ids of pieces are those of SentencePiece plus this
M2M100_LANGUAGES = (
    "af am ar ast az ba be bg bn br bs ca ceb cs cy da de el en es et fa ff fi fr fy ga gd gl gu ha he hi hr ht hu hy "
    "id ig ilo is it ja jv ka kk km kn ko lb lg ln lo lt lv mg mk ml mn mr ms my ne nl no ns oc or pa pl ps pt ro ru "
    "sd si sk sl so sq sr ss su sv sw ta th tl tn tr uk ur uz vi wo xh yi yo zh zu"
)
"""The languages of M2M100 in the order of their ids; folders that transformers 5 writes do not list them."""
_END, _UNK, _MASK = "</s>", "<unk>", "<mask>"
_SWITCHES = {
    "normalize_before": True,
    "add_final_layer_norm": True,
    "static_position_embeddings": False,
    "add_bias_logits": False,
    "extra_pos_embeddings": 2,
}


class _Settings(Settings, kw_only=True):
    pad_token_id: Id = 1
    eos_token_id: Id = 2
    decoder_start_token_id: Id | None = None


def read_mbart(folder: SourceFolder, config: dict[str, Any], languages: Languages) -> ImportedTranslator:
    """Read an mBART folder."""
    return _read(folder, config, languages, family="mBART", learned=True)


def read_m2m100(folder: SourceFolder, config: dict[str, Any], languages: Languages) -> ImportedTranslator:
    """Read an M2M100 or NLLB folder."""
    family = "M2M100" if folder.has(VOCABULARY) else "NLLB"
    return _read(folder, config, languages, family=family, learned=False)


def _read(
    folder: SourceFolder, config: dict[str, Any], languages: Languages, *, family: str, learned: bool
) -> ImportedTranslator:
    check_settings(config, _Settings, {**_SWITCHES, "normalize_embedding": learned}, family)
    settings = settings_of(config, _Settings, CONFIG)
    texts = settings_of(folder.optional_json(TOKENIZER), TokenizerSettings, TOKENIZER)
    content, file = folder.read(PIECES_OF_FAIRSEQ), PIECES_OF_FAIRSEQ
    if folder.has(VOCABULARY):
        names, file = folder.json(VOCABULARY), VOCABULARY
    else:
        pieces = read_piece_names(content, PIECES_OF_FAIRSEQ)
        names = _SPECIAL | {piece: n + _OFFSET for n, piece in enumerate(pieces) if n >= len(_SPECIAL) - _OFFSET}
    listed = [f"__{code}__" for code in M2M100_LANGUAGES.split()] if texts.language_codes == "m2m100" else []
    tokens = read_languages(folder, len(names), default=listed)
    own = Languages(str(texts.src_lang or ""), str(texts.tgt_lang or ""))
    chosen = choose(languages, tokens, own)
    names = names | tokens
    if len(names) < settings.vocab_size:
        names.setdefault(_MASK, max(names.values()) + 1)

    # Where the source ends in its language, that token takes the place of <eos>, and </s> is an ordinary piece.
    at_end = texts.legacy_behaviour or (learned and "50" not in (texts.tokenizer_class or ""))
    pad, start = settings.pad_token_id, settings.decoder_start_token_id
    start = names[chosen.target] if start is None or (at_end and learned) else start
    size = settings.vocab_size
    target = reorder(names, size, pad=pad, start=start, eos=_END, unk=_UNK, file=file)
    source = reorder(names, size, pad=pad, start=start, eos=chosen.source, unk=_UNK, file=file) if at_end else target

    order = torch.arange(settings.d_model)  # dimensions keep their order: positions are a table
    forced = None if start == names[chosen.target] else names[chosen.target]
    ledger, model, search, remarks = read_shared(
        folder,
        config,
        settings,
        (source, target),
        order,
        forced=forced,
        norm_first=True,
        positions="learned",
        norm_embeddings=learned,
    )
    if learned:
        set_learned_positions(ledger, model, order)
    else:
        for side, stack in (("src", "encoder"), ("tgt", "decoder")):
            ledger.use(f"model.{stack}.embed_positions.weights")  # computed, though older files have it
            table = fairseq_sinusoids(model.max_positions, model.d_model, pad + 1)
            ledger.parameters[f"positions_{side}.embedding.weight"] = table

    silent = sorted({*tokens, "<s>", _END, _MASK} & {*source.pieces, *target.pieces})
    segmentation = read_piece_model(content, PIECES_OF_FAIRSEQ)
    codes = [chosen.source.strip("_").partition("_")[0], chosen.target.strip("_").partition("_")[0]]
    around = {"end": _END} if at_end else {"begin": chosen.source}
    sides = (
        SentencePieceTokenizer(source.pieces, segmentation, lang=language_code(codes[0]), silent=silent, **around),
        SentencePieceTokenizer(target.pieces, segmentation, lang=language_code(codes[1]), silent=silent),
    )
    return assembled(
        folder,
        ledger,
        family,
        model,
        sides,
        search,
        languages=(language_code(codes[0]), language_code(codes[1])),
        remarks=(
            f"It translates from {chosen.source} to {chosen.target}; for other languages, import it again.",
            *remarks,
        ),
    )


def fairseq_sinusoids(length: int, d_model: int, first: int) -> Tensor:
    """Fairseq's table of positions: all sines, then all cosines, of slightly other wavelengths than the paper's.

    With n pairs, pair i turns by 10000^(-i/(n-1)) radians per position, where the paper divides by n (§3.5). Positions
    count from `first`. In float32 and in this order, as in the models' training.

    Shapes:
        returns: [pos, d_model] float32; an odd d_model ends in a column of zeros.
    """
    half = d_model // 2
    rates = torch.exp(torch.arange(half).float() * -(math.log(10000) / (half - 1)))
    angles = torch.arange(first, first + length).float()[:, None] * rates  # [pos, pair]
    table = torch.cat((angles.sin(), angles.cos()), dim=1)
    return torch.nn.functional.pad(table, (0, d_model - 2 * half))
