"""Which lesson a session is in, at which step, and how it went: in the session and in the address bar."""

from __future__ import annotations

import re
from dataclasses import dataclass

import streamlit as st

from explorer.lessons.lesson import Lesson
from explorer.screens.lessons.live import shelf, start_of
from explorer.web import session
from explorer.web.address import Parameters

LESSON, AT, DONE, PRESENT = "lesson", "at", "done", "present"  # names of the URL parameters
UNTOUCHED, AT_ONCE, LATER, SHOWN = 0, 1, 2, 3  # how a question went
_DEED = 4  # added where the thing to do was done
MAX_PROGRESS = 2000  # characters in a link

_ADDRESS = Parameters((LESSON, AT, DONE, PRESENT))
_STATE, _ANSWERS, _PROBLEMS = (f"_lesson_{name}" for name in ("state", "answers", "problems"))
_PART = re.compile(r"([a-z0-9][a-z0-9-]{0,39})\.([0-7]{1,30})")


@dataclass(frozen=True)
class Place:
    """A lesson by its name ("" = none), the step from 1, how each lesson's steps went, and whether it is presented."""

    lesson: str = ""
    at: int = 1
    progress: tuple[tuple[str, str], ...] = ()
    present: bool = False


@dataclass(frozen=True)
class Given:
    """The last answer of the reader to a step's question, and how often they answered."""

    text: str
    tries: int


def place() -> Place:
    """Where this session is."""
    found: Place = st.session_state.get(_STATE, Place())
    return found


def open_lesson() -> Lesson | None:
    """The lesson that is open, if there is one."""
    return shelf().find(place().lesson)


def adopt(page: str) -> None:
    """Take over what the address asks for, if somebody wrote it there; before any widget is drawn, on every page.

    A link that names a lesson's step and no sentence opens that step's own place.
    """
    asked = _ADDRESS.asked()
    if asked is not None:
        _take_over(asked, page)
    _write(page)


def _take_over(asked: dict[str, str], page: str) -> None:
    problems = []
    name, at = asked.get(LESSON, place().lesson), asked.get(AT, "1")
    lesson = shelf().find(name)
    if name and lesson is None:
        problems.append(f"There is no lesson '{name}' here; these are the ones there are.")
        name = ""
    number = int(at) if at.isascii() and at.isdecimal() and len(at) < 4 else 0
    if lesson is not None and not 1 <= number <= len(lesson.steps):
        problems.append(f"The lesson has steps 1 to {len(lesson.steps)}, not '{at[:20]}'; it begins at the first.")
        number = 1
    progress, unread = read_progress(asked.get(DONE, ""))
    if unread:
        problems.append("A part of the link's progress makes no sense; it is left out.")
    st.session_state[_PROBLEMS] = problems
    known = {**dict(place().progress), **progress}
    st.session_state[_STATE] = Place(name, max(number, 1), tuple(sorted(known.items())), asked.get(PRESENT) == "1")
    if lesson is not None and page == "lessons" and session.TEXT not in st.query_params:
        _open_place(lesson, number)


def _write(page: str) -> None:
    """Make the address bar say where the session is, leaving other parameters alone."""
    here = place()
    query = {}
    if here.lesson:
        query = {LESSON: here.lesson, AT: str(here.at)}
    if here.lesson and here.present:
        query[PRESENT] = "1"
    if (here.lesson or page == "lessons") and (progress := progress_text(here.progress)):
        query[DONE] = progress
    _ADDRESS.write(query)


def link() -> dict[str, str]:
    """The lesson's part of an address, for a change of pages."""
    return _ADDRESS.written()


def problems() -> list[str]:
    """Sentences about the last link that did not make sense, once."""
    found: list[str] = st.session_state.pop(_PROBLEMS, [])
    return found


def go(name: str, at: int = 1) -> None:
    """Go to a step of a lesson and to its place; only before widgets are drawn, as in a callback."""
    lesson = shelf().find(name)
    if lesson is None:
        leave()
        return
    number = min(max(at, 1), len(lesson.steps))
    here = place()
    st.session_state[_STATE] = Place(name, number, here.progress, here.present)
    _open_place(lesson, number)


def _open_place(lesson: Lesson, at: int) -> None:
    step = lesson.step(at)
    if step.link is not None and step.link.models:
        session.open_selection(start_of(step))
        if "decode_method" in st.session_state:  # answers are those of greedy search
            st.session_state["decode_method"] = "greedy"


def leave() -> None:
    """Close the lesson; what was answered is kept."""
    st.session_state[_STATE] = Place(progress=place().progress)


def present(on: bool) -> None:
    """Begin or end the presentation."""
    here = place()
    st.session_state[_STATE] = Place(here.lesson, here.at, here.progress, on)


def outcome(name: str, at: int) -> int:
    """How the question of a step went: UNTOUCHED, AT_ONCE, LATER or SHOWN."""
    return _code(name, at) % _DEED


def is_done(name: str, at: int) -> bool:
    """Whether the thing to do in a step was done."""
    return _code(name, at) >= _DEED


def _code(name: str, at: int) -> int:
    codes = dict(place().progress).get(name, "")
    return int(codes[at - 1]) if at <= len(codes) else 0


def note(name: str, at: int, *, outcome: int | None = None, done: bool = False) -> None:
    """Write down how a question went, or that the thing to do was done; a question's first outcome stays."""
    progress = dict(place().progress)
    codes = list(progress.get(name, "").ljust(at, "0"))
    code = int(codes[at - 1])
    asked, deed = code % _DEED, code - code % _DEED
    if outcome is not None and asked == UNTOUCHED:
        asked = outcome
    codes[at - 1] = str(asked + (_DEED if done else deed))
    progress[name] = "".join(codes)
    here = place()
    st.session_state[_STATE] = Place(here.lesson, here.at, tuple(sorted(progress.items())), here.present)


@dataclass(frozen=True)
class Record:
    """How a step went: its question's outcome, whether its thing was done, and the last answer in this session."""

    outcome: int = UNTOUCHED
    done: bool = False
    given: Given | None = None


def record(name: str, at: int) -> Record:
    """How a step went so far."""
    return Record(outcome(name, at), is_done(name, at), given(name, at))


def given(name: str, at: int) -> Given | None:
    """What the reader answered last to a step, in this session."""
    answers: dict[tuple[str, int], Given] = st.session_state.get(_ANSWERS, {})
    return answers.get((name, at))


def give(name: str, at: int, text: str) -> Given:
    """Remember an answer."""
    answers: dict[tuple[str, int], Given] = st.session_state.setdefault(_ANSWERS, {})
    before = answers.get((name, at))
    answers[name, at] = Given(text, (before.tries if before else 0) + 1)
    return answers[name, at]


def progress_text(progress: tuple[tuple[str, str], ...]) -> str:
    """Progress as it stands in a link: "attention.1052~masks.1", a digit a step."""
    parts = [f"{name}.{codes.rstrip('0')}" for name, codes in progress if codes.strip("0")]
    text = "~".join(parts)
    return text if len(text) <= MAX_PROGRESS else ""


def read_progress(text: str) -> tuple[dict[str, str], bool]:
    """Progress from a link, which anybody may have written, and whether some of it made no sense."""
    parts = text[:MAX_PROGRESS].split("~") if text else []
    found = [_PART.fullmatch(part) for part in parts]
    return {match[1]: match[2] for match in found if match}, len(text) > MAX_PROGRESS or not all(found)
