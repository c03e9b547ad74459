"""One loaded model: a typed sentence in, its translation with all recorded attention out."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from explorer.decoding.aggregates import Floats, head_norms, layer_norms
from explorer.decoding.decode_tree import Branch, branches_of
from explorer.decoding.decoding import Decoding, chosen_rows
from explorer.decoding.head_edits import digest_of
from explorer.decoding.model_diagram import diagram_of
from explorer.locale.text import plural, quoted, shortened
from model.analysis.head_details import HeadDetails, head_details
from model.analysis.score_terms import HeadTerms, head_terms
from model.checkpoint import LoadedModel
from model.config import EOS, PAD, SOS, AttentionKind, DecodeConfig
from model.decoding.decode import Decoding as Recorded
from model.decoding.decode import decode_recorded
from model.decoding.search import Hypothesis
from model.edits import HeadEdits, edit_tap
from model.points import Head
from model.text.tokenizer import Encoding
from model.user_error import UserError

CHARACTERS_PER_TOKEN = 64  # longer texts are cut before they are tokenized: no model here reads more

CHOSEN = "chosen"
TAKEN = {"greedy": CHOSEN, "beam": "taken by beam search", "sample": "drawn at random"}
"""How a token got there that is not the likeliest: on a given path, and by decoding method."""


class InputError(UserError):
    """A sentence that cannot be translated; the message says why, and what to do."""


@dataclass(frozen=True)
class Candidate:
    """A hypothesis of beam search: its text and path, log-probability in nats, score, and whether it has ended."""

    text: str
    path: tuple[int, ...]
    log_prob: float
    score: float
    finished: bool


@dataclass(frozen=True, eq=False, kw_only=True)
class Translation(Decoding):
    """A decoding by one of our models, with the text that it translates.

    `seq` is equal for equal model, sentence, path and edits. Of `path`, the first `n_forced` ids were given. `branches`
    are the hypotheses that beam search considered. `edit` holds the head edits that it was made under, if any.
    """

    source: Encoding
    text: str
    n_forced: int
    finished: bool
    candidates: tuple[Candidate, ...]
    branches: tuple[Branch, ...] = ()
    edit: HeadEdits | None = None


class Translator:
    """A model and its tokenizers; it keeps nothing about any sentence, so that all sessions can share it."""

    def __init__(self, loaded: LoadedModel) -> None:
        self.loaded = loaded
        self.name = loaded.name

    @property
    def max_source_tokens(self) -> int:
        """Largest number of source tokens, without <eos>, that the model reads."""
        return self.loaded.model_config.max_positions - 1

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
            notes.append("An LSTM reads in order and has no self-attention; its decoder looks at the source alone.")
        self._check_prefix(prefix)
        decoding = decode_recorded(self.loaded.model, source, self.loaded.target, config, prefix=prefix, edit=edit)
        if not decoding.finished:
            notes.append(
                f"The model did not end the sentence within {plural(len(decoding.path), 'token')}, so decoding "
                f"stopped there."
            )
        return self._translation(source, decoding, notes, CHOSEN if prefix else TAKEN[config.method], edit)

    def force(self, text: str, target: str, *, edit: HeadEdits | None = None) -> Translation:
        """Read `text` and then `target`, a given translation, token by token (teacher forcing).

        Nothing is searched: row t predicts token t of the target, and `probabilities` are those that the model gave to
        these tokens. The target is split by the target tokenizer and ends with <eos>.

        Raises:
            InputError: the source or the target is empty.
        """
        source, notes = self._read(text)
        if not target.strip():
            raise InputError("Type the target sentence whose attention and probabilities you want to see.")
        tokenizer, most = self.loaded.target, self.loaded.model_config.max_positions
        forced = tokenizer.encode(target[: CHARACTERS_PER_TOKEN * most])
        if not forced.ids:
            raise InputError("Type the target sentence whose attention and probabilities you want to see.")
        path = (*forced.ids, EOS)
        if len(path) > most:
            path = path[:most]
            notes.append(f"This model reads at most {most} target tokens; the rest of your target is left out.")
        notes += self._unknown_words(forced, in_target=True)
        model, config = self.loaded.model, DecodeConfig(max_length=len(path))
        decoding = decode_recorded(model, source, tokenizer, config, prefix=path, edit=edit)
        return self._translation(source, decoding, notes, CHOSEN, edit)

    def details(self, shown: Translation, heads: Collection[Head]) -> dict[Head, HeadDetails]:
        """The vectors behind the weights of some heads (counted from 0) of a translation that this model made."""
        src = (*shown.source.ids, EOS)
        return head_details(self.loaded.transformer, src, shown.path, heads, edit=shown.edit)

    def terms(self, shown: Translation, head: Head, row: int) -> HeadTerms:
        """The scores of one head (counted from 0) of a translation, taken apart, at least those of one row.

        A decoder that is not causal computed its row from what was read by then, so later tokens are left out.

        Raises:
            ScoreTermsError: the model is a variant whose vectors are no sums of parts.
        """
        src = (*shown.source.ids, EOS)
        read = (SOS, *shown.path[:-1])
        if not self.loaded.model_config.causal and head[0] != "encoder":
            read = read[: row + 1]
        return head_terms(self.loaded.transformer, src, read, head, edit_tap(shown.edit, self.loaded.model_config))

    def norms(self, shown: Translation, kind: AttentionKind) -> tuple[Floats, Floats]:
        """Norm-weighted attention of one kind (Kobayashi et al. 2020).

        Shapes: returns that of each head [layer, head, query, key] and of all heads of a layer [layer, query, key].
        """
        n_layers, n_heads, _, n_keys = shown.trace.weights(kind).shape
        heads: list[Head] = [(kind, layer, head) for layer in range(n_layers) for head in range(n_heads)]
        by_head = self.details(shown, heads)
        layers = [[by_head[kind, layer, head] for head in range(n_heads)] for layer in range(n_layers)]
        each = np.stack([[head_norms(details, n_keys) for details in layer] for layer in layers])
        return each, np.stack([layer_norms(layer, n_keys) for layer in layers])

    def _translation(
        self, source: Encoding, done: Recorded, notes: Sequence[str], by: str, edit: HeadEdits | None
    ) -> Translation:
        return Translation(
            trace=done.trace,
            seq=self._name_of(source, done, edit),
            model=self.name,
            path=done.path,
            notes=tuple(notes),
            src_unknown=source.unknown,
            trained=bool(self.loaded.summary.get("trained", True)),
            chosen=chosen_rows(done.trace, done.path),
            chosen_by=by,
            log_sums=done.log_sums,
            diagram=diagram_of(self.loaded.model_config),
            source=source,
            text=self.loaded.target.decode(done.path),
            n_forced=done.n_forced,
            finished=done.finished,
            candidates=tuple(self._candidate(hypothesis) for hypothesis in done.beam_hypotheses),
            branches=branches_of(done.beam),
            edit=edit,
        )

    def _read(self, text: str) -> tuple[Encoding, list[str]]:
        """The tokens of `text`, truncated to what the model can read, and notes for the reader about that."""
        if not text.strip():
            raise InputError("There is nothing to translate yet: type a sentence, or choose an example.")
        limit, most = self.max_source_tokens, CHARACTERS_PER_TOKEN * self.max_source_tokens
        source = self.loaded.source.encode(text[:most])
        notes = []
        if len(text.rstrip()) > most:
            notes.append(f"Only the first {most:,} of {len(text):,} characters were read.")
        if len(source) > limit:
            while len(source) > limit:
                # Up to the first token that does not fit, and always shorter: one character may be several tokens.
                end = min(source.offsets[limit][0], len(source.text) - 1)
                source = self.loaded.source.encode(source.text[:end])
            notes.append(
                f"This model reads at most {plural(limit, 'token')}. Your text is longer, so only its first "
                f"{plural(len(source), 'token')} ({len(source.text):,} of {len(text):,} characters) were translated."
            )
        if not source.ids:
            raise InputError("There is nothing to translate yet: type a sentence, or choose an example.")
        notes += self._unknown_words(source)
        labels = self.loaded.source.labels
        if labels and source.tokens[0] not in labels:
            notes.append(
                f"This model translates into {plural(len(labels), 'language')}: choose one, or begin the sentence with "
                f"its label, such as {labels[0]}."
            )
        return source, notes

    def _unknown_words(self, encoding: Encoding, *, in_target: bool = False) -> list[str]:
        unknown = [token for token, is_unknown in zip(encoding.tokens, encoding.unknown, strict=True) if is_unknown]
        if not unknown:
            return []
        distinct = list(dict.fromkeys(shortened(token, 24) for token in unknown))
        names = ", ".join(map(quoted, distinct[:8])) + (", …" if len(distinct) > 8 else "")
        if in_target:
            return [f"Not in this model's target vocabulary: {names}. The probability there is that of <unk>."]
        if len(unknown) == len(encoding.ids):
            return [
                f"This model knows none of these tokens ({names}). It sees <unk> instead of each, so its answer means "
                f"nothing; try one of the examples."
            ]
        return [f"Not in this model's vocabulary: {names}. The model sees <unk> there."]

    def _check_prefix(self, prefix: Sequence[int]) -> None:
        size = len(self.loaded.target)
        if any(not 0 <= token < size or token in (PAD, SOS) for token in prefix) or EOS in prefix[:-1]:
            raise InputError("The chosen path does not fit this model; the model's own translation is shown.")

    def _candidate(self, hypothesis: Hypothesis) -> Candidate:
        text = self.loaded.target.decode(hypothesis.tokens)
        return Candidate(text, hypothesis.path, hypothesis.log_prob, hypothesis.score, hypothesis.finished)

    def _name_of(self, source: Encoding, done: Recorded, edit: HeadEdits | None) -> str:
        version = self.loaded.summary.get("modified")  # a retrained model gives other numbers for the same path
        parts = [self.name, version, source.text, done.path, digest_of(edit) if edit is not None else ""]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]
