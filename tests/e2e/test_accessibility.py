"""axe-core on every page, light and dark: no serious finding in what we draw; the list of Streamlit's own may shrink.

The list holds (rule, part of the selector). A finding that is not on it fails the test, and so does an entry without a
finding. No page may violate its Content-Security-Policy or contact another host.
"""

from typing import Any, Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from tests.e2e.address import Visit
from tests.pages.page import PAGES

GRAVE = ("serious", "critical")
# What each page shows; a page that is not named here is opened as it is.
SENTENCE = "model=adjective-swap&text=I+read+red+books"
SHOWN = {
    "/translate": (SENTENCE,),
    "/attention": (f"{SENTENCE}&panel=cell&cell=2-3", f"{SENTENCE}&layer=1&head=1&view=lines"),
    "/positions": (SENTENCE,),
    "/masks": (SENTENCE,),
    "/inside": (SENTENCE,),
    "/probe": ("model=reverse&text=abc&sample=task.20",),
    "/runs": ("entry=reverse",),
    "/lessons": ("", "lesson=attention&at=2"),
}
STREAMLITS = frozenset(
    {
        # The sidebar's groups: their titles stand in a list of pages, and the pages of a group in no list of their own.
        ("list", "stSidebarNavItems"),
        ("listitem", '<li class="st-emotion-cache'),
    }
)
# The page itself is painted in the dark theme's background.
_DARK = """() => {
  const [red, green, blue] = getComputedStyle(document.querySelector(".stApp")).backgroundColor.match(/\\d+/g)
  return Math.max(red, green, blue) < 64
}"""
Finding = tuple[str, str]


def findings(page: Page, *rules: str) -> set[Finding]:
    """(rule, selector and HTML) of each serious finding, inside components too; of all rules if none is named."""
    options: dict[str, Any] = {"resultTypes": ["violations"]}
    if rules:
        options["runOnly"] = {"type": "rule", "values": rules}
    results: dict[str, Any] = Axe().run(page, options=options).response
    return {
        (violation["id"], f"{_selector(node)} {node['html'][:100]}")
        for violation in results["violations"]
        if violation["impact"] in GRAVE
        for node in violation["nodes"]
    }


def _selector(node: dict[str, Any]) -> str:
    return " ".join(" ".join(part) if isinstance(part, list) else part for part in node["target"])


VISITED = [f"{path}?{query}" for path in (f"/{name}" for name in PAGES) for query in SHOWN.get(path, ("",))]


def ours(found: dict[str, set[Finding]]) -> dict[str, list[Finding]]:
    """What is not Streamlit's own, by address."""
    return {at: sorted(left) for at, some in found.items() if (left := {each for each in some if not excused(each)})}


def excused(finding: Finding) -> set[Finding]:
    return {entry for entry in STREAMLITS if entry[0] == finding[0] and entry[1] in finding[1]}


@pytest.mark.nightly  # the components have checks of their own
@pytest.mark.parametrize(
    ("scheme", "rules"),
    [("light", ()), ("dark", ("color-contrast",))],  # in the dark, the rest is alike
)
def test_nothing_grave_in_what_we_draw_and_no_more_of_streamlits_own(
    visit: Visit, page: Page, scheme: Literal["light", "dark"], rules: tuple[str, ...]
) -> None:
    found: dict[str, set[Finding]] = {}
    page.emulate_media(color_scheme=scheme)
    for address in VISITED:
        visit(address)
        found[address] = findings(page, *rules)
    assert page.evaluate(_DARK) == (scheme == "dark")
    assert ours(found) == {}
    excuses = {entry for some in found.values() for finding in some for entry in excused(finding)}
    assert excuses == (STREAMLITS if scheme == "light" else set())
