"""A decoder alone: sources and targets as one sequence, prompts and recorded rows."""

from typing import Any

import numpy as np
import pytest
import torch

from model.config import EOS, PAD, SOS, DecodeConfig
from model.decoder_only import DecoderOnly
from model.decoding.decode import Decoding, decode_recorded
from model.text.tokenizer import CharacterTokenizer
from model.trace import kinds_of
from model.training.loss import TrainingLoss
from tests.tiny import sources, targets, tiny_model

pytestmark = pytest.mark.usefixtures("no_gradients")

LETTERS = CharacterTokenizer("abcdefghi", (1,) * 9)
PREFIX_MODEL: dict[str, Any] = {"architecture": "decoder", "positions": "learned", "norm_first": True}
CONTINUES = PREFIX_MODEL | {"separator": False}
CLOSE = {"rtol": 0, "atol": 1e-5}


def decoder(**changes: Any) -> DecoderOnly:
    model = tiny_model(**(PREFIX_MODEL | changes))
    assert isinstance(model, DecoderOnly)
    return model


def at_once(model: DecoderOnly, ids: torch.Tensor) -> torch.Tensor:
    """The decoder's output for a whole sequence."""
    return model.decode(ids, model.encode(ids), src_mask=None)


def recorded(model: DecoderOnly, text: str, prefix: tuple[int, ...] = (), **search: Any) -> Decoding:
    config = DecodeConfig(**({"max_length": 5} | search))
    return decode_recorded(model, LETTERS.encode(text), LETTERS, config, prefix=prefix)


def test_a_prefix_model_reads_source_separator_and_target_as_one_sequence() -> None:
    model, src, tgt = decoder(), sources(4, 2), targets(3, 3)
    joined = model.joined(src, tgt)
    assert joined.tolist() == [[*src[0], *tgt[0]], [PAD, PAD, *src[1, :2], *tgt[1]]]
    alone = at_once(model, torch.cat((src[1:, :2], tgt[1:]), dim=1))
    torch.testing.assert_close(model(src, tgt)[1], model.logits(alone)[0, -3:], **CLOSE)
    assert model.config.prompt((7, 8)) == (7, 8, EOS, SOS)


@pytest.mark.parametrize("changes", [PREFIX_MODEL, CONTINUES], ids=["prefix", "continues"])
def test_every_row_is_recorded_with_what_it_reads_and_predicts(changes: dict[str, Any]) -> None:
    model = decoder(**changes)
    decoding = recorded(model, "cab")
    trace, read = decoding.trace, (*model.config.prompt((6, 4, 5)), *decoding.answer)[:-1]
    assert kinds_of(trace) == ("decoder",)
    assert trace.read_tokens == tuple(LETTERS.label(i) for i in read)
    assert (
        trace.predicted_tokens
        == tuple(LETTERS.label(i) for i in decoding.path)
        == (*trace.read_tokens[1:], trace.predicted_tokens[-1])
    )
    assert (trace.src_tokens, trace.encoder.size, trace.cross.size) == ((), 0, 0)
    assert trace.tgt_words[:3] == (0, 0, 0)
    logits = model.logits(at_once(model, torch.tensor([read])))[0]
    logits[:, [PAD, SOS]] = -torch.inf
    probabilities = logits.softmax(-1)
    rows = torch.arange(len(read))
    np.testing.assert_allclose(trace.probabilities, probabilities[rows, list(decoding.path)], atol=1e-5)
    np.testing.assert_allclose(trace.top_probabilities[:, 0], probabilities.amax(-1), atol=1e-5)
    np.testing.assert_allclose(trace.decoder.sum(-1), 1.0, atol=1e-5)
    assert (np.triu(trace.decoder, 1) == 0).all()


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
        at_once(model, torch.full((1, 7), 5))


@pytest.mark.parametrize("fused", [True, False])
def test_training_sees_the_same_loss_as_the_model(fused: bool) -> None:
    model, src, tgt = decoder(), sources(5, 2, 1), targets(4, 4, 2)
    labels, rows = torch.tensor([5, 6, 7]), torch.tensor([0, 5, 9])
    loss, nll = TrainingLoss(model, smoothing=0.0, fused=fused)(src, tgt, labels, rows)
    log_probs = model(src, tgt).log_softmax(-1).flatten(0, 1)[rows]
    torch.testing.assert_close(nll, -log_probs.gather(1, labels[:, None]).sum().double(), rtol=0, atol=1e-4)
    assert torch.isfinite(loss)
