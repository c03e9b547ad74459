"""Convert imported weights to our parameters, with a ledger of the tensors that have not been used yet."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import psutil
import safetensors
import torch
from safetensors import SafetensorError
from torch import Tensor

from model.architectures import empty_transformer
from model.checkpoint import all_usable
from model.config import DataConfig, ModelConfig
from model.data.task import IMPORTED
from model.importing.source_folder import ImportFailed, SourceFolder
from model.importing.translator import ImportedTranslator, OwnSearch, Settings, Vocabulary, read_search, sizes
from model.positions import sinusoidal_table
from model.text.bytelevel import ByteLevelTokenizer
from model.text.tokenizer import Tokenizer
from model.wording import later

_PREFIX = "model."
_COMPARED = 4096  # rows of two tables that are compared at a time
ATTENTION = ("q_proj", "k_proj", "v_proj", "out_proj")


def interleaved(d_model: int) -> Tensor:
    """The permutation of Marian's dimensions to ours: [sin … sin cos … cos] -> [sin cos sin cos …].

    A model does not change if the basis of its residual stream is permuted everywhere. This permutation turns Marian's
    positions, with all sines before all cosines, into those of the paper (§3.5), which we use.
    """
    half = d_model // 2
    return torch.stack((torch.arange(half), half + torch.arange(half)), dim=1).flatten()  # [pair, 2] -> [d_model]


class Ledger:
    """The tensors of a model's files, with the names `left` of those not used yet, and the `parameters` set from them.

    `files` gives the file of each tensor. The names lack `prefix` if the model was saved without its output projection.
    `copies` is the number of further copies of the largest tensor that the parameters will contain.

    Raises:
        ImportFailed: a file cannot be read, or the tensors do not fit into the memory.
    """

    def __init__(self, files: Mapping[str, Path], *, prefix: str = _PREFIX, copies: int = 0) -> None:
        paths = sorted(set(files.values()))
        self.file = paths[0].name if len(paths) == 1 else "the weights"
        self.parameters: dict[str, Tensor] = {}
        self._prefix = "" if any(name.startswith(prefix) for name in files) else prefix
        self.names = frozenset(self._prefix + name for name in files)
        self.left = set(self.names)
        try:
            # Tensors are read one by one: the pages of a mapped file would stay in memory beside the new tensors.
            opened = {path: safetensors.safe_open(path, framework="pt", backend="pread") for path in paths}
            self._files = {self._prefix + name: opened[path] for name, path in files.items()}
            slices = [opened[path].get_slice(name) for name, path in files.items()]
        except (SafetensorError, OSError) as error:
            raise ImportFailed("{file} cannot be read: {error}.", file=self.file, error=error) from None
        self._halves = sum(part.get_dtype() in ("F16", "BF16") for part in slices)
        _check_memory([math.prod(part.get_shape()) for part in slices], copies)

    def use(self, name: str) -> str | None:
        """Mark a tensor as used and return its name; None if there is none."""
        self.left.discard(name)
        return name if name in self.names else None

    def read(self, name: str) -> Tensor:
        """Read one tensor of the file, as float32.

        Raises:
            ImportFailed: it has numbers that cannot be weights.
        """
        tensor = self._files[name].get_tensor(name.removeprefix(self._prefix))
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

    def take(self, name: str, *shape: int | None) -> Tensor:
        """Use and read a tensor; `shape` has the size of each axis, None for any size.

        Raises:
            ImportFailed: there is none, it has another shape, or numbers that cannot be weights.
        """
        if self.use(name) is None:
            raise ImportFailed(
                "{file} has no tensor {name}, which a model of this configuration needs.", file=self.file, name=name
            )
        tensor = self.read(name)
        sizes = zip(shape, tensor.shape, strict=False)
        if shape and (len(shape) != tensor.dim() or any(needed not in (None, own) for needed, own in sizes)):
            raise ImportFailed(
                "{file}: {name} has shape {shape}, but config.json asks for [{needed}].",
                file=self.file,
                name=name,
                shape=list(tensor.shape),
                needed=", ".join("…" if size is None else str(size) for size in shape),
            )
        return tensor

    def take_optional(self, name: str) -> Tensor | None:
        """Use and read an optional tensor; None if there is none."""
        return self.take(name) if name in self.names else None

    def same(self, a: str, b: str) -> bool:
        """Whether two tensors of the file hold the same numbers; they are read and compared part by part."""
        parts = [self._files[name].get_slice(name.removeprefix(self._prefix)) for name in (a, b)]
        shapes = [part.get_shape() for part in parts]
        rows = shapes[0][0] if shapes[0] else 0  # a slice that ends beyond the last row is refused
        return a == b or (
            shapes[0] == shapes[1]
            and all(
                torch.equal(*(part[at : min(at + _COMPARED, rows)].float() for part in parts))
                for at in range(0, rows, _COMPARED)
            )
        )

    @property
    def remarks(self) -> tuple[str, ...]:
        """A sentence on the tensors that were converted, if any."""
        if not self._halves:
            return ()
        return (f"{self._halves} of {len(self.names)} tensors were stored with 16 bits a number and are 32 here.",)


def _check_memory(sizes: Sequence[int], copies: int) -> None:
    """Raise an ImportFailed if tensors of these sizes do not fit into the free memory as float32.

    The largest, an embedding, is there once more while its rows are put into our order, and in `copies` for good.
    """
    needed, free = 4 * (sum(sizes) + (1 + copies) * max(sizes, default=0)), psutil.virtual_memory().available
    if needed > free:
        raise ImportFailed(
            "the model has {numbers:,} numbers and needs {needed:,.1f} GB of memory, but only "
            "{free:,.1f} GB are free; import it on a machine with more memory, or choose a smaller model.",
            numbers=sum(sizes),
            needed=needed / 1000000000.0,
            free=free / 1000000000.0,
        )


REORDERED = "The ids of its tokens are in another order than in the imported files; its results are the same."
INTERLEAVED = (
    "The dimensions of its vectors are in another order than in the imported files (sine and cosine of a position side "
    "by side), and so are the ids of its tokens; its results are the same."
)


def assembled(
    folder: SourceFolder,
    ledger: Ledger,
    family: str,
    model: ModelConfig,
    sides: tuple[Tokenizer, Tokenizer],
    search: OwnSearch,
    *,
    languages: tuple[str, str] = ("xx", "xx"),
    licence: str = "",
    changes: str = REORDERED,
    remarks: Sequence[str] = (),
) -> ImportedTranslator:
    """Put together what has been read of a model; `sides` are the tokenizers of source and target.

    Raises:
        ImportFailed: a tensor was not used, or a parameter has another shape; the message names it.
    """
    source, target = sides
    kind: Literal["bytelevel", "sentencepiece"] = (
        "bytelevel" if isinstance(source, ByteLevelTokenizer) else "sentencepiece"
    )
    return ImportedTranslator(
        family=family,
        model=model,
        data=DataConfig(task=IMPORTED, tokenizer=kind, src_lang=languages[0], tgt_lang=languages[1]),
        source=source,
        target=target,
        parameters=settled(ledger, model),
        search=search,
        licence=folder.licence() or licence,
        changes=changes,
        remarks=tuple(remarks),
    )


def settled(ledger: Ledger, config: ModelConfig) -> dict[str, Tensor]:
    """Check that every tensor was used and all shapes fit, and return the parameters of a model.

    Raises:
        ImportFailed: a tensor was not used, or a parameter has another shape; the message names it.
    """
    if unused := sorted(ledger.left):
        raise ImportFailed(
            later(
                "{file} has a tensor that no part of this model takes: {unused}.",
                "{file} has {n:,} tensors that no part of this model takes, such as {unused}.",
                file=ledger.file,
                n=len(unused),
                unused=", ".join(unused[:3]),
            )
        )
    expected = empty_transformer(config).state_dict()
    for name, tensor in ledger.parameters.items():
        if tensor.shape != expected[name].shape:
            raise ImportFailed(
                "{file}: what becomes {name} has shape {shape}, but config.json asks for {needed}.",
                file=ledger.file,
                name=name,
                shape=list(tensor.shape),
                needed=list(expected[name].shape),
            )
    return ledger.parameters


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


def use_tables(ledger: Ledger, *, tied: bool, one_vocabulary: bool, prefix: str = _PREFIX) -> Tables:
    """Find the three tables of a model. A shared table stored under several names must be equal under all of them.

    Raises:
        ImportFailed: a table is missing, or tables differ that the configuration says are one.
    """
    shared = ledger.use(f"{prefix}shared.weight")
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
        raise ImportFailed("model.shared.weight is none of the tables that the model uses.")
    kind = "all" if same_output and same_source and one_vocabulary else "target" if same_output else "none"
    return Tables(source, target, output, kind, unused=("model.shared.weight",) if unused else ())


def read_shared(
    folder: SourceFolder,
    config: dict[str, Any],
    settings: Settings,
    sides: tuple[Vocabulary, Vocabulary],
    order: Tensor,
    *,
    forced: int | None = None,
    **architecture: Any,
) -> tuple[Ledger, ModelConfig, OwnSearch, tuple[str, ...]]:
    """Read the parts that Marian, BART and their kin share: search, embeddings, layers, and the bias on the logits.

    Returns the ledger with these parameters set, our configuration, the authors' search settings, and remarks. `sides`
    is the same vocabulary twice if both sides share it; `order` permutes the dimensions; `forced` is the id of a
    language that every translation begins with; `architecture` are further settings of ModelConfig.
    """
    source, target = sides
    search, banned, first, remarks = read_search(folder, config, target, language=forced)
    files = folder.weights()
    two_tables_of_one = source is not target and not any("encoder.embed_tokens" in name for name in files)
    ledger = Ledger(files, copies=int(two_tables_of_one))
    tables = use_tables(ledger, tied=settings.tie_word_embeddings, one_vocabulary=source is target)
    unused = [f"{name} is not used, since the model reads each side's own table." for name in tables.unused]
    bias = ledger.take_optional("final_logits_bias")
    model = ModelConfig(
        src_vocab_size=len(source.rows),
        tgt_vocab_size=len(target.rows),
        share_embeddings=tables.shared,  # type: ignore[arg-type]
        output_bias=bias is not None,
        banned_tokens=banned,
        first_token=first,
        **sizes(settings) | architecture,
    )
    set_tables(ledger, tables, source.rows, target.rows, order)
    if bias is not None:
        if bias.numel() <= max(target.rows):
            raise ImportFailed(
                "final_logits_bias has {numbers} numbers for {rows} tokens.",
                numbers=bias.numel(),
                rows=len(target.rows) - 1,
            )
        ledger.parameters["output.bias"] = bias.flatten()[list(target.rows)]
    set_layers(ledger, model.n_encoder_layers, model.n_decoder_layers, order)
    if model.norm_first:
        for stack in ("encoder", "decoder"):
            set_norm(ledger, f"{stack}.norm", f"model.{stack}.layer_norm", order)
    return ledger, model, search, (*ledger.remarks, *unused, *remarks)


def set_tables(ledger: Ledger, tables: Tables, source: Sequence[int], target: Sequence[int], order: Tensor) -> None:
    """Set embeddings and output projection."""
    set_table(ledger, "tgt_embedding", tables.target, target, order)
    if tables.shared != "all":
        set_table(ledger, "src_embedding", tables.source, source, order)
    if tables.shared == "none":
        set_table(ledger, "output", tables.output, target, order)


def set_table(ledger: Ledger, ours: str, theirs: str, rows: Sequence[int], order: Tensor) -> None:
    """Set an embedding or output projection, with its rows and columns in our order.

    Raises:
        ImportFailed: it has fewer rows than its vocabulary.
    """
    table = ledger.take(theirs, None, len(order))
    if table.size(0) <= max(rows):
        raise ImportFailed(
            "{name} of shape {shape} does not fit {rows} tokens.",
            name=theirs,
            shape=list(table.shape),
            rows=max(rows) + 1,
        )
    # Permutes rows and columns in one copy.
    ledger.parameters[f"{ours}.weight"] = table[torch.tensor(rows)[:, None], order]


def set_layers(ledger: Ledger, n_encoder: int, n_decoder: int, order: Tensor) -> None:
    """Set attention, feed-forward and norms of all layers of a model with the names of BART and Marian."""
    blocks = {
        "encoder": {"self_attn": "self_attn"},
        "decoder": {"self_attn": "self_attn", "cross_attn": "encoder_attn"},
    }
    norms = {
        "encoder": ("self_attn_layer_norm", "final_layer_norm"),
        "decoder": ("self_attn_layer_norm", "encoder_attn_layer_norm", "final_layer_norm"),
    }
    for stack, n in (("encoder", n_encoder), ("decoder", n_decoder)):
        for i in range(n):
            ours, theirs = f"{stack}.layers.{i}", f"model.{stack}.layers.{i}"
            for block, their in blocks[stack].items():
                for name in ATTENTION:
                    set_linear(
                        ledger, f"{ours}.{block}.{name}", f"{theirs}.{their}.{name}", order, writes=name == "out_proj"
                    )
            set_linear(ledger, f"{ours}.feed_forward.linear1", f"{theirs}.fc1", order, writes=False)
            set_linear(ledger, f"{ours}.feed_forward.linear2", f"{theirs}.fc2", order, writes=True)
            for number, their in enumerate(norms[stack], start=1):
                set_norm(ledger, f"{ours}.norm{number}", f"{theirs}.{their}", order)


def set_linear(ledger: Ledger, ours: str, theirs: str, order: Tensor, *, writes: bool) -> None:
    """Set a projection that reads from the residual stream, or `writes` to it."""
    shape: tuple[int | None, int | None] = (len(order), None) if writes else (None, len(order))
    weight, bias = ledger.take(f"{theirs}.weight", *shape), ledger.take(f"{theirs}.bias")
    ledger.parameters[f"{ours}.weight"] = (weight[order] if writes else weight[:, order]).contiguous()
    ledger.parameters[f"{ours}.bias"] = bias[order] if writes and len(bias) == len(order) else bias


def set_norm(ledger: Ledger, ours: str, theirs: str, order: Tensor) -> None:
    """Set scale and shift of a layer norm on the residual stream."""
    for part in ("weight", "bias"):
        ledger.parameters[f"{ours}.{part}"] = ledger.take(f"{theirs}.{part}", len(order))[order]


def check_positions(ledger: Ledger, d_model: int) -> None:
    """Check that Marian's table of positions, if the file has one, is the sinusoidal table; it is not learned.

    Raises:
        ImportFailed: it is not.
    """
    for stack in ("encoder", "decoder"):
        name = f"model.{stack}.embed_positions.weight"
        stored = ledger.take_optional(name)
        if stored is None:
            continue
        table = sinusoidal_table(len(stored), d_model).float()
        expected = torch.cat((table[:, 0::2], table[:, 1::2]), dim=1)  # sine halves, then cosine halves
        if stored.shape != expected.shape or not torch.allclose(stored, expected, atol=2e-3):
            raise ImportFailed("{name} is not the sinusoidal table that Marian's positions are.", name=name)
