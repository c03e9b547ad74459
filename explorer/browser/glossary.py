"""The explanations of the glossary's terms: what a link to a term shows on hover, focus or tap, on every page.

A term is a link to `#term-…`, in Markdown (:func:`explorer.locale.glossary.explained`) as in our own components
(js/terms.js). This component listens to them all, so a page mounts it once.
"""

from __future__ import annotations

from explorer.browser.registration import component
from explorer.locale.glossary import GLOSSARY, address_of

_component = component("glossary", "glossary")
# All of it, always: a message of this size is sent once per browser tab, a smaller one again with each script run.
# A tuple: of a dictionary or a list, Streamlit asks pandas whether it is a table, and imports it for that.
_TERMS = tuple((address_of(entry.term), entry.term, entry.plain, entry.explanation) for entry in GLOSSARY)


def glossary() -> None:
    """Let the terms on this page explain themselves; call this at the end of the page, where it moves nothing."""
    _component(key="glossary", data={"terms": _TERMS}, height="content")
