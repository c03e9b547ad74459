"""A model as a zip file: exported and imported again, and what an import refuses."""

import io
import json
import random
import re
import stat
import zipfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import pytest

from explorer.runs import archive as run_archive
from explorer.runs.archive import ArchiveError, export, import_zip
from model.checkpoint import load_model, snapshot_steps
from model.folder import CONFIG, METRICS, SNAPSHOTS, STATE, STATUS, TOKENIZER, WEIGHTS, CheckpointError
from tests.explorer.toy_runs import save_run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = save_run(tmp_path_factory.mktemp("from") / "mine")
    (folder / "stop").touch()
    (folder / STATE).mkdir()
    (folder / STATE / "state.json").write_text("{}")
    (folder / "notes.txt").write_text("private")
    return folder


@pytest.fixture(scope="module")
def files(run: Path) -> dict[str, bytes]:
    """The smallest set of files that is a model."""
    return {f"mine/{name}": (run / name).read_bytes() for name in (CONFIG, TOKENIZER, WEIGHTS)}


def packed(files: Mapping[str, bytes]) -> io.BytesIO:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    made.seek(0)
    return made


def refused(made: io.BytesIO, checkpoints: Path, name: str = "") -> str:
    """The message of the refusal; checks that nothing is left behind."""
    with pytest.raises((ArchiveError, CheckpointError)) as caught:
        import_zip(made, checkpoints, name)
    assert not checkpoints.exists() or not list(checkpoints.iterdir())
    return str(caught.value)


def with_link(files: Mapping[str, bytes], mode: int) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, content in files.items():
            info = zipfile.ZipInfo(name)
            if name.endswith(TOKENIZER):
                info.external_attr, content = (mode | 0o777) << 16, b"/etc/passwd"
            archive.writestr(info, content)
    return made.getvalue()


def with_the_same_file_twice(files: Mapping[str, bytes]) -> bytes:
    made = packed(files)
    with zipfile.ZipFile(made, "a") as archive:
        archive.writestr(f"mine/{CONFIG}", b"{}")
    return made.getvalue()


def with_password(files: Mapping[str, bytes]) -> bytes:
    raw = bytearray(packed(files).getvalue())
    for sign, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        for found in re.finditer(re.escape(sign), bytes(raw)):
            raw[found.start() + flags] |= 1  # encrypted
    return bytes(raw)


def with_a_wrong_size(files: Mapping[str, bytes]) -> bytes:
    content = json.dumps({"x": "y" * 5000}).encode()
    raw, true = packed({**files, f"mine/{METRICS}": content}).getvalue(), len(content).to_bytes(4, "little")
    assert raw.count(true) >= 2
    return raw.replace(true, (100).to_bytes(4, "little"))


@pytest.mark.parametrize("resumable", [False, True])
def test_out_and_in_again(run: Path, tmp_path: Path, resumable: bool) -> None:
    path = export(run, resumable=resumable)
    content = path.read_bytes()
    path.unlink()
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        names = set(archive.namelist())
    assert {f"mine/{CONFIG}", f"mine/{WEIGHTS}", f"mine/{METRICS}", f"mine/{STATUS}"} <= names
    assert not [name for name in names if "stop" in name or "notes" in name]
    assert import_zip(io.BytesIO(content), tmp_path) == "mine"
    assert import_zip(io.BytesIO(content), tmp_path, "copy") == "copy"
    assert {folder.name for folder in tmp_path.iterdir()} == {"mine", "copy"}
    assert (tmp_path / "mine" / STATE / "state.json").is_file() == resumable
    assert snapshot_steps(tmp_path / "copy") == snapshot_steps(run)
    before, after = load_model(run), load_model(tmp_path / "copy")
    assert all((tensor == after.model.state_dict()[name]).all() for name, tensor in before.model.state_dict().items())


@pytest.mark.parametrize(
    ("state", "with_state", "kept"),
    [
        ("running", False, None),
        ("stopped", False, None),
        ("failed", False, None),
        ("finished", False, "finished"),
        ("running", True, "stopped"),
    ],
)
def test_an_imported_run_is_not_running(
    files: dict[str, bytes], tmp_path: Path, state: str, with_state: bool, kept: str | None
) -> None:
    status = json.dumps({"state": state, "pid": 1, "started": 5.0, "step": 7, "error": "x", "more": "y"}).encode()
    more = {f"mine/{STATE}/state.json": b"{}"} if with_state else {}
    import_zip(packed({**files, **more, f"mine/{STATUS}": status}), tmp_path)
    path = tmp_path / "mine" / STATUS
    found = json.loads(path.read_text()) if path.exists() else None
    assert found == (kept and {"step": 7, "state": kept, "pid": None, "error": None})


