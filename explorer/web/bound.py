"""Tabs and choices that the address names in English, whatever the language of their labels.

Streamlit writes the label of a bound choice into the address. In English, the label is what the address shall hold. In
another language, the choice is written here, so that a link opens in every language.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from explorer.locale import language
from explorer.locale.messages import translated
from explorer.web import address

URL: Literal["query-params"] = "query-params"  # `bind=URL` puts a widget's value into the address
Option = TypeVar("Option")


def tabs(names: Sequence[str], key: str) -> tuple[str, DeltaGenerator]:
    """Draw tabs by their English names; return the open one with its place.

    The session's `key` holds the name of the open tab, and may be set to open another.
    """
    if language.current() == language.ENGLISH:
        places = st.tabs(names, on_change="rerun", bind=URL, key=key)
    else:
        labels, widget, drawn = [translated(name) for name in names], f"{key}_{language.current()}", f"_{key}_drawn"
        wanted = str(address.choice(key).asked().get(key) or st.session_state.get(key))
        if wanted in names and (wanted != st.session_state.get(drawn) or widget not in st.session_state):
            st.session_state[widget] = translated(wanted)
        places = st.tabs(labels, on_change="rerun", key=widget)
    pairs = list(zip(names, places, strict=True))
    name, place = next(((name, place) for name, place in pairs if place.open), pairs[0])
    if language.current() != language.ENGLISH:
        st.session_state[key] = st.session_state[drawn] = name
        address.choice(key).write({key: "" if name == names[0] else name})
    return name, place


def segmented(
    label: str,
    options: Sequence[Option],
    *,
    key: str,
    default: Option,
    title_of: Callable[[Any], str] = translated,
    **more: Any,
) -> Option:
    """Draw a row of options, one of which is always pressed; `title_of` writes an option in the language chosen."""
    draw = partial(st.segmented_control, label, options, required=True, **more)
    chosen: Option | None = _bound(draw, options, key, default, {"default": default}, title_of)
    return default if chosen is None else chosen


def selectbox(
    label: str, options: Sequence[Option], *, key: str, title_of: Callable[[Any], str] = translated, **more: Any
) -> Option:
    """Draw a box of options, which opens with the first, and return the chosen one; `title_of` as in `segmented`."""
    chosen: Option = _bound(partial(st.selectbox, label, options, **more), options, key, options[0], {}, title_of)
    return chosen


def several(
    draw: Callable[..., Any],
    options: Sequence[Option],
    *,
    key: str,
    default: Sequence[Option] = (),
    title_of: Callable[[Any], str] = translated,
) -> list[Option]:
    """Draw any number of options with `draw` and return those chosen; `title_of` as in `segmented`."""
    chosen: list[Option] = _bound(draw, options, key, list(default), {"default": list(default)}, title_of)
    return chosen


def _bound(
    draw: Callable[..., Any],
    options: Sequence[Any],
    key: str,
    default: Any,
    start: dict[str, Any],
    title_of: Callable[[Any], str],
) -> Any:
    """Draw a widget whose choice, one option or a list, stands in the address by its titles in English.

    `start` is what the widget needs to begin with the default.
    """
    if language.current() == language.ENGLISH:
        return draw(format_func=title_of, key=key, bind=URL, **start)
    with language.written_in(language.ENGLISH):
        names = {title_of(option): option for option in options}
    asked = address.choice(key).asked().get(key)
    found = [names[name] for name in (asked or "").split(address.SEVERAL) if name in names]
    now = st.session_state.get(key)
    if found:
        st.session_state[key] = found if isinstance(default, list) else found[0]
    elif key not in st.session_state or any(one not in options for one in (now if isinstance(now, list) else [now])):
        st.session_state[key] = default
    chosen = draw(format_func=title_of, key=key)
    of_option = [name for name, option in names.items() if option in (chosen if isinstance(chosen, list) else [chosen])]
    address.choice(key).write({key: "" if chosen == default else address.SEVERAL.join(of_option)})
    return chosen
