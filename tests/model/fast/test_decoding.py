"""The fast steps are the model's own steps, to rounding: logits, weights, edits, beams, and states that stay valid."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import torch
from torch import Tensor

from model.edits import HeadEdit, HeadEdits
from model.fast.decoding import RESERVED, fast_decoder
from model.points import attention_scope
from model.recording import AttentionRecorder, PointRecorder
from model.tap import Tap, compose
from tests.tiny import EVERY_MODEL, kinds_of, padded, sources, targets, tiny_model

TOLERANCE: dict[str, float] = {"rtol": 0.0, "atol": 1e-5}
SCHEMES = [each for each in EVERY_MODEL if each.get("causal", True) and each.get("architecture") != "lstm"]
BATCHES = {"one": sources(5), "equal": sources(6, 6, 6), "padded": padded((6, 2, 4))}


def stepped(step: Any, state: Any, tokens: Tensor, tap: Tap | None = None) -> tuple[Tensor, Any]:
    """Logits [batch, tgt, vocab] of reading all tokens, [batch, tgt]."""
    rows = []
    for column in tokens.T:
        logits, state = step(column, state, tap=tap)
        rows.append(logits)
    return torch.stack(rows, dim=1), state


@pytest.mark.parametrize("scheme", SCHEMES, ids=str)
@pytest.mark.parametrize("batch", BATCHES)
@torch.inference_mode()
def test_logits_and_weights_are_the_models(scheme: dict[str, Any], batch: str) -> None:
    model, src = tiny_model(**scheme), BATCHES[batch]
    fast, tgt = fast_decoder(model), targets(*[5] * len(src))
    ours, theirs = AttentionRecorder(), AttentionRecorder()
    found, _ = stepped(fast.step, fast.start(src, tap=ours), tgt, ours)
    expected, _ = stepped(model.step, model.start(src, tap=theirs), tgt, theirs)
    torch.testing.assert_close(found, expected, **TOLERANCE)
    for kind in kinds_of(model):
        for row in range(len(src)):
            torch.testing.assert_close(
                torch.from_numpy(ours.weights(kind, row)), torch.from_numpy(theirs.weights(kind, row)), **TOLERANCE
            )
    silent, _ = stepped(fast.step, fast.start(src), tgt)
    everything = PointRecorder()
    heard, _ = stepped(fast.step, fast.start(src, tap=everything), tgt, everything)
    assert torch.equal(silent, found), "recording weights changed a bit"
    assert torch.equal(silent, heard), "recording everything changed a bit"

    def first_key(point: str, tensor: Tensor) -> Tensor:
        """Other weights in place of those recorded change the logits: they are no copy beside the computation."""
        chosen = torch.zeros_like(tensor).index_fill_(-1, torch.tensor(0), 1.0) if "weights" in point else tensor
        return chosen if point == attention_scope(kinds_of(model)[-1], 2) + ".weights" else tensor

    changed, _ = stepped(fast.step, fast.start(src), tgt, first_key)
    assert not torch.equal(silent, changed)
    torch.testing.assert_close(changed, stepped(model.step, model.start(src), tgt, first_key)[0], **TOLERANCE)


EDITS = {
    "zero": HeadEdit("cross", 1, 2, "zero"),
    "uniform": HeadEdit("decoder", 0, 1, "uniform"),
    "encoder": HeadEdit("encoder", 1, 1, "uniform"),
    "row": HeadEdit("cross", 0, 0, "row", row=1, values=torch.tensor([0.0, 1.0, 1.0, 0, 0, 0]).numpy()),
    "mean": HeadEdit("decoder", 2, 3, "mean", values=torch.ones(4).numpy()),
}


@pytest.mark.parametrize("name", EDITS)
@pytest.mark.parametrize("batch", ["one", "padded"])
@torch.inference_mode()
def test_edits_are_those_of_the_model(name: str, batch: str) -> None:
    model, edits, src = tiny_model(), HeadEdits((EDITS[name],)), BATCHES[batch]
    if batch == "padded" and name == "row":
        pytest.skip("the shortest source has no weight left on a key that it may see")
    fast, tgt = fast_decoder(model), targets(*[4] * len(src))
    ours, theirs = (compose(edits.tap(model.config), AttentionRecorder()) for _ in range(2))
    found, _ = stepped(fast.step, fast.start(src, tap=ours), tgt, ours)
    expected, _ = stepped(model.step, model.start(src, tap=theirs), tgt, theirs)
    torch.testing.assert_close(found, expected, **TOLERANCE)
    assert not torch.allclose(found, stepped(fast.step, fast.start(src), tgt)[0], atol=1e-4)


@pytest.mark.parametrize("rows", [[0, 0, 1], [2, 1, 0], [1], [0, 1, 2], [2, 2, 2, 0]], ids=str)
@pytest.mark.parametrize("scheme", [{}, {"positions": "rope"}, {"positions": "alibi"}], ids=str)
@torch.inference_mode()
def test_rows_are_selected_as_in_the_model(rows: list[int], scheme: dict[str, Any]) -> None:
    model, src, chosen = tiny_model(**scheme), padded((6, 2, 4)), torch.tensor(rows)
    fast, tgt = fast_decoder(model), targets(5, 5, 5)

    def read(stepper: Any) -> Tensor:
        _, state = stepped(stepper.step, stepper.start(src), tgt[:, :2])
        logits, _ = stepped(stepper.step, state.select(chosen), tgt[chosen, 2:])
        return logits

    torch.testing.assert_close(read(fast), read(model), **TOLERANCE)


@torch.inference_mode()
def test_old_states_stay_valid_also_beyond_the_reserved_memory() -> None:
    model = tiny_model()
    fast, src = fast_decoder(model), sources(5, 5)
    tgt = targets(RESERVED + 3, RESERVED + 3)
    states, logits = [fast.start(src)], []
    for column in tgt.T:
        found, state = fast.step(column, states[-1])
        states.append(state)
        logits.append(found)
    for index in reversed(range(len(logits))):  # each step again, the last one first
        again, forked = fast.step(tgt[:, index], states[index])
        assert torch.equal(again, logits[index]), index
        other, _ = fast.step(torch.tensor([4, 5]), forked)
        expected, _ = stepped(
            model.step, model.start(src), torch.cat((tgt[:, : index + 1], torch.tensor([[4], [5]])), 1)
        )
        torch.testing.assert_close(other, expected[:, -1], **TOLERANCE)


@torch.inference_mode()
def test_one_state_continued_by_many_threads_gives_each_its_own() -> None:
    fast = fast_decoder(tiny_model())
    _, state = fast.step(torch.tensor([1]), fast.start(sources(5)))
    expected = [stepped(fast.step, state, torch.tensor([[4 + n, 6, 7]]))[0] for n in range(6)]

    @torch.inference_mode()
    def go_on(n: int) -> Tensor:
        return stepped(fast.step, state, torch.tensor([[4 + n, 6, 7]]))[0]

    with ThreadPoolExecutor(6) as pool:
        assert all(map(torch.equal, pool.map(go_on, range(6)), expected))


def test_weights_that_are_trained_are_read_anew() -> None:
    """Not even an optimiser's step that leaves no trace in a tensor's version may be missed."""
    model, src = tiny_model(), sources(4)
    fast_decoder(model)
    with torch.no_grad():
        model.decoder.layers[0].self_attn.q_proj.weight.data.add_(0.5)
    with torch.inference_mode():
        fast = fast_decoder(model)
        found, _ = fast.step(torch.tensor([1]), fast.start(src))
        expected, _ = model.step(torch.tensor([1]), model.start(src))
    torch.testing.assert_close(found, expected, **TOLERANCE)


def test_a_frozen_model_has_one_twin_and_what_it_cannot_compute_is_refused() -> None:
    model = tiny_model().requires_grad_(False)
    assert fast_decoder(model) is fast_decoder(model)
    with pytest.raises(ValueError, match="not causal"):
        fast_decoder(tiny_model(causal=False))
    with pytest.raises(ValueError, match="dropout"):
        fast_decoder(tiny_model().train())
