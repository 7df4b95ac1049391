"""Models behind an API propose question types. Their replies are data: what is no type is recorded as rejected."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sqldojo.agent.prompt import observation
from sqldojo.databases.execution import run_query
from sqldojo.databases.schema import schema_text
from sqldojo.databases.schema_model import quote, read_schema
from sqldojo.records import TRAIN, ProviderRequest, QuestionType, Review
from sqldojo.teacher.proposed_item import broken_because, read_item
from sqldojo.teacher.provider import SCHEMA_ONLY, Ask

MALFORMED = "malformed"
_TYPES_IN_A_REPLY = 10
_MAX_TOKENS = 8192
_SAMPLE_ROWS = 3

_TASK = """\
You write question templates about a SQLite database, to teach a small model to write SQL. Reply with a JSON list of \
{count} objects and nothing else. Each object has:
- "id": a short name in lower case with hyphens;
- "phrasings": three or more wordings of one question in fluent English, with {{name}} for each parameter in every one;
- "sql": one SQLite query with :name for each parameter, without a semicolon;
- "parameters": an object with one key for each parameter. Its value is "known" for a parameter in the list of known \
ones, which must be used where one fits; for a new one it is a query of the form \
SELECT DISTINCT column FROM table WHERE column IS NOT NULL ORDER BY column;
- "ordered": true only if every wording asks for an order of the rows that leaves no tie.
Each wording alone must fix the answer: which columns in which order, what one row stands for, duplicates, ties and \
missing values. It never names SQL words, tables or columns as the schema spells them. The answer must depend on every \
part of the query and be neither empty nor the same whatever the data. Let the templates differ from each other, and \
from those that exist, in what they ask for and in how the query is built."""


@dataclass(frozen=True)
class Brief:
    """What a proposer is told: the schema, rows where they may be sent, trained types and those that a model fails.

    `pools` are the known parameters with their queries, of which only the names are sent. `failing` maps the id of a
    trained type to the share of right attempts.
    """

    schema: str
    rows: str
    trained: tuple[QuestionType, ...]
    pools: Mapping[str, str]
    failing: Mapping[str, float]

    def knowing(self, *types: QuestionType) -> Brief:
        """The same with further types, which are not to be repeated."""
        pools = {name: sql for each in types for name, sql in each.parameters.items()}
        return replace(self, trained=(*self.trained, *types), pools={**self.pools, **pools})


def make_brief(database: Path, known: Sequence[QuestionType], failing: Mapping[str, float], privacy: str) -> Brief:
    """The brief on a database. Of held-out types only the parameters are told: nobody may write for such a type."""
    rows = "" if privacy == SCHEMA_ONLY else _sample(database)
    pools = {name: sql for each in known for name, sql in each.parameters.items()}
    return Brief(schema_text(database), rows, tuple(each for each in known if each.split == TRAIN), pools, failing)


def api_proposals(model: str, ask: Ask, brief: Brief, count: int) -> tuple[list[QuestionType], list[Review]]:
    """Up to about `count` types that `model` proposes, as many requests as that takes, and its broken items.

    Ids start with the model's name and are like no other. ProviderError when the provider fails.
    """
    types: list[QuestionType] = []
    broken: list[Review] = []
    for number in range(-(-count // _TYPES_IN_A_REPLY)):
        messages = ({"role": "user", "content": _prompt(brief, min(count, _TYPES_IN_A_REPLY))},)
        reply = ask(ProviderRequest(model, messages, max_tokens=_MAX_TOKENS, number=number))
        for item in _objects(reply.text):
            why = broken_because(item, brief.pools)
            name = _new_id(model, item, {each.id for each in brief.trained})
            if why:
                broken.append(Review(name, model, "", False, MALFORMED, why))
            else:
                types.append(read_item(item, name, model, brief.pools))
                brief = brief.knowing(types[-1])
    return types, broken


def _prompt(brief: Brief, count: int) -> str:
    known = [f"- {each.id}: {each.phrasings[0]}" for each in brief.trained]
    fails = [f"- {each.id} ({brief.failing[each.id]:.0%} right): {each.phrasings[0]}" for each in brief.trained
             if each.id in brief.failing]  # fmt: skip
    parts = [
        _TASK.format(count=count),
        f"The schema:\n{brief.schema}",
        f"Some rows:\n{brief.rows}" if brief.rows else "",
        f"Known parameters: {', '.join(sorted(brief.pools))}" if brief.pools else "",
        "Templates that exist, not to be repeated:\n" + "\n".join(known) if known else "",
        "The small model fails these. Write templates that practise what they need:\n" + "\n".join(fails)
        if fails else "",
    ]  # fmt: skip
    return "\n\n".join(part for part in parts if part)


def _sample(database: Path) -> str:
    tables = [table.name for table in read_schema(database).tables]
    return "\n".join(
        f"{name}:\n{observation(run_query(database, f'SELECT * FROM {quote(name)} LIMIT {_SAMPLE_ROWS}'))}"
        for name in tables
    )


def _objects(text: str) -> Iterator[dict[str, object]]:
    """The JSON objects of a reply, whatever stands around them; those before the place where it was cut off too."""
    decoder, place = json.JSONDecoder(), text.find("{")
    while place >= 0:
        try:
            found, end = decoder.raw_decode(text, place)
            # Half a character, such as "\ud83d", could not be kept in a file.
            found = json.loads(json.dumps(found, ensure_ascii=False).encode("utf-8", "replace"))
        except (ValueError, RecursionError):
            end = place + 1
        else:
            inner = [value for value in found.values() if isinstance(value, list)]
            wraps = len(found) == len(inner) == 1  # {"templates": [...]}
            yield from (each for each in inner[0] if isinstance(each, dict)) if wraps else (found,)
        place = text.find("{", end)


def _new_id(model: str, item: Mapping[str, object], taken: set[str]) -> str:
    stem = f"{_slug(model)}-{_slug(str(item.get('id') or 'unnamed'))}"
    return next(each for each in (stem, *(f"{stem}-{n}" for n in range(2, len(taken) + 3))) if each not in taken)


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:60]
