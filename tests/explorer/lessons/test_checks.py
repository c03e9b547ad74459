"""Checks computed from a translation of `reverse`."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest

from explorer.decoding.score_parts import part_label
from explorer.decoding.translator import Translator
from explorer.lessons.checks import CHECKS, Live, answer
from explorer.lessons.checks.registry import Heads
from explorer.lessons.expressions import Term, TermError
from explorer.probing.cross_checks import kept_shares
from explorer.probing.sample import default_choice, gather
from model.analysis.cross_checks import value_zeroing
from model.analysis.score_terms import grouped
from model.checkpoint import load_model
from model.config import EOS, SOS, AttentionKind, DecodeConfig
from model.folder import summarize
from tests.explorer.probed import quiet
from tests.paths import ROOT


@pytest.fixture(scope="module")
def live() -> Live:
    folder = ROOT / "checkpoints" / "reverse"
    translator = Translator(load_model(folder))
    return Live(translator, translator.translate("hello", DecodeConfig()), summarize(folder))


def test_checks_agree_with_the_trace(live: Live) -> None:
    trace = live.translation.trace
    place = (("kind", "cross"), ("layer", "1"), ("head", "2"), ("row", "3"))
    assert answer(Term("weight", (*place, ("key", "2"))), live) == pytest.approx(trace.cross[0, 1, 2, 1])
    assert answer(Term("strongest_position", place), live) == trace.cross[0, 1, 2].argmax() + 1
    mean = (("kind", "cross"), ("layer", "1"), ("head", "0"), ("row", "3"), ("key", "2"))
    assert answer(Term("weight", mean), live) == pytest.approx(trace.cross[0, :, 2, 1].mean())
    assert answer(Term("keys_open", (("kind", "decoder"), ("row", "4"))), live) == 4
    assert answer(Term("source", (("key", "6"),)), live) == "<eos>"
    one = answer(Term("tempered", (("row", "1"), ("temperature", "1"))), live)
    assert one == pytest.approx(float(trace.probabilities[0]), abs=1e-5)
    raw, scaled = (answer(Term("score", (*place, ("key", "2"), ("form", form))), live) for form in ("raw", "scaled"))
    assert raw == pytest.approx(float(scaled) * 32**0.5, rel=1e-4)


@pytest.mark.parametrize("name", CHECKS)
def test_a_place_that_is_not_there_gets_a_message(live: Live, name: str) -> None:
    samples = {AttentionKind: "cross", int: "99", float: "2", Heads: "cross.9.9", str: "nothing"}
    anywhere = ["tokens", "heads", "head_size", "masked_cells", "masked_weight", "curve", "card_says", "stays"]
    check = CHECKS[name]
    kinds = [check.kinds[key] for key in check.needs]
    words = [samples.get(kind) or get_args(kind)[0] for kind in kinds]
    term = Term(name, tuple(zip(check.needs, words, strict=True)))
    if not check.needs or name in anywhere:
        assert answer(term, live) is not None
        return
    with pytest.raises(TermError, match="has no answer for reverse and “hello”"):
        answer(term, live)


def test_explanations_agree_with_what_is_measured_elsewhere() -> None:
    loaded = load_model(ROOT / "checkpoints" / "adjective-swap")
    translator = Translator(loaded)
    shown = translator.translate("I read red books", DecodeConfig())
    live = Live(translator, shown, summarize(ROOT / "checkpoints" / "adjective-swap"))

    def value(name: str, **written: str) -> object:
        return answer(Term(name, tuple(written.items())), live)

    src, read = (*shown.source.ids, EOS), (SOS, *shown.path[:-1])
    zeroed = value_zeroing(loaded.transformer, src, read, "cross", 1)
    ranked = [value("missed_key", kind="cross", layer="2", row="5", rank=str(rank)) for rank in range(1, 6)]
    assert ranked == [shown.trace.src_tokens[int(i)] for i in np.argsort(-zeroed[4])]
    place = {"kind": "cross", "layer": "2", "head": "3", "row": "3", "key": "4"}
    terms = translator.explain(shown, ("cross", 1, 2), 2).terms
    table, queries, keys = grouped(terms.table_above_row(2, 3), terms.query_parts, terms.key_parts)
    assert part_label(keys[int(table.max(axis=0).argmax())]) == value("largest_part", **place, side="key")
    assert part_label(queries[int(table.max(axis=1).argmax())]) == value("largest_part", **place, side="query")
    shares = [float(str(value("share_of_key", **place, part=part_label(part)))) for part in keys]
    assert sum(shares) == pytest.approx(1)
    # Only the vector of the word that differs carries the other word.
    words = [value("patched_token", other="I read red apples", row="3", position=str(at)) for at in range(1, 6)]
    assert words == ["livres", "livres", "livres", "pommes", "livres"]
    with pytest.raises(TermError, match="Both sentences are the same"):
        value("patched_token", other="I read red books", row="3", position="4")
    sample, _, _ = gather(default_choice(loaded.data_config), loaded, quiet)
    kept = kept_shares(loaded, sample, None, quiet)
    assert value("stays", rows="without_largest") == kept.shares["largest removed"].value
