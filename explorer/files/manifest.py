"""Write and read a view as a small JSON file: model, sentence, path, place, and the versions that drew it."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import platform
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlencode

from msgspec import Meta, Struct, field

from explorer.decoding.selection import Selection, from_query, to_query
from explorer.locale.messages import t
from model.file_formats import FormatError, checked, decode
from model.user_error import UserError

MANIFEST_VERSION = 1
MAX_BYTES = 1_000_000
PACKAGES = ("numpy", "torch", "streamlit", "matplotlib", "spacy")


class ManifestError(UserError):
    """The file does not describe a view; the message says what is wrong with it."""


class ManifestModel(Struct):
    """The model of a view: its name, and the SHA-256 of its weights if they could be read."""

    name: str
    sha256: Annotated[str, Meta(max_length=64)] = ""


class ManifestFile(Struct):
    """The entries of a manifest that are read; all others describe the view for people.

    `selection` are the parameters of a link; `target_ids` are those on screen, even if the model chose them itself.
    """

    manifest_version: Literal[1]
    model: ManifestModel
    text: str
    target_ids: list[Annotated[int, Meta(ge=0, lt=10**7)]] = field(default_factory=list)
    selection: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Manifest:
    """A view that can be opened again.

    `selection` is the view as in the address; `model_hash` the SHA-256 of the weights. `problems` are sentences about
    entries that could not be used.
    """

    selection: Selection
    model_hash: str = ""
    problems: tuple[str, ...] = ()


def manifest_text(
    selection: Selection, *, path: tuple[int, ...], translation: str, edits: tuple[str, ...], model_hash: str
) -> str:
    """Write the manifest of the view on screen, as indented JSON in ASCII."""
    values = {
        "manifest_version": MANIFEST_VERSION,
        "page": "attention",
        "model": {"name": selection.model, "sha256": model_hash},
        "text": selection.text,
        "translation": translation,
        "target_ids": list(path),
        "edits": list(edits),
        "selection": to_query(dataclasses.replace(selection, model="", text="")),
        "link": link(selection),
        "versions": {"python": platform.python_version(), **_versions()},
    }
    return json.dumps(values, indent=2)


def link(selection: Selection) -> str:
    """The last part of the view's address, "attention?model=…"; without the sentence if that is too long."""
    return f"attention?{urlencode(to_query(selection))}"


@lru_cache(maxsize=1)
def _versions() -> dict[str, str]:
    versions = {}
    for name in PACKAGES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            versions[name] = "missing"
    return versions


def read_manifest(content: bytes) -> Manifest:
    """Read an untrusted manifest.

    Raises:
        ManifestError: it is not a manifest, or has an unknown version.
    """
    if len(content) > MAX_BYTES:
        raise ManifestError("A manifest is a small file; this one has {content:,} bytes.", content=len(content))
    try:
        values = decode(content)
    except FormatError as error:
        raise ManifestError("This file is not a manifest: it {error}", error=error) from None
    if not isinstance(values, dict) or "manifest_version" not in values:
        raise ManifestError("This file is not a manifest: it has no manifest_version.")
    if values["manifest_version"] != MANIFEST_VERSION:
        raise ManifestError(
            "This manifest does not have version {manifest_version}, the only one that can be read.",
            manifest_version=MANIFEST_VERSION,
        )
    try:
        file, dropped = checked(values, ManifestFile, optional=("target_ids", "selection"))
    except FormatError as error:
        raise ManifestError("This manifest {error}", error=error) from None
    selection, problems = from_query({k: v for k, v in file.selection.items() if k not in ("model", "text")})
    problems += [t("A part of the manifest is ignored, because it {reason}", reason=reason) for reason in dropped]
    return Manifest(
        selection=dataclasses.replace(selection, model=file.model.name, text=file.text),
        model_hash=file.model.sha256,
        problems=tuple(problems),
    )


def model_hash(folder: Path) -> str:
    """SHA-256 of a model's weights; empty if they cannot be read."""
    path = folder / "model.safetensors"
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""
