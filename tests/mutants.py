"""The lines that `python -m tests.mutate` breaks, one at a time: scaling, masks, taps, edits, labels and roles."""

from __future__ import annotations

from dataclasses import dataclass

from tests.import_mutants import IMPORT_CHANGES, IMPORT_TESTS
from tests.machine_mutants import MACHINE_CHANGES, MACHINE_TESTS
from tests.probe_mutants import PROBE_CHANGES, PROBE_TESTS

ATTENTION, TRANSFORMER, STATE, VARIANTS, FUSED, TAP, RECORDING, SEARCH, EDITS, DROPOUT, MASKS, MASKING, PROBE = (
    "model/attention.py",
    "model/transformer.py",
    "model/state.py",
    "model/attention_variants.py",
    "model/training/fused.py",
    "model/tap.py",
    "model/recording.py",
    "model/decoding/search.py",
    "model/edits.py",
    "model/dropout.py",
    "model/masks.py",
    "model/analysis/mask_effects.py",
    "explorer/probing/measurement.py",
)
CONSISTENCY = "model/training/consistency.py"
SHORT, PRODUCTS, GROWTH, CHAINS, PAIRS = (
    "model/training/short_attention.py",
    "model/training/products.py",
    "model/training/growth.py",
    "model/chains.py",
    "explorer/runs/experiment_pairs.py",
)
HEAD_SCORES, ROLES, LEXICAL, CELLS, BOOTSTRAP, WORDS, TERMS, ABLATION = (
    "explorer/probing/head_scores.py",
    "explorer/probing/roles.py",
    "explorer/probing/lexical_cells.py",
    "explorer/probing/pattern_cells.py",
    "model/analysis/bootstrap.py",
    "model/analysis/word_alignment.py",
    "model/analysis/score_terms.py",
    "model/analysis/importance.py",
)
TESTS: dict[str, tuple[str, ...]] = {
    **IMPORT_TESTS,
    **MACHINE_TESTS,
    **PROBE_TESTS,
    ATTENTION: (
        "tests/model/test_attention.py",
        "tests/model/test_transformer.py",
        "tests/model/test_tap.py",
        "tests/model/decoding/test_stepping.py",
    ),
    FUSED: ("tests/model/training/test_fused.py",),
    SHORT: ("tests/model/training/test_fused.py",),
    PRODUCTS: ("tests/model/training/test_products.py",),
    GROWTH: ("tests/model/training/test_growth.py",),
    CHAINS: ("tests/model/test_reproduce.py",),
    PAIRS: ("tests/explorer/runs/test_experiment_pairs.py",),
    TRANSFORMER: ("tests/model/test_transformer.py", "tests/model/decoding/test_stepping.py"),
    STATE: ("tests/model/decoding/test_stepping.py",),
    VARIANTS: ("tests/model/test_transformer.py",),
    TAP: ("tests/model/test_tap.py",),
    RECORDING: ("tests/model/test_trace.py", "tests/model/test_tap.py", "tests/model/decoding/test_stepping.py"),
    SEARCH: ("tests/model/decoding/test_search.py",),
    EDITS: ("tests/model/test_edits.py",),
    DROPOUT: ("tests/model/test_dropout.py",),
    MASKS: ("tests/model/test_masks.py",),
    MASKING: ("tests/model/analysis/test_mask_effects.py",),
    CONSISTENCY: ("tests/model/training/test_consistency.py",),
    PROBE: ("tests/explorer/probing/test_measurement.py", "tests/explorer/probing/test_formulas.py"),
    HEAD_SCORES: ("tests/explorer/probing/test_head_scores.py", "tests/explorer/probing/test_measurement.py"),
    ROLES: ("tests/explorer/probing/test_measurement.py",),
    LEXICAL: ("tests/explorer/probing/test_lexical_cells.py", "tests/explorer/probing/test_measurement.py"),
    CELLS: ("tests/explorer/probing/test_measurement.py", "tests/explorer/probing/test_formulas.py"),
    BOOTSTRAP: ("tests/model/analysis/test_bootstrap.py",),
    WORDS: ("tests/model/analysis/test_word_alignment.py",),
    TERMS: ("tests/model/analysis/test_score_terms.py",),
    ABLATION: ("tests/model/analysis/test_importance.py",),
}


