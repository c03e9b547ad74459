"""A model folder as one zip file: export, and import that trusts nothing in the file.

Only files that belong to a model folder are unpacked, by name; they are written to a hidden folder beside the models,
loaded once to check that they fit together, and then renamed. A zip file of a translator from elsewhere, or its folder
on this server, is rewritten as a model folder on the way (:mod:`model.importing`).
"""

from __future__ import annotations

import json
import re
import secrets
import shutil
import tempfile
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from explorer.runs.notes import read_note
from explorer.runs.viewer_mode import REASON, viewing
from explorer.runs.zip_reading import (
    ArchiveError,
    Members,
    check_entry,
    check_kind_and_size,
    check_total,
    members_of,
    readable,
    unpack,
)
from model.data.files import DATA_FILE
from model.file_formats import Status
from model.folder import (
    CARD,
    CONFIG,
    METRICS,
    NOTE,
    SNAPSHOTS,
    STATE,
    STATUS,
    TOKENIZER,
    WEIGHTS,
    CheckpointError,
    check_name,
    checked,
    modified,
    read_json,
    replace_file,
    tensor_shapes,
)

__all__ = ["ArchiveError", "export", "import_translator", "import_zip"]

_HOLDER, _LEFTOVER_SECONDS = ".import-", 6 * 3600
_REQUIRED = (CONFIG, TOKENIZER, WEIGHTS)
_KNOWN = (*_REQUIRED, CARD, METRICS, STATUS, NOTE, DATA_FILE)
_SNAPSHOT = re.compile(rf"{SNAPSHOTS}/step-\d{{8,12}}\.safetensors")
_STATE = re.compile(rf"{STATE}/(state\.json|(step|recent)-\d{{8,12}}\.safetensors)")


def export(folder: Path, *, resumable: bool = False) -> Path:
    """Write the folder as a zip file in the system's temporary folder and return its path; the caller deletes it.

    `resumable` adds what a stopped run needs to continue elsewhere, three times the size of the weights.
    """
    files = [folder / name for name in _KNOWN] + sorted((folder / SNAPSHOTS).glob("*"))
    files += sorted((folder / STATE).glob("*")) if resumable else []
    with (
        tempfile.NamedTemporaryFile(prefix="headlight-", suffix=".zip", delete=False) as made,
        zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
    ):
        for path in files:
            name = path.relative_to(folder).as_posix()
            if path.is_file() and not path.is_symlink() and _is_known(name):
                archive.write(path, f"{folder.name}/{name}")
    return Path(made.name)


def _is_known(name: str) -> bool:
    return name in _KNOWN or bool(_SNAPSHOT.fullmatch(name) or _STATE.fullmatch(name))


def import_zip(file: IO[bytes], checkpoints: Path, name: str = "") -> str:
    """Unpack a zip file as a new model and return its name: `name`, or the name in the zip file.

    The file holds an exported model, or a translator as Hugging Face `transformers` stores it.

    Raises:
        ArchiveError: it is not a zip file, contains anything that no model folder has (paths that lead out of it,
            links, pickles, unknown files), is too large or too strongly compressed, there is already a model of this
            name, or this server is for looking only.
        CheckpointError, and the errors of :mod:`model.importing`: the name is not allowed, or the files do not form a
            model.
    """
    _refuse_viewers()
    with readable():
        archive = zipfile.ZipFile(file)
    with archive:
        wanted, members = members_of(archive)
        wanted = wanted or name or _name_of(file)
        foreign = _is_translator(members)
        chosen = _translator_members(members) if foreign else _model_members(members)
        with _holder(checkpoints, name or wanted) as (building, target):
            inside = building.parent / "theirs" / (wanted or target.name) if foreign else building
            inside.mkdir(parents=True)
            unpack(archive, chosen, inside)
            if foreign:
                _rewrite(inside, building)
            else:
                _check(building)
            replace_file(building, target)
    return target.name


def _name_of(file: IO[bytes]) -> str:
    """The name of a zip file without its ending, for a model that lies in it without a folder.

    Raises:
        ArchiveError: it cannot name a model.
    """
    name = Path(str(getattr(file, "name", ""))).stem
    try:
        return check_name(name)
    except CheckpointError:
        raise ArchiveError("The zip file holds no folder that would name the model; type a name for it.") from None


