"""Convert imported weights to our parameters, with a ledger of the tensors that have not been used yet."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import psutil
import safetensors
import torch
from safetensors import SafetensorError
from torch import Tensor

from model.architectures import empty_transformer
from model.checkpoint import all_usable
from model.config import ModelConfig
from model.importing.family import Family
from model.importing.source_folder import ImportFailed
from model.importing.texts import Texts
from model.positions import sinusoidal_table
from model.wording import later

_COMPARED = 1024  # rows of two tables that are compared at a time
_POSITIONS = ("positions_src.embedding", "positions_tgt.embedding")


class Ledger:
    """The tensors of a model's files, with the names `left` of those not used yet, and the `parameters` set from them.

    `files` gives the file of each tensor. The names lack `prefix` if the model was saved without its output projection.

    Raises:
        ImportFailed: a file cannot be read, or the tensors do not fit into the memory.
    """

    def __init__(self, files: Mapping[str, Path], *, prefix: str) -> None:
        paths = sorted(set(files.values()))
        self.file = paths[0].name if len(paths) == 1 else "the weights"
        self.parameters: dict[str, Tensor] = {}
        self._prefix = "" if any(name.startswith(prefix) for name in files) else prefix
        self._paths = {self._prefix + name: path for name, path in files.items()}
        self.names = self._paths.keys()
        self.left = set(self.names)
        try:
            # Tensors are read one by one: the pages of a mapped file would stay in memory beside the new tensors.
            opened = {path: safetensors.safe_open(path, framework="pt", backend="pread") for path in paths}
            self._stored = {self._prefix + name: opened[path].get_slice(name) for name, path in files.items()}
        except (SafetensorError, OSError) as error:
            raise ImportFailed("{file} cannot be read: {error}.", file=self.file, error=error) from None
        self.n_halves = sum(tensor.get_dtype() in ("F16", "BF16") for tensor in self._stored.values())
        numbers = sum(math.prod(tensor.get_shape()) for tensor in self._stored.values())
        needed, free = 4 * numbers, psutil.virtual_memory().available
        if needed > free:
            raise ImportFailed(
                "the model has {numbers:,} numbers and needs {needed:,.1f} GB of memory, but only "
                "{free:,.1f} GB are free; import it on a machine with more memory, or choose a smaller model.",
                numbers=numbers,
                needed=needed / 1e9,
                free=free / 1e9,
            )

    def use(self, name: str) -> str | None:
        """Mark a tensor as used and return its name; None if there is none."""
        self.left.discard(name)
        return name if name in self.names else None

    def _checked(self, name: str, tensor: Tensor) -> Tensor:
        if not tensor.is_floating_point():
            raise ImportFailed(
                "{file}: {name} holds {dtype} and not numbers with a fraction.",
                file=self.file,
                name=name,
                dtype=tensor.dtype,
            )
        tensor = tensor.float()
        if not all_usable(tensor):
            raise ImportFailed(
                "{file}: {name} holds numbers that are not finite, or larger than any weight.",
                file=self.file,
                name=name,
            )
        return tensor

    def take(self, name: str, *shape: int) -> Tensor:
        """Use and read a tensor, of this shape if one is given.

        Raises:
            ImportFailed: there is none, it has another shape, or numbers that cannot be weights.
        """
        if self.use(name) is None:
            raise ImportFailed(
                "{file} has no tensor {name}, which a model of this configuration needs.", file=self.file, name=name
            )
        tensor = self._checked(name, self._stored[name][...])
        if shape and shape != tensor.shape:
            raise ImportFailed(
                "{file}: {name} has shape {shape}, but config.json asks for {needed}.",
                file=self.file,
                name=name,
                shape=list(tensor.shape),
                needed=list(shape),
            )
        return tensor

    def take_rows(self, name: str, rows: Sequence[int], order: Tensor) -> Tensor:
        """Use and read a table in another order of rows and columns; part by part, so that it is never there twice.

        Raises:
            ImportFailed: it has fewer rows or another number of columns, or numbers that cannot be weights.
        """
        self.use(name)
        shape = self._stored[name].get_shape()
        if shape[1:] != [len(order)] or shape[0] <= max(rows):
            raise ImportFailed(
                "{name} of shape {shape} does not fit {rows} tokens.", name=name, shape=shape, rows=max(rows) + 1
            )
        table, places = torch.empty(len(rows), len(order)), torch.tensor(rows)
        for at in range(0, shape[0], _COMPARED):
            here = (places >= at) & (places < at + _COMPARED)
            table[here] = self._checked(name, self._part(name, at))[places[here] - at][:, order]
        return table

    def _part(self, name: str, at: int) -> Tensor:
        """Up to `_COMPARED` rows of a tensor, from row `at` on; their file is mapped as long as they are used.

        A file opened with "pread" reads the whole tensor for a part of it.
        """
        with safetensors.safe_open(self._paths[name], framework="pt") as file:
            end = min(at + _COMPARED, self._stored[name].get_shape()[0])  # a slice beyond the last row is refused
            part: Tensor = file.get_slice(name.removeprefix(self._prefix))[at:end]
        return part

    def same(self, a: str, b: str) -> bool:
        """Whether two tensors of the file hold the same numbers; they are read and compared part by part."""
        shape = self._stored[a].get_shape()
        return a == b or (
            shape == self._stored[b].get_shape()
            and all(
                torch.equal(self._part(a, at).float(), self._part(b, at).float())
                for at in range(0, shape[0] if shape else 0, _COMPARED)
            )
        )

    def check_all_used(self) -> None:
        """Raise an ImportFailed that names tensors which were not used, if there are any."""
        if unused := sorted(self.left):
            raise ImportFailed(
                later(
                    "{file} has a tensor that no part of this model takes: {unused}.",
                    "{file} has {n:,} tensors that no part of this model takes, such as {unused}.",
                    file=self.file,
                    n=len(unused),
                    unused=", ".join(unused[:3]),
                )
            )


def set_tables(ledger: Ledger, family: Family, texts: Texts, order: Tensor, *, tied: bool) -> tuple[str, list[str]]:
    """Set embeddings and output projection, with rows and columns in our order.

    A shared table stored under several names must be equal under all of them. If the source's table holds the target's
    (see `with_own_specials`), both are one tensor in memory.

    Returns which of them are one, as ModelConfig.share_embeddings says it, and remarks.

    Raises:
        ImportFailed: a table is missing or has fewer rows than its vocabulary, or tables differ that the configuration
            says are one.
    """
    shared = ledger.use(f"{family.table}.weight")
    source = ledger.use(f"{family.prefix}encoder.embed_tokens.weight") or shared
    target = ledger.use(f"{family.prefix}decoder.embed_tokens.weight") or shared
    output = ledger.use("lm_head.weight") or (target if tied else None)
    if source is None or target is None or output is None:
        raise ImportFailed("the weights lack an embedding table or the output projection.")
    one_vocabulary = texts.source is texts.target
    same_output, same_source = ledger.same(target, output), ledger.same(source, target)
    if tied and not same_output:
        raise ImportFailed(
            "lm_head.weight differs from the target embedding, though config.json says that they are one."
        )
    if tied and one_vocabulary and not same_source:
        raise ImportFailed("the embeddings of source and target differ, though config.json says that they are one.")
    unused = shared is not None and not any(ledger.same(shared, table) for table in (source, target, output))
    if unused and tied:
        raise ImportFailed("{name} is none of the tables that the model uses.", name=shared)
    kind = "none" if not same_output else "all" if same_source and one_vocabulary and family.has_encoder else "target"
    wanted = {"tgt_embedding": (target, texts.target.rows)}
    if kind == "none":
        wanted["output"] = output, texts.target.rows
    if kind != "all" and family.has_encoder:
        own = ledger.take_rows(source, texts.source.rows, order)
        ledger.parameters["src_embedding.weight"] = own
        n_own = len(own) - len(texts.target.rows)
        if same_source and texts.source.rows[n_own:] == texts.target.rows:
            ledger.use(target)
            ledger.parameters["tgt_embedding.weight"] = own[n_own:]
            del wanted["tgt_embedding"]
    for ours, (theirs, rows) in wanted.items():
        ledger.parameters[f"{ours}.weight"] = ledger.take_rows(theirs, rows, order)
    return kind, [f"{shared} is not used, since the model reads each side's own table."] if unused else []


def set_parameters(ledger: Ledger, family: Family, model: ModelConfig, settings: Any, order: Tensor) -> None:
    """Set every parameter of a model that is not set yet; `order` permutes the dimensions of its residual stream.

    Raises:
        ImportFailed: a tensor is missing or has another shape.
    """
    expected = empty_transformer(model)
    gate, others = "_0" if model.feed_forward == "gated" else "", {*ledger.parameters, *expected.tied_names()}
    for name, parameter in expected.state_dict().items():
        if name in others:
            continue
        shape, (module, _, part) = tuple(parameter.shape), name.rpartition(".")
        if part == "bias" and module.endswith(family.unbiased):
            ledger.parameters[name] = torch.zeros(shape)
            continue
        theirs, _, third = family.module(module, gate).partition(":")
        first = family.skipped_positions if module in _POSITIONS else 0
        rows = settings.max_positions + first if module in _POSITIONS else shape[0] * (3 if third else 1)
        turned = family.transposed and len(shape) == 2 and ".layers." in module
        tensor = ledger.take(f"{theirs}.{part}", *reversed((rows, *shape[1:])) if turned else (rows, *shape[1:]))
        tensor = tensor.T if turned else tensor
        tensor = tensor.chunk(3)[int(third)].clone() if third else tensor[first : first + shape[0]]
        if family.interleaved:
            of_stream = module.endswith(("out_proj", "linear2")) or "norm" in module
            tensor = tensor[order] if of_stream else tensor[:, order] if len(shape) == 2 else tensor
        ledger.parameters[name] = tensor.contiguous()


def interleaved(d_model: int) -> Tensor:
    """The permutation of Marian's dimensions to ours: [sin … sin cos … cos] -> [sin cos sin cos …].

    A model does not change if the basis of its residual stream is permuted everywhere. This permutation turns Marian's
    positions, with all sines before all cosines, into those of the paper (§3.5), which we use.
    """
    half = d_model // 2
    return torch.stack((torch.arange(half), half + torch.arange(half)), dim=1).flatten()  # [pair, 2] -> [d_model]


def check_positions(ledger: Ledger, d_model: int) -> None:
    """Check that Marian's table of positions, if the file has one, is the sinusoidal table; it is not learned.

    Raises:
        ImportFailed: it is not.
    """
    for name in sorted(name for name in ledger.left if name.endswith(".embed_positions.weight")):
        stored = ledger.take(name)
        table = sinusoidal_table(len(stored), d_model).float()
        expected = torch.cat((table[:, 0::2], table[:, 1::2]), dim=1)  # sine halves, then cosine halves
        if stored.shape != expected.shape or not torch.allclose(stored, expected, atol=2e-3):
            raise ImportFailed("{name} is not the sinusoidal table that Marian's positions are.", name=name)
