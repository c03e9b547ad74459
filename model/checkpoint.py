"""Save, load and average models, with torch; model/folder.py handles the other files of a model folder.

Weights are stored as safetensors, each tied matrix once under its canonical name; nothing is ever unpickled.
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import safetensors
import safetensors.torch
import torch
from safetensors import SafetensorError, TensorSpec
from torch import Tensor, nn

from model.analysis.size import budget
from model.architectures import Model, assign_weights, empty_transformer, make_model
from model.config import (
    FORMAT_VERSION,
    ConfigError,
    DataConfig,
    ModelConfig,
    TrainConfig,
    from_dict,
    to_dict,
)
from model.fast.layout import column_major
from model.folder import (
    CARD,
    CONFIG,
    MAX_JSON_BYTES,
    SNAPSHOTS,
    TOKENIZER,
    WEIGHTS,
    CheckpointError,
    check_name,
    label,
    read_card,
    read_config,
    read_json,
    refuse_pickles,
    replace_file,
    replacing,
    summarize,
    tensor_shapes,
    write_bytes,
    write_json,
)
from model.text.pieces import TokenizerError
from model.text.tokenizer import Tokenizer
from model.text.tokenizer_kinds import tokenizers_from_dict, tokenizers_to_dict
from model.transformer import Transformer
from model.wording import Later

MAPPED_BYTES = 64 * 1024**2  # larger weight files are memory-mapped
MAX_WEIGHT = 65_504.0  # the largest number in half precision; matmuls with much larger ones overflow
MAX_POSITIONS = 1_000_000  # a larger table would exhaust memory before the error could be reported


@dataclass(frozen=True)
class LoadedModel:
    """A model ready for use (evaluation mode, no gradients) with its configuration, tokenizers, card and summary."""

    name: str
    folder: Path
    model: Model
    source: Tokenizer
    target: Tokenizer
    model_config: ModelConfig
    data_config: DataConfig
    train_config: TrainConfig
    card: str
    summary: dict[str, Any]

    @property
    def transformer(self) -> Transformer:
        """The model, where a Transformer is required.

        Raises:
            CheckpointError: it is another architecture.
        """
        if not isinstance(self.model, Transformer):
            raise CheckpointError("{name} is an LSTM; this needs a Transformer.", name=self.name)
        return self.model


def stored_weights(model: Model) -> dict[str, Tensor]:
    """The model's parameters as they are stored: on the CPU, tied matrices once under their canonical name."""
    aliases = model.tied_names()
    return {
        name: tensor.detach().cpu().contiguous() for name, tensor in model.state_dict().items() if name not in aliases
    }


def load_stored(model: Model, weights: Mapping[str, Tensor]) -> None:
    """Give the model weights as :func:`stored_weights` returns them.

    Raises:
        KeyError: they belong to another model.
    """
    aliases = model.tied_names()
    model.load_state_dict({name: weights[aliases.get(name, name)] for name in model.state_dict()})


def write_weights(path: Path, weights: Mapping[str, Tensor], *, half: bool = False) -> None:
    """Write tensors as safetensors atomically; `half` stores them in half precision (for snapshots).

    The file is the same as the library's own functions write, but they either hold all bytes in memory a second time
    or make the file readable by its owner alone.
    """
    names = sorted(weights, key=lambda name: (-weights[name].element_size(), name))  # so that each tensor is aligned
    header: dict[str, Any] = {}
    end = 0
    for name in names:
        tensor, dtype = weights[name], torch.float16 if half else weights[name].dtype
        begin, end = end, end + tensor.numel() * dtype.itemsize
        spec = TensorSpec(dtype=str(dtype).removeprefix("torch."), shape=tensor.shape, data_ptr=1, data_len=end - begin)
        header[name] = {"dtype": spec.dtype, "shape": list(tensor.shape), "data_offsets": [begin, end]}
    header_bytes = msgspec.json.encode(header)
    header_bytes += b" " * (-len(header_bytes) % 8)
    with replacing(path) as temporary, open(temporary, "wb") as file:
        file.write(len(header_bytes).to_bytes(8, "little") + header_bytes)
        for name in names:
            tensor = weights[name].half() if half else weights[name]
            file.write(tensor.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().data)


