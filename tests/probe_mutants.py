"""The lines of cross-checks, source shares, statistical alignment and surgery that `python -m tests.mutate` breaks."""

from __future__ import annotations

CHECKS, SHARES, ALIGNER, KEPT, AGREEMENT, COUNTS, CLASSES, DIFFERENCE, MARKS, SAMPLE = (
    "model/analysis/cross_checks.py",
    "model/analysis/source_share.py",
    "model/analysis/statistical_alignment.py",
    "explorer/probing/cross_checks.py",
    "explorer/probing/map_agreement.py",
    "explorer/probing/source_counts.py",
    "explorer/probing/word_classes.py",
    "explorer/decoding/word_changes.py",
    "explorer/screens/probe/surgery_grid.py",
    "explorer/probing/aligned_sample.py",
)
_COUNTED = ("tests/explorer/probing/test_cross_checks.py",)
PROBE_TESTS: dict[str, tuple[str, ...]] = {
    CHECKS: ("tests/model/analysis/test_cross_checks.py",),
    SHARES: ("tests/model/analysis/test_source_share.py",),
    ALIGNER: ("tests/model/analysis/test_statistical_alignment.py",),
    KEPT: _COUNTED,
    AGREEMENT: _COUNTED,
    COUNTS: _COUNTED,
    CLASSES: ("tests/explorer/probing/test_word_classes.py",),
    DIFFERENCE: ("tests/explorer/decoding/test_word_changes.py",),
    MARKS: ("tests/explorer/screens/test_surgery_grid.py",),
    SAMPLE: ("tests/explorer/probing/test_aligned_sample.py",),
}

_NEAR = "near = np.maximum(0.0, whole - np.abs(self.output[:, None] - self.parts).sum(axis=-1))"
_PAST = "past = torch.diag_embed(stream.T).permute(1, 2, 0) if own else stream[:, None]  # [query, key or 1, d_model]"
_MET = "met = seen & (self.cells[at] == wanted)"
_DIAGONAL = "near = np.exp(-TENSION * np.abs((np.arange(n) + 1)[None, :] / n - (np.arange(m) + 1)[:, None] / m))"
_SAME = "same = [float((largest[one] == largest[two])[rows].sum()) for one, two in PAIRS]"
_STAYS = "stays = np.stack([found.stays[name] for name in COUNTERFACTUALS], axis=1)[: len(target)]  # [tgt, kind]"
_SHARES = "shares = source_shares(loaded.transformer, (*source.ids, EOS), (SOS, *target))[: len(target)]"
_MOMENTS = "moments[nth] = len(x), x.sum(), shares.sum(), (x**2).sum(), (shares**2).sum(), (x * shares).sum()"
_HEADS = "heads = projection.view(len(projection), len(values), -1)  # [d_model, head, d_head]"
_MOVED = "moved: Floats = scale * (values - values.mean(axis=-1, keepdims=True)) / by"
_MARKED = "marks = {change.place[1:]: MARKS[change.op] for change in changes if change.kind == kind}"

PROBE_CHANGES: dict[str, tuple[tuple[str, str, str], ...]] = {
    CHECKS: (
        ("copy[keys, :, keys] = 0.0  # key j in sentence j, [sentence, head, key, d_head]", "= 0.0", "*= 0.5"),
        ("copy[rows, :, rows] = other", "rows, :, rows", "rows, :, rows - 1"),
        ("other = torch.full_like(own, 1 / own.size(-1))", "1 / own.size(-1)", "1.0"),
        ("norms = written(weights, value, projection, gate).norm(dim=-1).numpy()", "dim=-1", "p=1, dim=-1"),
        ("total = values.sum(axis=1, keepdims=True)", "axis=1", "axis=0"),
    ),
    SHARES: (
        (_NEAR, "np.maximum(0.0, ", "np.abs("),
        (_PAST, "stream[:, None]", "0 * stream[:, None]"),
        ("share = attention.shares() @ share", "attention.shares() @ share", "share"),
        ("share = mixed[:, :-1].sum(axis=1) + mixed[:, -1] * share", "mixed[:, -1] * share", "0"),
        (_HEADS, "projection.view", "projection.T.reshape"),
        (_MOVED, " - values.mean(axis=-1, keepdims=True)", ""),
    ),
    ALIGNER: (
        ("return Aligner(forward, backward, len(words))", "forward, backward", "forward, forward"),
        ("return WordLinks(tuple(left), tuple(right), ahead & back, ahead | back)", "ahead & back", "ahead | back"),
        (_MET, " & (self.cells[at] == wanted)", ""),
        (_DIAGONAL, "-TENSION", "TENSION"),
        ("diagonal = (1 - EMPTY) * near / near.sum(axis=1, keepdims=True)", "(1 - EMPTY) * ", ""),
        ("counts = np.bincount(at, weights=share, minlength=len(cells)) + SMOOTHING", " + SMOOTHING", " + 1.0"),
        ("word_of = cells // len(written)  # the source word of each cell", "//", "%"),
        ("joint = delta * t[at]", "delta * ", ""),
    ),
    KEPT: (
        (_STAYS, "[: len(target)]", ""),
        ("counted[name][nth] += row", "[nth]", "[0]"),
    ),
    AGREEMENT: (
        ("rows = (seen > 1) & (maps.zeroed.sum(axis=1) > 0)", "(seen > 1) & ", ""),
        (_SAME, "[rows]", ""),
    ),
    COUNTS: (
        (_SHARES, "[: len(target)]", ""),
        ('names = {"all", THIRDS[3 * t // len(shares)]}', "3 * t // len(shares)", "2 * t // len(shares)"),
        (_MOMENTS, "(x * shares).sum()", "(x * x).sum()"),
    ),
    CLASSES: (
        ("spans[word] = min(first, start), max(last, end)", "max(last, end)", "last"),
        ('bare = word.strip().lower().replace("’", "\'")', ".lower()", ""),
    ),
    DIFFERENCE: (
        ('return f"{old} became {new}" if span.before else f"{new} is new"', "if span.before", "if span.after"),
    ),
    MARKS: ((_MARKED, " if change.kind == kind", ""),),
    SAMPLE: (("if has_gold(sample):", "has_gold(sample)", "False"),),
}
