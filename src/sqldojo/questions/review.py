"""The review of proposed question types: what is asked of a model was first found to be fit to be asked.

Proposals are judged in the order given, since each is compared with those accepted before it: hand-written types come
first. Whatever one proposal can be judged by alone is done by all workers at once (examining.py); what is left is a
pass over the outcomes. A share of the shapes of queries (normal_form.py) is never trained: which, is a matter of the
seed and the shape alone, so a proposal more or less moves no other to another split.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

from sqldojo.databases.execution import Limits
from sqldojo.databases.schema_model import read_schema
from sqldojo.databases.workers import Died, Killed, shared_workers
from sqldojo.errors import UserError
from sqldojo.progress import progress
from sqldojo.questions.accepted_types import AcceptedTypes
from sqldojo.questions.blind_solving import Solve, unsolved
from sqldojo.questions.check import prepared
from sqldojo.questions.examining import Examined, examine
from sqldojo.questions.filling import divided_pools, groups_of
from sqldojo.questions.normal_form import shape
from sqldojo.questions.rules import MATTERS_OF_OPINION, Fault
from sqldojo.questions.verdicts import ACCEPT, REJECT, Verdict
from sqldojo.questions.wording import leak, wording_fault
from sqldojo.records import CHECK, HAND_WRITTEN, RESERVED, SELECTION, TRAIN, FilledType, QuestionType, Review
from sqldojo.verifier.mutation.sqlite_text import Unparsable

_SECONDS_PER_STEP = 300.0  # of one filling: a few dozen queries, each of which ends by its own limits
_CALLS_PER_REPORT = 8  # for each worker
_EASY = 2  # the difficulty up to which a small model is asked


@dataclass(frozen=True)
class ReviewParams:
    """The section `review`: how values are divided and drawn, what is held out, and what is asked of a proposal.

    `trained_values` and `held_out_values` are the most that one type is asked with, `least_values` the fewest that a
    trained one with parameters needs. `reserved_share` of the values that both families share is only asked of held-out
    questions. `held_out_shapes` is the share of query shapes that `selection` gets, and `check` as many again.
    Further shapes are taken until each of the two splits has `least_held_out` easy types, or training would have fewer.
    Of the trained types that are not hand-written, a share of `reserved_types` is asked with reserved values too.
    `solvers` are models that try each type blindly, `tries` times; the first that did not propose it does.
    """

    seed: int
    trained_values: int
    held_out_values: int
    reserved_share: float
    held_out_shapes: float
    reserved_types: float = 1.0
    least_values: int = 2
    solvers: tuple[str, ...] = ()
    tries: int = 3
    least_held_out: int = 0

    def __post_init__(self) -> None:
        for name in ("trained_values", "held_out_values", "least_values", "tries"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}: must be at least 1, found {getattr(self, name)}")
        if self.least_values > self.trained_values:
            raise ValueError(f"least_values: must be at most trained_values, found {self.least_values}")
        if not 0 < self.reserved_share < 1:
            raise ValueError(f"reserved_share: must be between 0 and 1, both excluded, found {self.reserved_share:g}")
        if not 0 <= self.reserved_types <= 1:
            raise ValueError(f"reserved_types: must be from 0 to 1, found {self.reserved_types:g}")
        if not 0 <= self.held_out_shapes < 0.5:
            raise ValueError(f"held_out_shapes: must be at least 0 and below 0.5, found {self.held_out_shapes:g}")


def one_family(seed: int, values: int) -> ReviewParams:
    """The settings for a single family of databases, of which nothing is held out; up to `values` a type."""
    return ReviewParams(
        seed=seed, trained_values=values, held_out_values=1, least_values=1, reserved_share=0.5, held_out_shapes=0.0,
        tries=1,
    )  # fmt: skip


@dataclass(frozen=True)
class Reviewed:
    """The accepted types with their splits, what may be asked of them, and one review for every proposal."""

    types: list[QuestionType]
    filled: list[FilledType]
    reviews: list[Review]


def review(
    proposals: Sequence[QuestionType],
    databases: Mapping[str, Sequence[Path]],
    params: ReviewParams,
    limits: Limits,
    *,
    verdicts: Mapping[str, Verdict] | None = None,
    solve: Solve | None = None,
) -> Reviewed:
    """The types that may be asked, with the values to ask them with, and why each of the others may not.

    `databases` has the ordinary instances of the family to train on and then of the one to evaluate on; with one
    family, no values are reserved. `verdicts` are those of people, by the type's id. UserError for a database that
    cannot be read.
    """
    verdicts = verdicts or {}
    columns = {table.name: table.names for table in read_schema(next(iter(databases.values()))[0]).tables}
    placed = hold_out_shapes(proposals, columns, params)
    examined = _examine_all(placed, databases, columns, params, limits)
    bank = AcceptedTypes(columns, least_values=params.least_values)
    reviews = [
        _decide(question_type, outcome, bank, verdicts.get(question_type.id))
        for question_type, outcome in zip(placed, examined, strict=True)
    ]
    skipped = "" if solve else "the rule blind-solver was skipped: no model was named for it"
    if solve:
        decided = {each.type for each in reviews if each.accepted and each.by == "people"}
        asked = [each for each in bank.accepted if each.type.proposer != HAND_WRITTEN and each.type.id not in decided]
        faults = unsolved(asked, solve, databases, params.tries, limits)
        reviews = [_rejected(each, faults[each.type]) if each.accepted and each.type in faults else each
                   for each in reviews]  # fmt: skip
        bank.accepted = [each for each in bank.accepted if each.type.id not in faults]
    return Reviewed(
        types=[each.type for each in bank.accepted],
        filled=[filling.filled for each in bank.accepted for filling in each.fillings],
        reviews=[replace(each, evidence=skipped) if each.accepted and not each.rule else each for each in reviews],
    )


def hold_out_shapes(
    proposals: Sequence[QuestionType], columns: Mapping[str, Sequence[str]], params: ReviewParams
) -> list[QuestionType]:
    """The proposals, those whose shape is held out with the split `selection` or `check`.

    Hand-written types stay where they are, and no shape of a hand-written trained type is held out.
    """
    shapes = [_shape(each, columns) for each in proposals]
    written = {found for each, found in zip(proposals, shapes, strict=True)
               if each.proposer == HAND_WRITTEN and each.split == TRAIN}  # fmt: skip
    placed = []
    for question_type, found in zip(proposals, shapes, strict=True):
        if found and found not in written and question_type.proposer != HAND_WRITTEN:
            place = _place(found, params.seed)
            if place < 2 * params.held_out_shapes:
                split = SELECTION if place < params.held_out_shapes else CHECK
                question_type = replace(question_type, split=split)
        placed.append(question_type)
    return _topped_up(placed, [found if found not in written else "" for found in shapes], params)


def _topped_up(placed: Sequence[QuestionType], shapes: Sequence[str], params: ReviewParams) -> list[QuestionType]:
    """The types with more shapes held out where a split has too few easy types, those of few types first.

    `shapes` has the shape of each type, empty for one that must be trained.
    """
    found = list(placed)
    free = [form if each.proposer != HAND_WRITTEN and each.split == TRAIN else ""
            for each, form in zip(placed, shapes, strict=True)]  # fmt: skip
    easy = Counter(form for each, form in zip(placed, free, strict=True) if form and each.difficulty <= _EASY)
    for form in sorted(easy, key=lambda each: (easy[each] > params.least_held_out, _place(each, params.seed))):
        counts = Counter(each.split for each in found if each.difficulty <= _EASY)
        split = min((SELECTION, CHECK), key=lambda each: counts[each])
        if counts[split] >= params.least_held_out:
            break
        if counts[TRAIN] - easy[form] >= params.least_held_out:
            found = [replace(each, split=split) if free[place] == form else each for place, each in enumerate(found)]
    return found


def _place(shape: str, seed: int) -> float:
    """Where a shape falls between 0 and 1, whatever else is proposed."""
    return Random(f"{seed}/shape/{shape}").random()


def _shape(question_type: QuestionType, columns: Mapping[str, Sequence[str]]) -> str:
    try:
        return shape(question_type.sql, columns)
    except Unparsable:
        return ""  # which the review says when it comes to it


def _screen(proposals: Sequence[QuestionType]) -> Iterator[Fault | None]:
    """What is wrong with each proposal before any query is run."""
    ids: set[str] = set()
    pools: dict[str, tuple[str, str]] = {}  # the pool of each parameter, and the first type that has it
    for question_type in proposals:
        fault = wording_fault(question_type)
        if question_type.id in ids:
            fault = Fault("same-id", question_type.id)
        ids.add(question_type.id)
        for name, sql in question_type.parameters.items():
            known, first = pools.setdefault(name, (sql, question_type.id))
            if known != sql:
                fault = fault or Fault("other-pool", f"{name} is `{sql}`, but `{known}` in {first}")
        yield fault


def _examine_all(
    proposals: Sequence[QuestionType],
    databases: Mapping[str, Sequence[Path]],
    columns: Mapping[str, Sequence[str]],
    params: ReviewParams,
    limits: Limits,
) -> list[Examined]:
    """What each proposal gives by itself, in their order, by all workers at once."""
    outcomes = [Examined((), fault) for fault in _screen(proposals)]
    division = {"seed": params.seed, "reserved_share": params.reserved_share}
    wanted = {"trained_values": params.trained_values, "held_out_values": params.held_out_values}
    with prepared(databases) as families:
        calls = {}
        for place, question_type in enumerate(proposals):
            if outcomes[place].fault:
                continue
            try:
                pools = divided_pools(question_type.parameters, list(databases.values()), **division)
            except UserError as error:
                outcomes[place] = Examined((), Fault("bad-pool", str(error)))
                continue
            reserved = question_type.proposer == HAND_WRITTEN or (
                Random(f"{params.seed}/{RESERVED}/{question_type.id}").random() < params.reserved_types
            )
            groups = groups_of(question_type, pools, list(databases), reserved=reserved, **wanted)
            calls[place] = (question_type, groups, families, columns, params.seed, limits)
        step = _CALLS_PER_REPORT * shared_workers().count
        places = list(calls)
        with progress("review", len(places)) as report:
            for start in range(0, len(places), step):
                chunk = places[start : start + step]
                found = shared_workers().map(examine, [calls[place] for place in chunk], seconds=_SECONDS_PER_STEP)
                for place, outcome in zip(chunk, found, strict=True):
                    if isinstance(outcome, Killed | Died):
                        outcome = Examined((), Fault("over-limit", f"{outcome!r}: {proposals[place].sql}"))
                    outcomes[place] = outcome
                report(start + len(chunk), proposals[chunk[-1]].id)
    return outcomes


def _decide(question_type: QuestionType, outcome: Examined, bank: AcceptedTypes, verdict: Verdict | None) -> Review:
    """The review of one proposal, which joins the bank when it is accepted."""
    accepted = Review(question_type.id, question_type.proposer, question_type.pattern, accepted=True)
    fault, fillings = outcome.fault, outcome.fillings
    if verdict and verdict.verdict == REJECT:
        return replace(_rejected(accepted, Fault("people", verdict.why)), by="people")
    if fillings:
        candidate, clash = bank.compare(question_type, fillings)
        fault = fault or leak(question_type, bank.columns) or clash
        if fault and candidate and verdict and verdict.verdict == ACCEPT and fault.rule in MATTERS_OF_OPINION:
            bank.add(candidate)
            evidence = f"{verdict.why} (the rule: {fault.evidence})"
            return replace(accepted, rule=fault.rule, evidence=evidence, by="people")
        if not fault:
            bank.add(candidate)
            return replace(accepted, by="people" if verdict else "rules")
    return _rejected(accepted, fault)


def _rejected(review: Review, fault: Fault) -> Review:
    return replace(review, accepted=False, rule=fault.rule, evidence=fault.evidence)
