"""The machine that the browser computes (js/live/machine.js) is the one whose messages Python writes."""

import base64
import dataclasses
import json
import shutil
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from explorer.browser import wire
from explorer.browser.machine_model import exported, machine_of
from explorer.browser.machine_numbers import encode_numbers
from explorer.browser.machine_payload import MachineView, encode, encode_details
from explorer.browser.machine_stages import short_name, stages_of
from explorer.browser.machine_structs import MachineStage, NumbersRequest, TensorSlice
from explorer.browser.structs import MachinePlace, Opened
from explorer.decoding.decoding import Decoding
from explorer.decoding.model_diagram import blocks_of
from explorer.decoding.translator import Translator
from explorer.screens.inside.machine import opened_of, text_of
from model.analysis.operations import added_positions, whole_runs
from model.checkpoint import load_model, stored_weights, write_weights
from model.config import DecodeConfig, ModelConfig, to_dict
from model.points import HEAD_POINTS
from tests.explorer.browser.test_live import EDITS, SENTENCES, VARIANTS, differences, run
from tests.explorer.browser.test_live import pytestmark as NEEDS_NODE
from tests.explorer.planted_heads import random_trace
from tests.explorer.toy_models import untrained
from tests.paths import CHECKPOINTS

pytestmark = [pytest.mark.slow, NEEDS_NODE]

TOKENIZERS_OF = "adjective-swap"
OTHERS: dict[str, dict[str, Any]] = {
    **VARIANTS,
    # Where the first token is given, the alternatives to it are impossible, and which of them are listed is arbitrary.
    "rules": {**VARIANTS["rules"], "first_token": 0},
    "deep, uneven and not causal": {
        "causal": False,
        "n_encoder_layers": 1,
        "n_decoder_layers": 3,
        "n_encoder_heads": 2,
        "n_decoder_heads": 1,
        "positions": "alibi",
    },
}
# Daily, a decoder alone, an encoder and a decoder, and the variants whose blocks or steps differ.
DAILY = ("reverse-decoder", "adjective-swap", "rope", "gate", "deep, uneven and not causal")
CASES = [pytest.param(name, marks=[] if name in DAILY else pytest.mark.nightly) for name in (*SENTENCES, *OTHERS)]
ROUNDED = {"scale": 4, "full": 4, "mean": 5, "deviation": 5}
"""Significant digits of the numbers that the header has rounded."""


def folder_of(name: str, temporary: Path) -> Path:
    """The folder of a shipped model, or of an untrained one with a shipped model's tokenizers."""
    if name in SENTENCES:
        return CHECKPOINTS / name
    base = CHECKPOINTS / TOKENIZERS_OF
    shutil.copytree(base, temporary, dirs_exist_ok=True)
    settings = json.loads((base / "config.json").read_text(encoding="utf-8"))
    config = dataclasses.replace(load_model(base).model_config, **OTHERS[name])
    model = untrained(config, len(name))
    write_weights(temporary / "model.safetensors", stored_weights(model), half=False)
    (temporary / "config.json").write_text(json.dumps({**settings, "model": to_dict(config)}), encoding="utf-8")
    return temporary


def apart(header: Any, place: str = "") -> tuple[Any, dict[str, tuple[float, int]]]:
    """A header without its rounded numbers, and these by their place, each with its number of digits."""
    rounded: dict[str, tuple[float, int]] = {}
    entries = header.items() if isinstance(header, dict) else enumerate(header) if isinstance(header, list) else ()
    rest: dict[Any, Any] = {}
    for key, value in entries:
        if key in ROUNDED and value is not None:
            rounded[f"{place}.{key}"] = value, ROUNDED[key]
        else:
            rest[key], inner = apart(value, f"{place}.{key}")
            rounded |= inner
    if isinstance(header, list):
        return list(rest.values()), rounded
    return (rest if isinstance(header, dict) else header), rounded


def numbers_of(shape: list[int], content: str) -> NDArray[np.float32]:
    return np.frombuffer(base64.b64decode(content), np.float32).reshape(shape)


