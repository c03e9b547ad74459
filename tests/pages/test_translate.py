"""The Translate page in Streamlit's test harness: the decoding on screen, its paths, links, and what is refused."""

from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from explorer.web import runtime
from tests.explorer.sent import decoding, mount, report
from tests.explorer.toy_models import save_toy
from tests.pages.page import assert_says, button, choose, click, run, visit, words

TEXT = "I read red books"


def translate(**query: str) -> AppTest:
    return visit("translate", **({"model": "adjective-swap", "text": TEXT} | query))


def header(at: AppTest) -> dict[str, Any]:
    """What the stepper draws, and where it starts."""
    return {**mount(at, "stepper")["start"], **decoding(at)}


def path(at: AppTest) -> list[int]:
    return list(header(at)["target"]["predicted_ids"])


def closest_race(shown: dict[str, Any]) -> int:
    """The step, from 1, at which the two likeliest tokens are closest; not the end of the sentence."""
    rows = [sorted(row, reverse=True) for row in shown["alternatives"]["probabilities"]]
    leads = [row[0] - row[1] for row in rows][: max(1, len(rows) - 1)]
    return leads.index(min(leads)) + 1


def fork(at: AppTest, step: int) -> int:
    """Choose a token that is not the one predicted at a step; returns its id."""
    shown = header(at)
    token: int = next(i for i in shown["alternatives"]["ids"][step - 1] if i != path(at)[step - 1])
    place = {**mount(at, "stepper")["start"], "step": step}
    at.session_state["stepper"] = {"fork": {"seq": shown["seq"], "place": place, "token_id": token}}
    at.run()
    del at.session_state["stepper"]  # a trigger lasts one run; the harness does not take it back
    run(at)
    return token


@pytest.mark.usefixtures("toys")
def test_opens_with_an_example_and_a_new_sentence_starts_where_there_is_most_to_see() -> None:
    at = visit("translate")
    assert at.selectbox(key="model").value == "adjective-swap"
    assert at.text_input(key="text").value == TEXT
    shown = header(at)
    assert shown["source"]["tokens"] == ["i", "read", "red", "books", "<eos>"]
    assert shown["step"] == closest_race(shown)
    assert shown["trained"] is False
    at.session_state["stepper"] = report(mount(at, "stepper"), step=2, kind="encoder", layer=1, head=2, row=1)
    at.run()
    assert header(at)["step"] == shown["step"], "the browser owns the position of a decoding that it already shows"
    choose(at, text="They buy blue cars")
    shown = header(at)
    assert shown["source"]["tokens"][0] == "they"
    assert shown["step"] == closest_race(shown)
    assert (shown["kind"], shown["layer"], shown["head"]) == ("encoder", 1, 2), "the head in view is kept"


@pytest.mark.usefixtures("toys")
def test_a_link_restores_everything_and_moves_into_the_model_what_is_beyond_it() -> None:
    own = path(translate())
    at = translate(path=f"{own[0]}-{own[1]}-7", step="3", kind="decoder", layer="2", head="4")
    assert path(at)[:3] == [*own[:2], 7]
    assert [header(at)[name] for name in ("step", "kind", "layer", "head")] == [3, "decoder", 2, 4]
    beyond = header(translate(step="99", layer="99", head="99"))
    assert [beyond[name] for name in ("step", "layer", "head")] == [len(beyond["target"]["tokens"]), 2, 4]


@pytest.mark.usefixtures("toys")
@pytest.mark.parametrize("query", [{"model": "gone", "text": "I read", "path": "9-12-5"}, {"path": "9-12-5"}])
def test_a_path_of_another_model_or_sentence_is_not_applied(query: dict[str, str]) -> None:
    assert path(visit("translate", **query))[:3] != [9, 12, 5]


@pytest.mark.usefixtures("toys")
def test_forks_are_listed_can_be_reopened_and_end_with_the_sentence() -> None:
    at = translate()
    own, token = path(at), fork(at, 2)
    forked = path(at)
    assert forked[:2] == [own[0], token]
    assert "Paths you chose" in words(at)
    click(at, "path-fork-1")
    assert path(at) == own
    click(at, "path-fork-2")
    assert path(at) == forked
    choose(at, text="We see big houses")
    assert not [each for each in at.button if (each.key or "").startswith("path-")]


@pytest.mark.usefixtures("shipped")
def test_the_hint_ends_in_a_button_that_forks_and_both_go_once_it_is_done() -> None:
    at = visit("translate", model="multi30k-en-de")
    assert_says(at, "“Football” is American football in German; soccer is “Fußball”, on offer after “spielen”")
    assert at.button(key="hint_offer").label == "Choose “Fußball”"
    click(at, "hint_offer")
    assert_says(at, "Zwei kleine Kinder spielen Fußball im Park.", "This is a chosen path")
    assert "American football" not in words(at)
    assert "hint_offer" not in {each.key for each in at.button}
    click(at, "own_choice")
    choose(at, text="Two young children are playing tennis in the park.")
    assert "hint_offer" not in {each.key for each in at.button}


@pytest.mark.usefixtures("toys")
def test_beam_search_lists_its_hypotheses() -> None:
    at = translate()
    at.session_state["decode_method"] = "beam"
    run(at)
    rows = [each for each in at.button if (each.key or "").startswith("path-hypothesis-")]
    assert len(rows) == 4
    best = path(at)
    rows[1].click().run()
    assert path(at) != best
    click(at, "path-hypothesis-1")
    assert path(at) == best


@pytest.mark.usefixtures("toys")
def test_sampling_takes_effect_when_chosen_also_after_a_fork_and_draws_again() -> None:
    at = translate()
    token = fork(at, 1)
    assert (path(at)[0], header(at)["target"]["by"]) == (token, "chosen")
    next(group for group in at.get("button_group") if group.key == "page_decode_method").set_value("sample").run()
    assert header(at)["target"]["by"] == "drawn at random"
    assert "own_choice" not in {each.key for each in at.button}
    cold = path(at)
    choose(at, page_decode_temperature=3.0)
    drawn = {tuple(path(at))}
    assert cold not in map(list, drawn)
    for _ in range(3):
        button(at, "Draw again").click().run()
        drawn.add(tuple(path(at)))
    assert not at.exception
    assert len(drawn) > 1


def test_a_broken_folder_is_named_and_an_empty_one_says_what_to_do(checkpoints: Path) -> None:
    for page in ("translate", "attention"):
        assert "There is no model in the checkpoints folder yet." in words(visit(page))
    save_toy(checkpoints / "whole", "reverse")
    (checkpoints / "broken").mkdir()
    (checkpoints / "broken" / "config.json").write_text("{")
    runtime.models_changed()
    at = visit("translate")
    assert "broken cannot be opened" in words(at)
    assert len(at.selectbox(key="model").options) == 1


@pytest.mark.usefixtures("shipped")
@pytest.mark.parametrize("page", ["translate", "attention"])
def test_a_changed_head_is_labelled_and_can_be_undone(page: str) -> None:
    at = visit(page, model="reverse", text="abc", edit="cross.1.1.zero~cross.9.9.zero")
    assert_says(at, "this model has 1 layer of 2 cross heads", "edited: cross layer 1 head 1: zero")
    click(at, "remove_edit")
    assert "edited" not in " ".join(each.value for each in at.markdown)
    assert "edit" not in at.query_params
