"""The Probe page's sample as a URL parameter: a score or a role means little without the sentences behind it.

`sample=task.50` is fifty sentences of the task's test set and `sample=scenes.50` fifty of the scenes; `.translated`
reads them with the model's own translations, `.aligned` aligns their words statistically. `sample=own.200.…` carries a
user's own list, compressed.
"""

from __future__ import annotations

import base64
import binascii
import re
import zlib

from explorer.probing.sample import MAX_CHARACTERS, MAX_SENTENCES, SampleChoice, SampleError, lines_of

MAX_LINK = 4000  # characters; servers and browsers truncate longer addresses
_TOO_LONG = "-"  # in place of a list that does not fit
_FORM = re.compile(r"(task|own|scenes)\.([1-9]\d{0,3})(\.translated)?(\.aligned)?(?:\.([A-Za-z0-9_-]+))?")


def to_link(choice: SampleChoice, default: SampleChoice | None = None) -> str:
    """The choice as the value of the parameter; empty for the default."""
    if choice == (default or SampleChoice()):
        return ""
    marks = (".translated" if choice.translated else "") + (".aligned" if choice.aligned else "")
    text = f"{choice.origin}.{choice.size}{marks}"
    if choice.origin != "own":
        return text
    packed = base64.urlsafe_b64encode(zlib.compress("\n".join(choice.lines).encode(), 9)).decode().rstrip("=")
    return f"{text}.{packed if len(packed) <= MAX_LINK else _TOO_LONG}"


def from_link(text: str) -> SampleChoice:
    """Parse the parameter, which is untrusted.

    Raises:
        SampleError: it names no sample; the message says what is measured instead.
    """
    match = _FORM.fullmatch(text)
    if match is None or int(match[2]) > MAX_SENTENCES or (match[1] == "own") != bool(match[5]):
        raise SampleError("The link's sample cannot be read; the task's test set is measured instead.")
    size, translated, aligned = int(match[2]), bool(match[3]), bool(match[4])
    if match[1] == "task":
        return SampleChoice("task", (), size, translated, aligned)
    if match[1] == "scenes":
        return SampleChoice("scenes", (), size, translated, aligned)
    if match[5] == _TOO_LONG:
        raise SampleError(
            "The list of sentences behind this link was too long for a link. The task's test set is measured "
            "instead: enter the list again under 'Choose sentences'."
        )
    return SampleChoice("own", lines_of(_unpacked(match[5])), size, translated, aligned)


def _unpacked(packed: str) -> str:
    """The list as text; decompression stops at the size limit of a list, however small the link."""
    try:
        content = zlib.decompressobj().decompress(
            base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4)), 4 * MAX_CHARACTERS
        )
        return content.decode()
    except (binascii.Error, zlib.error, ValueError):
        raise SampleError("The link's sentences cannot be read; the task's test set is measured instead.") from None
