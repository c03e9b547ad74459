"""Model folders: saved models load unchanged, and an inconsistent folder is refused with a message."""

import json
import os
import pickle
import shutil
import zipfile
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import safetensors.torch
import torch
from torch import nn

from model import checkpoint
from model.checkpoint import (
    average_weights,
    build_model,
    load_model,
    save_model,
    snapshot_path,
    stored_weights,
    write_weights,
)
from model.config import DataConfig, ModelConfig, TrainConfig
from model.embeddings import count_parameters
from model.folder import CheckpointError, check_name, find_model, list_models, tensor_shapes, write_json
from model.text.tokenizer import CharacterTokenizer
from model.transformer import Transformer
from tests.tiny import sources, targets, tiny_config, tiny_model

LETTERS = CharacterTokenizer.train(["abcdefghi"])  # 9 letters and 4 specials: the vocabulary of the tiny models


def saved(folder: Path, **changes: Any) -> Transformer:
    """A folder with a random model in it."""
    model = Transformer(tiny_config(**changes))
    save_model(
        folder,
        model,
        LETTERS,
        LETTERS,
        data=DataConfig(task="copy", tokenizer="characters"),
        training=TrainConfig(seed=9),
        card="# A card — with a dash\n",
        extra={"results": {"step": 5}},
    )
    return model


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("checkpoints") / "good"
    saved(folder)
    snapshot_path(folder, 40).parent.mkdir()
    write_weights(snapshot_path(folder, 40), stored_weights(Transformer(tiny_config())), half=True)
    return folder


@pytest.fixture
def broken(good: Path, tmp_path: Path) -> Path:
    """A copy of a good folder, to be broken."""
    return Path(shutil.copytree(good, tmp_path / "broken"))


def refusal(folder: Path) -> str:
    with pytest.raises(CheckpointError) as caught:
        load_model(folder)
    sentence = str(caught.value)
    assert sentence.endswith((".", "?"))
    assert "\n" not in sentence
    return sentence


@pytest.mark.parametrize(("share", "n_stored"), [("none", 3), ("target", 2), ("all", 1)])
@pytest.mark.parametrize("positions", ["sinusoidal", "learned", "none"])
def test_what_is_saved_comes_back(tmp_path: Path, share: str, n_stored: int, positions: str) -> None:
    """Matrices that are tied are stored once and stay tied."""
    model = saved(tmp_path / "model", share_embeddings=share, positions=positions).eval()
    loaded = load_model(tmp_path / "model")
    assert not loaded.model.training
    assert not any(parameter.requires_grad for parameter in loaded.model.parameters())
    assert torch.equal(loaded.model(sources(4, 3), targets(3, 5)), model(sources(4, 3), targets(3, 5)))
    assert (loaded.model_config, loaded.train_config.seed, loaded.data_config.task) == (model.config, 9, "copy")
    assert (loaded.source, loaded.card) == (LETTERS, "# A card — with a dash\n")
    shapes = tensor_shapes(tmp_path / "model" / "model.safetensors")
    assert sum(shape == (13, 16) for shape in shapes.values()) == n_stored
    assert sum(torch.Size(shape).numel() for shape in shapes.values()) == count_parameters(model)
    assert (loaded.model.output.weight is loaded.model.tgt_embedding.weight) == (share != "none")
    assert (loaded.model.src_embedding.weight is loaded.model.tgt_embedding.weight) == (share == "all")


