"""Links, manifests, attention files and model folders written by the first version open the same views today."""

import json
import shutil
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from explorer.decoding.view_options import ViewOptions, format_view, parse_view
from explorer.screens.probe.importance import IMPORTANCE
from explorer.screens.probe.page import MOVED
from explorer.screens.probe.surgery import SURGERY
from model import train, translate
from tests.pages.page import address, new_app
from tests.paths import CHECKPOINTS
from tests.some import some

DATA = Path(__file__).parent / "data" / "first_wave"
LINKS: list[dict[str, Any]] = json.loads((DATA / "links.json").read_text(encoding="utf-8"))
TRACES = sorted(path.stem for path in (DATA / "traces").glob("*.npz"))
ULPS = 2e-6  # another processor, and the fast decoder, sum in another order: at most 1.3e-6 where it was measured


def widgets(at: AppTest) -> dict[str, Any]:
    kinds = ("selectbox", "radio", "slider", "toggle", "segmented_control", "button_group", "text_input", "text_area")
    found = {}
    for kind in kinds:
        for element in at.get(kind):
            if element.key:
                value = element.value
                if isinstance(value, list) and len(value) == 1:  # a choice of several, with one chosen
                    (value,) = value
                found[element.key] = value if isinstance(value, str | int | float | None) else str(value)
    return found


def starts(at: AppTest) -> list[dict[str, Any]]:
    """The place at which the views of heads were told to start, as it was then written: from 0, and rows by side."""
    views = [each.proto for each in at.get("bidi_component") if each.proto.component_name == "headlight_heads"]
    places = [json.loads(view.json)[0]["start"] for view in views]
    return [
        {
            **{name: place[name] for name in ("kind", "layer", "head")},
            "view": format_view(msgspec.convert(place["options"], ViewOptions)),
            "step": place["step"] - 1,
            "source": place["row"] - 1 if place["kind"] == "encoder" else 0,
            "col": None if place["column"] is None else place["column"] - 1,
        }
        for place in places
    ]


def opened(link: dict[str, Any]) -> AppTest:
    at = new_app()
    # The addresses were recorded via Translate, which did not know edits then and shows them now.
    later = {"edit"} if link["page"] != "translate" else set()
    for name, value in link["query"].items():
        if name not in later:
            at.query_params[name] = value
    at.run()
    for name in later & link["query"].keys():
        at.query_params[name] = link["query"][name]
    if link["page"] != "translate":
        at.switch_page(f"pages/{link['page']}.py").run()
    assert not at.exception
    return at


def without_step(place: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in place.items() if name != "step"}


def name_of_link(link: dict[str, Any]) -> str:
    return " ".join([link["page"], *(f"{k}={v}" for k, v in link["query"].items() if k not in ("model", "text"))])[:90]


def panel_of(link: dict[str, Any]) -> str:
    return str(link["query"].get("panel", "")).partition(".")[0]


# Tabs that have gone, so that the first one opens, and what the parameters of their widgets begin with.
FORMER = ("The computation", "Queries and keys", "Alternatives", "While decoding", "Open padding", "The prediction")
OF_FORMER = ("inside_way", "inside_part_", "similar_", "pe_scheme", "decode_", "masks_pads", "chance_")


@pytest.mark.parametrize(
    "link",
    some([link for link in LINKS if panel_of(link) not in ("tree", "own")], 8),
    ids=name_of_link,
)
def test_a_link_opens_the_same_view(link: dict[str, Any]) -> None:
    at = opened(link)
    # A link without a step, which no page ever offered, opens where there is most to see; it was the last step.
    same = dict if link["query"].get("step", "").isdigit() else without_step
    before = link["address"] | ({"panel": "compare.way-heads"} if panel_of(link) == "aggregates" else {})
    # These pages, and the list of lessons, read no sentence; they list models themselves where they need one.
    without_sentence = ("train", "runs", "experiments") + (("lessons",) if "lesson" not in link["query"] else ())
    gone = {"model", "text"} if link["page"] in without_sentence else set()
    gone |= {"pe_times"}  # a table has all numbers of repetitions
    gone |= {"masks_row_2"}  # the sentence of the visitor has padding, so no other one is to choose
    if link["page"] == "experiments":
        gone |= {"experiment"}  # cards open them, no box
        before |= {} if link["query"] else {"experiment": "all"}  # the first view is of all of them
    before |= {key: value for key, value in link["query"].items() if key == "entry"}  # another run is the first now
    before |= MOVED.get(link["query"].get("probe_tab", ""), {})
    if tabs := [key for key in ("inside_tab", "positions_tab", "masks_tab") if link["query"].get(key) in FORMER]:
        before = {key: value for key, value in before.items() if key not in tabs}
        own = {key: value for key, value in link["query"].items() if key.startswith(OF_FORMER)}
        before |= own  # nobody reads them
        gone |= own.keys()
    # A tab that a page opens by itself, as for a link with an edit, is in the address now.
    if link["page"] == "probe" and "edit" in link["query"] and "probe_tab" not in link["query"]:
        before |= MOVED[SURGERY]
    before.pop("probe_effect" if before.get("probe_effect") == IMPORTANCE else "", None)  # the first part is not named
    assert same(address(at)) == same(before)
    now = widgets(at)
    now |= {key.replace("card_", "search_"): value for key, value in now.items()}  # Search was a tab of its own
    then = {key: value for key, value in link["widgets"].items() if key not in gone}
    assert {key: now.get(key) for key in then} == then
    if link["translation"]:
        assert link["translation"][0] in [element.value for element in at.markdown]
    # Views whose names are older than these, such as "strip", have always opened as today's nearest.
    before = [{**start, "view": format_view(parse_view(start["view"]))} for start in link["start"]]
    assert [same(start) for start in starts(at)] == [same(start) for start in before]


