"""Read the tokenizers and vocabularies of imported models, by the kind of their files."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from model.config import SOS, SPECIALS
from model.importing.byte_pairs import read_byte_pairs
from model.importing.languages import Languages, choose, read_languages
from model.importing.source_folder import (
    PIECES,
    PIECES_OF_FAIRSEQ,
    TOKENIZER,
    TOKENIZERS,
    VOCABULARY,
    ImportFailed,
    SourceFolder,
    settings_of,
)
from model.importing.translator import (
    END,
    UNKNOWN,
    TokenizerSettings,
    Vocabulary,
    by_id,
    language_code,
    reorder,
    spellings,
    with_own_specials,
)
from model.text.bytelevel import ByteLevelTokenizer
from model.text.sentencepiece import SentencePieceTokenizer, read_piece_model, read_piece_names
from model.text.tokenizer import Tokenizer

_MASK = "<mask>"
_SPECIAL_OF_PEGASUS = ("<pad>", END, "<mask_1>", "<mask_2>")
_PIECES_FROM = 2  # of Pegasus's .spm file: those before are <pad> and </s>
_SPECIAL_OF_FAIRSEQ = {"<s>": 0, "<pad>": 1, END: 2, UNKNOWN: 3}
_OFFSET = 1  # fairseq's ids of pieces are those of SentencePiece plus this
M2M100_LANGUAGES = (
    "af am ar ast az ba be bg bn br bs ca ceb cs cy da de el en es et fa ff fi fr fy ga gd gl gu ha he hi hr ht hu hy "
    "id ig ilo is it ja jv ka kk km kn ko lb lg ln lo lt lv mg mk ml mn mr ms my ne nl no ns oc or pa pl ps pt ro ru "
    "sd si sk sl so sq sr ss su sv sw ta th tl tn tr uk ur uz vi wo xh yi yo zh zu"
)
"""The languages of M2M100 in the order of their ids; folders that transformers 5 writes do not list them."""


@dataclass(frozen=True)
class Texts:
    """The vocabularies of source and target (one if both share it), their tokenizers, and the codes of the languages.

    `forced` is the id of a language that every translation begins with; `family` a name that only the files tell.
    """

    source: Vocabulary
    target: Vocabulary
    sides: tuple[Tokenizer, Tokenizer]
    languages: tuple[str, str] = ("xx", "xx")
    forced: int | None = None
    remarks: tuple[str, ...] = ()
    family: str = ""


def _of_one(vocabulary: Vocabulary, tokenizer: Tokenizer) -> Texts:
    return Texts(vocabulary, vocabulary, (tokenizer, tokenizer))


def _tokenizer_settings(folder: SourceFolder) -> TokenizerSettings:
    return settings_of(folder.optional_json(TOKENIZER), TokenizerSettings, TOKENIZER)


def marian_texts(folder: SourceFolder, settings: Any, languages: Languages) -> Texts:
    """Read vocab.json and a SentencePiece model of each side, and target_vocab.json if the vocabularies differ."""
    texts = _tokenizer_settings(folder)
    separate, shared = texts.separate_vocabs, settings.share_encoder_decoder_embeddings
    if shared and separate:
        raise ImportFailed("tokenizer_config.json has two vocabularies, but config.json shares one embedding.")
    names, file = folder.json(VOCABULARY), "target_vocab.json" if separate else VOCABULARY
    size = settings.vocab_size if shared else settings.decoder_vocab_size
    target = source = reorder(folder.json(file) if separate else names, settings, file, size=size)
    if not shared:
        pad = names.get("<pad>", settings.pad_token_id)
        source = reorder(names, settings, VOCABULARY, pad=pad, start=pad)
    codes = [str(lang or "") for lang in (texts.source_lang, texts.target_lang)]
    normalised = codes[0] if re.fullmatch(r"[A-Za-z_]{2,16}", codes[0]) else "xx"
    sides = [
        SentencePieceTokenizer(
            vocabulary.pieces, read_piece_model(folder.read(name), name), lang=language_code(code), punctuation=marks
        )
        for name, vocabulary, code, marks in (
            ("source.spm", source, codes[0], normalised),
            ("target.spm", target, codes[1], None),
        )
    ]
    return Texts(source, target, (sides[0], sides[1]), (language_code(codes[0]), language_code(codes[1])))


def bart_texts(folder: SourceFolder, settings: Any, languages: Languages) -> Texts:
    """Read a byte-level BPE whose texts begin and end with special tokens."""
    pairs = read_byte_pairs(folder, "<s>", END)
    vocabulary = reorder(pairs.names, settings, pairs.file, eos=pairs.end)
    tokenizer = ByteLevelTokenizer(vocabulary.pieces, pairs.merges, begin=pairs.begin, prefix_space=pairs.prefix_space)
    return _of_one(vocabulary, tokenizer)


def google_texts(folder: SourceFolder, settings: Any, languages: Languages, *, pegasus: bool) -> Texts:
    """Read spiece.model of Pegasus, whose pieces come after those for gaps, or of T5, where these come last."""
    content = folder.read(PIECES)
    pieces = read_piece_names(content, PIECES)
    if pegasus:
        offset = _tokenizer_settings(folder).offset
        names = {name: i for i, name in enumerate(_SPECIAL_OF_PEGASUS)}
        names |= {f"<unk_{n - 2}>": n for n in range(len(_SPECIAL_OF_PEGASUS), offset + _PIECES_FROM)}
        names |= {piece: n + offset for n, piece in enumerate(pieces) if n >= _PIECES_FROM}
    else:
        names = {piece: i for i, piece in enumerate(pieces)}
        names |= _sentinels(folder, len(names), settings.vocab_size)
    vocabulary = reorder(names, settings, PIECES)
    return _of_one(vocabulary, SentencePieceTokenizer(vocabulary.pieces, read_piece_model(content, PIECES), lang="xx"))


def _sentinels(folder: SourceFolder, n_pieces: int, size: int) -> dict[str, int]:
    """The ids of T5's tokens for gaps, ``<extra_id_0>`` and so on: after the pieces, the last first."""
    settings = folder.optional_json(TOKENIZER)
    number = settings.get("extra_ids", 0 if folder.has(TOKENIZERS) or not settings else 100)
    if type(number) is not int or not 0 <= number <= size - n_pieces:
        return {}
    return {f"<extra_id_{number - 1 - n}>": n_pieces + n for n in range(number)}


