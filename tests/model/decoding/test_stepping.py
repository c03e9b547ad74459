"""Steps of a Transformer: their masks, and what of a state is copied. What all models share: test_every_model."""

import pytest
import torch

from model.config import SOS
from tests.tiny import STEP_TOLERANCE, sources, targets, tiny_model

pytestmark = pytest.mark.usefixtures("no_gradients")


@pytest.mark.parametrize("positions", ["sinusoidal", "learned", "none"])
def test_a_step_without_the_causal_mask_reads_the_whole_prefix_again(positions: str) -> None:
    opened, src, tgt = tiny_model(positions=positions, causal=False), sources(7, 3), targets(6, 6)
    state = opened.start(src)
    for t, tokens in enumerate(tgt.T):
        logits, state = opened.step(tokens, state)
        torch.testing.assert_close(logits, opened(src, tgt[:, : t + 1])[:, t], rtol=0, atol=STEP_TOLERANCE)
        assert state.self_kv == ()


def test_masks_can_be_given() -> None:
    model, src, tgt = tiny_model(), sources(7, 3), targets(6, 4)
    open_src = torch.ones(2, 1, 1, 7, dtype=torch.bool)
    memory = model.encode(src, src_mask=open_src)
    assert not torch.allclose(memory[1], model.encode(src)[1]), "padding that may be attended to is attended to"
    logits = model.logits(model.decode(tgt, memory, src_mask=open_src))
    assert not torch.equal(logits[1], model(src, tgt)[1]), "padding that may be attended to is attended to"
    everything = torch.ones(2, 1, 6, 6, dtype=torch.bool)
    unmasked = model.decode(tgt, memory, src_mask=open_src, tgt_mask=everything)
    assert not torch.equal(model.logits(unmasked)[0, 0], logits[0, 0])


def test_selecting_rows_copies_keys_of_the_source_only_when_sources_change() -> None:
    model = tiny_model(seed=4)
    _, state = model.step(torch.tensor([SOS, SOS]), model.start(sources(5, 3)))
    beams = state.select(torch.tensor([0, 0, 1, 1]))
    assert beams.sources.tolist() == [0, 0, 1, 1]

    reordered = beams.select(torch.tensor([1, 0, 3, 3]))
    assert reordered.src_mask is beams.src_mask
    for layer, before in zip(reordered.cross_kv, beams.cross_kv, strict=True):
        assert all(tensor is old for tensor, old in zip(layer, before, strict=True))
    for (key, _), (old, _) in zip(reordered.self_kv, beams.self_kv, strict=True):
        assert torch.equal(key, old[[1, 0, 3, 3]])

    fewer = reordered.select(torch.tensor([2, 3]))
    assert fewer.sources.tolist() == [1, 1]
    assert torch.equal(fewer.cross_kv[0][0], beams.cross_kv[0][0][2:])
    assert fewer.src_mask is not None
    assert state.src_mask is not None
    assert torch.equal(fewer.src_mask, state.src_mask[[1, 1]])


def test_the_source_is_projected_once_and_a_step_beyond_the_last_position_is_refused() -> None:
    model, tgt = tiny_model(positions="learned", max_positions=4), targets(4)
    before = model.start(sources(3))
    for token in tgt.T:
        _, after = model.step(token, before)
        assert all(new is old for new, old in zip(after.cross_kv, before.cross_kv, strict=True))
        before = after
    with pytest.raises(ValueError, match="4 positions"):
        model.step(torch.tensor([5]), before)
