"""Import a folder: choose the family, read the translator, and write an ordinary model folder."""

from __future__ import annotations

from pathlib import Path

from model.architectures import assign_weights, empty_transformer
from model.checkpoint import save_model
from model.config import ModelConfig, TrainConfig
from model.embeddings import count_parameters
from model.folder import CheckpointError, check_name
from model.importing.languages import NO_LANGUAGES, Languages
from model.importing.reading import read_translator
from model.importing.source_folder import CONFIG, SourceFolder
from model.importing.translator import ImportedTranslator


def holds_translator(path: Path) -> bool:
    """Whether a folder claims to hold a translator: its config.json can be read and names a type of model."""
    try:
        config = SourceFolder(path).json(CONFIG)
    except (OSError, ValueError):  # includes UserError, and Python's error for a path with a zero byte
        return False
    return isinstance(config.get("model_type"), str) or "format_version" in config


def import_folder(
    path: Path, target: Path, *, languages: Languages = NO_LANGUAGES, overwrite: bool = False
) -> ImportedTranslator:
    """Convert the model in the folder `path` to the model folder `target`; on an error, nothing is written.

    `languages` are needed by models that have language tokens, unless their folder says them.
    """
    check_name(target.name)
    if target.exists() and not overwrite:
        raise CheckpointError(
            "there is a model '{name}' already; choose another name or pass --overwrite.", name=target.name
        )
    folder = SourceFolder(path)
    translator = read_translator(folder, languages)
    model = empty_transformer(translator.model)
    assign_weights(model, translator.parameters)
    save_model(
        target,
        model,
        translator.source,
        translator.target,
        data=translator.data,
        training=TrainConfig(),
        card=_card(target.name, folder, translator, count_parameters(model)),
        extra={
            "title": folder.name,
            "imported": {
                "family": translator.family,
                "source": folder.name,
                "licence": translator.licence,
                "labels": list(translator.source.labels),
                "sha256": folder.hashes,
            },
            "search": translator.search,
        },
        overwrite=overwrite,
    )
    return translator


def layers_of(config: ModelConfig) -> str:
    """The number of layers, for people: of encoder and decoder, if the model has both."""
    return f"{f'{config.n_encoder_layers} + ' if config.has_encoder else ''}{config.n_decoder_layers} layers"


def _card(name: str, folder: SourceFolder, translator: ImportedTranslator, n_parameters: int) -> str:
    config, search = translator.model, translator.search
    noun = "translator" if config.has_encoder else "model"
    licence = "None is stated in the imported folder; ask the model's authors."
    if translator.licence:
        origin = (
            "as stated in its folder" if folder.licence() else "that of OPUS-MT models; its authors may state another"
        )
        licence = f"{translator.licence}, {origin}."
    lines = [
        f"# {name}",
        "",
        f"A {translator.family} {noun}, imported from the folder `{folder.name}` and computed by this program's "
        f"own Transformer. It was trained elsewhere; for its data and scores, see its authors' description.",
        "",
        "## Model",
        "",
        f"- {n_parameters:,} parameters, {layers_of(config)}, d_model {config.d_model}",
        f"- beam search as its authors set it: {search['beam_size']} beams, length penalty α = {search['alpha']:g}",
        *(f"- {remark}" for remark in translator.remarks),
        "",
        translator.changes,
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
