from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from model.config import PAD, AttentionKind
from model.edits import EditError, HeadEdit, HeadEdits, edit_tap, patch
from model.recording import AttentionRecorder, PointRecorder
from model.tap import compose
from model.transformer import Transformer
from tests.tiny import STEP_TOLERANCE, sources, targets, tiny_model

SITES: list[tuple[AttentionKind, int, int]] = [("encoder", 0, 1), ("decoder", 1, 2), ("cross", 2, 3)]
N_SRC, N_TGT = 6, 5


@pytest.fixture(autouse=True)
def _no_gradients():
    with torch.inference_mode():
        yield


@pytest.fixture(scope="module")
def model() -> Transformer:
    return tiny_model()


def edits(*changes: HeadEdit) -> HeadEdits:
    return HeadEdits(tuple(changes))


def run(model: Transformer, edit: HeadEdits | None = None, site=None) -> tuple[Tensor, AttentionRecorder]:
    recorder = AttentionRecorder(details=() if site is None else (site,))
    tap = compose(edit_tap(edit, model.config), recorder)
    return model(sources(N_SRC), targets(N_TGT), tap=tap), recorder


def n_rows(kind: AttentionKind) -> int:
    return N_SRC if kind == "encoder" else N_TGT


def n_keys(kind: AttentionKind) -> int:
    return N_TGT if kind == "decoder" else N_SRC


def attention_at(model: Transformer, kind: AttentionKind, layer: int) -> torch.nn.Module:
    stack = model.encoder if kind == "encoder" else model.decoder
    return stack.layers[layer].cross_attn if kind == "cross" else stack.layers[layer].self_attn


def random_pattern(kind: AttentionKind, seed: int = 0) -> np.ndarray:
    """Weights that are not normalised, and that reach into the future."""
    return np.random.default_rng(seed).random((n_rows(kind), n_keys(kind)), dtype=np.float32) + 0.1


def visible(kind: AttentionKind) -> np.ndarray:
    return np.tril(np.ones((N_TGT, N_TGT), bool)) if kind == "decoder" else np.ones((n_rows(kind), n_keys(kind)), bool)


@pytest.mark.parametrize("site", SITES)
def test_zero_is_the_model_without_that_heads_slice_of_w_o(model: Transformer, site) -> None:
    kind, layer, head = site
    edited, recorder = run(model, edits(HeadEdit(kind, layer, head, "zero")), site)
    w_o = attention_at(model, kind, layer).out_proj.weight
    d_head = w_o.size(1) // model.config.n_heads(kind)
    columns = slice(head * d_head, (head + 1) * d_head)
    kept = w_o[:, columns].clone()
    try:
        w_o[:, columns] = 0.0
        expected, _ = run(model)
    finally:
        w_o[:, columns] = kept
    torch.testing.assert_close(edited, expected, rtol=0, atol=1e-6)
    assert not torch.allclose(edited, run(model)[0], atol=1e-4)
    assert (recorder.details[site][0]["output"] == 0).all()


@pytest.mark.parametrize("site", SITES)
def test_uniform_looks_everywhere_it_may_equally(model: Transformer, site) -> None:
    kind, layer, head = site
    edited, recorder = run(model, edits(HeadEdit(kind, layer, head, "uniform")))
    open_keys = visible(kind)
    expected = open_keys / open_keys.sum(-1, keepdims=True)
    np.testing.assert_allclose(recorder.weights(kind)[layer, head], expected, rtol=0, atol=1e-6)
    assert not torch.allclose(edited, run(model)[0], atol=1e-4)


