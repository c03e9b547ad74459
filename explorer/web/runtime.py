"""The single gateway to the models, shared by all sessions of a server: loaded models, translations and the queue.

Screens describe a model with :func:`describe`, translate with :func:`translate` and :func:`force`, look behind the
weights with :func:`head_details`, :func:`norms` and :func:`rollout`, and run any other computation inside
`with model(name) as translator:`. Caches are bounded, and keyed by names and strings. torch and
spaCy are imported on first use.
"""

from __future__ import annotations

import gc
import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from explorer import byte_cache
from explorer.byte_cache import cached
from explorer.web import model_list, model_queue
from model.config import DecodeConfig
from model.folder import CheckpointError
from model.user_error import UserError

if TYPE_CHECKING:
    from explorer.decoding.aggregates import Floats
    from explorer.decoding.model_description import ModelDescription
    from explorer.decoding.translator import Translation, Translator
    from explorer.probing.reporting import Report
    from model.analysis.head_details import HeadDetails
    from model.analysis.score_terms import HeadTerms
    from model.checkpoint import LoadedModel
    from model.config import AttentionKind
    from model.edits import HeadEdits

Result = TypeVar("Result")

_has_run = False
_n_modules = 0
_afterwards: list[Callable[[], None]] = []
_opened: deque[str] = deque(maxlen=1)
_importing = 0
_lock = threading.Lock()
CHECKPOINTS = Path(os.environ.get("HEADLIGHT_CHECKPOINTS", Path(__file__).parents[2] / "checkpoints"))


def _session() -> str:
    """The session whose script runs in this thread."""
    context = get_script_run_ctx(suppress_warning=True)
    return byte_cache.SERVER if context is None else context.session_id


byte_cache.ask_with(_session)


@st.cache_resource(show_spinner=False)
def warm_torch() -> None:
    """Prepare torch, once per process, before the first model call.

    One thread per call: sessions that compete for cores are slower than sessions that queue. Freezing what is imported
    keeps the garbage collector from scanning all of torch again and again.
    """
    import torch

    torch.set_num_threads(1)
    freeze()


def freeze() -> None:
    """Exclude all live objects from garbage collection; call it after each late heavy import."""
    if gc.isenabled():
        gc.collect()
    gc.freeze()


@contextmanager
def quick_imports() -> Iterator[None]:
    """Suspend garbage collection during heavy imports, which create hundreds of thousands of objects.

    Scanning them repeatedly takes a third of the time of importing torch and spaCy. Two threads may be in here at once;
    the last to leave switches the collector on again.
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
def page_run() -> Iterator[None]:
    """Wrap a page run; the first run of a process does the imports, so garbage collection is suspended for it.

    What a run has imported is excluded from later collections, which come after every run.
    """
    global _has_run, _n_modules
    first, _has_run = not _has_run, True
    try:
        with quick_imports() if first else nullcontext():
            try:
                yield
            finally:
                if len(sys.modules) > _n_modules:
                    _n_modules = len(sys.modules)
                    freeze()
    finally:
        if first:
            for work in _afterwards:
                threading.Thread(target=work, name="afterwards", daemon=True).start()


def after_first_run(work: Callable[[], None]) -> None:
    """Have `work` done in a thread of its own when the first page run of this process has ended."""
    _afterwards.append(work)


def import_ahead() -> None:
    """Import what a page with a model needs, so that a later page finds it already imported."""
    with quick_imports():
        import spacy  # noqa: F401
        import torch  # noqa: F401

        import explorer.decoding.translator  # noqa: F401
        import model.checkpoint  # noqa: F401


def models() -> dict[str, dict[str, Any]]:
    """Summaries of the models that can be opened, by name, without reading weights."""
    return {summary["name"]: summary for summary in _summaries(str(CHECKPOINTS)) if summary["error"] is None}


def summary(name: str) -> dict[str, Any]:
    """The summary of one model.

    Raises:
        CheckpointError: it is not there, or cannot be opened; the message says which, and what to do.
    """
    found = models().get(name)
    if found is None:
        why = broken_models().get(name)
        reason = f"cannot be opened: {why}" if why else "is no longer here."
        raise CheckpointError(f"The model '{name}' {reason} Choose another one in the sidebar.")
    return found


def broken_models() -> dict[str, str]:
    """Model folders that cannot be opened, and why."""
    return {summary["name"]: summary["error"] for summary in _summaries(str(CHECKPOINTS)) if summary["error"]}


# A class that steps together requests the list many times a second; a new model may take a second to appear.
@st.cache_resource(ttl=1.0, max_entries=4, show_spinner=False)
def _summaries(checkpoints: str) -> list[dict[str, Any]]:
    return model_list.summaries(checkpoints)


def models_changed() -> None:
    """List the models anew: one has just been added, renamed or removed on this server."""
    _summaries.clear()


def fingerprint(name: str) -> str:
    """A value that changes when a model's files do, so that a retrained model is not served from the caches."""
    folder = CHECKPOINTS / name
    parts = []
    for path in (folder / "config.json", folder / "tokenizer.json", folder / "model.safetensors"):
        try:
            status = path.stat()
        except OSError as error:
            raise CheckpointError(f"{name}/{path.name} cannot be read: {error.strerror}.") from error
        parts.append(f"{status.st_mtime_ns}-{status.st_size}")
    return "/".join(parts)


