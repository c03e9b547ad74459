"""The program of pages that compute their models: what each page runs first, and what it fetches later."""

from __future__ import annotations

import functools

from explorer.browser import assets

_VIEWS = ("desk", "stepper", "heads", "tour")
_OTHER_VIEWS, _MORE_VIEWS = ("heads", "tour"), ("machine", "cell", "labelled_map")
_LATER = {"more": "desk_more.js", "lessons": "lesson_site.js"}  # parts of the program that a page fetches when needed


@functools.cache
def live_page() -> bytes:
    """The code of a page that computes its models: its script, that of its worker, and the looks of its first views."""
    page = f'{assets.join("site.js")}export default modules["site.js"].start;\n'
    return assets.as_json({"script": page, "worker": assets.join("live/worker.js"), "looks": assets.looks(*_VIEWS)})


@functools.cache
def more_program() -> dict[str, object]:
    """What a page adds to its code when it is first opened: the machine, one weight's origin, and comparisons."""
    return {"script": _later("more"), "looks": assets.looks(*_MORE_VIEWS)}


@functools.cache
def lessons_program() -> dict[str, object]:
    """The script and the style sheet that the pages with lessons add."""
    return {"script": _later("lessons"), "css": assets.style("lesson", "class_page"), "looks": {}}


@functools.cache
def sources(part: str) -> tuple[str, ...]:
    """The files of a part of the program whose messages people read: the first screen, other views, or a later part."""
    page = (*assets.sources(("site", "live/worker"), _VIEWS), "html/site_page.html")
    seen = assets.sources(("stepper",), ("stepper",))
    views = tuple(file for file in assets.sources(_OTHER_VIEWS, _OTHER_VIEWS) if file not in seen)
    if part == "first":
        return tuple(file for file in page if file not in views)
    if part == "views":
        return views
    own = assets.sources([_LATER[part].removesuffix(".js")], _MORE_VIEWS if part == "more" else ())
    return tuple(file for file in own if file not in page)


def _later(part: str) -> str:
    entry = _LATER[part]
    return f'{assets.join(entry, given=assets.in_order("site.js"))}export default modules["{entry}"];\n'
