"""Write packages for learning platforms: SCORM 1.2, a zip file with a manifest and one HTML file that has everything.

The packages have no copies of the standard's schemas (ADL SCORM 1.2, IMS Content Packaging 1.1.2), which platforms have
themselves.
"""

from __future__ import annotations

import io
import re
import zipfile
from xml.sax.saxutils import escape

PAGE = "index.html"
MANIFEST = "imsmanifest.xml"
MAX_TITLE = 200  # characters, in the standard
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,79}")
_WHEN = (1980, 1, 1, 0, 0, 0)  # of each file, so that the same content gives the same package
_IMS, _ADL = "http://www.imsproject.org/xsd/imscp_rootv1p1p2", "http://www.adlnet.org/xsd/adlcp_rootv1p2"


def package(name: str, title: str, page: bytes) -> bytes:
    """Write a package whose only part (SCO) is `page`, an HTML file that loads nothing.

    `name` identifies the package on a platform: letters, digits and hyphens.

    Raises:
        ValueError: the name is invalid.
    """
    if not _NAME.fullmatch(name):
        raise ValueError(f"The name of a package has letters, digits and hyphens, unlike '{name[:80]}'.")
    files = {MANIFEST: _manifest(name, title), PAGE: page}
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        for file, content in files.items():
            entry = zipfile.ZipInfo(file, _WHEN)
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, content, zipfile.ZIP_DEFLATED, 6)
    return written.getvalue()


def _manifest(name: str, title: str) -> bytes:
    words = escape(_printable(title)[:MAX_TITLE])
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<manifest identifier="headlight-{name}" version="1.0" xmlns="{_IMS}" xmlns:adlcp="{_ADL}">
  <metadata>
    <schema>ADL SCORM</schema>
    <schemaversion>1.2</schemaversion>
  </metadata>
  <organizations default="organization">
    <organization identifier="organization">
      <title>{words}</title>
      <item identifier="item" identifierref="resource" isvisible="true">
        <title>{words}</title>
      </item>
    </organization>
  </organizations>
  <resources>
    <resource identifier="resource" type="webcontent" adlcp:scormtype="sco" href="{PAGE}">
      <file href="{PAGE}"/>
    </resource>
  </resources>
</manifest>
""".encode()


def _printable(text: str) -> str:
    """The text without characters that XML does not allow."""
    return "".join(letter if letter.isprintable() else " " for letter in text)