@pytest.mark.parametrize("name", some(TRACES, 3))
def test_a_shipped_model_still_computes_the_same(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stored = json.loads((DATA / "traces" / f"{name}.json").read_text(encoding="utf-8"))
    model = ["--model", stored["model"], "--checkpoints", str(CHECKPOINTS)]
    translate.main([*model, "--json", "--trace", str(tmp_path / "now.npz"), stored["sentence"]])
    assert_near(json.loads(capsys.readouterr().out), stored["greedy"])
    assert_same_arrays(tmp_path / "now.npz", DATA / "traces" / f"{name}.npz")
    if stored["beam 4"] is not None:
        translate.main([*model, "--beam", "4", stored["sentence"]])
        assert capsys.readouterr().out.strip() == stored["beam 4"]


def assert_near(now: Any, then: Any) -> None:
    """The same JSON, except for the last digits of its numbers."""
    if isinstance(then, dict):
        assert now.keys() == then.keys()
        for key in then:
            assert_near(now[key], then[key])
    elif isinstance(then, list):
        assert len(now) == len(then)
        for one, other in zip(now, then, strict=True):
            assert_near(one, other)
    elif isinstance(then, float):
        assert now == pytest.approx(then, rel=1e-4, abs=1e-5)
    else:
        assert now == then


def assert_same_arrays(now: Path, then: Path) -> None:
    with np.load(now) as ours, np.load(then) as theirs:
        assert set(ours.files) == set(theirs.files)
        for name in theirs.files:
            if theirs[name].dtype.kind == "f":
                np.testing.assert_allclose(ours[name], theirs[name], rtol=0, atol=ULPS, err_msg=name)
            else:
                np.testing.assert_array_equal(ours[name], theirs[name], err_msg=name)


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_manifest_opens_the_same_view(number: int) -> None:
    from explorer.decoding.selection import to_query
    from explorer.files.manifest import read_manifest

    path = DATA / "manifests" / f"{number}.json"
    stored = json.loads(path.read_text(encoding="utf-8"))
    manifest = read_manifest(path.read_bytes())
    assert not manifest.problems
    assert manifest.model_hash == stored["model"]["sha256"]
    wanted = stored["selection"] | {"model": stored["model"]["name"], "text": stored["text"]}
    assert to_query(manifest.selection) == wanted


@pytest.mark.parametrize("name", ["exported-all.npz", "exported-cross.npz", "own.json"])
def test_an_attention_file_is_read(name: str) -> None:
    from explorer.decoding.attention_file import read_own

    content = (DATA / "attention" / name).read_bytes()
    trace = read_own(content, name).trace
    stored = (
        json.loads(content) if name.endswith(".json") else dict(np.load(DATA / "attention" / name, allow_pickle=False))
    )
    for kind in {"encoder", "decoder", "cross"} & stored.keys():
        np.testing.assert_array_equal(getattr(trace, kind), np.asarray(stored[kind], dtype=np.float32))
    for tokens in {"src_tokens", "read_tokens", "predicted_tokens"} & stored.keys():
        assert getattr(trace, tokens) == tuple(stored[tokens])


def test_a_finished_run_is_read_whole(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from model.checkpoint import load_model
    from model.folder import summarize

    folder = DATA / "models" / "tiny"
    assert summarize(folder)["name"] == "tiny"
    config = load_model(folder).train_config
    assert (config.max_steps, config.seed, config.warmup_steps) == (20, 3, 5)
    translate.main(
        ["--model", "tiny", "--checkpoints", str(folder.parent), "--trace", str(tmp_path / "now.npz"), "abc"]
    )
    capsys.readouterr()
    assert_same_arrays(tmp_path / "now.npz", DATA / "models" / "tiny.npz")


def test_a_stopped_run_is_resumed_to_the_same_weights(tmp_path: Path) -> None:
    from safetensors.numpy import load_file

    shutil.copytree(DATA / "models" / "stopped", tmp_path / "stopped")
    assert train.main(["--resume", "stopped", "--checkpoints", str(tmp_path)]) == 0
    now = load_file(tmp_path / "stopped" / "model.safetensors")
    then = load_file(DATA / "models" / "stopped-at-40.safetensors")
    assert now.keys() == then.keys()
    for name, weights in then.items():
        # A key's bias adds the same number to all scores of a row, so its gradient is rounding error alone; Adam scales
        # that up to whole steps, which differ between processors. It changes no attention weight.
        if not name.endswith("k_proj.bias"):
            np.testing.assert_allclose(now[name], weights, rtol=0, atol=1e-5, err_msg=name)
