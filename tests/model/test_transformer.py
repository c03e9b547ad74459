from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from model.architectures import make_transformer
from model.config import PAD
from model.embeddings import count_parameters
from model.fast.training import training_twin
from model.masks import padding_mask, target_mask
from model.recording import AttentionRecorder
from model.transformer import Transformer
from tests.tiny import VOCAB, random_ids, sources, targets, tiny_config, tiny_model

POSITIONS = ["sinusoidal", "learned", "none"]
PLACEMENTS = pytest.mark.parametrize("norm_first", [False, True], ids=["post-norm", "pre-norm"])


@pytest.fixture(autouse=True)
def _no_gradients():
    with torch.inference_mode():
        yield


# What a row may know


@given(row=st.integers(0, 8), column=st.integers(0, 8), norm_first=st.booleans(), positions=st.sampled_from(POSITIONS))
def test_a_future_token_changes_no_earlier_row(row: int, column: int, norm_first: bool, positions: str) -> None:
    model = tiny_model(norm_first=norm_first, positions=positions)
    src, tgt = sources(6), targets(9)
    changed = tgt.clone()
    changed[0, column] = 4 + (tgt[0, column] - 3) % (VOCAB - 4)
    assert changed[0, column] != tgt[0, column]
    before, after = model(src, tgt)[0, row], model(src, changed)[0, row]
    if column > row:
        torch.testing.assert_close(after, before, rtol=0, atol=1e-6)
    else:
        assert (after - before).abs().max() > 1e-4, "a row must see itself and its past"


def test_without_the_causal_mask_the_future_shows() -> None:
    src, tgt = sources(6), targets(9)
    changed = tgt.clone()
    changed[0, -1] = 4 + (tgt[0, -1] - 3) % (VOCAB - 4)
    opened, causal = tiny_model(causal=False), tiny_model()
    assert (opened(src, tgt) - opened(src, changed))[0, 0].abs().max() > 1e-4
    for model, other in ((opened, causal), (causal, opened)):  # the same weights with the other's mask
        tgt_mask = target_mask(tgt, causal=other.config.causal)
        hidden = model.decode(tgt, model.encode(src), src_mask=padding_mask(src), tgt_mask=tgt_mask)
        assert torch.equal(model.logits(hidden), other(src, tgt))


@PLACEMENTS
@pytest.mark.parametrize("positions", POSITIONS)
@pytest.mark.parametrize("padding", [1, 5])
def test_source_padding_changes_nothing(norm_first: bool, positions: str, padding: int) -> None:
    model = tiny_model(norm_first=norm_first, positions=positions)
    src, tgt = sources(6), targets(5)
    longer = torch.cat((src, torch.full((1, padding), PAD)), dim=1)
    torch.testing.assert_close(model(longer, tgt), model(src, tgt), rtol=0, atol=1e-5)


@PLACEMENTS
@pytest.mark.parametrize("causal", [True, False])
def test_target_padding_changes_no_real_row(norm_first: bool, causal: bool) -> None:
    model = tiny_model(norm_first=norm_first, causal=causal)
    src, tgt = sources(6), targets(5)
    longer = torch.cat((tgt, torch.full((1, 3), PAD)), dim=1)
    torch.testing.assert_close(model(src, longer)[:, :5], model(src, tgt), rtol=0, atol=1e-5)


@PLACEMENTS
def test_a_sentence_does_not_depend_on_its_batch(norm_first: bool) -> None:
    model = tiny_model(norm_first=norm_first)
    src, tgt = sources(7, 1, 4), targets(2, 6, 5)
    together = model(src, tgt)
    for row, (n_src, n_tgt) in enumerate(((7, 2), (1, 6), (4, 5))):
        alone = model(src[row : row + 1, :n_src], tgt[row : row + 1, :n_tgt])
        torch.testing.assert_close(together[row, :n_tgt], alone[0], rtol=0, atol=1e-5)


@given(seed=st.integers(0, 2**31))
def test_without_positions_the_encoder_sees_a_bag_of_tokens(seed: int) -> None:
    order = torch.randperm(8, generator=torch.Generator().manual_seed(seed))
    src = random_ids(1, 8)
    bag, placed = tiny_model(positions="none"), tiny_model(positions="sinusoidal")
    torch.testing.assert_close(bag.encode(src[:, order]), bag.encode(src)[:, order], rtol=0, atol=1e-5)
    if not torch.equal(src[:, order], src):
        assert not torch.allclose(placed.encode(src[:, order]), placed.encode(src)[:, order], atol=1e-3)


# One computation, however it is requested