def assert_same(message: bytes, found: dict[str, Any], what: str) -> None:
    """The header is Python's, and each number is within 1e-5 × max(1, the largest magnitude of its array)."""
    header, arrays = wire.read(message)
    (wanted_header, wanted_rounded), (given_header, given_rounded) = map(apart, (header, found["header"]))
    assert not differences({**wanted_header, "seq": ""}, given_header), what
    assert wanted_rounded.keys() == given_rounded.keys(), what
    for place, (number, digits) in wanted_rounded.items():
        last_digit = 10.0 ** (np.floor(np.log10(max(abs(number), 1e-12))) + 1 - digits)
        assert abs(given_rounded[place][0] - number) <= 1.001 * last_digit + 1e-5, (what, place)
    given = {name: numbers_of(shape, content) for name, shape, content in found["arrays"]}
    assert given.keys() == arrays.keys(), what
    for name, wanted in arrays.items():
        assert given[name].shape == wanted.shape, (what, name)
        closed = np.isnan(wanted)
        assert np.array_equal(np.isnan(given[name]), closed), (what, name)
        error = np.abs(given[name] - wanted)[~closed]
        assert error.max(initial=0) <= 1e-5 * max(1.0, np.abs(wanted[~closed]).max(initial=0)), (what, name)


@cache
def opened_places(heads: tuple[tuple[str, int], ...]) -> tuple[Opened, ...]:
    """Every block, the first and the last head of an attention block, and one part."""
    places = [Opened(block, head) for block, count in heads for head in sorted({0, min(count, 1), count})]
    return (*places, next(Opened(block, 1, "scores") for block, count in heads if count))


@pytest.mark.parametrize("name", CASES)
def test_the_machine_and_every_opened_block(name: str, tmp_path: Path) -> None:
    loaded = load_model(folder_of(name, tmp_path))
    config, model, translator = loaded.model_config, loaded.transformer, Translator(loaded)
    text = SENTENCES.get(name, SENTENCES[TOKENIZERS_OF])[0]
    shown = translator.translate(text, DecodeConfig(max_length=12))
    request, blocks = {"path": shown.path}, blocks_of(config)
    heads = tuple((block.name, config.n_heads(block.attention) if block.attention else 0) for block in blocks)
    last = len(shown.path)
    jobs: list[dict[str, Any]] = [{"do": "machine", "text": text, "request": request}]
    for opened in opened_places(heads):
        # Of a model whose steps have rows of their own, blocks are opened at one step or another.
        step = 0 if config.causal else 1 + len(jobs) % last
        jobs.append({"do": "details", "text": text, "request": request, "step": step, "opened": opened})
    found = run(loaded.folder, jobs, exported(config))
    runs = whole_runs(model, shown.source.ids, shown.path)
    view = MachineView(shown, config, blocks)
    assert_same(encode(view, runs, added_positions(model, runs[-1])), found[0], "the diagram")
    for job, given in zip(jobs[1:], found[1:], strict=True):
        opened, step = job["opened"], job["step"]
        block = next(block for block in blocks if block.name == opened.block)
        message = encode_details(block, opened, runs[step - 1 if step else -1], model, seq="", step=step)
        assert_same(message, given, f"{opened} at step {step}")


def test_an_edited_machine_shows_the_weights_of_the_edited_decoding() -> None:
    folder, text = CHECKPOINTS / TOKENIZERS_OF, SENTENCES[TOKENIZERS_OF][0]
    config = load_model(folder).model_config
    [decoded] = run(folder, [{"do": "decode", "text": text, "request": {"edits": EDITS}}])
    request = {"edits": EDITS, "path": decoded["path"]}
    kinds = {block.name: (block.attention, block.layer) for block in blocks_of(config) if block.attention}
    jobs = [{"do": "details", "text": text, "request": request, "step": 0, "opened": Opened(block)} for block in kinds]
    for (kind, layer), details in zip(kinds.values(), run(folder, jobs, exported(config)), strict=True):
        arrays = {name: numbers_of(shape, content) for name, shape, content in details["arrays"]}
        weights = np.reshape(np.array(decoded["maps"][kind]["weights"], dtype=np.float32), (-1, *arrays["heads"].shape))
        assert np.array_equal(weights[layer - 1], arrays["heads"]), (kind, layer)


