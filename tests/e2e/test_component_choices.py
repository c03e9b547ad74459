"""Beside the stage: the diagram of the model, the temperature of the bars, and the keys."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from playwright.sync_api import Page

from explorer.decoding.model_diagram import diagram_of
from model.config import ModelConfig
from model.decoding.temperature import TEMPERATURES, log_sums
from tests.e2e.stepper_bench import Bench
from tests.explorer.planted import Planted, planted_trace, planted_view

# The ten likeliest of each row, and the one token that is left over.
WHOLE = np.append(0.5 ** np.arange(1, 11), 0.5**10)


@pytest.fixture
def bench(page: Page) -> Bench:
    return Bench(page)


def view(**changes: object) -> Planted:
    trace = planted_trace(layers=(3, 2))
    sums = log_sums(torch.from_numpy(np.log(WHOLE)).expand(len(trace.read_tokens), -1)).numpy()
    diagram = diagram_of(ModelConfig(n_encoder_layers=3, n_decoder_layers=2, n_encoder_heads=2, n_decoder_heads=2))
    return planted_view(trace, log_sums=sums, diagram=diagram, **changes)


def place(bench: Bench) -> list[str]:
    return bench(".model [aria-checked=true]").evaluate_all("places => places.map((place) => place.ariaLabel)")


def test_the_diagram_says_where_the_map_sits_and_leads_elsewhere(bench: Bench) -> None:
    bench.mount(view(step=2))
    assert place(bench) == ["Cross-attention, layer 2"]
    bench(".model .encoder").nth(0).click()
    bench.frame()
    assert place(bench) == ["Encoder self-attention, layer 1"]
    assert bench.text("figure.encoder small").startswith("layer 1 · mean")
    assert "focus" in bench("figure.encoder").get_attribute("class")
    bench.page.wait_for_timeout(300)
    reports = [call["value"] for call in bench.calls() if call["name"] == "at"]
    assert (reports[-1]["kind"], reports[-1]["layer"]) == ("encoder", 1)


def test_the_diagram_by_keyboard(bench: Bench) -> None:
    bench.mount(view(step=2))
    bench(".model [aria-checked=true]").focus()
    bench.page.keyboard.press("Tab")
    bench.page.keyboard.press("Shift+Tab")
    bench.press("ArrowLeft")
    assert place(bench) == ["Cross-attention, layer 1"]
    bench.press("ArrowDown")
    assert place(bench) == ["Masked decoder self-attention, layer 1"]
    bench.press("ArrowUp")
    bench.press("ArrowUp")
    assert place(bench) == ["Encoder self-attention, layer 1"]
    assert bench.step() == "step 2 of 5", "there, the arrow keys go from place to place"


def test_the_bars_at_a_temperature_are_the_softmax_of_the_logits_over_it(bench: Bench) -> None:
    bench.mount(view())
    at_one = bench(".next .number").all_inner_texts()
    slider = bench(".heat input")
    for index, temperature in enumerate(TEMPERATURES):
        slider.evaluate("(slider, at) => { slider.value = at; slider.dispatchEvent(new Event('input')); }", index)
        bench.frame()
        exact = WHOLE ** (1 / temperature) / (WHOLE ** (1 / temperature)).sum()
        numbers = bench(".next .number").all_inner_texts()
        for text, p in zip(numbers, (*exact[:10], exact[10]), strict=True):
            assert "<" in text if p < 0.0005 else abs(float(text.split("\u202f")[0]) - 100 * p) < 0.0501, temperature
        assert bench.text(".heat b") == f"{temperature:g}"
        assert (f"at temperature {temperature:g}:" in bench.text(".next .hint")) == (temperature != 1)
    slider.focus()
    while bench.text(".heat b") != "1":
        bench.press("ArrowLeft")
    assert bench(".next .number").all_inner_texts() == at_one


def test_after_a_click_on_a_head_space_plays(bench: Bench) -> None:
    bench.mount(view(step=1))
    bench(".heads button").nth(1).click()
    bench.press(" ")
    assert bench(".play").get_attribute("aria-label") == "Pause"
    assert bench(".heads [aria-pressed=true]").get_attribute("aria-label") == "Head 1 of 2"
    bench.press(" ", "End")
    assert bench.step() == "step 5 of 5"


def test_the_question_mark_lists_the_keys(bench: Bench) -> None:
    bench.mount(view(step=1))
    bench.press("?")
    assert "play, pause" in bench.text("dialog")
    bench.press("ArrowRight")
    assert bench.step() == "step 1 of 5"
    bench.press("Escape")
    bench("dialog").wait_for(state="detached")
    bench.press("ArrowRight")
    assert bench.step() == "step 2 of 5"
