"""What an import produces before it is written: configurations, tokenizers, parameters and remarks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from model.config import SPECIALS, DataConfig, LengthPenalty, ModelConfig
from model.importing.source_folder import GENERATION, ImportFailed, SourceFolder
from model.importing.vocabulary import Vocabulary
from model.text.tokenizer import Tokenizer


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
