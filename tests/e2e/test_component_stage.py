"""The stepper in a real browser: the word being written, the curves to what it looks at, steps, maps, bars and keys.

Every head of the planted trace looks at one key only, so each row and column is known.
"""

import re

import numpy as np
import pytest
import torch
from playwright.sync_api import Page

from model.decoding.temperature import TEMPERATURES, log_sums
from tests.browser import box_of
from tests.e2e.bench import Bench
from tests.e2e.stage import CURVES, MIDDLE, POSITION, long_trace, settled, shares
from tests.explorer.planted import planted_trace

# What is looked at


def test_a_curve_runs_from_the_word_being_written_to_the_word_it_looks_at(stage: Bench) -> None:
    stage.mount(step=2, layer=1, head=2)  # row 2 looks at source token 3
    settled(stage)
    assert shares(stage, "source") == ["", "", "100 %", "", ""]
    weights = "all => all.map((chip) => chip.style.getPropertyValue('--weight'))"
    assert stage(".source .chip").evaluate_all(weights) == ["0.000", "0.000", "1.000", "0.000", "0.000"]
    says = "To write lis, having read 2 je, cross-attention looks at 3 red 100 %. (Layer 1, head 2.)"
    assert stage.text(".says") == says
    painted = stage.page.evaluate(CURVES, 0.5)
    ends = [stage.page.evaluate(MIDDLE, f".{side} .word:nth-child(3) .chip") for side in ("target", "source")]
    assert painted
    assert min(ends) - 8 <= min(painted) <= max(painted) <= max(ends) + 8


def test_a_word_of_the_translation_shows_the_row_that_predicted_it_and_a_click_steps_there(stage: Bench) -> None:
    stage.mount(step=4, layer=1, head=1)
    stage(".target .chip").nth(2).hover()
    stage.frame()
    assert stage.text(".says").startswith("To write lis, having read 2 je, cross-attention looks at 2 read 100")
    stage(".target .chip").nth(0).hover()
    stage.frame()
    assert stage.text(".says") == "<sos> is given at the start: nothing was looked at to write it."
    assert stage.step() == "step 4 of 5", "pointing does not step"
    stage(".target .chip").nth(2).click()
    stage.press("ArrowRight")
    assert stage.step() == "step 3 of 5"


def test_a_source_word_says_which_words_it_was_looked_at_for_by_mouse_and_by_keyboard(stage: Bench) -> None:
    stage.mount(step=3, layer=1, head=1)  # row t looks at token t
    stage(".source .chip").nth(1).click()
    stage.hover(".source .tag")
    assert stage.text(".says") == "2 read was looked at to write lis 100 % (layer 1, head 1)."
    assert shares(stage, "target")[:4] == ["", "", "100 %", ""]
    assert stage(".source .chip").nth(1).get_attribute("aria-pressed") == "true"
    stage.press("Escape")
    assert stage.text(".says").startswith("To write livres")
    stage.page.locator("#elsewhere").focus()
    stage.press("Tab", "Home", "ArrowRight", "ArrowRight")
    assert stage.text(".says") == "3 red was looked at to write livres 100 % (layer 1, head 1)."
    assert stage.step() == "step 3 of 5", "there, the arrow keys go from word to word"


def test_weights_from_5_percent_have_a_line_and_the_largest_three_are_in_full_colour(stage: Bench) -> None:
    trace = planted_trace()
    trace.cross[0, 0, 1] = [0.04, 0.05, 0.1, 0.2, 0.61]
    stage.mount(trace, step=2, layer=1, head=1)
    leaving = """(word) => {
      const canvas = root.querySelector(".curves"), ratio = canvas.width / canvas.getBoundingClientRect().width;
      const { left, right, bottom } = root.querySelectorAll(".source .chip")[word].getBoundingClientRect();
      const frame = canvas.getBoundingClientRect(), at = (x) => Math.round(x * ratio);
      const place = [(left + right) / 2 - frame.left - 4, bottom - frame.top + 2].map(at);
      return Math.max(...canvas.getContext("2d").getImageData(...place, at(8), 1).data.filter((_, i) => i % 4 === 3));
    }"""
    for presenting in (False, True):
        if presenting:
            stage.press("f")
            stage.page.wait_for_function("() => root.fullscreenElement")
        settled(stage)
        drawn = [stage.page.evaluate(leaving, word) for word in range(5)]
        assert drawn[0] <= 40 < drawn[1] < 130 < min(drawn[2:]), presenting
    assert stage.text(".telling small").startswith("Lines: 5 % and more, the largest three in full colour.")