@dataclass(frozen=True)
class Mutant:
    """One line of a file and its replacement; `line` is the whole line without its indentation."""

    file: str
    line: str
    instead: str

    @property
    def tests(self) -> tuple[str, ...]:
        """The test files that must notice the change."""
        return TESTS[self.file]


def _of(file: str, *changes: tuple[str, str, str]) -> tuple[Mutant, ...]:
    """Mutants from (line, a part of it, the replacement of that part)."""
    for line, part, _ in changes:
        if line.count(part) != 1:
            raise ValueError(f"'{part}' must occur once in the listed line '{line}' of {file}.")
    return tuple(Mutant(file, line, line.replace(part, other)) for line, part, other in changes)


_SCORES = "scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))"
_FLOAT = "scores = scores if scores.dtype == torch.float64 else scores.float()"
_FILL = "masked = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)"
_MASK = 'mask = through(tap, "mask", mask)'
_MASKED = 'masked = through(tap, "masked", masked)'
_ZERO = "weights = weights.masked_fill(~mask, 0.0)  # changes only rows without any visible key"
_WEIGHTS = 'weights = through(tap, "weights", weights)'
_DROPPED = "dropped = F.dropout(weights, dropout_p) if dropout_p else weights"
_OUTPUT = "output = dropped.type_as(value) @ value"
_SPLIT = "return x.view(x.size(0), x.size(1), self.n_heads, self.d_head).transpose(1, 2)"
_READ = "output, _ = self.attention(query, key, value, mask=mask, dropout_p=p, tap=tap)"
_JOINED = 'joined = through(tap, "joined", output.transpose(1, 2).flatten(2))'
_PAST = "return torch.cat((past[0], key), dim=2), torch.cat((past[1], value), dim=2)"
_KEY = 'key = through(tap, "key", key_value[0])'

_FUSED = "return F.scaled_dot_product_attention(query, key, value, attn_mask=mask, dropout_p=dropout_p), None"
_FUSED_CLASS = "module.__class__ = FusedAttentionVariant if isinstance(module, AttentionVariant) else FusedAttention"

_KEPT = "self.details[head][-1][point] = tensor.detach()[:, head[2]]"
_NEWEST = "blocks.append(block[:, :, -1:] if blocks else block)"
_PLACED = "joined[:, :, first:end, : block.size(3)] = block.float().cpu().numpy()"
_READ_AGAIN = "offset = state.position if state.causal else 0"
_STEPPED = "return logits, state.after(read, self_kv if state.causal else ())"
_NEXT = "logits = self.logits(hidden[:, -1], tap=tap)  # [batch, new, d_model] -> [batch, tgt_vocab]"
_AFTER = "return DecodeState(self_kv, self.cross_kv, self.src_mask, tokens, self.sources, self.causal)"
_CHOSEN = "chosen = [PAD if done else token for token, done in zip(chosen, finished, strict=True)]"
_ENDED = "done or token == EOS or most <= index + 1"

_VISIBLE = "rows = rows.masked_fill(~mask.expand(weights.shape)[:, edit.head], 0.0)"
_FIRST = 'return 0 if edit.kind == "encoder" else self._n_read - tensor.size(-2)'
_NORMAL = "changed[:, edit.head] = rows / total.masked_fill(total == 0, 1.0)"
_COMPOSED = "tensor = tap(point, tensor)"
_SCOPED = "return self.tap(self.prefix + point, tensor)"
_STABLE = "weights = scores.sub_(scores.amax(dim=-1, keepdim=True).clamp_(min=bounds.min)).exp_()  # [.., query, key]"
_WIDE = "wide = torch.promote_types(dtype, torch.float32)  # holds every int16"
_FACTORS = "kept = bits[:count].to(wide).ge_(round(p * _LEVELS) - _LEVELS // 2)  # 1 or 0"

_CAUSAL = "return torch.ones(length, length, dtype=torch.bool, device=device).tril()[None, None]"
_PADDING = "return (tokens != PAD)[:, None, None, :]"
_TARGET = "return mask & causal_mask(tokens.size(1), tokens.device) if causal else mask"

