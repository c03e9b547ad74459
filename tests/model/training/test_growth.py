"""A larger model that starts from a smaller one computes the same before its first update, and learns from there."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from model import train
from model.architectures import Model, make_model
from model.checkpoint import load_model
from model.config import ConfigError, ModelConfig
from model.training.growth import grown
from model.training.randomness import generator
from tests.fuzz.inputs import tries
from tests.model.commands import failure
from tests.model.engine import EXACT
from tests.model.engine import SMALL as SMALL_RUN

pytestmark = pytest.mark.slow  # real runs

SMALL = ModelConfig(src_vocab_size=11, tgt_vocab_size=13, d_model=8, d_ff=6, n_encoder_layers=1, n_decoder_layers=2)
SMALL = replace(SMALL, n_encoder_heads=2, n_decoder_heads=2, max_positions=16)


def model_of(config: ModelConfig, seed: int) -> Model:
    model = make_model(config).eval()
    model.reset_parameters(generator(seed, "weights"))
    for parameter in model.parameters():  # biases and norms that no longer are 0 and 1
        parameter.data += 0.1 * torch.randn(parameter.shape, generator=generator(seed, "noise"))
    return model


def larger(small: Model, config: ModelConfig) -> Model:
    model = make_model(config).eval()
    model.reset_parameters(generator(7, "weights"))
    model.load_state_dict(grown("small", small.state_dict(), model.state_dict(), config))
    return model


def logits(model: Model) -> torch.Tensor:
    ids = generator(3, "ids")
    src, tgt = (torch.randint(4, 11, (3, length), generator=ids) for length in (7, 5))
    with torch.inference_mode():
        return model(src, tgt)


@tries(12)
@given(
    config=st.builds(
        replace,
        st.just(SMALL),
        activation=st.sampled_from(["relu", "gelu", "silu"]),
        positions=st.sampled_from(["sinusoidal", "learned", "rope"]),
        attention_gate=st.booleans(),
        norm_first=st.booleans(),
        residual=st.booleans(),
    ),
    units=st.integers(0, 9),
    layers=st.tuples(st.integers(0, 2), st.integers(0, 2)),
)
def test_it_computes_the_same(config: ModelConfig, units: int, layers: tuple[int, int]) -> None:
    """Layers may be added where norms come first and residual connections lead around them, and units anywhere."""
    layers = layers if config.norm_first and config.residual else (0, 0)
    small = model_of(config, seed=1)
    wanted = replace(config, d_ff=6 + units, n_encoder_layers=1 + layers[0], n_decoder_layers=2 + layers[1])
    large = larger(small, wanted)
    torch.testing.assert_close(logits(large), logits(small), rtol=1e-5, atol=1e-6)


def test_what_was_added_learns() -> None:
    small = model_of(replace(SMALL, norm_first=True), seed=1)
    large = larger(small, replace(SMALL, norm_first=True, d_ff=9, n_encoder_layers=2)).train()
    src = torch.tensor([[5, 6, 7]])
    large(src, src).logsumexp(-1).sum().backward()
    added = dict(large.named_parameters())
    assert added["encoder.layers.0.feed_forward.linear2.weight"].grad[:, 6:].abs().max() > 0
    assert added["encoder.layers.1.self_attn.out_proj.weight"].grad.abs().max() > 0


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"d_model": 12}, "only d_ff and the numbers of layers"),
        ({"d_ff": 5}, "only d_ff and the numbers of layers"),
        ({"n_decoder_layers": 1}, "only d_ff and the numbers of layers"),
        ({"n_encoder_layers": 2, "norm_first": False}, "norm_first=true"),
        ({"n_encoder_layers": 2, "residual": False}, "residual=true"),
    ],
)
def test_what_does_not_fit_is_refused(change: dict[str, object], reason: str) -> None:
    base = replace(SMALL, norm_first=True)
    small = model_of(replace(base, **{key: change[key] for key in ("norm_first", "residual") if key in change}), seed=1)
    with pytest.raises(ConfigError, match=f"training cannot start from 'small'.*{reason}"):
        larger(small, replace(base, **change))


@pytest.mark.usefixtures("few_sentences")
def test_by_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, run = ["--checkpoints", str(tmp_path)], ["--task", "reverse", "--preset", "tiny", *EXACT]
    short = ["max_steps=2", "eval_every=2", "save_every=2", "eval_sentences=10"]
    assert train.main([*run, *folder, "--name", "small", "--set", *SMALL_RUN, "norm_first=true", *short]) == 0
    more = [*run, *folder, "--name", "large", "--init", "small", "--set", *short, "snapshots=0"]
    assert train.main([*more, "d_ff=24", "n_encoder_layers=3"]) == 0
    config = load_model(tmp_path / "large").model_config
    assert (config.d_ff, config.n_encoder_layers, config.d_model) == (24, 3, 16)
    capsys.readouterr()
    said = failure(train.main, [*more, "d_model=32", "--overwrite"], capsys)
    assert "only d_ff and the numbers of layers may differ" in said