def read_weights(
    path: Path, expected: Mapping[str, tuple[int, ...]], *, mapped: bool = False, by_columns: Collection[str] = ()
) -> dict[str, Tensor]:
    """Read tensors of exactly these names and shapes; `mapped` tensors are views of the file, which must not change.

    The matrices named in `by_columns` are copied into that layout in either case (see :func:`column_major`).

    Raises:
        CheckpointError: missing, truncated, a pickle, unexpected names or shapes, or numbers that cannot be weights.
    """
    shapes = tensor_shapes(path)
    for name in expected.keys() - shapes.keys():
        raise CheckpointError(
            "{label} has no weights '{name}', which its configuration asks for.", label=label(path), name=name
        )
    for name, shape in shapes.items():
        if name not in expected:
            raise CheckpointError(
                "{label} has weights '{name}', which its configuration does not know.", label=label(path), name=name
            )
        if shape != expected[name]:
            raise CheckpointError(
                "{label}: '{name}' has shape {shape}, but its configuration asks for {needed}.",
                label=label(path),
                name=name,
                shape=list(shape),
                needed=list(expected[name]),
            )
    try:
        if mapped:
            tensors = {}
            for name in by_columns:  # each with a mapping of its own, which ends, so that it is not held twice
                with safetensors.safe_open(path, framework="pt") as file:
                    tensors[name] = column_major(file.get_tensor(name))
            with safetensors.safe_open(path, framework="pt") as file:
                tensors |= {name: file.get_tensor(name) for name in shapes.keys() - tensors.keys()}
        else:
            tensors = safetensors.torch.load(path.read_bytes())
            tensors |= {name: column_major(tensors[name]) for name in by_columns}
    except (SafetensorError, OSError) as error:
        raise CheckpointError("{label} cannot be read: {error}.", label=label(path), error=error) from None
    for name, tensor in tensors.items():
        if not all_usable(tensor):
            raise CheckpointError(
                "{label}: '{name}' holds numbers that are not finite, or larger than any weight; training went wrong.",
                label=label(path),
                name=name,
            )
    return tensors


def all_usable(tensor: Tensor) -> bool:
    """Whether every number is finite and within `MAX_WEIGHT`; computed from the extremes, which is fast."""
    # With a NaN among the numbers, both extremes are NaN.
    in_order = tensor if tensor.is_contiguous() else tensor.t()  # see column_major
    return not tensor.numel() or all(abs(extreme.item()) <= MAX_WEIGHT for extreme in in_order.aminmax())


def average_weights(sets: Sequence[Mapping[str, Tensor]]) -> dict[str, Tensor]:
    """The mean of several sets of weights of the same shapes, summed in float64."""
    return {
        name: (sum(weights[name].double() for weights in sets) / len(sets)).to(tensor.dtype)  # type: ignore[union-attr]
        for name, tensor in sets[0].items()
    }


def save_model(
    folder: Path,
    model: Model,
    source: Tokenizer,
    target: Tokenizer,
    *,
    data: DataConfig,
    training: TrainConfig,
    card: str,
    extra: Mapping[str, Any] | None = None,
    overwrite: bool = False,
) -> None:
    """Write a whole model folder under a temporary name, then rename it.

    `extra` is merged into config.json (title, preset, results, runtime).

    Raises:
        CheckpointError: the name is invalid, or the folder exists and `overwrite` is False.
    """
    check_name(folder.name)
    if folder.exists() and not overwrite:
        raise CheckpointError(
            "there is a model '{name}' already; choose another name or pass --overwrite.", name=folder.name
        )
    folder.parent.mkdir(parents=True, exist_ok=True)
    building = folder.with_name(f".{folder.name}.building")
    shutil.rmtree(building, ignore_errors=True)
    building.mkdir()
    try:
        write_json(building / CONFIG, config_sections(model.config, data, training, extra))
        write_json(building / TOKENIZER, tokenizers_to_dict(source, target))
        write_bytes(building / CARD, card.encode())
        write_weights(building / WEIGHTS, stored_weights(model))
        if folder.exists():
            doomed = folder.with_name(f".{folder.name}.replaced")
            shutil.rmtree(doomed, ignore_errors=True)
            replace_file(folder, doomed)
            replace_file(building, folder)
            shutil.rmtree(doomed, ignore_errors=True)
        else:
            replace_file(building, folder)
    finally:
        shutil.rmtree(building, ignore_errors=True)


