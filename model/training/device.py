"""Choose a run's device, precision, attention kernel and threads, and check its memory.

The choice is made once, from the machine and the sizes alone, and stored with the run: the same command gives the same
weights, whatever else is running.
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import asdict, dataclass, replace
from typing import Any

import psutil
import torch

from model.analysis.size import budget
from model.architectures import Model
from model.config import ConfigError, ModelConfig, TrainConfig
from model.embeddings import count_parameters
from model.fast.cross_entropy import slice_rows
from model.fast.matmul import fast_matmul
from model.plurals import plural
from model.training.corpus import Corpus
from model.transformer import Transformer
from model.wording import later

FAST_OPERATIONS = 4_000_000_000
"""Operations per forward and backward pass above which size-specialised kernels are faster."""


@dataclass(frozen=True)
class Runtime:
    """The resolved runtime. A resumed run reuses it, because another choice would round differently.

    `precision` is fp32 or bf16 (autocast); `fused`: whether training uses fused attention. Until `settled`, precision
    may be auto and `threads` 0; see :func:`choose_runtime`.
    """

    device: str = "cpu"
    precision: str = "auto"
    fused: bool = True
    settled: bool = False
    compile: bool = False
    threads: int = 0
    processes: int = 1
    torch_version: str = torch.__version__

    def to_dict(self) -> dict[str, Any]:
        """JSON values for config.json."""
        return asdict(self)

    @property
    def torch_device(self) -> torch.device:
        """The device as torch names it."""
        return torch.device(self.device)

    def autocast(self) -> contextlib.AbstractContextManager[Any]:
        """The context of a training forward pass."""
        if self.precision != "bf16":
            return contextlib.nullcontext()
        return torch.autocast(self.torch_device.type, dtype=torch.bfloat16)

    def matmul(self, operations: int) -> contextlib.AbstractContextManager[Any]:
        """The context of a training pass of this many operations (forward and backward), for fast matmuls.

        Preparing kernels for each matmul size costs more than it saves in smaller passes and under bf16.
        """
        on_cpu = self.torch_device.type == "cpu" and self.precision != "bf16"
        return fast_matmul() if on_cpu and operations >= FAST_OPERATIONS else contextlib.nullcontext()


def resolve_device(name: str) -> str:
    """Choose the device: `auto` prefers CUDA, then Apple's GPU, then the CPU.

    Under torchrun, each process uses the GPU with its local rank.

    Raises:
        ConfigError: no such device, or it is not available.
    """
    n_cuda = torch.cuda.device_count() if torch.cuda.is_available() else 0
    has_mps = torch.backends.mps.is_available()
    if name == "auto":
        name = "cuda" if n_cuda else "mps" if has_mps else "cpu"
    kind, _, index = name.partition(":")
    if kind not in ("cpu", "cuda", "mps") or (index and (kind != "cuda" or not index.isdecimal())):
        raise ConfigError("--device is auto, cpu, cuda, cuda:N or mps, not '{name}'.", name=name)
    if kind == "cuda":
        if index and int(os.environ.get("LOCAL_WORLD_SIZE", "1")) > 1:
            raise ConfigError(
                "--device {name} would put all processes on one GPU; --device cuda gives each its own.", name=name
            )
        number = int(index or os.environ.get("LOCAL_RANK", "0"))
        if not n_cuda:
            raise ConfigError("there is no CUDA device here (or this PyTorch was built without it); use --device cpu.")
        if number >= n_cuda:
            raise ConfigError(
                "there is no device cuda:{number}; this machine has {n_cuda}, counted from cuda:0.",
                number=number,
                n_cuda=n_cuda,
            )
        return f"cuda:{number}"
    if kind == "mps" and not has_mps:
        raise ConfigError("there is no Apple GPU (mps) here; use --device cpu.")
    return kind


def describe_device(device: str) -> str:
    """A description of the device: "NVIDIA H200, 139 GB", "CPU, 2 cores"."""
    if device.startswith("cuda"):
        properties = torch.cuda.get_device_properties(torch.device(device))
        return f"{properties.name}, {properties.total_memory / 2**30:.0f} GB"
    return "Apple GPU" if device == "mps" else f"CPU, {plural(usable_cores(), 'core')}"


def usable_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def default_threads() -> int:
    """Maximum number of CPU threads: as set by the user or torchrun, or an equal share of the cores."""
    if "OMP_NUM_THREADS" in os.environ:
        return torch.get_num_threads()
    return max(1, usable_cores() // int(os.environ.get("LOCAL_WORLD_SIZE", "1")))


def cpu_multiplies_bf16() -> bool:
    """Whether this CPU has instructions for bf16 multiplication; without them bf16 only costs time."""
    if not hasattr(torch.cpu, "get_capabilities"):  # an older PyTorch does not say
        return False
    return any(bool(has) for name, has in torch.cpu.get_capabilities().items() if "bf16" in name)


LIBRARY_BYTES = 300 * 2**20
"""Memory of Python, torch and the data besides the run itself; none of it is in the memory of a GPU."""


def check_weights(config: ModelConfig, *, on_cpu: bool) -> None:
    """Raise a ConfigError if the weights (on the CPU: with gradients and two moments) do not fit into the memory."""
    parameters = sum(part.parameters for part in budget(config, 1, 1))
    sides = 2 if config.has_encoder else 1
    tables = sides * config.max_positions * config.d_model  # a row for each position, on each side
    needed, memory = 4 * tables + (16 if on_cpu else 4) * parameters, psutil.virtual_memory().total
    if needed > memory:
        raise ConfigError(
            "a model of these sizes has {parameters:,} parameters and needs {needed:,.0f} GB of memory, "
            "but this machine has {memory:,.0f} GB; lower d_model, d_ff, the number of layers or max_positions.",
            parameters=parameters,
            needed=needed / 1000000000.0,
            memory=memory / 1000000000.0,
        )


def check_batch(config: ModelConfig, training: TrainConfig, corpus: Corpus, runtime: Runtime) -> None:
    """Raise a ConfigError if the largest batch does not fit into the device's memory."""
    tokens = corpus.largest_batch()
    device = runtime.torch_device
    needed, memory = _activations(config, training, tokens, runtime), _memory_of(device)
    if needed > memory:
        where = later("this machine") if device.type in ("cpu", "mps") else later("the GPU")
        raise ConfigError(
            "max_tokens={max_tokens} makes a batch of {tokens:,} tokens, which needs about "
            "{needed:,.1f} GB of memory, but {where} has {memory:,.1f} GB; lower max_tokens (and raise "
            "gradient_accumulation_steps to keep the size of an update) or choose a smaller model.",
            max_tokens=training.max_tokens,
            tokens=tokens,
            needed=needed / 1000000000.0,
            where=where,
            memory=memory / 1000000000.0,
        )