@pytest.mark.parametrize("kind", ["cross", "encoder"])
def test_a_line_between_or_within_sentences_passes_other_words_only_in_the_gaps_between_them(
    stage: Bench, kind: str
) -> None:
    stage.mount(long_trace(30), step=4, kind=kind, layer=1, head=1, width=700)
    if kind == "encoder":
        stage(".heads button").nth(2).click()  # 1 looks at 2, both in the first line of words
        stage(".source .chip").nth(0).hover()
    settled(stage)
    opacities = """() => {
      const canvas = root.querySelector(".curves"), ratio = canvas.width / parseFloat(canvas.style.width);
      const frame = canvas.getBoundingClientRect(), ctx = canvas.getContext("2d");
      const most = ({ left, top, right, bottom }) => {
        const box = [left - frame.left, top - frame.top, right - left, bottom - top];
        const [x, y, wide, high] = box.map((at) => at * ratio);
        return Math.max(...ctx.getImageData(x, y, wide, Math.max(1, high)).data.filter((_, i) => i % 4 === 3));
      };
      const chips = [...root.querySelectorAll(".source .chip")].map((chip) => chip.getBoundingClientRect());
      const second = chips.filter(({ top }) => top > chips[0].bottom && top < chips[0].bottom + 20);
      const { top, bottom } = second[0], { left } = chips[0], { right } = frame;
      const inside = second.map((chip) => {
        const [left, top, right, bottom] = [chip.left + 1, chip.top + 1, chip.right - 1, chip.bottom - 1];
        return most({ left, top, right, bottom });
      });
      const line = { left, right, top, bottom };
      return [most({ left, right, top: chips[0].bottom, bottom: top }), most(line), Math.max(...inside)];
    }"""
    above, beside, behind = stage.page.evaluate(opacities)
    assert above > 240
    assert beside > 100, "between two words of the second line"
    assert behind == 0


def test_lines_past_other_lines_of_words_keep_away_from_borders_and_from_the_edge(stage: Bench) -> None:
    trace = long_trace(30)
    trace.cross[0, 0, 3] = 0
    painted = """() => {
      const canvas = root.querySelector(".curves"), ratio = canvas.width / parseFloat(canvas.style.width);
      const frame = canvas.getBoundingClientRect(), ctx = canvas.getContext("2d");
      const inked = (x, y, wide, high) =>
        ctx.getImageData(x * ratio, y * ratio, Math.max(1, wide * ratio), high * ratio)
          .data.some((part, i) => i % 4 === 3 && part > 60);
      const chips = [...root.querySelectorAll(".source .chip")].map((chip) => chip.getBoundingClientRect());
      const lines = [...new Set(chips.map(({ top }) => top))];
      const second = chips.filter(({ top }) => top === lines[1]);
      const { top, height } = second[0];
      const beside = (x) => inked(x - frame.left, top - frame.top + 8, 1, height - 16);
      return {
        last: chips.findLastIndex((chip) => chip.top === lines[0]),
        borders: second.filter(({ left, right }) => beside(left - 1) || beside(right)).length,
        edge: inked(frame.width - 1, 0, 1, frame.height),
        lines: Array.from({ length: Math.floor(frame.width) }, (_, x) => beside(frame.left + x) ? x : -1)
          .filter((x, i, all) => x >= 0 && all[i - 1] < 0).length,
      };
    }"""
    stage.mount(trace, step=4, kind="cross", layer=1, head=1, width=700)
    settled(stage)
    last = stage.page.evaluate(painted)["last"]
    for keys in ([last], [last - 2, last - 1, last], [0, 1, last]):
        trace.cross[0, 0, 3] = 0
        trace.cross[0, 0, 3, keys] = 1 / len(keys)
        stage.mount(trace, step=4, kind="cross", layer=1, head=1, width=700)
        settled(stage)
        found = stage.page.evaluate(painted)
        assert found["lines"] == len(keys)
        assert (found["borders"], found["edge"]) == (0, False), keys


