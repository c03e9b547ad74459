"""What edited heads do to a sentence."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from explorer.decoding.head_change import Change
from explorer.decoding.translator import InputError, Translator
from explorer.probing.edit_effect import divergence, effect_on, step_rows
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
    assert effect.before.text == TEXT[::-1]
    assert effect.after.text != TEXT[::-1]
    assert effect.after.trace.edits == ("cross layer 1 head 1: zero", "cross layer 1 head 2: zero")
    # Independently: both distributions along the unchanged path, by one teacher-forced call each.
    model, path = reverse.loaded.transformer, effect.before.path
    src = torch.tensor([[*effect.before.source.ids, EOS]])
    tgt = torch.tensor([[SOS, *path[:-1]]])
    with torch.inference_mode():
        p = allowed_log_probs(model(src, tgt))[0].double()
        q = allowed_log_probs(model(src, tgt, tap=edit.tap(model.config)))[0].double()
    for t, step in enumerate(effect.steps):
        assert step.before == pytest.approx(float(p[t, path[t]].exp()), abs=1e-5)
        assert step.after == pytest.approx(float(q[t, path[t]].exp()), abs=1e-5)
        kl = sum(math.exp(a) * (a - b) for a, b in zip(p[t].tolist(), q[t].tolist(), strict=True) if a > -1e9)
        assert step.divergence == pytest.approx(kl, rel=1e-3, abs=1e-5)
        assert step.instead == reverse.loaded.target.label(int(q[t].argmax()))
    assert effect.divergence == pytest.approx(np.mean([step.divergence for step in effect.steps]))
    rows = step_rows(effect)
    assert [row["step"] for row in rows] == list(range(1, len(path) + 1))
    assert [row["reads"] for row in rows] == ["<sos>", *[row["predicts"] for row in rows[:-1]]]
    for row, step in zip(rows, effect.steps, strict=True):
        assert row["change"] == pytest.approx(row["probability after"] - row["probability before"], abs=2e-4)
        assert row["KL (nats)"] == round(step.divergence, 4)


def test_no_edit_has_no_effect(reverse: Translator) -> None:
    effect = effect_on(reverse, TEXT, HeadEdits())
    assert effect.after.path == effect.before.path
    assert effect.divergence == pytest.approx(0.0, abs=1e-9)


def test_divergence_of_distributions() -> None:
    p, q = np.array([[0.5, 0.5, 0.0]]), np.array([[0.25, 0.5, 0.25]])
    assert divergence(p, q)[0] == pytest.approx(0.5 * math.log(2))
    assert divergence(p, p)[0] == 0
    assert np.isfinite(divergence(q, p)).all(), "probability 0 counts as a tiny probability"


@pytest.mark.parametrize(
    ("kind", "told"), [("encoder", "4 source tokens"), ("cross", "4 source"), ("decoder", "steps")]
)
def test_a_pattern_of_another_length_gets_a_message(reverse: Translator, kind: str, told: str) -> None:
    with pytest.raises(InputError, match=told):
        edits_of(reverse, TEXT, Change(kind, 1, 1, "pattern", other="abc"))  # type: ignore[arg-type]
