"""The code shown for a point is the code that passes it: every point of every kind of model, in the file as it is."""

from typing import Any

import pytest

from model.analysis.point_code import NoCode, code_of
from model.architectures import make_model
from model.config import ModelConfig
from model.dry_run import points
from tests.paths import ROOT

KINDS: dict[str, dict[str, Any]] = {
    "post": {},
    "pre": {"norm_first": True},
    "bart": {"norm_embeddings": True, "output_bias": True},
    "rope": {"positions": "rope", "residual": False},
    "alibi": {"positions": "alibi", "attention_gate": True},
    "lstm": {"architecture": "lstm"},
}


def model_of(kind: str) -> Any:
    sizes = {"n_encoder_layers": 1, "n_decoder_layers": 2, "d_model": 16, "d_ff": 16}
    return make_model(ModelConfig(src_vocab_size=9, tgt_vocab_size=9, **sizes, **KINDS[kind]))


@pytest.mark.parametrize("kind", KINDS)
def test_every_point_has_code_as_it_stands_in_its_file(kind: str) -> None:
    model = model_of(kind)
    for name in [*(point.name for point in points(model.config)), "softmax", "memory"]:
        code = code_of(model, name)
        text = (ROOT / code.file).read_text(encoding="utf-8").split("\n")
        shown = text[code.first_line - 1 : code.first_line - 1 + len(code.lines)]
        assert [line.strip() for line in shown] == [line.strip() for line in code.lines], name
        last = code.first_line + len(code.lines) - 1
        assert code.marked, name
        assert all(code.first_line <= line <= last for line in code.marked), name
    with pytest.raises(NoCode):
        code_of(model, "encoder.0.self_attn.nothing")


@pytest.mark.parametrize(
    ("kind", "point", "file", "computes"),
    [
        ("post", "decoder.1.cross_attn.scores", "model/attention.py", "query @ key"),
        ("post", "encoder.0.self_attn.weights", "model/attention.py", "softmax"),
        ("post", "encoder.0.self_attn.masked", "model/attention.py", "masked_fill"),
        ("pre", "encoder.0.norm1", "model/layers.py", "norm(n, x)"),
        ("pre", "encoder.0.residual2", "model/layers.py", "x + "),
        ("pre", "decoder.norm", "model/transformer.py", "self.norm(x)"),
        ("bart", "src.norm", "model/transformer.py", "norm_src"),
        ("bart", "tgt.tokens", "model/transformer.py", ".tokens"),
        ("pre", "encoder.0.feed_forward.activation", "model/layers.py", "activation("),
        ("rope", "encoder.0.self_attn.query", "model/attention_variants.py", "rotary("),
        ("alibi", "encoder.0.self_attn.gate", "model/attention_variants.py", "sigmoid"),
        ("lstm", "decoder.combined", "model/lstm.py", "tanh"),
        ("lstm", "decoder.0.cross_attn.value", "model/lstm.py", "pad_packed_sequence"),
        ("post", "softmax", "model/decoding/search.py", "log_softmax"),
    ],
)
def test_the_marked_lines_compute_the_point(kind: str, point: str, file: str, computes: str) -> None:
    code = code_of(model_of(kind), point)
    assert code.file == file
    marked = [code.lines[line - code.first_line] for line in code.marked]
    assert any(computes in line for line in marked), marked
