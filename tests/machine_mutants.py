"""The lines of the machine's data that `python -m tests.mutate` breaks."""

from __future__ import annotations

PAYLOAD, DETAILS = "explorer/browser/machine_payload.py", "explorer/browser/machine_details.py"
_MACHINE = ("tests/explorer/browser/test_machine.py",)
MACHINE_TESTS: dict[str, tuple[str, ...]] = dict.fromkeys((PAYLOAD, DETAILS), _MACHINE)

_MAPS = "maps = [_wide(run[name].value[0].float().mean(dim=0).numpy(), keys) for run in _runs_for(view, block)]"
_FULL = 'return float(f"{max(float(np.median(weights.max(axis=-1))), 1e-6):.4g}")'
_ADDED = "numbers = view.added[block.name][:, :NUMBERS]"
_PLACE = 'pictures[block.name] = {**pictured, "at": end, "rows": numbers.shape[0], "width": numbers.shape[1]}'
_ROWS = "rows = np.array((value[0, head - 1] if value.dim() == 4 else value[0]).numpy())"
_DESCRIBED = "columns = [seen.mean(axis=1), seen.std(axis=1), np.ma.sqrt((seen**2).sum(axis=1))]"
_READ = 'found[f"x.{short}"] = run[known[name].reads[0]].value[0].float().numpy()'
_COLUMNS = "columns, rows = heads * _divisor(wide // heads, max(1, MATRIX // heads)), _divisor(high, MATRIX)"

MACHINE_CHANGES: dict[str, tuple[tuple[str, str, str], ...]] = {
    PAYLOAD: (
        (_MAPS, ".mean(dim=0)", "[0]"),
        (_ADDED, ":NUMBERS", "-NUMBERS:"),
        (_PLACE, '"at": end', '"at": max(0, end - 1)'),
        (
            "numbers = np.take_along_axis(rows, view.trace.top_ids, axis=1)",
            "view.trace.top_ids",
            "view.trace.top_ids - 1",
        ),
        ("return view.runs if is_target(block) else view.runs[-1:]", "view.runs if is_target(block) else ", ""),
        ("return [config.n_decoder_layers, config.d_model]", "config.d_model", "config.d_ff"),
        (_FULL, "np.median(weights.max(axis=-1))", "weights.max()"),
        (
            'return {"kind": "map", "side": _side(block), "scale": full_colour(numbers)}, numbers',
            "full_colour(numbers)",
            "1.0",
        ),
        ("rows = 0 if is_target(block) else n_src", "n_src", "n_src - 1"),
    ),
    DETAILS: (
        (_ROWS, "head - 1", "head - 2"),
        (_DESCRIBED, "np.ma.sqrt((seen**2).sum(axis=1))", "np.abs(seen).sum(axis=1)"),
        ("rows[rows <= np.finfo(np.float32).min] = np.nan", "= np.nan", "= 0"),
        (_READ, "known[name].reads[0]", "name"),
        (_COLUMNS, "heads * _divisor(wide // heads, max(1, MATRIX // heads))", "_divisor(wide, MATRIX)"),
        ("if not 1 <= head <= config.n_heads(kind):", "config.n_heads(kind)", "99"),
    ),
}
