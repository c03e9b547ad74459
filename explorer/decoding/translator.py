"""Translate typed sentences with one loaded model, recording all attention."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from explorer.decoding.aggregates import Floats, head_norms, layer_norms
from explorer.decoding.decoding import Decoding, chosen_rows
from explorer.decoding.head_edits import digest_of
from explorer.decoding.model_diagram import diagram_of
from explorer.locale.messages import Later, later, message
from explorer.locale.text import quoted, shortened
from model.analysis.head_details import HeadDetails, details_of, head_details
from model.analysis.score_terms import HeadTerms, ScoreTermsError, head_terms
from model.checkpoint import LoadedModel
from model.config import EOS, PAD, SOS, AttentionKind, DecodeConfig
from model.decoding.decode import Decoding as Recorded
from model.decoding.decode import decode_recorded
from model.decoding.search import Hypothesis
from model.edits import HeadEdits, edit_tap
from model.points import Head
from model.recording import AttentionRecorder
from model.tap import compose
from model.text.tokenizer import Encoding
from model.user_error import UserError

CHARACTERS_PER_TOKEN = 64  # longer texts are truncated before they are tokenized

CHOSEN = message("chosen")
TAKEN = {"greedy": CHOSEN, "beam": message("taken by beam search"), "sample": message("drawn at random")}
"""How a token that is not the likeliest one got there: on a given path, and by decoding method."""


class InputError(UserError):
    """The sentence cannot be translated; the message says why, and what to do."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Translation(Decoding):
    """A decoding by one of our models, with its source and target texts.

    `seq` is equal for equal model, sentence, path and edits. After beam search, `hypotheses` are its results with
    their texts. `edit` holds the head edits under which it was computed, if any. `src_ids` and
    `read_ids` are what encoder and decoder read; without an encoder, the decoder reads the source, and `text` is the
    continuation alone.
    """

    source: Encoding
    text: str
    src_ids: tuple[int, ...]
    read_ids: tuple[int, ...]
    hypotheses: tuple[tuple[str, Hypothesis], ...] = ()
    edit: HeadEdits | None = None


@dataclass(frozen=True, eq=False)
class Explanation:
    """Where the weights of a row come from: the vectors of its head, and its scores as sums of terms.

    If `parts` is None, `refusal` says why the scores of this model cannot be split into terms.
    """

    details: HeadDetails
    parts: HeadTerms | None
    refusal: str = ""

    @property
    def terms(self) -> HeadTerms:
        """The scores as sums of terms.

        Raises:
            ScoreTermsError: the model is a variant whose vectors are not sums of parts.
        """
        if self.parts is None:
            raise ScoreTermsError(self.refusal)
        return self.parts


