"""The server itself: it starts, listens on this machine only, and shows a page whichever address is opened first."""

import re
import shutil
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser import Server, Watch, box_of, serve, settle
from tests.e2e.address import Visit
from tests.e2e.conftest import Course
from tests.paths import ROOT


@pytest.mark.nightly
def test_a_deep_link_as_the_very_first_request(page: Page) -> None:
    """Streamlit knows of st.navigation only after app.py ran once: the page must not run without its frame."""
    with serve() as server:
        page.goto(f"{server.url}/probe?model=reverse&text=headlight&edit=cross.1.1.zero~cross.1.2.zero")
        expect(page.get_by_text("The translation changes.").first).to_be_visible()
        settle(page)
        assert page.locator('[data-testid="stSidebar"]').is_visible()
        assert page.locator('[data-testid="stException"]').count() == 0
        assert page.get_by_text("Page not found").count() == 0
        assert "Traceback" not in server.output()


SMALL_APP = """
import streamlit as st
from explorer.web import frame as shell

st.set_page_config(menu_items={"About": "A small app."})
home = st.Page(lambda: st.write("home"), url_path="home", default=True)
page = st.navigation([home, *(st.Page(f"pages/{name}.py", url_path=name) for name in ("slow", "live"))])
shell.style()
shell.enter_shell()
page.run()
"""
SLOW_PAGE = """
from explorer.web.frame import in_shell

if in_shell():
    import time
    import streamlit as st

    def count():
        st.session_state["clicks"] = st.session_state.get("clicks", 0) + 1

    @st.fragment
    def part():
        st.button("Count", on_click=count)
        st.write(f"clicked {st.session_state.get('clicks', 0)} times")

    part()
    time.sleep(3)  # a click into a part of the page waits until the whole page is drawn
"""
LIVE_PAGE = """
from explorer.web.frame import in_shell

if in_shell():
    import time
    import streamlit as st

    @st.fragment(run_every=1.0)
    def part():
        time.sleep(0.7)  # long enough for Streamlit to say that it is running

    part()
    if st.button("Work"):
        time.sleep(6)
"""
NOTE_THE_SIGN = """
window.signs = []
new MutationObserver(() => {
  const sign = document.querySelector('[data-testid="stStatusWidget"]')
  const how = sign ? getComputedStyle(sign).visibility : "absent"
  if (how !== window.signs.at(-1)) window.signs.push(how)
}).observe(document, { childList: true, subtree: true, attributes: true })
"""


@pytest.mark.nightly
def test_no_click_is_lost_and_the_running_indicator_does_not_flicker(new_page: Page, tmp_path: Path) -> None:
    """An app of two pages inside our frame, of which a link to the first starts a fresh server.

    That run ends differently from all others, and a click during it counts. A page that polls every second would show
    the indicator every second; a run that takes long still shows it.
    """
    (tmp_path / "pages").mkdir()
    for name, content in (("app", SMALL_APP), ("pages/slow", SLOW_PAGE), ("pages/live", LIVE_PAGE)):
        (tmp_path / f"{name}.py").write_text(content, encoding="utf-8")
    shutil.copytree(ROOT / "explorer", tmp_path / "explorer")
    page = new_page
    with serve(app=str(tmp_path / "app.py")) as server:
        page.goto(f"{server.url}/slow")
        page.get_by_role("button", name="Count").click()
        page.get_by_text("clicked 1 times").wait_for()
        assert "Traceback" not in server.output()
        page.add_init_script(NOTE_THE_SIGN)
        page.goto(f"{server.url}/live")
        page.wait_for_function("() => window.signs.filter(sign => sign === 'hidden').length >= 3")
        assert "visible" not in page.evaluate("window.signs")
        page.get_by_role("button", name="Work").click()
        page.get_by_test_id("stStatusWidget").get_by_role("button", name="Stop").wait_for()


def test_only_requests_in_the_servers_own_name_are_answered(server: Server) -> None:
    """The rules are in tests/explorer/web/test_hosts.py."""
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(urllib.request.Request(server.url, headers={"Host": "evil.example"}))


def test_one_view_in_a_frame_of_a_course(visit: Visit, server: Server, watch: Watch, course: Course) -> None:
    """At the size of its code it shows a view and nothing around it; a page of another site does not get it."""
    page = visit("/?model=reverse&text=attention&step=4")
    expect(page.get_by_text("step 4 of")).to_be_visible()
    page.keyboard.press("ArrowLeft")
    page.get_by_role("button", name="Embed").click()  # at once, before the page knows of the step
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("As a file: works anywhere")).to_be_visible()
    address = dialog.get_by_role("textbox", name="Address of your course")
    address.fill("https://elsewhere.example/course")
    address.press("Enter")
    expect(dialog.get_by_text("This server does not let pages of")).to_contain_text("elsewhere.example")
    expect(dialog.get_by_text("iframe")).to_have_count(0)
    address.fill(course.site)
    address.press("Enter")
    expect(dialog.get_by_text("This server lets pages of")).to_be_visible()
    code = dialog.get_by_test_id("stCode").last.inner_text()
    course.page.write_text(f"<!doctype html><title>Week 3</title>{code}", encoding="utf-8")

    page.goto(course.site)
    frame = page.frame_locator("iframe")
    expect(frame.get_by_text("step 3 of")).to_be_visible()
    expect(frame.get_by_role("toolbar", name="Source tokens")).to_be_visible()
    play, box = box_of(frame.get_by_role("button", name="Play")), box_of(page.locator("iframe"))
    assert (box["width"], box["height"]) == (700, 420)
    assert play["y"] + play["height"] < box["y"] + box["height"], "the player is in sight"
    for test_id in ("stSidebar", "stTextInput", "stSelectbox", "stHeading", "stLogo", "stException"):
        expect(frame.get_by_test_id(test_id)).to_have_count(0)
    frame.get_by_role("button", name="One step forward").click()
    expect(frame.get_by_text("step 4 of")).to_be_visible()
    link = frame.get_by_role("link", name="Open in Headlight")
    expect(link).to_have_attribute("href", re.compile(r"^\?model=reverse&text=attention&.*step=4"))
    expect(link).to_have_attribute("target", "_blank")
    assert watch.taken() == []

    code = code.replace("embed=true", "embed=true&amp;field=yes")
    course.page.write_text(f"<!doctype html><title>Week 4</title>{code}", encoding="utf-8")
    page.goto(course.site)
    field = frame.get_by_role("textbox", name=re.compile("Type a sentence"))
    field.fill("headlight")
    field.press("Enter")
    expect(frame.get_by_role("toolbar", name="Source tokens")).to_contain_text("g")
    expect(link).to_have_attribute("href", re.compile(r"text=headlight"))

    with page.expect_console_message(lambda message: "frame-ancestors" in message.text):
        page.goto(course.site.replace("127.0.0.1", "localhost"))
    assert page.frame_locator("iframe").get_by_test_id("stApp").count() == 0
    assert len(watch.taken()) == 1
