"""Pages that stand alone, one or a site of them: what is packed comes out again, and no markup gets in."""

import base64
import dataclasses
import hashlib
import re
from pathlib import Path

import numpy as np
import pytest

from explorer.decoding.decoding import Decoding, place_in
from explorer.decoding.translator import Translator
from explorer.files.site import recorded
from explorer.files.standalone_page import Recording, forks_of
from explorer.files.standalone_page import page as page_of
from explorer.site.command import main
from model.checkpoint import load_model
from model.commands import CommandError
from model.config import DecodeConfig
from model.folder import find_model
from model.trace import AttentionTrace
from tests.explorer.files.unpacked import decoding_of, header_of, message_of, weights_of
from tests.explorer.planted_heads import random_trace
from tests.explorer.toy_models import save_toy
from tests.paths import ROOT


def recording(trace: AttentionTrace, path: tuple[int, ...]) -> Recording:
    return Recording(Decoding(trace, "one", "planted", path))


def page(recordings: list[Recording], **choices: object) -> bytes:
    return page_of(recordings, place_in(recordings[0].decoding.trace), **choices)


@pytest.fixture(scope="module")
def trace() -> AttentionTrace:
    return random_trace(["a", "b", "c", "<eos>"], ["<sos>", "u", "v", "w"])


def test_forks_are_found_from_both_sides(trace: AttentionTrace) -> None:
    paths = [(5, 6, 7, 3), (5, 8, 3, 1), (5, 8, 4, 3), (5, 6, 7, 3)]
    assert forks_of([recording(trace, path) for path in paths]) == [
        [{}, {8: 1}, {}, {}],
        [{}, {6: 0}, {4: 2}, {}],
        [{}, {6: 0}, {3: 1}, {}],
        [{}, {8: 1}, {}, {}],
    ]


def test_a_masked_cell_with_a_weight_is_not_hidden(trace: AttentionTrace) -> None:
    weights = trace.decoder.copy()
    weights[0, 0, 0, 3] = 0.25
    leaking = dataclasses.replace(trace, decoder=weights)
    html = page([recording(leaking, (5, 6, 7, 3))], title="x").decode()
    np.testing.assert_array_equal(weights_of(html)["decoder"], weights)
    assert message_of(html)[0]["decoding"]["checks"]["leaks"] == 1


def test_the_policy_allows_two_scripts_and_nothing_else(trace: AttentionTrace) -> None:
    html = page([recording(trace, (5, 6, 7, 3))], title="</title><script>alert(1)</script>", facts=["<b>bold"]).decode()
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', html)
    (boot,) = re.findall(r'<script type="module">(.*?)</script>', html, re.DOTALL)
    allowed = f"'sha256-{base64.b64encode(hashlib.sha256(boot.encode()).digest()).decode()}'"
    assert policy.split("script-src ")[1].split(";")[0].split() == [allowed, "blob:"]
    assert policy.startswith("default-src 'none'")
    assert html.count("<script") == 2
    assert "<b>bold" not in html
    assert not re.findall(r'(?:src|href)="(?!#)', html), "nothing is loaded"


MODELS = ROOT / "checkpoints"
TWELVE_WORDS = "A young man in a red shirt plays the guitar on stage."


@pytest.fixture(scope="module")
def translator() -> Translator:
    return Translator(load_model(find_model(MODELS, "multi30k-en-de")))


def test_every_recording_is_exactly_what_the_model_computed_and_fits_400_kilobytes_with_all_code(
    translator: Translator,
) -> None:
    example = recorded(translator, TWELVE_WORDS, 1, forks=3)
    assert len(example.page) <= 400_000
    assert len(recorded(translator, TWELVE_WORDS, 1, forks=0).page) <= 200_000
    assert example.n_forks == 3
    html = example.page.decode()
    lengths = {len(decoding_of(html, number)["target"]["predicted_ids"]) for number in range(4)}
    assert len(lengths) > 1, "not all are as long as the first"
    header, own = header_of(html), decoding_of(html)["target"]["predicted_ids"]
    for number, one in enumerate(header["recordings"]):
        path = decoding_of(html, number)["target"]["predicted_ids"]
        again = translator.translate(TWELVE_WORDS, DecodeConfig(), prefix=path)
        assert list(again.path) == path
        for kind, weights in weights_of(html, number).items():
            np.testing.assert_array_equal(weights, getattr(again.trace, kind))
        row = one["step"] - 1
        if number:
            assert own[:row] == path[:row]
            assert header["recordings"][0]["forks"][row][str(path[row])] in range(1, number + 1)


def test_a_folder_has_an_index_of_all_its_pages_and_one_page_has_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save_toy(tmp_path / "models" / "adjective-swap", "adjective-swap")
    out, page = tmp_path / "site", tmp_path / "page.html"
    options = ["--model", "adjective-swap", "--checkpoints", str(tmp_path / "models"), "--no-live"]
    given = [str(out), "I read <b>red", "We eat", *options]
    assert main(given) == 0
    assert "2 recorded pages" in capsys.readouterr().out
    index = (out / "index.html").read_text(encoding="utf-8")
    links = re.findall(r'href="([^"]+)"', index)
    assert links == ["adjective-swap-1.html", "adjective-swap-2.html"]
    assert all('<a href="index.html">' in (out / link).read_text(encoding="utf-8") for link in links)
    assert {path.name for path in out.iterdir()} == {*links, "index.html"}
    assert "I read &lt;b&gt;red" in index
    assert [index.count(tag) for tag in ("<script", "<h1", "<title>")] == [0, 1, 1]
    with pytest.raises(CommandError, match=r"exists already.*--overwrite"):
        main(given)
    assert main([*given, "--overwrite"]) == 0
    assert main([str(page), "I read", *options]) == 0
    assert len(header_of(page.read_text(encoding="utf-8"))["recordings"]) >= 1
