"""What edited heads do to a sentence, and to the quality of a sample's translations."""

import math

import numpy as np
import pytest
import torch

from explorer.decoding.head_change import Change
from explorer.decoding.translator import Translator
from explorer.probing.edit_effect import Quality, effect_on, quality_words, step_rows
from model.analysis.importance import SentenceLosses
from model.checkpoint import load_model
from model.config import EOS, SOS
from model.decoding.search import allowed_log_probs
from model.edits import HeadEdits
from tests.explorer.edited import edits_of
from tests.paths import ROOT

TEXT = "headlight"


@pytest.fixture(scope="module")
def reverse() -> Translator:
    return Translator(load_model(ROOT / "checkpoints" / "reverse"))


def test_the_effect_on_a_sentence(reverse: Translator) -> None:
    edit = edits_of(reverse, TEXT, Change("cross", 1, 1, "zero"), Change("cross", 1, 2, "zero"))
    effect = effect_on(reverse, TEXT, edit)
    assert effect.before.text == TEXT[::-1] != effect.after.text
    assert effect.after.trace.edits == ("cross layer 1 head 1: zero", "cross layer 1 head 2: zero")
    # Independently: both distributions along the unchanged path, by one teacher-forced call each.
    model, path = reverse.loaded.transformer, effect.before.path
    src, tgt = torch.tensor([[*effect.before.source.ids, EOS]]), torch.tensor([[SOS, *path[:-1]]])
    with torch.inference_mode():
        p = allowed_log_probs(model(src, tgt))[0].double()
        q = allowed_log_probs(model(src, tgt, tap=edit.tap(model.config)))[0].double()
    rows = step_rows(effect)
    assert [row["step"] for row in rows] == list(range(1, len(path) + 1))
    assert [row["reads"] for row in rows] == ["<sos>", *[row["predicts"] for row in rows[:-1]]]
    for t, (row, step) in enumerate(zip(rows, effect.steps, strict=True)):
        assert step.before == pytest.approx(float(p[t, path[t]].exp()), abs=1e-5)
        assert step.after == pytest.approx(float(q[t, path[t]].exp()), abs=1e-5)
        kl = sum(math.exp(a) * (a - b) for a, b in zip(p[t].tolist(), q[t].tolist(), strict=True) if a > -1e9)
        assert step.divergence == pytest.approx(kl, rel=1e-3, abs=1e-5)
        assert step.instead == reverse.loaded.target.label(int(q[t].argmax()))
        assert row["likelier after"] == ("" if step.instead == step.predicts else step.instead)
        assert row["KL (nats)"] == round(step.divergence, 3)
    assert effect.divergence == pytest.approx(np.mean([step.divergence for step in effect.steps]))
    none = effect_on(reverse, TEXT, HeadEdits())
    assert "likelier after" not in step_rows(none)[0], "a column that would repeat another"
    assert none.after.path == none.before.path
    assert none.divergence == pytest.approx(0.0, abs=1e-9)


def test_a_change_in_words_names_the_measures_that_are_known() -> None:
    tokens = np.array([2.0, 3.0, 5.0])
    first, second = (SentenceLosses(np.array(nll), tokens, tokens) for nll in ([1.0, 2.0, 3.0], [2.0, 3.5, 5.5]))
    before, after = Quality(first, np.ones(3), None), Quality(second, np.array([1.0, 0.0, 0.0]), None)
    assert quality_words(before, after) == (
        "the loss goes from 0.600 to 1.100 nats per token, by +0.500 (+0.500 to +0.500); exact match from 100.0 % to "
        "33.3 %, by −66.7 (−100.0 to 0.0, not distinguishable from zero) percentage points"
    )
    few = quality_words(Quality(first, np.array([1.0, 0.0, 0.0]), None), Quality(first, np.zeros(3), None))
    assert few.endswith("; of 3 sentences, 1 right, then 0"), "a share of one sentence is noise"
    same = quality_words(Quality(first, None, 30.0), Quality(first, None, 12.34))
    assert "by 0.000 (0.000 to 0.000, not distinguishable from zero); BLEU from 30.0 to 12.3 on these sentences" in same
    unchanged = quality_words(before, Quality(second, np.ones(3), None))
    assert unchanged.endswith("exact match 100.0 % in both, of the same sentences"), "no interval of no width"
