"""Artificial maps on screen, for tests of the export."""

from explorer.decoding.coordinates import Place
from explorer.decoding.shown_maps import ShownMaps, shown_maps
from model.trace import AttentionTrace
from tests.explorer.attention_files import weights_of
from tests.explorer.planted import planted_trace

HOSTILE = (
    "</script>",
    "<img src=x onerror=alert(1)>",
    "$x^2$",
    "=1+1",
    "the",
    "the",
    "मुझे",
    "שלום",
    "人工知能",
    "👩‍👩‍👧",
    "a\nb",
    "\x00",
    "<eos>",
)
VIEWS = (
    "heads",
    "heads.beside.max",
    "head",
    "head.log",
    "lines",
    "lines.h-0-1-2.mass-50",
    "text",
    "text.steps",
)


def noisy(layers: tuple[int, int] = (2, 3), heads: tuple[int, int] = (3, 2)) -> AttentionTrace:
    """A trace with weights of many digits, and hostile tokens."""
    plain = planted_trace(HOSTILE, ("<sos>", "je", "lis", "=cmd"), layers=layers, heads=heads)
    return AttentionTrace(
        **{
            **vars(plain),
            "encoder": weights_of(*plain.encoder.shape, seed=1),
            "decoder": weights_of(*plain.decoder.shape, seed=2, causal=True),
            "cross": weights_of(*plain.cross.shape, seed=3),
        }
    )


def on_screen(
    trace: AttentionTrace, view: str, kind: str = "cross", layer: int = 1, head: int = 1, row: int = 2
) -> ShownMaps:
    return shown_maps(trace, Place(kind, layer, head, row, None, row), view, facts=("Model m", "Sentence: <b>x</b>"))