_OPEN = "if not switches.padding:"
_BOTH = "return Masks(source, target & causal_mask(length) if switches.causal else target)"
_TRIANGLE = "codes[np.triu_indices(len(queries), k=1)] = FUTURE"
_WHEN = 'if kind == "decoder" and switches.causal:'
_CODES = "codes[:, (keys == PAD).numpy()] = PADDING"
_AXES = 'queries, keys = (tgt if kind != "encoder" else src)[row], (tgt if kind == "decoder" else src)[row]'
_REAL = "real = labels != PAD"
_SAY = "mask = padding_mask(src) if closed else torch.ones_like(padding_mask(src))"
_READS = "tgt=pad([(SOS, *path[:-1]) for path in paths]),"
_LABELS = "labels=pad([tuple(path) for path in paths]),"

_SINKS = 'shares.add("elsewhere", np.broadcast_to(~sinks, seen.shape) & seen & rows[:, None])'
_POOLED = "untrained_heads=np.moveaxis(by_head, 1, 0).reshape(values.shape[2], -1),"
_MINIMUM = 'values[name + ending] = np.minimum(values[name + ending], values.pop(f"{name}.mirror{ending}"))'
_INDUCTION = '"induction": after(same & (distance != 0 if kind == "encoder" else distance < 0)) & (distance != 0),'
_SHUFFLED = "others[of, np.arange(len(of))] = 0.0  # a row is not its own comparison"
_DIFFERENCES = "parts.append(np.stack([own, own - uniform, own - item.untrained[..., None]], axis=1))"
_ABOVE = "terms: Floats = self.queries[:, query] @ (self.keys[:, key] - average).T / math.sqrt(self.d_head)"


_FORWARD_KL = "forward_kl = (p * ratio).sum(dim=1, keepdim=True)  # KL(p ‖ q) of each token"
_SYMMETRIC = "total += alpha / 2 * (forward_kl + backward_kl).sum(dtype=total.dtype)"
_CUT = "src_kept, tgt_kept = (torch.rand(tokens.shape, generator=rng) >= p for tokens in (src, tgt_in))"
_CUT_STREAM = 'rng = generator(seed, "cutoff", step, number)'