def spots_of(stages: tuple[MachineStage, ...], config: ModelConfig, sizes: dict[str, int]) -> list[dict[str, Any]]:
    """Two numbers of each stage: one in the last row, and one in another."""
    kinds = {block.name: block.attention for block in blocks_of(config)}
    spots = []
    for i, stage in enumerate(stages):
        kind = kinds[stage.block]
        keys = sizes["target" if kind == "decoder" else "source"]
        headed = short_name(stage.point) in ("product", *HEAD_POINTS)
        for n, row in enumerate({sizes[stage.side] - 1, (sizes[stage.side] - 1) // 2}):
            column = (7 * i + 5 * n) % (stage.columns or min(keys, row + 1))
            head = 1 + (i + n) % config.n_heads(kind) if headed and kind else 0
            spots.append({"point": stage.point, "head": head, "row": row, "column": column})
    return spots


@pytest.mark.parametrize("name", CASES)
def test_where_each_number_is_from_agrees_with_the_tensors(name: str, tmp_path: Path) -> None:
    loaded = load_model(folder_of(name, tmp_path))
    config, text = loaded.model_config, SENTENCES.get(name, SENTENCES[TOKENIZERS_OF])[0]
    shown = Translator(loaded).translate(text, DecodeConfig(max_length=12))
    step = 0 if config.causal else len(shown.path)
    run_of = whole_runs(loaded.transformer, shown.source.ids, shown.path)[-1]
    sizes = {"source": len(run_of.src_ids), "target": len(run_of.read_ids)}
    stages = {stage.point: stage for stage in stages_of(config)}
    spots = spots_of(stages_of(config), config, sizes)
    cut = [spot for spot in spots if not spot["point"].endswith("product")]
    slices = [TensorSlice(at["point"], at["head"], at["row"], 1, at["column"], 3) for at in cut]
    slices += [TensorSlice(f"{each.weight}.weight", 0, 0, 2, 1, 4) for each in stages.values() if each.weight]
    given = {"text": text, "request": {"path": shown.path}, "step": step}
    jobs = [{**given, "do": "origins", "spots": spots, "sizes": sizes}, {**given, "do": "numbers", "slices": slices}]
    origins, numbers = run(loaded.folder, jobs, exported(config))
    message = encode_numbers(NumbersRequest("", step, slices), run_of, loaded.transformer)
    assert message is not None
    assert_same(message, numbers, "numbers by place")
    for spot, origin in zip(spots, origins, strict=True):
        stage, at = stages[spot["point"]], (spot["row"], spot["column"])
        if stage.op == "dot" and spot["point"] not in run_of.operations:
            query, key = (run_of[read].value[0, spot["head"] - 1] for read in stage.reads)
            wanted = float(query[at[0]] @ key[at[1]])
        elif stage.op == "ids":
            wanted = (run_of.src_ids if stage.side == "source" else run_of.read_ids)[spot["row"]]
        else:
            value = run_of[spot["point"]].value[0]
            wanted = float((value[spot["head"] - 1] if value.dim() == 3 else value)[at])
        close = pytest.approx(wanted, abs=2e-4 * max(1.0, abs(wanted)))
        assert origin["recorded"] == close, (spot, stage.op)
        assert origin["result"] == close, (spot, stage.op)
        total = sum(term["a"] * term["b"] for term in origin["terms"]) + origin.get("bias", 0.0)
        if stage.op in ("linear", "dot", "mix", "plus", "times", "split", "join", "divide", "rotate", "multiply"):
            assert total == close, f"the sum that is written: {spot}"
        for term in origin["terms"]:
            from_ = term["from"]
            if from_["point"] in run_of.operations:
                read = run_of[from_["point"]].value[0]
                read = read[from_["head"] - 1] if read.dim() == 3 else read
                assert term["a"] == pytest.approx(float(read[from_["row"], from_["column"]]), abs=1e-3), spot
    assert {stage.op for stage in stages.values()} - {"other"} >= {"linear", "dot", "softmax", "mix", "join", "lookup"}


HEAD = "query key value product scores masked weights output joined out_proj"
FEED = "linear1 activation linear2"


@pytest.mark.parametrize(
    ("name", "side", "wanted"),
    [
        ("post-norm", "source", f"{HEAD} residual1 norm1 {FEED} residual2 norm2"),
        ("adjective-swap", "target", f"{HEAD} residual1 norm1 {HEAD} residual2 norm2 {FEED} residual3 norm3"),
        ("reverse", "source", f"norm1 {HEAD} residual1 norm2 {FEED} residual2"),
        ("reverse", "target", f"norm1 {HEAD} residual1 norm2 {HEAD} residual2 norm3 {FEED} residual3"),
    ],
)
def test_a_followed_token_passes_every_box_in_order(name: str, side: str, wanted: str, tmp_path: Path) -> None:
    folder = folder_of(name, tmp_path)
    config = load_model(folder).model_config
    [stops] = run(folder, [{"do": "stops", "side": side}], exported(config))
    stack = "encoder" if side == "source" else "decoder"
    memory = [stop["stage"]["point"] for stop in stops if stop["block"] == "memory"]
    last = "norm" if name == "reverse" else f"{config.n_encoder_layers - 1}.norm2"
    assert memory == ([f"encoder.{last}"] if side == "source" else []), "it has the numbers of the last block"
    named = [stop["block"] == "memory" or not stop.get("stage") for stop in stops]
    passed = [stop["block"] if own else stop["stage"]["point"] for stop, own in zip(stops, named, strict=True)]
    first = [point for point in passed if point.startswith(f"{stack}.0.")]
    own = [point for point in first if side == "target" or not point.startswith("decoder")]
    assert [short_name(point) for point in own] == wanted.split()
    start = [point for point in passed if point.startswith("src." if side == "source" else "tgt.")]
    assert [short_name(point) for point in start] == ["tokens", "embedding", "scaled", "positions"]
    if side == "source":
        assert [short_name(point) for point in passed[passed.index("memory") + 1 :]] == (
            ["key", "value"] * config.n_decoder_layers
        ), "it waits in cross-attention"
    else:
        assert passed[-3:] == ["logits", "softmax", "word"]
    parts = machine_of(config).parts
    kinds = {block.name: block.attention for block in blocks_of(config)}
    for stop in stops:
        kind = kinds[stop["block"]]
        assert bool(kind) == bool(stop["part"]), stop
        assert not kind or stop["part"] in parts[kind], "each opens a box"


def test_numbers_that_do_not_exist_or_are_too_many_are_not_sent() -> None:
    loaded = load_model(CHECKPOINTS / TOKENIZERS_OF)
    [recorded] = whole_runs(loaded.transformer, [5, 6], [4, 2])
    whole = TensorSlice("src.embedding", 0, 0, 9, 0, 9)
    for bad in (
        {"name": "x"},
        {"name": "encoder.layers.0.norm1.x"},
        {"name": "encoder.0.self_attn.query", "head": 99},
        {"row": -1},
    ):
        request = NumbersRequest("s", 0, [whole, dataclasses.replace(whole, **bad)])
        assert encode_numbers(request, recorded, loaded.transformer) is None, bad
    table = dataclasses.replace(whole, name="tgt_embedding.weight", rows=10**9, columns=10**9)
    assert encode_numbers(NumbersRequest("s", 0, [table] * 1000), recorded, loaded.transformer) is None
    assert encode_numbers(NumbersRequest("s", 0, [whole]), recorded, loaded.transformer) is not None


def test_what_does_not_exist_cannot_be_opened() -> None:
    folder = CHECKPOINTS / TOKENIZERS_OF
    words = exported(load_model(folder).model_config)
    job = {"do": "details", "text": "I read", "request": {"path": [4, 2]}, "step": 0, "opened": Opened("x")}
    with pytest.raises(AssertionError, match="There is no block x at step 0"):
        run(folder, [job], words)


def test_links_open_the_same_place_as_in_the_app() -> None:
    loaded = load_model(CHECKPOINTS / TOKENIZERS_OF)
    blocks, steps = blocks_of(loaded.model_config), 3
    decoding = Decoding(random_trace(["a", "<eos>"], ["<sos>", "b", "c"]), "s", loaded.name)
    view = MachineView(decoding, loaded.model_config, blocks)
    heads, parts = (0, 1, 4, 5, 99999), ("", ".scores", ".joined", ".x", ".")
    texts = [*(block.name for block in blocks), *(f"decoder.1.cross_attn.h{n}{part}" for n in heads for part in parts)]
    texts += ["", *["x", "<b>", "logits.h1", "decoder.1.norm1.h1.x", "decoder.9.cross_attn.h1"]]
    texts += ["decoder.1.cross_attn.scores", "decoder.1.cross_attn.out_proj"]
    jobs = [{"do": "place", "text": text, "step": step, "steps": steps} for text in texts for step in (0, 2, 9)]
    for job, found in zip(jobs, run(loaded.folder, jobs, exported(loaded.model_config)), strict=True):
        opened = opened_of(job["text"], blocks)
        place = view.fitting(MachinePlace(opened.block, opened.head, opened.part, job["step"]))
        assert found == {"place": vars(place), "text": text_of(place)}, job["text"]