def describe(name: str) -> ModelDescription:
    """Settings and tokenizers of the model called `name`, which is loaded once for all sessions.

    Raises:
        CheckpointError: it cannot be opened.
    """
    from explorer.decoding.model_description import description_of

    return description_of(_translator(name, fingerprint(name)).loaded)


def translate(
    name: str, text: str, config: DecodeConfig, path: tuple[int, ...] = (), edit: HeadEdits | None = None
) -> Translation:
    """A translation with its trace, computed once for all sessions that request the same one.

    `path` holds the target ids to begin with; `edit` changes heads throughout decoding.

    Raises:
        CheckpointError: the model cannot be opened. InputError: there is nothing to translate. EditError: the edit
            does not fit this model or sentence.
    """
    return _translate(name, fingerprint(name), text, config, path, _digest(edit), edit)


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
    return _force(name, fingerprint(name), text, target, _digest(edit), edit)


class NotTheModels(UserError):
    """These numbers need the model that made the translation, unedited; the message says why they are missing."""


def head_details(shown: Translation, kind: AttentionKind, layer: int, head: int) -> HeadDetails:
    """The vectors behind one head of a translation, computed once for all sessions; layer and head count from 0.

    Raises:
        NotTheModels: the model is gone or has been retrained, or the translation was edited.
    """
    return _head_details(shown.seq, _version(shown), kind, layer, head, shown)


def head_terms(shown: Translation, kind: AttentionKind, layer: int, head: int, row: int) -> HeadTerms:
    """The scores of one head of a translation, taken apart, at least those of one row; all count from 0.

    Raises:
        NotTheModels: as for :func:`head_details`. ScoreTermsError: the model is a variant.
    """
    row = 0 if describe(shown.model).model_config.causal else row  # otherwise the same for all rows
    return _head_terms(shown.seq, _version(shown), kind, layer, head, row, shown)


def norms(shown: Translation, kind: AttentionKind) -> tuple[Floats, Floats]:
    """Norm-weighted attention: for each head [layer, head, query, key], and for all heads of a layer together.

    Raises:
        NotTheModels: as for :func:`head_details`.
    """
    return _norms(shown.seq, _version(shown), kind, shown)


def rollout(shown: Translation, kind: AttentionKind) -> Floats:
    """Rollout after each layer of the stack, [layer, query, key]; for a decoder, from target or source tokens.

    Raises:
        NotTheModels: the model is gone, so it is unknown whether it has residual connections.
    """
    return _rollout(shown.seq, _version(shown), kind, shown)


