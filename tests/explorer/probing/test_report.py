"""All measurements as files: CSV, JSON, and an HTML report."""

import csv
import html
import io
import json
import re

from explorer.files.tables import table_csv
from explorer.probing.measured import Measured
from explorer.probing.report import Section, as_json, as_report
from explorer.probing.tables import number_rows


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
    assert report.count("<table") == 3 + 1
