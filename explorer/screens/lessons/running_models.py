"""Lessons against the models of the running app; values are computed once and shared by all sessions."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from explorer.decoding.selection import Selection
from explorer.decoding.translator import InputError
from explorer.lessons import evaluation
from explorer.lessons.checks import Live, answer
from explorer.lessons.expressions import Expression, Term, TermError, Value
from explorer.lessons.lesson import Step
from explorer.lessons.library import FOLDER, Library, lesson_files, read_library
from explorer.web import runtime
from model.config import DecodeConfig
from model.folder import CheckpointError, modified


def library() -> Library:
    """All lessons; a file is read again when it changes."""
    return _library(tuple((str(path), modified(path)) for path in lesson_files(FOLDER)))


@st.cache_resource(max_entries=4, show_spinner=False)
def _library(files: tuple[tuple[str, float], ...]) -> Library:
    return read_library(Path(path) for path, _ in files)


def start_of(step: Step) -> Selection:
    """The selection that a step opens with, among the models of this app."""
    return evaluation.start_of(step, runtime.models())


def evaluate(expression: Expression, start: Selection, here: Selection | None = None) -> Value:
    """The value of an expression; `start` is the step's selection, `here` the reader's.

    Raises:
        TermError: it cannot be computed; the message says why.
    """
    return evaluation.evaluate(expression, evaluation.Models(runtime.models(), _encode, _check), start, here)


def fill(text: str, start: Selection, answer: str = "") -> str:
    """Replace the placeholders of a text by their values.

    Raises:
        TermError: a placeholder cannot be computed.
    """
    return evaluation.fill(text, lambda expression: evaluate(expression, start), answer)


def broken_claims(step: Step, start: Selection) -> list[str]:
    """A sentence for each claim of a step that does not hold for the models of this app."""
    return evaluation.broken_claims(step, lambda expression: evaluate(expression, start))


def _encode(model: str, text: str) -> tuple[int, ...]:
    try:
        return runtime.describe(model).target.encode(text).ids
    except (InputError, CheckpointError) as error:
        raise TermError(str(error)) from error


def _check(model: str, text: str, path: tuple[int, ...], term: Term) -> Value:
    try:
        return _checked(model, runtime.fingerprint(model), text, path, term)
    except (InputError, CheckpointError) as error:
        raise TermError(str(error)) from error


@st.cache_resource(max_entries=1024, show_spinner=False)
def _checked(model: str, version: str, text: str, path: tuple[int, ...], term: Term) -> Value:
    del version  # part of the key only
    translation = runtime.translate(model, text, DecodeConfig(), path)
    summary = runtime.summary(model)
    with runtime.model(model) as translator:
        return answer(term, Live(translator, translation, summary))
