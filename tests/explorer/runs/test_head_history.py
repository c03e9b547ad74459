"""Snapshots applied to a sentence, and the scores of individual heads in them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from explorer.runs import head_history
from explorer.runs.head_history import (
    HeadScores,
    first_head,
    head_scores,
    load_snapshot,
    moment,
    score_caption,
    score_names,
    scores_by_step,
    stamp,
    validation_examples,
)
from model.checkpoint import LoadedModel, load_model, snapshot_path, snapshot_steps
from model.config import ATTENTION_KINDS, EOS
from model.data.files import save_splits
from model.data.task import Example
from model.folder import CheckpointError
from tests.explorer.toy_runs import save_run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_run(tmp_path_factory.mktemp("film") / "mine")


@pytest.fixture(scope="module")
def loaded(run: Path) -> LoadedModel:
    return load_model(run)


def test_normalised_entropy_is_0_for_one_token_and_1_for_all_alike() -> None:
    """Two sentences of 4 and 2 source tokens and 3 and 1 target tokens, padded; causal rows see ever more tokens."""
    lengths = [(4, 3), (2, 1)]
    even = np.zeros((2, 2, 3, 4), dtype=np.float32)
    for sentence, (n_src, n_tgt) in enumerate(lengths):
        even[sentence, 0, :n_tgt, :n_src] = 1 / n_src
        even[sentence, 1, :n_tgt, 0] = 1.0
    np.testing.assert_allclose(head_history._normalised_entropy(even, "cross", lengths), [1.0, 0.0], atol=1e-6)
    causal = np.zeros((2, 2, 3, 3), dtype=np.float32)
    for query in range(3):
        causal[:, 0, query, : query + 1] = 1 / (query + 1)
        causal[:, 1, query, query] = 1.0
    np.testing.assert_allclose(head_history._normalised_entropy(causal, "decoder", lengths), [1.0, 0.0], atol=1e-6)


def test_alignment_is_the_weight_on_the_right_tokens() -> None:
    examples = [Example("ab", "ba", ((1,), (0,))), Example("aab", "xb", ((), (0, 2)))]
    weights = np.zeros((2, 2, 3, 4), dtype=np.float32)
    weights[0, 0, 0, 1] = weights[0, 0, 1, 0] = 1.0  # head 0 is right in both rows of the first sentence
    weights[0, 1, :, 3] = 1.0
    weights[1, 0, 1, 0], weights[1, 0, 1, 2] = 0.25, 0.5
    weights[1, 1, :, 1] = 1.0
    np.testing.assert_allclose(head_history._aligned(weights, examples), [(1 + 1 + 0.75) / 3, 0.0])


@pytest.mark.parametrize(
    ("alignment", "fits"),
    [(((1,), (0,)), True), (((0,),), False), (((0,), (2,)), False), (((), ()), True), (None, False)],
)
def test_an_alignment_of_other_tokens_is_not_used(alignment: tuple[tuple[int, ...], ...] | None, fits: bool) -> None:
    assert head_history._fits(Example("ab", "ba", alignment), [4, 5], [5, 4]) is fits


def test_scores_of_every_head_at_a_snapshot(run: Path, loaded: LoadedModel) -> None:
    examples = validation_examples(loaded)
    assert 0 < len(examples) <= head_history.SENTENCES
    scores = head_scores(load_snapshot(run, 10), 10, examples)
    config = loaded.model_config
    assert scores.normalised_entropy["encoder"].shape == (config.n_encoder_layers, config.n_encoder_heads)
    assert scores.normalised_entropy["decoder"].shape == (config.n_decoder_layers, config.n_decoder_heads)
    assert scores.aligned is not None
    assert scores.aligned.shape == (config.n_decoder_layers, config.n_decoder_heads)
    for values in (*scores.normalised_entropy.values(), scores.aligned):
        assert np.all((values >= 0) & (values <= 1 + 1e-6))


def test_batching_changes_no_score(run: Path, loaded: LoadedModel) -> None:
    """Sentences of different lengths are padded; the result is the mean over single sentences, weighted by rows."""
    examples = validation_examples(loaded)[:6]
    together = head_scores(loaded, 0, examples)
    alone = [head_scores(loaded, 0, [example]) for example in examples]
    weights = [len(example.target) for example in examples]
    assert together.aligned is not None
    expected = sum(w * one.aligned for w, one in zip(weights, alone, strict=True) if one.aligned is not None) / sum(
        weights
    )
    np.testing.assert_allclose(together.aligned, expected, atol=1e-6)


def test_all_moments_share_rows_and_have_answers_of_their_own(run: Path, loaded: LoadedModel) -> None:
    path = (*loaded.target.encode("cba").ids, EOS)
    found = [moment(load_snapshot(run, step), step, "abc", path) for step in snapshot_steps(run)]
    assert [each.step for each in found] == [0, 10, 30]
    assert {each.trace.predicted_tokens for each in found} == {("c", "b", "a", "<eos>")}
    assert np.abs(found[0].trace.cross - found[-1].trace.cross).max() > 1e-4
    np.testing.assert_allclose(found[-1].trace.cross.sum(axis=-1), 1.0, atol=1e-5)


def test_a_stamp_changes_with_its_snapshot(run: Path) -> None:
    with pytest.raises(CheckpointError, match="is no longer here"):
        stamp(run, 11)
    before = stamp(run, 10)
    assert stamp(run, 10) == before
    path = snapshot_path(run, 10)
    path.write_bytes(path.read_bytes())
    assert stamp(run, 10) != before


def test_a_snapshot_that_is_gone_gets_a_message(run: Path) -> None:
    with pytest.raises(CheckpointError, match="missing"):
        load_snapshot(run, 11)


def test_own_data_is_taken_from_the_run_and_foreign_data_is_not_fetched(tmp_path: Path) -> None:
    run = save_run(tmp_path / "mine")
    pairs = tuple(Example(text, text[::-1]) for text in ("abc", "bcd", "cde"))
    save_splits({"train": pairs, "valid": pairs}, run)
    config = run / "config.json"
    config.write_text(config.read_text().replace('"task": "reverse"', '"task": "files"'))
    examples = validation_examples(load_model(run))
    assert [example.source for example in examples] == ["abc", "bcd", "cde"]
    assert head_scores(load_model(run), 0, examples).aligned is None
    (run / "data.jsonl").unlink()
    config.write_text(config.read_text().replace('"task": "files"', '"task": "multi30k-en-de"'))
    assert validation_examples(load_model(run)) == []


def test_the_first_head_is_the_best_aligned_or_else_the_most_focused() -> None:
    def scores(step: int, entropy: float, aligned: float | None) -> HeadScores:
        entropies = {kind: np.array([[0.9, entropy], [0.8, 0.7]]) for kind in ATTENTION_KINDS}
        return HeadScores(step, entropies, None if aligned is None else np.array([[0.1, 0.2], [aligned, 0.3]]), 4)

    history = [scores(0, 0.1, 0.0), scores(10, 0.6, 0.9)]
    assert first_head(history, "cross") == (2, 1)
    assert first_head(history, "encoder") == (1, 2)
    assert score_names(history, "cross") == ("aligned", "normalised_entropy")
    assert score_names(history, "decoder") == score_names([scores(0, 0.1, None)], "cross") == ("normalised_entropy",)
    by_step = scores_by_step(history, "cross", "aligned")
    assert {step: values[1, 0] for step, values in by_step.items()} == {0: 0.0, 10: 0.9}
    assert scores_by_step(history, "encoder", "normalised_entropy")[10][0, 1] == 0.6
    assert "over 1 validation sentence with known alignment" in score_caption("aligned", 1)
    assert "over 2 validation sentences, without" in score_caption("normalised_entropy", 2)
