"""A model that goes away while a real server shows it, by Streamlit's own protocol and without a browser."""

import asyncio
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg

from tests import loop
from tests.browser import Server, progress
from tests.explorer.toy_models import save_toy
from tests.visitor import Connection


@dataclass
class Looker(Connection):
    """One tab that goes from page to page; `said` holds the notices of the last run."""

    said: list[str] = field(default_factory=list)
    fragments: dict[str, str] = field(default_factory=dict)  # the name of a component → its fragment

    async def go(self, page: str, query: dict[str, str], fragment: str = "") -> None:
        """Open a page, or run one of its fragments again."""
        message = BackMsg()
        run = message.rerun_script
        run.page_name = "" if page == "translate" else page
        run.query_string = "&".join(f"{name}={value.replace(' ', '+')}" for name, value in query.items())
        run.fragment_id = fragment
        self.said = []
        await self.ask(message)
        progress()

    def element(self, element: Any, fragment: str) -> None:
        what = element.WhichOneof("type")
        if what == "exception":
            raise AssertionError(element.exception.message)
        if what == "alert":
            self.said.append(element.alert.body)
        if what == "bidi_component":
            self.fragments[element.bidi_component.component_name] = fragment


@pytest.mark.nightly  # tests/pages/test_contained.py deletes models that are shown
def test_a_model_that_is_deleted_while_it_is_shown_gets_its_sentence_at_the_next_click(
    server: Server, checkpoints: Path
) -> None:
    """A click runs only a fragment, which would go on with a model that is no longer there (D4)."""

    async def click(port: int) -> None:
        query = {"model": "mine", "text": "abc"}
        looker = await Looker.to(port)
        for page, component in (("translate", "headlight_stepper"), ("attention", "headlight_heads")):
            save_toy(checkpoints / "mine", "reverse")
            await asyncio.sleep(1.1)  # the list of models is a second old at most
            await looker.go(page, query)
            assert not looker.said
            fragment = looker.fragments[component]
            shutil.rmtree(checkpoints / "mine")
            await asyncio.sleep(1.1)
            await looker.go(page, query, fragment)
            assert any("There is no model" in said for said in looker.said), (page, looker.said)
            await looker.go(page, {"model": "reverse", "text": "abc"})
            assert not looker.said
        await looker.leave()

    loop.run(click(server.port))
