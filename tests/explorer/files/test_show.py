"""`show`: any model's tensors as a page, with one clear sentence for what does not fit."""

import dataclasses
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from explorer.notebook import AttentionError, show
from model.config import ATTENTION_KINDS
from tests.explorer.attention_files import weights_of as rows
from tests.explorer.files.unpacked import decoding_of, header_of, weights_of
from tests.explorer.planted_heads import heads_trace
from tests.paths import ROOT

SOURCE, TARGET = ["▁the", "▁c", "at", "</s>"], ["<pad>", "die", "Katze"]


def layers(n: int, *shape: int, causal: bool = False) -> list[torch.Tensor]:
    """What Hugging Face returns: a tensor [1, head, query, key] for each layer."""
    return [torch.from_numpy(rows(1, *shape, causal=causal, seed=seed)).requires_grad_() for seed in range(n)]


def test_an_encoder_decoder_of_another_library_arrives_to_the_last_bit() -> None:
    encoder, decoder, cross = layers(2, 3, 4, 4), layers(3, 2, 3, 3, causal=True), layers(3, 2, 3, 4)
    page = show(encoder=encoder, decoder=decoder, cross=cross, source=SOURCE, target=TARGET, title="T5")
    got = weights_of(page.html)
    for kind, given in (("encoder", encoder), ("decoder", decoder), ("cross", cross)):
        np.testing.assert_array_equal(got[kind], torch.cat(given).detach().numpy())
    assert header_of(page.html)["views"] == ["steps", "heads"]
    source = {"tokens": ["the", "c", "at", "</s>"], "words": [0, 1, 1, -1], "unknown": []}
    assert decoding_of(page.html)["source"] == source


def broken(cell: tuple[int, ...], value: float) -> np.ndarray:
    weights = rows(2, 3, 4, 4)
    weights[cell] = value
    return weights


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({}, "Give either a trace or a file"),
        ({"encoder": []}, "empty list.*eager"),
        ({"encoder": [None, None], "source": SOURCE}, "Layer 1 of encoder is missing.*eager"),
        ({"encoder": layers(1, 2, 4, 4)}, "encoder needs source, a list of 4 strings"),
        ({"encoder": layers(1, 2, 4, 4), "source": ["a"]}, "4 keys, but source has 1 token, and the rest is no"),
        ({"encoder": layers(1, 2, 4, 4), "source": ["a"] * 5}, "encoder has 4 queries, but source has 5 tokens"),
        ({"encoder": layers(1, 2, 4, 4), "source": [1, 2, 3, 4]}, "source has to be a list of strings"),
        ({"encoder": layers(1, 2, 4, 4), "source": "abcd"}, "source has to be a list of strings"),
        ({"encoder": [rows(2, 1, 4, 4)], "source": SOURCE, "sentence": 3}, "Layer 1 of encoder has a batch of 2, and"),
        ({"encoder": [rows(2, 1, 4, 4)], "source": [SOURCE], "sentence": 2}, "sentence is 2, but source has 1 list"),
        ({"encoder": [rows(4, 4)], "source": SOURCE}, "not .batch, head, query, key"),
        ({"encoder": [rows(2, 4, 4), rows(2, 3, 4)], "source": SOURCE}, "Layer 2 of encoder is .2, 3, 4.*one by one"),
        ({"encoder": rows(4, 4), "source": SOURCE}, "has to be a list with a tensor"),
        ({"encoder": broken((1, 2, 3, 0), np.nan), "source": SOURCE}, "layer 2, head 3, row 4, holds .* not a number"),
        ({"encoder": broken((0, 1, 2, 3), -0.5), "source": SOURCE}, "layer 1, head 2, row 3, holds −0.5"),
        ({"encoder": broken((0, 0, 1), 0.5), "source": SOURCE}, r"layer 1, head 1, row 2, sums to 2, .*model\.eval"),
        ({"encoder": [["a"]], "source": SOURCE}, "not an array of numbers"),
        ({"decoder": [[rows(1, 2, 1, 1)], [rows(1, 2, 1, 3)]], "target": TARGET}, "Step 2 of decoder"),
        ({"encoder": rows(1, 1, 4, 4), "source": SOURCE, "kind": "cross"}, "kind is 'cross', but there is only"),
        ({"encoder": rows(1, 1, 4, 4), "source": SOURCE, "view": "grid"}, "view begins with one of steps"),
        ({"encoder": rows(1, 1, 4, 4), "source": SOURCE, "theme": "blue"}, "theme is one of auto, light, dark"),
        ({"encoder": rows(1, 1, 4, 4), "source": SOURCE, "digits": 9}, "digits is a number from 1 to 4"),
        ({"encoder": rows(1, 1, 4, 4), "source": SOURCE, "lang": "tlh"}, "There is no language 'tlh'"),
        ({"attention": 5}, "A int cannot be shown"),
        ({"attention": "nowhere.npz"}, "nowhere.npz"),
    ],
)
def test_what_does_not_fit_is_one_clear_sentence(given: dict[str, Any], says: str) -> None:
    with pytest.raises(AttentionError, match=says):
        show(**given)


def test_of_a_batch_one_sentence_is_shown_without_its_padding() -> None:
    short = np.zeros((2, 4, 4), np.float32)  # two tokens, and two of padding that nothing looks at
    short[..., :2] = rows(2, 4, 2)
    batch = torch.from_numpy(np.stack([rows(2, 4, 4), short]))
    tokens = [SOURCE, SOURCE[2:]]
    first, second = (show(encoder=[batch, batch], source=tokens, sentence=n).html for n in (1, 2))
    np.testing.assert_array_equal(weights_of(first)["encoder"], np.stack([batch[0]] * 2))
    np.testing.assert_array_equal(weights_of(second)["encoder"], np.stack([short[:, :2, :2]] * 2))
    assert "Sentence 2 of 2 in the batch." in second
    np.testing.assert_array_equal(weights_of(show(encoder=[batch], source=SOURCE).html)["encoder"], batch[:1])
    assert "in the batch" not in show(encoder=[batch[:1]], source=SOURCE).html


