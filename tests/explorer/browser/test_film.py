"""Film and thumbnails: what is sent, and the places that a browser may report."""

import numpy as np
import pytest

from explorer.browser.film import Film, Frame, encode
from explorer.browser.film import place_from as read_place
from explorer.browser.structs import FilmPlace as Place


def frame(step: int, rows: int, columns: int, *, layers: int = 2, heads: int = 3) -> Frame:
    weights = np.random.default_rng(step).dirichlet(np.ones(columns), size=(layers, heads, rows)).astype(np.float32)
    names = [f"{side}{i}" for side, n in (("r", rows), ("c", columns)) for i in range(n)]
    return Frame(step, weights, tuple(names[:rows]), tuple(names[rows:]), tuple(f"p{i}" for i in range(rows)))


FILM = Film("seq", "cross", (frame(0, 3, 4), frame(70, 2, 4)), frame=1, layer=2, head=3)


@pytest.mark.parametrize(
    ("frames", "said"), [((), "at least one frame"), ((frame(0, 3, 4), frame(1, 3, 4, heads=2)), "do not fit")]
)
def test_what_does_not_fit_is_refused(frames: tuple[Frame, ...], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        encode(Film("s", "cross", frames))


@pytest.mark.parametrize(
    ("message", "place"),
    [
        (None, Place(1, 2, 3)),
        ({"seq": "another", "frame": 0, "layer": 1, "head": 1}, Place(1, 2, 3)),
        ({"seq": "seq", "frame": 0, "layer": 1, "head": 1}, Place(0, 1, 1)),
        ({"seq": "seq", "frame": 99, "layer": -4, "head": 0}, Place(1, 1, 1)),
        ({"seq": "seq", "frame": "0", "layer": None, "head": True}, Place(1, 2, 3)),
        ("nonsense", Place(1, 2, 3)),
    ],
)
def test_any_message_from_a_browser_gives_a_place_that_exists(message: object, place: Place) -> None:
    assert read_place(message, FILM) == place
