"""One sentence decoded with everything recorded: labels, rows and numbers must agree."""

import numpy as np
import pytest
import torch

from model.config import EOS, PAD, SOS, DecodeConfig
from model.decoding.decode import Decoding, decode_batch, decode_recorded
from model.decoding.search import allowed_log_probs
from model.recording import AttentionRecorder
from model.text.tokenizer import WhitespaceTokenizer
from model.trace import FUTURE, VISIBLE
from model.transformer import Transformer
from tests.tiny import STEP_TOLERANCE, tiny_model

SOURCE = WhitespaceTokenizer.train(["we read red books and big cars in green houses"])
TARGET = WhitespaceTokenizer.train(["nous lisons livres rouge et voitures grand"])
SENTENCE = "we read red books"


def model_for(**changes) -> Transformer:
    return tiny_model(src_vocab_size=len(SOURCE), tgt_vocab_size=len(TARGET), **changes)


def decode(model: Transformer, text: str = SENTENCE, config: DecodeConfig | None = None, **options) -> Decoding:
    return decode_recorded(model, SOURCE.encode(text), TARGET, config or DecodeConfig(max_length=7), **options)


def source_ids(text: str) -> torch.Tensor:
    return torch.tensor([[*SOURCE.encode(text).ids, EOS]])


@pytest.mark.parametrize("method", ["greedy", "beam", "sample"])
@pytest.mark.parametrize("seed", range(3))
def test_labels_shift_by_exactly_one_row_between_read_and_predicted(seed: int, method: str) -> None:
    """And what is recorded is what is decoded without recording, in evaluation mode."""
    model = model_for(seed=seed, dropout=0.4)
    config = DecodeConfig(method=method, beam_size=3, max_length=7, seed=seed)
    decoding = decode(model, config=config)
    trace = decoding.trace
    assert trace.read_tokens[0] == "<sos>"
    assert trace.read_tokens[1:] == trace.predicted_tokens[:-1]
    assert trace.predicted_tokens == tuple(TARGET.label(i) for i in decoding.path)
    assert (trace.predicted_tokens[-1] == "<eos>") == decoding.finished
    assert trace.src_tokens == ("we", "read", "red", "books", "<eos>")
    assert (trace.src_words[-1], trace.tgt_words[0], len(trace.tgt_words)) == (-1, -1, len(trace.read_tokens))
    [found] = decode_batch(model, source_ids(SENTENCE), config)
    assert decoding.path == found[0].path
    assert np.log(trace.probabilities).sum() == pytest.approx(found[0].log_prob, abs=1e-4)
    if method == "beam":
        assert [one.tokens for one in decoding.hypotheses] == [one.tokens for one in found]
    if method == "greedy":
        assert decoding.path == tuple(trace.top_ids[:, 0].tolist())
        np.testing.assert_array_equal(trace.probabilities, trace.top_probabilities[:, 0])


@pytest.mark.parametrize("changes", [{}, {"norm_first": True, "positions": "learned"}, {"positions": "none"}])
@pytest.mark.parametrize("method", ["greedy", "beam", "sample"])
def test_the_trace_is_the_teacher_forced_pass_over_what_was_read(changes: dict, method: str) -> None:
    """Row t of the trace is computed from the token read at t; its probabilities are those of the next token."""
    model = model_for(**changes)
    decoding = decode(model, config=DecodeConfig(method=method, beam_size=3, max_length=7))
    trace, recorder = decoding.trace, AttentionRecorder()
    read = torch.tensor([[SOS, *decoding.path[:-1]]])
    with torch.inference_mode():
        logits = model(source_ids(SENTENCE), read, tap=recorder)[0]
    for kind in ("encoder", "decoder", "cross"):
        np.testing.assert_allclose(trace.weights(kind), recorder.weights(kind), rtol=0, atol=STEP_TOLERANCE)
    probabilities = allowed_log_probs(logits).exp()
    chosen = probabilities.gather(1, torch.tensor(decoding.path)[:, None])[:, 0]
    np.testing.assert_allclose(trace.probabilities, chosen.numpy(), rtol=0, atol=STEP_TOLERANCE)
    top = probabilities.topk(trace.top_ids.shape[1], dim=-1)
    np.testing.assert_allclose(trace.top_probabilities, top.values.numpy(), rtol=0, atol=STEP_TOLERANCE)
    np.testing.assert_array_equal(trace.top_ids, top.indices.numpy())
    assert trace.top_tokens == tuple(tuple(TARGET.label(i) for i in row) for row in trace.top_ids.tolist())
    assert (trace.encoder_mask == VISIBLE).all()
    assert (trace.cross_mask == VISIBLE).all()
    assert (trace.decoder_mask == np.where(np.tri(len(read[0]), dtype=bool), VISIBLE, FUTURE)).all()
    every = decode(model, n_alternatives=50).trace
    assert every.top_ids.shape[1] <= len(TARGET)
    assert not np.isin(every.top_ids[every.top_probabilities > 0], [PAD, SOS]).any()
    np.testing.assert_allclose(every.top_probabilities.sum(-1), 1.0, atol=1e-5)
