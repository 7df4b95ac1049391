"""Examining one proposed type on the databases: which values can be asked, and whether all of its query is needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from sqldojo.databases.execution import OK, Limits, QueryResult, run_query
from sqldojo.databases.parameters import Value, expand
from sqldojo.databases.worker_process import begin_step
from sqldojo.errors import UserError
from sqldojo.questions.answers import answers
from sqldojo.questions.check import OF_VALUES, Instances, fault_of
from sqldojo.questions.filling import Group, draws
from sqldojo.questions.idle_parts import Shortened, without_each_part, without_parameter
from sqldojo.questions.rules import Fault
from sqldojo.records import FilledType, QuestionType
from sqldojo.verifier.comparison import first_difference
from sqldojo.verifier.mutation.sqlite_text import Unparsable

_TRIES_PER_VALUE = 10  # combinations of values that are looked at for each one that is wanted


@dataclass(frozen=True)
class Filling:
    """A filled type with the digest of its answers on all databases of all families."""

    filled: FilledType
    answers: str

    @property
    def values(self) -> tuple[tuple[str, Value], ...]:
        """What tells the filling from others of its type, whatever the family."""
        return tuple(sorted(self.filled.parameters.items()))


@dataclass(frozen=True)
class Examined:
    """What a type gave: the fillings that can be asked, and what is wrong with it, if anything."""

    fillings: tuple[Filling, ...]
    fault: Fault | None = None


def examine(
    question_type: QuestionType,
    groups: Sequence[Group],
    families: Mapping[str, Instances],
    columns: Mapping[str, Sequence[str]],
    seed: int,
    limits: Limits,
) -> Examined:
    """The fillings of a type that can be asked, and why it must be rejected, if it must. What a worker does."""
    try:
        parts = without_each_part(question_type.sql, columns)
        bare = [without_parameter(question_type.sql, columns, name) for name in sorted(question_type.parameters)]
    except Unparsable as error:
        return Examined((), Fault("unreadable", f"{error}: {question_type.sql}"))
    fillings: list[Filling] = []
    for group in groups:
        found, fault = _fill(question_type, group, fillings, bare, families, seed, limits)
        if not found:
            return Examined((), fault)
        fillings += found
    return Examined(tuple(fillings), _idle_part(question_type, fillings, parts, families, limits))


def _fill(
    question_type: QuestionType,
    group: Group,
    before: Sequence[Filling],
    bare: Sequence[Shortened | None],
    families: Mapping[str, Instances],
    seed: int,
    limits: Limits,
) -> tuple[list[Filling], Fault]:
    """The fillings of a group; none when the type must be rejected, and then why.

    Values are passed over whose answer says nothing, or is that of a filling of a group before on every database.
    """
    everywhere = list(chain.from_iterable(instances.databases for instances in families.values()))
    instances, known = families[group.family], {each.answers for each in before}
    found: list[Filling] = []
    fault = Fault("small-pool", f"no value of {', '.join(group.pools)} is in every {group.family} database")
    drawn = draws(group.pools, group.wanted * _TRIES_PER_VALUE, f"{seed}/{group.family}", question_type.id)
    for number, values in enumerate(drawn):
        begin_step(number)
        try:
            reference = expand(instances.databases[0], question_type.sql, values)
        except UserError as error:
            return [], Fault("sql-fails", str(error))
        unfit = fault_of(reference, instances, limits, ordered=question_type.ordered)
        if unfit and unfit.rule not in OF_VALUES:
            return [], unfit
        unfit = unfit or _idle_value(question_type, reference, values, bare, instances, limits)
        if unfit is None:
            filled = FilledType(question_type.id, group.family, group.split, values, reference, question_type.ordered)
            filling = Filling(filled, answers(reference, everywhere, limits))
            if filling.answers not in known:
                found.append(filling)
                if len(found) == group.wanted:
                    break
                continue
            unfit = Fault("small-pool", f"with {dict(values)!r} the answers are those of values to train on")
        fault = unfit
    return found, fault


def _idle_value(
    question_type: QuestionType,
    reference: str,
    values: Mapping[str, Value],
    bare: Sequence[Shortened | None],
    instances: Instances,
    limits: Limits,
) -> Fault | None:
    """A parameter whose value says nothing, since the answer without its conditions is the same."""
    for shortened in bare:
        if shortened and _is_same(question_type, reference, values, shortened, instances, limits):
            return Fault("idle-part", f"with {dict(values)!r} the answer is the same as of: {shortened.sql}")
    return None


def _idle_part(
    question_type: QuestionType,
    fillings: Sequence[Filling],
    parts: Sequence[Shortened],
    families: Mapping[str, Instances],
    limits: Limits,
) -> Fault | None:
    """A part that changes the answer of no filling on any database."""
    for part in parts:
        if all(
            _is_same(question_type, each.filled.reference, each.filled.parameters, part,
                     families[each.filled.family], limits)
            for each in fillings
        ):  # fmt: skip
            return Fault("idle-part", f"the answer is always the same as of: {part.sql}")
    return None


def _is_same(
    question_type: QuestionType,
    reference: str,
    values: Mapping[str, Value],
    shortened: Shortened,
    instances: Instances,
    limits: Limits,
) -> bool:
    kept = {name: value for name, value in values.items() if name in shortened.parameters}
    try:
        sql = expand(instances.databases[0], shortened.sql, kept)
    except UserError:
        return False  # it does not compile without the part
    return all(
        _equal(run_query(database, reference, limits), run_query(database, sql, limits), question_type.ordered)
        for database in instances.databases
    )


def _equal(one: QueryResult, other: QueryResult, ordered: bool) -> bool:
    return one.status == other.status == OK and (
        first_difference((one.columns, one.rows), (other.columns, other.rows), ordered=ordered) is None
    )
