"""The stepping as a GIF: one frame per step, with the labels of the screen, and nothing but the file."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from PIL import Image

from explorer.decoding.coordinates import Place
from explorer.files import moving_picture as module
from explorer.files.moving_picture import (
    drawn_steps,
    picture_of,
    sentence_of,
    stage_steps,
)
from explorer.files.picture import Picture
from tests.explorer.planted import planted_trace

TRACE = planted_trace()


def test_the_first_and_the_last_frame_are_labelled_as_the_screen() -> None:
    steps = list(stage_steps(TRACE, Place("cross", 1, 2)))  # row t looks at source token t + 1
    pictures = [picture_of(steps[at], TRACE.src_tokens, steps[-1].target, "planted · title") for at in (0, 4)]
    first, last = (set(picture.texts) for picture in pictures)
    assert {"planted · title", "step 1 of 5", "1 i", "5 <eos>", "1 <sos>", "2 je"} <= first
    assert "3 lis" not in first, "what is not written yet is not there"
    assert "reads 1 <sos> → predicts je: looks at 2 read 100 %" in first
    assert {"step 5 of 5", "5 rouge", "6 <eos>", "reads 5 rouge → predicts <eos>: looks at 1 i 100 %"} <= last


@pytest.mark.parametrize(
    ("place", "step", "key"), [(("decoder", 1, 1), 3, 2), (("cross", 2, 1), 1, 2), (("cross", 1, 1), 1, 1)]
)
def test_the_weights_of_each_kind_are_those_of_the_trace(place: Any, step: int, key: int) -> None:
    at = list(stage_steps(TRACE, Place(*place)))[step]
    assert int(np.argmax(at.weights)) == key
    assert at.origin == ("target", step + 1)
    decoder = list(stage_steps(TRACE, Place("decoder", 1, 0)))
    assert [len(one.weights) for one in decoder] == [1, 2, 3, 4, 5], "no word that is not read yet"
    encoder = next(stage_steps(TRACE, Place("encoder", 1, 1)))
    assert encoder.origin[0] == "source"
    assert "looks at" in sentence_of(encoder, TRACE.src_tokens)
    strange = planted_trace(["מלה", "$x^2$", "<eos>"], ["<sos>", "日本"])
    assert len(drawn_steps(strange, Place(*place), "planted")) == 2


def test_a_decoder_alone_has_one_sentence_whose_prompt_is_not_predicted() -> None:
    empty = np.zeros((0, 0, 0, 0), np.float32), np.zeros((0, 0), np.uint8), np.zeros((0, 0, 5, 0), np.float32)
    alone: dict[str, Any] = {
        "encoder": empty[0],
        "encoder_mask": empty[1],
        "cross": empty[2],
        "cross_mask": np.zeros((5, 0), np.uint8),
    }
    trace = replace(TRACE, **alone, src_tokens=(), src_words=())
    told = [sentence_of(step, ()) for step in stage_steps(trace, Place("decoder", 1, 1), n_prompt=2)]
    assert "reads 2 je → the prompt goes on with lis: looks at" in told[1]
    assert f"reads 3 lis → predicts {trace.predicted_tokens[2]}: looks at" in told[2]
    assert len(drawn_steps(trace, Place("decoder", 1, 1), "planted", n_prompt=2)) == 5
    texts = picture_of(next(stage_steps(trace, Place("decoder", 1, 1))), (), TRACE.predicted_tokens, "title").texts
    assert "Text" in texts
    assert not {"Source", "Target"} & set(texts)


def test_a_long_decoding_is_cut_and_the_picture_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_STEPS", 2)
    titles: list[str] = []

    def blank(pictures: Iterable[Picture], *_: object) -> Iterator[Image.Image]:
        for picture in pictures:
            titles.append(picture.texts[0])
            yield Image.new("RGB", (8, 8))

    monkeypatch.setattr(module, "frames", blank)
    told: list[tuple[int, int]] = []
    assert len(drawn_steps(TRACE, Place("cross", 1, 0), "planted", lambda *at: told.append(at))) == 2
    assert titles[0].endswith("· the first 2 steps")
    assert told == [(1, 2), (2, 2)]
