"""What one pass records of a head, and what follows for predictions from it."""

from typing import Any

import numpy as np
import pytest
import torch

from model.analysis.head_details import head_details, output_projection
from model.analysis.predictions import layer_predictions
from model.config import EOS, SOS, DecodeConfig
from model.decoding.decode import decode_recorded
from model.edits import EditError, HeadEdit, HeadEdits
from model.text.tokenizer import CharacterTokenizer, Encoding
from tests.tiny import VOCAB, tiny_model

TARGET = CharacterTokenizer([chr(97 + i) for i in range(VOCAB - 4)], [1] * (VOCAB - 4))
PATH = (5, 9, 4, 11, 2)
SOURCE_IDS = (6, 4, 12, 7)
SOURCE = (*SOURCE_IDS, EOS)
SITES = [("encoder", 1, 1), ("decoder", 2, 3), ("cross", 0, 0)]
EDIT = HeadEdits((HeadEdit("decoder", 0, 1, "uniform"), HeadEdit("cross", 0, 0, "zero")))


def encoding() -> Encoding:
    n = len(SOURCE_IDS)
    return Encoding(SOURCE_IDS, tuple("abcd"), tuple((i, i + 1) for i in range(n)), tuple(range(n)), "abcd")


@pytest.mark.parametrize(
    "changes", [{}, {"scale_scores": False}, {"causal": False}, {"norm_first": True}, {"positions": "alibi"}]
)
@pytest.mark.parametrize("path", [PATH, PATH[:-1], PATH[:1]])
@pytest.mark.parametrize("edit", [None, EDIT])
def test_one_pass_gives_the_numbers_of_the_decoding_that_is_shown(
    changes: dict[str, Any], path: tuple[int, ...], edit: HeadEdits | None
) -> None:
    model = tiny_model(**changes)
    config = DecodeConfig(max_length=len(path))
    trace = decode_recorded(model, encoding(), TARGET, config, prefix=path, edit=edit).trace
    passes = []
    model.register_forward_hook(lambda *_: passes.append(1))
    for (kind, layer, head), details in head_details(model, SOURCE, (SOS, *path[:-1]), SITES, edit=edit).items():
        recorded = trace.weights(kind)[layer, head]
        assert len(details.rows) == len(recorded)
        assert details.scaled is model.config.scale_scores
        d_head = details.rows[0].query.size
        for row, weights in zip(details.rows, recorded, strict=True):
            np.testing.assert_allclose(row.weights, weights[: row.weights.size], rtol=0, atol=1e-6)
            assert not weights[row.weights.size :].any()
            scores = row.keys @ row.query / (np.sqrt(d_head) if details.scaled else 1)
            scores += 0 if row.bias is None else row.bias
            np.testing.assert_allclose(row.scores, scores, atol=1e-5)
            silent = edit is not None and (kind, layer, head) == ("cross", 0, 0)
            np.testing.assert_allclose(row.weights @ row.values * (not silent), row.output, atol=1e-5)
    assert len(passes) == (1 if model.config.causal else len(path))


def test_a_head_that_is_not_there_is_named_and_a_path_is_needed() -> None:
    for kind, layer, head in (("encoder", 2, 0), ("encoder", 0, 2), ("cross", -1, 0), ("sideways", 0, 0)):
        with pytest.raises(ValueError, match=r"kind is one of|no layer"):
            output_projection(tiny_model(), kind, layer, head)
    with pytest.raises(ValueError, match="nothing to read"):
        head_details(tiny_model(), SOURCE, (), SITES)
    with pytest.raises(EditError, match="layers"):
        head_details(tiny_model(), SOURCE, (SOS, *PATH[:-1]), SITES, edit=HeadEdits((HeadEdit("cross", 9, 0, "zero"),)))


def test_layer_predictions_follow_the_final_token_through_the_stages() -> None:
    probabilities = torch.tensor([[[0.7, 0.2, 0.1], [0.5, 0.3, 0.2]], [[0.1, 0.8, 0.1], [0.1, 0.3, 0.6]]])
    found = layer_predictions(probabilities.log())
    assert found.likeliest.tolist() == [[0, 0], [1, 2]]
    assert found.probabilities.ravel() == pytest.approx([0.7, 0.5, 0.8, 0.6], abs=1e-6)
    assert found.final == 2
    assert found.final_probabilities == pytest.approx([0.2, 0.6], abs=1e-6)
    assert found.ranks.tolist() == [3, 1]
    ruled = layer_predictions(probabilities.log(), never=(2, 0))
    assert (ruled.final, ruled.ranks.tolist()) == (1, [2, 2]), "a token that is never chosen counts, and is not chosen"
    assert ruled.never == (0, 2), "those in view are named"
