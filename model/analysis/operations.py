"""One step of a translation taken apart: every operation with its numbers, and what can be read off them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from model.config import EOS, SOS, ModelConfig
from model.decoding.search import allowed_log_probs
from model.recorder import AttentionRecorder
from model.transformer import Transformer

Floats = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Operation:
    """One operation of a recorded run.

    `name` is the path of the module that computed it, or of the place within attention; `reads` names the operations
    whose results went in. `parameters` are the module's own; `shared_with` names the one whose matrix it borrows.
    """

    name: str
    value: Tensor
    reads: tuple[str, ...]
    parameters: int
    shared_with: str = ""

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the result; the first axis is the batch."""
        return tuple(self.value.shape)

    @property
    def short(self) -> str:
        """The last part of the name."""
        return self.name.rsplit(".", 1)[-1]

    @property
    def finite(self) -> Tensor:
        """The values but for those that a mask has pushed to the lowest number there is."""
        return self.value[self.value > torch.finfo(self.value.dtype).min]

    @property
    def mean(self) -> float:
        """Over all values that no mask closed."""
        return float(self.finite.mean())

    @property
    def spread(self) -> float:
        """Standard deviation of the same values."""
        return float(self.finite.std(unbiased=False))


@dataclass(frozen=True, eq=False)
class Walk:
    """A recorded run from text to prediction: its operations in the order of the computation, by name.

    `read_ids` are the target tokens read so far, <sos> first; the last one's row predicts. `whole` runs read all of
    them at once, others only the last, with the keys and values of the earlier ones kept.
    """

    operations: dict[str, Operation]
    src_ids: tuple[int, ...]
    read_ids: tuple[int, ...]
    whole: bool
    logits: Tensor

    def __getitem__(self, name: str) -> Operation:
        return self.operations[name]


@torch.inference_mode()
def walk(model: Transformer, source: Sequence[int], path: Sequence[int], step: int, *, whole: bool = False) -> Walk:
    """Run the model on source ids (without <eos>) up to `step` (from 1) of a target path, and keep every operation."""
    src, read = (*source, EOS), (SOS, *path[: step - 1])
    recorder, ids = AttentionRecorder(operations=True), torch.tensor([src])
    if whole:
        logits = model(ids, torch.tensor([read]), record=recorder)[:, -1]
    else:
        state = model.start(ids, record=recorder)
        for token in read[:-1]:
            _, state = model.step(torch.tensor([token]), state)
        logits, _ = model.step(torch.tensor([read[-1]]), state, record=recorder)
    kept = recorder.operations
    assert kept is not None
    owners: dict[int, str] = {}
    found = {}
    for name, value in kept.items():
        own, shared = _parameters(model, name, owners)
        reads = tuple(each for each in reads_of(name, model.config) if each in kept)
        found[name] = Operation(name, value, reads, own, shared)
    chances = allowed_log_probs(found["output"].value).exp()
    found["softmax"] = Operation("softmax", chances, ("output",), 0)
    return Walk(found, src, read, whole, logits[0])


def _parameters(model: nn.Module, name: str, owners: dict[int, str]) -> tuple[int, str]:
    """Parameters of the module called `name` that no earlier operation owns, and who owns the rest."""
    module = model
    for part in name.split("."):
        child = getattr(module, part, None)
        if not isinstance(child, nn.Module):
            return 0, ""
        module = child
    own, shared = 0, ""
    for parameter in module.parameters():
        owner = owners.setdefault(id(parameter), name)
        own += parameter.numel() if owner == name else 0
        shared = shared if owner == name else owner
    return own, shared


def reads_of(name: str, config: ModelConfig) -> tuple[str, ...]:
    """The operations that `name` reads, pre-norm and post-norm as they are wired."""
    if "." not in name or name.endswith((".scaled", "coder.norm")):
        last = {"encoder": config.n_encoder_layers, "decoder": config.n_decoder_layers}
        ends = {stack: layer_end(config, stack, n - 1) for stack, n in last.items()}
        return {
            "src_embedding.scaled": ("src_embedding",),
            "positions_src": ("src_embedding.scaled",),
            "tgt_embedding.scaled": ("tgt_embedding",),
            "positions_tgt": ("tgt_embedding.scaled",),
            "encoder.norm": (ends["encoder"],),
            "decoder.norm": (ends["decoder"],),
            "softmax": ("output",),
            "output": ("decoder.norm" if config.norm_first else ends["decoder"],),
        }.get(name, ())
    stack, _, layer, rest = name.split(".", 3)
    at, start = f"{stack}.layers.{layer}", layer_start(config, stack, int(layer))
    blocks = ["self_attn", "feed_forward"] if stack == "encoder" else ["self_attn", "cross_attn", "feed_forward"]
    block, _, operation = rest.rpartition(".")
    number = blocks.index(block) + 1 if block else int(rest[-1])
    before = start if number == 1 else _sublayer_end(config, at, number - 1, blocks)
    into = f"{at}.norm{number}" if config.norm_first else before
    out = f"{at}.{blocks[number - 1]}." + ("linear2" if blocks[number - 1] == "feed_forward" else "out_proj")
    if rest.startswith("residual"):
        return before, out
    if rest.startswith("norm"):
        return (before,) if config.norm_first else ((f"{at}.residual{number}",) if config.residual else (out,))
    memory = "encoder.norm" if config.norm_first else layer_end(config, "encoder", config.n_encoder_layers - 1)
    within = {
        "q_proj": (into,),
        "k_proj": (memory if block == "cross_attn" else into,),
        "v_proj": (memory if block == "cross_attn" else into,),
        "linear1": (into,),
    }
    inside = {
        "query": ("q_proj",),
        "key": ("k_proj",),
        "value": ("v_proj",),
        "scores": ("query", "key"),
        "masked": ("scores",),
        "weights": ("masked",),
        "output": ("weights", "value"),
        "joined": ("output",),
        "out_proj": ("joined",),
        "activation": ("linear1",),
        "linear2": ("activation",),
    }
    return within.get(operation) or tuple(f"{at}.{block}.{each}" for each in inside[operation])


