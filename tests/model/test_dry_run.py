"""The dry run is where the names of points come from: those of the machine, of edits, and of decomposed runs."""

from dataclasses import replace
from typing import Any

import pytest
import torch

from explorer.decoding.model_diagram import SOFTMAX, blocks_of
from model.dry_run import points
from model.edits import HeadEdit, HeadEdits, edit_tap, patch
from model.points import SCOPES, attention_scope, block_of, decoder_output, embedded, layer_output
from tests.model.test_tap import MODELS
from tests.tiny import kinds_of, model_of, sources, targets


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


def test_points_do_not_depend_on_sizes() -> None:
    config = model_of({}).config
    wide = replace(config, d_model=2 * config.d_model, d_ff=7, src_vocab_size=50, tgt_vocab_size=60)
    assert points(wide) == points(config)
