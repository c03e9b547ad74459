"""What the card of a head and the tables of all heads show, and all measurements as files."""

import csv
import html
import io
import json
import re
from dataclasses import replace

import numpy as np
import pytest

from explorer.files.tables import table_csv
from explorer.locale.language import written_in
from explorer.probing.head_card import (
    MIN_ROWS,
    Example,
    counted_cells,
    example_statistic,
    examples,
    framed_weight,
)
from explorer.probing.measured import Measured, read_again
from explorer.probing.measurement import WITHOUT_SINKS, places_of, sentence_scores
from explorer.probing.pattern_cells import partners
from explorer.probing.report import Section, as_json, as_report
from explorer.probing.roles import role_of, statistic_title
from explorer.probing.tables import (
    brief_rows,
    colour_range,
    head_numbers,
    kinds_with,
    number_rows,
)
from model.checkpoint import LoadedModel
from tests.explorer.probed import quiet


def test_the_order_of_the_sentences_from_worst_to_best(measured: Measured) -> None:
    scores = measured.probe.kinds["cross"]
    role = role_of(scores, 0, 0)
    statistic = example_statistic(role, scores)
    assert statistic == "aligned_without_sinks"
    single = scores.single[statistic]
    best, median, worst = order = list(examples(scores, statistic, 0, 0, [MIN_ROWS] * len(single.own)).values())
    values = scores.single[statistic].own[:, 0, 0]
    uniform = scores.single[statistic].uniform
    differs = uniform < 1  # not in a string of two letters, of which one is a sink
    assert not differs.all()
    gains = (values[differs] - uniform[differs]) / (1 - uniform[differs])
    known = sorted(value for value in gains.tolist() if np.isfinite(value))
    assert (worst.gain, median.gain, best.gain) == (known[0], known[round((len(known) - 1) / 2)], known[-1])
    assert all(values[item.index] == item.score for item in order)
    assert Example(0, 0.86, 0.5).sort_key() == "0.86 (uniform 0.50; 72 % of the way to 1)"
    said = "0.76 = 0.87 on right words − 0.11 on shuffled partners"
    assert Example(0, 0.7649, 0.01).sort_key(0.8651) == said, "what is shown adds up, though 0.1002 is taken off"
    rows = [MIN_ROWS if nth != best.index else 2 for nth in range(len(single.own))]
    assert examples(scores, statistic, 0, 0, rows)["Best"].gain < best.gain, "a mean over two rows is chance"
    assert examples(scores, "aligned_input_without_sinks", 0, 0, [2] * len(rows)), "unless all are as short"
    plain = measured.probe.kinds["encoder"]
    unclear = role_of(plain, 0, 0)
    assert not unclear.clear
    assert example_statistic(unclear, plain) == unclear.judged[0], "what it was judged by, though it is not clear"


def test_the_cells_that_count_hold_the_weight_of_the_score(measured: Measured, reverse: LoadedModel) -> None:
    (observed,) = read_again(measured.sample.part([5]), reverse, quiet)
    scores = sentence_scores(observed, "cross")
    framed = counted_cells(observed, "cross", "aligned_without_sinks")
    n = len(observed.src_ids) - 1
    assert framed == tuple((row, n - 1 - row) for row in range(n - 1)), "letters from the last; the first is a sink"
    rows, columns = np.array(framed).T
    weights = observed.trace.cross[:, :, rows]
    share = weights[..., np.arange(len(rows)), columns].sum(axis=-1) / weights[..., 1:-1].sum(axis=(-1, -2))
    np.testing.assert_allclose(share, scores["aligned_without_sinks"], rtol=1e-4)

    for layer, head in np.ndindex(*share.shape):
        on_cells, outside = framed_weight(observed, ("cross", layer, head), framed)
        assert on_cells / outside == pytest.approx(share[layer, head], rel=1e-4)
    assert framed_weight(observed, ("cross", 0, 0), ((1, 1), (1, 2)))[1] == pytest.approx(
        observed.trace.cross[0, 0, 1, 1:-1].sum()
    ), "a row with two cells counts once"

    assert len(counted_cells(observed, "cross", "aligned")) == n, "with the sink"
    assert counted_cells(observed, "cross", "confidence") == ()
    assert set(counted_cells(observed, "decoder", "previous")) == {(row, row - 1) for row in range(1, n + 1)}