def test_the_bytes_are_those_of_the_library_and_others_may_read_them(tmp_path: Path) -> None:
    """A server may run as another user than the one who trained or imported the model."""
    weights = {name: torch.randn(3, n).t() for n, name in enumerate(("b", "ä", "a"))}
    for half, expected in ((False, weights), (True, {name: tensor.half() for name, tensor in weights.items()})):
        write_weights(tmp_path / "w", weights, half=half)
        plain = {name: tensor.contiguous() for name, tensor in expected.items()}
        assert (tmp_path / "w").read_bytes() == safetensors.torch.save(plain)
    (tmp_path / "other").write_bytes(b"")
    assert (tmp_path / "w").stat().st_mode == (tmp_path / "other").stat().st_mode
    numbers = torch.arange(5, dtype=torch.uint8)
    mixed = {"i": torch.tensor(7), "u": numbers, "f": torch.ones(2, 2), "b": numbers > 2}
    write_weights(tmp_path / "w", mixed)
    found = safetensors.torch.load_file(tmp_path / "w")
    torch.testing.assert_close(found, mixed, rtol=0, atol=0)


def test_averaging_is_the_mean_in_float32() -> None:
    mean = average_weights([{"a": torch.full((3,), float(n)), "b": torch.tensor([n * 1e-3])} for n in (1, 2, 6)])
    torch.testing.assert_close(mean, {"a": torch.full((3,), 3.0), "b": torch.tensor([3e-3])})


def test_an_existing_model_is_not_overwritten_unasked(tmp_path: Path) -> None:
    model = saved(tmp_path / "model")
    before = (tmp_path / "model" / "model.safetensors").read_bytes()
    with pytest.raises(CheckpointError, match=r"there is a model 'model' already"):
        saved(tmp_path / "model")
    arguments = {"data": DataConfig(), "training": TrainConfig(), "card": "new"}
    full_disk = mock.patch("model.checkpoint.write_weights", side_effect=OSError(28, "No space left on device"))
    with full_disk, pytest.raises(OSError, match="No space left"):
        save_model(tmp_path / "model", model, LETTERS, LETTERS, overwrite=True, **arguments)
    assert (tmp_path / "model" / "model.safetensors").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["model"], "nothing half-written stays behind"
    save_model(tmp_path / "model", model, LETTERS, LETTERS, overwrite=True, **arguments)
    assert load_model(tmp_path / "model").card == "new"
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", "../x", "a/b", "a\\b", "/etc", ".hidden", "-flag", "x" * 65, "a.", "nul", "COM1.txt", "a\nb", "ä"],
)
def test_names_that_could_lead_elsewhere_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(CheckpointError, match="cannot name a model"):
        check_name(name)
    with pytest.raises(CheckpointError):
        find_model(tmp_path, name)


# Inconsistent folders


@pytest.mark.parametrize("kept", [None, 0, 5, 8, 60, 2000, -1])
@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "model.safetensors"])
def test_a_missing_or_cut_off_file_is_named(broken: Path, name: str, kept: int | None) -> None:
    content = (broken / name).read_bytes()
    if kept is None:
        (broken / name).unlink()
        assert f"broken/{name} is missing" in refusal(broken)
    elif content[:kept].strip() != content.strip():  # a text file may be shorter, or end in a newline
        (broken / name).write_bytes(content[:kept])
        assert f"broken/{name}" in refusal(broken)
        (summary,) = list_models(broken.parent)
        assert name != "model.safetensors" or "damaged or cut off" in summary["error"]


def change_config(folder: Path, section: str | None, **changes: Any) -> None:
    config = json.loads((folder / "config.json").read_text())
    (config[section] if section else config).update(changes)
    write_json(folder / "config.json", config)


