"""Decoding token by token must equal reading the whole target at once."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
import torch
from torch import Tensor

from model.config import PAD, SOS
from model.recording import AttentionRecorder
from model.state import DecodeState
from model.transformer import Transformer
from tests.tiny import STEP_TOLERANCE, sources, targets, tiny_model

SCHEMES = [
    {"positions": positions, "norm_first": norm_first, "causal": causal}
    for positions, norm_first, causal in product(("sinusoidal", "learned", "none"), (False, True), (True, False))
]


def name_of(scheme: dict[str, Any]) -> str:
    return (
        f"{scheme['positions']}-{'pre' if scheme['norm_first'] else 'post'}-{'causal' if scheme['causal'] else 'open'}"
    )


@pytest.fixture(autouse=True)
def _no_gradients():
    with torch.inference_mode():
        yield


def run_steps(
    model: Transformer, src: Tensor, tgt: Tensor, recorder: AttentionRecorder | None = None
) -> tuple[list[Tensor], list[DecodeState]]:
    """The logits after each step, and all states, including the one before the first token."""
    states = [model.start(src, tap=recorder)]
    all_logits = []
    for tokens in tgt.T:
        logits, state = model.step(tokens, states[-1], tap=recorder)
        all_logits.append(logits)
        states.append(state)
    return all_logits, states


@pytest.mark.parametrize("scheme", SCHEMES, ids=name_of)
def test_step_equals_full(scheme: dict[str, Any]) -> None:
    model = tiny_model(**scheme)
    src, tgt = sources(7, 3, 1), targets(6, 4, 6)
    step_logits, states = run_steps(model, src, tgt)
    for t, logits in enumerate(step_logits):
        # Without the causal mask, row t depends on later tokens: a step equals the full pass over the tokens so far.
        full = model(src, tgt if scheme["causal"] else tgt[:, : t + 1])[:, t]
        real = tgt[:, t] != PAD
        torch.testing.assert_close(logits[real], full[real], rtol=0, atol=STEP_TOLERANCE)
    assert [state.position for state in states] == list(range(7))
    assert torch.equal(states[-1].tokens, tgt)


@pytest.mark.parametrize("scheme", SCHEMES, ids=name_of)
def test_step_weights_equal_full_weights(scheme: dict[str, Any]) -> None:
    model = tiny_model(**scheme)
    src, tgt = sources(7), targets(6)
    whole, stepped = AttentionRecorder(), AttentionRecorder()
    model(src, tgt, tap=whole)
    run_steps(model, src, tgt, stepped)
    for kind in ("encoder", "decoder", "cross"):
        if not scheme["causal"] and kind != "encoder":
            newest = [-1]  # earlier rows were computed before the later tokens were known
            torch.testing.assert_close(
                torch.from_numpy(stepped.weights(kind)[:, :, newest]),
                torch.from_numpy(whole.weights(kind)[:, :, newest]),
                rtol=0,
                atol=STEP_TOLERANCE,
            )
            continue
        assert stepped.weights(kind).shape == whole.weights(kind).shape
        torch.testing.assert_close(
            torch.from_numpy(stepped.weights(kind)), torch.from_numpy(whole.weights(kind)), rtol=0, atol=STEP_TOLERANCE
        )


def test_step_equals_full_over_a_hundred_tokens() -> None:
    model = tiny_model(max_positions=100)
    src, tgt = sources(100), targets(100)
    step_logits, _ = run_steps(model, src, tgt)
    torch.testing.assert_close(torch.stack(step_logits, dim=1), model(src, tgt), rtol=0, atol=STEP_TOLERANCE)


@pytest.mark.parametrize("details", [(), (("encoder", 1, 1), ("decoder", 0, 0), ("cross", 2, 3))])
def test_recording_a_step_changes_no_bit(details: tuple) -> None:
    model = tiny_model()
    src, tgt = sources(7, 3), targets(6, 6)
    plain, _ = run_steps(model, src, tgt)
    recorded, _ = run_steps(model, src, tgt, AttentionRecorder(details=details))
    assert all(torch.equal(one, two) for one, two in zip(plain, recorded, strict=True))


@pytest.mark.parametrize("scheme", SCHEMES, ids=name_of)
def test_old_states_stay_valid_for_branching(scheme: dict[str, Any]) -> None:
    model = tiny_model(**scheme)
    src, tgt = sources(7, 3), targets(6, 6)
    first, states = run_steps(model, src, tgt)
    other = tgt.clone()
    other[:, 3:] = tgt[:, 3:].flip(0) % 7 + 4
    branch = states[3]
    for t in range(3, 6):  # return to the state before token 3, and continue with other tokens
        logits, branch = model.step(other[:, t], branch)
        torch.testing.assert_close(logits, model(src, other[:, : t + 1])[:, t], rtol=0, atol=STEP_TOLERANCE)
    again, _ = model.step(tgt[:, 3], states[3])
    assert torch.equal(again, first[3]), "the branch must have left the old state alone"


def test_a_step_does_not_modify_its_inputs() -> None:
    model = tiny_model()
    _, states = run_steps(model, sources(5), targets(4))
    kept = [tensor.clone() for pair in states[3].self_kv + states[3].cross_kv for tensor in pair]
    model.step(torch.tensor([6]), states[3])
    now = [tensor for pair in states[3].self_kv + states[3].cross_kv for tensor in pair]
    assert all(torch.equal(before, after) for before, after in zip(kept, now, strict=True))
    assert states[3].position == 3


@pytest.mark.parametrize("scheme", SCHEMES, ids=name_of)
def test_select_repeats_drops_and_reorders_hypotheses(scheme: dict[str, Any]) -> None:
    model = tiny_model(**scheme)
    src, tgt = sources(7, 3, 5), targets(4, 4, 4)
    _, states = run_steps(model, src, tgt)
    rows = torch.tensor([2, 0, 0, 1, 2])
    chosen = states[-1].select(rows)
    tokens = torch.tensor([5, 6, 7, 8, 9])
    logits, _ = model.step(tokens, chosen)
    expected = model(src[rows], torch.cat((tgt[rows], tokens[:, None]), dim=1))[:, -1]
    torch.testing.assert_close(logits, expected, rtol=0, atol=STEP_TOLERANCE)
    assert torch.equal(chosen.tokens, tgt[rows])
    assert states[-1].tokens.shape == (3, 4)
    only = states[-1].select(torch.tensor([1]))
    torch.testing.assert_close(
        model.step(torch.tensor([5]), only)[0],
        model(src[1:2, :3], torch.tensor([[*tgt[1].tolist(), 5]]))[:, -1],
        rtol=0,
        atol=STEP_TOLERANCE,
    )


@pytest.mark.parametrize(
    "stacks",
    [
        {"n_encoder_layers": 1, "n_decoder_layers": 4, "n_encoder_heads": 8, "n_decoder_heads": 1},
        {"n_encoder_layers": 4, "n_decoder_layers": 1, "n_encoder_heads": 1, "n_decoder_heads": 8},
    ],
)
def test_stacks_of_different_depth_and_heads(stacks: dict[str, int]) -> None:
    model = tiny_model(**stacks)
    src, tgt = sources(5, 2), targets(4, 4)
    logits, states = run_steps(model, src, tgt)
    torch.testing.assert_close(torch.stack(logits, dim=1), model(src, tgt), rtol=0, atol=STEP_TOLERANCE)
    assert len(states[-1].self_kv) == len(states[-1].cross_kv) == stacks["n_decoder_layers"]
    assert states[-1].self_kv[0][0].shape == (2, stacks["n_decoder_heads"], 4, 16 // stacks["n_decoder_heads"])


def test_source_keys_are_projected_once() -> None:
    model = tiny_model()
    _, states = run_steps(model, sources(5), targets(4))
    for before, after in zip(states[0].cross_kv, states[-1].cross_kv, strict=True):
        assert after[0] is before[0]
        assert after[1] is before[1]


def test_stepping_past_the_learned_positions_raises_a_clear_error() -> None:
    model = tiny_model(positions="learned", max_positions=4)
    _, states = run_steps(model, sources(3), targets(4))
    with pytest.raises(ValueError, match="4 positions"):
        model.step(torch.tensor([5]), states[-1])


@pytest.mark.parametrize("positions", ["sinusoidal", "learned", "none"])
def test_an_open_step_of_a_causal_model_reads_the_whole_prefix_again(positions: str) -> None:
    model, src, tgt = tiny_model(positions=positions), sources(7, 3), targets(6, 6)
    state, opened = model.start(src, causal=False), tiny_model(positions=positions, causal=False)
    for t, tokens in enumerate(tgt.T):
        logits, state = model.step(tokens, state)
        torch.testing.assert_close(logits, opened(src, tgt[:, : t + 1])[:, t], rtol=0, atol=STEP_TOLERANCE)
        assert state.self_kv == ()
    restored, steps = opened.start(src, causal=True), model.start(src)
    for tokens in tgt.T:
        (logits, restored), (same, steps) = opened.step(tokens, restored), model.step(tokens, steps)
        assert torch.equal(logits, same)


def test_masks_can_be_given() -> None:
    model, src, tgt = tiny_model(), sources(7, 3), targets(6, 4)
    open_src = torch.ones(2, 1, 1, 7, dtype=torch.bool)
    memory = model.encode(src, src_mask=open_src)
    logits = model.logits(model.decode(tgt, memory, src_mask=open_src))
    assert not torch.equal(logits[1], model(src, tgt)[1]), "padding that may be attended to is attended to"
    state = model.start(src, src_mask=open_src)
    for tokens in tgt[:, :4].T:
        stepped, state = model.step(tokens, state)
    torch.testing.assert_close(stepped, logits[:, 3], rtol=0, atol=STEP_TOLERANCE)
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
