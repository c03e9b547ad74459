"""The parts of an imported translator that all families share: the order of ids, search, and the whole."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from msgspec import Meta, Struct
from torch import Tensor

from model.config import SPECIALS, DataConfig, ModelConfig
from model.importing.source_folder import GENERATION, ImportFailed, SourceFolder, settings_of
from model.text.pieces import MAX_PIECES
from model.text.sentencepiece import SPACE
from model.text.tokenizer import Tokenizer

_SHORT = {"eng": "en", "deu": "de", "ger": "de"}  # the languages of this program's own sentences
END, UNKNOWN = "</s>", "<unk>"
Id = Annotated[int, Meta(ge=0, le=2**31)]


class TokenizerSettings(Struct):
    """The part of tokenizer_config.json that is used."""

    separate_vocabs: bool = False
    add_prefix_space: bool = False
    source_lang: Any = None
    target_lang: Any = None
    src_lang: str | None = None
    tgt_lang: str | None = None
    tokenizer_class: str | None = None
    legacy_behaviour: bool = False
    language_codes: str | None = None
    offset: Annotated[int, Meta(ge=2, le=10_000)] = 103


class _Generation(Struct):
    """The settings of search in generation_config.json; older folders have them in config.json."""

    num_beams: Annotated[int, Meta(ge=1, le=64)] = 1
    length_penalty: Annotated[float, Meta(ge=-10, le=10)] = 1.0
    bad_words_ids: list[list[Id]] | None = None
    forced_bos_token_id: Id | None = None
    force_bos_token_to_be_generated: Any = None
    bos_token_id: Id | None = None
    no_repeat_ngram_size: Any = None
    min_length: Any = None


def language_code(lang: str) -> str:
    """The code of a language in our tokenizers; `xx` for several languages, or one without a short code."""
    lang = _SHORT.get(lang, lang)
    return lang if re.fullmatch(r"[a-z]{2,3}", lang) else "xx"


@dataclass(frozen=True)
class Vocabulary:
    """A vocabulary in our order: `rows[i]` is the original id of our id i, and `pieces` are the spellings from id 4 on.

    Our ids begin with ``<pad> <sos> <eos> <unk>``. The row of ``<sos>`` is a copy of the token that the original
    decoder starts from. For Marian this is the padding token; the copy distinguishes padding from the start of a
    sentence.
    """

    rows: tuple[int, ...]
    pieces: tuple[str, ...]

    def ours(self, original: int) -> int:
        """Our id of an original id; never that of ``<sos>``, whose row is a copy."""
        return next(i for i, row in enumerate(self.rows) if row == original and i != 1)


def by_id(names: Mapping[str, Any], size: int, file: str) -> dict[int, str]:
    """The spellings of a vocabulary of `size` rows by their ids; messages call it `file`.

    Raises:
        ImportFailed: an id is invalid, given twice or exceeds the table.
    """
    if max(size, len(names)) > MAX_PIECES:
        raise ImportFailed(
            "{file} has more than {max_pieces} entries; it is refused.", file=file, max_pieces=MAX_PIECES
        )
    spelling: dict[int, str] = {}
    for name, i in names.items():
        if type(i) is not int or not 0 <= i < size:
            raise ImportFailed(
                "{file} gives {name:.40} the id {i:.20}, but the model has ids from 0 to {size}.",
                file=file,
                name=repr(name),
                i=repr(i),
                size=size - 1,
            )
        if i in spelling:
            raise ImportFailed(
                "{file} gives the id {i} to {spelling:.40} and to {name:.40}.",
                file=file,
                i=i,
                spelling=repr(spelling[i]),
                name=repr(name),
            )
        spelling[i] = name
    return spelling


def reorder(
    names: Mapping[str, Any],
    settings: Any,
    file: str,
    *,
    size: int | None = None,
    pad: int | None = None,
    start: int | None = None,
    eos: str = END,
) -> Vocabulary:
    """Put a vocabulary into our order; `names` are the original ids by spelling.

    The number of rows and the special tokens are those of config.json, unless they are given. A row without a name gets
    one that no text can contain. `file` is the name of the vocabulary in messages.

    Raises:
        ImportFailed: as :func:`by_id`; or a special token is missing, or two of them are one.
    """
    size, end = size or settings.vocab_size, settings.eos_token_id if pad is None else names.get(eos)
    pad = settings.pad_token_id if pad is None else pad
    start = next(i for i in (start, settings.decoder_start_token_id, pad) if i is not None)
    spelling = by_id(names, size, file)
    for token in (eos, UNKNOWN):
        if token not in names:
            raise ImportFailed(
                "{file} has no {token}, so it is not the vocabulary of this model.", file=file, token=token
            )
    if names[eos] != end:
        raise ImportFailed(
            "config.json ends sentences with id {eos}, but {file} with {end:.40}, which is {token}.",
            eos=end,
            file=file,
            end=repr(eos),
            token=names[eos],
        )
    special = (pad, start, names[eos], names[UNKNOWN])
    if max(special) >= size:
        raise ImportFailed("config.json names a special token beyond the {size} rows of {file}.", size=size, file=file)
    if len({pad, *special[2:]}) < 3:
        raise ImportFailed(
            "config.json uses one row of {file} for two of padding, {eos} and <unk>.", file=file, eos=eos
        )
    rest = [i for i in range(size) if i not in (pad, *special[2:])]
    return Vocabulary((*special, *rest), spellings(spelling, rest, file))


def with_own_specials(vocabulary: Vocabulary, end: int) -> Vocabulary:
    """A vocabulary whose ``<eos>`` is the row `end`, and whose table holds that of the given one after 4 rows.

    What was special there is an ordinary piece of no text; only the old ``</s>`` may be put after a text.
    """
    pad, start, _, unk = vocabulary.rows[: len(SPECIALS)]
    pieces = ("<their pad>", "<their sos>", END, "<their unk>", *vocabulary.pieces)
    return Vocabulary((pad, start, end, unk, *vocabulary.rows), pieces)


def spellings(names: Mapping[int, str], rows: Sequence[int], file: str) -> tuple[str, ...]:
    """The pieces of these rows, by the names of their ids; a row without a name gets one that no text can contain.

    Raises:
        ImportFailed: two of them are spelt alike.
    """
    pieces = tuple(_spelling(names.get(i), i) for i in rows)
    if len(set(pieces)) < len(pieces):
        raise ImportFailed("{file} spells two tokens alike once spaces are written as spaces.", file=file)
    return pieces


def _spelling(name: str | None, i: int) -> str:
    """A piece in the spelling of our tokenizers: with a space for "▁", never empty or one of our special tokens."""
    if not name:
        return f"<row {i}>"
    if name in SPECIALS:
        return f"<their {name[1:]}"
    return sys.intern(name.replace(SPACE, " "))  # both sides may have it


@dataclass(frozen=True, eq=False)
class ImportedTranslator:
    """An imported translator.

    `search` are the settings of beam search that its authors chose, which pages and commands offer. `licence` is empty
    if none is stated; `changes` says what was reordered; `remarks` are sentences about what was converted or left out.
    """

    family: str
    model: ModelConfig
    data: DataConfig
    source: Tokenizer
    target: Tokenizer
    parameters: dict[str, Tensor]
    search: dict[str, Any]
    licence: str
    changes: str
    remarks: tuple[str, ...] = ()


def read_search(
    folder: SourceFolder, config: dict[str, Any], target: Vocabulary, *, language: int | None = None
) -> tuple[dict[str, Any], tuple[int, ...], int, list[str]]:
    """Read the settings of beam search from generation_config.json, or from config.json in older folders.

    Returns them, our ids of banned target tokens, our id of the token that every translation is forced to begin with (0
    if none is), and remarks. `language` is the id of a language token that has been chosen for it.
    `forced_eos_token_id` is not read: it concerns only translations that are cut off, and these are shown as cut off.

    Raises:
        ImportFailed: a setting has an invalid value.
    """
    values = settings_of({**config, **folder.optional_json(GENERATION)}, _Generation, GENERATION)
    size = len(target.rows) - 1
    banned, first, remarks = [], 0, []
    for words in values.bad_words_ids or []:
        if len(words) != 1:
            remarks.append("A ban of a sequence of several tokens is not applied.")
        elif words[0] < size:
            banned.append(target.ours(words[0]))
        else:
            raise ImportFailed(
                "generation_config.json has bad_words_ids with {words}, which is no id of a token.", words=words[0]
            )
    if values.no_repeat_ngram_size:
        remarks.append(
            f"no_repeat_ngram_size={values.no_repeat_ngram_size} is not applied: this search may repeat itself."
        )
    if values.min_length:
        remarks.append(f"min_length={values.min_length} is not applied: a translation may be shorter.")
    forced = values.forced_bos_token_id if language is None else language
    if forced is None and values.force_bos_token_to_be_generated:  # in older files
        forced = values.bos_token_id
    if forced is not None:
        first = target.ours(forced) if forced < size else 0
        if first < len(SPECIALS):
            raise ImportFailed(
                "generation_config.json has forced_bos_token_id={forced}, which cannot begin a translation.",
                forced=forced,
            )
        piece = target.pieces[first - len(SPECIALS)]
        why = "as the model's authors set it" if language is None else "the language that was chosen"
        remarks.append(f"Every translation begins with {piece}, {why}, with probability 1.")
    search = {"beam_size": values.num_beams, "length_penalty": "mean", "alpha": values.length_penalty}
    return search, tuple(sorted({i for i in banned if i > 1})), first, remarks