def import_translator(folder: Path, checkpoints: Path, name: str = "") -> str:
    """Import a translator from a folder on this server and return its name: `name`, or that of the folder.

    Raises:
        ArchiveError: there is already a model of this name, or this server is for looking only.
        ImportFailed: the folder holds no translator. Whatever else may be there, or not, gets the same sentence:
            visitors of a server are told nothing of its other folders.
        CheckpointError, and the errors of :mod:`model.importing`: the name is not allowed, or the translator cannot be
            imported.
    """
    _refuse_viewers()
    from model.importing.import_folder import holds_translator
    from model.importing.source_folder import ImportFailed

    if not holds_translator(folder):
        raise ImportFailed(
            "There is no translator to import at this path: give its folder, with config.json and weights."
        )
    with _holder(checkpoints, name or folder.name) as (building, target):
        _rewrite(folder, building)
        replace_file(building, target)
    return target.name


def _refuse_viewers() -> None:
    if viewing():
        raise ArchiveError(f"Nothing can be imported: {REASON}.")


def _rewrite(theirs: Path, ours: Path) -> None:
    from model.importing.import_folder import import_folder  # imports torch, which the page needs only now

    import_folder(theirs, ours)


@contextmanager
def _holder(checkpoints: Path, name: str) -> Iterator[tuple[Path, Path]]:
    """Where a model is put together, in a hidden folder that is deleted afterwards, and where it goes.

    Raises:
        ArchiveError: there is already a model of this name. CheckpointError: the name is not allowed.
    """
    target = checkpoints / check_name(name)
    if target.exists():
        raise ArchiveError(f"There is already a model '{target.name}'; choose another name.")
    checkpoints.mkdir(parents=True, exist_ok=True)
    _delete_leftovers(checkpoints)
    holder = checkpoints / f"{_HOLDER}{secrets.token_hex(8)}"
    holder.mkdir()
    try:
        yield holder / target.name, target
    finally:
        shutil.rmtree(holder, ignore_errors=True)


def _delete_leftovers(checkpoints: Path) -> None:
    """Delete the hidden folders of imports whose server was killed; no import takes hours."""
    for folder in checkpoints.glob(f"{_HOLDER}*"):
        if time.time() - modified(folder) > _LEFTOVER_SECONDS:
            shutil.rmtree(folder, ignore_errors=True)


def _is_translator(members: Members) -> bool:
    """Whether a zip file holds a translator from elsewhere: it has a vocabulary that our folders do not have."""
    return bool({"vocab.json", "merges.txt", "source.spm", "tokenizer_config.json"} & members.keys())


def _translator_members(members: Members) -> Members:
    """The files of a translator that the import reads; what else a downloaded folder has stays in the zip file."""
    from model.importing.source_folder import CONVERT, FILES, PICKLED

    for name, entry in members.items():
        check_kind_and_size(entry, name, opened=name in FILES)
    if WEIGHTS not in members and PICKLED in members:
        raise ArchiveError(
            f"The zip file contains {PICKLED}, a pickle, which could run code; only {WEIGHTS} is read. Convert it on a "
            f"machine that has transformers: {CONVERT}"
        )
    chosen = {name: entry for name, entry in members.items() if name in FILES}
    check_total(chosen)
    return chosen


def _model_members(members: Members) -> Members:
    """The files of an exported model; refuses everything unexpected."""
    for name, entry in members.items():
        check_entry(entry, name, known=_is_known(name))
    for needed in _REQUIRED:
        if needed not in members:
            raise ArchiveError(f"The zip file contains no {needed}, so it is not an exported model.")
    check_total(members)
    return members


def _check(folder: Path) -> None:
    """Load the model once, check the shapes of its snapshots, and reduce status.json to what is true here.

    Raises:
        CheckpointError: the files do not form a model.
    """
    from model.checkpoint import load_model

    load_model(folder)
    shapes = tensor_shapes(folder / WEIGHTS)
    for path in sorted((folder / SNAPSHOTS).glob("*")):
        if tensor_shapes(path) != shapes:
            raise CheckpointError(f"{SNAPSHOTS}/{path.name} does not have the model's shapes.")
    for path in sorted((folder / STATE).glob("*.safetensors")):
        tensor_shapes(path)
    read_note(folder)
    _settle_status(folder)


def _settle_status(folder: Path) -> None:
    """No process is training an imported run; without its saved state it is a model that cannot be resumed."""
    path = folder / STATUS
    if not path.is_file():
        return
    values = checked(path, read_json(path), Status)
    state = values.get("state")
    if state != "finished" and not (folder / STATE / "state.json").is_file():
        path.unlink()
        return
    progress = {key: values[key] for key in ("step", "max_steps", "epoch") if isinstance(values.get(key), int)}
    settled = progress | {"state": "finished" if state == "finished" else "stopped", "pid": None, "error": None}
    path.write_text(json.dumps(settled), encoding="utf-8")