def test_in_a_layer_with_fewer_heads_their_mean_stands_in() -> None:
    whole, pruned = rows(3, 4, 4), rows(2, 4, 4)
    html = show(encoder=[whole, pruned], source=SOURCE).html
    got = weights_of(html)["encoder"]
    np.testing.assert_array_equal(got[0], whole)
    np.testing.assert_array_equal(got[1, :2], pruned)
    np.testing.assert_allclose(got[1].mean(axis=0), pruned.mean(axis=0), atol=1e-6)
    assert "Layer 2 of encoder has 2 heads: the mean of them stands in for each further one." in html


def test_a_given_target_is_read_and_not_predicted() -> None:
    cross, decoder = layers(2, 2, 3, 4), layers(2, 2, 3, 3, causal=True)
    forced = decoding_of(show(cross=cross, decoder=decoder, source=SOURCE, target=TARGET).html)["target"]
    assert (forced["by"], forced["predicted"]) == ("next token read", ["die", "Katze", "?"])
    whole = decoding_of(show(cross=cross, source=SOURCE, target=[*TARGET, "</s>"]).html)["target"]
    assert (whole["by"], whole["predicted"]) == ("chosen", ["die", "Katze", "</s>"])


def test_files_and_traces_of_one_kind_or_all(tmp_path: Path) -> None:
    trace = heads_trace()
    trace.save_npz(tmp_path / "red.npz")
    (tmp_path / "own.json").write_text('{"encoder": [[0.25, 0.75], [0, 1]], "src_tokens": ["a", "b"]}')
    for given in (trace, tmp_path / "red.npz", str(tmp_path / "red.npz")):
        np.testing.assert_array_equal(weights_of(show(given).html)["cross"], trace.cross)
    own = show(tmp_path / "own.json").html
    assert (header_of(own)["views"], "<title>own.json</title>" in own) == (["heads"], True)
    assert {kind: weights.tolist() for kind, weights in weights_of(own).items()} == {
        "encoder": [[[[0.25, 0.75], [0, 1]]]]
    }
    decoder = show(decoder=layers(2, 2, 3, 3, causal=True), target=["a", "b", "c"]).html
    assert list(weights_of(decoder)) == ["decoder"]
    empty = {kind: trace.weights(kind)[:0] for kind in ATTENTION_KINDS}
    with pytest.raises(AttentionError, match="no attention"):
        show(dataclasses.replace(trace, **empty))


@pytest.mark.parametrize(
    ("n", "choice", "rounds"),
    [(4, {}, False), (4, {"digits": 4}, True), (201, {}, True), (201, {"digits": None}, False)],
)
def test_only_many_weights_are_rounded_unless_asked_and_the_page_says_so(
    n: int, choice: dict[str, int | None], rounds: bool
) -> None:
    weights = rows(5, 1, n, n)
    html = show(encoder=weights, source=[f"t{i}" for i in range(n)], **choice).html
    np.testing.assert_allclose(weights_of(html)["encoder"], weights, rtol=0, atol=5.1e-5 if rounds else 0)
    footer = html.partition("<footer>")[2].partition("</footer>")[0]
    assert ("rounded to 4 decimals; 0 stands for less than 0.00005." in footer) == ("rounded" in footer) == rounds


def test_the_page_is_in_the_language_asked_for_or_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    given = {"encoder": rows(1, 1, 2, 2), "source": ["a", "b"]}
    monkeypatch.setenv("HEADLIGHT_LANG", "de")
    german, english = show(**given), show(**given, lang="en")
    assert '<html lang="de">' in german.html
    assert header_of(german.html)["words"]["messages"]["All heads"] == "Alle Köpfe"
    assert 'title="Aufmerksamkeit"' in german._repr_html_()
    assert '<html lang="en">' in english.html
    assert header_of(english.html)["words"] is None


def test_the_frame_of_a_notebook_is_closed(tmp_path: Path) -> None:
    page = show(encoder=rows(1, 1, 2, 2), source=["</script><script>", '"><img src=x>'], title="<b>&\"'")
    frame = page._repr_html_()
    assert frame.count("<") == 2, "everything else is escaped"
    assert 'sandbox="allow-scripts"' in frame
    assert "<b>&" not in page.html
    assert "Content-Security-Policy" in page.html
    assert page.save(tmp_path / "a.html").read_text(encoding="utf-8") == page.html
    assert "save" in repr(page)


def test_numpy_alone_is_needed() -> None:
    """Neither PyTorch nor Streamlit nor any other package of requirements.txt is imported."""
    program = """
import sys
class Block:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] not in {*sys.stdlib_module_names, "numpy", "model", "explorer", "_distutils_hack"}:
            raise ImportError(name)
sys.meta_path.insert(0, Block())
import numpy as np
from explorer.notebook import show
half = np.full((1, 1, 2, 2), 0.5)
print(len(show(encoder=half, decoder=half, cross=half, source=["a", "b"], target=["c", "d"]).html))
try:
    show(encoder=half, source=["a", "b"], lang="de")
except ValueError as error:
    print(error)
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=False)
    assert ran.returncode == 0, ran.stderr
    size, refused = ran.stdout.splitlines()
    assert int(size) < 120_000
    assert "needs Babel" in refused