@PLACEMENTS
@pytest.mark.parametrize("training", [False, True])
def test_fused_equals_explicit(norm_first: bool, training: bool) -> None:
    model = tiny_model(norm_first=norm_first).train(training)
    twin = training_twin(model, fused=True)
    src, tgt = sources(7, 3), targets(6, 4)
    real = tgt != PAD
    explicit, fused = model(src, tgt), twin(src, tgt)
    torch.testing.assert_close(fused[real], explicit[real], rtol=0, atol=1e-5)


@pytest.mark.parametrize("details", [(), (("encoder", 0, 1), ("decoder", 2, 3), ("cross", 1, 0))])
@PLACEMENTS
def test_recording_changes_no_bit(norm_first: bool, details: tuple) -> None:
    model = tiny_model(norm_first=norm_first)
    src, tgt = sources(7, 3), targets(6, 4)
    assert torch.equal(model(src, tgt), model(src, tgt, tap=AttentionRecorder(details=details)))


def test_forward_is_encode_then_decode_then_output() -> None:
    model = tiny_model()
    src, tgt = sources(7, 3), targets(6, 4)
    mask = (src != PAD)[:, None, None, :]
    memory = model.encode(src)
    hidden = model.decode(tgt, memory, src_mask=mask)
    assert memory.shape == (2, 7, 16)
    assert hidden.shape == (2, 6, 16)
    assert torch.equal(model.output(hidden), model(src, tgt))


@pytest.mark.parametrize("n_src", [1, 100])
@pytest.mark.parametrize("n_tgt", [1, 100])
@pytest.mark.parametrize("layers", [(1, 3), (3, 1)])
@pytest.mark.parametrize("heads", [(1, 8), (8, 1)])
def test_any_length_depth_and_head_count(n_src: int, n_tgt: int, layers: tuple, heads: tuple) -> None:
    model = tiny_model(
        n_encoder_layers=layers[0],
        n_decoder_layers=layers[1],
        n_encoder_heads=heads[0],
        n_decoder_heads=heads[1],
        max_positions=100,
    )
    recorder = AttentionRecorder()
    logits = model(sources(n_src), targets(n_tgt), tap=recorder)
    assert logits.shape == (1, n_tgt, VOCAB)
    assert torch.isfinite(logits).all()
    assert recorder.weights("encoder").shape == (layers[0], heads[0], n_src, n_src)
    assert recorder.weights("decoder").shape == (layers[1], heads[1], n_tgt, n_tgt)
    assert recorder.weights("cross").shape == (layers[1], heads[1], n_tgt, n_src)


# What each switch of the configuration does


def test_embeddings_are_scaled_by_the_root_of_d_model_or_as_asked() -> None:
    src = sources(5)
    for scale, asked, factor in ((True, 0.0, 4.0), (False, 0.0, 1.0), (True, 2.5, 2.5), (False, 2.5, 2.5)):
        model = tiny_model(scale_embeddings=scale, embedding_factor=asked, positions="none")
        torch.testing.assert_close(model.embed(src, side="src"), factor * model.src_embedding(src))


def test_a_final_norm_only_where_norms_come_first() -> None:
    assert isinstance(tiny_model(norm_first=False).encoder.norm, nn.Identity)
    assert isinstance(tiny_model(norm_first=False).decoder.norm, nn.Identity)
    pre = tiny_model(norm_first=True)
    assert isinstance(pre.encoder.norm, nn.LayerNorm)
    assert isinstance(pre.decoder.norm, nn.LayerNorm)
    with torch.no_grad():
        pre.encoder.norm.weight.fill_(0.0)
        pre.encoder.norm.bias.fill_(7.0)
    assert (pre.encode(sources(3)) == 7.0).all()


@pytest.mark.parametrize(
    "switch",
    [
        *("scale_scores", "scale_embeddings", "residual", "norm_first", "activation", "layer_norm", "positions"),
        "attention_gate",
    ],
)
def test_every_switch_changes_the_function(switch: str) -> None:
    other = {"activation": "gelu", "layer_norm": "scalar", "positions": "none"}
    value = other.get(switch, not getattr(tiny_config(), switch))
    src, tgt = sources(5), targets(4)
    one, two = Transformer(tiny_config()).eval(), make_transformer(tiny_config(**{switch: value})).eval()
    same_names = {name: tensor for name, tensor in one.state_dict().items() if name in two.state_dict()}
    if switch == "layer_norm":  # both start as the same function; their parameters have different shapes
        assert count_parameters(two) < count_parameters(one)
        return
    two.load_state_dict(same_names, strict=False)
    assert not torch.allclose(one(src, tgt), two(src, tgt), atol=1e-4)


