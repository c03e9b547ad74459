"""Taps and points: what passes is what is computed, listening changes no bit, and the list of points is complete."""

from threading import Thread
from typing import Any

import pytest
import torch
from torch import Tensor

from explorer.decoding.model_diagram import SOFTMAX, blocks_of
from model.architectures import Model
from model.dry_run import points
from model.edits import HeadEdit, HeadEdits, edit_tap, patch
from model.points import HEAD_POINTS, SCOPES, attention_scope, block_of, decoder_output, embedded, layer_output
from model.recording import AttentionRecorder, PointRecorder
from model.tap import compose, tapped, through
from tests.some import some
from tests.tiny import EVERY_MODEL, kinds_of, model_of, sources, targets

# Neither an open mask nor another table of positions adds or takes a point.
MODELS = [m for m in EVERY_MODEL if m.get("causal", True) and m.get("positions") not in ("sinusoidal", "none")]


def test_composed_taps_act_in_order_and_none_at_all_is_none() -> None:
    before, after, x = PointRecorder(), PointRecorder(), torch.tensor(3.0)
    tap = compose(before, None, lambda _, tensor: 2 * tensor, lambda _, tensor: tensor + 1, after)
    with tapped(tap):
        assert through("x", x).item() == 7
    assert (before.tensors["x"].item(), after.tensors["x"].item()) == (3, 7)
    assert compose(None, before) is before
    assert compose(None, None) is compose() is None
    assert through("anywhere", x) is x


def test_a_tap_holds_for_its_call_and_for_no_other_thread() -> None:
    outer, inner = PointRecorder(), PointRecorder()
    heard_elsewhere: list[Tensor] = []
    with tapped(outer):
        with tapped(None):
            through("kept", torch.zeros(1))
        with tapped(inner):
            through("nested", torch.zeros(1))
            thread = Thread(target=lambda: heard_elsewhere.append(through("thread", torch.zeros(1))))
            thread.start()
            thread.join()
        with pytest.raises(RuntimeError, match="shape"), tapped(inner):
            through("before", torch.zeros(1)).view(2, 2)
        through("after", torch.zeros(1))
    through("outside", torch.zeros(1))
    assert heard_elsewhere
    assert list(outer.tensors) == ["kept", "after"]
    assert list(inner.tensors) == ["nested", "before"]


@pytest.mark.parametrize("scheme", MODELS, ids=str)
def test_a_recorder_keeps_the_parts_of_the_wanted_heads(scheme: dict[str, Any]) -> None:
    model, heads = model_of(scheme), [("cross", 0, 0), ("decoder", 1, 2), ("encoder", 1, 1)]
    recorder, all_points = AttentionRecorder(details=heads), PointRecorder()
    model(sources(5, 3), targets(4, 2), tap=compose(recorder, all_points))
    kinds = kinds_of(model)
    for head in heads:
        kind, layer, number = head
        assert len(recorder.details[head]) == (kind in kinds)
        for details in recorder.details[head]:
            bias = {"bias"} if scheme.get("positions") in ("alibi", "relative") and kind != "cross" else set()
            gate = {"gate"} if scheme.get("attention_gate") else set()
            assert details.keys() == {*HEAD_POINTS, *bias, *gate}
            scope = attention_scope(kind, layer)
            for name in details.keys() - {"gate"}:
                assert torch.equal(details[name], all_points.tensors[f"{scope}.{name}"][:, number])
            if gate:
                width = details["output"].size(-1)
                kept = all_points.tensors[f"{scope}.gate"][..., number * width : (number + 1) * width]
                assert torch.equal(details["gate"], kept)


@pytest.mark.parametrize("scheme", MODELS, ids=str)
@pytest.mark.parametrize("stepped", [False, True])
def test_every_point_passes_and_in_the_listed_order(scheme: dict[str, Any], stepped: bool) -> None:
    model, recorder = model_of(scheme), PointRecorder()
    src, tgt = sources(5, 3), targets(4, 2)
    listed = [point.name for point in points(model.config)]
    if not stepped:
        model(src, tgt, tap=recorder)
        assert list(recorder.tensors) == listed
        return
    state = model.start(src, tap=recorder)
    for tokens in tgt.T:
        _, state = model.step(tokens, state, tap=recorder)
    # The newest token is the only query of a step, so decoder self-attention needs no mask, unless it read a prompt.
    without = "decoder" if model.config.has_encoder else "nothing"
    expected = [name for name in listed if not (name.startswith(without) and name.endswith("self_attn.mask"))]
    assert sorted(recorder.tensors) == sorted(expected)


