"""Uploaded files: where they are stored, and under which name."""

import os
import time
from pathlib import Path

from explorer.runs.lifecycle import Runs
from explorer.runs.process import LAUNCHES
from explorer.runs.uploads import MAX_AGE_SECONDS, store
from model.folder import STATUS, write_json
from tests.explorer.toy_runs import save_run


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


def test_what_was_uploaded_for_a_run_goes_with_it_unless_another_was_started_with_it(tmp_path: Path) -> None:
    pairs, shared, added = (store(f"{name}.tsv", name.encode(), tmp_path) for name in ("pairs", "shared", "added"))
    mine = tmp_path / "files" / "mine.tsv"
    mine.parent.mkdir()
    mine.write_text("a\tb")
    (tmp_path / LAUNCHES).mkdir()
    for name, files in {"run": (pairs, shared, added, mine), "other": (shared,)}.items():
        save_run(tmp_path / name, steps=())
        words = ["python", "-m", "model.train", *(word for file in files for word in ("--data", str(file)))]
        record = {"pid": 1, "started": 1.0, "arguments": words[:3], "words": words}  # it was resumed since
        write_json(tmp_path / LAUNCHES / f"{name}.json", record)
    write_json(tmp_path / "other" / STATUS, {"state": "stopped", "added_data": [str(added)]})
    runs = Runs(tmp_path)
    runs.rename("run", "renamed")
    assert runs.sharing(["renamed"]) == ["other"]
    assert runs.sharing(["renamed", "other"]) == [], "both go"
    runs.delete("renamed")
    assert [file.exists() for file in (pairs, shared, added, mine)] == [False, True, True, True]
    assert runs.sharing(["other"]) == []
    runs.delete("other")
    assert [file.exists() for file in (shared, mine)] == [False, True]