@pytest.mark.parametrize(
    ("section", "changes", "sentence"),
    [
        (None, {"format_version": 2}, "a newer Headlight"),
        (None, {"model": None}, "no section 'model'"),
        ("model", {"d_modle": 3}, "Did you mean 'd_model'"),
        ("model", {"n_encoder_layers": 3}, "too few weights|has no weights"),
        ("model", {"n_encoder_layers": 1}, "which its configuration does not know"),
        ("model", {"n_encoder_layers": 10**9}, "at most 1,000"),
        ("model", {"d_model": 2**17, "n_encoder_heads": 1, "n_decoder_heads": 1}, "too few weights"),
        ("model", {"d_model": 2**40, "n_encoder_heads": 1, "n_decoder_heads": 1}, "at most 131,072"),
        ("model", {"d_ff": 10**5}, "too few weights"),
        ("model", {"d_ff": 10**12}, "at most 131,072"),
        ("model", {"d_ff": 8}, "has shape"),
        ("model", {"max_positions": 10**12}, "max_positions=1000000000000"),
        ("model", {"tgt_vocab_size": 12}, "target tokenizer knows 13 tokens"),
        ("model", {"share_embeddings": "none"}, "has no weights|too few weights"),
        ("data", {"tokenizer": "syllables"}, "tokenizer is one of"),
        ("training", {"seed": 1.5}, "seed must be of type int"),
    ],
)
def test_a_configuration_that_does_not_fit_is_refused(
    broken: Path, section: str | None, changes: dict[str, Any], sentence: str
) -> None:
    change_config(broken, section, **changes)
    with pytest.raises(CheckpointError, match=sentence):
        load_model(broken)


@pytest.mark.parametrize(
    ("name", "tensor", "said"),
    [
        ("output.bias", torch.zeros(13), "'output.bias', which its configuration does not know"),
        ("tgt_embedding.weight", torch.full((13, 16), float("nan")), "not finite"),
        ("tgt_embedding.weight", torch.full((13, 16), 70_000.0), "larger than any weight"),
        ("tgt_embedding.weight", torch.zeros(13, 16, dtype=torch.int64), "damaged"),
    ],
)
def test_weights_of_another_kind_are_refused(broken: Path, name: str, tensor: torch.Tensor, said: str) -> None:
    path = broken / "model.safetensors"
    safetensors.torch.save_file(safetensors.torch.load(path.read_bytes()) | {name: tensor}, path)
    assert said in refusal(broken)


def header(entries: dict[str, Any], data: bytes) -> bytes:
    text = json.dumps(entries).encode()
    return len(text).to_bytes(8, "little") + text + data


@pytest.mark.parametrize(
    "content",
    [
        header({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}, b"\0" * 9),
        header({"a": {"dtype": "F32", "shape": [2**40], "data_offsets": [0, 8]}}, b"\0" * 8),
        header({"a": {"dtype": "F32", "shape": [-2], "data_offsets": [0, -8]}}, b""),
        header({"a": {"dtype": "F32", "shape": "2", "data_offsets": [0, 8]}}, b"\0" * 8),
        header({"a": {"dtype": "F32", "shape": [2], "data_offsets": [4, 12]}}, b"\0" * 12),
        header({"a": {"dtype": "F99", "shape": [2], "data_offsets": [0, 8]}}, b"\0" * 8),
        header({"a": [1]}, b""),
        header([], b""),
        (2**62).to_bytes(8, "little") + b"{}",
        b"\x80\x05" + b"x" * 40,
    ],
)
def test_headers_that_lie_are_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "model.safetensors"
    path.write_bytes(content)
    with pytest.raises(CheckpointError, match=r"model\.safetensors is"):
        tensor_shapes(path)
    # A length of 640 = 0x0280 is stored as the bytes that open a pickle, and is none.
    honest = json.dumps({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}).encode().ljust(640)
    path.write_bytes((640).to_bytes(8, "little") + honest + b"\0" * 8)
    assert tensor_shapes(path) == {"a": (2,)}