def _version(shown: Translation) -> str:
    """The fingerprint of the model that made a translation without edits."""
    if shown.trace.edits:
        raise NotTheModels("These numbers exist only for the model as trained; here, heads are edited.")
    try:
        if not describe(shown.model).is_transformer:
            raise NotTheModels("These numbers exist only for a Transformer; this model is an LSTM.")
        return fingerprint(shown.model)
    except CheckpointError as gone:
        raise NotTheModels(f"These numbers need the model itself: {gone}") from None


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
    translator = _translator(name, version)  # loaded before waiting for a place, which others may use meanwhile
    with model_queue.place():
        yield translator


def compute_in_parts(name: str, work: Callable[[LoadedModel, Report], Result], report: Report) -> Result:
    """The result of long work with a model. At each progress report, computations waiting for a place go first.

    Raises:
        CheckpointError: the model cannot be opened. Exceptions of `work` and `report` are passed on.
    """

    def between_parts(done: float, words: str) -> None:
        with model_queue.place_offered():
            report(done, words)

    with model(name) as translator:
        return work(translator.loaded, between_parts)


@contextmanager
def snapshot_turn() -> Iterator[None]:
    """A place for a computation with weights that are not listed as a model: the snapshots of a run."""
    warm_torch()
    with model_queue.place():
        yield


def last_loaded() -> str | None:
    """The name of the model that was loaded last, by any session."""
    return _opened[-1] if _opened else None


@st.cache_resource(max_entries=4, show_spinner="Loading the model …")
def _translator(name: str, version: str) -> Translator:
    del version  # part of the key only
    warm_torch()
    from explorer.decoding.translator import Translator
    from model.checkpoint import load_model

    loaded = Translator(load_model(CHECKPOINTS / name))
    loaded.loaded.source.encode("warm")  # imports spaCy where the tokenizer needs it
    freeze()
    _opened.append(name)
    return loaded


@cached
def _translate(
    name: str,
    version: str,
    text: str,
    config: DecodeConfig,
    path: tuple[int, ...],
    edit_digest: str,
    _edit: HeadEdits | None,
) -> Translation:
    del edit_digest  # part of the key only
    with _model(name, version) as translator:
        return translator.translate(text, config, prefix=path, edit=_edit)


@cached
def _force(name: str, version: str, text: str, target: str, edit_digest: str, _edit: HeadEdits | None) -> Translation:
    del edit_digest  # part of the key only
    with _model(name, version) as translator:
        return translator.force(text, target, edit=_edit)


@cached
def _head_details(
    seq: str, version: str, kind: AttentionKind, layer: int, head: int, _shown: Translation
) -> HeadDetails:
    del seq  # part of the key only
    with _model(_shown.model, version) as translator:
        return translator.details(_shown, [(kind, layer, head)])[kind, layer, head]


@cached
def _head_terms(
    seq: str, version: str, kind: AttentionKind, layer: int, head: int, row: int, _shown: Translation
) -> HeadTerms:
    del seq  # part of the key only
    with _model(_shown.model, version) as translator:
        return translator.terms(_shown, (kind, layer, head), row)


@cached
def _norms(seq: str, version: str, kind: AttentionKind, _shown: Translation) -> tuple[Floats, Floats]:
    del seq  # part of the key only
    with _model(_shown.model, version) as translator:
        return translator.norms(_shown, kind)


@cached
def _rollout(seq: str, version: str, kind: AttentionKind, _shown: Translation) -> Floats:
    from explorer.decoding.aggregates import decoder_rollout, encoder_rollout

    del seq, version  # parts of the key only
    trace = _shown.trace
    residual = describe(_shown.model).model_config.residual
    if kind == "encoder":
        return encoder_rollout(trace.encoder, residual=residual)
    from_target, from_source = decoder_rollout(trace.decoder, trace.cross, trace.encoder, residual=residual)
    return from_target if kind == "decoder" else from_source
