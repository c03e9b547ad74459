import re
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from model.config import PAD, AttentionKind
from model.edits import EditError, HeadEdit, HeadEdits, Operation, edit_tap, patch
from model.points import Head
from model.recording import AttentionRecorder, PointRecorder
from model.tap import compose
from model.transformer import Transformer
from tests.tiny import STEP_TOLERANCE, sources, targets, tiny_model

pytestmark = pytest.mark.usefixtures("no_gradients")

SITES: list[Head] = [("encoder", 0, 1), ("decoder", 1, 2), ("cross", 2, 3)]
N_SRC, N_TGT = 6, 5
SHAPES = {"encoder": (N_SRC, N_SRC), "decoder": (N_TGT, N_TGT), "cross": (N_TGT, N_SRC)}
OPEN = {kind: np.tril(np.ones(n, bool)) if kind == "decoder" else np.ones(n, bool) for kind, n in SHAPES.items()}


def edit_of(site: Head, op: Operation, **options: Any) -> HeadEdit:
    kind, layer, head = site
    return HeadEdit(kind, layer, head, op, **options)


def edits(*changes: HeadEdit) -> HeadEdits:
    return HeadEdits(tuple(changes))


def run(model: Transformer, *changes: HeadEdit, site: Head | None = None) -> tuple[Tensor, AttentionRecorder]:
    recorder = AttentionRecorder(details=() if site is None else (site,))
    tap = compose(edit_tap(edits(*changes), model.config), recorder)
    return model(sources(N_SRC), targets(N_TGT), tap=tap), recorder


def random_pattern(kind: AttentionKind, seed: int = 0) -> np.ndarray:
    """Weights that are not normalised, and that reach into the future."""
    return np.random.default_rng(seed).random(SHAPES[kind], dtype=np.float32) + 0.1


def shares(pattern: np.ndarray, kind: AttentionKind) -> np.ndarray:
    """Only what may be seen counts, and each row sums to 1."""
    seen = pattern * OPEN[kind]
    return seen / seen.sum(-1, keepdims=True)


@pytest.fixture(scope="module")
def model() -> Transformer:
    return tiny_model()


@pytest.mark.parametrize("site", SITES, ids=str)
@pytest.mark.parametrize("op", ["uniform", "pattern", "short pattern", "row", "two rows"])
def test_edited_weights_are_masked_and_renormalised_and_all_others_stay(
    model: Transformer, site: Head, op: str
) -> None:
    kind, layer, head = site
    pattern, (logits, plain) = random_pattern(kind), run(model)
    rows = {"short pattern": [0, 1], "row": [2], "two rows": [0, 3]}.get(op, list(range(len(pattern))))
    if op == "uniform":
        pattern = np.ones_like(pattern)
        changes = [edit_of(site, "uniform")]
    elif "pattern" in op:
        changes = [edit_of(site, "pattern", values=pattern[rows])]
    else:
        changes = [edit_of(site, "row", row=row, values=pattern[row]) for row in rows]
    edited, recorder = run(model, *changes)
    before, after = plain.weights(kind)[layer], recorder.weights(kind)[layer]
    expected = before[head].copy()
    expected[rows] = shares(pattern, kind)[rows]
    np.testing.assert_allclose(after[head], expected, rtol=0, atol=1e-6)
    assert (after[head][~OPEN[kind]] == 0).all()
    others = [each for each in range(len(after)) if each != head]
    np.testing.assert_array_equal(after[others], before[others])
    assert torch.isfinite(edited).all()
    assert not torch.allclose(edited, logits, atol=1e-5)


@pytest.mark.parametrize("site", SITES, ids=str)
def test_edited_outputs_are_what_was_given_and_zero_is_a_missing_slice_of_w_o(model: Transformer, site: Head) -> None:
    kind, layer, head = site
    plain, recorder = run(model, site=site)
    own = recorder.details[site][0]["output"][0]
    mean, short = own.mean(dim=0), torch.full_like(own[:2], 0.5)
    for change, expected in (
        (edit_of(site, "zero"), torch.zeros_like(own)),
        (edit_of(site, "mean", values=mean.numpy()), mean.expand_as(own)),
        (edit_of(site, "output", values=short.numpy()), torch.cat((short, own[2:]))),
    ):
        edited, recorder = run(model, change, site=site)
        assert torch.equal(recorder.details[site][0]["output"][0], expected)
        assert not torch.allclose(edited, plain, atol=1e-5)
        if change.op == "zero":
            silenced = tiny_model()
            block = (silenced.encoder if kind == "encoder" else silenced.decoder).layers[layer]
            attention = block.cross_attn if kind == "cross" else block.self_attn
            attention.out_proj.weight[:, head * attention.d_head : (head + 1) * attention.d_head] = 0.0
            torch.testing.assert_close(edited, run(silenced)[0], rtol=0, atol=1e-6)


@pytest.mark.parametrize("site", SITES, ids=str)
def test_what_a_head_does_anyway_changes_nothing(model: Transformer, site: Head) -> None:
    plain, recorder = run(model, site=site)
    kept = recorder.details[site][0]
    for op, point in (("pattern", "weights"), ("output", "output")):
        edited, _ = run(model, edit_of(site, op, values=kept[point][0].numpy()))
        torch.testing.assert_close(edited, plain, rtol=0, atol=1e-5)


def test_two_edits_of_one_head_both_hold(model: Transformer) -> None:
    uniform, zero = HeadEdit("cross", 0, 0, "uniform"), HeadEdit("cross", 0, 0, "zero")
    edited, recorder = run(model, uniform, zero)
    np.testing.assert_allclose(recorder.weights("cross")[0, 0], 1 / N_SRC, atol=1e-6)
    torch.testing.assert_close(edited, run(model, zero)[0])


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


def test_an_edit_holds_for_the_whole_decode_step_by_step_and_leaves_the_model_as_it_was(model: Transformer) -> None:
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    plain = model(sources(N_SRC), targets(N_TGT))
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
    assert torch.equal(run(model)[0], plain), "no edits change no bit"
    torch.testing.assert_close(model.state_dict(), before, rtol=0, atol=0)


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
    with pytest.raises(EditError, match=r"no point 'decoder\.1\.residual4'.*decoder\.1\.residual"):
        patch(model.config, {"decoder.1.residual4": torch.zeros_like})


def test_edits_name_themselves_as_on_screen() -> None:
    row = HeadEdit("decoder", 0, 0, "row", row=3, values=np.ones(5, np.float32))
    zeroed, changed = edits(HeadEdit("cross", 1, 2, "zero"), row).describe()
    assert zeroed == "cross layer 2 head 3: zero"
    assert re.fullmatch(r"decoder layer 1 head 1: row\b.* 4", changed), "the query row, counted from 1"


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
        run(model, edit)