@pytest.mark.parametrize("site", SITES)
@pytest.mark.parametrize("row", [0, 2, 4])
def test_a_replaced_row_is_masked_and_renormalised_and_alone(model: Transformer, site, row: int) -> None:
    kind, layer, head = site
    values = random_pattern(kind)[row]
    _, recorder = run(model, edits(HeadEdit(kind, layer, head, "row", row=row, values=values)))
    expected = values * visible(kind)[row]
    weights = recorder.weights(kind)[layer]
    np.testing.assert_allclose(weights[head, row], expected / expected.sum(), rtol=0, atol=1e-6)
    assert (weights[head, row][~visible(kind)[row]] == 0).all()
    np.testing.assert_allclose(weights.sum(-1), 1.0, rtol=0, atol=1e-5)
    plain = run(model)[1].weights(kind)[layer]
    others = [h for h in range(weights.shape[0]) if h != head]
    np.testing.assert_array_equal(weights[others], plain[others])
    other_rows = [i for i in range(n_rows(kind)) if i != row]
    np.testing.assert_allclose(weights[head, other_rows], plain[head, other_rows], rtol=0, atol=2e-7)


@pytest.mark.parametrize("site", SITES)
def test_a_pattern_replaces_every_row(model: Transformer, site) -> None:
    kind, layer, head = site
    pattern = random_pattern(kind)
    edited, recorder = run(model, edits(HeadEdit(kind, layer, head, "pattern", values=pattern)))
    expected = pattern * visible(kind)
    np.testing.assert_allclose(
        recorder.weights(kind)[layer, head], expected / expected.sum(-1, keepdims=True), rtol=0, atol=1e-6
    )
    assert torch.isfinite(edited).all()


@pytest.mark.parametrize("site", SITES)
def test_a_heads_own_pattern_put_back_changes_nothing(model: Transformer, site) -> None:
    kind, layer, head = site
    plain, recorder = run(model, site=site)
    pattern = recorder.weights(kind)[layer, head]
    edited, _ = run(model, edits(HeadEdit(kind, layer, head, "pattern", values=pattern)))
    torch.testing.assert_close(edited, plain, rtol=0, atol=1e-5)
    output = recorder.details[site][0]["output"][0].numpy()
    edited, _ = run(model, edits(HeadEdit(kind, layer, head, "output", values=output)))
    torch.testing.assert_close(edited, plain, rtol=0, atol=1e-6)


@pytest.mark.parametrize("site", SITES)
def test_mean_puts_one_vector_at_every_position(model: Transformer, site) -> None:
    kind, layer, head = site
    _, plain = run(model, site=site)
    mean = plain.details[site][0]["output"][0].mean(dim=0).numpy()
    edited, recorder = run(model, edits(HeadEdit(kind, layer, head, "mean", values=mean)), site)
    output = recorder.details[site][0]["output"][0]
    assert torch.equal(output, torch.from_numpy(mean).expand_as(output))
    assert not torch.allclose(edited, run(model)[0], atol=1e-5)


@pytest.mark.parametrize("site", SITES)
def test_a_short_output_or_pattern_leaves_the_other_rows_alone(model: Transformer, site) -> None:
    kind, layer, head = site
    _, plain = run(model, site=site)
    own = plain.details[site][0]
    values = np.full((2, own["output"].size(-1)), 0.5, dtype=np.float32)
    _, recorder = run(model, edits(HeadEdit(kind, layer, head, "output", values=values)), site)
    output = recorder.details[site][0]["output"][0]
    assert (output[:2] == 0.5).all()
    assert torch.equal(output[2:], own["output"][0, 2:])
    short = random_pattern(kind)[:2]
    _, recorder = run(model, edits(HeadEdit(kind, layer, head, "pattern", values=short)), site)
    weights = recorder.details[site][0]["weights"][0]
    torch.testing.assert_close(weights[2:], own["weights"][0, 2:], rtol=0, atol=2e-7)
    assert not torch.allclose(weights[1], own["weights"][0, 1], atol=1e-3)


