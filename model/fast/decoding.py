"""Decoding steps with fewer operations than the plain layers, for search and recording.

A step on one token consists of many small operations, whose number decides the time. Here the projections to queries,
keys and values are one matmul, 1/√d_head is part of the matmul of queries and keys, and keys and values are written
into memory that is reserved ahead. The reference is :meth:`model.transformer.Transformer.step`; logits and weights
agree with it to rounding (tests/model/fast/test_decoding.py).

Attention is explicit as everywhere: the weights that pass through the tap are the very tensor that multiplies the
values, and recording changes no bit. A tap sees the points of `STEP_POINTS`; for others, run the model itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from model.attention import MultiHeadAttention
from model.attention_variants import AttentionVariant, PositionBias
from model.decoder_only import DecoderOnly, DecoderOnlyLayer, extended
from model.fast.keys_values import KeysValues
from model.fast.layout import column_major
from model.layers import DecoderLayer
from model.positions import rotary_table
from model.state import ReadTokens
from model.tap import Tap, wanted_points
from model.transformer import Transformer
from model.variants import GatedFeedForward, WithoutResidual

STEP_POINTS = ("scores", "mask", "weights", "output")
"""The points of each attention block that a tap sees, besides `tgt.tokens`, `tgt.positions` and those of the source."""

RESERVED = 32  # positions for which memory is reserved at first
_SLICE = 512  # tokens of the vocabulary whose rows of the output matrix stay in the processor's cache


@dataclass(frozen=True)
class StepState(ReadTokens):
    """The decoder's state between two steps; a step makes a new state, and old ones stay valid.

    Shapes:
        cross: per layer, keys and values of the source, two [batch · head, src, d_head]; src_mask: [batch, 1, 1, src]
        bool, or None where no source is padded; tokens: [batch, read] ids read so far; sources: [batch], which of the
        sources given to `start` each hypothesis translates.
    """

    past: KeysValues
    cross: tuple[tuple[Tensor, Tensor], ...]
    src_mask: Tensor | None
    tokens: Tensor
    sources: Tensor
    n_heads: int

    def select(self, rows: Tensor) -> StepState:
        """Return the state of the given rows, repeated or dropped as listed: rows [new batch] indices."""
        rows = rows.to(self.tokens.device)
        if torch.equal(rows, torch.arange(self.batch_size, device=rows.device)):
            return self
        sources = self.sources.index_select(0, rows)
        cross, src_mask = self.cross, self.src_mask
        if not torch.equal(sources, self.sources):

            def pick(tensor: Tensor) -> Tensor:
                return tensor.unflatten(0, (-1, self.n_heads)).index_select(0, rows).flatten(0, 1)

            cross = tuple((pick(key), pick(value)) for key, value in cross)
            src_mask = None if src_mask is None else src_mask.index_select(0, rows)
        past = self.past.select(rows, self.n_heads, self.position)
        tokens = self.tokens.index_select(0, rows)
        return replace(self, past=past, cross=cross, src_mask=src_mask, tokens=tokens, sources=sources)


class _Taps(NamedTuple):
    """The tap at each point of a step; None at points that the tap does not use."""

    tokens: Tap | None = None
    scores: Tap | None = None
    mask: Tap | None = None
    weights: Tap | None = None
    output: Tap | None = None
    logits: Tap | None = None
    positions: Tap | None = None


_NO_TAPS = _Taps()


def _taps(tap: Tap | None) -> _Taps:
    if tap is None:
        return _NO_TAPS
    wanted = wanted_points(tap)
    return _Taps(*(tap if wanted is None or name in wanted else None for name in _Taps._fields))


Affine = tuple[Tensor, Tensor | None]
"""Weight [out, in] and bias [out] of a linear layer."""


class _Attention(NamedTuple):
    """One attention block; `project` gives queries, and in self-attention also keys and values.

    `gate` and `rotates` are as in :class:`AttentionVariant`; a position bias belongs to the step (:class:`_Place`).
    """

    name: str
    n_heads: int
    scale: float
    project: Affine
    out: Affine
    gate: Affine | None = None
    rotates: bool = False


class _Layer(NamedTuple):
    """One decoder layer; each norm is a function of [batch, d_model]. `gate` multiplies the hidden units, if given.

    A decoder-only model has no cross-attention.
    """

    self_attn: _Attention
    cross_attn: _Attention | None
    linear1: Affine
    gate: Affine | None
    linear2: Affine
    activation: Callable[[Tensor], Tensor]
    norms: tuple[Callable[[Tensor], Tensor], ...]
    norm_first: bool
    residual: bool


class _Place(NamedTuple):
    """The newest position (from 0), with its bias on the scores [batch · head, 1, key] and RoPE's rotation [pair].

    `mask` [batch, 1, 1, key] hides the padding of prompts, if there is any.
    """

    position: int
    bias: Tensor | None
    rotation: Tensor | None
    mask: Tensor | None


class FastDecoder:
    """Computes the decoding steps of a Transformer with a causal decoder; create it with :func:`fast_decoder`."""

    def __init__(self, model: Transformer) -> None:
        self._read, config = model.start, model.config
        self._alone = isinstance(model, DecoderOnly)
        self._layers = [_layer(layer) for layer in model.decoder.layers]
        self._n_heads, self._d_head = config.n_decoder_heads, config.d_head("decoder")
        self._bias = _position_bias(model)
        self._embedding = model.tgt_embedding.weight
        self._scheme, self._longest = config.positions, config.max_positions
        self._rope_base, self._halves = config.rope_base, config.rope_halves
        self._factor = model.embedding_factor
        self._positions = model.positions_tgt
        self._norm_embeddings = model.norm_tgt if config.norm_embeddings else None
        self._norm = _norm(model.decoder.norm)
        self._output = (model.output.weight, model.output.bias)
        self._zero = self._embedding.new_zeros(())

    def start(self, src: Tensor, *, tap: Tap | None = None) -> StepState:
        """Read the source, or a prompt; arguments as in :meth:`Transformer.start`."""
        state = self._read(src, tap=tap)
        batch, read = state.tokens.shape
        shape = (len(self._layers), 2, batch * self._n_heads, read + RESERVED, self._d_head)
        memory = self._embedding.new_empty(shape)
        for layer, keys_values in zip(memory, state.self_kv, strict=False):  # there are none before the first token
            for reserved, tensor in zip(layer, keys_values, strict=True):
                reserved[:, :read] = tensor.flatten(0, 1)
        cross = tuple(
            (key.flatten(0, 1).contiguous(), value.flatten(0, 1).contiguous()) for key, value in state.cross_kv
        )
        past, sources = KeysValues(memory, read), state.sources.to(memory.device)
        return StepState(past, cross, state.src_mask, state.tokens, sources, self._n_heads)

    def step(self, tokens: Tensor, state: StepState, *, tap: Tap | None = None) -> tuple[Tensor, StepState]:
        """Read one more token per hypothesis; the given state stays as it was.

        Shapes:
            tokens: [batch] ids.
            returns: logits [batch, tgt_vocab] of the token after it, and the new state.
        """
        tokens, taps = tokens.to(state.tokens.device), _taps(tap)
        position = state.position
        read = torch.cat((state.tokens, tokens[:, None]), dim=1)
        if taps.tokens is not None:
            read = taps.tokens("tgt.tokens", read)
            tokens = read[:, -1]
        past = state.past.for_position(position)
        x = F.embedding(tokens, self._embedding)  # [batch, d_model]
        at: int | Tensor = position
        length, mask = position + 1, None
        if self._alone and state.src_mask is not None:  # padding before prompts has no positions
            at, mask = position - (~state.src_mask).sum((1, 2, 3)), extended(state.src_mask, length)
            length = min(length, self._longest)
        rows = self._positions.table(length)
        x = x * self._factor if rows is None else torch.add(rows[at], x, alpha=self._factor)
        if taps.positions is not None:
            x = taps.positions("tgt.positions", x[:, None])[:, 0]
        if self._norm_embeddings is not None:
            x = self._norm_embeddings(x)
        place = self._place(position, x, mask)
        cross = state.cross or (None,) * len(self._layers)
        for layer, keys_values, source in zip(self._layers, past.layers, cross, strict=True):
            x = self._run(layer, x, keys_values, place, source, state.src_mask, taps)
        logits = F.linear(self._norm(x), *self._output)
        if taps.logits is not None:
            logits = taps.logits("logits", logits)
        return logits, replace(state, past=past, tokens=read)

    def _place(self, position: int, x: Tensor, mask: Tensor | None) -> _Place:
        """The place of the newest token, shared by all layers."""
        bias = rotation = None
        if self._bias is not None:  # [head, 1, key] -> [batch · head, 1, key]
            bias = self._bias(1, position + 1).to(x).repeat(len(x), 1, 1)
        elif self._scheme == "rope":
            dtype = torch.complex128 if x.dtype == torch.float64 else torch.complex64
            table = rotary_table(position + 1, self._d_head, dtype, x.device, self._rope_base, self._halves)
            rotation = table[position]
        return _Place(position, bias, rotation, mask)

    def _run(
        self,
        layer: _Layer,
        x: Tensor,
        keys_values: Tensor,
        place: _Place,
        source: tuple[Tensor, Tensor] | None,
        src_mask: Tensor | None,
        taps: _Taps,
    ) -> Tensor:
        """Run one layer on the newest position: x [batch, d_model], keys_values [2, batch · head, position, d_head]."""
        norm1, norm2, last_norm = layer.norms[0], layer.norms[1], layer.norms[-1]
        y = norm1(x) if layer.norm_first else x
        y = self._self_attention(layer.self_attn, y, keys_values, place, taps)
        x = x + y if layer.residual else y
        x = x if layer.norm_first else norm1(x)

        if layer.cross_attn is not None and source is not None:
            y = norm2(x) if layer.norm_first else x
            query = F.linear(y, *layer.cross_attn.project).view(-1, 1, self._d_head)  # [batch · head, 1, d_head]
            y = self._attend(layer.cross_attn, y, query, *source, None, src_mask, taps)
            x = x + y if layer.residual else y
            x = x if layer.norm_first else norm2(x)

        y = last_norm(x) if layer.norm_first else x
        hidden = layer.activation(F.linear(y, *layer.linear1))
        if layer.gate is not None:
            hidden = hidden * F.linear(y, *layer.gate)
        y = F.linear(hidden, *layer.linear2)
        x = x + y if layer.residual else y
        return x if layer.norm_first else last_norm(x)

    def _self_attention(self, block: _Attention, y: Tensor, keys_values: Tensor, place: _Place, taps: _Taps) -> Tensor:
        """Write the newest key and value, then attend to all so far."""
        batch, position = y.size(0), place.position
        projected = F.linear(y, *block.project)  # [batch, 3 · d_model]: query, key, value
        if batch > 1:
            projected = projected.view(batch, 3, -1).transpose(0, 1).contiguous()
        heads = projected.view(3, -1, 1, self._d_head)  # [3, batch · head, 1, d_head]
        if block.rotates and place.rotation is not None:  # queries and keys, in place
            if self._halves:
                first, second = heads[:2].chunk(2, dim=-1)
                turned = torch.complex(first, second) * place.rotation
                first.copy_(turned.real)
                second.copy_(turned.imag)
            else:
                torch.view_as_complex(projected.view(3, -1, 1, self._d_head // 2, 2)[:2]).mul_(place.rotation)
        keys_values.narrow(2, position, 1).copy_(heads[1:])
        key, value = keys_values.narrow(2, 0, position + 1).unbind(0)
        return self._attend(block, y, heads[0], key, value, place.bias, place.mask, taps)

    def _attend(
        self,
        block: _Attention,
        y: Tensor,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        bias: Tensor | None,
        mask: Tensor | None,
        taps: _Taps,
    ) -> Tensor:
        """softmax(scale · Q·Kᵀ + bias)·V, joined and projected: [batch, d_model]."""
        start, beta = (self._zero, 0.0) if bias is None else (bias, 1.0)
        # [batch · head, 1, d_head] · [batch · head, d_head, key] -> [batch · head, 1, key]
        scores = torch.baddbmm(start, query, key.transpose(1, 2), beta=beta, alpha=block.scale)
        if taps.scores is not None:
            scores = self._through(taps.scores, block, "scores", scores)
        if mask is not None:
            if taps.mask is not None:
                mask = taps.mask(f"{block.name}.mask", mask)
            hidden, by_head = ~mask, scores.view(-1, block.n_heads, 1, scores.size(-1))
            scores = by_head.masked_fill(hidden, torch.finfo(scores.dtype).min).view_as(scores)
        weights = scores.softmax(-1)
        if mask is not None:  # changes only rows without any visible key
            weights = weights.view_as(by_head).masked_fill(hidden, 0.0).view_as(scores)
        if taps.weights is not None:
            weights = self._through(taps.weights, block, "weights", weights)
        output = torch.bmm(weights, value)  # [batch · head, 1, d_head]
        if taps.output is not None:
            output = self._through(taps.output, block, "output", output)
        joined = output.view(len(y), -1)
        if block.gate is not None:
            joined = joined * torch.sigmoid(F.linear(y, *block.gate))
        return F.linear(joined, *block.out)

    @staticmethod
    def _through(tap: Tap, block: _Attention, name: str, tensor: Tensor) -> Tensor:
        """Pass [batch · head, 1, …] through the tap as [batch, head, 1, …]."""
        by_head = tensor.view(-1, block.n_heads, 1, tensor.size(-1))
        output = tap(f"{block.name}.{name}", by_head)
        return tensor if output is by_head else output.reshape(tensor.shape)


def sliced_logits(output: nn.Module, hidden: Tensor) -> Tensor:
    """The logits of several rows, [row, d_model] -> [row, tgt_vocab], by slices of the vocabulary.

    A product with 50,000 tokens at once takes a third longer: for several rows, the matrix is copied on the way.
    """
    weight, bias = _affine(output)
    slices = weight.split(_SLICE)
    biases = (None,) * len(slices) if bias is None else bias.split(_SLICE)
    return torch.cat([F.linear(hidden, *each) for each in zip(slices, biases, strict=True)], dim=-1)


def _affine(linear: nn.Module) -> Affine:
    assert isinstance(linear, nn.Linear)
    return linear.weight, linear.bias


def _of_every_head(block: MultiHeadAttention, linear: nn.Module) -> Affine:
    """The projection to all heads; keys and values of a group are repeated for each of its heads."""
    weight, bias = _affine(linear)
    times = block.n_heads * block.d_head // len(weight)
    if times == 1:
        return weight, bias

    def repeated(rows: Tensor) -> Tensor:
        return rows.unflatten(0, (-1, block.d_head)).repeat_interleave(times, dim=0).flatten(0, 1)

    return repeated(weight), None if bias is None else repeated(bias)


def _attention(block: MultiHeadAttention, *, with_keys: bool) -> _Attention:
    weight, bias = _affine(block.q_proj)
    if with_keys:
        projections = [_of_every_head(block, linear) for linear in (block.q_proj, block.k_proj, block.v_proj)]
        weight = column_major(torch.cat([weight for weight, _ in projections]))
        biases = [bias for _, bias in projections if bias is not None]
        bias = torch.cat(biases) if biases else None
    plain = _Attention(block.name, block.n_heads, block.d_head**-0.5, (weight, bias), _affine(block.out_proj))
    if not isinstance(block, AttentionVariant):
        return plain
    return plain._replace(
        scale=plain.scale if block.scale_scores else 1.0,
        gate=None if block.gate_proj is None else _affine(block.gate_proj),
        rotates=block.rotates,
    )


def _position_bias(model: Transformer) -> PositionBias | None:
    """The bias on the scores of the decoder's self-attention, which all layers share."""
    block = model.decoder.layers[0].self_attn
    return block.position_bias if isinstance(block, AttentionVariant) else None


