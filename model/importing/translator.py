"""What an import reads of a translator of any family: sizes, order of ids, search, tokenizers, parameters."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from model.config import SPECIALS, DataConfig, LengthPenalty, ModelConfig
from model.importing.source_folder import (
    CONFIG,
    GENERATION,
    ImportFailed,
    SourceFolder,
    choice,
    flag,
    fraction,
    integer,
)
from model.text.pieces import MAX_PIECES
from model.text.sentencepiece import SPACE
from model.text.tokenizer import Tokenizer

ACTIVATIONS = {"relu": "relu", "gelu": "gelu", "swish": "silu", "silu": "silu"}
_SHORT = {"eng": "en", "deu": "de", "ger": "de"}  # the languages of which sentences come with this program
MAX_LAYERS, MAX_WIDTH, MAX_LENGTH = 64, 16_384, 65_536


def sizes(config: dict[str, Any]) -> dict[str, Any]:
    """The sizes and switches of a model as settings of ModelConfig.

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
        "norm_first": False,
    }


def refuse_other_kinds(config: Mapping[str, Any], expected: Mapping[str, Any], kind: str) -> None:
    """Refuse a configuration that sets one of these switches, by which families of models differ, otherwise.

    Raises:
        ImportFailed: the message names the switch.
    """
    for key, value in expected.items():
        if config.get(key, value) != value:
            raise ImportFailed(f"{CONFIG} has {key}={config[key]!r:.40}, which {kind} models do not have.")


def language_code(lang: str) -> str:
    """A language as our tokenizers name it: `xx` for several languages, or one without a short code."""
    lang = _SHORT.get(lang, lang)
    return lang if re.fullmatch(r"[a-z]{2,3}", lang) else "xx"


@dataclass(frozen=True)
class Vocabulary:
    """A vocabulary in our order: `rows[i]` is their id of our id i, and `pieces` are the spellings from id 4 on.

    Ours begin with ``<pad> <sos> <eos> <unk>``. The row of ``<sos>`` is a copy of the token that their decoder starts
    from, which for Marian is the padding token: so padding can be told apart from the start of a sentence.
    """

    rows: tuple[int, ...]
    pieces: tuple[str, ...]

    def ours(self, theirs: int) -> int:
        """Our id of their id; the copy at ``<sos>`` does not count."""
        return next(i for i, row in enumerate(self.rows) if row == theirs and i != 1)


def reorder(names: Mapping[str, Any], size: int, *, pad: int, start: int, eos: str, unk: str, file: str) -> Vocabulary:
    """The vocabulary in our order. `names` are their ids by spelling, as in `file`; `size` is the number of rows.

    A row without a name gets one that no text can contain.

    Raises:
        ImportFailed: the ids are no ids, are given twice or exceed the table, or a special token is missing.
    """
    if size > MAX_PIECES or len(names) > MAX_PIECES:
        raise ImportFailed(f"{file} has more than {MAX_PIECES} entries; it is refused.")
    spelling: dict[int, str] = {}
    for name, i in names.items():
        if type(i) is not int or not 0 <= i < size:
            raise ImportFailed(
                f"{file} gives {name!r:.40} the id {i!r:.20}, but the model has ids from 0 to {size - 1}."
            )
        if i in spelling:
            raise ImportFailed(f"{file} gives the id {i} to {spelling[i]!r:.40} and to {name!r:.40}.")
        spelling[i] = name
    for token in (eos, unk):
        if token not in names:
            raise ImportFailed(f"{file} has no {token}, so it is not the vocabulary of this model.")
    special = (pad, start, names[eos], names[unk])
    if not all(0 <= i < size for i in special):
        raise ImportFailed(f"config.json names a special token beyond the {size} rows of {file}.")
    if len({pad, names[eos], names[unk]}) < 3:
        raise ImportFailed(f"config.json uses one row of {file} for two of padding, {eos} and {unk}.")
    rest = [i for i in range(size) if i not in (pad, names[eos], names[unk])]
    pieces = tuple(_spelling(spelling.get(i), i) for i in rest)
    if len(set(pieces)) < len(pieces):
        raise ImportFailed(f"{file} spells two tokens alike once spaces are written as spaces.")
    return Vocabulary((*special, *rest), pieces)