class Translator:
    """A model and its tokenizers; it has no state of a sentence, so that all sessions can share it."""

    def __init__(self, loaded: LoadedModel) -> None:
        self.loaded = loaded
        self.name = loaded.name

    @property
    def max_source_tokens(self) -> int:
        """Largest number of source tokens, without <eos>, that the model reads."""
        return self.loaded.model_config.longest_source

    def translate(
        self,
        text: str,
        config: DecodeConfig,
        *,
        prefix: Sequence[int] = (),
        edit: HeadEdits | None = None,
    ) -> Translation:
        """Translate `text`, continuing from the target ids in `prefix`.

        Raises:
            InputError: the text is empty, or the prefix does not fit this model.
        """
        source, notes = self._read(text)
        if self.loaded.model_config.architecture == "lstm":
            notes.append(
                later("An LSTM reads in order and has no self-attention; its decoder looks at the source alone.")
            )
        self._check_prefix(prefix, source)
        decoding = decode_recorded(self.loaded.model, source, self.loaded.target, config, prefix=prefix, edit=edit)
        if not decoding.finished:
            notes.append(
                later(
                    "The model did not end the sentence within {n} token, so decoding stopped there.",
                    "The model did not end the sentence within {n:,} tokens, so decoding stopped there.",
                    n=len(decoding.answer),
                )
            )
        return self._translation(source, decoding, notes, CHOSEN if prefix else TAKEN[config.method], edit)

    def force(self, text: str, target: str, *, edit: HeadEdits | None = None) -> Translation:
        """Read `text`, then force the given `target` token by token (teacher forcing).

        There is no search: row t predicts token t of the target, and `probabilities` are those that the model gave to
        these tokens. The target is split by the target tokenizer and ends with <eos>.

        Raises:
            InputError: the source or the target is empty.
        """
        source, notes = self._read(text)
        tokenizer, settings = self.loaded.target, self.loaded.model_config
        prompt = () if settings.has_encoder else settings.prompt(source.ids)[1:]
        max_tokens = settings.max_positions - len(prompt)
        forced = tokenizer.encode(target[: CHARACTERS_PER_TOKEN * max_tokens])
        if not target.strip() or not forced.ids:
            raise InputError("Type the target sentence whose attention and probabilities you want to see.")
        path = (*forced.ids, EOS) if settings.has_encoder or settings.separator else forced.ids
        if len(path) > max_tokens:
            path = path[:max_tokens]
            notes.append(
                later(
                    "This model reads at most {n} target tokens; the rest of your target is left out.",
                    n=max_tokens,
                )
            )
        notes += self._unknown_words(forced, in_target=True)
        model, config = self.loaded.model, DecodeConfig(max_length=len(path))
        decoding = decode_recorded(model, source, tokenizer, config, prefix=(*prompt, *path), edit=edit)
        return self._translation(source, decoding, notes, CHOSEN, edit)

    def details(self, translation: Translation, heads: Collection[Head]) -> dict[Head, HeadDetails]:
        """The vectors behind the weights of some heads (counted from 0) of a translation by this model."""
        src, read = translation.src_ids, translation.read_ids
        return head_details(self.loaded.transformer, src, read, heads, edit=translation.edit)

    def explain(self, translation: Translation, head: Head, row: int) -> Explanation:
        """Explain one row of a head (all counted from 0) of a translation, in one run of the model.

        A decoder that is not causal computed the row from the tokens read so far, so later tokens are left out.
        """
        model, config = self.loaded.transformer, self.loaded.model_config
        src, read = translation.src_ids, translation.read_ids
        if not config.causal and head[0] != "encoder":
            read = read[: row + 1]
        recorder = AttentionRecorder(details=[head])
        try:
            terms = head_terms(model, src, read, head, compose(edit_tap(translation.edit, config), recorder))
        except ScoreTermsError as unfit:  # raised before the model runs
            details = head_details(model, src, read, [head], edit=translation.edit)
            return Explanation(details[head], None, str(unfit))
        return Explanation(details_of(model, recorder)[head], terms)

    def norms(self, translation: Translation, kind: AttentionKind) -> tuple[Floats, Floats]:
        """Norm-weighted attention of one kind (Kobayashi et al. 2020).

        Shapes: returns that of each head [layer, head, query, key] and of all heads of a layer [layer, query, key].
        """
        n_layers, n_heads, _, n_keys = translation.trace.weights(kind).shape
        heads: list[Head] = [(kind, layer, head) for layer in range(n_layers) for head in range(n_heads)]
        by_head = self.details(translation, heads)
        layers = [[by_head[kind, layer, head] for head in range(n_heads)] for layer in range(n_layers)]
        each = np.stack([[head_norms(details, n_keys) for details in layer] for layer in layers])
        return each, np.stack([layer_norms(layer, n_keys) for layer in layers])

    def _translation(
        self, source: Encoding, recorded: Recorded, notes: Sequence[Later], chosen_by: str, edit: HeadEdits | None
    ) -> Translation:
        config = self.loaded.model_config
        src, read = config.inputs(source.ids, recorded.path)
        return Translation(
            trace=recorded.trace,
            seq=self._name_of(source, recorded, edit),
            model=self.name,
            path=recorded.path,
            notes=tuple(notes),
            src_unknown=source.unknown if config.has_encoder else (),
            trained=bool(self.loaded.summary.get("trained", True)),
            chosen=chosen_rows(recorded.trace, recorded.path, recorded.n_prompt),
            chosen_by=chosen_by,
            joined=tuple(
                tuple(self._joins(before, int(token)) for token in row)
                for before, row in zip(read, recorded.trace.top_ids, strict=True)
            ),
            log_sums=recorded.log_sums,
            diagram=diagram_of(config),
            n_prompt=recorded.n_prompt,
            predicts_prompt=not config.separator,
            source=source,
            src_ids=src,
            read_ids=read,
            text=self.loaded.target.decode(recorded.answer),
            hypotheses=tuple(
                (self.loaded.target.decode(hypothesis.tokens[recorded.n_prompt :]), hypothesis)
                for hypothesis in recorded.hypotheses
            ),
            edit=edit,
        )

    def _joins(self, before: int, token: int) -> bool:
        """Whether a token of the target is in one word with the token before it."""
        word, own = self.loaded.target.words_of((before, token))
        return word == own >= 0

    def _read(self, text: str) -> tuple[Encoding, list[Later]]:
        """Tokenize `text`, truncated to what the model can read; returns notes for the reader about that, too."""
        limit, max_characters = self.max_source_tokens, CHARACTERS_PER_TOKEN * self.max_source_tokens
        source = self.loaded.source.encode(text[:max_characters])
        notes: list[Later] = []
        if len(text.rstrip()) > max_characters:
            notes.append(
                later("Only the first {n:,} of {all:,} characters were read.", n=max_characters, all=len(text))
            )
        if len(source) > limit:
            while len(source) > limit:
                # Cut at the first token that does not fit, by at least a character, since one may be several tokens.
                end = min(source.offsets[limit][0], len(source.text) - 1)
                source = self.loaded.source.encode(source.text[:end])
            notes.append(
                later(
                    "This model reads at most {limit}. Your text is longer, so only its first {tokens} ({read:,} of "
                    "{all:,} characters) were read.",
                    limit=later("{n} token", "{n:,} tokens", n=limit),
                    tokens=later("{n} token", "{n:,} tokens", n=len(source)),
                    read=len(source.text),
                    all=len(text),
                )
            )
        if not text.strip() or not source.ids:
            if self.loaded.model_config.has_encoder:
                raise InputError("There is nothing to translate yet: type a sentence, or choose an example.")
            raise InputError("There is nothing to continue yet: type a sentence, or choose an example.")
        notes += self._unknown_words(source)
        labels = self.loaded.source.labels
        if labels and source.tokens[0] not in labels:
            notes.append(
                later(
                    "This model translates into {n} language: choose one, or begin the sentence with its label, such "
                    "as {label}.",
                    "This model translates into {n:,} languages: choose one, or begin the sentence with its label, "
                    "such as {label}.",
                    n=len(labels),
                    label=labels[0],
                )
            )
        return source, notes

    def _unknown_words(self, encoding: Encoding, *, in_target: bool = False) -> list[Later]:
        unknown = [token for token, is_unknown in zip(encoding.tokens, encoding.unknown, strict=True) if is_unknown]
        if not unknown:
            return []
        distinct = list(dict.fromkeys(shortened(token, 24) for token in unknown))
        names = ", ".join(map(quoted, distinct[:8])) + (", …" if len(distinct) > 8 else "")
        if in_target:
            return [
                later(
                    "Not in this model's target vocabulary: {tokens}. The probability there is that of <unk>.",
                    tokens=names,
                )
            ]
        if len(unknown) == len(encoding.ids):
            return [
                later(
                    "This model knows none of these tokens ({tokens}). It sees <unk> instead of each, so its answer "
                    "means nothing; try one of the examples.",
                    tokens=names,
                )
            ]
        return [later("Not in this model's vocabulary: {tokens}. The model sees <unk> there.", tokens=names)]

    def _check_prefix(self, prefix: Sequence[int], source: Encoding) -> None:
        size, config = len(self.loaded.target), self.loaded.model_config
        if not config.has_encoder:  # the rest of the prompt may hold specials
            given = config.prompt(source.ids)[1:]
            prefix = prefix[len(given) :] if tuple(prefix[: len(given)]) == given else prefix
        if any(not 0 <= token < size or token in (PAD, SOS) for token in prefix) or EOS in prefix[:-1]:
            raise InputError("The chosen path does not fit this model; the model's own translation is shown.")

    def _name_of(self, source: Encoding, recorded: Recorded, edit: HeadEdits | None) -> str:
        version = self.loaded.summary.get("modified")  # after retraining, the same path has other numbers
        parts = [self.name, version, source.text, recorded.path, digest_of(edit) if edit is not None else ""]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]
