"""The program of pages that compute their models: what each page runs first, and what it fetches later."""

from __future__ import annotations

import functools

from explorer.browser import assets

_VIEWS = ("desk", "stepper")
# Parts that a page fetches when it needs them: the script, the views that it draws, and style sheets of the page.
_LATER: dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    "attention": ("desk_attention", ("heads", "tour"), ()),
    "more": ("desk_more", ("machine", "cell", "labelled_map"), ()),
    "lessons": ("lesson_site", (), ("lesson", "class_page")),
}


@functools.cache
def live_page() -> bytes:
    """The code of a page that computes its models: its script, that of its worker, and the looks of its first views."""
    page = f'{assets.join("site.js")}export default modules["site.js"].start;\n'
    return assets.as_json({"script": page, "worker": assets.join("live/worker.js"), "looks": assets.looks(*_VIEWS)})


@functools.cache
def later_program(part: str) -> dict[str, object]:
    """What a page adds to its code: `attention` with the tour; `more`: the machine, a cell, comparisons; `lessons`."""
    entry, views, sheets = _LATER[part]
    script = f'{assets.join(f"{entry}.js", given=assets.in_order("site.js"))}export default modules["{entry}.js"];\n'
    return {"script": script, "looks": assets.looks(*views), "css": assets.style(*sheets)}


@functools.cache
def sources(part: str) -> tuple[str, ...]:
    """The files of a part of the program whose messages people read: the first screen, or what a later part adds."""
    first = (*assets.sources(("site", "live/worker"), _VIEWS), "html/site_page.html")
    if part == "first":
        return first
    entry, views, _ = _LATER[part]
    return tuple(file for file in assets.sources((entry,), views) if file not in first)
