"""The maps and whole words of the stepper in a real browser, and what is said of them.

Every head of the planted trace looks at one key only, so each row and column is known.
"""

import dataclasses

import numpy as np

from tests.browser import box_of
from tests.e2e.bench import Bench
from tests.explorer.planted import planted_trace

# Whole words

SUBWORDS = ("un", "known", "words", "<eos>"), ("<sos>", "un", "bekannt", "e")


def test_subwords_are_attached_and_merged_by_sums_over_keys_and_means_over_queries(stage: Bench) -> None:
    trace = planted_trace(*SUBWORDS, layers=(1, 1), heads=(1, 1))
    trace = dataclasses.replace(trace, src_words=(0, 0, 1, -1), tgt_words=(-1, 0, 0, 0))
    trace.cross[0, 0] = [(0, 0, 1, 0), (0.25, 0.5, 0.25, 0), (0.1, 0.25, 0.55, 0.1), (0, 0.2, 0, 0.8)]
    stage.mount(trace, step=3, layer=1, head=1)

    def marked(name: str) -> list[list[int]]:
        slots = [stage(f".{side} .slot").all() for side in ("source", "target")]
        return [[i for i, slot in enumerate(row) if name in (slot.get_attribute("class") or "")] for row in slots]

    assert marked("joined") == [[1], [2, 3]]
    assert "3 bekannt, cross-attention looks at 3 words 55 %, 2 known 25 %, 1 un 10 %." in stage.text(".says")
    stage.click(".more > button")
    stage.click(".words")
    assert stage(".words").get_attribute("aria-pressed") == "true"
    # Words are numbered alike on the stage and on the maps.
    assert stage(".source .chip .place").all_inner_texts() == ["1", "", "2", "3"]
    assert stage(".target .chip .place").all_text_contents() == ["1", "2", "", "", "3"]
    # "un" and "bekannt" are read, "e" is not: (0.75 + 0.35) / 2 and (0.25 + 0.55) / 2
    assert "2 unbekannt, cross-attention looks at 1 unknown 55 %, 2 words 40 %, 3 <eos> 5 %." in stage.text(".says")
    assert stage.plot("cross")[3:] == (2, 3)
    stage.press("ArrowRight")
    assert "2 unbekannte, cross-attention looks at 1 unknown 43 %, 3 <eos> 30 %, 2 words 27 %" in stage.text(".says")
    assert stage.step() == "step 4 of 4"
    stage.click("figure.cross canvas", position=stage.point("cross", 1, 0))
    assert "weight0.433" in stage.text(".cross .readout").replace(" ", "")
    assert marked("touched") == [[0, 1], [1, 2, 3]]
    stage.click(".more > button")
    stage.click(".words")
    assert "4 e, cross-attention looks at 4 <eos> 80 %, 2 known 20 %." in stage.text(".says")


# The maps and what is said of them


def test_rows_after_the_frontier_are_absent_and_future_keys_have_no_name_yet(stage: Bench) -> None:
    stage.mount(step=1)
    stage.listen()
    stage.press("ArrowRight")
    assert np.isnan(stage.painted("cross")[2:]).all()
    assert not np.isnan(stage.painted("cross")[:2]).any()
    assert {"1 <sos>", "2 je"} <= stage.written("decoder").keys()
    assert not {"3 lis", "4 livres"} & stage.written("decoder").keys()
    assert not np.isnan(stage.painted("encoder")).any()  # the source is known from the first step on


def test_on_a_phone_a_map_has_numbers_no_blank_rows_and_its_sentence_below(stage: Bench) -> None:
    words = tuple("abcdefghijk")
    trace = planted_trace(words, ("<sos>", *words[1:]))
    stage.mount(trace, step=6, width=366)
    assert stage.text(".cross p").startswith("6 f → ")
    early = box_of(stage("figure.cross canvas"))["height"]
    stage.listen()
    stage.press("ArrowRight")
    assert not {"→ h", "not yet written"} & stage.written("cross").keys()
    assert ".50" in stage.written("cross"), "a weight"
    stage.press("End")
    assert box_of(stage("figure.cross canvas"))["height"] > early + 60
    stage.mount(trace, step=6)
    stage.listen()
    stage.press("ArrowRight")
    assert {"→ h", "not yet written"} <= stage.written("cross").keys()


