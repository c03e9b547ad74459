"""Causality, padding, steps and states of every model, whatever its positions, norms, mask or architecture."""

from typing import Any

import pytest
import torch
from torch import Tensor

from model.architectures import Model
from model.config import PAD
from model.recording import AttentionRecorder, PointRecorder
from model.tap import compose
from tests.some import some
from tests.tiny import EVERY_MODEL, STEP_TOLERANCE, VOCAB, kinds_of, model_of, sources, targets

pytestmark = pytest.mark.usefixtures("no_gradients")

every_model = pytest.mark.parametrize("changes", EVERY_MODEL, ids=str)
CLOSE = {"rtol": 0, "atol": STEP_TOLERANCE}


def step_through(model: Model, src: Tensor, tgt: Tensor, tap: Any = None) -> tuple[list[Tensor], list[Any]]:
    """The logits of each step, and all states, the one before the first token included."""
    states, rows = [model.start(src, tap=tap)], []
    for tokens in tgt.T:
        logits, state = model.step(tokens, states[-1], tap=tap)
        rows.append(logits)
        states.append(state)
    return rows, states


@every_model
def test_a_token_changes_its_own_row_and_none_before_it(changes: dict[str, Any]) -> None:
    model, src, tgt = model_of(changes), sources(6), targets(9)
    changed = tgt.repeat(9, 1)  # another token in each column
    changed.fill_diagonal_(0).add_(torch.diag(4 + (tgt[0] - 3) % (VOCAB - 4)))
    differences = (model(src.expand(9, -1), changed) - model(src, tgt)).abs().amax(dim=-1)
    causal = changes.get("causal", True)
    for column, difference in enumerate(differences):
        if changes.get("residual", True):  # without, next to nothing of a word reaches the last layer
            assert difference[column] > 1e-4
        assert (difference[:column] < 1e-6).all() if causal else (difference[:column] > 1e-6).all()


@every_model
def test_neither_padding_nor_the_rest_of_a_batch_changes_a_sentence(changes: dict[str, Any]) -> None:
    model, lengths = model_of(changes), ((7, 2), (1, 6), (4, 5))
    src, tgt = sources(7, 1, 4), targets(2, 6, 5)
    wider = model(*(torch.nn.functional.pad(ids, (0, 3), value=PAD) for ids in (src, tgt)))
    for row, (n_src, n_tgt) in enumerate(lengths):
        alone = model(src[row : row + 1, :n_src], tgt[row : row + 1, :n_tgt])
        torch.testing.assert_close(wider[row, :n_tgt], alone[0], **CLOSE)


@every_model
def test_a_step_equals_the_whole_target_read_at_once(changes: dict[str, Any]) -> None:
    """Logits and recorded weights; without the causal mask, a step equals the pass over the tokens so far."""
    model, causal = model_of(changes), changes.get("causal", True)
    src, tgt = sources(7, 3, 1), targets(6, 4, 6)
    recorders = whole, stepped = AttentionRecorder(), AttentionRecorder()
    rows, states = step_through(model, src, tgt, stepped)
    full = model(src, tgt, tap=whole)
    for t, logits in enumerate(rows):
        expected = full[:, t] if causal else model(src, tgt[:, : t + 1])[:, t]
        real = tgt[:, t] != PAD
        torch.testing.assert_close(logits[real], expected[real], **CLOSE)
    n_prompt = 0 if model.config.has_encoder else src.size(1)
    assert [state.position - n_prompt for state in states] == list(range(7))
    for kind in kinds_of(model):
        theirs, ours = (torch.from_numpy(recorder.weights(kind)) for recorder in recorders)
        # Rows that were computed before later tokens were known differ from those of the whole, unless it is causal.
        newest = slice(None) if causal or kind == "encoder" else slice(-1, None)
        torch.testing.assert_close(ours[:, :, newest], theirs[:, :, newest], **CLOSE)


@every_model
def test_states_stay_valid_and_can_be_repeated_dropped_and_reordered(changes: dict[str, Any]) -> None:
    model = model_of(changes)
    src, tgt = sources(7, 3, 5), targets(6, 6, 6)
    rows, states = step_through(model, src, tgt)
    other, branch = tgt.roll(1, dims=0), states[3]
    for t in range(3, 6):  # from the state before token 3 on, with other tokens
        logits, branch = model.step(other[:, t], branch)
        read = torch.cat((tgt[:, :3], other[:, 3 : t + 1]), dim=1)
        torch.testing.assert_close(logits, model(src, read)[:, -1], **CLOSE)
    for t in range(6):
        assert torch.equal(model.step(tgt[:, t], states[t])[0], rows[t]), "an old state gives what it gave"
    for chosen in ([2, 0, 0, 1, 2], [1]):
        beams = torch.tensor(chosen)
        tokens = torch.arange(5, 5 + len(beams))
        logits, after = model.step(tokens, states[4].select(beams))
        read = torch.cat((tgt[beams, :4], tokens[:, None]), dim=1)
        torch.testing.assert_close(logits, model(src[beams], read)[:, -1], **CLOSE)
        assert (after.batch_size, after.position - states[0].position) == (len(beams), 5)


@every_model
def test_listening_changes_no_bit(changes: dict[str, Any]) -> None:
    model, src, tgt = model_of(changes), sources(5, 3), targets(4, 4)
    heads = [(kind, 0, 0) for kind in kinds_of(model)]
    tap = compose(AttentionRecorder(details=heads), PointRecorder())
    assert torch.equal(model(src, tgt), model(src, tgt, tap=tap))
    silent, heard = (step_through(model, src, tgt, each)[0] for each in (None, tap))
    assert all(torch.equal(ours, theirs) for ours, theirs in zip(silent, heard, strict=True))


@pytest.mark.parametrize(("n_src", "n_tgt"), some([(1, 100), (1, 1), (100, 1), (100, 100)], 3))
@pytest.mark.parametrize(("layers", "heads"), [((1, 3), (1, 8)), ((3, 1), (8, 1)), ((1, 3), (8, 1)), ((3, 1), (1, 8))])
def test_any_length_depth_and_head_count(n_src: int, n_tgt: int, layers: tuple, heads: tuple) -> None:
    names = ("n_encoder_layers", "n_decoder_layers", "n_encoder_heads", "n_decoder_heads")
    model = model_of(dict(zip(names, (*layers, *heads), strict=True), max_positions=100))
    recorder, src, tgt = AttentionRecorder(), sources(n_src), targets(n_tgt)
    logits = model(src, tgt, tap=recorder)
    assert logits.shape == (1, n_tgt, VOCAB)
    assert torch.isfinite(logits).all()
    assert recorder.weights("encoder").shape == (layers[0], heads[0], n_src, n_src)
    assert recorder.weights("decoder").shape == (layers[1], heads[1], n_tgt, n_tgt)
    assert recorder.weights("cross").shape == (layers[1], heads[1], n_tgt, n_src)
    rows, states = step_through(model, src, tgt)
    torch.testing.assert_close(torch.stack(rows, dim=1), logits, **CLOSE)
    assert len(states[-1].self_kv) == len(states[-1].cross_kv) == layers[1]
    assert states[-1].self_kv[0][0].shape == (1, heads[1], n_tgt, 16 // heads[1])
