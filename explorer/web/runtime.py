"""What all sessions of one server share: settings of the process, loaded models, finished translations.

Everything is bounded, and keyed by names and strings. torch and spaCy are imported where first needed.
"""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

from model.config import DecodeConfig
from model.folder import CheckpointError, list_models

if TYPE_CHECKING:
    from explorer.translation.translator import Translation, Translator

_has_run = False
_importing = 0
_lock = threading.Lock()
CHECKPOINTS = Path(os.environ.get("HEADLIGHT_CHECKPOINTS", Path(__file__).parents[2] / "checkpoints"))


@st.cache_resource(show_spinner=False)
def warm_torch() -> None:
    """Once per process, before the first model call.

    One thread per call: sessions that fight over cores are slower than sessions that queue. Freezing what is imported
    keeps Streamlit's garbage collection after each run from walking through all of torch.
    """
    import torch

    torch.set_num_threads(1)
    freeze()


def freeze() -> None:
    """Take everything alive out of the garbage collector's walks; call it after each late heavy import."""
    if gc.isenabled():
        gc.collect()
    gc.freeze()


@contextmanager
def quick_imports() -> Iterator[None]:
    """Leave garbage alone while heavy packages are imported: they make objects by the hundred thousand.

    Walking through them again and again is a third of the time that importing torch and spaCy takes. Two threads may
    be in here at once: the last one out switches the collector on again.
    """
    global _importing
    with _lock:
        _importing += 1
        gc.disable()
    try:
        yield
    finally:
        with _lock:
            _importing -= 1
            if not _importing:
                gc.enable()


@contextmanager
def first_run() -> Iterator[None]:
    """Around a page: the first run of a process is the one that imports."""
    global _has_run
    first, _has_run = not _has_run, True
    with quick_imports() if first else nullcontext():
        yield


def import_ahead() -> None:
    """Import what a page with a model needs, so that a page that asks for it later finds it there."""
    with quick_imports():
        import spacy  # noqa: F401
        import torch  # noqa: F401

        import explorer.translation.translator  # noqa: F401
        import model.checkpoint  # noqa: F401


def models() -> dict[str, dict[str, Any]]:
    """Summaries of the models that can be opened, by name, without reading weights."""
    return {summary["name"]: summary for summary in _summaries(str(CHECKPOINTS)) if summary["error"] is None}


def broken_models() -> dict[str, str]:
    """Model folders that cannot be opened, and why."""
    return {summary["name"]: summary["error"] for summary in _summaries(str(CHECKPOINTS)) if summary["error"]}


# A class that steps together asks for the list many times a second; a second is soon enough for a new model.
@st.cache_resource(ttl=1.0, max_entries=4, show_spinner=False)
def _summaries(checkpoints: str) -> list[dict[str, Any]]:
    return list_models(checkpoints)


def fingerprint(name: str) -> str:
    """Changes when a model's files do, so that a retrained model is not served from memory."""
    folder = CHECKPOINTS / name
    parts = []
    for path in (folder / "config.json", folder / "tokenizer.json", folder / "model.safetensors"):
        try:
            status = path.stat()
        except OSError as error:
            raise CheckpointError(f"{name}/{path.name} cannot be read: {error.strerror}.") from error
        parts.append(f"{status.st_mtime_ns}-{status.st_size}")
    return "/".join(parts)


def translator(name: str) -> Translator:
    """The model called `name`, loaded once for everybody.

    Raises:
        CheckpointError: it cannot be opened.
    """
    return _translator(name, fingerprint(name))


@st.cache_resource(max_entries=4, show_spinner="Loading the model …")
def _translator(name: str, version: str) -> Translator:
    del version  # part of the key only
    warm_torch()
    from explorer.translation.translator import Translator
    from model.checkpoint import load_model

    loaded = Translator(load_model(CHECKPOINTS / name))
    loaded.loaded.source.encode("warm")  # imports spaCy where the tokenizer needs it
    freeze()
    return loaded


def translate(name: str, text: str, config: DecodeConfig, prefix: tuple[int, ...] = ()) -> Translation:
    """A translation with its trace, computed once for all sessions that ask for the same.

    Raises:
        CheckpointError: the model cannot be opened. InputError: there is nothing to translate.
    """
    return _translate(name, fingerprint(name), text, config, prefix)


@st.cache_resource(max_entries=64, show_spinner=False)
def _translate(name: str, version: str, text: str, config: DecodeConfig, prefix: tuple[int, ...]) -> Translation:
    return _translator(name, version).translate(text, config, prefix=prefix)