def test_arcs_within_a_sentence(stage: Bench) -> None:
    stage.mount(step=3, kind="decoder", layer=1, head=1)  # looks at the token before the one it reads
    assert stage.text(".says").startswith("To write livres, having read 3 lis, decoder self-attention looks at 2 je")
    assert shares(stage, "target")[:4] == ["", "100 %", "", ""]
    stage.click(".kinds button[value=encoder]")
    stage(".source .chip").nth(0).hover()
    stage.frame()
    says = "1 i looks at 2 read 50 %, 3 red 50 %. (Encoder self-attention, layer 2, mean over its heads.)"
    assert stage.text(".says") == says


def test_curves_move_in_about_200_ms_and_not_at_all_for_reduced_motion(stage: Bench) -> None:
    pictures = """() => new Promise((done) => {
      const canvas = root.querySelector(".curves"), seen = new Set();
      document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true, composed: true }));
      const begun = performance.now();
      const look = () => {
        seen.add(canvas.toDataURL());
        if (performance.now() - begun < 1500) requestAnimationFrame(look);
        else done(seen.size);
      };
      requestAnimationFrame(look);
    })"""
    for motion in ("reduce", "no-preference"):
        stage.page.emulate_media(reduced_motion=motion)
        stage.mount(step=2, layer=1, head=1, seq=motion)
        settled(stage)
        assert (stage.page.evaluate(pictures) == 1) == (motion == "reduce")


def test_on_a_phone_the_word_being_written_is_in_view_and_its_curves_follow_a_swipe(stage: Bench) -> None:
    stage.mount(long_trace(12), step=9, layer=1, head=1, width=366)
    settled(stage)
    tops = stage.page.evaluate("[...root.querySelectorAll('.target .chip')].map((c) => c.offsetTop)")
    assert len(set(tops)) == 1
    written, chips = (box_of(stage(name)) for name in (".target .slot.next", ".target .chips"))
    assert chips["x"] <= written["x"]
    assert written["x"] + written["width"] <= chips["x"] + chips["width"]
    # At the level just above it, only its curve is painted: it ends there, wherever the word is.
    above = """() => {
      const canvas = root.querySelector(".curves"), ratio = canvas.width / parseFloat(canvas.style.width);
      const stage = root.querySelector(".stage").getBoundingClientRect();
      const chip = root.querySelector(".target .slot.next .chip").getBoundingClientRect();
      const y = Math.round((chip.top - stage.top - 4) * ratio);
      const { data } = canvas.getContext("2d").getImageData(0, y, canvas.width, 1);
      const opacities = [...data].filter((_, i) => i % 4 === 3);
      const xs = opacities.flatMap((opacity, x) => (opacity ? [x / ratio + stage.left] : []));
      return [Math.min(...xs), (chip.left + chip.right) / 2, Math.max(...xs)];
    }"""
    first, middle, last = stage.page.evaluate(above)
    assert middle - 12 <= first <= last <= middle + 12
    stage.page.evaluate("root.querySelector('.target .chips').scrollLeft -= 40")
    stage.page.wait_for_function(f"({above})()[1] > {middle} + 30 && Math.abs(({above})()[0] - ({above})()[1]) < 12")


