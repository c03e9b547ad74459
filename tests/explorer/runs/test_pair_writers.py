"""Which trained models are offered to write pairs for a task, which is proposed, and what is said where none is."""

from __future__ import annotations

from typing import Any

import pytest

from explorer.runs.made_pairs import writers
from model.config import DataConfig
from model.data import get_task


def summary(name: str, task: str, src: str, tgt: str, *, causal: bool = True, trained: bool = True) -> dict[str, Any]:
    data = {"task": task, "src_lang": src, "tgt_lang": tgt}
    return {"name": name, "trained": trained, "data": data, "model": {"causal": causal}}


MODELS = [
    summary("another", "files", "xx", "xx"),
    summary("dates", "dates", "en", "en"),
    summary("de-en", "multi30k-de-en", "de", "en"),
    summary("en-de", "multi30k-en-de", "en", "de"),
    summary("phrases", "phrases-en-de", "en", "de"),
    summary("raw", "phrases-en-de", "en", "de", trained=False),
    summary("reverse", "reverse", "xx", "xx"),
    summary("sort", "sort", "xx", "xx"),
    summary("unmasked", "phrases-en-de", "en", "de", causal=False),
]


@pytest.mark.parametrize(
    ("task", "side", "names", "proposed"),
    [
        ("phrases-en-de", "target", ("phrases", "en-de"), "phrases"),
        ("phrases-en-de", "source", ("de-en",), "de-en"),
        ("multi30k-de-en", "source", ("en-de", "phrases"), "en-de"),
        ("reverse", "target", ("reverse", "another"), "reverse"),
        ("reverse", "source", ("reverse", "another"), "reverse"),
        ("sort", "target", ("sort", "another"), "sort"),
        ("sort", "source", ("another",), ""),  # what sorts cannot put letters back
        ("dates", "target", ("dates",), "dates"),
        ("dates", "source", (), ""),
    ],
)
def test_models_that_fit_are_offered_and_the_tasks_own_comes_first(
    task: str, side: str, names: tuple[str, ...], proposed: str
) -> None:
    found = writers(MODELS, get_task(task).data, side)
    assert (found.names, found.proposed) == (names, proposed)
    assert bool(found.missing) is not bool(names)


def test_own_data_without_a_language_fits_every_model_and_proposes_none() -> None:
    known = [model["name"] for model in MODELS if model["name"] not in ("raw", "unmasked", "sort")]
    own = writers(MODELS, DataConfig(task="files", src_lang="xx", tgt_lang="xx"), "source", busy=["sort"])
    assert (list(own.names), own.proposed) == (known, "")
    half = DataConfig(task="files", src_lang="xx", tgt_lang="de")
    assert [writers(MODELS, half, side).names for side in ("target", "source")] == [("en-de", "phrases"), ("de-en",)]


@pytest.mark.parametrize(
    ("task", "side", "missing", "way"),
    [
        ("phrases-en-de", "source", "translates German to English", "on the data 'multi30k-de-en'."),
        ("phrases-en-hi", "source", "Hindi to English", "their columns exchanged"),
        ("dates", "target", "turns these sources into targets", "it can then translate their sources."),
    ],
)
def test_what_is_missing_is_said_with_the_way_to_get_it(task: str, side: str, missing: str, way: str) -> None:
    said = writers([], get_task(task).data, side).missing
    assert missing in said
    assert way in said
