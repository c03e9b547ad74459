"""Log unexpected exceptions, which are bugs in the program: each once, with its traceback."""

from __future__ import annotations

import logging

_log = logging.getLogger("headlight")
_logged: set[tuple[str, str, int]] = set()  # bounded by the lines of the program


def report(fault: Exception) -> None:
    """Log an exception unless one of the same type was logged from the same line: live pages rerun every second."""
    trace = fault.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = (trace.tb_frame.f_code.co_filename, trace.tb_lineno) if trace is not None else ("", 0)
    key = (type(fault).__name__, *place)
    if key not in _logged:
        _logged.add(key)
        _log.error("A fault in Headlight; it is logged only this once.", exc_info=fault)
