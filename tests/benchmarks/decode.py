"""One sentence translated with everything recorded, alternating with a MarianMT model of the same size."""

from collections.abc import Callable, Iterator
from typing import Any

import torch

from explorer.decoding.translator import Translator
from model.checkpoint import load_model
from model.config import EOS, SOS, DecodeConfig, ModelConfig
from model.recording import AttentionRecorder
from tests.benchmarks.lab import Lab
from tests.benchmarks.registry import Row, benchmark
from tests.benchmarks.timing import in_turns
from tests.paths import CHECKPOINTS

MODEL = "multi30k-en-de"
SENTENCE = "A young man in a red shirt is riding a small bike"  # 12 words
N_REPEATS, N_GROWTH_REPEATS = 15, 5
LENGTHS = (5, 10, 20, 50, 100)


def marian_sizes(d_model: int, layers: int, heads: int, d_ff: int) -> dict[str, int]:
    """The settings of a MarianMT model whose encoder and decoder have these sizes."""
    parts = {"layers": layers, "attention_heads": heads, "ffn_dim": d_ff}
    sides = {f"{side}_{part}": size for side in ("encoder", "decoder") for part, size in parts.items()}
    return {"d_model": d_model, **sides}


def marian(config: ModelConfig) -> Any:
    """An untrained MarianMT model of these sizes, with the attention implementation that returns its weights."""
    from transformers import MarianConfig, MarianMTModel

    torch.manual_seed(0)
    settings: dict[str, Any] = {
        "vocab_size": config.tgt_vocab_size,
        "max_position_embeddings": config.max_positions,
        "pad_token_id": 0,
        "eos_token_id": 2,
        "forced_eos_token_id": None,
        "decoder_start_token_id": 0,
        "attn_implementation": "eager",
    }
    settings |= marian_sizes(config.d_model, config.n_encoder_layers, config.n_encoder_heads, config.d_ff)
    return MarianMTModel(MarianConfig(**settings)).eval()


def generation(peer: Any, source: torch.Tensor, n_steps: int, **options: Any) -> Callable[[], None]:
    """Greedy generation of exactly `n_steps` tokens, returning all attentions and the scores."""

    def work() -> None:
        found = peer.generate(
            source,
            do_sample=False,
            min_new_tokens=n_steps,
            max_new_tokens=n_steps,
            output_attentions=True,
            output_scores=True,
            return_dict_in_generate=True,
            **options,
        )
        attentions = found["cross_attentions"] if "cross_attentions" in found else found["attentions"]
        if len(attentions) != n_steps:
            raise AssertionError(f"{type(peer).__name__} made {len(attentions)} steps, not {n_steps}")

    return work


def marian_work(peer: Any, n_source: int, n_steps: int) -> Callable[[], None]:
    source = torch.randint(4, peer.config.vocab_size, (1, n_source), generator=torch.Generator().manual_seed(1))
    return generation(peer, source, n_steps, attention_mask=torch.ones_like(source), num_beams=1)


def without_cache(translator: Translator, text: str, path: tuple[int, ...]) -> None:
    """The same decoding without a cache: every step runs the whole prefix through the decoder, as notebooks do."""
    model, source = translator.loaded.transformer, translator.loaded.source.encode(text)
    src = torch.tensor([[*source.ids, EOS]])
    for step in range(len(path)):
        record = AttentionRecorder()
        logits = model(src, torch.tensor([[SOS, *path[:step]]]), tap=record)
        logits[0, -1].argmax()


def beside_marian(
    measure: str, found: dict[str, float], least: float | None, against: str, peer: str, detail: str
) -> Row:
    """Milliseconds of "ours" beside those of "marian", and how many times faster ours should be at least."""
    ours, theirs = found["ours"], found["marian"]
    return Row(
        measure,
        ours,
        "ms",
        theirs,
        against,
        target=f"≥ {least:g} × faster than {peer}" if least else "",
        met=least * ours <= theirs if least else None,
        detail=f"{detail}; {theirs / ours:.1f} × faster",
    )


@benchmark("decode", threads=1, peers=("transformers",))
@torch.inference_mode()
def measure(lab: Lab) -> Iterator[Row]:
    """Translate the sentence alternately: ours from typed text to labelled trace, the peer from ids to tensors."""
    translator = Translator(load_model(CHECKPOINTS / MODEL))
    peer = marian(translator.loaded.model_config)
    shown, repeats = translator.translate(SENTENCE, DecodeConfig()), lab.times(N_REPEATS)
    n_source, n_steps = len(shown.trace.src_tokens), len(shown.path)
    works = {
        "ours": lambda: translator.translate(SENTENCE, DecodeConfig()),
        "marian": marian_work(peer, n_source, n_steps),
    }
    yield beside_marian(
        f"a sentence of 12 words, greedy, everything recorded, {MODEL}, 1 thread",
        in_turns(works, repeats),
        3,
        "MarianMT of the same sizes, generate() with attentions and scores returned",
        "MarianMT",
        f"{n_source} source tokens, {n_steps} steps; median of {repeats}",
    )
    for length in LENGTHS[: lab.times(len(LENGTHS))]:
        yield from growth(translator, peer, n_source, length, lab.times(N_GROWTH_REPEATS))


def growth(translator: Translator, peer: Any, n_source: int, length: int, repeats: int) -> Iterator[Row]:
    """A decoding of exactly `length` tokens along a given path: beside MarianMT, and without a cache."""
    chance = torch.Generator().manual_seed(length)
    path = tuple(torch.randint(4, translator.loaded.model_config.tgt_vocab_size, (length,), generator=chance).tolist())
    config = DecodeConfig(max_length=length)
    works = {
        "ours": lambda: translator.translate(SENTENCE, config, prefix=path),
        "marian": marian_work(peer, n_source, length),
        "plain": lambda: without_cache(translator, SENTENCE, path),
    }
    found = in_turns(works, repeats)
    measure = f"recorded decoding, {length} tokens, 1 thread"
    against, least = "MarianMT with attentions and scores returned", 3 if length == max(LENGTHS) else None
    yield beside_marian(measure, found, least, against, "MarianMT", f"median of {repeats}")
    yield Row(measure, found["ours"], "ms", found["plain"], "the whole prefix again at every step (no cache), recorded")
