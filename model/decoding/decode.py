"""Decode a batch without recording, for scores, or one sentence with everything recorded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from model.architectures import Model
from model.config import EOS, PAD, SOS, AttentionKind, DecodeConfig
from model.decoding.beam import beam_search, hypotheses
from model.decoding.search import BeamStep, Hypothesis, follow, greedy, output_rules, sample
from model.decoding.temperature import log_sums
from model.edits import HeadEdits, edit_tap
from model.fast.decoding import FastDecoder, fast_decoder
from model.recording import AttentionRecorder
from model.tap import compose
from model.text.tokenizer import Encoding, Tokenizer
from model.trace import VISIBLE, AttentionTrace, future_mask
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
    limits = [config.length_limit(int(n), model.config.max_positions) for n in (src != PAD).sum(dim=1)]
    tap = edit_tap(edit, model.config)
    decoder = stepper(model)
    state = decoder.start(src, tap=tap)
    step = partial(decoder.step, tap=tap)
    rules = output_rules(model.config)
    if config.method == "beam":
        steps = list(beam_search(step, state, limit=limits, config=config, rules=rules))
        return hypotheses(steps, src.size(0), config.beam_size)
    if config.method == "sample":
        return [[result] for result in follow(sample(step, state, limit=limits, config=config, rules=rules))]
    return [[result] for result in follow(greedy(step, state, limit=limits, rules=rules))]


@dataclass(frozen=True, eq=False)
class Decoding:
    """One sentence decoded with everything recorded.

    `path` holds the predicted target ids (with <eos> if the target is finished); the first `n_forced` were given.
    After beam search, `beam` and `beam_hypotheses` hold its steps and results, and `path` is the best hypothesis.
    `log_sums` [tgt, temperature] turns the trace's probabilities into those at other temperatures (temperature.py).
    """

    path: tuple[int, ...]
    n_forced: int
    trace: AttentionTrace
    log_sums: NDArray[np.float32]
    beam: tuple[BeamStep, ...] = ()
    beam_hypotheses: tuple[Hypothesis, ...] = ()

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
    """
    src = torch.tensor([[*source.ids, EOS]])
    limit = max(config.length_limit(src.size(1), model.config.max_positions), len(prefix))
    limit = min(limit, model.config.max_positions)
    prefix = tuple(prefix[:limit])
    n_forced = len(prefix)
    rules, decoder = output_rules(model.config), stepper(model)
    beam: tuple[BeamStep, ...] = ()
    results: tuple[Hypothesis, ...] = ()
    if config.method == "beam" and prefix[-1:] != (EOS,):
        tap = edit_tap(edit, model.config)
        state = decoder.start(src, tap=tap)
        step = partial(decoder.step, tap=tap)
        beam = tuple(beam_search(step, state, limit=limit, config=config, prefix=prefix, rules=rules))
        results = tuple(hypotheses(beam, 1, config.beam_size)[0])
        prefix = results[0].path
        limit = max(1, len(prefix))  # a hypothesis that was cut off stays cut off

    recorder = AttentionRecorder()
    tap = compose(edit_tap(edit, model.config), recorder)
    step = partial(decoder.step, tap=tap)
    state = decoder.start(src, tap=tap)
    if config.method == "sample":
        steps = list(sample(step, state, limit=limit, config=config, prefix=prefix, rules=rules))
    else:
        steps = list(greedy(step, state, limit=limit, prefix=prefix, rules=rules))
    path = tuple(int(choice.tokens[0]) for choice in steps)
    log_probs = torch.stack([choice.log_probs[0] for choice in steps])  # [tgt, vocab]
    trace = _assemble(model, recorder, source, target, path, log_probs, n_alternatives, edit)
    return Decoding(path, n_forced, trace, log_sums(log_probs).numpy(), beam, results)


def _weights(
    recorder: AttentionRecorder, model: Model, kind: AttentionKind, shape: tuple[int, int]
) -> NDArray[np.float32]:
    """Weights [layer, head, query, key] of one kind; an empty array for a kind that the model does not have."""
    if not model.config.n_layers(kind):
        return np.zeros((0, 0, *shape), dtype=np.float32)
    return recorder.weights(kind)


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

    Shapes:
        log_probs: [tgt, vocab] in nats.
    """
    read = (SOS, *path[:-1])
    top = log_probs.topk(min(n_alternatives, log_probs.size(-1)), dim=-1)
    chosen = log_probs.gather(1, torch.tensor(path)[:, None])[:, 0].exp()
    n_src, n_tgt = len(source.ids) + 1, len(path)
    shapes: dict[AttentionKind, tuple[int, int]] = {
        "encoder": (n_src, n_src),
        "decoder": (n_tgt, n_tgt),
        "cross": (n_tgt, n_src),
    }
    return AttentionTrace(
        **{kind: _weights(recorder, model, kind, shape) for kind, shape in shapes.items()},
        encoder_mask=np.full((n_src, n_src), VISIBLE, dtype=np.uint8),
        decoder_mask=future_mask(len(path)),
        cross_mask=np.full((len(path), n_src), VISIBLE, dtype=np.uint8),
        src_tokens=(*source.tokens, target.label(EOS)),
        read_tokens=tuple(target.label(i) for i in read),
        predicted_tokens=tuple(target.label(i) for i in path),
        src_words=(*source.words, -1),
        tgt_words=(-1, *target.words_of(path)[:-1]),
        probabilities=chosen.float().numpy(),
        top_ids=top.indices.numpy(),
        top_probabilities=top.values.exp().float().numpy(),
        top_tokens=tuple(tuple(target.label(i) for i in row) for row in top.indices.tolist()),
        edits=edit.describe() if edit is not None else (),
    )
