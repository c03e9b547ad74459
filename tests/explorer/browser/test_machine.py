"""The messages of the machine: their sizes, what a browser may open, and the numbers of an LSTM."""

import dataclasses
import functools

import numpy as np
import pytest
import torch

from explorer.browser import wire
from explorer.browser.machine_numbers import encode_numbers
from explorer.browser.machine_payload import NUMBERS, MachineView, encode, encode_details
from explorer.browser.machine_stages import stages_of
from explorer.browser.machine_structs import NumbersRequest, TensorSlice
from explorer.browser.machine_words import parts_of
from explorer.browser.structs import Opened
from explorer.decoding.decoding import Decoding
from explorer.decoding.model_diagram import blocks_of
from explorer.decoding.translator import Translation, Translator
from explorer.locale.glossary import address_of
from model.analysis.operations import Recording, added_positions, whole_runs
from model.architectures import make_transformer
from model.checkpoint import LoadedModel, load_model
from model.config import EOS, SOS, DecodeConfig, ModelConfig
from model.recording import PointRecorder
from tests.explorer.planted_heads import random_trace
from tests.paths import CHECKPOINTS

PAPER = ModelConfig(src_vocab_size=9, tgt_vocab_size=9, n_encoder_layers=1, n_decoder_layers=1, d_model=16, d_ff=16)


@functools.cache
def loaded_model(name: str) -> LoadedModel:
    return load_model(CHECKPOINTS / name)


@functools.cache
def made(name: str, count: int) -> tuple[MachineView, Translation, tuple[Recording, ...]]:
    """The machine of a shipped model with at most so many source tokens, as the page makes it."""
    loaded = loaded_model(name)
    translator, config = Translator(loaded), loaded.model_config
    text = "I read red books" + " red" * count
    encoding = loaded.source.encode(text)
    text = encoding.text[: encoding.offsets[min(count, translator.max_source_tokens, len(encoding)) - 1][1]]
    shown = translator.translate(text, DecodeConfig(max_length=min(60, config.max_positions)))
    runs = whole_runs(loaded.model, shown.source.ids, shown.path)
    return MachineView(shown, config, blocks_of(config)), shown, runs


def encoded(name: str, count: int) -> bytes:
    view, _, runs = made(name, count)
    return encode(view, runs, added_positions(loaded_model(name).model, runs[-1]))


@pytest.mark.parametrize("name", ["adjective-swap-unmasked", "multi30k-en-de", "reverse-decoder"])
def test_the_header_says_what_each_block_is_and_the_message_is_small(name: str) -> None:
    view, shown, runs = made(name, 5)
    payload = encoded(name, 5)
    assert len(payload) < 170_000, "kilobytes"
    assert len(encoded(name, 60)) < 1_000_000
    long = made(name, 60)[1].trace
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


@torch.inference_mode()
def test_the_numbers_of_an_lstm_are_the_recorded_tensors() -> None:
    """Those of a Transformer: test_live_machine.py, against another computation of it."""
    view, shown, (run,) = made("reverse-lstm", 5)
    recorder, model = PointRecorder(), loaded_model("reverse-lstm").model
    model(torch.tensor([[*shown.source.ids, EOS]]), torch.tensor([[SOS, *shown.path[:-1]]]), tap=recorder)
    header, arrays = wire.read(encoded("reverse-lstm", 5))
    for block in view.blocks:
        found = header["facts"][block.name]["picture"]
        if found is None or block.kind in ("linear", "memory"):
            continue
        numbers = arrays["numbers"][found["at"] : found["at"] + found["rows"] * found["width"]]
        value = recorder.tensors[f"{block.name}.weights" if block.attention else block.result]
        wanted = value[0].mean(dim=0) if block.attention else value[:, 0] if block.kind == "initial" else value[0]
        np.testing.assert_allclose(numbers.reshape(found["rows"], -1), wanted.numpy()[:, :NUMBERS], atol=2e-5)
        payload = encode_details(block, Opened(block.name, int(bool(block.attention))), run, model, seq="s", step=0)
        _, details = wire.read(payload)
        for point in run.operations.keys() & block.points:
            value, short = recorder.tensors[point], point.rpartition(".")[2]
            rows = value[:, 0] if block.kind == "initial" else value[0, 0] if value.dim() == 4 else value[0]
            lengths = details[f"numbers.{short}"][:, 2]
            if short != "masked":
                np.testing.assert_allclose(lengths, np.linalg.norm(rows.numpy(), axis=1), rtol=1e-3, atol=1e-4)


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


def test_a_decoder_alone_is_told_of_as_a_transformer_with_two_sublayers() -> None:
    config = loaded_model("reverse-decoder").model_config
    (block, *_) = (each for each in blocks_of(config) if each.attention)
    parts = parts_of(block, config)
    assert "W_Q" in parts["query"].words
    assert "without a matrix" not in parts["query"].words
    titles = {stage.point: stage.title for stage in stages_of(config)}
    assert titles["decoder.0.residual2"] == "Residual: x + feed-forward"
    lstm = loaded_model("reverse-lstm").model_config
    (cross,) = (each for each in blocks_of(lstm) if each.attention)
    assert "without a matrix" in parts_of(cross, lstm)["query"].words
