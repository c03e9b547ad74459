"""kill -9 at 20 random moments of a run: the rest opens or is not listed, and resuming gives the same weights."""

import os
import random
import signal
import time
from functools import partial
from pathlib import Path

import pytest

from model.checkpoint import load_model
from model.folder import CONFIG, STATUS, TOKENIZER, WEIGHTS, list_models, read_json
from model.training.runfolder import read_metrics
from tests.model.engine import run, string_setup
from tests.model.training.test_resume import assert_same_run
from tests.some import some

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="runs are forked, so that 20 of them take seconds"),
]
KILLS = 20
make = partial(string_setup, snapshots=5, log_every=1, save_every=2, eval_every=3)


def trained_apart(checkpoints: Path, kill_after: float | None) -> bool:
    """Train in a separate process; True if it finished before it was killed."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = 0 if run(checkpoints, make, resume=(checkpoints / "run" / CONFIG).exists()) else 3
        finally:
            os._exit(code)
    if kill_after is not None:
        time.sleep(kill_after)
        os.kill(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, float]:
    """A run without interruptions, and its duration in seconds."""
    folder = tmp_path_factory.mktemp("whole")
    began = time.monotonic()
    assert trained_apart(folder, None)
    return folder / "run", time.monotonic() - began


@pytest.mark.parametrize("number", some(range(KILLS), 5))
def test_killed_at_a_random_moment(tmp_path: Path, whole: tuple[Path, float], number: int) -> None:
    """One kill in each twentieth of a run, so that preparation, training and scoring are all covered."""
    folder, seconds = tmp_path / "run", whole[1]
    moment = (number + random.Random(number).random()) / KILLS * seconds
    trained_apart(tmp_path, moment)
    if not (folder / CONFIG).exists():
        # Killed before there was a run: nothing is listed, and the same command starts it.
        assert list_models(tmp_path) == []
        assert not folder.exists() or not (folder / STATUS).exists()
        return
    if (folder / STATUS).exists():
        assert read_json(folder / STATUS)["state"] in ("queued", "running", "finished")
    else:  # killed between the two: a complete but untrained model
        assert [summary["trained"] for summary in list_models(tmp_path)] == [False]
    for name in (CONFIG, TOKENIZER):
        assert not (folder / name).exists() or read_json(folder / name)
    if (folder / WEIGHTS).exists():
        assert load_model(folder).model is not None
    assert all(line["step"] <= 12 for line in read_metrics(folder / "metrics.jsonl"))
    assert all(summary["name"] == "run" for summary in list_models(tmp_path))
    assert trained_apart(tmp_path, None), "it continues to the end"
    assert_same_run(whole[0], folder)
    assert read_json(folder / STATUS)["state"] == "finished"
