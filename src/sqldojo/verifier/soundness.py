"""Why a reference query may not be used to grade by, told before anybody is taught or scored with it.

A reference decides what is right, so it must have one answer: the same for every way of running it, and one that says
something about the data. What is refused:

- no answer: it fails, may not be asked (the clock, chance, the engine's own tables) or goes over a limit somewhere;
- nothing to grade by: an empty answer on every database, or the same one on several;
- an answer that rests on ties or on the physical order of rows. Three means, because each sees what the others miss:
  ties settled the other way round inside the query (tie_probes.py), SQLite's own reversed scans, and twins of the
  databases in which the rows lie in another order (databases/twins.py).

A dependence is reported when it changes the answer on these databases; results are compared as in grading, so the last
bits of a real are none. What cannot be told is a tie that occurs in none of the databases and, since sqlglot must read
the query for the first means, a tie between groups in what it cannot read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from sqldojo.databases.execution import OK, REJECTED, Limits, QueryResult, run_query
from sqldojo.databases.twins import Twins, read_views, twins_of
from sqldojo.verifier.comparison import first_difference
from sqldojo.verifier.rowid_names import Rowids, resolve_rowids
from sqldojo.verifier.tie_probes import Probe, TieProbes, tie_probes

_ROWID = "rowid says where a row lies, as its table has no INTEGER PRIMARY KEY: use a column of the table instead"
_PATIENCE = 4  # a check may take so many times the steps of the query itself: it runs without the original's indexes


def unsound_because(
    reference: str, databases: Sequence[Path], limits: Limits, *, ordered: bool = False, twins: Twins | None = None
) -> str | None:
    """Why a reference may not be used to grade by, in words for its author with what to do about it, or None.

    `ordered` is for a question that declares an order: then the order of the result must not rest on ties either.
    `twins` are those of `twins_of(databases)`, for checking many references; without it they are built for this one.
    UserError when a database cannot be read.
    """
    if twins is None:
        with twins_of(databases) as built:
            return unsound_because(reference, databases, limits, ordered=ordered, twins=built)
    results = [run_query(database, reference, limits) for database in databases]
    return (
        _fails(databases, results)
        or says_nothing(results)
        or _rests_on_ties(reference, databases, results, limits, ordered)
        or _rests_on_physical_order(reference, databases, results, limits, ordered, twins)
    )


def _fails(databases: Sequence[Path], results: Sequence[QueryResult]) -> str | None:
    for database, result in zip(databases, results, strict=True):
        if result.status == REJECTED:
            return f"it may not be asked on {database.stem}: {result.message}; use the data alone"
        if result.status != OK:
            return f"it has no answer on {database.stem}: {result.message}; correct it, or let it ask for less"
    return None


def says_nothing(results: Sequence[QueryResult]) -> str | None:
    """Why the results of a reference, one a database, are nothing to grade by: all empty, or all the same."""
    if not any(result.rows for result in results):
        return "its answer is empty on every database: ask for something that at least one of them has"
    if len(results) > 1 and not any(_differ(results[0], other, ordered=False) for other in results[1:]):
        return (
            f"its answer is the same on all {len(results)} databases, so a constant would pass for it: "
            "ask for something that differs between them"
        )
    return None


def _rests_on_ties(
    reference: str, databases: Sequence[Path], results: Sequence[QueryResult], limits: Limits, ordered: bool
) -> str | None:
    def column_names(sql: str) -> tuple[str, ...]:
        return run_query(databases[0], sql, limits, preview=1).columns

    probes = tie_probes(reference, column_names, views=read_views(databases[0]), ordered=ordered)
    if probes is None:
        return None
    patient = replace(limits, vm_steps=limits.vm_steps * _PATIENCE)
    for database, result in zip(databases, results, strict=True):
        complaint = _first_complaint(probes, database, result, patient, ordered)
        if complaint:
            return f"{complaint} (seen on {database.stem})"
    return None


def _first_complaint(
    probes: TieProbes, database: Path, result: QueryResult, limits: Limits, ordered: bool
) -> str | None:
    control = run_query(database, probes.control, limits)
    if control.status != OK or _differ(result, control, ordered):
        return None  # sqlglot does not write the query as it was meant

    unseen: dict[Probe, str] = {}  # the probes of which no variant runs, and why

    def decides(probe: Probe) -> bool:
        found = [run_query(database, sql, limits) for sql in probe.variants]
        answers = [each for each in found if each.status == OK]
        if not answers:
            unseen[probe] = found[0].message
            return False
        wanted = answers[0] if probe.alone else result
        return any(_differ(wanted, each, ordered and not probe.alone) for each in answers)

    guilty = [probes.together] if decides(probes.together) else []
    if guilty or unseen.pop(probes.together, None):  # which of them it is, or each by itself if all at once do not run
        guilty = [probe for probe in probes.single if decides(probe)] or guilty
    guilty = guilty or [probe for probe in probes.alone if decides(probe)]
    if guilty:
        return guilty[0].complaint
    if unseen:
        return (
            f"whether its answer depends on ties cannot be seen, since settling them takes more than a query may "
            f"({next(iter(unseen.values()))}): write it so that it takes fewer steps"
        )
    return None


def _rests_on_physical_order(
    reference: str,
    databases: Sequence[Path],
    results: Sequence[QueryResult],
    limits: Limits,
    ordered: bool,
    twins: Twins,
) -> str | None:
    patient = replace(limits, vm_steps=limits.vm_steps * _PATIENCE)
    for database, result in zip(databases, results, strict=True):
        backwards = run_query(database, reference, limits, reversed_scans=True)
        if backwards.status == OK and _differ(result, backwards, ordered):
            return _physical(database, resolve_rowids(reference, database))
        rowids = resolve_rowids(reference, database)
        reached = False
        for twin in twins[database]:
            other = run_query(twin, rowids.sql, patient)
            if other.status == OK and _differ(result, other, ordered):
                return _physical(database, rowids)
            reached = reached or other.status == OK
        if not reached:
            return (
                f"whether its answer depends on the physical order of rows cannot be seen on {database.stem}, since "
                f"it does not run on a copy without keys ({other.message}): write it without INDEXED BY and virtual "
                "tables, and so that it takes fewer steps"
            )
    return None


def _physical(database: Path, rowids: Rowids) -> str:
    return (
        f"its answer depends on the physical order of the rows of {database.stem}: "
        f"{_ROWID if rowids.physical else _likely_cause(rowids.sql)}"
    )


def _likely_cause(sql: str) -> str:
    """What most often does it in a query with these parts, and what to write instead."""
    try:
        tree = sqlglot.parse_one(sql, read="sqlite")
    except SqlglotError:
        tree = exp.Select()
    causes = []
    if tree.find(exp.GroupConcat, exp.JSONArrayAgg, exp.JSONObjectAgg) or "json_group_" in sql.lower():
        causes.append("a list of values in one text has their order in it: say group_concat(x, ',' ORDER BY x)")
    if tree.find(exp.Window):
        causes.append("a window over tied rows takes them as they come: end its ORDER BY with a unique column")
    if any(_has_bare_column(select) for select in tree.find_all(exp.Select)):
        causes.append(
            "a column that is neither grouped nor aggregated comes from any row of its group, also beside a MAX or MIN "
            "that several rows share: group by it, or pick the row by a unique column"
        )
    if any(_sorts_by_hidden_columns(select) for select in tree.find_all(exp.Select)):
        causes.append("DISTINCT sorts by any of the rows behind a value: group by it and sort by a MAX or MIN")
    return "; or ".join(causes) or "order its rows by a unique column wherever it picks some of them"


def _has_bare_column(select: exp.Select) -> bool:
    """Whether a SELECT that groups or aggregates shows a column outside both."""
    group = select.args.get("group")
    keys = {key.sql(dialect="sqlite").lower() for key in group.expressions} if group else set()
    if not group and not any(_own(select, each) for each in select.find_all(exp.AggFunc)):
        return False
    return any(
        _own(select, column)
        and column.find_ancestor(exp.AggFunc, exp.Group, exp.Where, exp.Join) is None
        and not {column.sql(dialect="sqlite").lower(), column.name.lower()} & keys
        for column in select.find_all(exp.Column)
    )


def _sorts_by_hidden_columns(select: exp.Select) -> bool:
    """Whether a SELECT DISTINCT is ordered by a column that it does not show."""
    order = select.args.get("order") if select.args.get("distinct") else None
    shown = {each.alias_or_name.lower() for each in select.expressions}
    return order is not None and any(column.name.lower() not in shown for column in order.find_all(exp.Column))


def _own(select: exp.Select, node: exp.Expression) -> bool:
    return node.parent_select is select


def _differ(one: QueryResult, other: QueryResult, ordered: bool) -> bool:
    return first_difference((one.columns, one.rows), (other.columns, other.rows), ordered=ordered) is not None
