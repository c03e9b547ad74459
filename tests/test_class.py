"""Many visitors on one server: no visitor sees another one's sentence, whatever the others do."""

import asyncio
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests import loop
from tests.benchmarks.load import N_VISITORS, alone, crowd, sentences
from tests.browser import serve
from tests.explorer.toy_models import save_toy
from tests.paths import ROOT
from tests.visitor import Trouble, Visitor

pytestmark = pytest.mark.nightly  # thirty visitors

MODEL = "adjective-swap"


def test_everybody_is_shown_what_they_would_be_shown_alone(tmp_path: Path) -> None:
    """30 visitors type, step and switch heads; then a single visitor of a new server types the same sentences."""
    shutil.copytree(ROOT / "checkpoints" / MODEL, tmp_path / MODEL)
    environment = {"HEADLIGHT_CHECKPOINTS": str(tmp_path)}
    with serve(environment) as server:
        log = loop.run(crowd(server.port, sentences(), seconds=4.0))
        assert "Traceback" not in server.output()
    assert len(log.sentences) >= 3
    assert len(log.looks) >= N_VISITORS / 3
    with serve(environment) as server:
        solo = loop.run(alone(server.port, list(log.shown)))
    assert log.shown == solo
    assert len({shown.digest for shown in solo.values()}) > 1, "the comparison cannot tell sentences apart"


class Looker(Visitor):
    said = ""

    def element(self, element: Any, fragment: str) -> None:
        super().element(element, fragment)
        self.said += element.alert.body


def test_a_model_that_is_deleted_while_it_is_shown_gets_its_sentence_at_the_next_click(tmp_path: Path) -> None:
    """A click runs only a fragment, which would go on with a model that is no longer there (D4)."""

    async def look(port: int) -> str:
        looker = await Looker.arrive(port, "model=mine&text=abc")
        assert not looker.said
        shutil.rmtree(tmp_path / "mine")
        await asyncio.sleep(1.1)  # the list of models is a second old at most
        with pytest.raises(Trouble, match="step 2"):
            await looker.look(2, 1, 1)
        return looker.said

    for name in ("mine", "other"):
        save_toy(tmp_path / name, "reverse")
    with serve({"HEADLIGHT_CHECKPOINTS": str(tmp_path)}) as server:
        assert "There is no model" in loop.run(look(server.port))
