"""A package on a learning platform, in a browser: unpacked, in a frame, beside an API that enforces SCORM 1.2."""

import functools
import io
import threading
import zipfile
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from playwright.sync_api import FrameLocator, Page, expect

from explorer.lessons.scorm_packages import packages
from tests.e2e.lesson_page import lessons
from tests.e2e.lesson_page import page as lesson_page
from tests.paths import ROOT

# The platform: its API is in the window around the frame of the lesson.
_PLATFORM = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Platform</title>
<link rel="icon" href="data:,"></head><body><script type="module">
%s
window.begin = (kept) => {
  window.platform = scormApi(kept);
  window.API = platform.api;
  const frame = document.createElement("iframe");
  frame.src = "attention/index.html";
  Object.assign(frame.style, { width: "1200px", height: "700px" });
  document.body.replaceChildren(frame);
};
window.finish = () => document.body.replaceChildren();
window.ready = true;
</script></body></html>"""


class _Handler(SimpleHTTPRequestHandler):
    def log_message(self, *words: object) -> None:
        """Print nothing."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a platform with the unpacked package of the first lesson."""
    folder = tmp_path_factory.mktemp("platform")
    made = dict(packages(lessons()[:1], lambda shown: lesson_page("scorm", shown), mastery=50))
    zipfile.ZipFile(io.BytesIO(made["attention.zip"])).extractall(folder / "attention")
    api = (ROOT / "tests" / "js" / "scorm_api.js").read_text(encoding="utf-8").replace("export function", "function")
    (folder / "index.html").write_text(_PLATFORM % api, encoding="utf-8")
    handler = functools.partial(_Handler, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def begin(page: Page, kept: dict[str, str]) -> FrameLocator:
    page.evaluate("kept => begin(kept)", kept)
    frame = page.frame_locator("iframe")
    frame.locator(".lessons").wait_for()
    return frame


def finish(page: Page) -> dict[str, Any]:
    """Leave the lesson; returns what the platform has kept."""
    page.evaluate("() => finish()")
    page.wait_for_function("() => platform.log.at(-1)[0] === 'LMSFinish'")
    assert page.evaluate("() => platform.failures()") == []
    return dict(page.evaluate("() => platform.committed()"))


def answer(frame: FrameLocator, text: str) -> None:
    if frame.get_by_role("radio").count():
        frame.get_by_role("radio", name=text, exact=True).check()
    else:
        frame.get_by_role("textbox").fill(text)
    frame.get_by_role("button", name="Check the answer").click()
    expect(frame.locator(".feedback .right")).to_be_visible()


def test_a_lesson_over_two_visits_within_the_standard(page: Page, site: str) -> None:
    page.goto(site)
    frame = begin(page, {"cmi.student_data.mastery_score": "50"})
    expect(frame.locator("#notice")).to_have_text("")
    frame.get_by_role("button", name="Start").click()
    answer(frame, "6")
    frame.get_by_role("button", name="Next", exact=True).click()
    expect(frame.locator(".lessons h2")).to_have_text("Where should it look?")
    answer(frame, "o")
    kept = finish(page)
    assert kept["cmi.core.lesson_status"] == "incomplete"
    assert kept["cmi.suspend_data"] == "attention.11"
    assert kept["cmi.core.lesson_location"] == "attention:2"
    assert kept["cmi.core.score.raw"] == "29"
    assert kept["cmi.core.exit"] == "suspend"
    assert kept["cmi.core.session_time"].startswith("0000:0")

    # The second visit goes on where the first one ended, on another computer, too: nothing is in the browser.
    assert page.evaluate("() => localStorage.length") == 0
    frame = begin(page, kept | {"cmi.suspend_data": "attention.555115", "cmi.core.entry": "resume"})
    expect(frame.locator(".lessons h2")).to_have_text("Where should it look?")
    inner = page.frames[1]
    frame.get_by_role("button", name="Page 7").click()
    inner.wait_for_function("() => desk.query().step === undefined")
    inner.evaluate("() => desk.move({ text: 'abc' })")
    answer(frame, "c")
    page.wait_for_function("() => platform.values['cmi.core.lesson_status'] === 'passed'")
    kept = finish(page)
    assert kept["cmi.core.lesson_status"] == "passed"
    assert kept["cmi.suspend_data"] == "attention.5551155"
    assert (kept["cmi.core.score.raw"], kept["cmi.core.exit"]) == ("100", "")
