"""Model folders as files: names, JSON, safetensors headers and summaries, without building a model or importing torch.

One folder = one model = one run: config.json, tokenizer.json, model.safetensors, README.md, metrics.jsonl, and for a
run also status.json, state/, snapshots/, note.json and stop. A damaged or inconsistent folder raises a
:class:`CheckpointError` that names the file. The model itself is loaded and saved by model/checkpoint.py.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import re
import secrets
import stat
import time
from collections.abc import Collection, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
from safetensors import SafetensorError, safe_open

from model import faults, file_formats
from model.config import FORMAT_VERSION, ConfigError, ModelConfig, from_dict, to_dict, with_current_names
from model.file_formats import Config, FormatError, Status, decode
from model.nearest import nearest
from model.user_error import UserError, readable
from model.wording import later

CONFIG, TOKENIZER, WEIGHTS, CARD = "config.json", "tokenizer.json", "model.safetensors", "README.md"
METRICS, STATUS, STOP, STATE, SNAPSHOTS = "metrics.jsonl", "status.json", "stop", "state", "snapshots"
PROBE, PROBE_ANSWER, NOTE = "probe.json", "probe.npz", "note.json"

SHIPPED = (
    "adjective-swap",
    "adjective-swap-unmasked",
    "dates",
    "multi30k-de-en",
    "multi30k-en-de",
    "phrases-en-de",
    "reverse",
    "reverse-decoder",
    "reverse-lstm",
)
"""Models that ship with the repository; runs never replace them unless the user asks for it."""

UNFORESEEN = "this folder causes an unexpected error in Headlight; the server's log has the details."

MAX_JSON_BYTES = 64 * 1024**2  # a tokenizer has a large vocabulary
MAX_SMALL_JSON_BYTES = 1024**2  # other JSON files, which lists of models read
MAX_METRICS_BYTES = 64 * 1024**2
MAX_CARD_BYTES = 1024**2
MAX_TITLE = 200
MAX_SETTING = 1000  # characters of any other text in a configuration, such as a path
MAX_HEADER_BYTES = 16 * 1024**2
FLOAT_TYPES = ("F64", "F32", "F16", "BF16")

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_WINDOWS_DEVICES = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?")
_PICKLE_STARTS = (b"PK", b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05")
PICKLE_SUFFIXES = frozenset({".pt", ".pth", ".bin", ".pkl", ".pickle", ".ckpt"})


class CheckpointError(UserError):
    """A model folder that cannot be used; the message names the file and what is wrong with it."""


def check_name(name: str) -> str:
    """Return the name if it is valid for a model folder.

    Raises:
        CheckpointError: the name leads out of the checkpoints folder, or is invalid on some file system.
    """
    if not _NAME.fullmatch(name) or name.endswith(".") or _WINDOWS_DEVICES.fullmatch(name):
        raise CheckpointError(
            "“{name}” cannot name a model: use 1 to 64 letters a to z or A to Z, digits, “-”, “_” or “.”, beginning "
            "with a letter or digit and not ending with a dot.",
            name=name,
        )
    return name


def find_model(checkpoints: str | Path, name: str) -> Path:
    """The folder of the model called `name`.

    Raises:
        CheckpointError: the name is invalid, or there is no such model (the message names the nearest).
    """
    root = Path(checkpoints)
    folder = root / check_name(name)
    if not folder.is_dir():
        names = [path.name for path in model_folders(root)]
        hint = nearest(name, names) if names else later("There is no model in {root} yet.", root=root)
        raise CheckpointError("there is no model '{name}'. {hint}", name=name, hint=hint)
    return folder


def model_folders(checkpoints: str | Path) -> list[Path]:
    """Folders with a config.json, sorted by name; unfinished and hidden ones are left out."""
    root = Path(checkpoints)
    if not root.is_dir():
        return []
    return sorted(path for path in root.iterdir() if _NAME.fullmatch(path.name) and _may_hold_model(path))


def _may_hold_model(folder: Path) -> bool:
    """Whether there is a config.json. True if the folder is unreadable, too: reading it raises the reason."""
    try:
        return (folder / CONFIG).is_file()
    except OSError:
        return True


def modified(path: Path) -> float:
    """Time of the last change of a file or folder, in seconds since 1970; 0 if it is gone or cannot be accessed."""
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def replace_file(temporary: Path, target: Path) -> None:
    """Rename `temporary` to `target` atomically; on Windows, wait briefly for readers that have it open."""
    for attempt in range(20):
        try:
            os.replace(temporary, target)
            return
        except PermissionError:
            if os.name != "nt" or attempt == 19:
                raise
            time.sleep(0.05)


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Replace a file atomically by the one that the body writes to the yielded path; the new file is synced to disk."""
    # Threads of one process may write the same file, so the process id alone is not a unique name.
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}.tmp")
    try:
        yield temporary
        with open(temporary, "rb+") as file:
            os.fsync(file.fileno())
        replace_file(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file atomically; see :func:`replacing`."""
    with replacing(path) as temporary:
        temporary.write_bytes(content)


def sweep_drafts(folder: Path, keep: Collection[str] = ()) -> None:
    """Delete temporary files that killed writers left in a folder, except those of the files named in `keep`."""
    for draft in folder.glob(".*.tmp"):
        if not draft.name.startswith(tuple(f".{name}." for name in keep)):
            draft.unlink(missing_ok=True)


def write_json(path: Path, value: Any) -> None:
    """Write an indented JSON file atomically."""
    with replacing(path) as temporary, open(temporary, "w", encoding="utf-8", newline="\n") as file:
        # In parts: as one text, the vocabulary of a large imported model takes 100 MB beside its weights.
        json.dump(value, file, ensure_ascii=False, indent=1, allow_nan=False)
        file.write("\n")


def label(path: Path) -> str:
    """The name of a file in messages: the last two parts of its path."""
    return "/".join(path.parts[-2:])


def read_bytes(path: Path, limit: int) -> bytes:
    """Read a whole file, unless it is larger than any that Headlight writes.

    Raises:
        CheckpointError: it has more than `limit` bytes. OSError: it cannot be read.
    """
    with open(path, "rb") as file:
        content = file.read(limit + 1)
    if len(content) > limit:
        raise CheckpointError(
            "{label} is larger than {limit} MB; Headlight writes no such file.", label=label(path), limit=limit >> 20
        )
    return content


def read_card(folder: Path) -> str:
    """Read the card of a model, up to MAX_CARD_BYTES; empty if there is none."""
    try:
        with open(folder / CARD, "rb") as file:
            return file.read(MAX_CARD_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""


def real_path(path: Path) -> Path:
    """Resolve all links; a circular link stays as it is (`Path.resolve` raises before Python 3.13)."""
    return Path(os.path.realpath(path))


def read_json(path: Path, limit: int = MAX_SMALL_JSON_BYTES) -> dict[str, Any]:
    """Read a JSON object from a file of at most `limit` bytes.

    Raises:
        CheckpointError: missing, too large, not JSON within the limits of model.file_formats, or not an object.
    """
    try:
        value = decode(read_bytes(path, limit))
    except FileNotFoundError:
        raise CheckpointError("{file} is missing; the model folder is not complete.", file=label(path)) from None
    except OSError as error:
        raise CheckpointError(
            "{file} cannot be read: {reason}.", file=label(path), reason=error.strerror or error
        ) from None
    except FormatError as error:
        raise CheckpointError("{file} {error}", file=label(path), error=error) from None
    if not isinstance(value, dict):
        raise CheckpointError(
            "{file} must hold a JSON object, not {type}.", file=label(path), type=type(value).__name__
        )
    return value


def read_config(folder: Path) -> dict[str, Any]:
    """Read and check config.json; its sections stay plain dictionaries, with the current names of settings.

    Raises:
        CheckpointError: as :func:`read_json`; the format version is unknown; a section is missing; a setting is given
            under two names.
    """
    path = folder / CONFIG
    config = read_json(path)
    version = config.get("format_version")
    if version != FORMAT_VERSION:
        raise CheckpointError(
            "{file} has format_version {version!r}, but this program reads {supported}; "
            "a newer Headlight may have written it.",
            file=label(path),
            version=version,
            supported=FORMAT_VERSION,
        )
    for section in ("model", "data", "training"):
        if not isinstance(config.get(section), dict):
            raise CheckpointError("{file} has no section '{section}'.", file=label(path), section=section)
    checked(path, config, Config)
    try:
        renamed = {
            section: with_current_names(config[section])
            for section in ("training", "set", "first")
            if isinstance(config.get(section), dict)
        }
    except ConfigError as error:
        raise CheckpointError("{file}: {error}", file=label(path), error=error) from None
    return config | renamed


def refuse_pickles(folder: Path) -> None:
    """Reject a folder that contains a pickle, which could run code, a link that leads out of it, or a pipe or device.

    Raises:
        CheckpointError: there is such a file; the message names it.
    """
    inside = real_path(folder)
    for path in (*folder.iterdir(), *(folder / STATE).glob("*"), *(folder / SNAPSHOTS).glob("*")):
        if path.suffix.lower() in PICKLE_SUFFIXES:
            raise CheckpointError(
                "{file} is a pickle, which could run code when opened; only .safetensors weights are read, "
                "so delete it or convert it.",
                file=label(path),
            )
        kind = path.lstat().st_mode
        if stat.S_ISLNK(kind) and not real_path(path).is_relative_to(inside):
            raise CheckpointError(
                "{file} is a link that leads out of the model folder; copy the file instead.", file=label(path)
            )
        if not (stat.S_ISREG(kind) or stat.S_ISDIR(kind) or stat.S_ISLNK(kind)):
            raise CheckpointError("{file} is a pipe or a device, which may never end; delete it.", file=label(path))


def tensor_shapes(path: Path, *, floats: bool = True) -> dict[str, tuple[int, ...]]:
    """Names and shapes in a safetensors file, from its header alone; the sizes must add up to the file size.

    Raises:
        CheckpointError: missing, truncated, a pickle, or not safetensors; with `floats`, also numbers of other types.
    """
    broken = CheckpointError("{file} is damaged or cut off: it is not a whole safetensors file.", file=label(path))
    try:
        with open(path, "rb") as file:
            start = file.read(8)
        if int.from_bytes(start, "little") > MAX_HEADER_BYTES:
            if start.startswith(_PICKLE_STARTS):
                raise CheckpointError(
                    "{file} is a pickle, not safetensors; pickles are never opened.", file=label(path)
                )
            raise broken
        with safe_open(path, framework="np", backend="pread") as weights:
            tensors = {name: weights.get_slice(name) for name in weights.offset_keys()}
    except FileNotFoundError:
        raise CheckpointError("{file} is missing; the model folder is not complete.", file=label(path)) from None
    except OSError as error:
        raise CheckpointError(
            "{file} cannot be read: {reason}.", file=label(path), reason=error.strerror or error
        ) from None
    except SafetensorError:
        raise broken from None
    if floats and any(tensor.get_dtype() not in FLOAT_TYPES for tensor in tensors.values()):
        raise broken
    return {name: tuple(tensor.get_shape()) for name, tensor in tensors.items()}


def checked(path: Path, value: dict[str, Any], kind: type[msgspec.Struct]) -> dict[str, Any]:
    """Return the content of a JSON file, or raise a CheckpointError if it does not fit its format."""
    try:
        file_formats.checked(value, kind)
    except FormatError as error:
        raise CheckpointError("{file} {error}", file=label(path), error=error) from None
    return value


def _own_file(config: dict[str, Any]) -> str:
    """The name of the file of a run's own pairs, or of their sources; empty for a task that has its own."""
    words = config.get("own_data")
    words = words if isinstance(words, list) else []
    names = [name for option, name in pairwise(words) if option in ("--data", "--source")]
    return readable(str(names[0]), MAX_TITLE) if names else ""


def section(config: dict[str, Any], name: str) -> dict[str, Any]:
    """An optional section of an untrusted configuration; empty if it is not an object."""
    section = config.get(name)
    return section if isinstance(section, dict) else {}


def _model_settings(folder: Path, config: dict[str, Any]) -> dict[str, Any]:
    """All settings of the model, with current defaults for those that an older file lacks."""
    try:
        return to_dict(from_dict(ModelConfig, config["model"]))
    except (ConfigError, TypeError) as error:
        raise CheckpointError("{file}: {error}", file=label(folder / CONFIG), error=error) from None


def _shortened(value: Any, most: int = MAX_SETTING) -> Any:
    """A part of an untrusted configuration with all its texts cut to `most` characters."""
    if isinstance(value, str):
        return readable(value, most) if len(value) > most else value
    if isinstance(value, dict):
        return {_shortened(key, most): _shortened(item, most) for key, item in value.items()}
    return [_shortened(item, most) for item in value] if isinstance(value, list) else value


def _state(folder: Path) -> str | None:
    path = folder / STATUS
    return checked(path, read_json(path), Status).get("state") if path.is_file() else "finished"


def summarize(folder: Path) -> dict[str, Any]:
    """Summarise one folder for a list of models, from its small files and the weights' header.

    Keys: name, folder, bundled, error (None, or why the folder cannot be used) and, where readable: task, parameters
    (tied matrices once), bytes, trained, state (of its run), results (as config.json holds them), modified (seconds
    since 1970), model, data, training (the configuration as dictionaries), title, imported (where it came from, if
    elsewhere: family, source, licence, sha256), init (the model whose weights training began with, or ""), own_file
    (the name of the file of own pairs, or ""), device (on which it was trained, or ""), search (how its authors search:
    beam_size, length_penalty, alpha).
    """
    summary: dict[str, Any] = {
        "name": folder.name,
        "folder": str(folder),
        "bundled": folder.name in SHIPPED,
        "error": None,
    }
    try:
        refuse_pickles(folder)
        config = read_config(folder)
        weights = folder / WEIGHTS
        results = config.get("results") or {}
        summary |= {
            "task": config["data"].get("task"),
            "own_file": _own_file(config),
            "title": readable(config.get("title") or folder.name, MAX_TITLE),
            "parameters": sum(math.prod(shape) for shape in tensor_shapes(weights).values()),
            "bytes": weights.stat().st_size,
            "modified": weights.stat().st_mtime,
            "trained": bool(results.get("step")) or "imported" in config,
            "imported": _shortened(section(config, "imported"), MAX_TITLE),
            "search": _shortened(section(config, "search")),
            "results": results,
            "init": readable(str(config.get("init") or ""), MAX_TITLE),
            "device": readable(str(section(config, "runtime").get("device") or ""), MAX_TITLE),
            "state": _state(folder),
            "model": _model_settings(folder, config),
            "data": _shortened(config["data"]),
            "training": _shortened(config["training"]),
        }
    except CheckpointError as error:
        summary["error"] = str(error)
    except OSError as error:  # the folder was deleted meanwhile
        summary["error"] = f"{folder.name} cannot be read: {error.strerror or error}."
    except Exception as fault:  # a bug that one folder triggers must not hide the others
        faults.report(fault)
        summary["error"] = UNFORESEEN
    return summary


def list_models(checkpoints: str | Path) -> list[dict[str, Any]]:
    """Summarise every model folder, sorted by name; broken ones are included with their `error`. Reads no weights."""
    return [summarize(folder) for folder in model_folders(checkpoints)]
