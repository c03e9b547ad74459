"""Models without an encoder on the pages: nothing is empty, and a prompt is not shown as a prediction."""

import csv

import numpy as np
import pytest

from explorer.browser.payload import header
from explorer.decoding.coordinates import Place
from explorer.decoding.decoding import place_in, step_worth_seeing
from explorer.decoding.shown_maps import shown_maps
from explorer.decoding.translator import Translation
from explorer.files.tables import maps_csv
from explorer.probing.measurement import Tally
from explorer.probing.roles import MIN_SENTENCES, role_of
from explorer.web import runtime
from model.analysis.recorded_batches import Sample, observe
from model.checkpoint import load_model
from model.config import EOS, SOS, DecodeConfig
from model.trace import kinds_of
from tests.pages.page import assert_says, plotted, press, tables, visit, words
from tests.some import some

pytestmark = pytest.mark.usefixtures("toys")
TEXT = "abcab"
FAULT = "fault in Headlight"


def continued(name: str) -> Translation:
    return runtime.translate(name, TEXT, DecodeConfig(max_length=4))


def test_the_first_page_speaks_of_a_continuation() -> None:
    translation = continued("continues")
    assert kinds_of(translation.trace) == ("decoder",)
    assert translation.trace.read_tokens[:5] == tuple(TEXT)
    assert not translation.text.startswith(TEXT), "the prompt is no part of the answer"
    assert "nothing to continue" in words(visit("translate", model="continues", text=" "))


@pytest.mark.parametrize(("name", "n_prompt", "predicts"), [("alone", 6, False), ("continues", 4, True)])
def test_rows_of_the_prompt_have_predictions_only_if_the_model_was_trained_there(
    name: str, n_prompt: int, predicts: bool
) -> None:
    translation = continued(name)
    sent = header(translation)
    assert (translation.n_prompt, sent.target.given) == (n_prompt, n_prompt)
    assert all(bool(ids) is (predicts or row >= n_prompt) for row, ids in enumerate(sent.alternatives.ids))
    assert not {row for row in sent.target.chosen if row < n_prompt}, "nobody chose them instead of the likeliest"
    cells = maps_csv(shown_maps(translation.trace, Place("decoder", 1, 1), "head", n_prompt=n_prompt)).decode()
    named = dict.fromkeys((row["query"], row["predicts"]) for row in csv.DictReader(cells.splitlines()))
    assert [bool(predicted) for _, predicted in named] == [row >= n_prompt for row in range(len(named))]
    assert step_worth_seeing(translation.trace, "b", translation.n_prompt) > n_prompt
    assert place_in(translation.trace, kind="cross").kind == "decoder"


@pytest.mark.parametrize("name", ["alone", "continues"])
def test_what_pages_compute_is_of_the_sequence_that_was_read(name: str) -> None:
    translation = continued(name)
    config = runtime.describe(name).model_config
    assert translation.src_ids == ()
    assert translation.read_ids[: len(TEXT)] == translation.source.ids
    if config.separator:
        assert translation.read_ids[len(TEXT) : len(TEXT) + 2] == (EOS, SOS)
    explained = runtime.explanation(translation, "decoder", 1, 2, 4)
    weights = translation.trace.decoder[1, 2, 4, :5]
    assert explained.details.rows[4].weights == pytest.approx(weights, abs=1e-5)
    whole, _ = runtime.norms(translation, "decoder")
    assert whole.shape == translation.trace.decoder.shape


@pytest.mark.parametrize(
    "tab",
    some(["Patching", "All heads", "Cross-checks", "One head", "Importance", "Surgery", "Search", "Take away"], 2),
)
def test_every_tab_of_probe_measures_a_decoder_alone(tab: str) -> None:
    at = visit("probe", model="alone", text=TEXT, sample="task.30", probe_tab=tab)
    if tab == "Importance":
        at = press(at, "Switch off all 8 heads, one by one")
    if tab == "Cross-checks":
        for label in ("Put other rows", "Set values to zero"):
            press(at, label)
        assert_says(at, "missed most in ", "stay the likeliest")
        assert "source" not in words(at).replace("Source", "")
    if tab == "Patching":
        assert [len(figure["data"][0]["z"]) for figure in plotted(at)] == [3, 2], "one stack, one kind of heads"
        press(at, "Average over 30 sentences")
        places = set(next(table for table in tables(at) if "baseline" in table.columns)["place"])
        assert {"the changed token", "rows between, mean", "the row that predicts", "all"} <= places
    assert FAULT not in words(at)
    if tab == "All heads":
        assert {head.split()[0] for head in tables(at)[0]["head"]} == {"decoder"}
        assert "Aligned: on the right token of the prompt" in words(at), "letters in another order are aligned"
        assert "probe_align" not in {button.key for button in at.button}


def test_the_right_copy_in_the_prompt_is_an_alignment_and_any_copy_a_duplicate() -> None:
    loaded = load_model(runtime.CHECKPOINTS / "alone")
    texts = ["abcabdefghij"[n : n + 6] for n in range(2)] * (MIN_SENTENCES // 2 + 1)
    encoded = tuple(loaded.source.encode(text) for text in texts)
    alignment = tuple((place,) for place in reversed(range(6)))
    targets = tuple(source.ids[::-1] for source in encoded)
    sample = Sample(encoded, targets, (alignment,) * len(texts), (None,) * len(texts))
    tally = Tally()
    for index, observed, _ in observe([loaded.transformer], sample, loaded.source, loaded.target):
        ids, first = observed.read_ids, 7  # the row that reads <sos>
        n = len(ids)
        planted = np.zeros((2, 1, 3, n, n), dtype=np.float32)
        planted[:] = np.tri(n) / np.arange(1, n + 1)[:, None]
        for row in range(first, n):
            written = row - first
            for head, place in enumerate((5 - written, 6 - written)):
                if 0 <= place < 6:
                    planted[0, 0, head, row] = np.eye(n)[place]
        for row in range(1, n):
            copies = ids[:row] == ids[row]
            if copies.any():
                planted[0, 0, 2, row] = 0
                planted[0, 0, 2, row, :row] = copies / copies.sum()
        tally.add(index, observed, {"decoder": planted})
    names = [role_of(tally.result().kinds["decoder"], 0, head).name for head in range(3)]
    assert names == ["alignment (predicts)", "alignment (just read)", "duplicate token"]
