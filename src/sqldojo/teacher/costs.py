"""What calls to providers took: tokens and US dollars by model, and for each thing kept of what they brought."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from sqldojo.teacher.cassette import Recorded


def spending(calls: Iterable[Recorded], kept: Mapping[str, int]) -> dict[str, Any]:
    """For metrics: calls, failures by kind, tokens and US dollars, `all` together and for each of the `models`.

    `kept` counts, by model, what came of it: accepted types, or verified solutions. `usd_per_kept` is absent where
    nothing was.
    """
    lines = list(calls)
    by_model = {
        model: _sums([line for line in lines if line.model == model], kept.get(model, 0))
        for model in sorted({line.model for line in lines} | set(kept))
    }
    return {"all": _sums(lines, sum(kept.values())), "models": by_model}


def _sums(lines: list[Recorded], kept: int) -> dict[str, Any]:
    replies = [line.reply for line in lines if line.reply is not None]
    usd = math.fsum([*(reply.usd for reply in replies), *(line.wasted_usd for line in lines)])
    return {
        "calls": len(replies),
        "failures": dict(sorted(Counter(line.failure for line in lines if line.reply is None).items())),
        "input_tokens": sum(reply.input_tokens for reply in replies),
        "output_tokens": sum(reply.output_tokens for reply in replies),
        "usd": round(usd, 6),
        "kept": kept,
    } | ({"usd_per_kept": round(usd / kept, 6)} if kept else {})