def config_sections(
    model: ModelConfig, data: DataConfig, training: TrainConfig, extra: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The content of config.json."""
    return {
        "format_version": FORMAT_VERSION,
        "model": to_dict(model),
        "data": to_dict(data),
        "training": to_dict(training),
        **(extra or {}),
    }


def load_model(folder: str | Path, *, snapshot: int | None = None) -> LoadedModel:
    """Load a model for use: evaluation mode, float32, on the CPU, no gradients.

    `snapshot` selects the weights saved at that training step (see :func:`snapshot_steps`) instead of the final ones.

    Raises:
        CheckpointError: the folder is missing, damaged, of another shape, of a newer format, or contains a pickle.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise CheckpointError("there is no model folder '{name}'.", name=folder.name)
    description = read_run(folder)
    path = folder / WEIGHTS if snapshot is None else snapshot_path(folder, snapshot)
    return LoadedModel(
        name=folder.name,
        folder=folder,
        model=build_model(description.model, path),
        source=description.source,
        target=description.target,
        model_config=description.model,
        data_config=description.data,
        train_config=description.training,
        card=read_card(folder),
        summary=summarize(folder),
    )


@dataclass(frozen=True)
class Description:
    """A model folder's configuration and tokenizers; `extra` is the rest of config.json."""

    model: ModelConfig
    data: DataConfig
    training: TrainConfig
    source: Tokenizer
    target: Tokenizer
    extra: dict[str, Any]


def read_run(folder: Path) -> Description:
    """Read and check a folder's configuration and tokenizers."""
    refuse_pickles(folder)
    sections = read_config(folder)
    try:
        model = from_dict(ModelConfig, sections["model"])
        data = from_dict(DataConfig, sections["data"])
        training = from_dict(TrainConfig, sections["training"])
    except (ConfigError, TypeError) as error:
        raise CheckpointError("{label}: {error}", label=label(folder / CONFIG), error=error) from None
    source, target = read_tokenizers(folder)
    sizes = (("source", source, model.src_vocab_size), ("target", target, model.tgt_vocab_size))
    for side, tokenizer, size in sizes:
        if len(tokenizer) != size:
            raise CheckpointError(
                "{label}: the {side} tokenizer knows {tokenizer} tokens, but the model was built for {size}.",
                label=label(folder / TOKENIZER),
                side=Later(side),
                tokenizer=len(tokenizer),
                size=size,
            )
    parsed = ("format_version", "model", "data", "training")
    extra = {key: value for key, value in sections.items() if key not in parsed}
    return Description(model, data, training, source, target, extra)


def read_tokenizers(folder: Path) -> tuple[Tokenizer, Tokenizer]:
    """Read the source and target tokenizer of a folder; one object if both are the same.

    Raises:
        CheckpointError: tokenizer.json is missing or invalid.
    """
    path = folder / TOKENIZER
    values = read_json(path, MAX_JSON_BYTES)
    try:
        return tokenizers_from_dict(values)
    except TokenizerError as error:
        raise CheckpointError("{label}: {error}", label=label(path), error=error) from None


def build_model(config: ModelConfig, path: Path) -> Model:
    """A model with the weights of one safetensors file."""
    # The sizes come from an untrusted file: compare them with the weights before allocating anything.
    stored = tensor_shapes(path)
    if config.architecture == "lstm":  # four gates that read two vectors; the encoder's are half as wide
        needed = (6 * config.n_encoder_layers + 8 * config.n_decoder_layers) * config.d_model**2
    else:
        needed = sum(part.parameters for part in budget(config, 1, 1))
    if needed > 2 * sum(math.prod(shape) for shape in stored.values()):  # of a smaller difference, the shape is named
        raise CheckpointError("{label} holds too few weights for the sizes in its configuration.", label=label(path))
    if config.max_positions > MAX_POSITIONS:
        raise CheckpointError(
            "{label}: max_positions={max_positions} is more than {most}.",
            label=label(path),
            max_positions=config.max_positions,
            most=MAX_POSITIONS,
        )
    if config.architecture == "lstm":
        lstm = make_model(config)
        load_stored(lstm, _read_float(path, lstm, mapped=False))
        return lstm.eval().requires_grad_(False)
    model = empty_transformer(config)
    # A mapped file is not copied into memory, and all processes that use it share its pages.
    assign_weights(model, _read_float(path, model, mapped=path.stat().st_size >= MAPPED_BYTES))
    return model.eval().requires_grad_(False)


def _read_float(path: Path, model: Model, *, mapped: bool) -> dict[str, Tensor]:
    """The model's weights from a file, in float32; matrices of products that are high are laid out by columns."""
    aliases = model.tied_names()
    shapes = {name: tuple(tensor.shape) for name, tensor in model.state_dict().items() if name not in aliases}
    names = {f"{name}.weight" for name, module in model.named_modules() if isinstance(module, nn.Linear)}
    names = {aliases.get(name, name) for name in names}
    high = {name for name in names if shapes[name][0] >= 2 * shapes[name][1]}
    weights = read_weights(path, shapes, mapped=mapped, by_columns=high)
    return {name: tensor.float() for name, tensor in weights.items()}


def snapshot_path(folder: Path, step: int) -> Path:
    """The path of the weights saved at a training step."""
    return folder / SNAPSHOTS / f"step-{step:08d}.safetensors"


def snapshot_steps(folder: str | Path) -> list[int]:
    """Training steps with weights saved in the folder, ascending."""
    names = (path.stem.removeprefix("step-") for path in (Path(folder) / SNAPSHOTS).glob("step-*.safetensors"))
    return sorted(int(name) for name in names if name.isdecimal())