def _norm(module: nn.Module) -> Callable[[Tensor], Tensor]:
    """A norm as a function; the usual layer norm without the overhead of calling its module."""
    if not isinstance(module, nn.LayerNorm):
        return module
    shape, weight, bias, eps = module.normalized_shape, module.weight, module.bias, module.eps
    return lambda x: torch.layer_norm(x, shape, weight, bias, eps)


def _layer(layer: nn.Module) -> _Layer:
    assert isinstance(layer, DecoderLayer | DecoderOnlyLayer)
    feed_forward = layer.feed_forward
    norms = [layer.norm1, layer.norm2, *([layer.norm3] if isinstance(layer, DecoderLayer) else [])]
    return _Layer(
        self_attn=_attention(layer.self_attn, with_keys=True),
        cross_attn=_attention(layer.cross_attn, with_keys=False) if isinstance(layer, DecoderLayer) else None,
        linear1=_affine(feed_forward.linear1),
        gate=_affine(feed_forward.gate_proj) if isinstance(feed_forward, GatedFeedForward) else None,
        linear2=_affine(feed_forward.linear2),
        activation=feed_forward.activation,
        norms=tuple(map(_norm, norms)),
        norm_first=layer.norm_first,
        residual=not isinstance(layer, WithoutResidual),
    )


# Each with the model's parameters, since collecting them from its modules takes longer than a step.
_decoders: WeakKeyDictionary[Transformer, tuple[FastDecoder, tuple[Tensor, ...]]] = WeakKeyDictionary()


def fast_decoder(model: Transformer) -> FastDecoder:
    """Return the fast twin of a model's decoder; it is cached if the model's weights are frozen.

    Raises:
        ValueError: the decoder is not causal, or the model is in training mode (dropout is not computed here).
    """
    if not model.config.causal:
        raise ValueError("a decoder that is not causal reads all tokens again at each step: use the model's own step.")
    if model.training:
        raise ValueError("this computes no dropout: call eval() first.")
    cached = _decoders.get(model)
    parameters = tuple(model.parameters()) if cached is None else cached[1]
    if any(parameter.requires_grad for parameter in parameters):
        return FastDecoder(model)  # not cached: it copies projections, and the weights may change
    if cached is None:
        cached = _decoders[model] = FastDecoder(model), parameters
    return cached[0]
