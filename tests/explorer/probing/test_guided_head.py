"""A head that was told to align, planted in a MarianMT model, is found in the imported one."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
import torch

from explorer.probing.measured import Measured, measure
from explorer.probing.roles import role_of
from explorer.probing.sample import SampleChoice, default_choice, examples_for
from model.analysis.word_alignment import aligned_tokens
from model.checkpoint import LoadedModel, load_model
from model.importing.import_folder import import_folder
from tests.explorer.probed import quiet
from tests.model.importing import bart_peer, peer

SHIFT = 2  # each target word means the source word so many places further on
N_LAYERS = 3  # of the decoder of `peer.marian`


def plant(model: Any) -> None:
    """Make head 1 of the last decoder layer look `SHIFT` source tokens further than the row, by position alone.

    All other sublayers write nothing, so what this head reads is the norm of token and position. Its keys are the
    quickest sine–cosine pairs of the position, its queries the same turned by `SHIFT` positions: their product is
    largest where the key's position is the query's + `SHIFT` (§3.5 of the paper). Their sines are in the first half of
    the dimensions and their cosines in the second, as Marian has them.
    """
    half, d_head = model.config.d_model // 2, model.config.d_model // model.config.decoder_attention_heads
    for stack in (model.model.encoder, model.model.decoder):
        for name, parameter in stack.named_parameters():
            if "out_proj" in name or "fc2" in name or name.endswith("bias"):
                parameter.zero_()
            elif "layer_norm.weight" in name:
                parameter.fill_(1.0)
    model.model.shared.weight.mul_(0.02)
    last = model.model.decoder.layers[-1]
    table = model.model.decoder.embed_positions.weight[:12]
    for norm in (model.model.encoder.layers[-1].final_layer_norm, last.self_attn_layer_norm):
        norm.bias.fill_((table.mean(dim=1) / table.std(dim=1)).mean())  # what a norm takes away from a position
    cross = last.encoder_attn
    cross.q_proj.weight[:d_head] = cross.k_proj.weight[:d_head] = 0.0
    for pair in range(d_head // 2):
        angle = SHIFT * 10_000 ** (-2 * pair / model.config.d_model)
        sine, cosine, row = pair, half + pair, 2 * pair
        cross.k_proj.weight[row, sine] = cross.k_proj.weight[row + 1, cosine] = 1.0
        cross.q_proj.weight[row, [sine, cosine]] = 30 * torch.tensor([math.cos(angle), math.sin(angle)])
        cross.q_proj.weight[row + 1, [sine, cosine]] = 30 * torch.tensor([-math.sin(angle), math.cos(angle)])


@pytest.fixture(scope="module")
def guided(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    folder = tmp_path_factory.mktemp("guided")
    with torch.inference_mode():
        model = peer.marian(d_model=64)
        plant(model)
        import_folder(peer.save(model, folder / "theirs"), folder / "guided")
    return load_model(folder / "guided")


@pytest.fixture(scope="module")
def measured(guided: LoadedModel) -> Measured:
    """Fifty sentences with their alignments."""
    lines = []
    source, target = (whole_words(tokenizer) for tokenizer in (guided.source, guided.target))
    for n, (a, b, c) in zip(range(50), itertools.cycle(itertools.permutations(source[:5], 3)), strict=False):
        words = [a, b, c, a, b, *source[: n % 3]]
        pairs = " ".join(f"{i + SHIFT}-{i}" for i in range(len(words) - SHIFT))
        lines.append(f"{' '.join(words)}\t{' '.join(target[: len(words) - SHIFT])}\t{pairs}")
    return measure(SampleChoice("own", tuple(lines)), guided, quiet)


def whole_words(tokenizer: Any) -> list[str]:
    """Words that are one token each."""
    words = (piece[1:] for piece in tokenizer.pieces if piece[0] == " " and piece[1:].isalpha())
    return [word for word in words if len(tokenizer.encode(word)) == 1]


def test_its_role_is_alignment_and_it_is_named_as_the_best(measured: Measured) -> None:
    cross = measured.probe.kinds["cross"]
    role = role_of(cross, N_LAYERS - 1, 0)
    assert role.name in ("alignment (predicts)", "lexical (predicts)"), "the second is its stricter form"
    rates = cross.scores["error_rate"].mean
    assert np.unravel_index(rates.argmin(), rates.shape) == (N_LAYERS - 1, 0)
    best, second, *_ = np.sort(rates, axis=None)
    assert best < 0.05
    assert second > 0.3


@pytest.fixture(scope="module")
def bart(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    folder = tmp_path_factory.mktemp("imported") / "bart"
    import_folder(bart_peer.standard(), folder)
    return load_model(folder)


def test_a_translator_between_their_languages_is_measured_on_the_scenes(guided: LoadedModel, bart: LoadedModel) -> None:
    assert default_choice(guided.data_config) == SampleChoice("scenes")
    examples, about, _ = examples_for(SampleChoice("scenes", size=5), guided)
    assert "5 of 304 aligned scenes" in str(about)
    for example in examples:
        source, target = guided.source.encode(example.source), guided.target.encode(example.target)
        assert example.links is not None
        assert any(aligned_tokens(example.links, source, target))
    assert default_choice(bart.data_config) == SampleChoice("task")


def test_what_stands_for_no_text_is_aligned_with_nothing(bart: LoadedModel) -> None:
    choice = SampleChoice("own", ("a young man\tein junger Mann\t0-0 1-1 2-2",))
    ((example,), _, _) = examples_for(choice, bart)
    source, target = bart.source.encode(example.source), bart.target.encode(example.target)
    assert (source.tokens[0], target.tokens[0]) == ("<s>", "<s>")
    assert example.links is not None
    first, *rest = aligned_tokens(example.links, source, target)
    assert first == ()
    assert sum(map(bool, rest)) >= 3
    assert not any(0 in keys for keys in rest)
