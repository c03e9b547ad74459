"""The Attention page of a toy model with a panel open, for the tests of its panels."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from explorer.web import runtime
from tests.paths import ROOT

TEXT = "I read red books"
PLACE = {"model": "adjective-swap", "text": TEXT, "kind": "cross", "layer": "1", "head": "2"}


def started(checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    """The app with these models, not run yet."""
    monkeypatch.setattr(runtime, "CHECKPOINTS", checkpoints)
    return fresh_app()


def fresh_app() -> AppTest:
    """The app, not run yet."""
    return AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)


def open_panel(app: AppTest, **query: str) -> AppTest:
    """The Attention page as opened by a link."""
    for name, value in (PLACE | query).items():
        app.query_params[name] = value
    app.run()
    at = app.switch_page("pages/attention.py").run()
    assert not at.exception
    return at