def test_twelve_tokens_fit_the_first_screen_and_nothing_jumps_when_stepping(stage: Bench) -> None:
    stage.mount(long_trace(12))
    bottom = "(part) => root.querySelector(part).getBoundingClientRect().bottom - root.host.getBoundingClientRect().top"
    assert stage.page.evaluate(bottom, ".choice") <= stage.page.viewport_size["height"] - 185, (
        "what a page has above it"
    )
    places = """() => [".walk", "section", ".legend", ".maps", "details", ".target .chips"].map((selector) => {
      const { x, y, width, height } = root.querySelector(selector).getBoundingClientRect();
      return [x, y, width, height].map(Math.round);
    })"""
    first = stage.page.evaluate(places)
    for _ in range(12):
        stage.press("ArrowRight")
        assert stage.page.evaluate(places) == first


def test_what_is_scrolled_out_of_sight_is_said_with_its_share_of_the_weight(stage: Bench) -> None:
    stage.mount(long_trace(60), step=2, layer=1, head=1)
    shares = stage.page.evaluate("""() => {
      const { bottom } = root.querySelector(".source .chips").getBoundingClientRect();
      return [...root.querySelectorAll(".source .chip")]
        .filter((chip) => chip.getBoundingClientRect().top > bottom - 4)
        .map((chip) => chip.querySelector(".meter").textContent).filter(Boolean).length;
    }""")
    assert shares == 0
    assert re.fullmatch(r"\d+ later ›", stage.text(".source .rest")), "what is out of sight has no weight"
    stage.page.evaluate("root.querySelector('.source .chips').scrollTop = 1e4")
    stage.page.wait_for_function("root.querySelector('.source .rest').textContent.includes('% of the weight')")
    assert re.match(r"‹ \d+ earlier \d", stage.text(".source .rest")), "and on which side the words are"


@pytest.mark.parametrize("side", ["source", "target"])
def test_words_out_of_sight_are_a_click_away_and_stay_in_sight(stage: Bench, side: str) -> None:
    stage.page.set_viewport_size({"width": 1040, "height": 700})
    stage.mount(long_trace(60), step=59 if side == "target" else 2, layer=1, head=1)
    begin, end = (0, 59) if side == "target" else (60, 0)
    is_seen = """([side, at]) => {
      const [chip, list] = [root.querySelectorAll(`.${side} .chip`)[at], root.querySelector(`.${side} .chips`)]
        .map((part) => part.getBoundingClientRect());
      return list.left - 4 <= chip.left && chip.right <= list.right + 4
        && list.top - 4 <= chip.top && chip.bottom <= list.bottom + 4;
    }"""
    assert [stage.page.evaluate(is_seen, [side, at]) for at in (begin, end)] == [False, True]
    there, back = ("earlier", "later") if side == "target" else ("later", "earlier")
    stage(f".{side} .rest button").filter(has_text=there).click()
    stage.hover(f".{side} .chip >> nth={begin}")
    stage.away()
    assert [stage.page.evaluate(is_seen, [side, at]) for at in (begin, end)] == [True, False]
    stage(f".{side} .rest button").filter(has_text=back).click()
    stage.frame()
    assert stage.page.evaluate(is_seen, [side, end])


# Stepping


def test_each_key_of_a_burst_is_painted_in_the_next_frame_and_all_are_one_message(stage: Bench) -> None:
    stage.mount(long_trace(19))
    steps, messages = stage.page.evaluate(
        """async () => {
      const steps = [];
      for (let i = 0; i < 15; i++) {
        const pause = new Promise((done) => setTimeout(done, 30));
        document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true, composed: true }));
        await new Promise(requestAnimationFrame);
        steps.push(root.querySelector("output").textContent);
        await pause;
      }
      return [steps, calls.length];
    }"""
    )
    assert steps == [f"step {i} of 20" for i in range(2, 17)]
    assert messages == 0
    assert stage.report() == {**POSITION, "step": 16, "row": 16}
    assert len(stage.calls()) == 1