def fairseq_texts(folder: SourceFolder, settings: Any, languages: Languages, *, mbart: bool) -> Texts:
    """Read a SentencePiece model with a token for each language, as mBART, M2M100 and NLLB have it.

    A language begins the source and is the first token of a translation. In older mBART models, the source ends in it,
    after ``</s>``.
    """
    texts = _tokenizer_settings(folder)
    content, file = folder.read(PIECES_OF_FAIRSEQ), PIECES_OF_FAIRSEQ
    if folder.has(VOCABULARY):
        names, file = folder.json(VOCABULARY), VOCABULARY
    else:
        pieces = enumerate(read_piece_names(content, PIECES_OF_FAIRSEQ))
        specials = _SPECIAL_OF_FAIRSEQ
        names = specials | {piece: n + _OFFSET for n, piece in pieces if n >= len(specials) - _OFFSET}
    listed = [f"__{code}__" for code in M2M100_LANGUAGES.split()] if texts.language_codes == "m2m100" else []
    tokens = read_languages(folder, len(names), default=listed)
    chosen = choose(languages, tokens, Languages(str(texts.src_lang or ""), str(texts.tgt_lang or "")))
    names = names | tokens
    if len(names) < settings.vocab_size:
        names.setdefault(_MASK, max(names.values()) + 1)

    # Where the source ends in its language, that token takes the place of <eos>, and </s> is an ordinary piece.
    at_end = texts.legacy_behaviour or (mbart and "50" not in (texts.tokenizer_class or ""))
    start = settings.decoder_start_token_id
    start = names[chosen.target] if start is None or (at_end and mbart) else start
    target = reorder(names, settings, file, start=start)
    source = with_own_specials(target, names[chosen.source]) if at_end else target
    silent = sorted({*tokens, "<s>", END, _MASK} & {*source.pieces, *target.pieces})
    segmentation = read_piece_model(content, PIECES_OF_FAIRSEQ)
    codes = [language_code(name.strip("_").partition("_")[0]) for name in (chosen.source, chosen.target)]
    begin, end = ("", END) if at_end else (chosen.source, "")
    read = SentencePieceTokenizer(source.pieces, segmentation, lang=codes[0], silent=silent, begin=begin, end=end)
    sides = (
        read,
        SentencePieceTokenizer(target.pieces, segmentation, lang=codes[1], silent=silent, segmenter=read.segmenter),
    )
    remark = f"It translates from {chosen.source} to {chosen.target}; for other languages, import it again."
    family = "" if mbart or folder.has(VOCABULARY) else "NLLB"
    forced = None if start == names[chosen.target] else names[chosen.target]
    return Texts(source, target, sides, (codes[0], codes[1]), forced, (remark,), family)


def prompt_texts(folder: SourceFolder, settings: Any, languages: Languages, *, begins: bool = False) -> Texts:
    """Read the byte-level BPE of a model without an encoder; `begins` if a first token is the family's own.

    The token of the end takes the places of all special tokens. Only <sos> is a copy of the token that a text begins
    with, if the model has one.
    """
    ends = settings.eos_token_id if isinstance(settings.eos_token_id, list) else [settings.eos_token_id]
    eos, size = ends[0], settings.vocab_size
    adds = folder.optional_json(TOKENIZER).get("add_bos_token", begins)
    pairs = read_byte_pairs(folder, SPECIALS[SOS] if adds else "", "")
    names = by_id(pairs.names, size, pairs.file)
    begin = pairs.names.get(pairs.begin, settings.bos_token_id) if pairs.begin else settings.bos_token_id
    begin = eos if begin is None else begin
    if max(eos, begin) >= size:
        raise ImportFailed(
            "config.json names a special token beyond the {size} rows of {file}.", size=size, file=pairs.file
        )
    rest = [i for i in range(size) if i != eos]
    pieces = spellings(names, rest, pairs.file)
    tokenizer = ByteLevelTokenizer(
        pieces,
        pairs.merges,
        begin=SPECIALS[SOS] if pairs.begin else "",
        prefix_space=pairs.prefix_space,
        split=pairs.split,
    )
    return _of_one(Vocabulary((eos, begin, eos, eos, *rest), pieces), tokenizer)
