"""The check at the door: what a JSON file of a model folder must not hold, and that its neighbours never notice."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct

from explorer.runs.lifecycle import Runs
from explorer.runs.listing import rows
from model.file_formats import Config, FormatError, Line, checked, decode, fits
from model.folder import CONFIG, METRICS, STATUS, WEIGHTS, list_models, summarize
from tests.explorer.toy_models import save_toy
from tests.explorer.toy_runs import save_run

TORN = "not valid JSON"
LARGE = "too large"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", TORN),
        (b"{", TORN),
        (b"{} {}", TORN),
        (b'{"a": NaN}', TORN),
        (b'{"a": -Infinity}', TORN),
        (b'{"a": "\\ud800"}', TORN),
        (b'{"a": "\xff"}', TORN),
        (b'{"a": 1' + b"0" * 400 + b"}", LARGE),
        (b'{"a": ' + b"9" * 5000 + b"}", LARGE),
        (b'{"a": 1e999}', LARGE),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a":' * 5000 + b"1" + b"}" * 5000, "nested too deeply"),
    ],
)
def test_what_is_beyond_the_limits_is_refused(content: bytes, said: str) -> None:
    with pytest.raises(FormatError, match=said):
        decode(content)


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers(-(2**63), 2**63 - 1)
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
        max_leaves=6,
    )
)
def test_anything_else_is_read_as_python_reads_it(value: Any) -> None:
    assert decode(json.dumps(value).encode()) == value
    assert decode(b"\xef\xbb\xbf" + json.dumps(value, ensure_ascii=False).encode()) == value


@pytest.mark.parametrize(
    ("config", "said"),
    [
        (
            {"results": {"test": {"exact_match": 1.5}}},
            "is wrong at 'results.test.exact_match': expected `float` <= 1.0",
        ),
        ({"results": {"test": {"bleu": -1}}}, "is wrong at 'results.test.bleu': expected `float` >= 0.0"),
        ({"results": {"valid": 3}}, "is wrong at 'results.valid': expected `object"),
        ({"results": {"step": "many"}}, "is wrong at 'results.step': expected `int`, got `str`"),
        ({"results": []}, "is wrong at 'results'"),
        ({"title": "a\u202eb"}, "marks that reorder text, in 'title'"),
        ({"title": "a\nb"}, "control characters"),
        ({"title": "a" * 1001}, "is wrong at 'title': expected `str` of length <= 1000"),
        ({"data": {"task": 5}}, "is wrong at 'data.task'"),
        ({"data": {"task": "a\x1b[2J"}}, "control characters"),
    ],
)
def test_the_part_that_is_wrong_is_named(config: dict[str, Any], said: str) -> None:
    with pytest.raises(FormatError) as refused:
        checked({"data": {}} | config, Config)
    assert said in str(refused.value)


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A healthy model, and a run to be damaged."""
    root = tmp_path_factory.mktemp("door") / "checkpoints"
    save_run(root / "odd")
    save_toy(root / "healthy", "adjective-swap")
    return root


def _json(path: Path, **changes: Any) -> bytes:
    return json.dumps(json.loads(path.read_bytes()) | changes).encode()


def _header(path: Path) -> bytes:
    """Weights whose header has a number of 5,000 digits."""
    header = b'{"a":{"dtype":"F32","shape":[' + b"9" * 5000 + b'],"data_offsets":[0,4]}}'
    return len(header).to_bytes(8, "little") + header + b"\0" * 4


# Each took a page down for everybody (findings D1, D2, D5), or was an error box on the page of its own model.
DAMAGE = {
    "a score of 400 digits": (CONFIG, lambda path: _json(path, results={"test": {"exact_match": 10**400}})),
    "a huge BLEU": (CONFIG, lambda path: _json(path, results={"test": {"bleu": 10**300}})),
    "a huge loss": (CONFIG, lambda path: _json(path, results={"test": {"loss": 1e308}})),
    "sentences that are text": (CONFIG, lambda path: _json(path, results={"test": {"sentences": "\ud800"}})),
    "a task that is half a character": (CONFIG, lambda path: _json(path, data={"task": "\ud800"})),
    "5,000 digits in config.json": (CONFIG, lambda path: b'{"format_version": ' + b"1" * 5000 + b"}"),
    "5,000 digits in status.json": (STATUS, lambda path: b'{"state": "finished", "step": ' + b"1" * 5000 + b"}"),
    "5,000 digits in the weights": (WEIGHTS, _header),
    "an error that is half a character": (STATUS, lambda path: _json(path, error="\ud800", state="failed")),
    "a date beyond all calendars": (STATUS, lambda path: _json(path, updated=1e15)),
    "a factor that makes everything infinite": (
        CONFIG,
        lambda path: _json(path, model=json.loads(path.read_bytes())["model"] | {"embedding_factor": 1e308}),
    ),
    "samples that are a number": (
        METRICS,
        lambda path: path.read_bytes() + b'{"kind": "eval", "step": 99, "samples": 5}\n',
    ),
    "samples of half a character": (
        METRICS,
        lambda path: path.read_bytes() + b'{"kind": "eval", "step": 99, "samples": [{"source": "\\ud800"}]}\n',
    ),
    "nested metrics": (METRICS, lambda path: path.read_bytes() + b"[" * 90_000 + b"\n"),
    "metrics of 5,000 digits": (METRICS, lambda path: path.read_bytes() + b'{"step": ' + b"1" * 5000 + b"}\n"),
}


@pytest.mark.parametrize("what", DAMAGE)
def test_an_odd_folder_is_listed_with_its_sentence_and_hurts_nobody(checkpoints: Path, what: str) -> None:
    file, damaged = DAMAGE[what]
    path = checkpoints / "odd" / file
    whole = path.read_bytes()
    healthy = summarize(checkpoints / "healthy")
    try:
        path.write_bytes(damaged(path))
        listed = {summary["name"]: summary for summary in list_models(checkpoints)}
        entries = {entry.name: entry for entry in Runs(checkpoints).entries()}
        table = {row["name"]: row for row in rows(list(entries.values()))}
    finally:
        path.write_bytes(whole)
    assert listed["healthy"] == healthy
    assert entries["healthy"].problem == ""
    assert table.keys() == {"odd", "healthy"}
    for text in (listed["odd"]["error"] or "", entries["odd"].problem):
        text.encode()
    if file in (CONFIG, WEIGHTS):
        assert f"odd/{file}" in listed["odd"]["error"]


class Parts(Struct):
    """Two parts that may be missing, and one that must be there."""

    name: Line
    first: list[int] | None = None
    second: dict[str, str] | None = None


def test_parts_that_may_be_missing_are_left_out_with_a_reason() -> None:
    value = {"second": {"a": 1}, "name": "n", "first": [1, "x"]}
    found, problems = checked(value, Parts, optional=("first", "second"))
    assert (found.name, found.first, found.second) == ("n", None, None)
    assert sorted(problem.split("'")[1].split("[")[0] for problem in problems) == ["first", "second"]
    with pytest.raises(FormatError, match="'first"):
        checked(value, Parts, optional=("second",))
    with pytest.raises(FormatError, match="'name'"):
        checked(value | {"name": 3}, Parts, optional=("first", "second"))
    assert value["first"] == [1, "x"]


@pytest.mark.parametrize(("value", "good"), [("abc", True), ("a\u202eb", False), ("a\n", False), (3, False)])
def test_a_value_fits_its_type_or_not(value: object, good: bool) -> None:
    assert fits(value, Line) is good
