"""All measurements as files: CSV, JSON, an HTML report, and the map of roles."""

import csv
import html
import io
import json
import re
from xml.etree import ElementTree

import pytest

from explorer.files.tables import table_csv
from explorer.probing.measured import Measured
from explorer.probing.report import Section, as_json, as_report, role_map_svg
from explorer.probing.roles import LETTERS, NO_ROLE
from explorer.probing.tables import number_rows
from tests.explorer.probed import HEADS, observed, probe_of


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
    section = Section("The importance of each head", [{"kind": "cross", "head": evil, "loss": 0.5}], f"{evil} says it.")
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
    assert "<svg" in report, "the map of roles as a figure"
    assert report.count("<table") == 3 + 1


@pytest.mark.parametrize("name", ["reverse", "<script>alert(1)</script>"])
def test_the_role_map_is_a_picture_without_markup_of_others(name: str) -> None:
    items = [observed(6 + i % 5, 6, encoder=(HEADS["previous"], HEADS["uniform"])) for i in range(50)]
    root = ElementTree.fromstring(role_map_svg(probe_of(items, seeds=2), name, "fifty sentences"))
    texts = [element.text for element in root.iter() if element.tag.endswith("text")]
    assert texts[0] == f"The heads of {name}"
    assert float(root.get("width", "0")) > 6 * max(len(text or "") for text in texts), "no line is cut off"
    assert {"Pv", "previous token", NO_ROLE} <= set(texts)
    assert len(set(LETTERS.values())) == len(LETTERS), "letters of its own for every role"
    assert not [element for element in root.iter() if element.tag.endswith("script")]
