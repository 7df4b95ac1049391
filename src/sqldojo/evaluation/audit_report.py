"""The audit as people read it: what one database misses, what four do, and what is left."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqldojo.verifier.audit import (
    FOUR,
    ONE,
    SCOPES,
    THREE,
    ReferenceAudit,
    most_telling,
    score,
    summarise,
    survivors,
)
from sqldojo.verifier.public_rules import DIFFERENCES

_MOST_REFUSED = 50
_SCOPE_TEXTS = {ONE: "one ordinary", THREE: "three ordinary", FOUR: "all four"}


def audit_markdown(audits: Sequence[ReferenceAudit], *, brief: bool = False) -> str:
    """The report as Markdown, what is wrong first; `brief` leaves out the tables that say why the rest is right."""
    found = summarise(audits)
    lines = ["# Audit of the verifier", "", *_overview(found), *_faults(audits, found)]
    return "\n".join(lines if brief else [*lines, *_tables(audits, found)])


def _faults(audits: Sequence[ReferenceAudit], found: Mapping[str, Any]) -> list[str]:
    """Mutants that pass though they can be told apart, and right rewrites that do not pass."""
    lines = ["## Missed", "", *_survivor_table(audits, missed=True)] if found["mutants"]["missed"] else []
    refused = [(audit, rewrite) for audit in audits for rewrite in audit.rewrites if rewrite.refused]
    if refused:
        rows = [
            [_code(audit.subject.reference), each.kind, _code(each.sql), each.refused]
            for audit, each in refused[:_MOST_REFUSED]
        ]
        lines += ["## Refused rewrites", "", *_table(["reference", "kind", "rewrite", "why"], rows)]
    return lines


def _tables(audits: Sequence[ReferenceAudit], found: Mapping[str, Any]) -> list[str]:
    score_headers = ["mutants", *_SCOPE_TEXTS.values(), "presumed equivalent", "missed"]
    accepted = [f"accepted by {text}" for text in _SCOPE_TEXTS.values()]
    kinds = [[row["kind"], row["made"], row["accepted"]] for row in found["rewrites"]["by_kind"]]
    return [
        "## What each set of databases accepts",
        "",
        "For each type the wrong rewrite that says most about the databases.",
        "",
        *_table(["type", "reference", "wrong rewrite", *accepted], _telling_rows(audits)),
        "## Mutation score by operator, %",
        "",
        *_table(["operator", *score_headers], _score_rows("operator", found["by_operator"])),
        "## Mutation score by type, %",
        "",
        *_table(["type", *score_headers], _score_rows("type", found["by_type"])),
        "## Equivalent rewrites",
        "",
        *_table(["kind", "made", "accepted"], kinds),
        "## Public rules",
        "",
        f"How many of the {found['mutants'][f'killed_{FOUR}']} mutants that our rule refuses on four databases a rule "
        "accepts, and where its verdicts on mutants and rewrites are not ours, by cause.",
        "",
        *_table(["rule", "databases", "wrong ones accepted", *DIFFERENCES], _rule_rows(found)),
        "## Survivors presumed equivalent",
        "",
        *_survivor_table(audits, missed=False),
    ]


def _overview(found: Mapping[str, Any]) -> list[str]:
    mutants, rewrites, oracle = found["mutants"], found["rewrites"], found["oracle"]
    scores = [[text, mutants[f"killed_{scope}"], _percent(score(mutants, scope))] for scope, text in
              _SCOPE_TEXTS.items()]  # fmt: skip
    return [
        f"{found['references']} references of {found['types']} types, and {mutants['made']} mutants of them, of which "
        f"{mutants['presumed_equivalent']} are presumed equivalent: neither the four databases nor an oracle of many "
        "small ones, made for each reference, tells them from it.",
        "",
        *_table(["databases", "mutants killed", "mutation score, %"], scores),
        f"Missed, killed by the oracle alone: {mutants['missed']}. Equivalent rewrites accepted: "
        f"{rewrites['accepted']} of {rewrites['made']}. Of {oracle['mutants']} mutants of {oracle['references']} "
        f"references the oracle's whole pool kills {oracle['pool']}, the best four of it for each reference "
        f"{oracle['best_four']}, the four databases {oracle['shop_four']}.",
        "",
    ]


def _rule_rows(found: Mapping[str, Any]) -> list[list[object]]:
    """Ours and the public rules, on one database and on four."""
    killed = found["mutants"]
    ours = [
        ["ours", _SCOPE_TEXTS[scope], killed[f"killed_{FOUR}"] - killed[f"killed_{scope}"], *["-"] * len(DIFFERENCES)]
        for scope in (ONE, FOUR)
    ]
    public = [
        [rule, _SCOPE_TEXTS[scope], counts["accepted_wrong"], *(counts["disagreements"][each] for each in DIFFERENCES)]
        for rule, scopes in found["public_rules"].items()
        for scope, counts in scopes.items()
    ]
    return [*ours, *public]


def plot_rows(groups: Iterable[Mapping[str, Any]], name: str) -> list[dict[str, Any]]:
    """One row for each of `by_operator` or `by_type`, named by its key, with the score of each set of databases."""
    return [
        {name: row[name], "mutants": row["made"], **{scope: round(score(row, scope), 4) for scope in SCOPES}}
        for row in groups
    ]


def _telling_rows(audits: Iterable[ReferenceAudit]) -> list[list[object]]:
    by_type: dict[str, list[ReferenceAudit]] = defaultdict(list)
    for audit in audits:
        by_type[audit.subject.type].append(audit)
    rows: list[list[object]] = []
    for name in sorted(by_type):
        mutant = most_telling(by_type[name])
        if mutant is None:
            rows.append([name, _code(by_type[name][0].subject.reference), "none passes one database", *["no"] * 3])
            continue
        audit = next(audit for audit in by_type[name] if mutant in audit.mutants)
        verdicts = ["yes" if mutant.accepted(scope) else "no" for scope in SCOPES]
        rows.append([name, _code(audit.subject.reference), _code(mutant.sql), *verdicts])
    return rows


def _score_rows(name: str, groups: Iterable[Mapping[str, Any]]) -> list[list[object]]:
    return [
        [row[name], row["made"], *(_percent(score(row, scope)) for scope in SCOPES), row["presumed_equivalent"],
         row["missed"]]
        for row in groups
    ]  # fmt: skip


def _survivor_table(audits: Sequence[ReferenceAudit], *, missed: bool) -> list[str]:
    rows = [
        [kind, operator, count, _code(reference), _code(sql)]
        for kind, operator, count, reference, sql in survivors(audits, missed=missed)
    ]
    return _table(["type", "operator", "mutants", "a reference", "its mutant"], rows)


def _percent(share: float) -> str:
    return f"{100 * share:.2f}"


def _code(sql: str) -> str:
    """A query as one cell of a Markdown table."""
    text = " ".join(sql.split()).replace("|", "\\|")
    return f"`{text}`"


def _table(headers: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    lines = [headers, ["---"] * len(headers), *rows]
    return [*("| " + " | ".join(map(str, line)) + " |" for line in lines), ""]
