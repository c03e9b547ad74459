"""The stepper in a real browser: every key press counts, pictures show the planted weights, tokens stay text."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from playwright.sync_api import Page

from model.trace import AttentionTrace
from tests.e2e.stepper_bench import Bench, theme
from tests.explorer.planted import planted_trace, planted_view


@pytest.fixture
def bench(page: Page) -> Bench:
    page.set_viewport_size({"width": 1040, "height": 768})
    return Bench(page)


def long_trace() -> AttentionTrace:
    return planted_trace([f"w{i}" for i in range(19)] + ["<eos>"], ["<sos>"] + [f"v{i}" for i in range(19)])


# Stepping


def test_a_burst_of_keys_is_as_many_steps_and_one_message(bench: Bench) -> None:
    bench.mount(planted_view(long_trace()))
    shown = bench.page.evaluate(
        """async () => {
      const shown = [];
      for (let i = 0; i < 15; i++) {
        document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true, composed: true }));
        await new Promise((done) => setTimeout(done, 30));
        shown.push(root.querySelector("output").textContent);
      }
      return shown;
    }"""
    )
    assert shown == [f"step {i} of 20" for i in range(2, 17)]
    assert bench.calls() == []
    bench.page.wait_for_timeout(400)
    assert bench.calls() == [
        {"name": "at", "value": {"seq": "first", "step": 16, "kind": "cross", "layer": 2, "head": 0}}
    ]


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
    bench("input[type=range]").press("ArrowRight")
    bench.frame()
    assert bench.step() == "step 3 of 5"


def test_keys_typed_elsewhere_or_with_modifiers_do_not_step(bench: Bench) -> None:
    bench.mount(planted_view())
    bench.press("Alt+ArrowRight", "Control+ArrowRight", "Shift+End")
    assert bench.step() == "step 1 of 5"
    bench.page.locator("#elsewhere").focus()
    bench.press("ArrowRight", "End", "Space")
    assert bench.step() == "step 1 of 5"


def test_playing_goes_to_the_end_and_reports_once(bench: Bench) -> None:
    bench.page.clock.install()
    bench.mount(planted_view())
    bench.press("Space")
    assert bench("button.play").get_attribute("aria-label") == "Pause"
    bench.page.clock.run_for(750)
    assert bench.step() == "step 2 of 5"
    bench.page.clock.run_for(700)
    assert (bench.step(), bench.calls()) == ("step 3 of 5", [])
    bench.page.clock.run_for(3_000)
    assert bench.step() == "step 5 of 5"
    assert bench("button.play").get_attribute("aria-label") == "Play"
    assert [call["value"]["step"] for call in bench.calls()] == [5]


def test_space_pauses(bench: Bench) -> None:
    bench.page.clock.install()
    bench.mount(planted_view())
    bench.press("Space")
    bench.page.clock.run_for(750)
    bench.page.keyboard.press("Space")
    bench.page.clock.run_for(3_000)
    assert bench.step() == "step 2 of 5"
    assert [call["value"]["step"] for call in bench.calls()] == [2]


def test_only_a_new_seq_moves_the_person(bench: Bench) -> None:
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
    assert bench.calls() == []  # the move before the new sentence is nobody's business any more


def test_a_shorter_target_pulls_the_step_in_and_unmounting_lets_the_keys_go(bench: Bench) -> None:
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


def test_pieces_of_a_word_are_drawn_attached(bench: Bench) -> None:
    trace = planted_trace(("un", "known", "words", "<eos>"), ("<sos>", "un", "bekannt", "e"))
    trace = dataclasses.replace(trace, src_words=(0, 0, 1, -1), tgt_words=(-1, 0, 0, 0))
    bench.mount(planted_view(trace, step=4))
    joined = [["joined" in slot.get_attribute("class") for slot in bench(f".{side} .slot").all()] for side in SIDES]
    assert joined == [[False, True, False, False], [False, False, True, True, False]]


SIDES = ("source", "target")


def test_source_chips_carry_the_cross_attention_of_the_step(bench: Bench) -> None:
    bench.mount(planted_view(step=2, layer=1, head=2))  # looks one place to the right
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
    place = {"seq": "first", "step": 2, "kind": "cross", "layer": 1, "head": 1}
    assert bench.calls() == [{"name": "fork", "value": {**place, "token_id": 201}}]


def test_a_prediction_outside_the_likeliest_is_listed_too(bench: Bench) -> None:
    ids = (100, 101, 999, 103, 104)
    bench.mount(planted_view(predicted_ids=ids, step=3))
    assert bench(".option").count() == 11
    assert "livres" in bench(".option[aria-current]").inner_text()
    bench.press("ArrowRight")
    assert bench(".option").nth(10).is_hidden()


# Heatmaps


def test_rows_are_queries_from_the_top_and_columns_are_keys(bench: Bench) -> None:
    bench.mount(planted_view(step=5, layer=1, head=2))
    # Decoder heads look one token back; this cross head one source token to the right of its own place.
    for kind, key in (("decoder", lambda q: max(q - 1, 0)), ("cross", lambda q: (q + 1) % 5)):
        for query, row in enumerate(bench.painted(kind)):
            assert int(np.argmin(row)) == key(query), f"{kind} row {query}: {row}"


@pytest.mark.parametrize("dark", [False, True])
def test_weights_are_on_the_scale_from_zero_to_one(bench: Bench, dark: bool) -> None:
    bench.mount(planted_view(layer=1, head=1), dark=dark)
    stops = theme("dark" if dark else "light")["--st-chart-sequential-colors"].split(",")
    expected = [tuple(bytes.fromhex(stop.strip(" #"))) for stop in (stops[0], stops[-1])]
    assert [bench.colour("cross", 0, key)[:3] for key in (3, 0)] == expected
    assert [part.strip() for part in bench.text(".ramp").split()] == ["0", "1"]


def test_labels_stand_at_their_rows_and_columns(bench: Bench) -> None:
    bench.mount(planted_view(planted_trace(("the", "cat", "the", "<eos>"), ("<sos>", "x", "y"))))
    bench.listen()
    bench.press("End")
    written = [
        (text.strip("\u2068\u2069").replace("\u2068", ""), x, y) for f, text, x, y in bench.written() if f == "cross"
    ]
    left, top, cell, rows, columns = bench.plot("cross")
    places = {text: (x, y) for text, x, y in written}
    assert places["1 the"][0] < places["2 cat"][0] < places["3 the"][0]
    for key, name in enumerate(("1 the", "2 cat", "3 the", "4 <eos>")):
        assert places[name][0] == pytest.approx(left + (key + 0.5) * cell, abs=1)
        assert places[name][1] < top
    for query, name in enumerate(("1 <sos>", "2 x", "3 y")):
        assert places[name][1] == pytest.approx(top + (query + 0.5) * cell, abs=1)
        assert places[name][0] < left
    assert places["decoder reads (query)"][0] < left
    assert places["source (key)"][1] < top
    assert (rows, columns) == (3, 4)


def test_rows_after_the_frontier_are_absent_and_future_keys_have_no_name_yet(bench: Bench) -> None:
    bench.mount(planted_view(step=1))
    bench.listen()
    bench.press("ArrowRight")
    assert np.isnan(bench.painted("cross")[2:]).all()
    assert not np.isnan(bench.painted("cross")[:2]).any()
    names = {text.replace("\u2068", "").replace("\u2069", "") for f, text, *_ in bench.written() if f == "decoder"}
    assert {"1 <sos>", "2 je"} <= names
    assert not {"3 lis", "4 livres"} & names
    assert not np.isnan(bench.painted("encoder")).any()  # the source is known from the first step on


def test_masked_cells_are_off_the_scale_and_say_why(bench: Bench) -> None:
    trace = planted_trace()
    trace.encoder_mask[:, 4] = 2
    trace.encoder[..., 4] = 0
    bench.mount(planted_view(trace, step=3, layer=1, head=1))
    for kind, query, key, reason in (("decoder", 1, 3, "future"), ("encoder", 2, 4, "padding")):
        red, green, blue, _ = bench.colour(kind, query, key)
        assert max(red, green, blue) - min(red, green, blue) <= 3, "masked is grey"
        zero = bench.colour("cross", 0, 3)
        assert max(abs(a - b) for a, b in zip((red, green, blue), zero, strict=False)) > 8, "masked is not weight 0"
        bench(f"figure.{kind} canvas").hover(position=bench.point(kind, query, key))
        bench.frame()
        assert f"masked ({reason})" in bench.text(f"figure.{kind} .readout")


def test_the_mean_over_heads_is_the_mean(bench: Bench) -> None:
    bench.mount(planted_view(step=5, layer=1, head=0))
    bench(".cross canvas").click(position=bench.point("cross", 2, 3))
    bench.frame()
    assert "0.500 · rank 1 of 5" in bench.text(".cross .readout")


def test_click_locks_a_cell_and_again_lets_it_go(bench: Bench) -> None:
    bench.mount(planted_view(step=3, layer=1, head=1))
    canvas = bench(".cross canvas")
    canvas.click(position=bench.point("cross", 1, 1))
    canvas.hover(position=bench.point("cross", 0, 0))
    bench.frame()
    readout = bench.text(".cross .readout")
    assert "query 2 je → lis" in readout
    assert "key 2 read" in readout
    assert "1.000 · rank 1 of 5" in readout
    assert bench.text(".cross p") == "2 je looks at 2 read 100 %."
    assert bench(".source .touched").count() == bench(".target .touched").count() == 1
    canvas.click(position=bench.point("cross", 1, 1))
    bench.page.mouse.move(0, 0)
    bench.frame()
    assert bench.text(".cross .readout") == ""


def test_arrows_inside_a_heatmap_move_the_cell_and_escape_leaves(bench: Bench) -> None:
    bench.mount(planted_view(step=3, layer=1, head=1))
    bench(".cross canvas").focus()
    bench.press("ArrowLeft")  # the first key shows the cursor on the row's heaviest cell
    assert "3 lis" in bench.text(".cross .readout")
    assert "3 red" in bench.text(".cross .readout")
    bench.press("ArrowUp", "ArrowLeft", "ArrowLeft", "ArrowLeft")
    assert bench.text(".cross .readout").startswith("query 2 je → lis key 1 i")
    bench.press("End", "ArrowDown", "ArrowDown")  # the last key of the last row that is there
    assert bench.text(".cross .readout").startswith("query 3 lis → livres key 5 <eos>")
    assert bench.step() == "step 3 of 5"
    bench.press("Escape")
    assert bench.text(".cross .readout") == ""
    bench.press("ArrowRight")
    assert bench.step() == "step 4 of 5"


# Choosing what to look at


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
    assert [call["value"] for call in bench.calls()] == [
        {"seq": "first", "step": 1, "kind": "encoder", "layer": 2, "head": 0}
    ]


def test_caption_and_table_say_what_the_payload_says(bench: Bench) -> None:
    trace = planted_trace()
    trace.cross[1, 0, 2] = (0.02, 0.62, 0.21, 0.15, 0.0)
    bench.mount(planted_view(trace, step=3, layer=2, head=1))
    assert bench.text(".cross p") == "3 lis looks at 2 read 62 %, 3 red 21 %, 4 books 15 %."
    bench("summary").click()
    bench.page.get_by_role("button", name="weight", exact=True).click()
    rows = [
        [cell.inner_text().replace("\u2009", " ") for cell in row.locator("td").all()]
        for row in bench("tbody tr").all()
    ]
    assert rows == [
        ["3 lis", "2 read", "0.620", "1"],
        ["3 lis", "3 red", "0.210", "2"],
        ["3 lis", "4 books", "0.150", "3"],
        ["3 lis", "1 i", "0.020", "4"],
        ["3 lis", "5 <eos>", "0.000", "5"],
    ]
    assert bench("th[aria-sort=descending]").inner_text().startswith("weight")


def test_badges_and_sanity_line(bench: Bench) -> None:
    trace = planted_trace(edits=("decoder layer 1 head 2: zero",))
    bench.mount(planted_view(trace, trained=False))
    assert "edited: decoder layer 1 head 2: zero" in bench.text(".legend")
    assert "untrained" in bench.text(".legend")
    assert "✓ rows sum to 1 · masked cells exactly 0 · in all 12 heads" in bench.text(".checks")
    trace.decoder[0, 0, 0, 2] = 0.5
    bench.send(planted_view(trace, seq="second"))
    assert "✗ rows do not sum to 1 (off by 0.5) · 1 masked cells are not 0" in bench.text(".checks")


# Whatever the text


NASTY = [
    "<img src=x onerror=alert(1)>",
    "</script>",
    "مرحبا",
    "日本語",
    "👩‍👩‍👧",
    "\u202eevil",
    "the",
    "the",
    "a" * 300,
    "<eos>",
]


@pytest.mark.parametrize("width", [1000, 358])
def test_tokens_are_only_ever_text(bench: Bench, width: int) -> None:
    requests: list[str] = []
    bench.page.on("request", lambda request: requests.append(request.url))
    bench.mount(planted_view(planted_trace(NASTY, ["<sos>", *NASTY[:6]]), step=4), width=width)
    requests = [url for url in requests if not url.startswith(("blob:", "about:", "data:"))]
    bench("summary").click()
    bench(".cross canvas").click(position=bench.point("cross", 1, 1))
    bench.press("End", "Home")
    for token in NASTY[:5]:
        assert bench(".source bdi.token").get_by_text(token, exact=True).first.inner_text() == token
    assert bench("img, script").count() == 0
    assert "U+202Eevil" in bench.text(".source .chips")
    assert requests == []


@pytest.mark.parametrize(("n_src", "n_tgt"), [(1, 1), (1, 4), (100, 1), (100, 100)])
@pytest.mark.parametrize("width", [1000, 358])
def test_any_length_is_drawn(bench: Bench, n_src: int, n_tgt: int, width: int) -> None:
    trace = planted_trace(
        [f"w{i}" for i in range(n_src - 1)] + ["<eos>"], ["<sos>"] + ["v"] * (n_tgt - 1), heads=(2, 9)
    )
    bench.page.set_viewport_size({"width": width + 32, "height": 768})
    bench.mount(planted_view(trace, step=n_tgt, layer=1, head=1), width=width)
    for kind, rows, columns in (("encoder", n_src, n_src), ("decoder", n_tgt, n_tgt), ("cross", n_tgt, n_src)):
        _, _, cell, drawn, across = bench.plot(kind)
        assert (drawn, across) == (rows, columns)
        assert cell >= 3
    assert bench.colour("cross", 0, 0)[:3] != bench.colour("cross", 0, n_src - 1)[:3] or n_src == 1
    scroll, client = bench.page.evaluate("() => [document.documentElement.scrollWidth, innerWidth]")
    assert scroll <= client, "the page itself never scrolls sideways"


def test_twelve_tokens_fit_the_first_screen(bench: Bench) -> None:
    words = ["the", "young", "man", "is", "reading", "a", "long", "book", "in", "the", "garden", "."]
    bench.mount(planted_view(planted_trace([*words, "<eos>"], ["<sos>", *words])))
    bottom = "() => root.querySelector('.maps').getBoundingClientRect().bottom - root.host.getBoundingClientRect().top"
    assert bench.page.evaluate(bottom) <= 640
