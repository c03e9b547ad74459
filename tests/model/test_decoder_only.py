"""A decoder alone: sources and targets as one sequence, prompts and recorded rows."""

from typing import Any

import numpy as np
import pytest
import torch

from model.config import EOS, SOS, DecodeConfig
from model.decoder_only import DecoderOnly
from model.decoding.decode import Decoding, decode_recorded
from model.text.tokenizer import CharacterTokenizer
from model.training.loss import TrainingLoss
from tests.tiny import sources, targets, tiny_model

pytestmark = pytest.mark.usefixtures("no_gradients")

LETTERS = CharacterTokenizer("abcdefghi", (1,) * 9)
PREFIX_MODEL: dict[str, Any] = {"architecture": "decoder", "positions": "learned", "norm_first": True}
CONTINUES = PREFIX_MODEL | {"separator": False}


def decoder(**changes: Any) -> DecoderOnly:
    model = tiny_model(**(PREFIX_MODEL | changes))
    assert isinstance(model, DecoderOnly)
    return model


def recorded(model: DecoderOnly, text: str, prefix: tuple[int, ...] = (), **search: Any) -> Decoding:
    config = DecodeConfig(**({"max_length": 5} | search))
    return decode_recorded(model, LETTERS.encode(text), LETTERS, config, prefix=prefix)


def test_words_of_source_and_target_are_apart_unless_they_are_one_text() -> None:
    source, given, config = LETTERS.encode("ab"), LETTERS.encode("cd").ids, DecodeConfig(max_length=3)
    apart = decode_recorded(decoder(), source, LETTERS, config, prefix=(5, EOS, SOS, *given, EOS))
    assert apart.trace.tgt_words == (0, 0, -1, -1, 1, 1)
    one = decode_recorded(decoder(separator=False), source, LETTERS, config, prefix=(5, *given, EOS))
    assert one.trace.tgt_words == (0, 0, 0, 0)


def test_a_first_token_is_set_once_and_a_decoder_that_sees_all_is_recorded_step_by_step() -> None:
    model = decoder(separator=False, first_token=9)
    whole = recorded(model, "abc")
    assert (whole.answer[0], whole.trace.probabilities[2]) == (9, 1)
    again = recorded(model, "abc", whole.path[:4])
    assert (again.path, again.trace.probabilities[2]) == (whole.path, 1)
    assert recorded(model, "abc", method="beam", beam_size=1).path == whole.path
    for method in ("greedy", "beam"):
        unmasked = recorded(decoder(causal=False), "cab", method=method, beam_size=2)
        assert unmasked.path[:4] == (4, 5, EOS, SOS)
        np.testing.assert_allclose(unmasked.trace.decoder.sum(-1), 1.0, atol=1e-5)
        assert (np.triu(unmasked.trace.decoder, 1) == 0).all()


def test_nothing_is_read_beyond_the_last_position() -> None:
    model = decoder(separator=False, max_positions=6, banned_tokens=(EOS,))
    assert len(recorded(model, "abcd", max_length=0).path) == 6
    full = recorded(model, "abcd", (5, 6, 7, 8, 9, 10, 11), max_length=0)
    assert full.path == (5, 6, 7, 8, 9, 10)
    with pytest.raises(ValueError, match="learned 6 positions"):
        model.decode(torch.full((1, 7), 5))


@pytest.mark.parametrize("fused", [True, False])
def test_training_sees_the_same_loss_as_the_model(fused: bool) -> None:
    model, src, tgt = decoder(), sources(5, 2, 1), targets(4, 4, 2)
    labels, rows = torch.tensor([5, 6, 7]), torch.tensor([0, 5, 9])
    loss, nll = TrainingLoss(model, smoothing=0.0, fused=fused)(src, tgt, labels, rows)
    log_probs = model(src, tgt).log_softmax(-1).flatten(0, 1)[rows]
    torch.testing.assert_close(nll, -log_probs.gather(1, labels[:, None]).sum().double(), rtol=0, atol=1e-4)
    assert torch.isfinite(loss)
