"""The Translate page, run by Streamlit's own test harness from app.py."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from explorer.web import runtime
from tests.explorer.sent import decoding, mount, report
from tests.explorer.toy_models import save_toy
from tests.pages.teaching import as_read
from tests.paths import ROOT


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("checkpoints")
    save_toy(folder / "adjective-swap", "adjective-swap")
    save_toy(folder / "reverse", "reverse", n_encoder_layers=3)
    (folder / "broken").mkdir()
    (folder / "broken" / "config.json").write_text("{")
    return folder


@pytest.fixture
def app(checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    monkeypatch.setattr(runtime, "CHECKPOINTS", checkpoints)
    return AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)


def header(at: AppTest) -> dict[str, Any]:
    """What the stepper draws, and where it starts."""
    return {**mount(at, "stepper")["start"], **decoding(at)}


def closest_race(shown: dict[str, Any]) -> int:
    """The step, from 1, at which the two likeliest tokens are closest; not the end of the sentence."""
    rows = [sorted(row, reverse=True) for row in shown["alternatives"]["probabilities"]]
    leads = [row[0] - row[1] for row in rows][: max(1, len(rows) - 1)]
    return leads.index(min(leads)) + 1


def notes(at: AppTest) -> str:
    return as_read(" ".join(element.value for element in [*at.caption, *at.info, *at.warning, *at.error]))


def test_opens_with_an_example_translated(app: AppTest) -> None:
    at = app.run()
    assert not at.exception
    assert at.selectbox(key="model").value == "adjective-swap"
    assert at.text_input(key="text").value == "I read red books"
    shown = header(at)
    assert shown["source"]["tokens"] == ["i", "read", "red", "books", "<eos>"]
    assert shown["step"] == closest_race(shown)
    assert shown["trained"] is False


def test_a_new_sentence_starts_where_there_is_most_to_see_and_forgets_the_path(app: AppTest) -> None:
    at = app.run()
    at.session_state["stepper"] = report(mount(at, "stepper"), step=2, kind="encoder", layer=1, head=2, row=1)
    at.run()
    assert header(at)["step"] != 2, "the browser owns the position of a decoding that it already shows"
    at.text_input(key="text").set_value("They buy blue cars").run()
    shown = header(at)
    assert shown["source"]["tokens"][0] == "they"
    assert shown["step"] == closest_race(shown)
    assert (shown["kind"], shown["layer"], shown["head"]) == ("encoder", 1, 2), "the head in view is kept"


def test_a_link_restores_everything(app: AppTest) -> None:
    first = app.run()
    path = header(first)["target"]["predicted_ids"]
    for name, value in {
        "model": "adjective-swap",
        "text": "I read red books",
        "path": "-".join(map(str, [*path[:2], 7])),
        "step": "3",
        "kind": "decoder",
        "layer": "2",
        "head": "4",
    }.items():
        app.query_params[name] = value
    at = app.run()
    shown = header(at)
    assert shown["target"]["predicted_ids"][:3] == [*path[:2], 7]
    assert [shown[name] for name in ("step", "kind", "layer", "head")] == [3, "decoder", 2, 4]


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({"model": "nope"}, "There is no model 'nope'"),
        ({"path": "1-2-x"}, "not a list of token ids"),
        ({"text": "I read", "path": "999999"}, "does not fit this model"),
        ({"kind": "sideways"}, "none of encoder, decoder, cross"),
        ({"layer": "second"}, "not a whole number"),
        ({"text": "   "}, "type a sentence"),
    ],
)
def test_an_invalid_link_gets_a_message(app: AppTest, query: dict[str, str], said: str) -> None:
    for name, value in query.items():
        app.query_params[name] = value
    at = app.run()
    assert not at.exception
    assert said in notes(at)


@pytest.mark.parametrize("query", [{"model": "gone", "text": "I read", "path": "9-12-5"}, {"path": "9-12-5"}])
def test_a_path_of_another_model_or_sentence_is_not_applied(app: AppTest, query: dict[str, str]) -> None:
    own = header(app.run())["target"]["predicted_ids"] if "text" not in query else None
    fresh = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    for name, value in query.items():
        fresh.query_params[name] = value
    shown = header(fresh.run())["target"]["predicted_ids"]
    assert shown[:3] != [9, 12, 5]
    assert own is None or shown == own


def test_a_link_beyond_the_model_is_moved_into_it(app: AppTest) -> None:
    for name in ("step", "layer", "head"):
        app.query_params[name] = "99"
    shown = header(app.run())
    assert (shown["layer"], shown["head"]) == (2, 4)
    assert shown["step"] == len(shown["target"]["tokens"])


def fork(at: AppTest, step: int) -> dict[str, Any]:
    shown = header(at)
    token = next(i for i in shown["alternatives"]["ids"][step - 1] if i != shown["target"]["predicted_ids"][step - 1])
    at.session_state["stepper"] = {
        "fork": {"seq": shown["seq"], "place": {**mount(at, "stepper")["start"], "step": step}, "token_id": token}
    }
    at.run()
    del at.session_state["stepper"]  # a trigger lasts one run; the harness does not take it back
    return {"token": token, "before": shown}


def test_forks_are_listed_and_can_be_reopened(app: AppTest) -> None:
    at = app.run()
    made = fork(at, 2)
    at.run()
    forked = header(at)["target"]["predicted_ids"]
    assert forked[1] == made["token"]
    assert forked[0] == made["before"]["target"]["predicted_ids"][0]
    assert "Paths you chose" in " ".join(element.value for element in at.markdown)
    at.button(key="path-fork-1").click().run()
    assert header(at)["target"]["predicted_ids"] == made["before"]["target"]["predicted_ids"]
    at.button(key="path-fork-2").click().run()
    assert header(at)["target"]["predicted_ids"] == forked
    at.text_input(key="text").set_value("We see big houses").run()
    assert not [button for button in at.button if (button.key or "").startswith("path-")]


def test_beam_search_lists_its_hypotheses(app: AppTest) -> None:
    at = app.run()
    at.session_state["decode_method"] = "beam"
    at.run()
    assert not at.exception
    rows = [button for button in at.button if (button.key or "").startswith("path-hypothesis-")]
    assert len(rows) == 4
    best = header(at)["target"]["predicted_ids"]
    rows[1].click().run()
    assert header(at)["target"]["predicted_ids"] != best
    at.button(key="path-hypothesis-1").click().run()
    assert header(at)["target"]["predicted_ids"] == best


def test_a_method_takes_effect_when_chosen_also_after_a_path_was_chosen(app: AppTest) -> None:
    at = app.run()
    made = fork(at, 1)
    at.run()
    assert header(at)["target"]["predicted_ids"][0] == made["token"]
    assert header(at)["target"]["by"] == "chosen"
    next(group for group in at.get("button_group") if group.key == "page_decode_method").set_value("sample").run()
    assert not at.exception
    assert header(at)["target"]["by"] == "drawn at random"
    assert "path" not in {button.key for button in at.button if button.key == "own_choice"}
    drawn = header(at)["target"]["predicted_ids"]
    at.number_input(key="page_decode_temperature").set_value(3.0).run()
    assert header(at)["target"]["predicted_ids"] != drawn


def test_sampling_draws_again(app: AppTest) -> None:
    at = app.run()
    at.session_state["decode_method"] = "sample"
    at.run()
    drawn = set()
    for _ in range(4):
        drawn.add(tuple(header(at)["target"]["predicted_ids"]))
        next(button for button in at.button if button.label == "Draw again").click().run()
    assert not at.exception
    assert len(drawn) > 1


def test_another_model_sets_its_example_unless_text_was_typed(app: AppTest) -> None:
    at = app.run()
    at.selectbox(key="model").select("reverse").run()
    assert at.text_input(key="text").value == "headlight"
    assert header(at)["shapes"]["encoder"]["layers"] == 3
    at.text_input(key="text").set_value("mine").run()
    at.selectbox(key="model").select("adjective-swap").run()
    assert at.text_input(key="text").value == "mine"


@pytest.mark.parametrize(
    "text",
    [
        "word " * 5000,
        "🏳️‍🌈",
        "مرحبا بالعالم",
        "你好 世界",
        "<img src=x onerror=alert(1)>",
        "</script>",
        "$x$ **bold** :red[x] ![](http://example.org/x.png) `c`",
        "\x00\x1b",
        "a",
    ],
)
def test_odd_input_gives_a_picture_or_a_message(app: AppTest, text: str) -> None:
    at = app.run()
    at.text_input(key="text").set_value(text).run()
    assert not at.exception
    shown = header(at)
    assert len(shown["source"]["tokens"]) <= 48
    if len(text) > 4000:
        assert "at most 47 tokens" in notes(at)


def test_a_broken_folder_is_named_and_the_rest_works(app: AppTest) -> None:
    at = app.run()
    assert "broken cannot be opened" in notes(at)
    assert "broken" not in at.selectbox(key="model").options


def test_without_any_model_there_gets_a_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime, "CHECKPOINTS", tmp_path)
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60).run()
    assert not at.exception
    assert "no model" in notes(at)


@pytest.mark.parametrize("page", ["translate", "attention"])
def test_a_changed_head_is_labelled_and_can_be_undone(page: str) -> None:
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    for name, value in {"model": "reverse", "text": "abc", "edit": "cross.1.1.zero~cross.9.9.zero"}.items():
        at.query_params[name] = value
    at.switch_page(f"pages/{page}.py").run()
    assert not at.exception
    assert "this model has 1 layer of 2 cross heads" in " ".join(warning.value for warning in at.warning)
    assert "edited: cross layer 1 head 1: zero" in " ".join(each.value for each in at.markdown).replace("\\", "")
    at.button(key="remove_edit").click().run()
    assert not at.exception
    assert "edited" not in " ".join(each.value for each in at.markdown)
    assert "edit" not in at.query_params
