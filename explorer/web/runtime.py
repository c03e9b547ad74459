"""The single gateway to the models, shared by all sessions of a server: loaded models, translations and the queue.

Screens describe a model with :func:`describe`, translate with :func:`translate` and :func:`force`, analyse weights with
:func:`explanation` and :func:`norms`, and run any other computation inside
`with model(name) as translator:`. Caches are bounded, and keyed by names and strings. torch and spaCy are imported on
first use.
"""

from __future__ import annotations

import dataclasses
import os
import time
from collections import deque
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import streamlit as st

from explorer.decoding.cache import Key, shared
from explorer.locale.messages import Later, t
from explorer.web import model_queue
from explorer.web.model_list import summaries
from explorer.web.streamlit_private import in_page_run
from model.config import AttentionKind, DecodeConfig
from model.folder import CheckpointError
from model.user_error import UserError

if TYPE_CHECKING:
    from explorer.decoding.aggregates import Floats
    from explorer.decoding.coordinates import Place
    from explorer.decoding.model_description import ModelDescription
    from explorer.decoding.translator import Explanation, Translation, Translator
    from explorer.probing.reporting import Report
    from model.checkpoint import LoadedModel
    from model.edits import HeadEdits

Result = TypeVar("Result")

_opened: deque[tuple[str, str]] = deque(maxlen=4)  # as many as :func:`_translator` keeps: name and version
CHECKPOINTS = Path(os.environ.get("HEADLIGHT_CHECKPOINTS", Path(__file__).parents[2] / "checkpoints"))


@st.cache_resource(show_spinner=False)
def warm_torch() -> None:
    """Prepare torch, once per process, before the first model call.

    One thread per call: sessions that compete for cores are slower than sessions that queue.
    """
    import torch

    torch.set_num_threads(1)


def models() -> dict[str, dict[str, Any]]:
    """Summaries of the models that can be opened, by name, without reading weights."""
    return {summary["name"]: summary for summary in _summaries(str(CHECKPOINTS)) if summary["error"] is None}


def summary(name: str) -> dict[str, Any]:
    """The summary of one model.

    Raises:
        CheckpointError: it is missing or cannot be opened; the message says which, and what to do.
    """
    available = models().get(name)
    if available is None:
        why = broken_models().get(name)
        if why:
            raise CheckpointError(
                "The model “{name}” cannot be opened: {why} Choose another one in the sidebar.", name=name, why=why
            )
        raise CheckpointError("The model “{name}” is no longer here. Choose another one in the sidebar.", name=name)
    return available


def broken_models() -> dict[str, str]:
    """Model folders that cannot be opened, and why."""
    return {summary["name"]: summary["error"] for summary in _summaries(str(CHECKPOINTS)) if summary["error"]}


def _summaries(checkpoints: str) -> list[dict[str, Any]]:
    return _summaries_in(checkpoints, int(time.monotonic()))


# A class that uses the app at once requests the list many times a second. A new model may appear a second late. The
# second is an argument: an entry with a `ttl` that ends while Streamlit reads it raises a KeyError.
@st.cache_resource(max_entries=4, show_spinner=False)
def _summaries_in(checkpoints: str, second: int) -> list[dict[str, Any]]:
    return summaries(checkpoints)


def models_changed() -> None:
    """Read the list of models again, after one was added, renamed or removed on this server."""
    _summaries_in.clear()


_AT = "@"  # "reverse@112" is the model `reverse` as it was after 112 steps of training


def snapshot_steps(name: str) -> list[int]:
    """The steps of training whose weights were kept, ascending; empty for most models."""
    from model.checkpoint import snapshot_steps

    return snapshot_steps(CHECKPOINTS / name)


def at_step(name: str, step: int) -> str:
    """The name under which a model can be asked as it was after a step of training."""
    return f"{name}{_AT}{step}"


def listed_name(name: str) -> str:
    """The name of a model in the list, without a step of its training."""
    return name.partition(_AT)[0]


