"""A model of GPT-2's small size, with random weights: imported, opened and continued, beside `transformers`."""

from collections.abc import Iterator

import torch

from model.checkpoint import load_model
from model.config import DecodeConfig
from model.decoding.decode import decode_recorded
from tests.benchmarks.decode import beside_marian, generation
from tests.benchmarks.lab import Lab
from tests.benchmarks.marian import imported, opened
from tests.benchmarks.registry import Row, benchmark
from tests.benchmarks.timing import in_turns

SIZES = {"vocab_size": 50_257, "n_embd": 768, "n_layer": 12, "n_head": 12, "n_positions": 1024}
STEPS, REPEATS = 32, 15
TEXT = "two dogs run over the green grass and a young man"


@benchmark("gpt2", threads=1, peers=("transformers",))
@torch.inference_mode()
def measure(lab: Lab) -> Iterator[Row]:
    """Import and open in new processes; continue in turns, ours from typed text to a labelled trace."""
    from transformers import GPT2LMHeadModel

    from tests.model.importing import decoder_peers

    theirs, ours, repeats = lab.folder / "theirs", lab.folder / "ours", lab.times(REPEATS)
    decoder_peers.save("gpt2", theirs, **SIZES)
    _, size, row = imported(theirs, ours, "GPT-2's")
    yield row
    here = opened("from model.checkpoint import load_model", f"load_model({str(ours)!r}).source.encode('warm')")
    there = opened(
        "from transformers import GPT2LMHeadModel",
        f"GPT2LMHeadModel.from_pretrained({str(theirs)!r}, attn_implementation='eager')",
    )
    yield Row.within(
        f"GPT-2 opened, {size}",
        here.seconds,
        "s",
        2,
        other=there.seconds,
        against="from_pretrained of transformers, without its tokenizer",
    )
    loaded, config = load_model(ours), DecodeConfig(max_length=STEPS)
    peer = GPT2LMHeadModel.from_pretrained(theirs, attn_implementation="eager").eval()
    prompt = loaded.source.encode(TEXT)
    ids = torch.tensor([decoder_peers.library("gpt2").encode(TEXT).ids])

    def continued() -> None:
        found = decode_recorded(loaded.model, loaded.source.encode(TEXT), loaded.target, config)
        if len(found.answer) != STEPS:
            raise AssertionError(f"{len(found.answer)} steps instead of {STEPS}")

    yield beside_marian(
        f"{STEPS} tokens continued, everything recorded, {size}, 1 thread",
        in_turns({"ours": continued, "marian": generation(peer, ids, STEPS, pad_token_id=0)}, repeats),
        1.3,
        "GPT-2, generate() with attentions and scores returned",
        "transformers",
        f"{len(prompt)} tokens of prompt; median of {repeats}",
    )
