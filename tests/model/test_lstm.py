"""The LSTM has the same interface as the Transformer and follows the same rules."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.nn import functional as F

from model.config import PAD
from model.edits import EditError, HeadEdit, HeadEdits
from model.lstm import LSTM
from model.masks import padding_mask
from model.recording import AttentionRecorder
from model.tap import compose
from tests.tiny import VOCAB, padded, sources, targets, tiny_config

CLOSE = 1e-5


def tiny_lstm(*, seed: int = 0, **changes: Any) -> LSTM:
    model = LSTM(tiny_config(architecture="lstm", **changes))
    model.reset_parameters(torch.Generator().manual_seed(seed))
    return model.eval()


@torch.inference_mode()
def test_step_equals_full_and_old_states_stay_valid() -> None:
    model = tiny_lstm()
    src, tgt = sources(7, 3, 1), targets(6, 4, 6)
    full = model(src, tgt)
    states = [model.start(src)]
    for t, tokens in enumerate(tgt.T):
        logits, state = model.step(tokens, states[-1])
        real = tokens != PAD
        torch.testing.assert_close(logits[real], full[real, t], rtol=0, atol=CLOSE)
        states.append(state)
    assert [state.position for state in states] == list(range(7))
    again, _ = model.step(tgt[:, 2], states[2])
    torch.testing.assert_close(again, full[:, 2], rtol=0, atol=CLOSE)


@torch.inference_mode()
def test_padding_changes_nothing() -> None:
    model = tiny_lstm()
    src, tgt = sources(4, 9), targets(5, 5)
    together = model(src, tgt)
    alone = model(src[:1, :4], tgt[:1])
    torch.testing.assert_close(together[:1], alone, rtol=0, atol=CLOSE)


@torch.inference_mode()
def test_a_row_never_sees_the_future() -> None:
    model = tiny_lstm()
    src, tgt = sources(5), targets(6)
    changed = tgt.clone()
    changed[:, 3:] = 4 + (changed[:, 3:] - 3) % (VOCAB - 4)
    torch.testing.assert_close(model(src, tgt)[:, :3], model(src, changed)[:, :3], rtol=0, atol=0)


@torch.inference_mode()
def test_states_are_selected_like_beams() -> None:
    model = tiny_lstm()
    src = sources(6, 2, 4)
    _, state = model.step(torch.tensor([4, 5, 6]), model.start(src))
    rows = torch.tensor([2, 0, 0])
    tokens = torch.tensor([7, 8, 9])
    picked, after = model.step(tokens, state.select(rows))
    for i, row in enumerate(rows):
        alone, _ = model.step(tokens[i : i + 1], state.select(row[None]))
        torch.testing.assert_close(picked[i : i + 1], alone, rtol=0, atol=CLOSE)
    assert (after.batch_size, after.position) == (3, 2)


@torch.inference_mode()
def test_recording_is_an_argument_and_changes_no_bit() -> None:
    model = tiny_lstm()
    src, tgt = sources(5, 3), targets(4, 4)
    recorder = AttentionRecorder(details=[("cross", 0, 0)])
    assert torch.equal(model(src, tgt, tap=recorder), model(src, tgt))
    weights = recorder.weights("cross", row=1)
    assert weights.shape == (1, 1, 4, 5)
    assert weights.sum(-1) == pytest.approx(1.0)
    assert not weights[..., 3:].any()  # padding
    with pytest.raises(ValueError, match="no encoder attention was recorded"):
        recorder.weights("encoder")


@torch.inference_mode()
def test_what_is_shown_is_what_was_multiplied() -> None:
    """tanh(W·[weights · memory; state]) from the recorded weights gives the logits back."""
    model = tiny_lstm()
    src, tgt = sources(5), targets(4)
    recorder = AttentionRecorder()
    logits = model(src, tgt, tap=recorder)
    memory = model.encode(src)
    states, _ = model.decoder(model.tgt_embedding(tgt), model._initial(memory))
    context = torch.from_numpy(recorder.weights("cross"))[0] @ memory
    by_hand = model.output(torch.tanh(model.combine(torch.cat((context, states), dim=-1))))
    torch.testing.assert_close(by_hand, logits, rtol=0, atol=CLOSE)


@torch.inference_mode()
def test_its_one_head_can_be_edited_and_no_other() -> None:
    model = tiny_lstm()
    src, tgt = sources(5), targets(4)
    uniform = HeadEdits((HeadEdit(kind="cross", layer=0, head=0, op="uniform"),))
    recorder = AttentionRecorder()
    edited = model(src, tgt, tap=compose(uniform.tap(model.config), recorder))
    assert recorder.weights("cross") == pytest.approx(1 / 5)
    assert not torch.equal(edited, model(src, tgt))
    with pytest.raises(EditError, match="0 layers of encoder attention"):
        HeadEdits((HeadEdit(kind="encoder", layer=0, head=0, op="zero"),)).tap(model.config)


def test_it_learns_and_shares_embeddings() -> None:
    model = tiny_lstm(share_embeddings="all", n_encoder_layers=1, n_decoder_layers=2).train()
    assert model.tied_names() == {
        "output.weight": "tgt_embedding.weight",
        "src_embedding.weight": "tgt_embedding.weight",
    }
    src = padded((5, 4, 3, 5))
    labels = src.flip(1)
    tgt = torch.cat((torch.ones(4, 1, dtype=torch.int64), labels[:, :-1]), dim=1)
    losses = []
    for _ in range(160):  # gradient descent by hand: an optimizer would import torch.compile, which takes seconds
        loss = F.cross_entropy(model(src, tgt).flatten(0, 1), labels.flatten(), ignore_index=PAD)
        gradients = torch.autograd.grad(loss, list(model.parameters()))
        with torch.no_grad():
            for parameter, gradient in zip(model.parameters(), gradients, strict=True):
                parameter -= gradient
        losses.append(loss.item())
    assert losses[-1] < 0.1 < 2 < losses[0]
    hidden = model.decode(tgt, model.encode(src), src_mask=padding_mask(src))
    assert torch.equal(model.logits(hidden), model.output(hidden))