MUTANTS: tuple[Mutant, ...] = (
    *(mutant for file, changes in IMPORT_CHANGES.items() for mutant in _of(file, *changes)),
    *(mutant for file, changes in MACHINE_CHANGES.items() for mutant in _of(file, *changes)),
    *(mutant for file, changes in PROBE_CHANGES.items() for mutant in _of(file, *changes)),
    *_of(
        ATTENTION,
        (_SCORES, "/", "*"),
        (_SCORES, "math.sqrt(query.size(-1))", "query.size(-1)"),
        (_SCORES, "query.size(-1)", "key.size(-2)"),
        (_FLOAT, ".float()", ""),
        (_FILL, "~mask", "mask"),
        (_FILL, "torch.finfo(scores.dtype).min", "0.0"),
        (_FILL, "torch.finfo(scores.dtype).min", "-torch.inf"),
        (_MASK, "mask =", "_ ="),
        (_MASKED, "masked)", "scores)"),
        (_MASKED, "masked =", "_ ="),
        ("weights = masked.softmax(dim=-1)", "dim=-1", "dim=-2"),
        ("weights = masked.softmax(dim=-1)", "masked", "scores"),
        (_ZERO, "weights.masked_fill(~mask, 0.0)", "weights"),
        (_ZERO, "~mask", "mask"),
        (_WEIGHTS, "weights)", "masked)"),
        (_WEIGHTS, "weights = through", "_ = through"),
        (_DROPPED, "dropped =", "dropped = weights ="),
        (_OUTPUT, "dropped.type_as", "weights.type_as"),
        (_KEY, "key = through", "key, _ = key_value[0], through"),
        (_PAST, "(past[0], key)", "(key, past[0])"),
        (_SPLIT, "self.n_heads, self.d_head).transpose(1, 2)", "self.d_head, self.n_heads).permute(0, 3, 1, 2)"),
        (_READ, "mask=mask", "mask=None"),
        (_READ, "tap=tap", "tap=None"),
        ("p = self.dropout_p if self.training else 0.0", " if self.training else 0.0", ""),
        (_JOINED, ".transpose(1, 2)", ""),
    ),
    *_of(
        TRANSFORMER,
        ("tgt_mask = target_mask(tgt, causal=self.config.causal)", ", causal=self.config.causal", ""),
        ("src_mask=None if bool(src_mask.all()) else src_mask,", ".all()", ".any()"),
        ("causal=self.config.causal if causal is None else causal,", " if causal is None else causal", ""),
        (_READ_AGAIN, " if state.causal else 0", ""),
        (_STEPPED, " if state.causal else ()", ""),
        (_NEXT, "hidden[:, -1]", "hidden[:, 0]"),
    ),
    *_of(
        STATE,
        (_AFTER, "self.causal", "True"),
        (_AFTER, "self.cross_kv", "self_kv"),
        ("causal=self.causal,", "self.causal", "True"),
    ),
    *_of(
        VARIANTS,
        ("longer = query if self.scale_scores else query * math.sqrt(self.d_head)", " * math.sqrt(self.d_head)", ""),
    ),
    *_of(
        FUSED,
        (_FUSED, "attn_mask=mask", "attn_mask=None"),
        (_FUSED, "dropout_p=dropout_p", "dropout_p=0.0"),
        (_FUSED_CLASS, "if isinstance", "if not isinstance"),
        ("twin = copy.deepcopy(model, shared)  # what `shared` holds is not copied", "(model, shared)", "(model)"),
    ),
    *_of(
        SHORT,
        ("scores.view(batch, head, length, -1).add_(mask)", ".add_(mask)", ""),
        (_STABLE, ".sub_(scores.amax(dim=-1, keepdim=True).clamp_(min=bounds.min))", ""),
        ("weights.div_(weights.sum(dim=-1, keepdim=True).clamp_(min=bounds.tiny))", ".clamp_(min=bounds.tiny)", ""),
        ("grad_scores.sub_((grad_scores * weights).sum(dim=-1, keepdim=True)).mul_(weights)", "sub_", "add_"),
        ("grad_k = torch.baddbmm(zero, grad_scores.transpose(1, 2), q, beta=0, alpha=scale)", "alpha=scale", "alpha=1"),
    ),
    *_of(
        PRODUCTS,
        ("return not any(_rounds(batch) for batch in (0, 3))", "not any(_rounds(batch) for batch in (0, 3))", "True"),
        ('if any(bool(has) for name, has in capabilities.items() if "amx" in name):', "amx", "mmx"),
        ("products.fp32_precision = before", "before", '"bf16"'),
        ("fine = 1 + 2.0**-12  # which bf16 does not have", "-12", "-5"),
    ),
    *_of(
        GROWTH,
        ("wide = new * 0 if silent else new.clone()", "if silent", "if not silent"),
        ("weights[key] = new * 0 if _LAST_OF_PART.search(key) else new", "new * 0", "new"),
    ),
    *_of(CHAINS, ("left += [] if step.is_done(folder) else step.reads", "[] if step.is_done(folder) else ", "")),
    *_of(
        PAIRS,
        ("if len(known) < max(ENOUGH, len(pairs)):", "max(ENOUGH, len(pairs))", "ENOUGH"),
        ("return len(known) if signs in ({1}, {-1}) else 0", "{-1}", "{0}"),
    ),
    *_of(
        TAP,
        (_COMPOSED, "tensor = tap", "tap"),
        (_SCOPED, "self.prefix + point", "point"),
        ('return _Prefixed(self.tap, f"{self.prefix}{scope}.")', "{self.prefix}", ""),
        ("return compose(*(within(tap, scope) for tap in self.taps))", "within(tap, scope)", "tap"),
        ("return tensor if tap is None else tap(point, tensor)", "tap(point, tensor)", "tensor"),
    ),
    *_of(
        RECORDING,
        ('if point == "weights":', "weights", "masked"),
        ("self.calls[kind, layer].append(tensor.detach())", ".detach()", ""),
        ("if point == HEAD_POINTS[0]:", "[0]", "[1]"),
        (_KEPT, "head[2]", "head[1]"),
        (_KEPT, ".detach()", ""),
        ("block = torch.stack([layer[row] for layer in weights])", "layer[row]", "layer[0]"),
        (_NEWEST, "-1:", ":1"),
        (_NEWEST, " if blocks else block", ""),
        (_PLACED, ": block.size(3)", "-block.size(3) :"),
    ),
    *_of(
        SEARCH,
        (_CHOSEN, "PAD if done else token", "token"),
        (_ENDED, "done or ", ""),
        (_ENDED, "index + 1", "index"),
        ("finished = tuple(most < 1 for most in limits)", "<", "<="),
    ),
    *_of(
        EDITS,
        (_VISIBLE, "~mask", "mask"),
        (_FIRST, '"encoder"', '"decoder"'),
        (_FIRST, "self._n_read - tensor.size(-2)", "0"),
        (_NORMAL, " / total.masked_fill(total == 0, 1.0)", ""),
        ("self._mask = tensor", "tensor", "None"),
        ("source = offset + i - first", " - first", ""),
        ("changed[:, edit.head, i] = values[offset + i]", "offset + i", "i"),
    ),
    *_of(
        DROPOUT,
        (_WIDE, "torch.promote_types(dtype, torch.float32)", "torch.int16"),
        (_FACTORS, "ge_", "lt_"),
        ("return kept.mul_(1.0 / (1.0 - p)).to(dtype).view(shape)", ".mul_(1.0 / (1.0 - p))", ""),
    ),
    *_of(
        MASKS,
        (_PADDING, "!=", "=="),
        (_PADDING, "[:, None, None, :]", "[:, None, :, None]"),
        (_CAUSAL, "tril()", "triu()"),
        (_CAUSAL, "tril()", "tril(-1)"),
        (_CAUSAL, "tril()", "tril(1)"),
        (_TARGET, "mask & ", "mask | "),
        (_TARGET, "if causal", "if not causal"),
    ),
    *_of(
        MASKING,
        (_OPEN, "if not", "if"),
        (_BOTH, "if switches", "if not switches"),
        (_TRIANGLE, "k=1", "k=0"),
        (_WHEN, 'kind == "decoder" and ', ""),
        (_CODES, "PADDING", "FUTURE"),
        (_CODES, "==", "!="),
        (_AXES, 'kind == "decoder"', 'kind != "encoder"'),
        (_REAL, "!=", "=="),
        (_SAY, "if closed", "if not closed"),
        ('mask = self.target if kind == "decoder" else self.source', "==", "!="),
        (_READS, "(SOS, *path[:-1])", "tuple(path)"),
        (_LABELS, "tuple(path)", "(SOS, *path[:-1])"),
    ),
    *_of(
        CONSISTENCY,
        (_FORWARD_KL, "(p *", "(q *"),
        (_SYMMETRIC, "alpha / 2", "alpha"),
        (_SYMMETRIC, " + backward_kl", ""),
        ("grad_q = (q - p).mul_(alpha)", "(q - p)", "torch.zeros_like(q)"),  # the second view would not learn
        ("grad_p += p.mul_(ratio.sub_(forward_kl)).mul_(alpha)", ".sub_(forward_kl)", ""),
        ("grad_weight += grad_q.T @ rows[1]", "rows[1]", "rows[0]"),
        ("grad_other[at : at + size] = grad_q @ table", "grad_q", "grad_p"),
        ("return tensor * self.src[..., None]", "tensor * self.src[..., None]", "tensor"),
        ("return tensor * self.tgt[..., None]", "self.tgt", "~self.tgt"),
        (_CUT, ">=", "<"),
        (_CUT_STREAM, ", number", ""),
        (_CUT_STREAM, ", step", ""),
    ),
    *_of(
        PROBE,
        (_SINKS, "~sinks", "sinks"),
        ("keys[-1] = False", "False", "True"),
        ("sure_rows[-1] = False", "False", "True"),
        ('if kind != "cross":', "!=", "=="),
        ('if name in ("aligned", "aligned_input"):', '"aligned", "aligned_input"', '"aligned",'),
        ('suffix = name.removeprefix("aligned")', 'name.removeprefix("aligned")', '""'),
        ("even = formulas.uniform_like(places.seen)", "places.seen", "stacked[0, 0, 0] >= 0"),
        ("single[name] = per_sentence(values, chance)", "values,", "values[:, ::-1],"),
        ("self.seeds = len(next(iter(weights.values()))) - 1", " - 1", ""),
        (_MINIMUM, "np.minimum", "np.maximum"),
    ),
    *_of(
        HEAD_SCORES,
        ("own=values[:, 0],", "values[:, 0]", "values[:, -1]"),
        ("others = values[:, 1:]", "values[:, 1:]", "values[:, :-1]"),
        (_POOLED, "np.moveaxis(by_head, 1, 0)", "by_head"),
        (_DIFFERENCES, "own - uniform", "own"),
        (_DIFFERENCES, "own - item.untrained[..., None]", "own - uniform"),
        ("above_uniform=(own > single.uniform[:, None, None]).sum(axis=0),", ">", "<"),
        (
            "deviation: Scores = np.sqrt(mean(centred**2, axis))",
            "np.sqrt(mean(centred**2, axis))",
            "mean(centred**2, axis)",
        ),
        ("known = np.isfinite(values)", "np.isfinite(values)", "np.ones_like(values, dtype=bool)"),
    ),
    *_of(
        ROLES,
        ("least = min(uniform, untrained)", "min", "max"),
        ("uniform = float(item.over_uniform.low[layer, head])", "over_uniform.low", "estimate.low"),
        ("rest = stricter", "stricter", "rest"),
        (
            'return MARGIN - least if np.isfinite(least) and np.isfinite(uniform + untrained) else float("inf")',
            "MARGIN",
            "0",
        ),
    ),
    *_of(
        LEXICAL,
        (_SHUFFLED, "= 0.0", "= 1.0"),
        ("shift = 1 if read else 0", "1 if read else 0", "0"),
        ("cells.append(own - shuffled / (len(rows) - 1))", " - shuffled / (len(rows) - 1)", " + 0.0 * shuffled"),
    ),
    *_of(CELLS, (_INDUCTION, "after(same &", "(same &"), (_INDUCTION, "distance < 0", "distance > 0")),
    *_of(
        BOOTSTRAP,
        ("ordered = np.sort(resampled, axis=0)  # NaN comes last", "np.sort(resampled, axis=0)", "resampled"),
        (
            "return of_ratio(np.where(known, values, 0.0), known.astype(np.float64))",
            "known.astype(np.float64)",
            "np.ones(known.shape)",
        ),
    ),
    *_of(
        WORDS,
        ("first = 1 if read else 0", "1 if read else 0", "0"),
        ("return counts(suggested, gold.sure, gold.possible)", "gold.sure, gold.possible", "gold.possible, gold.sure"),
        ("total: Floats = suggested.sum(axis=(-2, -1)) + sure.sum()", " + sure.sum()", ""),
    ),
    *_of(
        TERMS,
        (_ABOVE, " - average", ""),
        (
            "centred = self.values - self.values.mean(dim=-1, keepdim=True)",
            " - self.values.mean(dim=-1, keepdim=True)",
            "",
        ),
        ("return x.plus(parts, added).with_bias(block.out_proj.bias)", ".with_bias(block.out_proj.bias)", ""),
        (
            "drawn = (self.weights - self.seen / np.maximum(counts, 1)[:, None])[rows]  # [row, key]",
            " - self.seen / np.maximum(counts, 1)[:, None]",
            "",
        ),
    ),
    *_of(
        ABLATION,
        ("cross_kv, start = model.decoder.project_memory(model.encoder.norm(x)), 0", ", 0", ", first"),
        ('edited = kind != "encoder" and layer == first', "layer == first", "layer != first"),
        ("return bootstrap.of_ratio(other.nll - self.nll, self.tokens)", " - self.nll", ""),
    ),
)
