"""How long the server takes to answer a moved slider on the teaching pages."""

from __future__ import annotations

import os
from pathlib import Path
from time import perf_counter

from streamlit.testing.v1 import AppTest

from tests.benchmarks.registry import Row, benchmark, median, torch_threads

ROOT = Path(__file__).parents[2]
MODEL, TEXT = "reverse", "abcdefghijklmnop"  # the longest sentence that the model knows
N_WARM_UP, N_MOVES = 2, 12

# Page, tab, kind of widget, its key, and the values that it moves between.
MOVES = (
    ("positions", "The table", "slider", "pe_width", (512, 256)),
    ("positions", "The table", "slider", "pe_length", (128, 100)),
    ("positions", "The table", "select_slider", "pe_base", (100.0, 10_000.0)),
    ("positions", "The rotation", "slider", "pe_offset", (3, 9)),
    ("positions", "Alternatives", "slider", "pe_length", (128, 100)),
    ("positions", "Shuffle the words", "slider", "pe_seed", tuple(range(1, 30))),
    ("positions", "Longer than trained", "slider", "pe_times", (1, 2, 3, 4)),
    ("masks", "The masks", "toggle", "masks_causal", (False, True)),
    ("masks", "Given target", "toggle", "lift_mask", (True, False)),
    ("masks", "Open padding", "slider", "masks_pads", tuple(range(1, 20))),
    ("inside", "The computation", "select_slider", "inside_step_17", tuple(range(1, 17))),
    ("inside", "Layer by layer", "select_slider", "lens_step_17", tuple(range(1, 17))),
    ("inside", "The prediction", "slider", "chance_temperature", (0.5, 1.5)),
    ("inside", "Sizes", "select_slider", "budget_size_d_model", (256, 512)),
)


@benchmark("teach")
def measure() -> list[Row]:
    """Move every slider back and forth; each move is a run of the script as the server makes it, models and all."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    rows = []
    with torch_threads(1):
        for page, tab, kind, key, values in MOVES:
            app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
            app.session_state["model"], app.session_state["text"] = MODEL, TEXT
            app.run()
            app.session_state[f"{page}_tab"] = tab
            app.switch_page(f"pages/{page}.py").run()
            times = []
            for move in range(N_WARM_UP + N_MOVES):
                widget = getattr(app, kind)(key=key)
                widget.set_value(values[move % len(values)])
                began = perf_counter()
                app.run()
                times.append(1000 * (perf_counter() - began))
                if app.exception:
                    raise AssertionError(app.exception[0].message)
            ours = median(times[N_WARM_UP:])
            rows.append(
                Row(
                    measure=f"a move of {key} on {page}, {tab}",
                    ours=ours,
                    unit="ms",
                    target="≤ 300 ms",
                    met=ours <= 300,
                    detail=f"median of {N_MOVES} runs of the whole page, {max(times[N_WARM_UP:]):.0f} ms at most",
                )
            )
    return rows
