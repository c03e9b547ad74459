"""The machine shows the recorded tensors: for shipped models and all kinds of others, for one token and for sixty."""

import dataclasses
import functools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch

from explorer.browser import wire
from explorer.browser.machine_model import BLOCK_PARTS
from explorer.browser.machine_numbers import encode_numbers
from explorer.browser.machine_payload import COLUMNS, NUMBERS, MachineView, encode, encode_details, pooled
from explorer.browser.machine_stages import is_target
from explorer.browser.machine_structs import NumbersRequest, TensorSlice
from explorer.browser.structs import MachinePlace, Opened
from explorer.decoding.decoding import Decoding
from explorer.decoding.model_diagram import MEMORY, Block, blocks_of
from explorer.decoding.translator import Translation, Translator
from explorer.locale.glossary import address_of
from model.analysis.operations import Recording, added_positions, whole_runs
from model.architectures import make_transformer
from model.checkpoint import LoadedModel, load_model
from model.config import EOS, SOS, DecodeConfig, ModelConfig
from model.dry_run import points
from model.recording import PointRecorder
from tests.explorer.planted_heads import random_trace
from tests.explorer.toy_models import untrained
from tests.paths import CHECKPOINTS
from tests.some import some

MODELS = ("adjective-swap", "adjective-swap-unmasked", "multi30k-en-de", "reverse", "reverse-decoder", "reverse-lstm")
WORDS = {"reverse": "a b", "reverse-lstm": "a b"}
# Untrained models with the tokenizers of a shipped one, of kinds that are not shipped.
OTHERS: dict[str, dict[str, Any]] = {
    "rope": {"positions": "rope"},
    "alibi": {"positions": "alibi"},
    "gate": {"attention_gate": True, "positions": "none"},
    "uneven": {"norm_first": True, "n_encoder_layers": 1, "n_decoder_layers": 3, "n_encoder_heads": 2},
    "six": {"n_encoder_layers": 6, "n_decoder_layers": 6},
    "bare": {"residual": False},
    "bart": {"norm_embeddings": True, "positions": "learned", "activation": "gelu", "output_bias": True},
}
OTHERS_OF = "adjective-swap"
TEXTS = {"one": 1, "some": 5, "sixty": 60}
PAPER = ModelConfig(src_vocab_size=9, tgt_vocab_size=9, n_encoder_layers=1, n_decoder_layers=1, d_model=16, d_ff=16)


@functools.cache
def loaded_model(name: str) -> LoadedModel:
    if name not in OTHERS:
        return load_model(CHECKPOINTS / name)
    base = loaded_model(OTHERS_OF)
    model = untrained(dataclasses.replace(base.model_config, **OTHERS[name]), len(name))
    return dataclasses.replace(base, name=name, model=model, model_config=model.config)


@functools.cache
def made(name: str, length: str) -> tuple[MachineView, Translation, tuple[Recording, ...]]:
    """The machine of a shipped model with about so many source tokens, as the page makes it."""
    loaded = loaded_model(name)
    translator, config = Translator(loaded), loaded.model_config
    word = "a" if name in WORDS else "red"
    count = min(TEXTS[length], translator.max_source_tokens)
    text = word if count == 1 else (WORDS.get(name, "I read red books") + f" {word}" * count)
    encoding = loaded.source.encode(text)
    text = encoding.text[: encoding.offsets[min(count, len(encoding)) - 1][1]]
    shown = translator.translate(text, DecodeConfig(max_length=min(60, config.max_positions)))
    runs = whole_runs(loaded.model, shown.source.ids, shown.path)
    return MachineView(shown, config, blocks_of(config)), shown, runs


def encoded(name: str, length: str) -> bytes:
    view, _, runs = made(name, length)
    return encode(view, runs, added_positions(loaded_model(name).model, runs[-1]))


