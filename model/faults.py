"""Faults of the program itself, which no check foresaw: each is written to the log once, with its traceback."""

from __future__ import annotations

import logging

_log = logging.getLogger("headlight")
_known: set[tuple[str, str, int]] = set()  # at most one for each line of the program


def report(fault: Exception) -> None:
    """Log a fault, unless one of the same kind from the same line has been logged: live pages run every second."""
    trace = fault.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = (trace.tb_frame.f_code.co_filename, trace.tb_lineno) if trace is not None else ("", 0)
    key = (type(fault).__name__, *place)
    if key not in _known:
        _known.add(key)
        _log.error("A fault in Headlight; it is logged only this once.", exc_info=fault)
