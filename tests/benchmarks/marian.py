"""A model of OPUS-MT's size, with random weights: imported and opened, beside `transformers`."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from model.folder import WEIGHTS, tensor_shapes
from model.importing.import_folder import import_folder
from tests.benchmarks.decode import marian_sizes
from tests.benchmarks.lab import Lab
from tests.benchmarks.registry import Row, benchmark

VOCABULARY = 58_101  # of opus-mt-en-de
OPEN = """
import json, time

import torch
{imports}
torch.set_num_threads(1)
start, busy = time.perf_counter(), time.process_time()
{work}
print(json.dumps([time.perf_counter() - start, time.process_time() - busy]))
"""


def opened(imports: str, work: str) -> tuple[float, float]:
    """Open a model in a new process, on one thread: seconds, and processor seconds."""
    script = OPEN.format(imports=imports, work=work)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    seconds, processor = json.loads(done.stdout.strip().splitlines()[-1])
    return seconds, processor


def peer_folder(folder: Path) -> None:
    """Save a randomly initialised MarianMT model of OPUS-MT's sizes as a downloaded folder would be."""
    from tests.model.importing import peer

    model = peer.marian(
        vocab_size=VOCABULARY,
        decoder_vocab_size=VOCABULARY,
        **marian_sizes(d_model=512, layers=6, heads=8, d_ff=2048),
        max_position_embeddings=512,
        pad_token_id=VOCABULARY - 1,
        decoder_start_token_id=VOCABULARY - 1,
        generation={"bad_words_ids": [[VOCABULARY - 1]]},
    )
    peer.save(model, folder)
    vocab = folder / "vocab.json"
    names = json.loads(vocab.read_text(encoding="utf-8"))
    del names["<pad>"]
    names |= {f"▁word{i}": i for i in range(len(names), VOCABULARY - 1)} | {"<pad>": VOCABULARY - 1}
    vocab.write_text(json.dumps(names), encoding="utf-8")


@benchmark("marian", threads=1, peers=("transformers",))
def measure(lab: Lab) -> Iterator[Row]:
    """Open both in new processes."""
    theirs, ours = lab.folder / "theirs", lab.folder / "ours"
    peer_folder(theirs)
    megabytes = 4 * sum(map(math.prod, tensor_shapes(theirs / WEIGHTS).values())) / 1e6
    import_folder(theirs, ours)
    here, here_busy = opened(
        "from model.checkpoint import load_model", f"model = load_model({str(ours)!r}); model.source.encode('warm')"
    )
    there, there_busy = opened(
        "from transformers import MarianMTModel, MarianTokenizer",
        f"model = MarianMTModel.from_pretrained({str(theirs)!r}, attn_implementation='eager'); "
        f"tokenizer = MarianTokenizer.from_pretrained({str(theirs)!r})",
    )
    yield Row.within(
        f"an imported model opened, {megabytes:.0f} MB of weights as OPUS-MT's, random",
        here,
        "s",
        5,
        other=there,
        against="from_pretrained of transformers",
        detail=f"{(ours / WEIGHTS).stat().st_size / 1e6:.0f} MB stored; {here_busy:.1f} s of processor time, "
        f"transformers {there_busy:.1f} s",
    )
