"""What the LSTM computes and learns; the rules that it shares with the Transformer: test_every_model."""

import pytest
import torch
from torch.nn import functional as F

from model.config import PAD
from model.masks import padding_mask
from model.recording import AttentionRecorder
from tests.tiny import padded, sources, targets, tiny_lstm

CLOSE = 1e-5


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
    assert recorder.weights("cross").sum(-1) == pytest.approx(1.0)
    with pytest.raises(ValueError, match="no encoder attention was recorded"):
        recorder.weights("encoder")
    by_hand = model.output(torch.tanh(model.combine(torch.cat((context, states), dim=-1))))
    torch.testing.assert_close(by_hand, logits, rtol=0, atol=CLOSE)


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
                parameter.sub_(gradient)
        losses.append(loss.item())
    assert losses[-1] < 0.1 < 2 < losses[0]
    hidden = model.decode(tgt, model.encode(src), src_mask=padding_mask(src))
    assert torch.equal(model.logits(hidden), model.output(hidden))
