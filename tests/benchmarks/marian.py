"""A model of OPUS-MT's size, with random weights: imported, opened and translated with, beside `transformers`."""

import json
import math
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from explorer.decoding.translator import Translator
from model.checkpoint import load_model
from model.config import DecodeConfig
from model.folder import WEIGHTS, tensor_shapes
from tests.benchmarks.decode import beside_marian, marian_sizes, marian_work
from tests.benchmarks.lab import Lab
from tests.benchmarks.registry import Row, benchmark
from tests.benchmarks.timing import in_turns

VOCABULARY = 58_101  # of opus-mt-en-de
STEPS, REPEATS = 12, 7
SENTENCE = "A young man rides a small red bike."
WHOLE = "× the weights in float32"

OPEN = """
import json, os, sys, time
import torch
{imports}
def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
torch.set_num_threads(1)
with open("/proc/self/clear_refs", "w") as file:
    file.write("5")  # the peak counts from here
before, start, busy = resident(), time.perf_counter(), time.process_time()
{work}
seconds, busy = time.perf_counter() - start, time.process_time() - busy
with open("/proc/self/status") as file:
    peak = next(1024 * int(line.split()[1]) for line in file if line.startswith("VmHWM"))
print(json.dumps([seconds, busy, (resident() - before) / 1e6, (peak - before) / 1e6]))
"""


@dataclass(frozen=True)
class Opened:
    """A new process that imported or opened a model: seconds, processor seconds, MB added in the end and at most."""

    seconds: float
    processor: float
    after: float
    peak: float


def opened(imports: str, work: str) -> Opened:
    script = OPEN.format(imports=imports, work=work)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return Opened(*json.loads(done.stdout.strip().splitlines()[-1]))


def imported(theirs: Path, ours: Path, whose: str) -> tuple[float, str, Row]:
    """Import a folder: the megabytes of its weights in float32, the same in words, and a row for the memory."""
    megabytes = 4 * sum(map(math.prod, tensor_shapes(theirs / WEIGHTS).values())) / 1e6
    size = f"{megabytes:.0f} MB of weights as {whose}, random"
    made = opened(
        "from pathlib import Path; from model.importing.import_folder import import_folder",
        f"import_folder(Path({str(theirs)!r}), Path({str(ours)!r}))",
    )
    detail = f"{made.peak:.0f} MB; imported in {made.seconds:.1f} s"
    what = f"memory that importing adds at its peak, {size}"
    return megabytes, size, Row.within(what, made.peak / megabytes, WHOLE, 1.5, detail=detail)


def peer_folder(folder: Path) -> Any:
    """A randomly initialised MarianMT model of OPUS-MT's sizes, saved as a downloaded folder would be."""
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
    model.final_logits_bias[..., 0] -= 40.0  # so that no sentence ends early
    peer.save(model, folder)
    vocab = folder / "vocab.json"
    names = json.loads(vocab.read_text(encoding="utf-8"))
    del names["<pad>"]
    names |= {f"▁word{i}": i for i in range(len(names), VOCABULARY - 1)} | {"<pad>": VOCABULARY - 1}
    vocab.write_text(json.dumps(names), encoding="utf-8")
    model.config.forced_eos_token_id = model.generation_config.forced_eos_token_id = None
    return model


@benchmark("marian", threads=1, peers=("transformers",))
@torch.inference_mode()
def measure(lab: Lab) -> Iterator[Row]:
    """Import and open in new processes; translate in turns, ours from typed text to a labelled trace."""
    theirs, ours, repeats = lab.folder / "theirs", lab.folder / "ours", lab.times(REPEATS)
    model = peer_folder(theirs)
    megabytes, size, row = imported(theirs, ours, "OPUS-MT's")
    yield row
    here = opened(
        "from model.checkpoint import load_model", f"model = load_model({str(ours)!r}); model.source.encode('warm')"
    )
    there = opened(
        "from transformers import MarianMTModel, MarianTokenizer",
        f"model = MarianMTModel.from_pretrained({str(theirs)!r}, attn_implementation='eager'); "
        f"tokenizer = MarianTokenizer.from_pretrained({str(theirs)!r})",
    )
    yield Row.within(
        f"an imported model opened, {size}",
        here.seconds,
        "s",
        5,
        other=there.seconds,
        against="from_pretrained of transformers",
        detail=f"{(ours / WEIGHTS).stat().st_size / 1e6:.0f} MB stored; {here.processor:.1f} s of processor time, "
        f"transformers {there.processor:.1f} s",
    )
    yield Row.within(
        f"memory that opening adds at its peak, {size}",
        here.peak / megabytes,
        WHOLE,
        1.2,
        other=there.peak / megabytes,
        against="transformers",
        detail=f"{here.peak:.0f} MB; {here.after:.0f} MB when open, most of it pages of the file",
    )
    translator, config = Translator(load_model(ours)), DecodeConfig(max_length=STEPS)
    shown = translator.translate(SENTENCE, config)
    if len(shown.path) != STEPS:
        raise AssertionError(f"{len(shown.path)} steps instead of {STEPS}")
    n_source = len(shown.trace.src_tokens)
    works = {"ours": lambda: translator.translate(SENTENCE, config), "marian": marian_work(model, n_source, STEPS)}
    yield beside_marian(
        f"{STEPS} tokens translated, everything recorded, {size}, 1 thread",
        in_turns(works, repeats),
        1.5,
        "MarianMT, generate() with attentions and scores returned",
        "transformers",
        f"{n_source} source tokens; median of {repeats}",
    )