@torch.inference_mode()
def recorded(name: str, shown: Translation, step: int) -> dict[str, torch.Tensor]:
    """Every point of a run up to a step, recorded without anything that the machine uses."""
    recorder = PointRecorder()
    model, ids = loaded_model(name).model, list(shown.source.ids)
    if model.config.has_encoder:
        source, read = [*ids, EOS], [SOS, *shown.path[: step - 1]]
    else:  # the rows of the prompt come first
        first, *rest = model.config.prompt(ids)
        assert list(shown.path[: len(rest)]) == rest
        source, read = [], [first, *shown.path[: step - 1]]
    model(torch.tensor([source], dtype=torch.long), torch.tensor([read]), tap=recorder)
    return recorder.tensors


def pictures(name: str, length: str) -> Iterator[tuple[Block, dict[str, Any], np.ndarray[Any, Any]]]:
    header, arrays = wire.read(encoded(name, length))
    numbers = arrays["numbers"]
    for block in made(name, length)[0].blocks:
        found = header["facts"][block.name]["picture"]
        if found is not None:
            end = found["at"] + found["rows"] * found["width"]
            yield block, found, numbers[found["at"] : end].reshape(found["rows"], found["width"])


@pytest.mark.parametrize(
    ("name", "length"),
    [
        *some([(name, "some") for name in (*MODELS, *OTHERS)], 3),
        ("adjective-swap", "one"),
        ("reverse-decoder", "sixty"),
    ],
)
def test_pictures_are_the_recorded_tensors(name: str, length: str) -> None:
    view, shown, _ = made(name, length)
    last = len(shown.path)
    steps = sorted({1, (last + 1) // 2, last})
    tensors = {step: recorded(name, shown, step) for step in steps}
    seen = set()
    for block, picture, numbers in pictures(name, length):
        for step in steps:
            rows = step if is_target(block) else numbers.shape[0]
            first = step * (step - 1) // 2 if view.stepwise and picture["side"] == "target" else 0
            now = numbers[first : first + rows]
            point = f"{block.name}.weights" if block.attention else block.result or block.reads[0]
            value = tensors[step][point]
            if block.attention:
                wanted = value[0].mean(dim=0).numpy()
                now = now[:, : wanted.shape[1]]
            elif block.kind == "positions":
                wanted = (value - tensors[step][point.replace("positions", "scaled")])[0].numpy()[:rows, :NUMBERS]
            elif block.kind == "linear":
                wanted = value[0, -1].numpy()[shown.trace.top_ids[step - 1]]
                now = numbers[step - 1]
            elif block.kind == "initial":
                wanted = value[:, 0, :NUMBERS].numpy()
            else:
                wanted = value[0, :, :NUMBERS].numpy()
            assert now.shape == wanted.shape, block.name
            assert np.allclose(now, wanted, rtol=1e-4, atol=2e-5), (block.name, step)
            seen.add(block.kind)
    wanted_kinds = {block.kind for block in view.blocks} - {"tokens", "softmax", "word"}
    assert seen == wanted_kinds


@pytest.mark.parametrize("name", ["adjective-swap-unmasked", "multi30k-en-de", "reverse-decoder"])
def test_the_header_says_what_each_block_is_and_the_message_is_small(name: str) -> None:
    view, shown, runs = made(name, "some")
    payload = encoded(name, "some")
    assert len(payload) < 170_000, "kilobytes"
    assert len(encoded(name, "sixty")) < 1_000_000
    long = made(name, "sixty")[1].trace
    assert len(long.src_tokens or long.read_tokens) > 30 or view.config.max_positions <= 60
    header, _ = wire.read(payload)
    assert header["seq"] == shown.seq
    assert header["terms"]["self-attention"] == address_of("self-attention")
    counted = sum(facts["parameters"] for facts in header["facts"].values())
    assert counted == sum(parameter.numel() for parameter in set(loaded_model(name).model.parameters()))
    run = runs[-1]
    for block in view.blocks:
        shape = header["facts"][block.name]["shape"]
        point = f"{block.name}.weights" if block.attention else block.result
        if block.kind == "initial":
            assert shape == [run[point].shape[0], run[point].shape[2]], "layer, batch, number"
        elif point in run.operations and block.kind != "softmax":
            assert [size or len(shown.path) for size in shape] == list(run[point].shape[1:]), block.name


@pytest.mark.parametrize("name", some([*MODELS, *OTHERS], 3))
def test_what_is_opened_is_what_was_recorded(name: str) -> None:
    view, shown, runs = made(name, "some")
    loaded, last = loaded_model(name), len(shown.path)
    tensors = recorded(name, shown, last)
    for block in view.blocks:
        head = view.config.n_heads(block.attention) if block.attention else 0
        before = next(b for b in view.blocks if b.name == block.reads[0]) if block.name == MEMORY else None
        payload = encode_details(block, Opened(block.name, head), runs[-1], loaded.model, seq="s", step=0)
        header, arrays = wire.read(payload)
        if before is not None:
            assert [line["point"] for line in header["numbers"]] == [before.points[-1].rsplit(".", 1)[-1]]
        if block.attention:
            assert np.allclose(arrays["heads"], tensors[f"{block.name}.weights"][0].numpy(), atol=1e-5)
            for part in ("query", "key", "value", "scores", "weights", "output"):
                wanted = tensors[f"{block.name}.{part}"][0, head - 1].numpy()
                assert np.allclose(arrays[part], wanted, rtol=1e-4, atol=1e-4), (block.name, part)
            closed = tensors[f"{block.name}.masked"][0, head - 1].numpy() <= np.finfo(np.float32).min
            assert np.array_equal(np.isnan(arrays["masked"]), closed)
            for part in set(BLOCK_PARTS) & arrays.keys():
                wanted = tensors[f"{block.name}.{part}"][0, :, :COLUMNS].numpy()
                assert np.allclose(arrays[part], wanted, rtol=1e-3, atol=1e-3), (block.name, part)
            again = arrays["weights"] @ arrays["value"]
            assert np.allclose(again, arrays["output"], rtol=1e-3, atol=1e-4)
        if "W.q_proj" in arrays:
            known = {point.name: point.module for point in points(view.config)}
            module = loaded.model.get_submodule(known[f"{block.name}.q_proj"])
            x = torch.from_numpy(arrays["x.q_proj"].copy())
            assert np.allclose(module(x).detach().numpy(), arrays["q_proj"], rtol=1e-3, atol=1e-3)
        for line in header["numbers"]:
            known_points = block.points if before is None else before.points
            value = tensors[next(point for point in known_points if point.rsplit(".", 1)[-1] == line["point"])]
            if line["point"] == "masked":
                continue
            told = arrays[f"numbers.{line['point']}"]
            value = value.transpose(0, 1) if block.kind == "initial" else value
            rows = (value[0, head - 1] if value.dim() == 4 else value[0]).numpy()
            assert np.allclose(told[:, 0], rows.mean(axis=1), rtol=1e-3, atol=1e-4), (block.name, line["point"])
            assert np.allclose(told[:, 2], np.linalg.norm(rows, axis=1), rtol=1e-3, atol=1e-4)


def test_a_large_imported_model_sends_less_than_a_megabyte_at_a_time() -> None:
    sizes = {"d_model": 512, "n_encoder_heads": 8, "n_decoder_heads": 8, "n_encoder_layers": 6, "n_decoder_layers": 6}
    model = make_transformer(dataclasses.replace(PAPER, **sizes, d_ff=64, max_positions=128, tgt_vocab_size=999))
    runs = whole_runs(model, [4, 5, 6, 7] * 15, [4, 5, 6, 7] * 15)
    blocks = blocks_of(model.config)
    trace = random_trace(["a"] * 61, ["b"] * 60, layers=(6, 6), heads=(8, 8))
    view = MachineView(Decoding(trace, "s", "large"), model.config, blocks)
    sent = {"": len(encode(view, runs, added_positions(model, runs[-1])))}
    for block in (block for block in blocks if block.layer < 2):  # all layers are alike
        for head in (0, 8) if block.attention else (0,):
            opened = Opened(block.name, head)
            sent[block.name] = len(encode_details(block, opened, runs[-1], model, seq="s", step=0))
    assert max(sent.values()) < 1_000_000, max(sent, key=lambda name: sent[name])
    most = TensorSlice("encoder.layers.0.self_attn.q_proj.weight", 0, 0, 512, 0, 390)
    message = encode_numbers(NumbersRequest("s", 0, [most]), runs[-1], model)
    assert message is not None
    assert 700_000 < len(message) < 1_000_000
    assert encode_numbers(NumbersRequest("s", 0, [most, most]), runs[-1], model) is None


def names_of(config: ModelConfig, stack: str) -> list[str]:
    return [block.name.rsplit(".", 1)[-1] for block in blocks_of(config) if block.stack == stack and block.layer]


def test_blocks_follow_the_configuration() -> None:
    pre = dataclasses.replace(PAPER, norm_first=True)
    assert names_of(PAPER, "encoder") == ["self_attn", "residual1", "norm1", "feed_forward", "residual2", "norm2"]
    assert names_of(pre, "encoder") == ["norm1", "self_attn", "residual1", "norm2", "feed_forward", "residual2"]
    kinds = [block.kind for block in blocks_of(pre)]
    assert kinds.count("positions") == 2
    assert kinds[-3:] == ["linear", "softmax", "word"]
    for positions in ("rope", "alibi", "none"):
        bare = dataclasses.replace(PAPER, positions=positions, residual=False)
        assert not {"positions", "add"} & {block.kind for block in blocks_of(bare)}
    deep = blocks_of(dataclasses.replace(PAPER, n_encoder_layers=3, n_decoder_layers=2))
    assert {block.layer for block in deep if block.stack == "encoder"} == {0, 1, 2, 3}
    cross = [block.name for block in deep if block.attention == "cross"]
    assert cross == ["decoder.0.cross_attn", "decoder.1.cross_attn"]


@pytest.mark.parametrize(
    ("asked", "opened"),
    [
        (MachinePlace("decoder.0.cross_attn", 2, "scores"), MachinePlace("decoder.0.cross_attn", 2, "scores")),
        (MachinePlace("decoder.0.cross_attn", 5, "scores", 2), MachinePlace("decoder.0.cross_attn", step=2)),
        (MachinePlace("decoder.0.cross_attn", 1, "<b>", 999), MachinePlace("decoder.0.cross_attn", 1, "", 3)),
        (MachinePlace("decoder.0.cross_attn", 0, "scores"), MachinePlace("decoder.0.cross_attn")),
        (MachinePlace("decoder.0.cross_attn", 0, "joined"), MachinePlace("decoder.0.cross_attn", 0, "joined")),
        (MachinePlace("decoder.0.cross_attn", 1, "product"), MachinePlace("decoder.0.cross_attn", 1, "product")),
        (MachinePlace("logits", 1, step=-4), MachinePlace("logits")),
        (MachinePlace("x", 1, "scores"), MachinePlace()),
    ],
)
def test_only_what_exists_can_be_opened(asked: MachinePlace, opened: MachinePlace) -> None:
    decoding = Decoding(random_trace(["a", "<eos>"], ["<sos>", "b", "c"]), "s", "paper")
    assert MachineView(decoding, PAPER, blocks_of(PAPER)).fitting(asked) == opened


def test_no_tile_of_a_matrix_belongs_to_two_heads() -> None:
    matrix = np.zeros((24, 24), np.float32)
    matrix[8:16] = 1.0  # the results of the second of three heads
    wide = np.repeat(np.eye(4, dtype=np.float32), 33, axis=0)  # 132 results of four heads
    assert set(np.unique(pooled(wide, 4))) == {0.0, 1.0}, "a tile of two heads would be a mixture"
    first, second, third = np.split(pooled(matrix, 3), 3, axis=1)
    assert (first.max(), second.min(), third.max()) == (0, 1, 0)
    assert pooled(np.arange(12, dtype=np.float32).reshape(4, 3), 2).shape == (3, 4), "in by out"
