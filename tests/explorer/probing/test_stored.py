"""Results beside the weights: equal to what was measured, never shown for other weights, and quoted by the cards."""

import dataclasses
import io
import itertools
import re
import shutil
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from explorer.probing import measured as stored
from explorer.probing.importance import Importance, halves, measure_curve
from explorer.probing.measured import Measured, measure, read_again
from explorer.probing.sample import SEEDS, SampleChoice, default_choice, gather
from explorer.probing.ship import check_lines, findings
from explorer.probing.tables import roles, summary
from model.analysis.bootstrap import Estimate
from model.analysis.importance import Ablation
from model.checkpoint import LoadedModel, load_model
from model.config import ATTENTION_KINDS
from tests.explorer.probed import quiet
from tests.paths import CHECKPOINTS
from tests.some import some


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of `reverse` without results."""
    copy = tmp_path / "reverse"
    shutil.copytree(CHECKPOINTS / "reverse", copy, ignore=shutil.ignore_patterns("snapshots", stored.FILE))
    return copy


def importance_of(measured: Measured) -> Importance:
    shapes = {kind: (item.n_layers, item.n_heads) for kind, item in measured.probe.kinds.items()}
    rng = np.random.default_rng(0)
    values = {kind: rng.normal(size=shape) for kind, shape in shapes.items()}
    changes = {kind: Estimate(value, value - 0.1, value + 0.2) for kind, value in values.items()}
    return Importance(Ablation(1.0, 0.5, changes, changes), 60, changes)


def test_what_is_stored_is_what_was_measured(measured: Measured, folder: Path) -> None:
    hashed, known = stored.sample_hash(measured.sample, SEEDS), importance_of(measured)
    stored.save(folder, measured.probe, known, hashed)
    again = stored.load(folder, hashed)
    assert again is not None
    assert (again.probe.sentences, again.probe.seeds, again.probe.gold) == (60, 5, "tokens")
    assert [role.name for role in roles(again.probe).values()] == [role.name for role in roles(measured.probe).values()]
    for kind in ATTENTION_KINDS:
        one, two = measured.probe.kinds[kind], again.probe.kinds[kind]
        assert set(one.scores) == set(two.scores)
        for name, part, end in itertools.product(
            one.scores, ("estimate", "over_uniform", "over_untrained"), ("value", "low", "high")
        ):
            found, expected = (getattr(getattr(kinds.scores[name], part), end) for kinds in (two, one))
            assert np.allclose(found, expected, atol=1e-4, equal_nan=True), (name, part, end)
        assert np.allclose(one.relative, two.relative, atol=1e-6)
    assert np.array_equal(two.corpus["error_rate"].own, one.corpus["error_rate"].own)
    assert np.array_equal(again.importance.ablation.loss_change["cross"], known.ablation.loss_change["cross"])
    assert again.importance.of_head(("cross", 0, 0)) == known.of_head(("cross", 0, 0))


def test_stale_results_are_not_shown(measured: Measured, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hashed = stored.sample_hash(measured.sample, SEEDS)
    stored.save(folder, measured.probe, None, hashed)
    assert stored.load(folder, hashed).importance is None
    unaligned = dataclasses.replace(measured.sample, alignments=(None,) * 60)
    for why, other in {
        "another sample": stored.sample_hash(measured.sample.part(range(59)), SEEDS),
        "other right alignments": stored.sample_hash(unaligned, SEEDS),
        "other untrained models": stored.sample_hash(measured.sample, SEEDS[:2]),
    }.items():
        assert stored.load(folder, other) is None, why
    monkeypatch.setattr(stored, "VERSION", stored.VERSION + 1)
    assert stored.load(folder, hashed) is None, "another formula"
    monkeypatch.undo()
    weights = folder / "model.safetensors"
    content = weights.read_bytes()
    weights.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    assert stored.load(folder, hashed) is None, "trained on"


def test_damaged_results_are_not_shown(measured: Measured, folder: Path) -> None:
    hashed = stored.sample_hash(measured.sample, SEEDS)
    path = stored.save(folder, measured.probe, None, hashed)
    whole = path.read_bytes()
    for damaged in (b"", whole[: len(whole) // 2], b"PK" + whole[2:200], b"\x80\x04K\x00."):
        path.write_bytes(damaged)
        assert stored.load(folder, hashed) is None
    rng = np.random.default_rng(0)
    for _ in range(30):  # what zlib, zipfile and numpy say to that
        content = np.frombuffer(whole, np.uint8).copy()
        content[rng.integers(len(content), size=20)] = rng.integers(256, size=20)
        path.write_bytes(content.tobytes())
        stored.load(folder, hashed)
    with np.load(io.BytesIO(whole)) as file:
        arrays = dict(file)
    np.savez(path, **arrays | {"cross/similarity": np.zeros((2, 2), np.float32)})
    assert stored.load(folder, hashed) is not None, "an older file, with what nothing reads any more"
    for name in (*("encoder/relative", "decoder/scores/confidence/own", "cross/corpus/error_rate/estimate"),):
        for other in (arrays[name][..., :-1], arrays[name].astype(complex), np.array("x")):
            np.savez(path, **arrays | {name: other})
            assert stored.load(folder, hashed) is None, f"{name} of another shape or type"


def test_a_model_opens_with_its_results(measured: Measured, folder: Path) -> None:
    stored.save(folder, measured.probe, None, stored.sample_hash(measured.sample, SEEDS))
    loaded = load_model(folder)
    found = measure(SampleChoice(size=60), loaded, quiet)
    assert str(found.about) == str(measured.about)
    (read,) = read_again(found.sample.part([7]), loaded, quiet)
    again = read_again(measured.sample, loaded, quiet)
    assert len(again) == 60
    assert np.allclose(read.trace.cross, again[7].trace.cross, atol=1e-6)
    assert read.trace.src_tokens == again[7].trace.src_tokens


NAMES = sorted(path.parent.name for path in CHECKPOINTS.glob(f"*/{stored.FILE}"))


@pytest.mark.parametrize("name", some(NAMES, 3))
def test_shipped_results_are_of_the_shipped_weights_and_sample(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HEADLIGHT_DATA", raising=False)  # nothing is needed that does not come with Headlight
    loaded: LoadedModel = load_model(CHECKPOINTS / name)
    sample, _, _ = gather(default_choice(loaded.data_config), loaded, quiet)
    found = stored.load(CHECKPOINTS / name, stored.sample_hash(sample, SEEDS))
    assert found is not None, f"measure it again: python -m explorer.probing.ship {name}"
    assert found.importance is not None
    assert found.importance.by_mean is not None
    assert f"- {summary(found.probe)} " in loaded.card, "the card quotes other results"


def test_all_transformers_come_with_results() -> None:
    assert set(NAMES) == {path.parent.name for path in CHECKPOINTS.glob("*/config.json")} - {"reverse-lstm"}


@pytest.mark.parametrize("n", [1, 47, 48, 60, 200, 1000])
def test_the_parts_of_a_sample_are_all_of_it_and_the_first_is_small(n: int) -> None:
    first, *rest = stored.parts(n, large=True)
    assert sorted(i for part in (first, *rest) for i in part) == list(range(n))
    assert len(first) == n if n < 2 * stored.FIRST_PART else stored.FIRST_PART <= len(first) < 2 * stored.FIRST_PART


@cache
def measured_on_its_sample(name: str) -> tuple[LoadedModel, Measured]:
    """A bundled model, with what is measured of it on its default sample."""
    loaded = load_model(CHECKPOINTS / name)
    return loaded, measure(SampleChoice(), loaded, quiet)


SCORED = ("reverse", "reverse-decoder", "adjective-swap", "adjective-swap-unmasked", "dates", "phrases-en-de")


@pytest.mark.slow
@pytest.mark.parametrize("name", some(SCORED, 6))
def test_the_card_quotes_what_is_found(name: str) -> None:
    loaded, found = measured_on_its_sample(name)
    lines = findings(loaded, found)
    for line in lines:
        assert f"- {line}\n" in loaded.card
    # Without heads that are called important, the loss rises, and more than without the others.
    most, least = (
        float(found_loss)
        for text in ("matters most", "matter least")
        for found_loss in re.findall(rf"{text}.*?the loss goes from \S+ to ([\d.]+)", "\n".join(lines))
    )
    assert most > 2 * least


def test_the_pruning_curve_starts_whole_and_ends_with_nothing() -> None:
    loaded, found = measured_on_its_sample("adjective-swap")
    curve = measure_curve(loaded, found.sample, quiet)
    choice, scored = halves(found.sample)
    assert (curve.chosen_on, curve.scored_on) == (len(choice), len(scored))
    assert not {source.text for source in choice.sources} & {source.text for source in scored.sources}
    assert (curve.counts[0], curve.counts[-1]) == (0, 24)
    quality = curve.remaining_quality()
    assert quality[0] == 100.0
    assert quality[1] > 95 > 20 > quality[-1], "the least important heads can go"
    assert len(quality) == len(curve.counts)
    assert np.allclose(curve.random[:, 0], curve.loss[0])
    assert np.allclose(curve.random[:, -1], curve.loss[-1]), "every order ends with all heads off"


# A translator and a decoder alone.
OTHERS = (*sorted({*SCORED} - {"adjective-swap", "reverse-decoder"}), "multi30k-en-de", "multi30k-de-en")


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["adjective-swap", "reverse-decoder", *OTHERS])
def test_the_card_quotes_what_is_counted(name: str) -> None:
    loaded = load_model(CHECKPOINTS / name)
    sample, _, _ = gather(default_choice(loaded.data_config), loaded, quiet)
    lines = check_lines(loaded, sample)
    assert len(lines) == 2
    for line in lines:
        assert f"- {line}\n" in loaded.card