def _weights(name: str) -> Path:
    """The file with the weights that a name asks for."""
    listed, _, step = name.partition(_AT)
    if not step:
        return CHECKPOINTS / listed / "model.safetensors"
    from model.checkpoint import snapshot_path

    return snapshot_path(CHECKPOINTS / listed, int(step))


def fingerprint(name: str) -> str:
    """A value that changes when a model's files do, so that no stale result is served after retraining."""
    folder = CHECKPOINTS / listed_name(name)
    parts = []
    for path in (folder / "config.json", folder / "tokenizer.json", _weights(name)):
        try:
            status = path.stat()
        except OSError as error:
            raise CheckpointError(
                "{name}/{file} cannot be read: {reason}.", name=name, file=path.name, reason=error.strerror
            ) from error
        parts.append(f"{status.st_mtime_ns}-{status.st_size}")
    return "/".join(parts)


def describe(name: str) -> ModelDescription:
    """Settings and tokenizers of the model called `name`, which is loaded once for all sessions.

    Raises:
        CheckpointError: it cannot be opened.
    """
    from explorer.decoding.model_description import description_of

    return description_of(_loaded(name, fingerprint(name)).loaded)


def translate(
    name: str, text: str, config: DecodeConfig, path: tuple[int, ...] = (), edit: HeadEdits | None = None
) -> Translation:
    """A translation with its trace, computed once for all sessions that request the same one.

    `path` holds the target ids to begin with; `edit` changes heads throughout decoding.

    Raises:
        CheckpointError: the model cannot be opened. InputError: there is nothing to translate. EditError: the edit
            does not fit this model or sentence.
    """
    key = ("translate", text, config, path, _digest(edit))
    return _shared(name, fingerprint(name), key, lambda by: by.translate(text, config, prefix=path, edit=edit))


def _digest(edit: HeadEdits | None) -> str:
    if edit is None:
        return ""
    from explorer.decoding.head_edits import digest_of

    return digest_of(edit)


def force(name: str, text: str, target: str, edit: HeadEdits | None = None) -> Translation:
    """A given target read token by token (teacher forcing), computed once for all sessions that request the same.

    Raises:
        CheckpointError: the model cannot be opened. InputError: there is no source or no target. EditError: the edit
            does not fit this model or sentence.
    """
    key = ("force", text, target, _digest(edit))
    return _shared(name, fingerprint(name), key, lambda by: by.force(text, target, edit=edit))


class NotTheModels(UserError):
    """These numbers need the Transformer that made the translation; the message says why they are missing."""


def explanation(translation: Translation, kind: AttentionKind, layer: int, head: int, row: int) -> Explanation:
    """The numbers behind one row of a head of a translation, computed once for all sessions; all count from 0.

    Raises:
        NotTheModels: the model is gone or is an LSTM.
    """
    version = _version(translation)
    if kind == "encoder" or describe(translation.model).model_config.causal:
        row = 0  # one run serves all rows
    key = ("explanation", translation.seq, kind, layer, head, row)
    return _shared(translation.model, version, key, lambda by: by.explain(translation, (kind, layer, head), row))


def norms(translation: Translation, kind: AttentionKind) -> tuple[Floats, Floats]:
    """Norm-weighted attention: for each head [layer, head, query, key], and for all heads of a layer together.

    Raises:
        NotTheModels: as for :func:`explanation`.
    """
    return _shared(
        translation.model,
        _version(translation),
        ("norms", translation.seq, kind),
        lambda by: by.norms(translation, kind),
    )


def other_to_compare(translation: Translation, at: Place) -> str:
    """A sentence to compare this one with at a head: with one word changed, or another example; else itself.

    Raises:
        CheckpointError: the model cannot be opened.
    """
    from explorer.decoding.examples import examples_of  # the first screen does not need them
    from explorer.probing.minimal_pairs import other_to_compare

    summary = models().get(translation.model)
    examples = [each.source for each in examples_of(summary)] if summary else []
    key = ("other to compare", translation.seq, at.kind, at.layer, at.head)
    name = translation.model
    return _shared(name, fingerprint(name), key, lambda by: other_to_compare(by, translation, at, examples))


