"""A decoder alone: sources and targets as one sequence, prompts, recorded rows, forks, beams and edits."""

from typing import Any

import numpy as np
import pytest
import torch

from model.config import EOS, PAD, SOS, DecodeConfig
from model.decoder_only import DecoderOnly
from model.decoding.decode import Decoding, decode_batch, decode_recorded
from model.edits import HeadEdit, HeadEdits
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


def recorded(model: DecoderOnly, text: str, prefix: tuple[int, ...] = (), **search: Any) -> Decoding:
    config = DecodeConfig(**({"max_length": 5} | search))
    return decode_recorded(model, LETTERS.encode(text), LETTERS, config, prefix=prefix)


def test_a_prefix_model_reads_source_separator_and_target_as_one_sequence() -> None:
    model, src, tgt = decoder(), sources(4, 2), targets(3, 3)
    joined = model.joined(src, tgt)
    assert joined.tolist() == [[*src[0], *tgt[0]], [PAD, PAD, *src[1, :2], *tgt[1]]]
    alone = model.decode(torch.cat((src[1:, :2], tgt[1:]), dim=1))
    torch.testing.assert_close(model(src, tgt)[1], model.logits(alone)[0, -3:], **CLOSE)
    assert model.config.prompt((7, 8)) == (7, 8, EOS, SOS)


def test_a_model_that_continues_text_reads_neither_end_nor_start() -> None:
    model, src = decoder(separator=False), torch.tensor([[7, 8, 9, EOS], [6, EOS, PAD, PAD], [EOS, PAD, PAD, PAD]])
    prompt, first = model.opening(src)
    assert prompt.tolist() == [[7, 8], [PAD, PAD], [PAD, PAD]]
    assert first.tolist() == [9, 6, SOS]
    expected = model.logits(model.decode(torch.tensor([[7, 8, 9, 4]])))[0, -2:]
    torch.testing.assert_close(model(src, torch.tensor([[SOS, 4]] * 3))[0], expected, **CLOSE)
    assert (model.config.prompt((7, 8)), model.config.prompt(())) == ((7, 8), (SOS,))


@pytest.mark.parametrize("changes", [PREFIX_MODEL, CONTINUES], ids=["prefix", "continues"])
@pytest.mark.parametrize("method", ["greedy", "beam", "sample"])
def test_a_batch_is_continued_like_each_text_alone_and_as_recorded(changes: dict[str, Any], method: Any) -> None:
    model, config = decoder(**changes), DecodeConfig(method=method, beam_size=3, max_length=6, top_k=1)
    texts = ["abcd", "b", "hig"]
    ids = [(*LETTERS.encode(text).ids, EOS) for text in texts]
    src = torch.tensor([[*row, *[PAD] * (5 - len(row))] for row in ids])
    together = decode_batch(model, src, config)
    for text, row, found in zip(texts, ids, together, strict=True):
        alone = decode_batch(model, torch.tensor([row]), config)[0]
        assert [each.tokens for each in alone] == [each.tokens for each in found]
        own = recorded(model, text, method=method, beam_size=3, max_length=6, top_k=1)
        assert own.answer == found[0].path
        assert own.path[: own.n_prompt] == model.config.prompt(row[:-1])[1:]


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
    logits = model.logits(model.decode(torch.tensor([read])))[0]
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


def test_forks_at_any_row_go_on_from_there() -> None:
    model = decoder(separator=False)
    whole = recorded(model, "abcd")
    again = recorded(model, "abcd", whole.path, max_length=0)
    assert again.path[: len(whole.path)] == whole.path
    assert again.n_prompt == whole.n_prompt == 3
    other = recorded(model, "abcd", (*whole.path[:4], 12))
    assert (other.path[:5], other.n_forced, other.n_prompt) == ((*whole.path[:4], 12), 5, 3)
    inside = recorded(model, "abcd", (5, 9))  # "ab", then another letter in place of "c"
    assert (inside.path[:2], inside.n_prompt) == ((5, 9), 1)
    ended = recorded(model, "abcd", (*whole.path[:4], EOS))
    assert ended.path == (*whole.path[:4], EOS)
    assert ended.finished
    assert ended.trace.decoder.shape[-1] == 5


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


def test_an_edit_holds_in_the_prompt_and_after_it() -> None:
    edit = HeadEdits((HeadEdit("decoder", 1, 2, "uniform"),))
    model = decoder(separator=False)
    decoding = decode_recorded(model, LETTERS.encode("abc"), LETTERS, DecodeConfig(max_length=4), edit=edit)
    rows = np.arange(1, len(decoding.path) + 1)[:, None]
    assert np.allclose(decoding.trace.decoder[1, 2].sum(-1), 1)
    np.testing.assert_allclose(decoding.trace.decoder[1, 2], np.tri(len(rows)) / rows, atol=1e-6)


@pytest.mark.parametrize("fused", [True, False])
def test_training_sees_the_same_loss_as_the_model(fused: bool) -> None:
    model, src, tgt = decoder(), sources(5, 2, 1), targets(4, 4, 2)
    labels, rows = torch.tensor([5, 6, 7]), torch.tensor([0, 5, 9])
    loss, nll = TrainingLoss(model, smoothing=0.0, fused=fused)(src, tgt, labels, rows)
    log_probs = model(src, tgt).log_softmax(-1).flatten(0, 1)[rows]
    torch.testing.assert_close(nll, -log_probs.gather(1, labels[:, None]).sum().double(), rtol=0, atol=1e-4)
    assert torch.isfinite(loss)
