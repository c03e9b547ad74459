"""Snapshots applied to a sentence, and the scores of individual heads in them."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from explorer.runs import head_history
from explorer.runs.head_history import HeadScores, first_head, head_scores, load_snapshot, moment, validation_sample
from model.analysis.recorded_batches import Observed, Weights
from model.checkpoint import LoadedModel, load_model, snapshot_path, snapshot_steps
from model.config import ATTENTION_KINDS, EOS
from model.data.files import save_splits
from model.data.task import Example
from model.folder import CheckpointError
from tests.explorer.probed import HEADS, observed
from tests.explorer.toy_runs import save_run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_run(tmp_path_factory.mktemp("film") / "mine")


@pytest.fixture(scope="module")
def loaded(run: Path) -> LoadedModel:
    return load_model(run)


def test_planted_heads_have_the_scores_that_they_were_planted_with(
    monkeypatch: pytest.MonkeyPatch, loaded: LoadedModel
) -> None:
    """Head 1 looks at all tokens that it sees alike, head 2 at one; in cross-attention, that is the right one."""

    def planted(*_: object) -> Iterator[tuple[int, Observed, Weights]]:
        heads = (HEADS["uniform"], HEADS["first"])
        for n_src, alignment in ((4, ((0,), ())), (2, ((0,),))):
            item = observed(n_src, len(alignment) + 1, encoder=heads, decoder=heads, cross=heads, alignment=alignment)
            yield 0, item, {kind: item.trace.weights(kind)[None] for kind in ATTENTION_KINDS}

    monkeypatch.setattr(head_history, "observe", planted)
    scores = head_scores(loaded, 5, validation_sample(loaded))
    for kind in ATTENTION_KINDS:
        np.testing.assert_allclose(scores.normalised_entropy[kind], [[1.0, 0.0]], atol=1e-6)
    np.testing.assert_allclose(scores.aligned, [[(1 / 4 + 1 / 2) / 2, 1.0]])


def test_the_weight_on_several_right_tokens_is_their_sum_and_alignments_of_other_tokens_are_not_used() -> None:
    weights = np.zeros((1, 2, 3, 4), dtype=np.float32)
    weights[0, 0, 1, 0], weights[0, 0, 1, 2] = 0.25, 0.5
    weights[0, 1, :, 1] = 1.0
    np.testing.assert_allclose(head_history._on_gold(weights, ((), (0, 2))), [[0.75, 0.0]])
    for alignment, fits in ((((1,), (0,)), True), (((0,), (2,)), False), (((), ()), True), (None, False)):
        assert head_history._fitting(alignment, 3) == (alignment if fits else None)


def test_every_head_has_scores_that_batching_does_not_change(loaded: LoadedModel) -> None:
    """Sentences of different lengths are padded; the result is the mean over single sentences, weighted by rows."""
    sample, config = validation_sample(loaded), loaded.model_config
    assert 6 <= len(sample) <= head_history.SENTENCES
    sample = sample.part(range(6))
    alone = [head_scores(loaded, 0, sample.part([i])).aligned for i in range(6)]
    expected: np.ndarray = np.average(alone, axis=0, weights=[len(target) for target in sample.targets])
    scores = head_scores(loaded, 0, sample)
    np.testing.assert_allclose(scores.aligned, expected, atol=1e-6)
    for kind, entropies in scores.normalised_entropy.items():
        assert entropies.shape == (config.n_layers(kind), config.n_heads(kind))
        assert ((entropies >= 0) & (entropies <= 1 + 1e-6)).all()


def test_all_moments_share_rows_and_have_answers_of_their_own(run: Path, loaded: LoadedModel) -> None:
    path = (*loaded.target.encode("cba").ids, EOS)
    found = [moment(load_snapshot(run, step), step, "abc", path) for step in snapshot_steps(run)]
    assert [each.step for each in found] == [0, 10, 30]
    assert {each.trace.predicted_tokens for each in found} == {("c", "b", "a", "<eos>")}
    assert np.abs(found[0].trace.cross - found[-1].trace.cross).max() > 1e-4
    np.testing.assert_allclose(found[-1].trace.cross.sum(axis=-1), 1.0, atol=1e-5)


def test_a_stamp_changes_with_its_snapshot(run: Path) -> None:
    for read, said in ((head_history.stamp, "is no longer here"), (load_snapshot, "missing")):
        with pytest.raises(CheckpointError, match=said):
            read(run, 11)
    before, path = head_history.stamp(run, 10), snapshot_path(run, 10)
    assert head_history.stamp(run, 10) == before
    path.write_bytes(path.read_bytes())
    assert head_history.stamp(run, 10) != before


def test_own_data_is_taken_from_the_run_and_foreign_data_is_not_fetched(tmp_path: Path) -> None:
    run = save_run(tmp_path / "mine")
    pairs = tuple(Example(text, text[::-1]) for text in ("abc", "bcd", "cde"))
    save_splits({"train": pairs, "valid": pairs}, run)
    config = run / "config.json"
    config.write_text(config.read_text().replace('"task": "reverse"', '"task": "files"'))
    sample = validation_sample(load_model(run))
    assert sample.references == ("abc"[::-1], "bcd"[::-1], "cde"[::-1])
    assert head_scores(load_model(run), 0, sample).aligned is None
    (run / "data.jsonl").unlink()
    config.write_text(config.read_text().replace('"task": "files"', '"task": "multi30k-en-de"'))
    assert validation_sample(load_model(run)) is None


def test_the_first_head_is_the_best_aligned_or_else_the_most_focused() -> None:
    def scores(step: int, entropy: float, aligned: float | None) -> HeadScores:
        entropies = {kind: np.array([[0.9, entropy], [0.8, 0.7]]) for kind in ATTENTION_KINDS}
        return HeadScores(step, entropies, None if aligned is None else np.array([[0.1, 0.2], [aligned, 0.3]]), 4)

    history = [scores(0, 0.1, 0.0), scores(10, 0.6, 0.9)]
    assert first_head(history, "cross") == (2, 1)
    assert first_head(history, "encoder") == (1, 2)
    assert head_history.score_names(history, "cross") == ("aligned", "normalised_entropy")
    for known, kind in ((history, "decoder"), ([scores(0, 0.1, None)], "cross")):
        assert head_history.score_names(known, kind) == ("normalised_entropy",)
    by_step = head_history.scores_by_step(history, "cross", "aligned")
    assert {step: values[1, 0] for step, values in by_step.items()} == {0: 0.0, 10: 0.9}
    assert head_history.scores_by_step(history, "encoder", "normalised_entropy")[10][0, 1] == 0.6
    assert "over 1 validation sentence with known alignment" in head_history.score_caption("aligned", 1)
    assert "over 2 validation sentences, without" in head_history.score_caption("normalised_entropy", 2)
