"""Decode a batch without recording, for scores, or one sentence with everything recorded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from model.architectures import Model
from model.config import EOS, PAD, SOS, DecodeConfig
from model.decoder_only import DecoderOnly
from model.decoding.beam import beam_search, hypotheses
from model.decoding.search import (
    Hypothesis,
    PathStep,
    allowed_log_probs,
    follow,
    greedy,
    output_rules,
    sample,
)
from model.decoding.temperature import log_sums
from model.edits import HeadEdits, edit_tap
from model.fast.decoding import FastDecoder, fast_decoder, sliced_logits
from model.points import decoder_output
from model.recording import AttentionRecorder, PointRecorder
from model.tap import Tap, compose
from model.text.tokenizer import Encoding, Tokenizer
from model.trace import AttentionTrace, future_mask, maps_of
from model.transformer import Transformer


def stepper(model: Model) -> Model | FastDecoder:
    """The object that computes a model's decoding steps: its fast twin, or the model itself if it has none.

    An LSTM has none, nor has a decoder that is not causal or a model in training mode.
    """
    if isinstance(model, Transformer) and model.config.causal and not model.training:
        return fast_decoder(model)
    return model


@torch.inference_mode()
def decode_batch(
    model: Model, src: Tensor, config: DecodeConfig, *, edit: HeadEdits | None = None
) -> list[list[Hypothesis]]:
    """Translate a batch without recording; returns each sentence's hypotheses, best first (one without beam search).

    Shapes:
        src: [batch, src] ids with <eos>, right-padded.
    """
    lengths, room = (src != PAD).sum(dim=1).tolist(), model.config.max_positions
    limits = [config.length_limit(n, room) for n in lengths]
    first = None
    if isinstance(model, DecoderOnly):  # both sides share the positions
        limits = [max(1, min(limit, room - n)) for n, limit in zip(lengths, limits, strict=True)]
        src, first = model.opening(src)
    tap = edit_tap(edit, model.config)
    decoder = stepper(model)
    state = decoder.start(src, tap=tap)
    step = partial(decoder.step, tap=tap)
    rules = output_rules(model.config)
    if config.method == "beam":
        steps = list(beam_search(step, state, limit=limits, config=config, rules=rules, first=first))
        return hypotheses(steps, src.size(0), config.beam_size)
    if config.method == "sample":
        sampled = sample(step, state, limit=limits, config=config, rules=rules, first=first)
        return [[result] for result in follow(sampled)]
    return [[result] for result in follow(greedy(step, state, limit=limits, rules=rules, first=first))]


@dataclass(frozen=True, eq=False)
class Decoding:
    """One sentence decoded with everything recorded.

    `path` holds the predicted target ids (with <eos> if the target is finished); the first `n_forced` were given.
    After beam search, `hypotheses` holds its results, and `path` is the best of them.
    `log_sums` [tgt, temperature] turns the trace's probabilities into those at other temperatures (temperature.py).

    A decoder-only model reads the source itself, so the trace has a row for every token of it as well, and `path` is
    what each row predicts: the first `n_prompt` are the rest of the source, which was given. `answer` is what follows.
    """

    path: tuple[int, ...]
    n_forced: int
    trace: AttentionTrace
    log_sums: NDArray[np.float32]
    hypotheses: tuple[Hypothesis, ...] = ()
    n_prompt: int = 0

    @property
    def answer(self) -> tuple[int, ...]:
        """The predicted ids without those of the source."""
        return self.path[self.n_prompt :]

    @property
    def finished(self) -> bool:
        """Whether the target ends with <eos>."""
        return self.path[-1:] == (EOS,)


@torch.inference_mode()
def decode_recorded(
    model: Model,
    source: Encoding,
    target: Tokenizer,
    config: DecodeConfig,
    *,
    prefix: Sequence[int] = (),
    n_alternatives: int = 10,
    edit: HeadEdits | None = None,
) -> Decoding:
    """Decode one sentence step by step after the target ids in `prefix`, and record every head.

    A prefix that ends with <eos> is a whole target, so nothing is searched. Beam search runs first, without recording;
    its best path is then decoded and recorded, so that the trace is one run of the model.

    A decoder-only model continues the source, and the prefix is what all of its rows predict: see :class:`Decoding`.
    """
    room, alone = model.config.max_positions, isinstance(model, DecoderOnly)
    prompt = model.config.prompt(source.ids) if alone else (SOS,)
    src = torch.tensor([[] if alone else [*source.ids, EOS]], dtype=torch.long)
    given = (tuple(prefix) or prompt[1:])[:room]
    n_forced, n_prompt = len(given), 0
    while n_prompt < min(n_forced, len(prompt) - 1) and given[n_prompt] == prompt[n_prompt + 1]:
        n_prompt += 1
    longest = config.length_limit(len(prompt) if alone else src.size(1), room)
    is_whole = n_forced > n_prompt and given[-1] == EOS
    limit = 0 if is_whole else min(longest - (n_forced - n_prompt), room - n_forced)
    rules, decoder, edits = output_rules(model.config), stepper(model), edit_tap(edit, model.config)
    unforced = replace(rules, first=None)  # where the first token is among the given ones

    def start(tap: Tap | None, given: Sequence[int], ahead: bool) -> tuple[Any, Tensor, Any, list[Tensor]]:
        """The step function, the token that its next call reads, the state before it, and logits [vocab] before it.

        `ahead`: one sentence goes on, so a prompt is read to its end at once, and the first call finds its step done.
        """
        *before, last = prompt[0], *given
        step, first = partial(decoder.step, tap=tap), torch.tensor([last])
        read = [*before, last] if ahead else before
        if read and alone and model.config.causal:  # a prompt is read at once
            hidden = PointRecorder((point := decoder_output(model.config),))
            state: Any = decoder.start(torch.tensor([read]), tap=compose(tap, hidden))
            logits = sliced_logits(model.output, hidden.tensors[point][0])
            done = [(logits[-1:], state)] if ahead else []
            return (lambda *at: done.pop() if done else step(*at)), first, state, [*logits[: len(before)]]
        state, rows = decoder.start(src, tap=tap), []
        for token in before:
            logits, state = step(torch.tensor([token]), state)
            rows.append(logits[0])
        return step, first, state, rows

    results: tuple[Hypothesis, ...] = ()
    if config.method == "beam" and not is_whole and (limit > 0 or not alone):
        # Scores of a translation are those of all its tokens, scores of a continuation those of what follows.
        lead, forced = (given, ()) if alone else ((), given)
        step, first, state, _ = start(edits, lead, ahead=False)
        most, allowed = limit + len(forced), rules if len(lead) == n_prompt else unforced
        beam = list(beam_search(step, state, limit=most, config=config, prefix=forced, rules=allowed, first=first))
        found = hypotheses(beam, 1, config.beam_size)[0]
        results = tuple(replace(each, tokens=(*lead, *each.tokens)) for each in found)
        given, limit = results[0].path, 0  # a hypothesis that was cut off stays cut off

    recorder = AttentionRecorder()
    step, first, state, logits = start(compose(edits, recorder), given, ahead=limit > 0)
    n_first = len(prompt) - 1  # the row that predicts the first token of the answer
    log_probs = [allowed_log_probs(row, rules, first=n == n_first == n_prompt) for n, row in enumerate(logits)]
    steps: list[PathStep] = []
    if limit > 0:
        search = partial(sample, config=config) if config.method == "sample" else greedy
        allowed = rules if len(given) == n_prompt else unforced
        steps = list(search(step, state, limit=limit, rules=allowed, first=first))
    path = (*given, *(int(choice.tokens[0]) for choice in steps))
    rows = torch.stack([*log_probs, *(choice.log_probs[0] for choice in steps)])  # [row, vocab]
    trace = _assemble(model, recorder, source, target, path, rows, n_alternatives, edit)
    return Decoding(path, n_forced, trace, log_sums(rows).numpy(), results, n_prompt)


def _assemble(
    model: Model,
    recorder: AttentionRecorder,
    source: Encoding,
    target: Tokenizer,
    path: tuple[int, ...],
    log_probs: Tensor,
    n_alternatives: int,
    edit: HeadEdits | None,
) -> AttentionTrace:
    """Label the recorded weights: row 0 reads <sos>, row t the token predicted by row t - 1.

    Row 0 of a decoder-only model reads the first token of the source.

    Shapes:
        log_probs: [tgt, vocab] in nats.
    """
    config, end = model.config, (target.label(EOS),)
    read = (SOS if config.has_encoder else config.prompt(source.ids)[0], *path[:-1])
    top = log_probs.topk(min(n_alternatives, log_probs.size(-1)), dim=-1)
    chosen = log_probs.gather(1, torch.tensor(path)[:, None])[:, 0].exp()
    n_src = len(source.ids) + 1 if config.has_encoder else 0
    # Words of both sides are counted on their own, unless they are one text.
    n_own = len(source.ids) if not config.has_encoder and config.separator and read[: len(source)] == source.ids else 0
    n_words = max(source.words[:n_own], default=-1) + 1
    words = tuple(word if word < 0 else word + n_words for word in target.words_of((*read[n_own:], path[-1]))[:-1])
    return AttentionTrace(
        **maps_of({kind: recorder.weights(kind) for kind in config.kinds}, n_src, len(path), future_mask(len(path))),
        src_tokens=(*source.tokens, *end)[:n_src],
        read_tokens=(*source.tokens[:n_own], *(target.label(i) for i in read[n_own:])),
        predicted_tokens=tuple(target.label(i) for i in path),
        src_words=(*source.words, -1)[:n_src],
        tgt_words=(*source.words[:n_own], *words),
        probabilities=chosen.float().numpy(),
        top_ids=top.indices.numpy(),
        top_probabilities=top.values.exp().float().numpy(),
        top_tokens=tuple(tuple(target.label(i) for i in row) for row in top.indices.tolist()),
        edits=edit.describe() if edit is not None else (),
    )
