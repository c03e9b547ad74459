"""The wheel in fresh environments: beside the libraries of development, the lowest versions, and an older numpy alone.

Environments borrow libraries that are installed elsewhere, so this does not show that pip finds them all: .ci/run
installs them from the same list.
"""

import json
import os
import re
import signal
import subprocess
import sys
import time
import tomllib
import zipfile
from pathlib import Path

import psutil
import pytest
from playwright.sync_api import Page, expect

from explorer.runs.lifecycle import Runs
from model.folder import SHIPPED
from tests.browser import TIMEOUT_MS, free_port
from tests.paths import ROOT

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has neither these signals nor these folders")

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
TOP = ("headlight", f"headlight-{PROJECT['version']}.dist-info")
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet")
LOWEST = "HEADLIGHT_LOWEST_PYTHON"  # has the lowest versions of pyproject.toml (docs/contributing.md)
NOT_OURS = "raise SystemExit('a module of the user is imported in place of ours')"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from this checkout, with the build tools of this environment."""
    folder = tmp_path_factory.mktemp("wheel")
    build = ["wheel", "--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", str(folder), str(ROOT)]
    subprocess.run([*PIP, *build], check=True, capture_output=True)
    (made,) = folder.glob("*.whl")
    return made


def project_files(*folders: str) -> set[str]:
    """The files that a clone has, or will have: what git does not ignore."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *folders]
    told = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return {name for name in told.stdout.strip("\0").split("\0") if (ROOT / name).exists()}


def test_the_wheel_has_everything_and_takes_no_names(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names} == set(TOP)
    inside = {name.removeprefix("headlight/_app/") for name in names if name.startswith("headlight/_app/")}
    assert {name.split("/")[1] for name in inside if name.startswith("checkpoints/")} == set(SHIPPED)
    if not (ROOT / ".git").exists():
        pytest.skip("without git, it is not known which files belong to the project")
    wanted = project_files("app.py", "pages", "explorer", "model", "checkpoints", ".streamlit")
    assert inside == {name for name in wanted if not name.startswith("explorer/launch/installed/")}


