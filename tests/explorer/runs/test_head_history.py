"""Snapshots applied to a sentence."""

from pathlib import Path

import numpy as np
import pytest

from explorer.runs import head_history
from explorer.runs.head_history import moment
from model.checkpoint import LoadedModel, load_model, snapshot_path, snapshot_steps
from model.config import EOS
from model.folder import CheckpointError
from tests.explorer.toy_runs import save_run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_run(tmp_path_factory.mktemp("film") / "mine")


@pytest.fixture(scope="module")
def loaded(run: Path) -> LoadedModel:
    return load_model(run)


def test_all_moments_share_rows_and_have_answers_of_their_own(run: Path, loaded: LoadedModel) -> None:
    path = (*loaded.target.encode("cba").ids, EOS)
    found = [moment(run, step, "abc", path) for step in snapshot_steps(run)]
    assert [each.step for each in found] == [0, 10, 30]
    assert {each.trace.predicted_tokens for each in found} == {("c", "b", "a", "<eos>")}
    assert np.abs(found[0].trace.cross - found[-1].trace.cross).max() > 1e-4
    np.testing.assert_allclose(found[-1].trace.cross.sum(axis=-1), 1.0, atol=1e-5)


def test_a_stamp_changes_with_its_snapshot(run: Path) -> None:
    with pytest.raises(CheckpointError, match="is no longer here"):
        head_history.stamp(run, 11)
    with pytest.raises(CheckpointError, match="missing"):
        moment(run, 11, "abc", ())
    before, path = head_history.stamp(run, 10), snapshot_path(run, 10)
    assert head_history.stamp(run, 10) == before
    path.write_bytes(path.read_bytes())
    assert head_history.stamp(run, 10) != before
