"""Lessons: short guided tours, with questions that the models answer."""

from explorer.web.frame import in_shell
from explorer.web.page_parts import TabsOf


def _tabs(page: str) -> TabsOf:
    """The tabs of another page, which a step shows beside its text; imported when a step needs them."""
    if page == "inside":
        from explorer.screens.inside.page import tabs_of
    elif page == "masks":
        from explorer.screens.masks.page import tabs_of
    else:
        from explorer.screens.positions.page import tabs_of
    return tabs_of


if in_shell():
    from explorer.screens.lessons.page import draw

    draw(_tabs)