def environment_with(wheel: Path, folder: Path, python: str = sys.executable, *, borrow: bool = False) -> Path:
    """A virtual environment of this Python with the wheel, and the libraries of this Python or none."""
    subprocess.run([python, "-m", "venv", "--without-pip", str(folder)], check=True)
    install = ["--python", str(folder), "install", "--no-deps", "--no-index", "--no-compile", str(wheel)]
    subprocess.run([*PIP, *install], check=True)
    if borrow:
        where = [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
        libraries = subprocess.run(where, check=True, capture_output=True, text=True).stdout
        (packages_of(folder) / "borrowed.pth").write_text(libraries, encoding="utf-8")
    return folder


def packages_of(folder: Path) -> Path:
    (packages,) = folder.glob("lib/python*/site-packages")
    return packages


def lower_bound(library: str) -> str:
    (bound,) = re.findall(rf"{library}>=([\d.]+)", " ".join(PROJECT["dependencies"]))
    return str(bound)


SHOW = """
import sys
import headlight
before = set(sys.modules)
assert not {"numpy", "explorer", "model"} & before, "nothing is imported before it is asked for"
import numpy as np
page = headlight.show(cross=np.full((1, 1, 2, 2), 0.5), source=["a", "b"], target=["c", "d"])
page.save("page.html")
print(np.__version__)
"""


def run_in(folder: Path, *command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    path = str(folder / "bin" / command[0])
    return subprocess.run([path, *command[1:]], cwd=cwd, capture_output=True, text=True, check=False)


def check_show_and_help(folder: Path, working: Path) -> None:
    """In an environment with the lowest numpy, `show` saves a page, and `headlight` tells what it can do."""
    shown = run_in(folder, "python", "-c", SHOW, cwd=working)
    assert shown.stdout.startswith(f"{lower_bound('numpy')}."), shown.stderr
    assert "</html>" in (working / "page.html").read_text(encoding="utf-8")
    assert run_in(folder, "headlight", "--version", cwd=working).stdout == f"headlight {PROJECT['version']}\n"
    assert "\n  train " in run_in(folder, "headlight", "--help", cwd=working).stdout


@pytest.mark.nightly
def test_an_older_numpy_alone_is_enough_for_show_and_the_help(wheel: Path, tmp_path: Path) -> None:
    """What `pip install --no-deps` gives beside somebody's own, older numpy."""
    folder, bound = environment_with(wheel, tmp_path / "venv"), lower_bound("numpy")
    older = ["--python", str(folder), "install", "--only-binary", ":all:", "--retries", "0", f"numpy=={bound}.*"]
    if subprocess.run([*PIP, *older], check=False, capture_output=True).returncode:
        pytest.skip(f"no wheel of numpy {bound} can be had here")
    check_show_and_help(folder, tmp_path)
    alone = run_in(folder, "headlight", cwd=tmp_path)
    assert (alone.returncode, alone.stderr.count("\n")) == (2, 1)
    assert alone.stderr.startswith("Headlight needs the library '")


def test_the_lowest_versions_are_enough_for_show_and_a_translation(wheel: Path, tmp_path: Path) -> None:
    """Beside somebody's own torch and numpy, the oldest that pyproject.toml allows."""
    if not (python := os.environ.get(LOWEST)):
        pytest.skip(f"{LOWEST} names no Python that has the lowest versions of pyproject.toml")
    folder = environment_with(wheel, tmp_path / "venv", python, borrow=True)
    version = run_in(folder, "python", "-c", "import torch; print(torch.__version__)", cwd=tmp_path)
    assert version.stdout.startswith(f"{lower_bound('torch')}."), version.stderr
    check_show_and_help(folder, tmp_path)
    translated = run_in(folder, "headlight", "translate", "--model", "reverse", "attention", cwd=tmp_path)
    assert translated.stdout == "noitnetta\n", translated.stderr


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment with the wheel, the libraries of this one, and modules of the user under our names."""
    folder = environment_with(wheel, tmp_path_factory.mktemp("fresh") / "venv", borrow=True)
    for name in ("model.py", "explorer.py", "pages.py", "app.py"):
        (packages_of(folder) / name).write_text(NOT_OURS, encoding="utf-8")
    return folder


def test_it_translates_beside_modules_of_the_user(environment: Path, tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(NOT_OURS, encoding="utf-8")
    translated = run_in(environment, "headlight", "translate", "--model", "reverse", "attention", cwd=tmp_path)
    assert translated.stdout == "noitnetta\n", translated.stderr


@pytest.mark.nightly
def test_the_notebook_of_tables_runs_with_the_wheel(environment: Path, tmp_path: Path) -> None:
    """Beside modules of the user under our names, with the installed package and nothing of this checkout."""
    cells = json.loads((ROOT / "explorer" / "files" / "probing.ipynb").read_text(encoding="utf-8"))["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    script = tmp_path / "notebook.py"
    script.write_text("\n".join([*code, "print(len(table), len(without), len(carried))"]), encoding="utf-8")
    ran = run_in(environment, "python", str(script), cwd=tmp_path)
    rows, heads, patches = map(int, ran.stdout.split() or (0, 0, 0))
    assert (heads, patches) == (24, 9 + 6 + 24), ran.stderr
    assert rows > 10 * heads


@pytest.mark.nightly
def test_translate_and_train_with_the_wheel(environment: Path, page: Page, tmp_path: Path) -> None:
    working = tmp_path / "working"
    working.mkdir()
    (tmp_path / "runtime").mkdir(mode=0o700)
    (working / "model.py").write_text(NOT_OURS, encoding="utf-8")
    variables = {"XDG_DATA_HOME": str(tmp_path / "data"), "XDG_RUNTIME_DIR": str(tmp_path / "runtime")}
    clean = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "HEADLIGHT_CHECKPOINTS")}
    port = free_port()
    process = subprocess.Popen(
        [str(environment / "bin" / "headlight"), "--no-open", "--port", str(port), "--model", "reverse"],
        cwd=working,
        env=clean | variables | {"OMP_NUM_THREADS": "1"},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    runs = Runs(tmp_path / "data" / "headlight" / "checkpoints")
    try:
        assert process.stdout is not None
        assert [process.stdout.readline() for _ in range(2)] == [
            "Starting Headlight …\n",
            f"Headlight is at http://localhost:{port}/?model=reverse (Ctrl-C ends it)\n",
        ]
        page.goto(f"http://localhost:{port}/?model=reverse&text=attention")
        expect(page.get_by_role("heading", name="noitnetta")).to_be_visible()
        page.goto(f"http://localhost:{port}/train")
        page.get_by_text("The command", exact=True).click()
        expect(page.locator("code", has_text="headlight train --task")).to_be_visible()
        page.get_by_role("button", name="Start training").click()
        expect(page.get_by_text("running", exact=True)).to_be_visible()
        (run,) = [status for status in runs.statuses() if status.busy]
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=60)
        assert f"Headlight has ended. Training goes on without it: {run.name} (step" in output
        status = runs.status(run.name)
        assert status is not None
        assert status.state == "running"
        end = time.monotonic() + TIMEOUT_MS / 1000
        while (status := runs.status(run.name)) is None or status.busy:
            assert time.monotonic() < end, "the training does not stop"
            if status is not None and status.step > 0:
                runs.stop(run.name)
            time.sleep(0.1)
        assert (status.state, status.error) == ("stopped", "")
        assert status.step > 0
    finally:
        process.kill()
        process.wait()
        for launch in map(runs.launch, {path.name for path in runs.checkpoints.glob("*")}):
            if launch is not None and launch.alive:
                psutil.Process(launch.pid).kill()
    assert {path.name for path in runs.checkpoints.glob("[a-z]*")} == {*SHIPPED, run.name}
    assert sorted(path.name for path in working.iterdir()) == ["model.py"], "nothing is written to the working folder"
