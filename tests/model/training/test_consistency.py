"""SimCut and R-Drop: the loss recomputed by other means, and the tokens that are cut off. Resumed runs: test_resume."""

import itertools
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional as F

from model.architectures import Model
from model.config import PAD
from model.folder import WEIGHTS
from model.training.consistency import draw_cutoff, projected_consistency
from model.training.corpus import real_labels
from model.training.loss import TrainingLoss
from tests.model.engine import run, string_setup
from tests.tiny import sources, targets, tiny_lstm, tiny_model

BLANK = 12
"""A token whose embedding is zero in the models below, as if it had been cut off."""


def reference(p: Tensor, q: Tensor, labels: Tensor, smoothing: float, alpha: float, kind: str) -> Tensor:
    """The formulas of the two papers, from PyTorch's own losses; logits [token, vocab]."""
    log_p, log_q = p.log_softmax(-1), q.log_softmax(-1)

    def cross_entropy(logits: Tensor) -> Tensor:
        return F.cross_entropy(logits, labels, label_smoothing=smoothing, reduction="sum")

    def divergence(log_from: Tensor, log_to: Tensor) -> Tensor:
        return F.kl_div(log_to, log_from, log_target=True, reduction="sum")  # KL(from ‖ to)

    if kind == "simcut":
        return cross_entropy(p) + alpha * divergence(log_p, log_q)
    both = divergence(log_p, log_q) + divergence(log_q, log_p)
    return cross_entropy(p) + cross_entropy(q) + alpha * both / 2


@given(
    kind=st.sampled_from(["simcut", "rdrop"]),
    smoothing=st.sampled_from([0.0, 0.1]),
    alpha=st.sampled_from([0.0, 1.0, 3.0]),
    rows=st.sampled_from([1, 7, 64]),
    n=st.integers(1, 20),
    seed=st.integers(0, 9),
)
def test_the_loss_and_its_gradients_are_those_of_the_papers(
    kind: str, smoothing: float, alpha: float, rows: int, n: int, seed: int
) -> None:
    """For both views and the projection, whether all tokens fit into one slice or not."""
    generator = torch.Generator().manual_seed(seed)
    draw = partial(torch.randn, generator=generator, dtype=torch.float64, requires_grad=True)
    hidden, other, weight = draw(n, 5), draw(n, 5), draw(11, 5)
    labels = torch.randint(0, 11, (n,), generator=generator)
    ours, nll = projected_consistency(
        hidden, other, weight, labels, smoothing, alpha=alpha, symmetric=kind == "rdrop", slice_rows=rows
    )
    theirs = reference(hidden @ weight.T, other @ weight.T, labels, smoothing, alpha, kind)
    torch.testing.assert_close(ours, theirs)
    torch.testing.assert_close(nll, F.cross_entropy(hidden @ weight.T, labels, reduction="sum").detach())
    torch.testing.assert_close(*(torch.autograd.grad(3 * each, (hidden, other, weight)) for each in (ours, theirs)))


def test_opposite_certainties_have_a_finite_loss() -> None:
    hidden = torch.tensor([[300.0]], requires_grad=True)
    weight = torch.tensor([[1.0], [-1.0]])
    found, _ = projected_consistency(
        hidden, -hidden.detach(), weight, torch.tensor([0]), 0.0, alpha=3.0, symmetric=True, slice_rows=9
    )
    assert found.item() == pytest.approx(600 + 3 * 600)
    found.backward()
    assert torch.isfinite(hidden.grad).all()


def batch() -> tuple[Tensor, Tensor, Tensor]:
    """Sources and targets of two lengths, and the labels of the targets."""
    src, tgt = sources(5, 3), targets(6, 4)
    labels = torch.cat((tgt[:, 1:], tgt.new_full((2, 1), PAD)), dim=1)
    labels[0, 5] = labels[1, 3] = 2
    return src, tgt, labels


def with_blank(make: Callable[[], Model]) -> Model:
    """A float64 model in which the token BLANK has no embedding."""
    model = make().double()
    with torch.no_grad():
        model.src_embedding.weight[BLANK] = 0
        model.tgt_embedding.weight[BLANK] = 0
    return model


