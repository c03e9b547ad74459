"""Heads that look alike, removed in pairs: planted twins are named, and random models name few by chance."""

from dataclasses import replace

import torch

from explorer.probing.alike_heads import AlikeHeads, measure_alike
from explorer.probing.measured import measure
from explorer.probing.sample import SampleChoice
from model.analysis.recorded_batches import untrained_like
from model.checkpoint import load_model
from tests.explorer.probed import quiet
from tests.paths import CHECKPOINTS

LINES = ("I see red books", "we buy big cars", "I buy red cars", "we see big books", "I see big red cars")


@torch.inference_mode()
def alike_heads(seed: int, *, planted: bool) -> AlikeHeads:
    """A random model on its own translations; planted, the last two heads of one layer do the same and much of it."""
    loaded = load_model(CHECKPOINTS / "adjective-swap")
    model = untrained_like(loaded.transformer, seed)
    model.tgt_embedding.weight.mul_(3)
    if planted:
        block = model.decoder.layers[-1].cross_attn
        width = block.q_proj.weight.size(0) // 4
        one, other = slice(2 * width, 3 * width), slice(3 * width, None)
        for projection in (block.q_proj, block.k_proj, block.v_proj):
            projection.weight[one] *= 3
            projection.weight[other], projection.bias[other] = projection.weight[one], projection.bias[one]
        # So large that the norm after it makes one of them, or both, nearly the same.
        block.out_proj.weight[:, one] *= 30
        block.out_proj.weight[:, other] = block.out_proj.weight[:, one]
    random = replace(loaded, model=model)
    measured = measure(SampleChoice("own", LINES, len(LINES)), random, quiet, again=True)
    return measure_alike(random, measured.sample, measured.probe, quiet)


def test_twins_are_named_and_heads_of_random_models_hardly() -> None:
    twins = alike_heads(0, planted=True)
    first = twins.pairs[0]
    assert (first.heads, round(first.bits, 6)) == ((("cross", 1, 2), ("cross", 1, 3)), 0)
    assert max(first.alone) < 0.2 * float(first.both.value)
    assert first.stands_out
    assert "One head stands in for the other in cross L2 H3 + L2 H4" in twins.summary()
    assert twins.rows()[0]["random pairs"] == 19
    others = [pair for seed in range(1, 3) for pair in alike_heads(seed, planted=False).pairs]
    assert sum(pair.stands_out for pair in others) <= 4, "of 18, 0.9 are expected; more than 4 in 2 of 1,000 cases"
    if not any(pair.stands_out for pair in others):
        assert "nothing shows that one head stands in" in AlikeHeads(tuple(others), 6).summary()