class Bomb:
    """An object that must never be created: unpickling it would leave a file."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, ("exploded",)


def test_pickles_are_refused_and_never_opened(broken: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(broken.parent)
    (broken / "model.safetensors").write_bytes(pickle.dumps(Bomb()))
    assert "is a pickle, not safetensors" in refusal(broken)
    with zipfile.ZipFile(broken / "model.safetensors", "w") as archive:
        archive.writestr("archive/data.pkl", pickle.dumps(Bomb()))
    assert "is a pickle, not safetensors" in refusal(broken)
    (broken / "pytorch_model.bin").write_bytes(pickle.dumps(Bomb()))
    assert "broken/pytorch_model.bin is a pickle, which could run code" in refusal(broken)
    assert not Path("exploded").exists()


def test_a_link_that_leads_out_is_refused(broken: Path, good: Path) -> None:
    (broken / "model.safetensors").unlink()
    (broken / "model.safetensors").symlink_to(good / "model.safetensors")
    assert "a link that leads out of the model folder" in refusal(broken)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no pipes in its file system")
@pytest.mark.parametrize("name", ["metrics.jsonl", "state/optimizer.safetensors", "snapshots/10.safetensors"])
def test_a_pipe_is_refused_since_reading_it_would_not_end(broken: Path, name: str) -> None:
    (broken / name).parent.mkdir(exist_ok=True)
    (broken / name).unlink(missing_ok=True)
    os.mkfifo(broken / name)
    assert "is a pipe or a device" in refusal(broken)


@pytest.mark.parametrize("share", ["none", "target", "all"])
def test_weights_mapped_from_their_file_are_the_same_model(
    share: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is drawn or copied, tied matrices are one parameter, and the file may be replaced meanwhile."""
    config = tiny_config(share_embeddings=share)
    path = tmp_path / "model.safetensors"
    model = tiny_model(share_embeddings=share)
    write_weights(path, stored_weights(model))
    read = build_model(config, path)
    monkeypatch.setattr(checkpoint, "MAPPED_BYTES", 0)
    chance = torch.get_rng_state()
    mapped = build_model(config, path)
    assert torch.equal(chance, torch.get_rng_state())
    assert count_parameters(mapped) == count_parameters(read) == count_parameters(model)
    assert [name for name, _ in mapped.named_parameters()] == [name for name, _ in read.named_parameters()]
    assert not any(parameter.requires_grad for parameter in mapped.parameters())
    write_weights(path, {name: 0 * tensor for name, tensor in stored_weights(model).items()})
    for name, tensor in read.state_dict().items():
        assert torch.equal(mapped.state_dict()[name], tensor)
        assert mapped.state_dict()[name].stride() == tensor.stride()
    for loaded in (read, mapped):  # what a step multiplies by a single row is laid out for it
        for module in loaded.modules():
            if isinstance(module, nn.Linear):
                high = module.out_features >= 2 * module.in_features
                assert module.weight.t().is_contiguous() is high
    src, tgt = sources(5, 3), targets(4, 2)
    torch.testing.assert_close(mapped(src, tgt), read(src, tgt), rtol=0, atol=1e-6)
    zeros = build_model(config, path)
    assert not any(tensor.any() for name, tensor in zeros.state_dict().items())


@pytest.mark.parametrize("kind", [torch.float32, torch.float16, torch.bfloat16])
def test_one_number_that_is_not_finite_is_found(kind: torch.dtype) -> None:
    numbers = torch.linspace(-60_000, 60_000, 40).reshape(8, 5).to(kind)
    assert checkpoint.all_usable(numbers)
    assert checkpoint.all_usable(numbers[:0])
    for wrong in (torch.nan, torch.inf, -torch.inf):
        assert not checkpoint.all_usable(numbers.clone().index_fill_(0, torch.tensor(3), wrong))


def test_a_large_model_file_of_small_tensors_cannot_make_us_allocate(tmp_path: Path) -> None:
    """Many tiny tensors must not pass for the many layers of a wide model."""
    path = tmp_path / "model.safetensors"
    safetensors.torch.save_file({f"t{i}": torch.zeros(1) for i in range(500)} | {"big": torch.zeros(100_000)}, path)
    config = ModelConfig(src_vocab_size=5, tgt_vocab_size=5, d_model=16, d_ff=4000, n_encoder_layers=400)
    with pytest.raises(CheckpointError, match="too few weights"):
        build_model(config, path)
