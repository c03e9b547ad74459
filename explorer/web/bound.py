"""Tabs and choices that the address names in English, whatever the language of their labels.

Streamlit would write the label of a bound choice into the address, in the language of the page. Written here, a link
opens in every language.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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

    To open another, set the session's `key` to its name.
    """
    drawn = f"_{key}_drawn"
    of_label = {translated(name): name for name in names} | {name: name for name in names}
    label = st.session_state.get(key)
    if label is not None and label not in of_label:  # it is in the language before
        label = st.session_state.get(drawn)
    wanted = _wanted(key, {name: name for name in names}, of_label.get(str(label), names[0]), names[0])
    if st.session_state.get(key) != translated(wanted):
        st.session_state[key] = translated(wanted)
    places = st.tabs([translated(name) for name in names], on_change="rerun", key=key)
    pairs = list(zip(names, places, strict=True))
    name, place = next(((name, place) for name, place in pairs if place.open), pairs[0])
    st.session_state[drawn] = name
    _write(key, [name], [names[0]])
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
    chosen: Option | None = _bound(draw, options, key, default, title_of)
    return default if chosen is None else chosen


def selectbox(
    label: str, options: Sequence[Option], *, key: str, title_of: Callable[[Any], str] = translated, **more: Any
) -> Option:
    """Draw a box of options, which opens with the first, and return the chosen one; `title_of` as in `segmented`."""
    chosen: Option = _bound(partial(st.selectbox, label, options, **more), options, key, options[0], title_of)
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
    chosen: list[Option] = _bound(draw, options, key, list(default), title_of)
    return chosen


def _bound(
    draw: Callable[..., Any],
    options: Sequence[Any],
    key: str,
    default: Any,
    title_of: Callable[[Any], str],
) -> Any:
    """Draw a widget whose choice, one option or a list, stands in the address by its titles in English."""
    with language.written_in(language.ENGLISH):
        names = {title_of(option): option for option in options}
    now = st.session_state.get(key)
    is_known = key in st.session_state and all(one in options for one in (now if isinstance(now, list) else [now]))
    wanted = _wanted(key, names, now if is_known else default, default)
    if not is_known or wanted != now:
        st.session_state[key] = wanted
    chosen = draw(format_func=title_of, key=key)
    of = [
        [name for name, option in names.items() if option in (some if isinstance(some, list) else [some])]
        for some in (chosen, default)
    ]
    _write(key, *of)
    return chosen


def _wanted(key: str, names: Mapping[str, Any], now: Any, default: Any) -> Any:
    """What the address asks for by its name, one or a list as in `default`; else what is chosen `now`."""
    asked = address.choice(key).asked()
    if found := [names[name] for name in asked.get(key, "").split(address.SEVERAL) if name in names]:
        return found if isinstance(default, list) else found[0]
    return default if address.went_back() and not asked else now


def _write(key: str, chosen: Sequence[str], default: Sequence[str]) -> None:
    """Write a choice into the address by its names; the default is left out."""
    address.choice(key).write({key: "" if chosen == default else address.SEVERAL.join(chosen)})