@pytest.mark.parametrize("share", ["none", "target", "all"])
def test_tied_matrices_are_one_tensor_and_are_named(share: str) -> None:
    model = Transformer(tiny_config(share_embeddings=share))
    assert (model.output.weight is model.tgt_embedding.weight) == (share != "none")
    assert (model.src_embedding.weight is model.tgt_embedding.weight) == (share == "all")
    parameters = dict(model.named_parameters(remove_duplicate=False))
    unique = dict(model.named_parameters())
    aliases = model.tied_names()
    assert len(aliases) == {"none": 0, "target": 1, "all": 2}[share]
    assert set(parameters) - set(aliases) == {name for name in parameters if name not in aliases}
    for alias, canonical in aliases.items():
        assert parameters[alias] is parameters[canonical]
        assert canonical not in aliases
    assert len(unique) == len(parameters) - len(aliases)


@pytest.mark.parametrize("share", ["none", "target", "all"])
@PLACEMENTS
def test_parameters_are_counted_by_the_papers_arithmetic(share: str, norm_first: bool) -> None:
    config = tiny_config(share_embeddings=share, norm_first=norm_first)
    d, ff = config.d_model, config.d_ff
    attention = 4 * (d * d + d)
    feed_forward = d * ff + ff + ff * d + d
    norm = 2 * d
    encoder_layer = attention + feed_forward + 2 * norm
    decoder_layer = 2 * attention + feed_forward + 3 * norm
    matrices = {"none": 3, "target": 2, "all": 1}[share]
    expected = 2 * encoder_layer + 3 * decoder_layer + matrices * VOCAB * d + (2 * norm if norm_first else 0)
    assert count_parameters(Transformer(config)) == expected


# Initial weights


def test_initial_weights_have_the_designed_standard_deviation() -> None:
    config = tiny_config(d_model=64, d_ff=128, src_vocab_size=400, tgt_vocab_size=400, share_embeddings="none")
    model = Transformer(config)
    for name, parameter in model.named_parameters():
        if name.endswith("bias"):
            assert (parameter == 0).all(), name
        elif "norm" in name:
            assert (parameter == 1).all(), name
        elif "embedding" in name:
            real = parameter[1:]
            assert (parameter[PAD] == 0).all(), name
            assert real.std().item() == pytest.approx(64**-0.5, rel=0.05), name
            assert abs(real.mean().item()) < 0.01, name
        else:  # Xavier uniform: ±√(6 / (fan in + fan out))
            limit = math.sqrt(6 / sum(parameter.shape))
            assert parameter.abs().max() <= limit, name
            assert parameter.abs().max() > 0.95 * limit, name
            assert parameter.std().item() == pytest.approx(limit / math.sqrt(3), rel=0.05), name


def test_learned_positions_start_small_with_no_empty_row() -> None:
    model = Transformer(tiny_config(positions="learned", d_model=64))
    for encoding in (model.positions_src, model.positions_tgt):
        assert encoding.embedding.weight.std().item() == pytest.approx(64**-0.5, rel=0.05)
        assert encoding.embedding.weight[0].abs().max() > 0


def test_the_generator_decides_the_weights() -> None:
    def weights(seed: int) -> dict[str, torch.Tensor]:
        model = Transformer(tiny_config())
        model.reset_parameters(torch.Generator().manual_seed(seed))
        return model.state_dict()

    first, again, other = weights(1), weights(1), weights(2)
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not torch.equal(first["tgt_embedding.weight"], other["tgt_embedding.weight"])


def test_reset_weights_do_not_depend_on_the_old_ones() -> None:
    """Resetting a trained model gives a fresh one, including norms and biases."""
    model, fresh = tiny_model(), Transformer(tiny_config())
    model.reset_parameters(torch.Generator().manual_seed(5))
    fresh.reset_parameters(torch.Generator().manual_seed(5))
    for name, parameter in model.state_dict().items():
        assert torch.equal(parameter, fresh.state_dict()[name]), name


def test_dropout_acts_in_training_and_never_in_evaluation() -> None:
    model = tiny_model(dropout=0.5)
    src, tgt = sources(5), targets(4)
    assert torch.equal(model(src, tgt), model(src, tgt))
    model.train()
    assert not torch.equal(model(src, tgt), model(src, tgt))


def test_gradients_reach_every_parameter_and_stay_finite() -> None:
    with torch.inference_mode(False), torch.enable_grad():
        model = tiny_model(positions="learned", max_positions=8, share_embeddings="none").train()
        src, tgt = sources(7, 3), targets(6, 1)
        logits = training_twin(model, fused=True)(src, tgt)
        real = tgt != PAD
        logits[real].logsumexp(-1).sum().backward()
        for name, parameter in model.named_parameters():
            assert parameter.grad is not None, name
            assert torch.isfinite(parameter.grad).all(), name
            if "k_proj.bias" not in name:  # adding the same vector to every key does not change the softmax: gradient 0
                assert parameter.grad.abs().sum() > 0, name
        assert (model.src_embedding.weight.grad[PAD] == 0).all()