def _version(translation: Translation) -> str:
    """The fingerprint of the model that made a translation."""
    try:
        if not describe(translation.model).is_transformer:
            raise NotTheModels("These numbers exist only for a Transformer; this model is an LSTM.")
        return fingerprint(translation.model)
    except CheckpointError as gone:
        raise NotTheModels("These numbers need the model itself: {gone}", gone=gone) from None


@contextmanager
def model(name: str) -> Iterator[Translator]:
    """The model called `name`, for any other computation inside the `with` block.

    The block waits for one of two places (see :mod:`explorer.web.model_queue`). It must not outlive its computation:
    nothing in it may wait for a Streamlit cache, a background job or another model, and the model must not leave it.

    Raises:
        CheckpointError: it cannot be opened.
    """
    with _model(name, fingerprint(name)) as translator:
        yield translator


@contextmanager
def _model(name: str, version: str) -> Iterator[Translator]:
    translator = _loaded(name, version)  # loaded before it takes a place, which others may use meanwhile
    with model_queue.place():
        yield translator


def with_model(name: str, work: Callable[[Any], Result]) -> Result:
    """The result of `work(model)` with the model called `name`; see :func:`model` for what `work` must not do."""
    with model(name) as translator:
        return work(translator.loaded.model)


def _shared(name: str, version: str, key: Key, work: Callable[[Translator], Result]) -> Result:
    """The result of some work with this version of a model, computed once for all sessions; `key` names the work."""

    def make() -> Result:
        with _model(name, version) as translator:
            return work(translator)

    return shared((name, version, *key), make)


def computed(name: str, work: Callable[..., Result], *arguments: Hashable, **options: Hashable) -> Result:
    """The result of `work(model, *arguments, **options)` with the model called `name`, once for all sessions.

    `work` is a function of a module, because it is part of the key together with the arguments and options.

    Raises:
        CheckpointError: the model cannot be opened. Exceptions of `work` are passed on.
    """
    key = (work, arguments, tuple(sorted(options.items())))
    return _shared(name, fingerprint(name), key, lambda by: work(by.loaded.model, *arguments, **options))


def computed_by(name: str, work: Callable[[Translator], Result]) -> Result:
    """As :func:`computed`, the result of `work(translator)`, for what needs more than the model."""
    return _shared(name, fingerprint(name), (work,), work)


def compute_in_parts(name: str, work: Callable[[LoadedModel, Report], Result], report: Report) -> Result:
    """The result of long work with a model. At each progress report, computations waiting for a place go first.

    Raises:
        CheckpointError: the model cannot be opened. Exceptions of `work` and `report` are passed on.
    """

    def between_parts(done: float, words: str | Later) -> None:
        with model_queue.place_offered():
            report(done, words)

    with model(name) as translator:
        return work(translator.loaded, between_parts)


@contextmanager
def snapshot_turn() -> Iterator[None]:
    """Hold a place in the queue for a computation with weights that are no listed model, such as snapshots."""
    warm_torch()
    with model_queue.place():
        yield


def last_loaded() -> str | None:
    """The name of the model that was loaded last, by any session."""
    return listed_name(_opened[-1][0]) if _opened else None


def _loaded(name: str, version: str) -> Translator:
    """A model, loaded now if it is not among the last ones; the page says so meanwhile."""
    if (name, version) in _opened or not in_page_run():
        return _translator(name, version)
    with st.spinner(t("Loading the model …")):
        return _translator(name, version)


@st.cache_resource(max_entries=4, show_spinner=False)
def _translator(name: str, version: str) -> Translator:
    warm_torch()
    from explorer.decoding.translator import Translator
    from model.checkpoint import load_model

    listed, _, step = name.partition(_AT)
    loaded = load_model(CHECKPOINTS / listed, snapshot=int(step) if step else None)
    translator = Translator(dataclasses.replace(loaded, name=name))
    translator.loaded.source.encode("warm")  # imports spaCy if the tokenizer needs it
    _opened.append((name, version))
    return translator