def peak_bytes(config: ModelConfig, training: TrainConfig, tokens: int, runtime: Runtime, *, parameters: int) -> int:
    """Peak memory of a run in bytes: weights, gradients, two moments, and the activations of a batch of `tokens`."""
    library = LIBRARY_BYTES if runtime.torch_device.type == "cpu" else 0
    return 16 * parameters + _activations(config, training, tokens, runtime) + library


def _activations(config: ModelConfig, training: TrainConfig, tokens: int, runtime: Runtime) -> int:
    """Bytes that the forward pass keeps for a batch of this many source and target tokens, logits included."""
    kind = runtime.torch_device.type
    batch = tokens * (1 if training.consistency == "none" else 2)  # two views of it
    # Before the precision is settled, assume the smaller of the possible ones, so that nothing that fits is refused.
    bf16 = runtime.precision == "bf16" or (runtime.precision == "auto" and (kind != "cpu" or cpu_multiplies_bf16()))
    per_token = 16 * config.d_model + 2 * config.d_ff  # projections, norms, sums and the feed-forward's two widths
    layers = config.n_encoder_layers + 1.5 * config.n_decoder_layers  # a decoder layer has one more sublayer
    if not config.has_encoder:  # its layers have two sublayers, and read both sides
        layers = 2 * config.n_decoder_layers
    rows = min(batch, slice_rows(kind, config.tgt_vocab_size))
    logits = 3 * 4 * rows * config.tgt_vocab_size  # logits, their softmax and its gradient, in float32, slice by slice
    return int((2 if bf16 else 4) * batch * per_token * layers + logits)


def _memory_of(device: torch.device) -> int:
    """Total memory of the device in bytes; an Apple GPU shares that of the machine."""
    if device.type == "cuda":
        return int(torch.cuda.get_device_properties(device).total_memory)
    return int(psutil.virtual_memory().total)


THREAD_OPERATIONS = 2_500_000_000  # operations of a batch per thread; with fewer, threads wait for each other
BF16_WEIGHTS = 250_000  # size of the output projection from which bf16 is faster on a CPU that supports it
PRECISIONS = ("auto", "fp32", "bf16")


def check_precision(precision: str) -> str:
    """Return a precision, or raise a ConfigError if it is not one of `PRECISIONS`."""
    if precision not in PRECISIONS:
        raise ConfigError(
            "--precision is one of {precisions}, not '{precision}'.",
            precisions=", ".join(PRECISIONS),
            precision=precision,
        )
    return precision


def choose_runtime(model: Model, corpus: Corpus, requested: Runtime, config: TrainConfig) -> Runtime:
    """Resolve precision, attention kernel and threads of a `requested` runtime.

    On a GPU, bf16 if it is supported. On a CPU, bf16 if there are instructions for it and the output projection, the
    largest matmul, is large enough; and one thread per THREAD_OPERATIONS of a batch, up to the number of cores, since
    small matmuls gain little from more. The fused kernel is used except on a CPU with attention dropout, where it is
    slower.
    """
    precision = check_precision(requested.precision)
    on_cpu = requested.torch_device.type == "cpu"
    fused = isinstance(model, Transformer) and (not on_cpu or model.config.attention_dropout == 0)
    max_threads = default_threads()
    settled = replace(requested, fused=fused, threads=requested.threads or max_threads, settled=True)
    if not on_cpu:
        bf16 = requested.torch_device.type == "cuda" and torch.cuda.is_bf16_supported()
        return replace(settled, precision=("bf16" if bf16 else "fp32") if precision == "auto" else precision)
    if precision == "auto":
        bf16 = cpu_multiplies_bf16() and model.output.weight.numel() >= BF16_WEIGHTS
        precision = "bf16" if bf16 else "fp32"
    useful_threads = max(1, batch_operations(model, corpus, config) // THREAD_OPERATIONS)
    return replace(settled, precision=precision, threads=requested.threads or min(max_threads, useful_threads))


def operations(model: Model, tokens: int) -> int:
    """Operations of a forward and backward pass over this many tokens: six per parameter and token."""
    return 6 * count_parameters(model) * tokens


def batch_operations(model: Model, corpus: Corpus, config: TrainConfig) -> int:
    """Operations of a forward and backward pass over a full batch, in all its views."""
    tokens = min(config.max_tokens, sum(map(max, corpus.lengths)))
    views = 1 if config.consistency == "none" else 2
    return operations(model, tokens * views)
