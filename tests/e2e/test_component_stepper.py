"""Stepping in a real browser: every key press counts, one message is sent, and the panels agree with the trace."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from playwright.sync_api import Page

from model.trace import AttentionTrace
from tests.e2e.stepper_bench import Bench
from tests.explorer.planted import planted_trace, planted_view

# Where the view reports to be at step 1 of the mean of layer 2.
POSITION = {"kind": "cross", "layer": 2, "head": 0, "step": 1, "row": 1, "column": None, "options": None}


@pytest.fixture
def bench(page: Page) -> Bench:
    return Bench(page)


def long_trace() -> AttentionTrace:
    return planted_trace([f"w{i}" for i in range(19)] + ["<eos>"], ["<sos>"] + [f"v{i}" for i in range(19)])


# Stepping


def test_a_burst_of_keys_is_as_many_steps_and_one_message(bench: Bench) -> None:
    bench.mount(planted_view(long_trace()))
    shown, told = bench.page.evaluate(
        """async () => {
      const shown = [];
      for (let i = 0; i < 15; i++) {
        const pause = new Promise((done) => setTimeout(done, 30));
        document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true, composed: true }));
        await new Promise(requestAnimationFrame);
        shown.push(root.querySelector("output").textContent);
        await pause;
      }
      return [shown, calls.length];
    }"""
    )
    assert shown == [f"step {i} of 20" for i in range(2, 17)]
    assert told == 0
    bench.page.wait_for_timeout(400)
    assert bench.calls() == [{"name": "at", "value": {**POSITION, "step": 16, "row": 16}}]


def test_a_key_is_painted_in_the_next_frame(bench: Bench) -> None:
    bench.mount(planted_view(long_trace()))
    steps = bench.page.evaluate(
        """() => new Promise((done) => {
      document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
      requestAnimationFrame(() => done(root.querySelector("output").textContent));
    })"""
    )
    assert steps == "step 2 of 20"


def test_keys_and_buttons(bench: Bench) -> None:
    bench.mount(planted_view())
    for keys, step in ((["End"], 5), (["ArrowRight"], 5), (["ArrowLeft"], 4), (["Home"], 1), (["ArrowLeft"], 1)):
        bench.press(*keys)
        assert bench.step() == f"step {step} of 5"
    for name, step in (
        ("One step forward", 2),
        ("To the last step", 5),
        ("One step back", 4),
        ("To the first step", 1),
    ):
        bench.page.get_by_role("button", name=name, exact=True).click()
        bench.frame()
        assert bench.step() == f"step {step} of 5"
    bench.press("ArrowRight")  # a button has the focus: the arrows still step
    assert bench.step() == "step 2 of 5"
    bench("input.steps").press("ArrowRight")
    bench.frame()
    assert bench.step() == "step 3 of 5"


def test_keys_typed_elsewhere_or_with_modifiers_do_not_step(bench: Bench) -> None:
    bench.mount(planted_view())
    bench.press("Alt+ArrowRight", "Control+ArrowRight", "Shift+End")
    assert bench.step() == "step 1 of 5"
    bench.page.locator("#elsewhere").focus()
    bench.press("ArrowRight", "End", "Space")
    assert bench.step() == "step 1 of 5"


@pytest.fixture
def stopped(new_page: Page) -> Bench:
    """A stepper whose clock advances only on request."""
    bench = Bench(new_page)
    bench.page.clock.install(time=0)
    bench.mount(planted_view())
    bench.page.clock.pause_at(60_000)
    return bench


def test_playing_goes_to_the_end_and_reports_once(stopped: Bench) -> None:
    bench, clock = stopped, stopped.page.clock
    bench.page.keyboard.press("Space")
    clock.run_for(750)
    assert bench("button.play").get_attribute("aria-label") == "Pause"
    assert bench.step() == "step 2 of 5"
    clock.run_for(700)
    assert (bench.step(), bench.calls()) == ("step 3 of 5", [])
    clock.run_for(3_000)
    assert bench.step() == "step 5 of 5"
    assert bench("button.play").get_attribute("aria-label") == "Play"
    assert [call["value"]["step"] for call in bench.calls()] == [5]


def test_space_pauses(stopped: Bench) -> None:
    bench, clock = stopped, stopped.page.clock
    bench.page.keyboard.press("Space")
    clock.run_for(750)
    bench.page.keyboard.press("Space")
    clock.run_for(3_000)
    assert bench.step() == "step 2 of 5"
    assert [call["value"]["step"] for call in bench.calls()] == [2]


def test_only_a_new_turn_changes_the_position(bench: Bench) -> None:
    bench.mount(planted_view(step=2))
    assert bench.step() == "step 2 of 5"
    bench.press("End")
    bench.send(planted_view(step=2))
    assert bench.step() == "step 5 of 5"
    bench.page.wait_for_timeout(400)
    bench.page.evaluate("() => (calls.length = 0)")
    bench.press_and_send("Home", planted_view(seq="second", step=3, kind="encoder", layer=1, head=2))
    assert bench.step() == "step 3 of 5"
    assert bench("figure.encoder").get_attribute("class") == "encoder focus"
    assert "layer 1 · head 2 (of 2) · planted" in bench.text("figure.encoder small")
    bench.page.wait_for_timeout(400)
    assert bench.calls() == []  # the move before the new sentence no longer matters


def test_a_shorter_target_clamps_the_step_and_unmounting_releases_the_keys(bench: Bench) -> None:
    bench.mount(planted_view(step=5))
    bench.send(planted_view(planted_trace(target=("<sos>", "je"))))
    assert bench.step() == "step 2 of 2"
    bench.page.evaluate("() => unmount()")
    bench.press("Home")
    assert bench.step() == "step 2 of 2"


def test_nothing_jumps_when_stepping(bench: Bench) -> None:
    bench.mount(planted_view(long_trace()))
    script = """() => [".walk", "section", ".legend", ".maps", "details", ".target .chips"].map((selector) => {
      const { x, y, width, height } = root.querySelector(selector).getBoundingClientRect();
      return [x, y, width, height].map(Math.round);
    })"""
    first = bench.page.evaluate(script)
    for _ in range(19):
        bench.press("ArrowRight")
        assert bench.page.evaluate(script) == first


# What the tokens and the next-token panel say


def test_target_shows_what_was_read_and_what_is_predicted(bench: Bench) -> None:
    bench.mount(planted_view(step=3))
    chips = [" ".join(chip.inner_text().split()) for chip in bench(".target .chip").all() if chip.is_visible()]
    assert chips == ["1 <sos>", "2 je", "3 lis", "4 livres"]
    assert bench(".target .next .token").inner_text() == "livres"
    assert bench.text(".reads") == "reads 3 lis → predicts livres"
    bench.press("End")
    assert bench.text(".reads") == "reads 5 rouge → predicts <eos>"


def test_unknown_words_and_specials_are_marked_in_words_too(bench: Bench) -> None:
    bench.mount(planted_view(src_unknown=(False, True)))
    slots = bench(".source .slot")
    assert "seen as <unk>" in slots.nth(1).inner_text()
    assert "seen as" not in slots.nth(0).inner_text()
    assert "special" in slots.nth(4).get_attribute("class")


def test_subwords_of_a_word_are_drawn_attached(bench: Bench) -> None:
    trace = planted_trace(("un", "known", "words", "<eos>"), ("<sos>", "un", "bekannt", "e"))
    trace = dataclasses.replace(trace, src_words=(0, 0, 1, -1), tgt_words=(-1, 0, 0, 0))
    bench.mount(planted_view(trace, step=4))
    joined = [["joined" in slot.get_attribute("class") for slot in bench(f".{side} .slot").all()] for side in SIDES]
    assert joined == [[False, True, False, False], [False, False, True, True, False]]


SIDES = ("source", "target")


def test_subwords_are_merged_by_sums_over_keys_and_means_over_queries(bench: Bench) -> None:
    trace = planted_trace(
        ("un", "known", "words", "<eos>"), ("<sos>", "un", "bekannt", "e"), layers=(1, 1), heads=(1, 1)
    )
    trace = dataclasses.replace(trace, src_words=(0, 0, 1, -1), tgt_words=(-1, 0, 0, 0))
    trace.cross[0, 0] = [(0, 0, 1, 0), (0.25, 0.5, 0.25, 0), (0.1, 0.25, 0.55, 0.1), (0, 0.2, 0, 0.8)]
    bench.mount(planted_view(trace, step=3, layer=1, head=1))
    assert bench.text(".cross p") == "3 bekannt → e looks at 3 words 55 %, 2 known 25 %, 1 un 10 %."
    bench(".words").click()
    bench.frame()
    assert bench(".words").get_attribute("aria-pressed") == "true"
    # Words are numbered alike on the stage and on the maps.
    assert bench(".source .chip .place").all_inner_texts() == ["1", "", "2", "3"]
    assert bench(".target .chip .place").all_text_contents() == ["1", "2", "", "", "3"]
    # "un" and "bekannt" are read, "e" is not: (0.75 + 0.35) / 2 and (0.25 + 0.55) / 2
    assert bench.text(".cross p") == "2 unbekannt → e looks at 1 unknown 55 %, 2 words 40 %."
    assert bench.plot("cross")[3:] == (2, 3)
    bench.press("ArrowRight")
    assert bench.text(".cross p") == "2 unbekannte → <eos> looks at 1 unknown 43 %, 3 <eos> 30 %, 2 words 27 %."
    assert bench.step() == "step 4 of 4"
    cell = bench.point("cross", 1, 0)
    bench("figure.cross canvas").click(position=cell)
    bench.frame()
    assert "weight0.433" in bench.text(".cross .readout").replace(" ", "")
    touched = [["touched" in slot.get_attribute("class") for slot in bench(f".{side} .slot").all()] for side in SIDES]
    assert touched == [[True, True, False, False], [False, True, True, True, False]]
    bench(".words").click()
    bench.frame()
    assert bench.text(".cross p") == "4 e → <eos> looks at 4 <eos> 80 %, 2 known 20 %."


def test_a_model_without_self_attention_has_no_maps_of_it(bench: Bench) -> None:
    trace = planted_trace()
    none = {kind: np.zeros((0, 0, 5, 5), dtype=np.float32) for kind in ("encoder", "decoder")}
    bench.mount(planted_view(dataclasses.replace(trace, **none), kind="encoder", step=2, layer=1, head=2))
    shown = [bench(f"figure.{kind}").is_visible() for kind in ("encoder", "decoder", "cross")]
    assert shown == [False, False, True]
    assert [tab.is_visible() for tab in bench(".kinds button").all()] == [False, False, True]
    bench.press("ArrowRight")
    assert bench.text(".cross p") == "3 lis → livres looks at 4 books 100 %."
    bench.send(planted_view(seq="second"))
    assert bench("figure.encoder").is_visible()


def test_words_of_one_token_need_no_switch(bench: Bench) -> None:
    bench.mount(planted_view())
    assert bench(".words").is_hidden()


def test_source_chips_carry_the_cross_attention_of_the_step(bench: Bench) -> None:
    bench.mount(planted_view(step=2, layer=1, head=2))  # looks one place to the right
    bench.frame()
    assert bench(".source .chip").evaluate_all("all => all.map((chip) => chip.style.getPropertyValue('--weight'))") == [
        *("0.000", "0.000", "1.000", "0.000", "0.000")
    ], "the fill says the weight, whatever the width of the word"
    assert [n.strip() for n in bench(".source .meter").all_inner_texts()] == ["", "", "100\u202f%", "", ""]


def test_alternatives_and_fork(bench: Bench) -> None:
    bench.mount(planted_view(step=2, layer=1, head=1))
    options = [text.split("\n") for text in bench(".option").all_inner_texts()]
    assert [option[0].strip("▸ ") or option[1] for option in options][:2] == ["lis", "other1"]
    assert "50.0\u202f%" in options[0]
    assert bench(".option[aria-current]").count() == 1
    bench(".option").nth(0).click()
    assert bench.calls() == []  # the token that is predicted anyway
    bench(".option").nth(2).focus()
    bench.press("Enter")
    place = {"layer": 1, "head": 1, "step": 2, "row": 2}
    assert bench.calls() == [
        {"name": "fork", "value": {"seq": "first", "place": {**POSITION, **place}, "token_id": 201}}
    ]


def test_a_prediction_outside_the_likeliest_is_listed_too(bench: Bench) -> None:
    ids = (100, 101, 999, 103, 104)
    bench.mount(planted_view(path=ids, step=3))
    assert bench(".option").count() == 11
    assert "livres" in bench(".option[aria-current]").inner_text()
    bench.press("ArrowRight")
    assert bench(".option").nth(10).is_hidden()


def test_layer_and_head_are_chosen_per_kind_and_reported(bench: Bench) -> None:
    bench.mount(planted_view(planted_trace(layers=(3, 1), heads=(2, 5))))
    assert bench(".layers button").count() == 1
    assert [b.inner_text().strip() for b in bench(".heads button").all()] == ["mean", "1", "2", "3", "4", "5"]
    bench.page.get_by_role("button", name="Head 4 of 5").click()
    bench.page.get_by_role("button", name="Encoder self", exact=True).click()
    bench.frame()
    assert bench(".layers button").count() == 3
    assert bench(".heads button").count() == 3
    bench.page.get_by_role("button", name="Layer 2 of 3").click()
    bench.frame()
    assert "layer 2 · mean of 2 heads" in bench.text("figure.encoder small")
    assert "layer 1 · head 4 (of 5)" in bench.text("figure.cross small")
    assert "layer 1 · mean of 5 heads" in bench.text("figure.decoder small")
    bench.page.wait_for_timeout(400)
    assert bench.calls()[-1]["value"] == {**POSITION, "kind": "encoder"}


def test_caption_and_table_say_what_the_payload_says(bench: Bench) -> None:
    trace = planted_trace()
    trace.cross[1, 0, 2] = (0.02, 0.62, 0.21, 0.15, 0.0)
    bench.mount(planted_view(trace, step=3, layer=2, head=1))
    assert bench.text(".cross p") == "3 lis → livres looks at 2 read 62 %, 3 red 21 %, 4 books 15 %."
    bench("summary").click()
    bench.page.get_by_role("button", name="weight", exact=True).click()
    rows = [
        [cell.inner_text().replace("\u2009", " ") for cell in row.locator("td").all()]
        for row in bench("tbody tr").all()
    ]
    assert rows == [
        ["2 read", "0.6200", "1"],
        ["3 red", "0.2100", "2"],
        ["4 books", "0.1500", "3"],
        ["1 i", "0.0200", "4"],
        ["5 <eos>", "0.0000", "5"],
    ]
    assert bench("th[aria-sort=descending]").inner_text().startswith("weight")


def test_badges_and_sanity_line(bench: Bench) -> None:
    trace = planted_trace(edits=("decoder layer 1 head 2: zero",))
    bench.mount(planted_view(trace, trained=False))
    assert "edited: decoder layer 1 head 2: zero" in bench.text(".legend")
    assert "untrained" in bench.text(".legend")
    assert "✓ rows sum to 1 · masked cells exactly 0 · 12 heads checked" in bench.text(".checks")
    trace.decoder[0, 0, 0, 2] = 0.5
    bench.send(planted_view(trace, seq="second"))
    assert "✗ rows do not sum to 1 (off by 0.5) · 1 masked cell not 0" in bench.text(".checks")