def test_a_click_locks_a_cell_and_a_second_click_unlocks_it(stage: Bench) -> None:
    stage.mount(step=3, layer=1, head=1)
    cell, other = (stage.point("cross", at, at) for at in (1, 0))
    stage.click(".cross canvas", position=cell)
    stage.hover(".cross canvas", position=other)
    readout = stage.text(".cross .readout")
    assert all(part in readout for part in ("query 2 je → lis", "key 2 read", "1.000 · rank 1 of 5"))
    assert stage.text(".cross p") == "2 je → lis looks at 2 read 100 %."
    assert stage(".source .touched").count() == stage(".target .touched").count() == 1
    stage.click(".cross canvas", position=cell)
    stage.away()
    assert stage.text(".cross .readout") == ""
    stage.click(".cross canvas", position=cell)
    stage("summary").focus()
    stage.frame()
    assert stage.text(".cross .readout") != ""
    stage.press("Escape")
    assert stage.text(".cross .readout") == ""
    stage.mount(step=5, layer=1, head=0)  # the mean of two heads that look at different keys
    stage.click(".cross canvas", position=stage.point("cross", 2, 3))
    assert "0.500 · rank 1 of 5" in stage.text(".cross .readout")


def test_arrows_inside_a_map_move_the_cell_and_escape_leaves(stage: Bench) -> None:
    stage.mount(step=3, layer=1, head=1)
    stage(".cross canvas").focus()
    stage.press("ArrowLeft")  # the first key shows the cursor on the row's heaviest cell
    assert "query 3 lis → livres key 3 red" in stage.text(".cross .readout")
    stage.press("ArrowUp", "ArrowLeft", "ArrowLeft", "ArrowLeft")
    assert stage.text(".cross .readout").startswith("query 2 je → lis key 1 i")
    stage.press("End", "ArrowDown", "ArrowDown")  # the last key of the last row that is there
    assert stage.text(".cross .readout").startswith("query 3 lis → livres key 5 <eos>")
    assert stage.step() == "step 3 of 5"
    stage.press("Escape")
    assert stage.text(".cross .readout") == ""
    stage.press("ArrowRight")
    assert stage.step() == "step 4 of 5"


def test_a_model_without_self_attention_has_no_maps_of_it(stage: Bench) -> None:
    none = {kind: np.zeros((0, 0, 5, 5), dtype=np.float32) for kind in ("encoder", "decoder")}
    stage.mount(dataclasses.replace(planted_trace(), **none), kind="encoder", step=2, layer=1, head=2)
    visible = [stage(f"figure.{kind}").is_visible() for kind in ("encoder", "decoder", "cross")]
    assert visible == [tab.is_visible() for tab in stage(".kinds button").all()] == [False, False, True]
    stage.press("ArrowRight")
    assert "3 lis, cross-attention looks at 4 books 100 %." in stage.text(".says")
    stage.send(seq="second")
    assert stage("figure.encoder").is_visible()


def test_caption_and_table_say_what_the_payload_says(stage: Bench) -> None:
    trace = planted_trace()
    trace.cross[1, 0, 2] = (0.02, 0.62, 0.21, 0.15, 0.0)
    stage.mount(trace, step=3, layer=2, head=1)
    assert "looks at 2 read 62 %, 3 red 21 %, 4 books 15 %." in stage.text(".says")
    assert stage.text(".cross p") == "", "what the sentence says of this row"
    stage("figure.cross canvas").focus()
    stage.press("ArrowDown", "ArrowUp", "Enter")
    assert stage.text(".cross p").startswith("2 je → lis looks at")
    stage.press("Escape")
    stage.click(".kinds [value=encoder]")
    assert stage.text(".cross p") == "3 lis → livres looks at 2 read 62 %, 3 red 21 %, 4 books 15 %."
    stage.click(".kinds [value=cross]")
    stage("summary").click()
    stage.page.get_by_role("button", name="weight", exact=True).click()
    rows = [[" ".join(cell.split()) for cell in row.split("\t")] for row in stage("tbody tr").all_inner_texts()]
    assert rows == [
        ["2 read", "0.6200", "1"],
        ["3 red", "0.2100", "2"],
        ["4 books", "0.1500", "3"],
        ["1 i", "0.0200", "4"],
        ["5 <eos>", "0.0000", "5"],
    ]
    assert stage("th[aria-sort=descending]").inner_text().startswith("weight")


def test_badges_and_sanity_line(stage: Bench) -> None:
    trace = planted_trace(edits=("decoder layer 1 head 2: zero",))
    stage.mount(trace, trained=False)
    assert stage(".words").is_hidden(), "words of one token need no switch"
    assert "edited: decoder layer 1 head 2: zero" in stage.text(".legend")
    assert "untrained" in stage.text(".legend")
    assert stage.text(".checks") == "✓ Sums checked"
    stage.click(".checks")
    assert stage.text(".checks") == "✓ Sums checked: rows sum to 1 · masked cells exactly 0 · 12 heads checked"
    trace.decoder[0, 0, 0, 2] = 0.5
    stage.send(trace, seq="second")
    assert "✗: rows do not sum to 1 (off by 0.5) · 1 masked cell not 0" in stage.text(".checks")
