"""Write HTML files that need no network and, by default, run no script."""

from __future__ import annotations

import html
import re

from explorer.locale import language

STYLE = """
body{font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",Arial,sans-serif;color:#1d2733;background:#fff;
margin:2rem auto;max-width:72rem;padding:0 1rem}
h1{font-size:1.3rem}h2{font-size:1.05rem;margin-top:2rem}
svg{max-width:100%;height:auto}figure{margin:1rem 0}
.wide{overflow-x:auto}
table{border-collapse:collapse;font-size:13px;font-variant-numeric:tabular-nums}
th,td{border:1px solid #d7dde3;padding:2px 6px;text-align:right}th{background:#f3f5f7;font-weight:600}
th[scope=row]{text-align:left}td.masked{background:#ececec;color:#56606a}
pre{background:#f3f5f7;padding:.75rem;overflow-x:auto;white-space:pre-wrap;overflow-wrap:anywhere}
"""
# Nothing may be loaded and no script may run, whatever the tokens contain.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def document(
    title: str,
    body: str,
    *,
    written_in: str = "",
    style: str = STYLE,
    policy: str = _POLICY,
    theme: str = "",
    refresh: str = "",
) -> bytes:
    """Write an HTML file around `body`, which must be escaped already; by default nothing in it may load or run.

    `written_in` is the code of its language, by default the one chosen. `refresh` is an escaped address that the
    browser goes to at once.
    """
    goes = f'\n<meta http-equiv="refresh" content="0; url={refresh}">' if refresh else ""
    attribute = f' data-theme="{theme}"' if theme else ""
    return f"""<!DOCTYPE html>
<html lang="{html.escape(written_in or language.current())}"{attribute}>
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width,initial-scale=1">{goes}
<title>{html.escape(title)}</title>
<style>{style}</style>
</head>
<body>
{body}
</body>
</html>
""".encode()


def inline(svg: bytes) -> str:
    """Turn an SVG file into an element of a page: without prolog, document type and metadata."""
    text = svg.decode("utf-8")
    text = text[text.index("<svg") :]
    return re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
