"""Models that the browser cannot compute are refused for the page without a server, by what it lacks."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorer.files.live_site import NotLive, live_model
from model.importing.import_folder import import_folder
from tests.model.importing import family_peers


def test_t5_is_refused_by_what_the_browser_cannot_compute(tmp_path: Path) -> None:
    import_folder(family_peers.save("t5", tmp_path / "theirs"), tmp_path / "t5")
    with pytest.raises(NotLive, match=r"t5 has layer_norm=rms, .*positions=relative, which is not computed in the bro"):
        live_model(tmp_path / "t5")