SNAPSHOT = f"mine/{SNAPSHOTS}/step-{{:08d}}.safetensors"
OUT = ["mine/../../evil.json", "../evil", "mine/sub/../../../x", "/etc/passwd", "mine//etc/passwd", "C:/windows/x"]
OUT += ["mine/..\\..\\x", "\\\\server\\share"]
FOREIGN = ["mine/run.py", "mine/.bashrc", "mine/sub/config.json", "mine/stop", "other/config.json"]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        *(pytest.param({name: b"x"}, f"(?=.*leads out)(?=.*{re.escape(ascii(name))})", id=name) for name in OUT),
        *(pytest.param({name: b"x"}, "", id=name) for name in FOREIGN),
        *(({name: b"x"}, "pickle") for name in ("mine/weights.pt", "mine/pytorch_model.bin", "mine/state/opt.pkl")),
        ({f"mine/{WEIGHTS}": b"\x80\x04\x95xxxxxxxxxxxx."}, "pickle"),
        *(
            ({name: b"x"}, f"'{name}' beside the folder 'mine'")
            for name in ("notes.txt", "README.md", "other/notes.txt")
        ),
        ({f"mine/{METRICS}": b"\n" * 30_000_000}, "times as large when unpacked"),
        ({SNAPSHOT.format(step): b"" for step in range(run_archive.MAX_FILES)}, "at most"),
    ],
)
def test_files_that_no_model_has_are_refused(
    files: dict[str, bytes], tmp_path: Path, more: dict[str, bytes], said: str
) -> None:
    assert re.search(said, refused(packed({**files, **more}), tmp_path / "in" / "here"))
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_what_a_model_needs_must_be_there_be_of_one_shape_and_not_too_large(
    files: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for missing in (CONFIG, TOKENIZER, WEIGHTS):
        some = {name: content for name, content in files.items() if not name.endswith(missing)}
        assert f"no {missing}" in refused(packed(some), tmp_path / "x")
    config = json.loads(files[f"mine/{CONFIG}"])
    config["model"]["d_ff"] = 24
    assert "shape" in refused(packed({**files, f"mine/{CONFIG}": json.dumps(config).encode()}), tmp_path / "x")
    other = save_run(tmp_path / "other", "adjective-swap", steps=(0, 5))
    snapshot = (other / SNAPSHOTS / "step-00000000.safetensors").read_bytes()
    assert "shapes" in refused(packed({**files, SNAPSHOT.format(0): snapshot}), tmp_path / "x")
    monkeypatch.setattr(run_archive, "MAX_BYTES", 1000)
    assert "too much" in refused(packed(files), tmp_path / "x")


def test_what_systems_put_into_zip_files_is_left_out(files: dict[str, bytes], tmp_path: Path) -> None:
    litter = ("__MACOSX/mine/._config.json", "mine/.DS_Store", "__MACOSX/._mine", "mine/._model.safetensors")
    assert import_zip(packed({**dict.fromkeys(litter, b"x"), **files}), tmp_path) == "mine"
    assert load_model(tmp_path / "mine").name == "mine"
    assert not [path for path in (tmp_path / "mine").rglob("*") if path.name.startswith("._")]


def test_a_model_without_a_folder_is_named_after_the_zip_file(files: dict[str, bytes], tmp_path: Path) -> None:
    """Finding D37: "'' cannot name a model"."""
    archive = packed({name.removeprefix("mine/"): content for name, content in files.items()})
    nameless = "The zip file has no folder that would name the model; type a name for it."
    assert refused(archive, tmp_path / "x") == nameless
    assert import_zip(archive, tmp_path, "typed") == load_model(tmp_path / "typed").name == "typed"
    for name, expected in (("my-model.zip", "my-model"), ("../evil.zip", "evil")):
        archive.name = name
        assert import_zip(archive, tmp_path) == expected
    archive.name = "what? a name.zip"
    assert "type a name for it" in refused(archive, tmp_path / "x")


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(
    ("made", "said"),
    [
        *((partial(with_link, mode=mode), "a link or a device") for mode in (stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR)),
        (with_the_same_file_twice, "twice"),
        (with_password, "password"),
        (with_a_wrong_size, ""),
    ],
)
def test_odd_zip_files_are_refused(
    files: dict[str, bytes], tmp_path: Path, made: Callable[[Mapping[str, bytes]], bytes], said: str
) -> None:
    assert said in refused(io.BytesIO(made(files)), tmp_path / "x")


def test_a_name_that_is_taken_is_refused(files: dict[str, bytes], tmp_path: Path) -> None:
    import_zip(packed(files), tmp_path)
    with pytest.raises(ArchiveError, match="already"):
        import_zip(packed(files), tmp_path)
    with pytest.raises(CheckpointError, match="cannot name a model"):
        import_zip(packed(files), tmp_path, "../mine")
    assert [folder.name for folder in tmp_path.iterdir()] == ["mine"]


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_damaged_zip_file_gets_a_message_whatever_packed_it(
    files: dict[str, bytes], tmp_path: Path, method: int
) -> None:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(name.replace("mine", "m\xfcne"), content)
    whole, refusals, rng = made.getvalue(), [], random.Random(method)
    for number in range(60):
        torn = bytearray(whole)
        for place in (rng.randrange(len(torn)), rng.randrange(len(torn) - 300, len(torn))):
            torn[place] = rng.randrange(256)
        try:
            import_zip(io.BytesIO(bytes(torn)), tmp_path, f"take-{number}")  # a wrong date is harmless
        except (ArchiveError, CheckpointError) as refusal:
            refusals.append(str(refusal))
    unreadable = [said for said in refusals if said.startswith("This is not a zip file that can be read (")]
    assert len(unreadable) > 20
    assert len(list(tmp_path.iterdir())) == 60 - len(refusals)
    for content in (b"", b"no zip", b"PK\x03\x04" + b"\x00" * 40):
        assert "not a zip file" in refused(io.BytesIO(content), tmp_path / "x")
