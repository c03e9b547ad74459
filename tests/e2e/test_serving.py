"""The server itself: it starts, stays on this machine, and shows a page whichever address is asked for first."""

from __future__ import annotations

from collections.abc import Callable

import psutil
import pytest
from playwright.sync_api import Page

from tests.browser import Server, settle


def test_the_first_page_opens_without_a_word_in_the_log(visit: Callable[..., Page], server: Server) -> None:
    page = visit("/")
    assert "Headlight" in page.title()
    assert page.locator('[data-testid="stSidebar"]').is_visible()
    assert page.locator('[data-testid="stException"]').count() == 0
    assert "Traceback" not in server.output()


@pytest.mark.parametrize("address", ["/translate?text=I+read+red+books", "/?text=We+eat+green+apples"])
def test_a_deep_link_as_the_very_first_request(fresh_server: Callable, page: Page, address: str) -> None:
    """Streamlit knows of st.navigation only after app.py ran once: the page must not run without its frame."""
    with fresh_server() as server:
        page.goto(server.url + address)
        settle(page)
        assert page.locator('[data-testid="stSidebar"]').is_visible()
        assert page.locator('[data-testid="stException"]').count() == 0
        assert page.get_by_text("Page not found").count() == 0
        assert "Traceback" not in server.output()


def test_the_server_listens_on_this_machine_only(server: Server) -> None:
    connections = psutil.Process(server.process.pid).net_connections(kind="inet")
    listening = {connection.laddr.ip for connection in connections if connection.status == psutil.CONN_LISTEN}
    assert listening
    assert listening <= {"127.0.0.1", "::1"}
