import math

import pytest
import torch
from torch import nn

from model.architectures import make_transformer
from model.config import PAD
from model.embeddings import count_parameters
from model.fast.training import training_twin
from model.masks import padding_mask, target_mask
from model.points import layer_output
from model.recording import PointRecorder
from model.transformer import Transformer
from tests.tiny import sources, targets, tiny_config, tiny_model

pytestmark = pytest.mark.usefixtures("no_gradients")


@pytest.mark.parametrize("causal", [True, False])
def test_a_pass_is_encode_decode_output_with_the_masks_that_are_given(causal: bool) -> None:
    """The same weights with the other's mask compute what the other computes."""
    model, other = tiny_model(causal=causal), tiny_model(causal=not causal)
    src, tgt = sources(7, 3), targets(6, 4)
    memory, mask = model.encode(src), (src != PAD)[:, None, None, :]
    assert memory.shape == (2, 7, 16)
    hidden = model.decode(tgt, memory, src_mask=mask)
    assert hidden.shape == (2, 6, 16)
    assert torch.equal(model.output(hidden), model(src, tgt))
    hidden = model.decode(tgt, memory, src_mask=mask, tgt_mask=target_mask(tgt, causal=not causal))
    assert torch.equal(model.logits(hidden), other(src, tgt))


@pytest.mark.parametrize("norm_first", [False, True])
def test_a_stack_can_be_run_from_any_layer_on(norm_first: bool) -> None:
    model, recorder = tiny_model(norm_first=norm_first), PointRecorder()
    src, tgt = sources(7, 3), targets(6, 4)
    memory = model.encode(src, tap=recorder)
    mask, tgt_mask, cross_kv = padding_mask(src), target_mask(tgt), model.decoder.project_memory(memory)
    hidden = model.decode(tgt, memory, src_mask=mask, tap=recorder)
    for start in (1, 2):
        x = recorder.tensors[layer_output(model.config, "encoder", start - 1)]
        assert torch.equal(model.encoder(x, mask=mask, start=start), memory)
        x = recorder.tensors[layer_output(model.config, "decoder", start - 1)]
        again, _ = model.decoder(x, cross_kv, self_mask=tgt_mask, cross_mask=mask, start=start)
        assert torch.equal(again, hidden)


@pytest.mark.parametrize("norm_embeddings", [False, True])
@pytest.mark.parametrize("side", ["src", "tgt"])
def test_embeddings_are_scaled_as_asked_and_get_the_positions_and_norm_of_their_side(
    side: str, norm_embeddings: bool
) -> None:
    ids = sources(5)
    for scale, asked, factor in ((True, 0.0, 4.0), (False, 0.0, 1.0), (True, 2.5, 2.5), (False, 2.5, 2.5)):
        changes = {"scale_embeddings": scale, "embedding_factor": asked, "norm_embeddings": norm_embeddings}
        model = tiny_model(positions="learned", share_embeddings="none", **changes)
        table, positions = getattr(model, f"{side}_embedding"), getattr(model, f"positions_{side}")
        expected = positions(factor * table(ids), 0)
        expected = getattr(model, f"norm_{side}")(expected) if norm_embeddings else expected
        torch.testing.assert_close(model.embed(ids, side=side), expected)
        torch.testing.assert_close(model.embed(ids, side=side, offset=2), expected[:, 2:])


def test_a_final_norm_only_where_norms_come_first() -> None:
    for norm_first, kind in ((False, nn.Identity), (True, nn.LayerNorm)):
        model = tiny_model(norm_first=norm_first)
        assert isinstance(model.encoder.norm, kind)
        assert isinstance(model.decoder.norm, kind)
    with torch.no_grad():
        model.encoder.norm.weight.fill_(0.0)
        model.encoder.norm.bias.fill_(7.0)
    assert (model.encode(sources(3)) == 7.0).all()


SWITCHES = ("scale_scores", "scale_embeddings", "residual", "norm_first", "activation", "layer_norm", "positions")


@pytest.mark.parametrize("switch", [*SWITCHES, "attention_gate"])
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


def test_a_variant_is_not_made_by_the_papers_class() -> None:
    with pytest.raises(ValueError, match=r"^this configuration asks for a variant: use make_model\.$"):
        Transformer(tiny_config(residual=False))


@pytest.mark.parametrize("share", ["none", "target", "all"])
def test_tied_matrices_are_one_tensor_and_are_named(share: str) -> None:
    model = Transformer(tiny_config(share_embeddings=share))
    assert (model.output.weight is model.tgt_embedding.weight) == (share != "none")
    assert (model.src_embedding.weight is model.tgt_embedding.weight) == (share == "all")
    parameters = dict(model.named_parameters(remove_duplicate=False))
    aliases = model.tied_names()
    assert len(aliases) == {"none": 0, "target": 1, "all": 2}[share]
    for alias, canonical in aliases.items():
        assert parameters[alias] is parameters[canonical]
        assert canonical not in aliases
    assert len(dict(model.named_parameters())) == len(parameters) - len(aliases)


def test_initial_weights_have_the_designed_standard_deviation() -> None:
    config = tiny_config(d_model=64, d_ff=128, src_vocab_size=400, tgt_vocab_size=400, share_embeddings="none")
    model = Transformer(config)
    model.reset_parameters()  # a second time: what is drawn does not depend on what was there
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


def test_a_generator_decides_all_weights_whatever_they_were_before() -> None:
    def weights(model: Transformer, seed: int) -> dict[str, torch.Tensor]:
        model.reset_parameters(torch.Generator().manual_seed(seed))
        return {name: tensor.clone() for name, tensor in model.state_dict().items()}

    learned = {"positions": "learned", "d_model": 64}
    first, again = weights(Transformer(tiny_config(**learned)), 1), weights(tiny_model(**learned), 1)
    assert all(torch.equal(first[name], again[name]) for name in first)
    other = weights(tiny_model(**learned), 2)
    assert not torch.equal(first["tgt_embedding.weight"], other["tgt_embedding.weight"])
    for side in ("src", "tgt"):
        table = first[f"positions_{side}.embedding.weight"]
        assert table.std().item() == pytest.approx(64**-0.5, rel=0.05)
        assert table[0].abs().max() > 0, "position 0 is not padding"


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
