"""The lessons, evaluated with the models of the running app; values are computed once for all sessions."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import streamlit as st

from explorer.decoding.translator import InputError
from explorer.lessons.checks import Live, answer
from explorer.lessons.evaluation import Models
from explorer.lessons.expressions import Term, TermError, Value
from explorer.lessons.library import FOLDER, Library, lesson_files, read_library
from explorer.lessons.translation import in_language
from explorer.locale import language
from explorer.web import runtime
from model.config import DecodeConfig
from model.folder import CheckpointError, modified


def library() -> Library:
    """All lessons, in the language chosen; a file is read again when it changes."""
    return _library(tuple((str(path), modified(path)) for path in lesson_files(FOLDER)), language.current())


@st.cache_resource(max_entries=8, show_spinner=False)
def _library(files: tuple[tuple[str, float], ...], code: str) -> Library:
    read = read_library(Path(path) for path, _ in files)
    return read if code == language.ENGLISH else replace(read, lessons=tuple(map(in_language, read.lessons)))


def _encode(model: str, text: str) -> tuple[int, ...]:
    try:
        return runtime.describe(model).target.encode(text).ids
    except (InputError, CheckpointError) as error:
        raise TermError(error) from error


def _check(model: str, text: str, path: tuple[int, ...], term: Term) -> Value:
    try:
        return _checked(model, runtime.fingerprint(model), text, path, term)
    except (InputError, CheckpointError) as error:
        raise TermError(error) from error


@st.cache_resource(max_entries=1024, show_spinner=False)
def _checked(model: str, version: str, text: str, path: tuple[int, ...], term: Term) -> Value:
    del version  # part of the key only
    translation = runtime.translate(model, text, DecodeConfig(), path)
    summary = runtime.summary(model)
    with runtime.model(model) as translator:
        return answer(term, Live(translator, translation, summary))


MODELS = Models(runtime.models, _encode, _check)
start_of, evaluate, fill, broken_claims = MODELS.start_of, MODELS.evaluate, MODELS.fill, MODELS.broken_claims
