"""Attention by part of speech and by dependency relation, as rows of tables and sentences."""

from __future__ import annotations

from typing import Any

from explorer.decoding.names import index_name
from explorer.locale.text import plural
from explorer.probing.syntax import LEAST_ROWS, OFFSET_MARGIN, RelationScores, TagScores


def tag_rows(scores: TagScores) -> list[dict[str, Any]]:
    """A row for each head and one for uniform attention; a column for each part of speech, the commonest first."""
    tags = sorted(scores.mean, key=lambda tag: -scores.sentences[tag])
    rows: list[dict[str, Any]] = [{"head": "uniform"} | {tag: round(scores.uniform[tag], 3) for tag in tags}]
    shape = next(iter(scores.mean.values())).shape if tags else (0, 0)
    for layer in range(shape[0]):
        for head in range(shape[1]):
            values = {tag: round(float(scores.mean[tag][layer, head]), 3) for tag in tags}
            rows.append({"head": index_name(layer, head)} | values)
    return rows


def tag_sentence(scores: TagScores) -> str:
    """Which head exceeds uniform attention most, and on which part of speech."""
    gains = [
        (float(values[layer, head] - scores.uniform[tag]), tag, layer, head)
        for tag, values in scores.mean.items()
        for layer in range(values.shape[0])
        for head in range(values.shape[1])
    ]
    if not gains:
        return "No word of the sample has a part of speech."
    _, tag, layer, head = max(gains)
    return (
        f"Furthest above uniform attention: {index_name(layer, head)} on {tag} "
        f"({scores.mean[tag][layer, head]:.2f} instead of {scores.uniform[tag]:.2f}, over "
        f"{plural(scores.sentences[tag], 'sentence')})."
    )


def relation_rows(scores: RelationScores) -> list[dict[str, Any]]:
    """A row for each relation, the commonest first: its best head beside the best fixed distance."""
    rows = []
    for relation in sorted(scores.rows, key=lambda name: -scores.rows[name]):
        values = scores.accuracy[relation]
        layer, head = divmod(int(values.argmax()), values.shape[1])
        offset, baseline = scores.offset[relation]
        rows.append(
            {
                "relation": relation,
                "words": scores.rows[relation],
                "best head": index_name(layer, head),
                "accuracy (%)": round(100 * float(values[layer, head]), 1),
                "mean weight": round(float(scores.weight[relation][layer, head]), 3),
                "best distance": f"{offset:+d}",
                "its accuracy (%)": round(100 * baseline, 1),
                "heads beyond the margin": ", ".join(index_name(*place) for place in scores.clear(relation)) or "none",
            }
        )
    return rows


def relation_sentence(scores: RelationScores) -> str:
    """How many relations at least one head has learned, and the rule for that."""
    clear = sorted(relation for relation in scores.rows if scores.clear(relation))
    rule = (
        f"A head has learned a relation if it finds the right word {100 * OFFSET_MARGIN:.0f} percentage points more "
        f"often than the best fixed distance, over at least {plural(LEAST_ROWS, 'word')}."
    )
    named = f": {', '.join(clear)}" if clear else ""
    verb = "has" if len(clear) == 1 else "have"
    return f"{len(clear)} of {plural(len(scores.rows), 'relation')} {verb} such a head{named}. {rule}"