def every_kind_of_edit() -> HeadEdits:
    d_head = 4
    return edits(
        HeadEdit("encoder", 0, 0, "zero"),
        HeadEdit("encoder", 1, 1, "pattern", values=random_pattern("encoder")),
        HeadEdit("decoder", 0, 1, "uniform"),
        HeadEdit("decoder", 1, 0, "row", row=3, values=random_pattern("decoder")[3]),
        HeadEdit("decoder", 2, 3, "pattern", values=random_pattern("decoder", 1)),
        HeadEdit("cross", 0, 2, "mean", values=np.linspace(-1, 1, d_head, dtype=np.float32)),
        HeadEdit("cross", 1, 3, "row", row=2, values=random_pattern("cross")[2]),
        HeadEdit("cross", 2, 0, "output", values=np.arange(N_TGT * d_head, dtype=np.float32).reshape(N_TGT, d_head)),
        HeadEdit("cross", 2, 1, "zero"),
    )


def test_an_edit_holds_for_the_whole_decode_step_by_step(model: Transformer) -> None:
    src, tgt, edit = sources(N_SRC), targets(N_TGT), every_kind_of_edit().tap(model.config)
    whole, stepped = AttentionRecorder(), AttentionRecorder()
    full = model(src, tgt, tap=compose(edit, whole))
    tap = compose(edit, stepped)
    state = model.start(src, tap=tap)
    for t in range(N_TGT):
        logits, state = model.step(tgt[:, t], state, tap=tap)
        torch.testing.assert_close(logits, full[:, t], rtol=0, atol=STEP_TOLERANCE)
    for kind in ("encoder", "decoder", "cross"):
        np.testing.assert_allclose(stepped.weights(kind), whole.weights(kind), rtol=0, atol=STEP_TOLERANCE)


def test_edits_of_a_batch_with_padding_stay_off_the_padding(model: Transformer) -> None:
    src, tgt = sources(N_SRC, 3), targets(N_TGT, 2)
    edit = edits(
        HeadEdit("encoder", 0, 1, "uniform"),
        HeadEdit("cross", 2, 0, "pattern", values=np.ones((N_TGT, N_SRC), dtype=np.float32)),
    )
    recorder = AttentionRecorder()
    logits = model(src, tgt, tap=compose(edit.tap(model.config), recorder))
    for kind, layer, head in (("encoder", 0, 1), ("cross", 2, 0)):
        np.testing.assert_allclose(recorder.weights(kind, row=1)[layer, head, :, :3], 1 / 3, atol=1e-6)
        assert (recorder.weights(kind, row=1)[layer, head, :, 3:] == 0).all()
    assert torch.isfinite(logits[tgt != PAD]).all()


def test_no_edits_change_no_bit(model: Transformer) -> None:
    plain, _ = run(model)
    assert torch.equal(run(model, HeadEdits())[0], plain)


def test_editing_leaves_the_model_as_it_was(model: Transformer) -> None:
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    plain, _ = run(model)
    run(model, every_kind_of_edit())
    assert torch.equal(run(model)[0], plain)
    assert all(torch.equal(tensor, before[name]) for name, tensor in model.state_dict().items())


def test_two_edits_of_one_head_both_hold(model: Transformer) -> None:
    both = edits(HeadEdit("cross", 0, 0, "uniform"), HeadEdit("cross", 0, 0, "zero"))
    edited, recorder = run(model, both)
    np.testing.assert_allclose(recorder.weights("cross")[0, 0], 1 / N_SRC, atol=1e-6)
    torch.testing.assert_close(edited, run(model, edits(HeadEdit("cross", 0, 0, "zero")))[0])


def test_two_rows_of_one_head_can_be_replaced(model: Transformer) -> None:
    first, second = random_pattern("cross")[:2]
    both = (
        HeadEdit("cross", 1, 0, "row", row=0, values=first),
        HeadEdit("cross", 1, 0, "row", row=3, values=second),
    )
    weights = run(model, edits(*both))[1].weights("cross")[1, 0]
    np.testing.assert_allclose(weights[0], first / first.sum(), atol=1e-6)
    np.testing.assert_allclose(weights[3], second / second.sum(), atol=1e-6)


