"""Import a model from elsewhere: `python -m model.import_model FOLDER --name opus-en-de`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from model.commands import OneSentenceParser, add_checkpoints, run_command, typed
from model.folder import check_name


def parser() -> argparse.ArgumentParser:
    """The command line's options."""
    options = OneSentenceParser(
        prog=typed("model.import_model"),
        description="Convert an encoder-decoder (MarianMT, BART, mBART, M2M100, NLLB, Pegasus, T5, mT5), or a model "
        "that continues text (GPT-2, GPT-Neo, OPT, Llama, Qwen2), as Hugging Face transformers stores it, to a model "
        "folder of ours.",
        epilog="The folder needs config.json, model.safetensors (or its shards with their index) and the tokenizer: "
        "for MarianMT, vocab.json, source.spm and target.spm; for BART and models that continue text, tokenizer.json, "
        "or vocab.json and merges.txt; for mBART and NLLB, sentencepiece.bpe.model; for M2M100, vocab.json as well; "
        "for the others, spiece.model.",
    )
    options.add_argument("folder", type=Path, metavar="FOLDER", help="folder of the model to import")
    options.add_argument("--name", required=True, metavar="NAME", help="name of the new model")
    options.add_argument(
        "--from", default="", metavar="LANGUAGE", dest="source", help="source language of a model with language tokens"
    )
    options.add_argument(
        "--to", default="", metavar="LANGUAGE", dest="target", help="target language of a model with language tokens"
    )
    options.add_argument("--overwrite", action="store_true", help="replace a model of the same name")
    add_checkpoints(options)
    return options


def main(arguments: Sequence[str]) -> int:
    """Run the command and return its exit code; every expected failure is a :class:`UserError`."""
    options = parser().parse_args(arguments)
    check_name(options.name)  # before joining it to a path: later checks see only the path's last part
    from model.importing.import_folder import import_folder, layers_of
    from model.importing.languages import Languages

    translator = import_folder(
        options.folder,
        options.checkpoints / options.name,
        languages=Languages(options.source, options.target),
        overwrite=options.overwrite,
    )
    config = translator.model
    sizes = f"{config.tgt_vocab_size:,} tokens"
    if config.has_encoder:
        sizes = f"{config.src_vocab_size:,} source and {config.tgt_vocab_size:,} target tokens"
    print(
        f"{options.name}: {translator.family}, {layers_of(config)}, {sizes}, "
        f"licence {translator.licence or 'not stated'}."
    )
    for remark in translator.remarks:
        print(remark)
    return 0


if __name__ == "__main__":
    run_command(main)
