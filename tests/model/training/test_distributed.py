"""Two processes arrive at the same weights as one; the command itself runs under torchrun."""

import os
import socket
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
import safetensors.torch
import torch

from model.checkpoint import load_model
from model.folder import METRICS, STATUS, read_json
from model.training.distributed import World
from model.training.runfolder import read_metrics
from tests.forked import Forked
from tests.model import two_processes
from tests.model.engine import SMALL, pairs_file
from tests.paths import ROOT

pytestmark = pytest.mark.slow  # real processes

TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]


def torchrun(*arguments: str) -> None:
    """Run two processes to their end; if they hang, both are ended."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    launcher = subprocess.Popen(
        [*TORCHRUN, *arguments],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        said, _ = launcher.communicate(timeout=240)
    except subprocess.TimeoutExpired:
        launcher.terminate()  # torchrun ends its processes
        said, _ = launcher.communicate(timeout=60)
    assert launcher.returncode == 0, said[-3000:]


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, torch.Tensor]]:
    """The results of each of two processes; they find each other by the variables that torchrun would set."""
    if not hasattr(os, "fork"):
        pytest.skip("the two processes are forked, so that they start at once")
    folder = tmp_path_factory.mktemp("ranks")
    with socket.create_server(("127.0.0.1", 0)) as free:
        common = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free.getsockname()[1])}
    processes = [
        Forked(partial(two_processes.main, folder), folder / f"printed{rank}", environment=common | {"RANK": str(rank)})
        for rank in (0, 1)
    ]
    for process in processes:
        _, err = process.wait(240)
        assert process.code == 0, err[-3000:]
    return [safetensors.torch.load_file(folder / f"rank{rank}.safetensors") for rank in (0, 1)]


def test_two_processes_are_one(shared: list[dict[str, torch.Tensor]]) -> None:
    """float64 weights after 10 updates to 1e-6, fp32 gradients of one update, and the evaluation.

    Updates have four batches, the last of an epoch three: one process has one batch less there.
    """
    updates = two_processes.trainer_for(World(), 4).setup.corpus.updates(0)
    assert len(updates) < two_processes.STEPS
    assert len(updates[-1].shares[0]) == 3
    alone = two_processes.everything(World())
    for result in shared:
        assert result.keys() == alone.keys() | {"stop.questions", "shared.half", "shared.empty"}
        for name, tensor in alone.items():
            rounded = name.startswith(("gradient", "eval.sums", "sums"))  # computed or summed in float32
            tolerance = {"atol": 1e-5, "rtol": 1e-4} if rounded else {"atol": 1e-6, "rtol": 0.0}
            torch.testing.assert_close(result[name], tensor, msg=f"{{}} of {name}".format, **tolerance)
    first, second = shared
    assert all(torch.equal(first[name], second[name]) for name in first if "weights" in name), "to the last bit"


def test_processes_share_tensors_and_stop_at_the_same_batch(shared: list[dict[str, torch.Tensor]]) -> None:
    """Only one process is told to stop during an evaluation, and the numbers of batches differ."""
    for result in shared:
        assert result["shared.half"].dtype == torch.float16
        assert result["shared.half"].tolist() == [[0, 3], [1, 4], [2, 5]]
        assert result["shared.empty"].shape == (0,)
        assert result["stop.questions"].tolist() == [1, 3, 5, 6]


@pytest.mark.nightly
def test_the_command_runs_under_torchrun(tmp_path: Path) -> None:
    settings = [*SMALL, "n_encoder_layers=1", "n_decoder_layers=1", "tokenizer=whitespace", "max_tokens=64"]
    settings += ["max_steps=6", "eval_every=3", "save_every=3", "average_checkpoints=2", "dropout=0.1"]
    command = [*pairs_file(tmp_path), "--checkpoints", str(tmp_path), "--precision", "fp32", "--set", *settings]
    torchrun("-m", "model.train", "--name", "two", *command)
    status = read_json(tmp_path / "two" / STATUS)
    assert (status["state"], status["step"]) == ("finished", 6)
    assert [line["step"] for line in read_metrics(tmp_path / "two" / METRICS)] == [2, 3, 4, 6, 6]
    assert read_json(tmp_path / "two" / "config.json")["runtime"]["processes"] == 2
    assert load_model(tmp_path / "two").summary["trained"]
