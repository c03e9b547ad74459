"""Tabs and choices that the address names in English, whatever the language of their labels.

Streamlit writes the label of a bound choice into the address. In English, the label is what the address shall hold. In
another language, the choice is written here, so that a link opens in every language.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
    name_of: Callable[[Any], str] = str,
    title_of: Callable[[Any], str] | None = None,
    **more: Any,
) -> Option:
    """Draw a row of options and return the chosen one.

    `name_of` writes an option's English label, and `title_of` the label in the language chosen, by default its
    translation.
    """
    if language.current() == language.ENGLISH:
        chosen: Option | None = st.segmented_control(
            label, options, default=default, required=True, format_func=name_of, key=key, bind=URL, **more
        )
        return default if chosen is None else chosen
    names = {name_of(option): option for option in options}
    asked = address.choice(key).asked().get(key)
    if asked in names or st.session_state.get(key) not in options:
        st.session_state[key] = names.get(str(asked), default)
    title = title_of or (lambda option: translated(name_of(option)))
    chosen = st.segmented_control(label, options, required=True, format_func=title, key=key, **more)
    result = default if chosen is None else chosen
    address.choice(key).write({key: "" if result == default else name_of(result)})
    return result
