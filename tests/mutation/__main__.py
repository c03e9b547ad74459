"""Mutation of the model's core: the share of small changes to its code that its tests notice. A nightly command.

    python -m pip install -r tests/mutation/requirements.txt
    python -m tests.mutation                # everything: half an hour on a busy machine
    python -m tests.mutation "model.loss*"  # what matches a pattern

mutmut changes one operator, number, name or argument at a time in `model/attention.py`, `layers.py`, `transformer.py`
and `loss.py`, and runs the tests that reach the changed function until one of them fails. The files and tests are named
under `[tool.mutmut]` in pyproject.toml. It needs `fork`, so Linux or macOS. It works in a copy, in the folder
`mutants/`, and continues there when it is started again.

Printed are the score and each change that no test noticed. The exit code is 1 if the score is below LEAST. Some changes
cannot be noticed, such as a device that is left out on a machine with one device alone: the score is never 100 %.
"""

import subprocess
import sys
from collections import Counter

from tests.paths import ROOT

LEAST = 0.9
NOTICED = ("killed", "timeout", "segfault")


def mutmut(*arguments: str) -> str:
    """What a command of mutmut prints."""
    command = [sys.executable, "-m", "mutmut", *arguments]
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


def main(patterns: list[str]) -> int:
    """Run mutmut on one process, and report; the exit code."""
    subprocess.run([sys.executable, "-m", "mutmut", "run", "--max-children", "1", *patterns], cwd=ROOT, check=True)
    outcomes = dict(line.strip().split(": ") for line in mutmut("results", "--all", "true").splitlines())
    tried = {name: outcome for name, outcome in outcomes.items() if outcome != "not checked"}
    for name in (name for name, outcome in tried.items() if outcome not in NOTICED):
        print(mutmut("show", name))
    noticed = sum(outcome in NOTICED for outcome in tried.values())
    score = noticed / max(1, len(tried))
    print(f"{noticed} of {len(tried)} changes were noticed, {score:.1%}: {dict(Counter(tried.values()))}")
    return 0 if score >= LEAST else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
