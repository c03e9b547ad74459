"""`from headlight import show` of an installed Headlight, beside a user's own `model.py` and `explorer`."""

import shutil
import subprocess
import sys
from pathlib import Path

from tests.paths import ROOT

PROGRAM = """
import numpy as np
import explorer, model
from headlight import AttentionError, show
for source in (["a", "b"], ["a"]):
    try:
        print(show(encoder=np.full((1, 1, 2, 2), 0.5), source=source))
    except AttentionError as unfit:
        print(unfit)
import explorer as again, model.part
assert again is explorer and model.part.mine and show.__name__ == "show" and "Hugging Face" in show.__doc__
print(model.mine, explorer.mine)
"""


def test_show_leaves_the_modules_of_a_notebook_alone(tmp_path: Path) -> None:
    package = tmp_path / "site" / "headlight"
    shutil.copytree(ROOT / "explorer" / "launch" / "installed", package)
    app = package / "_app"
    app.mkdir()
    ignore = shutil.ignore_patterns("results", "data", "images", "__pycache__")
    for name in ("explorer", "model", ".streamlit"):
        shutil.copytree(ROOT / name, app / name, ignore=ignore)
    work = tmp_path / "work"
    for name in ("model", "explorer"):
        (work / name).mkdir(parents=True)
        (work / name / "__init__.py").write_text(f"mine = '{name} of a user'", encoding="utf-8")
    (work / "model" / "part.py").write_text("mine = True", encoding="utf-8")
    script = work / "notebook.py"
    script.write_text(PROGRAM, encoding="utf-8")
    ran = subprocess.run(
        [sys.executable, str(script)],
        env={"PYTHONPATH": str(package.parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    lines = ran.stdout.splitlines()
    assert lines[0].startswith("Page(")
    assert lines[1:] == [
        "encoder has 2 keys, but source has 1 token, and the rest is no padding: it has weights.",
        "model of a user explorer of a user",
    ]
