"""The project's folder, for tests and benchmarks that read its files."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CHECKPOINTS = ROOT / "checkpoints"