def _spelling(name: str | None, i: int) -> str:
    """A piece as our tokenizers spell it: with a space for "▁"; never empty, and never one of our special tokens."""
    if not name:
        return f"<row {i}>"
    if name in SPECIALS:
        return f"<their {name[1:]}"
    return name.replace(SPACE, " ")


@dataclass(frozen=True)
class OwnSearch:
    """How the model's authors search: settings of beam search that the pages and commands offer."""

    beam_size: int = 4
    length_penalty: LengthPenalty = "mean"
    alpha: float = 1.0


@dataclass(frozen=True, eq=False)
class ImportedTranslator:
    """A translator read from elsewhere.

    `licence` is empty where none is stated; `changes` says what stands in another order than in the files read;
    `remarks` are sentences about what was converted or left out.
    """

    family: str
    model: ModelConfig
    data: DataConfig
    source: Tokenizer
    target: Tokenizer
    parameters: dict[str, Tensor]
    search: OwnSearch
    licence: str
    changes: str
    remarks: tuple[str, ...] = field(default=())


def read_search(
    folder: SourceFolder, config: dict[str, Any], target: Vocabulary
) -> tuple[OwnSearch, tuple[int, ...], list[str]]:
    """Beam search as generation_config.json sets it, the banned target ids in our order, and remarks.

    Older folders have the same settings in config.json.

    Raises:
        ImportFailed: a setting has a value that it cannot have.
    """
    values = {**config, **folder.optional_json(GENERATION)}
    remarks = []
    beams, alpha = values.get("num_beams", 1), values.get("length_penalty", 1.0)
    if type(beams) is not int or not 1 <= beams <= 64:
        raise ImportFailed(f"{GENERATION} has num_beams={beams!r}; a whole number from 1 to 64 is needed.")
    if isinstance(alpha, bool) or not isinstance(alpha, int | float) or not -10 <= alpha <= 10:
        raise ImportFailed(f"{GENERATION} has length_penalty={alpha!r}; a number from -10 to 10 is needed.")
    banned: list[int] = []
    for words in values.get("bad_words_ids") or []:
        if not isinstance(words, list) or not all(type(i) is int and 0 <= i < len(target.rows) for i in words):
            raise ImportFailed(f"{GENERATION} has bad_words_ids that are not lists of token ids.")
        if len(words) == 1:
            banned += [target.ours(words[0])]
        else:
            remarks.append("A ban of a sequence of several tokens is not applied.")
    if values.get("no_repeat_ngram_size"):
        remarks.append(
            f"no_repeat_ngram_size={values['no_repeat_ngram_size']} is not applied: this search may repeat itself."
        )
    if values.get("min_length"):
        remarks.append(f"min_length={values['min_length']} is not applied: a translation may be shorter.")
    found = OwnSearch(beam_size=beams, length_penalty="mean", alpha=float(alpha))
    return found, tuple(sorted({i for i in banned if i > 1})), remarks


def read_first_token(folder: SourceFolder, config: dict[str, Any], target: Vocabulary) -> tuple[int, tuple[str, ...]]:
    """Our id of the token that every translation is made to begin with (0 if none is), and what to say about it.

    `forced_eos_token_id` is not read: it concerns only translations that are cut off, and these are shown as cut off.

    Raises:
        ImportFailed: it is no id of a token that can be predicted.
    """
    values = {**config, **folder.optional_json(GENERATION)}
    theirs = values.get("forced_bos_token_id")
    if theirs is None and values.get("force_bos_token_to_be_generated"):
        theirs = values.get("bos_token_id")  # as older files say it
    if theirs is None:
        return 0, ()
    ours = target.ours(theirs) if type(theirs) is int and 0 <= theirs < len(target.rows) - 1 else 0
    if ours < len(SPECIALS):
        raise ImportFailed(f"{GENERATION} has forced_bos_token_id={theirs!r:.20}, which cannot begin a translation.")
    piece = target.pieces[ours - len(SPECIALS)]
    return ours, (f"Every translation begins with {piece}, as the model's authors set it, with probability 1.",)
