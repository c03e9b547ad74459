"""The import of a folder: choose the family, read it, and write an ordinary model folder."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from model.architectures import assign_weights, empty_transformer
from model.checkpoint import save_model
from model.config import TrainConfig
from model.embeddings import count_parameters
from model.folder import CheckpointError, check_name
from model.importing.bart import read_bart
from model.importing.marian import read_marian
from model.importing.source_folder import CONFIG, ImportFailed, SourceFolder
from model.importing.translator import ImportedTranslator
from model.transformer import Transformer

FAMILIES = {"marian": read_marian, "bart": read_bart}


def read_translator(folder: SourceFolder) -> ImportedTranslator:
    """Read a translator of any family known here.

    Raises:
        ImportFailed, CheckpointError, TokenizerError, ConfigError: one sentence on what is wrong or not supported.
    """
    config = folder.json(CONFIG)
    if "format_version" in config:
        raise ImportFailed(f"{folder.name} is a model folder of this program; copy it into the checkpoints folder.")
    family = config.get("model_type")
    if not isinstance(family, str) or family not in FAMILIES:
        raise ImportFailed(
            f"{folder.name} holds a model of type {family!r:.40}; "
            f"this Transformer can compute {' and '.join(FAMILIES)} models."
        )
    return FAMILIES[family](folder, config)


def holds_translator(path: Path) -> bool:
    """Whether a folder says that it holds a translator: its config.json can be read and names a type of model."""
    try:
        config = SourceFolder(path).json(CONFIG)
    except (OSError, ValueError):  # a UserError is a ValueError, and so is what Python says to a path with a zero byte
        return False
    return isinstance(config.get("model_type"), str) or "format_version" in config


def import_folder(path: Path, target: Path, *, overwrite: bool = False) -> ImportedTranslator:
    """Write the model in the folder `path` as the model folder `target`; nothing is written if anything is wrong.

    Raises:
        ImportFailed, CheckpointError, TokenizerError, ConfigError: one sentence on what is wrong or not supported.
    """
    check_name(target.name)
    if target.exists() and not overwrite:
        raise CheckpointError(f"there is a model '{target.name}' already; choose another name or pass --overwrite.")
    folder = SourceFolder(path)
    found = read_translator(folder)
    model = _assemble(found)
    save_model(
        target,
        model,
        found.source,
        found.target,
        data=found.data,
        training=TrainConfig(),
        card=_card(target.name, folder, found, count_parameters(model)),
        extra={
            "title": folder.name,
            "imported": {
                "family": found.family,
                "source": folder.name,
                "licence": found.licence,
                "labels": list(found.source.labels),
                "sha256": folder.hashes,
            },
            "search": dataclasses.asdict(found.search),
        },
        overwrite=overwrite,
    )
    return found


def _assemble(found: ImportedTranslator) -> Transformer:
    model = empty_transformer(found.model)
    assign_weights(model, found.parameters)
    return model.eval().requires_grad_(False)


def _card(name: str, folder: SourceFolder, found: ImportedTranslator, n_parameters: int) -> str:
    config, search = found.model, found.search
    licence = "None is stated in the folder that was read; its authors say what is allowed."
    if found.licence:
        stated = (
            "as stated in its folder" if folder.licence() else "that of OPUS-MT models; its authors may state another"
        )
        licence = f"{found.licence}, {stated}."
    lines = [
        f"# {name}",
        "",
        f"A {found.family} translator, imported from the folder `{folder.name}` and computed by this program's own "
        f"Transformer. It was trained elsewhere: on which data and with which scores, its authors say.",
        "",
        "## Model",
        "",
        f"- {n_parameters:,} parameters, {config.n_encoder_layers} + {config.n_decoder_layers} layers, "
        f"d_model {config.d_model}",
        f"- beam search as its authors set it: {search.beam_size} beams, length penalty α = {search.alpha:g}",
        *(f"- {remark}" for remark in found.remarks),
        "",
        found.changes,
        "",
        "## Source",
        "",
        *(f"- `{file}`: SHA-256 `{digest}`" for file, digest in folder.hashes.items()),
        "",
        "## Licence",
        "",
        licence,
        "",
    ]
    return "\n".join(lines)
