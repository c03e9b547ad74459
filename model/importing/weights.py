"""Convert imported weights to our parameters, with a ledger of the tensors that have not been used yet."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil
import safetensors
import torch
from safetensors import SafetensorError
from torch import Tensor

from model.checkpoint import all_usable
from model.importing.source_folder import ImportFailed

_COMPARED = 1024  # rows of two tables that are compared at a time


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
        self.names = frozenset(self._prefix + name for name in files)
        self.left = set(self.names)
        self._paths = {self._prefix + name: path for name, path in files.items()}
        try:
            # Tensors are read one by one: the pages of a mapped file would stay in memory beside the new tensors.
            opened = {path: safetensors.safe_open(path, framework="pt", backend="pread") for path in paths}
            self._stored = {self._prefix + name: opened[path].get_slice(name) for name, path in files.items()}
        except (SafetensorError, OSError) as error:
            raise ImportFailed("{file} cannot be read: {error}.", file=self.file, error=error) from None
        stored = self._stored.values()
        self._halves = sum(tensor.get_dtype() in ("F16", "BF16") for tensor in stored)
        _check_memory(sum(math.prod(tensor.get_shape()) for tensor in stored))

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

    @property
    def remarks(self) -> tuple[str, ...]:
        """A sentence on the tensors that were converted, if any."""
        if not self._halves:
            return ()
        return (f"{self._halves} of {len(self.names)} tensors were stored with 16 bits a number and are 32 here.",)


def _check_memory(numbers: int) -> None:
    """Raise an ImportFailed if so many numbers do not fit into the free memory as float32."""
    needed, free = 4 * numbers, psutil.virtual_memory().available
    if needed > free:
        raise ImportFailed(
            "the model has {numbers:,} numbers and needs {needed:,.1f} GB of memory, but only "
            "{free:,.1f} GB are free; import it on a machine with more memory, or choose a smaller model.",
            numbers=numbers,
            needed=needed / 1000000000.0,
            free=free / 1000000000.0,
        )


@dataclass(frozen=True)
class Tables:
    """The names of the embeddings [vocabulary, d_model] of source, target and output, and which of them are `shared`.

    `shared` is a value of ModelConfig.share_embeddings; `unused` names tensors that no part of the model reads.
    """

    source: str
    target: str
    output: str
    shared: str
    unused: tuple[str, ...] = ()


def use_tables(ledger: Ledger, table: str, prefix: str, tied: bool, *, one_vocabulary: bool) -> Tables:
    """Find the three tables of a model, or the one `table` in place of two or three.

    A shared table stored under several names must be equal under all of them.

    Raises:
        ImportFailed: a table is missing, or tables differ that the configuration says are one.
    """
    shared = ledger.use(f"{table}.weight")
    source = ledger.use(f"{prefix}encoder.embed_tokens.weight") or shared
    target = ledger.use(f"{prefix}decoder.embed_tokens.weight") or shared
    output = ledger.use("lm_head.weight") or (target if tied else None)
    if source is None or target is None or output is None:
        raise ImportFailed("the weights lack an embedding table or the output projection.")

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
    kind = "all" if same_output and same_source and one_vocabulary else "target" if same_output else "none"
    return Tables(source, target, output, kind, unused=(shared,) if unused and shared else ())