@pytest.mark.parametrize("scheme", MODELS, ids=str)
def test_axes_and_modules_are_the_models(scheme: dict[str, Any]) -> None:
    model, recorder = model_of(scheme), PointRecorder()
    model(sources(5, 3), targets(4, 2), tap=recorder)
    read = {4, 5} if model.config.has_encoder else {9}
    sizes = {"batch": {2}, "position": read, "query": {1, *read}, "key": read, "vocabulary": {13}}
    sizes |= {"d_model": {16}, "d_ff": {24}, "head": {1, 2, 4}, "d_head": {2, 4, 6, 8, 16}, "layer": {3}}
    sizes |= {"joined heads": {4, 8, 12, 24}}
    for point in points(model.config):
        shape = recorder.tensors[point.name].shape
        assert len(shape) == len(point.axes)
        assert all(size in sizes[axis] for size, axis in zip(shape, point.axes, strict=True)), point
    modules = [model.get_submodule(point.module) for point in points(model.config) if point.module]
    owned = {id(parameter) for module in modules for parameter in module.parameters()}
    assert owned == {id(parameter) for parameter in model.parameters()}


@pytest.mark.parametrize("scheme", some(MODELS, 6), ids=str)
def test_each_point_reads_what_the_list_says_and_nothing_else(scheme: dict[str, Any]) -> None:
    """One point is changed and all others are held fixed: its readers are the points whose values would change."""
    model = model_of(scheme)
    src, tgt = sources(5, 4), targets(4, 3)
    with torch.inference_mode():
        recorder = PointRecorder()
        model(src, tgt, tap=recorder)
        clean = recorder.tensors
        readers = {name: readers_of(model, src, tgt, clean, name) for name in clean}
    for point in points(model.config):
        assert {name for name in clean if point.name in readers[name]} == set(point.reads), point.name
        assert readers[point.name] or point.name == "logits", point.name


def readers_of(model: Model, src: Tensor, tgt: Tensor, clean: dict[str, Tensor], changed: str) -> set[str]:
    found = set()

    def tap(point: str, tensor: Tensor) -> Tensor:
        if point == changed:
            return different(clean[point])
        if not torch.equal(tensor, clean[point]):
            found.add(point)
        return clean[point]

    logits = model(src, tgt, tap=tap)
    assert torch.equal(logits, clean["logits"][:, -tgt.size(1) :]) == (changed != "logits"), (
        "what the tap gives is what goes on"
    )
    return found


def different(tensor: Tensor) -> Tensor:
    """A different tensor of the same kind: every token replaced, every mask cell inverted, every number changed."""
    if tensor.dtype == torch.bool:
        return ~tensor
    if not tensor.is_floating_point():
        return 4 + (tensor - 3) % 9
    noise = torch.rand(tensor.shape, generator=torch.Generator().manual_seed(3))
    return tensor + 0.5 + noise


@pytest.mark.parametrize("scheme", MODELS, ids=str)
def test_the_machine_has_every_listed_point_in_one_block_and_layers_name_their_ends(scheme: dict[str, Any]) -> None:
    config = model_of(scheme).config
    drawn = [point for block in blocks_of(config) for point in block.points if point != SOFTMAX]
    names = [point.name for point in points(config)]
    assert sorted(drawn) == sorted(names)
    if config.architecture == "lstm":
        return
    ends = {embedded(side, config) for side in (("src", "tgt") if config.has_encoder else ("tgt",))}
    ends |= {layer_output(config, stack, i) for stack in ("encoder", "decoder") for i in range(config.n_layers(stack))}
    ends |= {decoder_output(config)}
    assert ends <= set(names)


@pytest.mark.parametrize("scheme", MODELS, ids=str)
def test_an_edit_changes_listed_points_and_a_patch_takes_every_one(scheme: dict[str, Any]) -> None:
    model = model_of(scheme)
    config, names = model.config, {point.name for point in points(model.config)}
    patch(config, dict.fromkeys(names, lambda tensor: tensor))
    kinds = [kind for kind in SCOPES if any(name.startswith(attention_scope(kind, 0)) for name in names)]
    assert kinds == list(kinds_of(model))
    for kind in kinds:
        for op, point in (("zero", "output"), ("uniform", "weights")):
            changed: set[str] = set()
            edit = edit_tap(HeadEdits((HeadEdit(kind, 0, 0, op),)), config)
            assert edit is not None

            def tap(name: str, tensor: torch.Tensor, edit: Any = edit, changed: set[str] = changed) -> torch.Tensor:
                result: torch.Tensor = edit(name, tensor)
                changed |= {name} if result is not tensor else set()
                return result

            model(sources(5, 3), targets(4, 2), tap=tap)
            assert changed == {f"{attention_scope(kind, 0)}.{point}"} <= names
            assert block_of(f"{attention_scope(kind, 0)}.{point}") == (kind, 0)
