"""Propose tokens (words, characters or subwords) and settings for your own sentence pairs."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from model.config import SPECIALS, DataConfig, ModelConfig, TrainConfig
from model.data.checks import FEWEST_HELD_OUT
from model.data.files import LARGE
from model.data.task import Example, Splits
from model.presets import Preset
from model.scoring import evenly_spaced
from model.text.pieces import TokenizerError
from model.text.tokenizer import Encoding
from model.text.tokenizer_kinds import build_tokenizers
from model.wording import t

KINDS = ("words", "characters", "subwords", "whitespace")
MOST_TRAIN, MOST_VALID = 5000, 500  # pairs examined, evenly spaced: more would cost seconds and change little
UNSPELLABLE, UNREAD = 0.02, 0.05  # largest shares of answers and sources with unknown words if words are proposed
SENTENCE_WORDS = 4  # BLEU counts runs of up to four words
SHORT = 48  # characters: up to this mean length, texts are learned letter by letter
LONGEST_CHARACTERS = 127  # characters of the longest text that the smallest models have positions for
POSITIONS = 64  # longest sentences are rounded up to a multiple of this
MANY_TOKENS, LONG_POSITIONS, WIDEST, HALF = 1000, 128, 512, 0.5  # of a larger model; see :func:`larger`
FEWEST_PIECES, MOST_PIECES = 500, 6000
PAIRS_PER_PIECE = 2
# With few pairs, a model without dropout memorises them, and rotary positions, which depend on distances, need fewer
# pairs. With characters, dropout on attention weights and inside the feed-forward layers helps as well, together with
# the higher learning rate that it allows: after training on 270 English words, it raised the share of 500 other words
# reversed correctly from 75 % to 97 %, and after as many random strings from 79 % to 96 %.
FEW_DROPOUT = 0.3
CHARACTER_STEPS, CHARACTER_RATE = 1300, 8e-3
SAMPLES = 2
MOST_SHOWN = 60  # characters of a text that is named
LOOK, SHORT_RUN = 20, 1000  # updates
ENOUGH_RIGHT = 3  # evaluations in a row with everything right, after which training stops


@dataclass(frozen=True)
class TokenKind:
    """One kind of tokens tried on the data, with vocabularies from the training pairs.

    `unspellable` is the share of validation answers with an unknown token, which no model could write; `unread` is that
    of sources; `held_out` is the number of pairs that were tried. `src_length` and `tgt_length` are mean numbers of
    tokens; `tokens` is about the number in all training pairs. `unread_example` and `unspelled` are the first unknown
    token of a source and of an answer, each with its text. `samples` are a few validation pairs as tokens.
    """

    kind: str
    held_out: int
    unspellable: float
    unread: float
    src_vocab_size: int
    tgt_vocab_size: int
    src_length: float
    tgt_length: float
    tokens: float
    longest: int
    unread_example: tuple[str, str]
    unspelled: tuple[str, str]
    samples: tuple[tuple[Encoding, Encoding], ...]


@dataclass(frozen=True)
class Proposal:
    """The proposal, with the reason for its tokens as a sentence, and the kinds of tokens that were tried.

    `data` names the tokens. `sentences`: whether the answers are sentences, for which BLEU is meaningful. `few`:
    whether there are so few pairs that a model memorises them. `longest`: characters of the longest text of all pairs.
    """

    data: DataConfig
    reason: str
    kinds: tuple[TokenKind, ...]
    sentences: bool
    few: bool
    longest: int

    def of(self, kind: str) -> TokenKind | None:
        """The results for a kind; None if it cannot be used with these data."""
        return next((result for result in self.kinds if result.kind == kind), None)

    def adapted(self, preset: Preset) -> Preset:
        """The preset with the settings proposed for these data."""
        model, training = self._changes(preset)
        return replace(preset, model={**preset.model, **model}, training={**preset.training, **training})

    def settings(self, preset: Preset) -> dict[str, str]:
        """The proposal as arguments of `--set`, so that a model can be trained again in the same way."""
        tokens: dict[str, str] = {"tokenizer": self.data.tokenizer}
        if self.data.tokenizer == "subwords":
            tokens["vocab_size"] = str(self.data.vocab_size)
        model, training = self._changes(preset)
        return tokens | {key: str(value) for key, value in {**model, **training}.items()}

    def _changes(self, preset: Preset) -> tuple[dict[str, Any], dict[str, Any]]:
        """Settings of model and training that replace those of the preset for these data."""
        training: dict[str, Any] = {
            "select_by": "bleu" if self.sentences else "exact_match",
            "stop_when_right": ENOUGH_RIGHT,
        }
        model: dict[str, Any] = {}
        # No kind of tokens has more of them than characters; two more are <sos> and <eos>.
        sides = 2 if preset.model.get("architecture") == "decoder" else 1  # that are read as one sequence
        needed = sides * self.longest + 2
        if needed > preset.model.get("max_positions", ModelConfig.max_positions):
            model["max_positions"] = -(-needed // POSITIONS) * POSITIONS
        if not self.few:
            return model, training
        model["dropout"] = FEW_DROPOUT
        transformer = preset.model.get("architecture") != "lstm"
        if transformer:
            model["positions"] = "rope"
        if self.data.tokenizer == "characters":
            if transformer:
                model |= {"attention_dropout": FEW_DROPOUT, "activation_dropout": FEW_DROPOUT}
            if preset.training.get("max_steps", 0) < CHARACTER_STEPS:
                training |= {"max_steps": CHARACTER_STEPS} | ({"learning_rate": CHARACTER_RATE} if transformer else {})
        return model, training


def larger(model: ModelConfig, training: TrainConfig, share: float) -> dict[str, int | float]:
    """Settings of a larger model for data that this one has learned to a `share` of right answers (0 to 1).

    It is twice as wide, four times where a large vocabulary has to be told apart. Where less than half is right, or the
    texts are long, it is deeper as well. It learns twice as long, with a rate that falls with the root of the width.
    """
    vocabulary = max(model.src_vocab_size, model.tgt_vocab_size)
    width = min((4 if vocabulary > MANY_TOKENS else 2) * model.d_model, max(WIDEST, model.d_model))
    factor = width // model.d_model
    changes: dict[str, int | float] = {"d_model": width, "d_ff": factor * model.d_ff}
    if (share < HALF or model.max_positions > LONG_POSITIONS) and model.architecture != "lstm":
        changes |= {"n_encoder_layers": model.n_encoder_layers + 1, "n_decoder_layers": model.n_decoder_layers + 1}
    rate = float(f"{training.learning_rate / factor**0.5:.2g}")
    return changes | {"learning_rate": rate, "max_steps": 2 * training.max_steps}


def first_look(max_steps: int, eval_every: int) -> int:
    """The update after which a short run is scored once before its first evaluation, deciding nothing; 0 for none."""
    return LOOK if max_steps <= SHORT_RUN and min(eval_every, max_steps) > LOOK else 0


def earliest_end(config: TrainConfig, held_out: int) -> int:
    """The first update after which training with so many held-out pairs may end."""
    right = config.stop_when_right if held_out >= FEWEST_HELD_OUT else 0
    evaluations = [right or math.inf, config.patience + 1 if config.patience else math.inf]
    return int(min(config.max_steps, config.eval_every * min(evaluations)))


def are_sentences(texts: Sequence[str]) -> bool:
    """Whether at least half of the texts have four words, which BLEU needs."""
    return bool(texts) and statistics.median(len(text.split()) for text in texts) >= SENTENCE_WORDS


def pieces_for(pairs: int) -> int:
    """The size of a subword vocabulary for this many training pairs; more pieces would be too rare to learn."""
    return min(max(pairs // PAIRS_PER_PIECE, FEWEST_PIECES), MOST_PIECES)


def propose(splits: Splits, config: DataConfig) -> Proposal:
    """Try every kind of tokens on the data and propose one; `config` has languages and lower-casing."""
    n = len(splits["train"])
    train, valid = _sample(splits["train"], MOST_TRAIN), _sample(splits["valid"], MOST_VALID)
    config = replace(config, vocab_size=pieces_for(n))
    kinds = tuple(result for kind in KINDS if (result := _try_kind(kind, config, train, valid, n)) is not None)
    by_name = {result.kind: result for result in kinds}
    sentences = are_sentences([example.target for example in valid])
    lengths = [max(len(example.source), len(example.target)) for example in (*train, *valid)]
    kind, reason = _best_kind(by_name, sentences, statistics.mean(lengths))
    return Proposal(
        data=replace(config, tokenizer=kind),  # type: ignore[arg-type]  # one of KINDS
        reason=reason,
        kinds=kinds,
        sentences=sentences,
        few=n < LARGE,
        longest=max(max(len(pair.source), len(pair.target)) for split in splits.values() for pair in split),
    )


def _best_kind(kinds: dict[str, TokenKind], sentences: bool, mean_length: float) -> tuple[str, str]:
    """The kind of tokens to propose, and the reason."""
    words, characters = kinds.get("words"), kinds["characters"]
    if words is not None and words.unspellable <= UNSPELLABLE and words.unread <= UNREAD:
        size = words.tgt_vocab_size - len(SPECIALS)  # of the answers themselves
        return "words", (
            t(
                "Whole words, because the {size:,} tokens of the training answers spell nearly every validation "
                "answer.",
                size=size,
            )
            if words.unspellable
            else t(
                "Whole words, because the {size:,} tokens of the training answers spell the only validation answer.",
                "Whole words, because the {size:,} tokens of the training answers spell every validation answer.",
                n=words.held_out,
                size=size,
            )
        )
    problem = t("this language has no rules for words here") if words is None else problem_with(words)
    if not sentences and mean_length <= SHORT and characters.longest <= LONGEST_CHARACTERS:
        return "characters", t(
            "Single characters, because {problem}, and these texts are short enough to be written letter by letter.",
            problem=problem,
        )
    if "subwords" in kinds:
        return "subwords", t(
            "Pieces of words, because {problem}; pieces can write any text in fewer tokens than characters need.",
            problem=problem,
        )
    return "characters", t("Single characters, because {problem}, and subwords need such rules, too.", problem=problem)


def problem_with(words: TokenKind) -> str:
    """Why whole words would not do, as a part of a sentence."""
    if words.unspellable > UNSPELLABLE:
        if words.unspellable == 1:
            return t("every held-out answer has a word that never occurs in a training answer")
        return t(
            "{n} of {held_out:,} held-out answers has a word that never occurs in a training answer",
            "{n:,} of {held_out:,} held-out answers have a word that never occurs in a training answer",
            n=round(words.unspellable * words.held_out),
            held_out=words.held_out,
        )
    if words.unread == 1:
        return t("every held-out source has a word that never occurs in a training source")
    return t(
        "{n} of {held_out:,} held-out sources has a word that never occurs in a training source",
        "{n:,} of {held_out:,} held-out sources have a word that never occurs in a training source",
        n=round(words.unread * words.held_out),
        held_out=words.held_out,
    )


def unspellable_sentence(kind: TokenKind) -> str:
    """A sentence on how many validation answers cannot be spelled with these tokens, and how many sources not read."""
    answers = t("Every held-out answer can be spelled with these tokens")
    if kind.unspellable:
        answers = t(
            "The only held-out answer cannot be spelled with these tokens, which lack {example}",
            "{wrong:,} of {n:,} held-out answers cannot be spelled with these tokens, which lack {example}",
            wrong=round(kind.unspellable * kind.held_out),
            n=kind.held_out,
            example=_example(*kind.unspelled),
        )
    if not kind.unread:
        return t("{answers}, and every source can be read.", answers=answers)
    return t(
        "{answers}; {n:,} source holds at least one unknown token, the first {example}.",
        "{answers}; {n:,} sources hold unknown tokens, the first {example}.",
        answers=answers,
        n=round(kind.unread * kind.held_out),
        example=_example(*kind.unread_example),
    )


def _example(token: str, text: str) -> str:
    return f"“{token}”" if token == text else t("“{token}” in “{text}”", token=token, text=text)


def _first_unknown(texts: Sequence[Encoding]) -> tuple[str, str]:
    """The first unknown token with its text, the text shortened; both empty if all are known."""
    for text in texts:
        for token, unknown in zip(text.tokens, text.unknown, strict=True):
            if unknown:
                return token, text.text if len(text.text) <= MOST_SHOWN else f"{text.text[:MOST_SHOWN]}…"
    return "", ""


def _try_kind(
    kind: str, config: DataConfig, train: Sequence[Example], valid: Sequence[Example], n: int
) -> TokenKind | None:
    """Tokenise samples of `n` training pairs with a kind of tokens; None if it cannot be built for these languages."""
    config = replace(config, tokenizer=kind)  # type: ignore[arg-type]  # one of KINDS
    try:
        source, target = build_tokenizers(
            config, (example.source for example in train), (example.target for example in train)
        )
        pairs = [(source.encode(example.source), target.encode(example.target)) for example in valid]
    except TokenizerError:
        return None
    src_length, tgt_length = (statistics.mean(map(len, texts)) for texts in zip(*pairs, strict=True))
    return TokenKind(
        kind=kind,
        held_out=len(pairs),
        unspellable=sum(any(answer.unknown) for _, answer in pairs) / len(pairs),
        unread=sum(any(question.unknown) for question, _ in pairs) / len(pairs),
        src_vocab_size=len(source),
        tgt_vocab_size=len(target),
        src_length=src_length,
        tgt_length=tgt_length,
        tokens=n * (src_length + tgt_length),
        longest=max(max(len(question), len(answer)) for question, answer in pairs),
        unread_example=_first_unknown([question for question, _ in pairs]),
        unspelled=_first_unknown([answer for _, answer in pairs]),
        samples=tuple(pairs[i] for i in evenly_spaced(len(pairs), SAMPLES)),
    )


def _sample(examples: Sequence[Example], most: int) -> Sequence[Example]:
    return [examples[i] for i in evenly_spaced(len(examples), most)]
