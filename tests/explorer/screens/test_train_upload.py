"""Uploaded files: where they are stored, and under which name."""

import os
import time
from pathlib import Path

from explorer.runs.uploads import MAX_AGE_SECONDS, store
from model.folder import STATUS, write_json


def test_old_uploads_go_unless_a_run_added_them_to_its_training(tmp_path: Path) -> None:
    old, added = store("old.tsv", b"old", tmp_path), store("added.tsv", b"added", tmp_path)
    (run := tmp_path / "run").mkdir()
    write_json(run / STATUS, {"state": "stopped", "added_data": [str(added)]})
    (odd := tmp_path / "odd").mkdir()
    write_json(odd / STATUS, {"added_data": 3})
    (damaged := tmp_path / "damaged").mkdir()
    (damaged / STATUS).write_text("{", encoding="utf-8")
    past = time.time() - MAX_AGE_SECONDS - 60
    for upload in (old, added):
        os.utime(upload.parent, (past, past))
    store("new.tsv", b"new", tmp_path)
    assert not old.exists()
    assert added.read_bytes() == b"added"
    (run / STATUS).unlink()
    assert store("added.tsv", b"added", tmp_path) == added
    store("newer.tsv", b"newer", tmp_path)
    assert added.exists(), "it was sent again a moment ago"
    os.utime(added.parent, (past, past))
    store("newest.tsv", b"newest", tmp_path)
    assert not added.exists()
