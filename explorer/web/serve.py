"""The server's process: Streamlit's command line, ended when the process that started it is gone.

Its standard input is a pipe of which only the starter has the other end. Whatever happens to the starter, the system
closes that end. `python -m explorer` starts `python -m explorer.web.serve run app.py …`.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time

from streamlit.web import cli

PATIENCE_SECONDS = 2.0


def main() -> None:
    """Serve until a signal comes or the pipe closes."""
    threading.Thread(target=_end_with_the_starter, name="starter", daemon=True).start()
    cli.main(prog_name="streamlit")


def _end_with_the_starter() -> None:
    # Not sys.stdin: a thread that waits in it holds a lock that the interpreter needs in order to end.
    while os.read(sys.stdin.fileno(), 64):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(PATIENCE_SECONDS)
    os._exit(1)


if __name__ == "__main__":
    main()