def test_a_patch_changes_its_point_and_nothing_before_it(model: Transformer) -> None:
    plain, patched = PointRecorder(), PointRecorder()
    tap = patch(model.config, {"decoder.1.residual2": torch.zeros_like})
    logits = model(sources(N_SRC), targets(N_TGT), tap=plain)
    assert not torch.equal(model(sources(N_SRC), targets(N_TGT), tap=compose(tap, patched)), logits)
    names = list(plain.tensors)
    at = names.index("decoder.1.residual2")
    assert all(torch.equal(plain.tensors[name], patched.tensors[name]) for name in names[:at])
    assert (patched.tensors["decoder.1.residual2"] == 0).all()
    assert not torch.equal(plain.tensors["decoder.1.norm2"], patched.tensors["decoder.1.norm2"])


def test_a_patch_of_a_point_that_is_not_there_is_refused_with_the_nearest_name(model: Transformer) -> None:
    with pytest.raises(EditError, match=r"no point 'decoder\.1\.residual4'.*decoder\.1\.residual"):
        patch(model.config, {"decoder.1.residual4": torch.zeros_like})


def test_edits_name_themselves_as_on_screen() -> None:
    lines = edits(
        HeadEdit("cross", 1, 2, "zero"), HeadEdit("decoder", 0, 0, "row", row=3, values=np.ones(5, np.float32))
    ).describe()
    assert len(lines) == 2
    assert lines[0] == "cross layer 2 head 3: zero"
    assert lines[1].startswith("decoder layer 1 head 1: row")
    assert lines[1].endswith("4"), "the query row, counted from 1"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"kind": "sideways", "op": "zero"}, "kind"),
        ({"op": "explode"}, "op"),
        ({"op": "row", "row": 0}, "needs values"),
        ({"op": "row", "values": np.ones(3)}, "row"),
        ({"op": "row", "row": -1, "values": np.ones(3)}, "row"),
        ({"op": "row", "row": 0, "values": np.array([0.5, -0.1])}, "negative"),
        ({"op": "row", "row": 0, "values": np.array([0.5, np.nan])}, "finite"),
        ({"op": "row", "row": 0, "values": np.ones((2, 2))}, "axis"),
        ({"op": "pattern", "values": np.ones(3)}, "axes"),
        ({"op": "pattern", "values": np.full((2, 2), np.inf)}, "finite"),
        ({"op": "mean"}, "needs values"),
        ({"op": "mean", "values": np.ones((2, 2))}, "axis"),
        ({"op": "output", "values": np.ones(2)}, "axes"),
    ],
)
def test_an_edit_without_sense_is_refused_with_a_message(options: dict, says: str) -> None:
    settings = {"kind": "cross", "layer": 0, "head": 0} | options
    with pytest.raises(EditError, match=says):
        HeadEdit(**settings)


@pytest.mark.parametrize(
    ("edit", "says"),
    [
        (HeadEdit("encoder", 0, 2, "zero"), "2 heads"),
        (HeadEdit("cross", 0, 4, "uniform"), "4 heads"),
        (HeadEdit("cross", 0, -1, "uniform"), "heads"),
        (HeadEdit("encoder", 2, 0, "zero"), "layer"),
        (HeadEdit("decoder", 3, 0, "uniform"), "layer"),
        (HeadEdit("cross", -1, 0, "zero"), "layer"),
        (HeadEdit("cross", 0, 0, "mean", values=np.ones(5, np.float32)), "4"),
        (HeadEdit("cross", 0, 0, "output", values=np.ones((2, 3), np.float32)), "4"),
        (HeadEdit("cross", 0, 0, "row", row=0, values=np.ones(3, np.float32)), "3 keys"),
        (HeadEdit("cross", 0, 0, "row", row=0, values=np.zeros(N_SRC, np.float32)), "no weight left"),
        (HeadEdit("decoder", 0, 0, "row", row=0, values=np.array([0, 1, 1, 1, 1], np.float32)), "no weight left"),
    ],
    ids=str,
)
def test_an_edit_that_does_not_fit_the_model_is_refused_with_a_message(
    model: Transformer, edit: HeadEdit, says: str
) -> None:
    with pytest.raises(EditError, match=says):
        run(model, edits(edit))