@pytest.mark.parametrize("name", ["lexical", "lexical_input"])
def test_a_lexical_score_is_the_framed_weight_less_that_on_shuffled_partners(
    name: str, measured: Measured, reverse: LoadedModel
) -> None:
    lengths = [len(source.ids) for source in measured.sample.sources]
    (observed,) = read_again(measured.sample.part([lengths.index(max(lengths))]), reverse, quiet)
    n = max(lengths)
    observed = replace(observed, alignment=tuple(((5 * nth + nth // 3) % n,) for nth in range(n)))  # along no diagonal
    places, weights = places_of(observed, "cross"), observed.trace.cross.astype(np.float64)
    right, outside = partners(observed, read=name.endswith("_input")), ~places.sinks
    scores, taken_off = sentence_scores(observed, "cross")[name + WITHOUT_SINKS], []
    for factors in places.lexical[name][:2]:
        rows = ((factors * outside) > 0).any(axis=-1)
        total = weights[..., rows, :][..., outside].sum(axis=(-1, -2))
        taken_off.append((weights * (right - factors) * outside).sum(axis=(-1, -2)) / total)
    cells = counted_cells(observed, "cross", name + WITHOUT_SINKS)
    for layer, head in np.ndindex(*scores.shape):
        on_cells, of_rows = framed_weight(observed, ("cross", layer, head), cells)
        shuffled = max(each[layer, head] for each in taken_off)
        assert on_cells / of_rows - shuffled == pytest.approx(scores[layer, head], abs=1e-5)


def test_the_scores_of_a_head_that_follows_the_word_just_read_are_those_of_that_word(measured: Measured) -> None:
    rows = head_numbers(measured.probe, "cross", 0, 0)
    names = {"aligned": "alignment accuracy", "aligned_input": "alignment accuracy (just read)"}
    for role, own in names.items():
        judged = role + WITHOUT_SINKS
        brief = brief_rows(rows, (judged,))
        assert brief[0]["statistic"] == statistic_title(judged), "the score that judges the head comes first"
        differences = [row[name] for row in brief for name in ("above uniform", "above untrained") if row[name]]
        assert not any(row["mean"].startswith(("+", "−")) for row in brief)
        assert all(text.startswith(("+", "−", "0.00")) for text in differences), "differences have a sign"
        said = {row["statistic"] for row in brief}
        assert {name in said for name in set(names.values()) - {own}} == {False}
        assert own in said
    assert any(row["statistic"] == "mean distance (tokens)" for row in brief_rows(rows, every=True)) is any(
        row["statistic"] == "mean distance" for row in rows
    )


def test_maps_of_one_statistic_share_a_colour_scale(measured: Measured) -> None:
    probe = measured.probe
    largest = max(kind.scores["effective_keys"].mean.max() for kind in probe.kinds.values())
    assert [colour_range(probe, name) for name in ("previous", "effective_keys")] == [(0.0, 1.0), (0.0, largest)]
    assert [kinds_with(probe, name) for name in ("aligned", "next")] == [["cross"], ["encoder"]]


def test_csv_and_json_are_read_back(measured: Measured) -> None:
    rows = number_rows(measured.probe)
    again = list(csv.DictReader(io.StringIO(table_csv(rows).decode("utf-8-sig"))))
    for row, text in zip(rows, again, strict=True):
        assert text["statistic"] == row["statistic"]
        assert (float(text["mean"]) if text["mean"] else None) == row["mean"]
    written = json.loads(as_json(measured.probe, "reverse", str(measured.about)))
    assert (written["model"], written["numbers"], len(written["heads"])) == ("reverse", rows, 12)
    assert written["heads"][-1]["role"] == "alignment (predicts)"


def test_the_report_is_one_page_that_loads_nothing(measured: Measured) -> None:
    evil = "<script>alert(1)</script>"
    section = Section(
        "The importance of each head", [{"kind": "cross", "head": evil, "loss": 0.5}], f"{evil} says it.", "importance"
    )
    report = as_report(measured.probe, evil, f"{evil} & more", [section])
    assert "<script" not in report
    assert not re.search(r"\b(src|href)\s*=", report)
    text = html.unescape(re.sub("<[^>]*>", " ", report))
    error = measured.probe.kinds["cross"].corpus["error_rate"].estimate
    for part in (
        f"The heads of {evil}",
        "alignment (predicts)",
        "The importance of each head",
        f"{evil} says it.",
        f"{error.value[0, 0]:.2f} ({error.low[0, 0]:.2f} to {error.high[0, 0]:.2f})",
    ):
        assert part in text
    assert report.count("<table") == 3 + 1
    with written_in("de"):
        assert "0,500" in as_report(measured.probe, "reverse", "", [section]), "the decimal mark of the language"