def layer_start(config: ModelConfig, stack: str, layer: int) -> str:
    """The operation whose result goes into a layer (from 0)."""
    if layer == 0:
        return "positions_src" if stack == "encoder" else "positions_tgt"
    return layer_end(config, stack, layer - 1)


def layer_end(config: ModelConfig, stack: str, layer: int) -> str:
    """The operation whose result comes out of a layer (from 0)."""
    blocks = ["self_attn", "feed_forward"] if stack == "encoder" else ["self_attn", "cross_attn", "feed_forward"]
    return _sublayer_end(config, f"{stack}.layers.{layer}", len(blocks), blocks)


def _sublayer_end(config: ModelConfig, at: str, number: int, blocks: list[str]) -> str:
    if not config.norm_first:
        return f"{at}.norm{number}"
    if config.residual:
        return f"{at}.residual{number}"
    return f"{at}.{blocks[number - 1]}." + ("linear2" if blocks[number - 1] == "feed_forward" else "out_proj")


@torch.inference_mode()
def layer_by_layer(model: Transformer, found: Walk) -> Tensor:
    """The output projection applied after the embedding and after each decoder layer ("logit lens").

    A pre-norm model's last norm comes first, as it does at the end. The last entry is the real prediction.

    Shapes:
        returns: logits [layer + 1, row, tgt_vocab]; one row for a step, all rows for a whole run.
    """
    config = model.config
    names = ["positions_tgt", *(layer_end(config, "decoder", i) for i in range(config.n_decoder_layers))]
    return torch.stack([model.logits(model.decoder.norm(found[name].value))[0] for name in names])


@dataclass(frozen=True, eq=False)
class Projection:
    """Points in the two directions in which they differ most (principal components).

    Shapes:
        points: [point, 2]; kept: the share of their variance that two directions hold, 0 to 1.
    """

    points: Floats
    kept: float


def flatten(points: Tensor) -> Projection:
    """[point, dimension] -> two dimensions, around the mean of all points."""
    centred = (points - points.mean(dim=0)).double()
    left, sizes, _ = torch.linalg.svd(centred, full_matrices=False)
    total = float(sizes.square().sum())
    if len(sizes) < 2:
        left, sizes = nn.functional.pad(left, (0, 1)), nn.functional.pad(sizes, (0, 1))
    kept = float(sizes[:2].square().sum()) / total if total > 0 else 1.0
    flat: Floats = (left[:, :2] * sizes[:2]).float().numpy()
    return Projection(flat, kept)


def tempered(logits: Tensor, temperature: float) -> Tensor:
    """softmax(logits / T): below 1 sharpens, above 1 flattens; [.., vocab] -> the same shape.

    Raises:
        ValueError: T is not above 0.
    """
    if temperature <= 0:
        raise ValueError(f"temperature={temperature} must be above 0.")
    return (logits / temperature).softmax(dim=-1)


def smoothed(n_tokens: int, right: int, epsilon: float) -> Tensor:
    """What label smoothing asks for: 1 − ε on the right token and ε spread over all (Szegedy et al. 2016, §7).

    Shapes:
        returns: [vocab], sums to 1.
    """
    wanted = torch.full((n_tokens,), epsilon / n_tokens)
    wanted[right] += 1 - epsilon
    return wanted


def smoothed_loss(logits: Tensor, right: int, epsilon: float) -> float:
    """Cross-entropy (nats) of one prediction, logits [vocab], against :func:`smoothed`."""
    wanted = smoothed(logits.size(-1), right, epsilon)
    return float(-(wanted * logits.log_softmax(dim=-1)).sum())


def least_loss(n_tokens: int, epsilon: float) -> float:
    """The lowest loss that label smoothing allows, in nats: the entropy of what it asks for."""
    wanted = smoothed(n_tokens, 0, epsilon)
    positive = wanted[wanted > 0]
    return max(0.0, float(-(positive * positive.log()).sum())) if not math.isclose(epsilon, 0.0) else 0.0
