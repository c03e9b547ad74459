"""The machine in a real browser, mounted with a source other than the server and messages computed by JavaScript."""

import base64
import json
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from explorer.browser import assets, wire
from explorer.browser.machine_model import exported
from explorer.browser.payload import encode
from explorer.decoding.translator import Translator
from model.checkpoint import load_model
from model.config import DecodeConfig
from tests.e2e.bench import MOUNT, theme
from tests.explorer.browser.test_live import run
from tests.explorer.browser.test_live_machine import numbers_of
from tests.paths import CHECKPOINTS

CROSS = "decoder.1.cross_attn"
SOURCED = """async ([seq, start, turn = 1]) => {
  const { mountMachine } = globalThis.__headlightModules["machine.js"];
  const say = (name, value) => calls.push({ name, value });
  const source = {
    report: (value) => say("at", value),
    ask: say,
    want: (value) => say("numbers", value),
    canFork: () => true,
    leadsTo: (place) => ["attention", "cell", "translate"].includes(place),
  };
  window.unmount = mountMachine({ data: { seq, turn, start }, parentElement: root, source });
}"""


@pytest.mark.parametrize("name", ["adjective-swap", pytest.param("adjective-swap-unmasked", marks=pytest.mark.nightly)])
def test_a_machine_computed_in_the_browser_is_stepped_opened_and_left(page: Page, name: str) -> None:
    loaded, text = load_model(CHECKPOINTS / name), "I read red books"
    stepwise = not loaded.model_config.causal
    shown = Translator(loaded).translate(text, DecodeConfig())
    words = exported(loaded.model_config)

    def carry(**job: Any) -> None:
        """Deliver what the browser's modules compute."""
        [found] = run(loaded.folder, [{**job, "text": text, "request": {"path": shown.path}}], words)
        arrays = {array: numbers_of(shape, content) for array, shape, content in found["arrays"]}
        message = wire.write({**found["header"], "seq": shown.seq}, arrays)
        page.evaluate("text => carry(text)", base64.b64encode(message).decode())

    delivered = list[Any]()

    def carry_numbers() -> None:
        """Deliver the numbers that the view requests, until it has them all."""
        for _ in range(3):
            page.wait_for_timeout(100)
            wanted = page.evaluate("() => calls.filter(({ name }) => name === 'numbers').map(({ value }) => value)")
            if len(wanted) > len(delivered):
                carry(do="numbers", step=wanted[-1]["step"], slices=wanted[-1]["slices"])
                delivered[:] = wanted

    def place() -> dict[str, Any]:
        """The place that was reported last."""
        found: dict[str, Any] = page.evaluate("() => calls.filter(({ name }) => name === 'at').at(-1).value.place")
        return found

    page.set_content("<!doctype html><html><body></body></html>")
    packs = {"pack": json.loads(assets.pack("machine")), "frame": json.loads(assets.pack("frame"))}
    page.evaluate(MOUNT, {**packs, "look": "machine", "variables": theme("light"), "width": "1000px"})
    page.evaluate(SOURCED, [shown.seq, {"block": "", "head": 0, "part": "", "step": 2}])
    decoding = base64.b64encode(encode(shown, ())).decode().strip()
    page.evaluate("text => carry(text)", decoding)
    machine, diagram = page.locator(".machine"), page.locator(".diagram")
    expect(machine.locator(".panel h3")).not_to_have_text("The whole machine")
    carry(do="machine")
    expect(machine.locator(".panel h3")).to_have_text("The whole machine")
    expect(machine.locator(".says")).to_contain_text(f"predicts {shown.trace.predicted_tokens[1]}")

    source = diagram.get_by_role("button", name="Source", exact=True)
    expect(source).to_be_visible()
    machine.locator(".keys").focus()
    page.keyboard.press("Tab")
    expect(source, "the keyboard enters the diagram").to_be_focused()
    diagram.locator(".tokens button:visible").last.focus()
    machine.get_by_role("button", name="To the first step").click()
    machine.locator(".keys").focus()
    page.keyboard.press("Tab")
    expect(diagram.locator(":focus"), "also where a step back hid the token that Tab led to").to_have_count(1)
    machine.get_by_role("button", name="One step forward").click()
    diagram.get_by_role("button", name="Cross-attention, decoder layer 2").click()
    assert place() == {"block": CROSS, "head": 0, "part": "", "step": 2}
    diagram.get_by_role("button", name="Head 3 of Cross-attention, decoder layer 2").click()
    assert place() == {"block": CROSS, "head": 3, "part": "", "step": 2}
    machine.get_by_role("tab", name="Numbers").click()
    expect(machine.locator(".told")).to_contain_text("Requesting the numbers")
    carry(do="details", step=2 if stepwise else 0, opened={"block": CROSS, "head": 3, "part": ""})
    carry_numbers()
    weights = shown.trace.cross[1, 2, 1]
    best = int(weights.argmax())
    expect(machine.locator(".matrix tr")).to_have_count(3)
    expect(machine.locator(".matrix [aria-selected]")).to_have_text(f"{weights[best]:.3f}")
    reads, looked_at = shown.trace.read_tokens[1], shown.trace.src_tokens[best]
    is_weight = f"{weights[best]:.3f} is the weight that “{reads}” gives to “{looked_at}” in head 3. Where is it from?"
    expect(machine.locator(".origin h4")).to_have_text(is_weight)
    expect(machine.locator(".terms tr")).to_have_count(1 + len(shown.trace.src_tokens))
    # The words show the key that is looked at most, and call only what is drawn in orange and blue so.
    machine.get_by_role("tab", name="Words").click()
    expect(machine.locator(".projections .from").nth(3)).to_have_text(f"memory of {looked_at}")
    weights_told = machine.locator("figure:not(.projections) figcaption")
    expect(weights_told).to_contain_text("Attention weights of this head")
    expect(weights_told).not_to_contain_text("orange")
    machine.get_by_role("tab", name="Numbers").click()
    slider = machine.get_by_role("slider", name="Drag the weight")
    slider.evaluate(
        "input => { input.value = '0'; ['input', 'change'].map((on) => input.dispatchEvent(new Event(on))) }"
    )
    expect(machine.locator(".change .hint")).to_contain_text("New weights:")
    asked = page.evaluate("() => calls.at(-1)")
    assert (asked["name"], asked["value"]["kind"], asked["value"]["row"]) == ("edit", "cross", 2)
    assert asked["value"]["weights"][best] == 0
    assert abs(sum(asked["value"]["weights"]) - 1000) < 5
    machine.locator(".terms button").nth(best).click()  # back to the score behind the weight
    carry_numbers()
    expect(machine.locator(".panel h3")).to_contain_text("head 3 › Mask")
    expect(machine.locator(".origin .equation")).to_contain_text("=")
    # From number to number, down to the projection.
    for title in ("Scores", "Products", "Queries, split", "Queries W_Q·x"):
        machine.locator(".terms button").first.click()
        carry_numbers()
        expect(machine.locator(".origin h4")).to_contain_text(title)
    diagram.get_by_role("button", name="Head 3 of Cross-attention, decoder layer 2").click()
    diagram.get_by_role("button", name="Output matrix W_O, all heads").click()
    machine.get_by_role("tab", name="Words").click()
    expect(machine.locator(".told .text")).to_contain_text("W_O mixes what the heads have found")
    expect(machine.locator(".told .text")).not_to_contain_text("looks at")
    machine.get_by_role("tab", name="Numbers").click()
    diagram.get_by_role("button", name="Softmax of head 3").click()

    machine.get_by_role("button", name="One step forward").click()
    if stepwise:  # each step has numbers of its own
        expect(machine.locator(".told")).to_contain_text("Requesting the numbers")
        page.wait_for_function("() => calls.findLast(({ name }) => name === 'at').value.place.step === 3")
        carry(do="details", step=3, opened={"block": CROSS, "head": 3, "part": ""})
        carry_numbers()
    expect(machine.locator(".matrix tr")).to_have_count(4)

    # A token is followed: from what is open on, by the keys; each stop opens its box and shows the token's numbers.
    token = machine.get_by_role("combobox", name="Follow")
    token.select_option("target 2")
    heading = machine.locator(".panel h3")
    expect(heading).to_have_text("Cross-attention, decoder layer 2 › head 3 › Softmax")
    carry_numbers()
    weight = shown.trace.cross[1, 2, 2].max()
    expect(machine.locator(".stop-numbers [aria-selected]")).to_have_text(f"{weight:.3f}")
    for name_of_part, part in (("Weighted values", "output"), ("Concatenation", "joined")):
        page.keyboard.press("ArrowRight")
        expect(heading).to_contain_text(name_of_part)
        reported = "calls.findLast(({ name }) => name === 'at').value.place.part"
        page.wait_for_function(f"part => {reported} === part", arg=part)
        assert place() == {"block": CROSS, "head": 3, "part": part, "step": 3, "follow": f"target.{part}"}
        carry_numbers()
        expect(machine.locator(".stop-numbers .matrix tr")).to_have_count(2)
        expect(machine.locator(".origin .equation")).to_contain_text("=")
    token.select_option("source 1")
    expect(machine.locator(".controls output")).to_contain_text("stage 1 of")
    expect(machine.locator(".says"), "what the decoder reads is another token").to_be_hidden()
    expect(diagram.locator(".source .tokens .current")).to_contain_text(shown.trace.src_tokens[1])
    # A link opens a followed token at its stage.
    linked = {"block": "encoder.0.feed_forward", "head": 0, "part": "", "step": 3, "follow": "source-2.activation"}
    page.evaluate(SOURCED, [shown.seq, linked, 2])
    expect(heading).to_have_text("Feed-forward, encoder layer 1 › Activation")
    token.select_option("")
    expect(machine.locator(".says")).to_contain_text(f"reads {shown.trace.read_tokens[2]}")
    expect(machine.locator(".says")).to_be_visible()
    expect(machine.get_by_role("slider", name="Step", exact=True)).to_be_visible()
    expect(machine.locator(".controls output")).to_contain_text("step 3 of")
    diagram.get_by_role("button", name="Cross-attention, decoder layer 2").click()
    diagram.get_by_role("button", name="Head 3 of Cross-attention, decoder layer 2").click()
    diagram.get_by_role("button", name="Softmax of head 3").click()

    links = machine.locator(".links button:visible")
    expect(links).to_have_count(2)
    assert links.all_inner_texts() == ["Head 3 in Attention →", "One cell →"], "but for pages that the source lacks"
    links.first.click()
    weights = shown.trace.cross[1, 2, 2]
    departure = page.evaluate("() => calls.at(-1)")
    assert departure["name"] == "go"
    wanted = {"place": "attention", "block": CROSS, "head": 3, "part": "weights", "step": 3, "row": 3}
    assert departure["value"] == {**wanted, "seq": shown.seq, "column": int(weights.argmax()) + 1}
