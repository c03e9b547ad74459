"""Changes to heads: in links, as edits, and their effect on a sentence and on a sample."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from explorer.probing.edit_effect import (
    divergence,
    effect_on,
    for_any_sentence,
    from_another,
    part_of,
    quality,
)
from explorer.translation.head_change import (
    Change,
    added,
    describe,
    fitting,
    from_link,
    thousandths,
    to_link,
)
from explorer.translation.head_edits import digest_of, edits_for
from explorer.translation.translator import InputError, Translator
from model.analysis.importance import mean_outputs, without
from model.analysis.recorded_batches import written_sample
from model.checkpoint import load_model
from model.config import EOS, SOS, DecodeConfig
from model.data import get_task
from model.decoding.search import allowed_log_probs
from model.edits import HeadEdit, HeadEdits
from model.recording import AttentionRecorder
from model.tap import compose
from tests.paths import ROOT

TEXT = "headlight"


@pytest.fixture(scope="module")
def reverse() -> Translator:
    return Translator(load_model(ROOT / "checkpoints" / "reverse"))


def edits(translator: Translator, *changes: Change, text: str = TEXT) -> HeadEdits:
    shown = translator.translate(text, DecodeConfig())
    return edits_for(
        changes,
        translator.loaded.model_config,
        lambda heads: {head: np.zeros(16, np.float32) for head in heads},
        lambda change: from_another(translator, translator.translate(change.other, DecodeConfig()), shown, change),
    )


ALL = (
    Change("cross", 1, 2, "zero"),
    Change("encoder", 2, 4, "uniform"),
    Change("decoder", 1, 1, "mean"),
    Change("cross", 1, 1, "row", row=3, weights=(0, 250, 750)),
    Change("encoder", 1, 1, "pattern", other="äh, </script>~.-"),
    Change("encoder", 1, 2, "output", other="attention"),
)


def test_a_link_restores_every_kind_of_change(reverse: Translator) -> None:
    link = to_link(ALL)
    assert from_link(link) == (ALL, [])
    assert fitting(ALL, reverse.loaded.model_config) == (ALL, [])
    assert all(letter.isalnum() or letter in "-._~" for letter in link), "nothing in it needs escaping"


@pytest.mark.parametrize(
    "link",
    [
        "cross",
        "cross.1.1.burn",
        "cross.0.1.zero",
        "cross.2.1.zero",
        "cross.1.9.zero",
        "both.1.1.zero",
        "cross.1.1.zero.5",
        "cross.1.1.row.1",
        "cross.1.1.row.x.500",
        "cross.1.1.row.1.0-0",
        "cross.1.1.row.1.-5",
        "cross.1.1.row.1.5.5",
        "cross.1.1.pattern",
        "cross.1.1.pattern.%%%",
        "cross.1.1.pattern.____",
        "cross.1.1.pattern." + "QUFB" * 900,
        "cross.1.1.output.",
        "cross.٣.1.zero",
        "...",
        "<script>.1.1.zero",
    ],
)
def test_a_link_that_makes_no_sense_gets_a_message(reverse: Translator, link: str) -> None:
    found, problems = from_link(f"cross.1.1.zero~{link}")
    found, unfit = fitting(found, reverse.loaded.model_config)
    problems += unfit
    assert found == (Change("cross", 1, 1, "zero"),)
    assert len(problems) == 1
    assert "is left out" in problems[0]


def test_a_link_with_far_too_many_edits_is_cut(reverse: Translator) -> None:
    found, problems = from_link("~".join(["cross.1.1.zero"] * 400))
    assert len(found) == 1
    assert "the first 256" in problems[0]


def test_a_new_change_takes_the_place_of_the_old_one_of_that_head() -> None:
    first, second = Change("cross", 1, 1, "zero"), Change("cross", 1, 1, "uniform")
    other = Change("cross", 1, 2, "zero")
    assert added((first, other), [second]) == (other, second)
    row, later = Change("cross", 1, 1, "row", 1, (1,)), Change("cross", 1, 1, "row", 2, (1,))
    assert added((first,), [row]) == (row,)
    assert added((row,), [later]) == (row, later)
    assert added((row, later), [Change("cross", 1, 1, "row", 1, (2,))])[0] == later
    assert added((row, later), [first]) == (first,)


def test_changes_in_words() -> None:
    assert describe(()) == "no change"
    assert describe(ALL[:2]) == "cross L1 H2 switched off; encoder L2 H4 made uniform"
    assert describe((Change("cross", 1, 1, "zero"), Change("cross", 1, 2, "zero"))) == "cross L1 H1, L1 H2 switched off"
    assert describe(ALL[3:4]) == "cross L1 H1, row 3 edited by hand"
    assert describe(ALL[5:]) == "encoder L1 H2 given the output of another sentence (attention)"


@pytest.mark.parametrize(
    ("weights", "expected"), [([1, 3], (250, 750)), ([0, 1e-9], (0, 1000)), ([2.0], (1000,)), ([1] * 5000, None)]
)
def test_weights_in_thousandths(weights: list[float], expected: tuple[int, ...] | None) -> None:
    found = thousandths(weights)
    assert found == expected if expected else sum(found) > 0


@pytest.mark.parametrize("weights", [[0, 0], [-1, 2], [float("nan"), 1], [float("inf")], []])
def test_invalid_weights(weights: list[float]) -> None:
    with pytest.raises(ValueError, match=r"(?i)weight"):
        thousandths(weights)


def test_only_changes_of_whole_heads_apply_to_any_sentence() -> None:
    assert for_any_sentence(ALL) == ALL[:3]


def test_the_effect_on_a_sentence(reverse: Translator) -> None:
    edit = edits(reverse, Change("cross", 1, 1, "zero"), Change("cross", 1, 2, "zero"))
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


def test_no_edit_has_no_effect(reverse: Translator) -> None:
    effect = effect_on(reverse, TEXT, HeadEdits())
    assert effect.after.path == effect.before.path
    assert effect.divergence == pytest.approx(0.0, abs=1e-9)


def test_divergence_of_distributions() -> None:
    p, q = np.array([[0.5, 0.5, 0.0]]), np.array([[0.25, 0.5, 0.25]])
    assert divergence(p, q)[0] == pytest.approx(0.5 * math.log(2))
    assert divergence(p, p)[0] == 0
    assert np.isfinite(divergence(q, p)).all(), "probability 0 counts as a tiny probability"


def test_a_row_edited_by_hand_is_the_row_that_the_model_uses(reverse: Translator) -> None:
    change = Change("cross", 1, 1, "row", row=2, weights=(0, 500, 500))
    trace = reverse.translate(TEXT, DecodeConfig(), edit=edits(reverse, change)).trace
    assert np.allclose(trace.cross[0, 0, 1], [0, 0.5, 0.5, *[0] * 7])
    own = reverse.translate(TEXT, DecodeConfig()).trace
    assert np.allclose(trace.cross[0, 0, 0], own.cross[0, 0, 0], atol=1e-6)


def test_a_row_of_the_decoder_stays_within_what_it_may_see(reverse: Translator) -> None:
    change = Change("decoder", 1, 1, "row", row=2, weights=(100, 300, 600, 900))
    trace = reverse.translate(TEXT, DecodeConfig(), edit=edits(reverse, change)).trace
    assert np.allclose(trace.decoder[0, 0, 1, :2], [0.25, 0.75])
    assert not trace.decoder[0, 0, 1, 2:].any()


def test_a_pattern_from_another_sentence(reverse: Translator) -> None:
    other = reverse.translate("attention", DecodeConfig()).trace
    change = Change("encoder", 2, 3, "pattern", other="attention")
    trace = reverse.translate(TEXT, DecodeConfig(), edit=edits(reverse, change)).trace
    assert np.allclose(trace.encoder[1, 2], other.encoder[1, 2], atol=1e-6)
    decoder = Change("decoder", 1, 2, "pattern", other="attention")
    found = reverse.translate(TEXT, DecodeConfig(), edit=edits(reverse, decoder)).trace.decoder[0, 1]
    rows = min(len(found), len(other.decoder[0, 1]))
    assert np.allclose(found[:rows, :rows], other.decoder[0, 1][:rows, :rows], atol=1e-6)


def test_a_patched_output_is_that_of_the_other_sentence(reverse: Translator) -> None:
    head = ("encoder", 1, 2)
    change = Change("encoder", 2, 3, "output", other="attention")
    recorder, plain = AttentionRecorder(details=[head]), AttentionRecorder(details=[head])  # type: ignore[list-item]
    model = reverse.loaded.transformer

    def ids(text: str) -> torch.Tensor:
        return torch.tensor([[*reverse.loaded.source.encode(text).ids, EOS]])

    with torch.inference_mode():
        model.encode(ids(TEXT), tap=compose(edits(reverse, change).tap(model.config), recorder))
        model.encode(ids("attention"), tap=plain)
    assert torch.allclose(recorder.details[head][0]["output"], plain.details[head][0]["output"], atol=1e-6)  # type: ignore[index]


@pytest.mark.parametrize(
    ("kind", "told"), [("encoder", "4 source tokens"), ("cross", "4 source"), ("decoder", "steps")]
)
def test_a_pattern_of_another_length_gets_a_message(reverse: Translator, kind: str, told: str) -> None:
    with pytest.raises(InputError, match=told):
        edits(reverse, Change(kind, 1, 1, "pattern", other="abc"))  # type: ignore[arg-type]


def test_quality_of_a_sample(reverse: Translator) -> None:
    task = get_task("reverse")
    loaded = reverse.loaded
    sample = part_of(written_sample(task.splits["test"], loaded.source, loaded.target, 100), 40)
    assert len(sample) == 40
    whole = quality(loaded, sample, task, None)
    assert (whole.exact, whole.bleu) == (1.0, None)
    ruined = quality(loaded, sample, task, without([("cross", 0, 0), ("cross", 0, 1)]))
    assert ruined.exact is not None
    assert ruined.exact < 0.2
    assert ruined.loss > whole.loss + 1


def test_bleu_where_targets_are_words() -> None:
    task = get_task("adjective-swap")
    loaded = load_model(ROOT / "checkpoints" / "adjective-swap")
    sample = part_of(written_sample(task.splits["test"], loaded.source, loaded.target, 60), 20)
    whole = quality(loaded, sample, task, None)
    assert whole.bleu == pytest.approx(100.0)
    heads = [("cross", layer, head) for layer in range(2) for head in range(4)]
    ruined = quality(loaded, sample, task, without(heads))  # type: ignore[arg-type]
    assert ruined.bleu is not None
    assert ruined.bleu < 50


def test_the_mean_of_a_head_comes_from_the_sample(reverse: Translator) -> None:
    loaded = reverse.loaded
    sample = part_of(written_sample(get_task("reverse").splits["test"], loaded.source, loaded.target, 100), 20)
    asked = []

    def means(heads):  # type: ignore[no-untyped-def]
        asked.extend(heads)
        return mean_outputs(loaded.transformer, sample.pairs, heads)

    made = edits_for((Change("cross", 1, 2, "mean"),), loaded.model_config, means, lambda change: np.zeros(1))
    assert asked == [("cross", 0, 1)]
    assert made.edits[0].values is not None
    assert made.edits[0].values.shape == (32,)


def test_edits_have_a_name_that_their_values_are_part_of() -> None:
    def row(values: list[float]) -> HeadEdits:
        return HeadEdits((HeadEdit("cross", 0, 0, "row", row=1, values=np.array(values, dtype=np.float32)),))

    assert digest_of(row([0.25, 0.75])) == digest_of(row([0.25, 0.75]))
    named = [
        row([0.25, 0.75]),
        row([0.75, 0.25]),
        row([0.25, 0.75, 0.0]),
        HeadEdits(),
        HeadEdits((HeadEdit("cross", 0, 0, "zero"),)),
    ]
    assert len({digest_of(edits) for edits in named}) == len(named)
