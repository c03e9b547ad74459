"""Many visitors on one server: no visitor sees another one's sentence, whatever the others do."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests import loop
from tests.benchmarks.load import N_VISITORS, alone, crowd, sentences
from tests.browser import serve
from tests.paths import ROOT
from tests.visitor import Trouble, Visitor

pytestmark = pytest.mark.slow  # thirty visitors

MODEL = "adjective-swap"


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("checkpoints")
    shutil.copytree(ROOT / "checkpoints" / MODEL, folder / MODEL)
    return folder


def test_everybody_is_shown_what_they_would_be_shown_alone(checkpoints: Path) -> None:
    """30 visitors type, step and switch heads; then a single visitor of a new server types the same sentences."""
    environment = {"HEADLIGHT_CHECKPOINTS": str(checkpoints)}
    with serve(environment) as server:
        log = loop.run(crowd(server.port, sentences(), seconds=4.0))
        assert "Traceback" not in server.output()
    assert len(log.sentences) >= 3
    assert len(log.looks) >= N_VISITORS / 3
    with serve(environment) as server:
        solo = loop.run(alone(server.port, list(log.shown)))
    assert log.shown == solo
    assert len({shown.digest for shown in solo.values()}) > 1, "the comparison cannot tell sentences apart"


def test_a_visitor_notices_what_was_not_asked_for(checkpoints: Path) -> None:
    """Without this, the test above could not fail."""

    async def misled(port: int) -> None:
        visitor = await Visitor.arrive(port, "text=I+read+red+books")
        assert visitor.redrawn >= {0, 1}
        await visitor.type("We eat green apples")
        assert visitor.redrawn == {0}, "a new sentence changes nothing in the sidebar, so it is not sent again"
        with pytest.raises(Trouble, match="the previous sentence"):
            await visitor.type("We eat green apples")
        visitor._fragment = ""  # a run of the whole page, with a step that does not exist
        with pytest.raises(Trouble, match="step 99"):
            await visitor.look(99, 1, 1)
        await visitor.leave()

    with serve({"HEADLIGHT_CHECKPOINTS": str(checkpoints)}) as server:
        loop.run(misled(server.port))