def test_keys_and_buttons(stage: Bench) -> None:
    stage.mount()
    for key, step in (("End", 5), ("ArrowRight", 5), ("ArrowLeft", 4), ("Home", 1), ("ArrowLeft", 1)):
        stage.press(key)
        assert stage.step() == f"step {step} of 5"
    for name, step in (("One step forward", 2), ("One step back", 1)):
        stage.page.get_by_role("button", name=name, exact=True).click()
        stage.frame()
        assert stage.step() == f"step {step} of 5"
    stage.press("ArrowRight")  # a button has the focus: the arrows still step
    assert stage.step() == "step 2 of 5"
    stage.press("Alt+ArrowRight", "Control+ArrowRight", "Shift+End")
    stage.page.locator("#elsewhere").focus()
    stage.press("ArrowRight", "End", "Space")
    assert stage.step() == "step 2 of 5", "keys with modifiers or in a field do not step"
    stage("input.steps").press("ArrowRight")
    stage.frame()
    assert stage.step() == "step 3 of 5"
    stage(".heads button").nth(1).click()
    stage.press(" ")
    assert stage(".play").get_attribute("aria-label") == "Pause", "Space plays, and does not press the head again"
    stage.press(" ", "End")
    assert stage.step() == "step 5 of 5"
    stage.press("?")
    assert "one step back, forward" in stage.text("dialog.keyhelp")
    stage.press("Escape")
    assert stage("dialog.keyhelp").count() == 0


def test_playing_goes_to_the_end_reports_once_and_space_pauses(new_page: Page) -> None:
    stage, clock = Bench(new_page, "stepper"), new_page.clock
    clock.install(time=0)
    stage.mount()
    clock.pause_at(60_000)
    new_page.keyboard.press("Space")
    clock.run_for(750)
    assert stage("button.play").get_attribute("aria-label") == "Pause"
    assert (stage.step(), stage.calls()) == ("step 2 of 5", [])
    new_page.keyboard.press("Space")
    clock.run_for(3_000)
    assert stage.step() == "step 2 of 5"
    new_page.keyboard.press("Space")
    clock.run_for(5_000)
    assert stage.step() == "step 5 of 5"
    assert stage("button.play").get_attribute("aria-label") == "Play"
    assert [call["value"]["step"] for call in stage.calls()] == [2, 5]


def test_only_a_new_turn_changes_the_position(stage: Bench) -> None:
    stage.mount(step=2)
    stage.press("End")
    stage.send(step=2)
    assert stage.step() == "step 5 of 5"
    stage.report()
    stage.page.evaluate("() => (calls.length = 0)")
    stage.press_and_send("Home", seq="second", step=3, kind="encoder", layer=1, head=2)
    assert stage.step() == "step 3 of 5"
    assert stage("figure.encoder").get_attribute("class") == "encoder focus"
    assert stage.text("figure.encoder small").startswith("layer 1 · head 2")
    stage.page.wait_for_timeout(400)
    assert stage.calls() == []  # the move before the new sentence no longer matters
    stage.send(planted_trace(target=("<sos>", "je")), seq="third", step=5)
    assert stage.step() == "step 2 of 2", "a shorter target has fewer steps"
    stage.page.evaluate("() => unmount()")
    stage.press("Home")
    assert stage.step() == "step 2 of 2", "unmounting releases the keys"


# What the tokens and the bars of the next word say


