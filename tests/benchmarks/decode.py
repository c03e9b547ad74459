"""One sentence translated with everything recorded, alternating with a MarianMT model of the same size."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

import torch

from explorer.decoding.translator import Translator
from explorer.web.runtime import CHECKPOINTS
from model.checkpoint import load_model
from model.config import EOS, SOS, DecodeConfig, ModelConfig
from model.recording import AttentionRecorder
from tests.benchmarks.registry import MissingPeer, Row, benchmark, median, torch_threads

MODEL = "multi30k-en-de"
SENTENCE = "A young man in a red shirt is riding a small bike"  # 12 words
N_REPEATS, N_WARM_UP = 15, 3
LENGTHS = (5, 10, 20, 50, 100)


def marian(config: ModelConfig) -> Any:
    """An untrained MarianMT model of these sizes, with the attention implementation that returns its weights.

    Raises:
        MissingPeer: the `transformers` package is not installed.
    """
    try:
        from transformers import MarianConfig, MarianMTModel
    except ImportError:
        raise MissingPeer("transformers") from None
    torch.manual_seed(0)
    sizes = MarianConfig(
        vocab_size=config.tgt_vocab_size,
        d_model=config.d_model,
        encoder_layers=config.n_encoder_layers,
        decoder_layers=config.n_decoder_layers,
        encoder_attention_heads=config.n_encoder_heads,
        decoder_attention_heads=config.n_decoder_heads,
        encoder_ffn_dim=config.d_ff,
        decoder_ffn_dim=config.d_ff,
        max_position_embeddings=config.max_positions,
        pad_token_id=0,
        eos_token_id=2,
        forced_eos_token_id=None,
        decoder_start_token_id=0,
        attn_implementation="eager",
    )
    return MarianMTModel(sizes).eval()


def marian_work(peer: Any, n_source: int, n_steps: int) -> Callable[[], None]:
    """Greedy generation of exactly `n_steps` tokens, returning all attentions and the scores."""
    source = torch.randint(4, peer.config.vocab_size, (1, n_source), generator=torch.Generator().manual_seed(1))

    def work() -> None:
        found = peer.generate(
            source,
            attention_mask=torch.ones_like(source),
            num_beams=1,
            do_sample=False,
            min_new_tokens=n_steps,
            max_new_tokens=n_steps,
            output_attentions=True,
            output_scores=True,
            return_dict_in_generate=True,
        )
        if len(found.cross_attentions) != n_steps or len(found.encoder_attentions) == 0:
            raise AssertionError(f"MarianMT made {len(found.cross_attentions)} steps, not {n_steps}")

    return work


def milliseconds(work: Callable[[], object]) -> float:
    """Duration of a call."""
    start = perf_counter()
    work()
    return 1000 * (perf_counter() - start)


def without_cache(translator: Translator, text: str, path: tuple[int, ...]) -> None:
    """The same decoding without a cache: every step runs the whole prefix through the decoder, as notebooks do."""
    model, source = translator.loaded.transformer, translator.loaded.source.encode(text)
    src = torch.tensor([[*source.ids, EOS]])
    for step in range(len(path)):
        record = AttentionRecorder()
        logits = model(src, torch.tensor([[SOS, *path[:step]]]), tap=record)
        logits[0, -1].argmax()


def in_turns(works: dict[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """Median milliseconds of each."""
    times: dict[str, list[float]] = {name: [] for name in works}
    for repeat in range(N_WARM_UP + repeats):
        for name in works if repeat % 2 else reversed(works):
            time = milliseconds(works[name])
            if repeat >= N_WARM_UP:
                times[name].append(time)
    return {name: median(found) for name, found in times.items()}


@benchmark("decode")
@torch.inference_mode()
def measure() -> list[Row]:
    """Translate the sentence alternately: ours from typed text to labelled trace, the peer from ids to tensors."""
    translator = Translator(load_model(CHECKPOINTS / MODEL))
    with torch_threads(1):
        peer = marian(translator.loaded.model_config)
        shown = translator.translate(SENTENCE, DecodeConfig())
        n_source, n_steps = len(shown.trace.src_tokens), len(shown.path)
        found = in_turns(
            {
                "ours": lambda: translator.translate(SENTENCE, DecodeConfig()),
                "marian": marian_work(peer, n_source, n_steps),
            },
            N_REPEATS,
        )
        rows = [
            Row(
                measure=f"a sentence of 12 words, greedy, everything recorded, {MODEL}, 1 thread",
                ours=found["ours"],
                unit="ms",
                other=found["marian"],
                against="MarianMT of the same sizes, generate() with attentions and scores returned",
                target="≥ 3 × faster than MarianMT",
                met=3 * found["ours"] <= found["marian"],
                detail=f"{n_source} source tokens, {n_steps} steps; median of {N_REPEATS}; "
                f"{found['marian'] / found['ours']:.1f} × faster",
            )
        ]
        for length in LENGTHS:
            rows += growth(translator, peer, n_source, length)
    return rows


def growth(translator: Translator, peer: Any, n_source: int, length: int) -> list[Row]:
    """A decoding of exactly `length` tokens along a given path: beside MarianMT, and without a cache."""
    chance = torch.Generator().manual_seed(length)
    path = tuple(torch.randint(4, translator.loaded.model_config.tgt_vocab_size, (length,), generator=chance).tolist())
    config = DecodeConfig(max_length=length)
    found = in_turns(
        {
            "ours": lambda: translator.translate(SENTENCE, config, prefix=path),
            "marian": marian_work(peer, n_source, length),
            "plain": lambda: without_cache(translator, SENTENCE, path),
        },
        5,
    )
    measure = f"recorded decoding, {length} tokens, 1 thread"
    return [
        Row(
            measure,
            found["ours"],
            "ms",
            found["marian"],
            "MarianMT with attentions and scores returned",
            target="≥ 3 × faster than MarianMT" if length == max(LENGTHS) else "",
            met=3 * found["ours"] <= found["marian"] if length == max(LENGTHS) else None,
            detail=f"median of 5; {found['marian'] / found['ours']:.1f} × faster",
        ),
        Row(measure, found["ours"], "ms", found["plain"], "the whole prefix again at every step (no cache), recorded"),
    ]
