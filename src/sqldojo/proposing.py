"""All proposals of question types: composed, stepping stones to what a model fails, and those of API models."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from sqldojo.databases.shop_schema import is_shop
from sqldojo.errors import UserError
from sqldojo.questions.composing.compose import compose
from sqldojo.questions.composing.shop_words import SHOP_POOLS, SHOP_WORDS
from sqldojo.questions.patterns import difficulty_of, pattern_of
from sqldojo.questions.shop_training_types import TRAINING_TYPES
from sqldojo.questions.shop_types import hand_written
from sqldojo.questions.stepping_stones import stepping_stones
from sqldojo.records import PATTERNS, QuestionType, Review
from sqldojo.teacher.api_proposer import api_proposals, make_brief
from sqldojo.teacher.provider import Ask, ProviderError, ProviderParams
from sqldojo.verifier.mutation.sqlite_text import Unparsable, read


@dataclass(frozen=True)
class ProposeParams:
    """The section `propose`: who proposes question types, and how many.

    `most` composed types at most; 0 for all. `models` behind an API, by their litellm names, are asked for
    about `per_model` types each. `failing` names a JSON file that maps the ids of types to the share of attempts that
    are right: simpler types are written for them; empty for none.
    """

    seed: int
    most: int
    models: tuple[str, ...] = ()
    per_model: int = 20
    failing: str = ""

    def __post_init__(self) -> None:
        for name, least in (("most", 0), ("per_model", 1)):
            if getattr(self, name) < least:
                raise ValueError(f"{name}: must be at least {least}, found {getattr(self, name)}")
        if len(set(self.models)) < len(self.models):
            raise ValueError("models: a model is named twice; name each once")


@dataclass(frozen=True)
class Proposed:
    """Types to review, items of models' replies that are none, and requests that providers failed by kind."""

    types: list[QuestionType]
    malformed: list[Review] = field(default_factory=list)
    provider_errors: Counter[str] = field(default_factory=Counter)


def propose(databases: Sequence[Path], ask: Ask, params: ProposeParams, providers: ProviderParams) -> Proposed:
    """The proposals over the databases, instances of one family, in the order of their proposers.

    For the shop they are in its own words. Nothing is asked when no model is named. UserError for a file of failing
    types that cannot be read, and for databases of which nothing can be asked.
    """
    failing = read_failing(Path(params.failing)) if params.failing else {}
    shop = is_shop(databases[0])
    known = {"words": SHOP_WORDS, "given": SHOP_POOLS} if shop else {}
    composed = compose(databases, **known, most=params.most, seed=params.seed)
    ids = {each.id for each in composed}
    to_train = (*(TRAINING_TYPES if shop else ()), *composed)
    stones = stepping_stones(to_train, failing, databases, **known) if failing else []
    found = Proposed([*composed, *(each for each in stones if each.id not in ids)])
    brief = make_brief(databases[0], (*hand_written(databases[0]), *found.types), failing, providers.privacy)
    for model in params.models:
        try:
            types, malformed = api_proposals(model, ask, brief, params.per_model)
        except ProviderError as error:
            found.provider_errors[error.kind] += 1
            continue
        found.types.extend(map(_described, types))
        found.malformed.extend(malformed)
        brief = brief.knowing(*types)
    if not found.types and not shop:
        raise UserError(
            "params.yaml: databases.source: no question can be composed of it; give a database with more rows, "
            "columns whose values occur more than once, and names that say what they hold"
        )
    return found


def read_failing(path: Path) -> dict[str, float]:
    """The shares of right attempts by the id of the type; UserError for a file that is absent or says anything else."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise UserError(f"params.yaml: propose.failing: no file {path}; write it or leave the key empty") from error
    except ValueError as error:
        raise UserError(f"{path}: not JSON ({error}); write an object of type ids and shares") from error
    if not isinstance(content, dict) or not all(isinstance(share, int | float) for share in content.values()):
        raise UserError(f'{path}: expected an object of type ids and shares, such as {{"top-spenders": 0.1}}')
    return content


def proposal_metrics(found: Proposed) -> dict[str, Any]:
    """Counts of the proposals by proposer, pattern and difficulty, and of what is none."""
    counts: dict[str, Mapping[str, int]] = {
        "by_proposer": Counter(each.proposer for each in found.types),
        "by_pattern": {name: count for name in PATTERNS
                       if (count := sum(each.pattern == name for each in found.types))},
        "by_difficulty": Counter(str(each.difficulty) for each in found.types),
        "malformed": Counter(each.proposer for each in found.malformed),
        "provider_errors": found.provider_errors,
    }  # fmt: skip
    return {"proposed": len(found.types), **{name: dict(count) for name, count in counts.items()}}


def _described(question_type: QuestionType) -> QuestionType:
    """The type with pattern and difficulty read off its query; as it is where that cannot be read."""
    try:
        tree = read(question_type.sql)
    except Unparsable:
        return question_type
    return replace(question_type, pattern=pattern_of(tree), difficulty=difficulty_of(tree))