MODELS: dict[str, tuple[Callable[[], Model], bool]] = {
    "explicit": (partial(tiny_model, share_embeddings="none"), False),
    "fused": (partial(tiny_model, share_embeddings="none", norm_first=True, output_bias=True), True),
    "lstm": (partial(tiny_lstm, share_embeddings="none"), False),
}


@pytest.mark.parametrize("name", MODELS)
def test_simcut_hides_whole_tokens_of_source_and_target_from_the_second_view(name: str) -> None:
    """The second view is that of a sentence with blanks in it; masks are those of the full sentence."""
    make, fused = MODELS[name]
    model = with_blank(make)
    src, tgt, labels = batch()
    src_kept, tgt_kept = torch.ones_like(src, dtype=torch.bool), torch.ones_like(tgt, dtype=torch.bool)
    src_kept[0, 2] = src_kept[1, 0] = tgt_kept[0, 0] = tgt_kept[1, 3] = False
    training = TrainingLoss(model, smoothing=0.1, fused=fused, consistency="simcut", consistency_weight=3.0)
    ours, _ = training(src, tgt, *real_labels(labels), (src_kept, tgt_kept))
    ours.backward()
    gradients = {key: p.grad.clone() for key, p in model.named_parameters() if p.grad is not None}
    model.zero_grad()
    whole = model(src, tgt)
    cut = model(src.masked_fill(~src_kept, BLANK), tgt.masked_fill(~tgt_kept, BLANK))
    real = labels != PAD
    theirs = reference(whole[real], cut[real], labels[real], 0.1, 3.0, "simcut")
    theirs.backward()
    torch.testing.assert_close(ours, theirs)
    for key, parameter in model.named_parameters():
        if key in ("src_embedding.weight", "tgt_embedding.weight"):
            parameter.grad[BLANK] = gradients[key][BLANK] = 0  # read in the recomputation only
        torch.testing.assert_close(gradients[key], parameter.grad, msg=key)


def test_each_token_is_cut_off_with_the_given_probability() -> None:
    src, tgt = torch.ones(200, 50, dtype=torch.int64), torch.ones(200, 30, dtype=torch.int64)
    kept = draw_cutoff(src, tgt, 0.05, 1, 2, 3)
    assert [side.shape for side in kept] == [src.shape, tgt.shape]
    for side in kept:
        n = side.numel()
        assert abs((~side).sum().item() - 0.05 * n) < 5 * (n * 0.05 * 0.95) ** 0.5  # five standard deviations
    assert all(bool(side.all()) for side in draw_cutoff(src, tgt, 0.0, 1, 2, 3))


def test_what_is_cut_off_depends_on_seed_update_and_batch_alone() -> None:
    src, tgt = torch.ones(4, 50, dtype=torch.int64), torch.ones(4, 30, dtype=torch.int64)
    draws = {}
    for place in itertools.product((1, 2), (1, 12), (0, 1)):
        draws[place] = draw_cutoff(src, tgt, 0.3, *place)
    state = torch.get_rng_state()
    for place, (src_kept, tgt_kept) in draws.items():
        torch.rand(7)
        again = draw_cutoff(src, tgt, 0.3, *place)
        assert torch.equal(again[0], src_kept)
        assert torch.equal(again[1], tgt_kept)
    assert len({src_kept.numpy().tobytes() for src_kept, _ in draws.values()}) == len(draws)
    torch.set_rng_state(state)
    draw_cutoff(src, tgt, 0.3, 1, 1, 1)
    assert torch.equal(torch.get_rng_state(), state), "dropout draws what it would have drawn"


def test_each_setting_has_an_effect(tmp_path: Path) -> None:
    def weights(**changes: Any) -> bytes:
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        assert run(folder, partial(string_setup, snapshots=0, max_steps=4, **changes))
        return (folder / "run" / WEIGHTS).read_bytes()

    plain, simcut = weights(), {"consistency": "simcut"}
    others = [{"consistency": "rdrop"}, simcut, simcut | {"cutoff": 0.5}, simcut | {"consistency_weight": 1.0}]
    assert len({plain, *(weights(**changes) for changes in others)}) == 5
    assert weights(cutoff=0.5, consistency_weight=9.0) == plain, "without consistency, they mean nothing"
