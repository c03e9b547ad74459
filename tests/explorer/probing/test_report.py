"""All measurements as files: CSV, JSON and an HTML report."""

from __future__ import annotations

import csv
import io
import json
from html.parser import HTMLParser

from explorer.files.tables import table_csv
from explorer.probing.measured import Measured
from explorer.probing.report import Section, as_json, as_report
from explorer.probing.tables import number_rows


def test_csv_is_read_back(measured: Measured) -> None:
    rows = number_rows(measured.probe)
    again = list(csv.DictReader(io.StringIO(table_csv(rows).decode("utf-8-sig"))))
    assert len(again) == len(rows)
    for row, text in zip(rows, again, strict=True):
        assert text["statistic"] == row["statistic"]
        assert (float(text["mean"]) if text["mean"] else None) == row["mean"]


def test_json_is_read_back(measured: Measured) -> None:
    again = json.loads(as_json(measured.probe, "reverse", measured.about))
    assert again["model"] == "reverse"
    assert again["numbers"] == number_rows(measured.probe)
    assert len(again["heads"]) == 12
    assert again["heads"][-1]["role"] == "alignment (predicts)"


class Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [value or "" for name, value in attrs if name in ("src", "href")]

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def test_the_report_is_one_page_that_loads_nothing(measured: Measured) -> None:
    evil = "<script>alert(1)</script>"
    section = Section("The importance of each head", [{"kind": "cross", "head": evil, "loss": 0.5}], f"{evil} says it.")
    page = as_report(measured.probe, evil, f"{evil} & more", [section])
    reader = Reader()
    reader.feed(page)
    assert "script" not in reader.tags
    assert not reader.links
    text = " ".join(reader.text)
    assert f"The heads of {evil}" in text
    assert "alignment (predicts)" in text
    assert "The importance of each head" in text
    assert f"{evil} says it." in text
    assert "svg" in reader.tags, "the map of roles as a figure"
    error = measured.probe.kinds["cross"].corpus["error_rate"].estimate
    assert f"{error.value[0, 0]:.2f} ({error.low[0, 0]:.2f} to {error.high[0, 0]:.2f})" in text
    assert reader.tags.count("table") == 3 + 1