def test_the_target_shows_what_was_read_and_what_is_predicted(stage: Bench) -> None:
    stage.mount(step=3, src_unknown=(False, True))
    chips = [" ".join(chip.inner_text().split()) for chip in stage(".target .chip").all() if chip.is_visible()]
    assert chips == ["1 <sos>", "2 je", "3 lis", "4 livres"]
    assert stage(".target .next .token").inner_text() == "livres"
    assert stage.text(".reads") == "reads 3 lis → predicts livres"
    slots = stage(".source .slot")
    assert ["seen as <unk>" in slots.nth(i).inner_text() for i in range(5)] == [False, True, False, False, False]
    assert "special" in (slots.nth(4).get_attribute("class") or "")
    stage.press("End")
    assert stage.text(".reads") == "reads 5 rouge → predicts <eos>"
    stage.mount(step=3, chosen=(2,), path=(100, 101, 201, 103, 104))
    assert stage.text(".reads") == "reads 3 lis → chosen: livres"
    assert stage(".option[aria-current]").get_attribute("title") == "The token chosen here, not the likeliest"
    stage.click(".kinds [value=decoder]")
    assert "3 lis → chosen livres" in stage.text("figure.cross p")
    assert "chosen" in (stage(".target .slot").nth(3).get_attribute("class") or "").split()


def test_alternatives_and_fork(stage: Bench) -> None:
    stage.mount(step=2, layer=1, head=1)
    options = [text.split("\n") for text in stage(".option").all_inner_texts()]
    assert [option[0].strip("▸ ") or option[1] for option in options][:2] == ["lis", "other1"]
    assert "50.0\u202f%" in options[0]
    assert stage.text(".others") == "all others 0.1 %"  # the ten likeliest have 1/2 + 1/4 + … + 1/1024
    assert stage(".option[aria-current]").count() == 1
    stage(".option").nth(0).click()
    assert stage.calls() == []  # the token that is predicted anyway
    stage(".option").nth(2).focus()
    stage.press("Enter")
    place = {**POSITION, "layer": 1, "head": 1, "step": 2, "row": 2}
    assert stage.calls() == [{"name": "fork", "value": {"seq": "first", "place": place, "token_id": 201}}]


def test_a_candidate_that_continues_the_word_before_it_is_marked(stage: Bench) -> None:
    n = len(planted_trace().read_tokens)
    stage.mount(step=2, joined=((False,) * 10, (False, True, *(False,) * 8), *((False,) * 10,) * (n - 2)))
    titles = "all => all.map((token) => token.title)"
    assert stage(".option .token").evaluate_all(titles) == ["", "Continues the word before it", *[""] * 8]
    assert stage(".option .token.joined").count() == 1
    stage.press("ArrowRight")
    assert stage(".option .token.joined").count() == 0


def test_a_prediction_outside_the_likeliest_is_listed_too(stage: Bench) -> None:
    stage.mount(path=(100, 101, 999, 103, 104), step=3)
    assert stage(".option").count() == 11
    assert "livres" in stage(".option[aria-current]").inner_text()
    stage.press("ArrowRight")
    assert stage(".option").nth(10).is_hidden()


def test_the_bars_at_a_temperature_are_the_softmax_of_the_logits_over_it(stage: Bench) -> None:
    whole = np.append(0.5 ** np.arange(1, 11), 0.5**10)  # the ten likeliest, and the one token that is left over
    trace = planted_trace()
    sums = log_sums(torch.from_numpy(np.log(whole)).expand(len(trace.read_tokens), -1)).numpy()
    stage.mount(trace, log_sums=sums)
    at_one = stage(".next .number").all_inner_texts()
    slider = stage(".heat input")
    for index, temperature in enumerate(TEMPERATURES):
        slider.evaluate("(slider, at) => { slider.value = at; slider.dispatchEvent(new Event('input')); }", index)
        stage.frame()
        exact = whole ** (1 / temperature) / (whole ** (1 / temperature)).sum()
        for text, p in zip(stage(".next .number").all_inner_texts(), exact, strict=True):
            assert "<" in text if p < 0.0005 else abs(float(text.split("\u202f")[0]) - 100 * p) < 0.0501, temperature
        assert stage.text(".heat b") == f"{temperature:g}"
        assert (f"at temperature {temperature:g}:" in stage.text(".next .hint")) == (temperature != 1)
    slider.focus()
    while stage.text(".heat b") != "1":
        stage.press("ArrowLeft")
    assert stage(".next .number").all_inner_texts() == at_one
