"""A schema that is too long for a prompt, cut down to the part that a question seems to be about.

A schema within the budget stays as it is, byte for byte. Of a longer one the tables are ranked by the words that they
share with the question (names, columns, comments; a word that many tables have counts less, as in TF-IDF: K. Sparck
Jones, "A statistical interpretation of term specificity and its application in retrieval", 1972) and by their
neighbours along foreign keys, so that what joins two tables of the question comes too. The best stay whole as long as
there is room, then with some of their columns; the others are only named, and the prompt says with which query the
statement of any table can be had. Nothing is drawn by lot and no model is asked.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqldojo.databases.outline import Outline, as_identifier
from sqldojo.databases.scripts import comments_in
from sqldojo.errors import UserError

CountTokens = Callable[[str], int]

_NAME, _COLUMN, _COMMENT = 3.0, 2.0, 1.0  # what a word of the question is worth, by where a table has it
_ONLY_THE_BEGINNING = 0.7  # of that, for "ship" and "shipped"
_SHORTEST_BEGINNING = 4
_OF_A_NEIGHBOUR = 0.3  # of the scores of the two best neighbours
_MOST_WORDS = 200  # of a question
_NAMES_SHARE = 4  # of the budget, the part that the names of tables left out may take
_CASES = re.compile(r"[^\W\d_]+|\d+")
_SMALL_WORDS = (
    "a an and any are as at be by did do does each every find for from give has have how i in is it its list many me "
    "much of on or show tell that the their there these they this those to was were what when where which who whose "
    "with"
)


@dataclass(frozen=True)
class FittedSchema:
    """The schema as a prompt shows it; `whole` says that nothing was left out.

    `left_out` are the tables of which no column is shown.
    """

    text: str
    whole: bool
    left_out: tuple[str, ...] = ()


def fit_schema(
    schema: str,
    outlines: Callable[[], Sequence[Outline]],
    question: str,
    most_tokens: int,
    count_tokens: CountTokens,
    *,
    unit: str = "tokens",
    setting: str = "--schema-tokens",
) -> FittedSchema:
    """The schema text itself where it has no more than `most_tokens`, else what of it the question needs most.

    `outlines` gives the tables of the same database, and is called only where something must be left out. UserError
    where not even one column of one table fits; it says what is counted as `unit` and where the user has set it.
    """
    if count_tokens(schema) <= most_tokens:
        return FittedSchema(schema, whole=True)
    tables = outlines()
    found = _cut(tables, rank_tables(tables, question), question, most_tokens, count_tokens)
    if found is None:
        raise UserError(
            f"the schema has more than {most_tokens} {unit}, and not one column of a table fits in them; allow more "
            f"with {setting}, or ask of a copy with fewer tables"
        )
    return found


def statement_query(table: str) -> str:
    """The query that gives the statement of a table, as prompts tell it."""
    name = table.replace("'", "''")
    return f"SELECT sql FROM sqlite_schema WHERE name = '{name}'"


def rank_tables(tables: Sequence[Outline], question: str) -> list[tuple[float, Outline]]:
    """The tables with their scores, best first; of equal ones the one that was created first."""
    words = [_words_by_place(table) for table in tables]
    vocabulary = sorted({word for each in words for word in each})
    asked = _question_words(question, vocabulary)
    own = [0.0] * len(tables)
    for word in asked:
        matches = {known: share for known in vocabulary if (share := _likeness(word, known))}
        having = sum(any(known in each for known in matches) for each in words)
        rarity = math.log(1 + len(tables) / having) if having else 0.0
        for number, each in enumerate(words):
            own[number] += rarity * max((each[known] * share for known, share in matches.items() if known in each),
                                        default=0.0)  # fmt: skip
    scores = [score + _OF_A_NEIGHBOUR * sum(sorted((own[other] for other in others), reverse=True)[:2])
              for score, others in zip(own, _neighbours(tables), strict=True)]  # fmt: skip
    order = sorted(range(len(tables)), key=lambda number: (-scores[number], number))
    return [(scores[number], tables[number]) for number in order]


def _cut(
    tables: Sequence[Outline],
    ranked: Sequence[tuple[float, Outline]],
    question: str,
    most_tokens: int,
    count_tokens: CountTokens,
) -> FittedSchema | None:
    """The statements that fit, in the order of their creation, and what is said of the others; None where none fits."""
    names_room = min(count_tokens(_left_out(tables, len(tables))), most_tokens // _NAMES_SHARE)
    room = most_tokens - names_room - count_tokens(_how_to_look(tables))
    shown: dict[str, str] = {}
    for score, table in ranked:
        statement = f"{table.sql};"
        taken = count_tokens(f"{statement}\n")
        if taken > room and (score > 0 or not shown):
            statement = _with_some_columns(table, question, room, count_tokens)
            taken = count_tokens(f"{statement}\n")
        if statement and taken <= room:
            shown[table.name] = statement
            room -= taken
    while shown:
        others = [table for _, table in ranked if table.name not in shown]
        text = _assembled(tables, shown, others, most_tokens, count_tokens)
        if text is not None:
            return FittedSchema(text, whole=False, left_out=tuple(table.name for table in others))
        del shown[next(reversed(shown))]  # counts of parts do not quite add up: the last of them goes
    return None


def _assembled(
    tables: Sequence[Outline],
    shown: Mapping[str, str],
    others: Sequence[Outline],
    most_tokens: int,
    count_tokens: CountTokens,
) -> str | None:
    """The text with the names of as many `others` as fit; None where it does not fit without any."""
    statements = [shown[table.name] for table in tables if table.name in shown]
    named = len(others)
    while True:
        text = "\n".join([*statements, *([_left_out(others, named)] if others else []), _how_to_look(tables)])
        if count_tokens(text) <= most_tokens:
            return text
        if not others or named == 0:
            return None
        named = named * 3 // 4


def _left_out(others: Sequence[Outline], named: int) -> str:
    """The line on the tables that are not shown, with the names of the first `named` of them."""
    names = ", ".join(as_identifier(table.name) for table in others[:named])
    more = len(others) - named
    if not named:
        return f"-- {more} more tables: SELECT name FROM sqlite_schema"
    return f"-- More tables: {names}" + (f" and {more} others: SELECT name FROM sqlite_schema" if more else "")


def _how_to_look(tables: Sequence[Outline]) -> str:
    return f"-- This schema is shortened. All of a table: {statement_query(tables[0].name)}"


def _with_some_columns(table: Outline, question: str, room: int, count_tokens: CountTokens) -> str:
    """The table with as many columns as fit, its keys and those of the question first; empty where none fits."""
    asked = _question_words(question, sorted({word for name, _ in table.columns for word in split_words(name)}))
    keys = {*table.primary_key, *(column for reference in table.references for column in reference.columns)}

    def importance(number: int) -> tuple[bool, float, int]:
        name = table.columns[number][0]
        likeness = sum(max((_likeness(word, own) for own in split_words(name)), default=0.0) for word in asked)
        return name not in keys, -likeness, number

    order = sorted(range(len(table.columns)), key=importance)
    least, most = 0, len(order)  # the number of columns, by bisection: more columns never take fewer tokens
    while least < most:
        middle = (least + most + 1) // 2
        if count_tokens(f"{_partial(table, order[:middle])}\n") <= room:
            least = middle
        else:
            most = middle - 1
    return _partial(table, order[:least]) if least else ""


def _partial(table: Outline, chosen: Sequence[int]) -> str:
    columns = [table.columns[number] for number in sorted(chosen)]
    listed = ", ".join(f"{as_identifier(name)} {declared}".strip() for name, declared in columns)
    more = len(table.columns) - len(columns)
    kind = "VIEW" if table.is_view else "TABLE"
    note = "" if table.is_view else " -- without its constraints"
    if more:
        note = f" -- and {more} more column{'s' if more > 1 else ''}"
    return f"CREATE {kind} {as_identifier(table.name)} ({listed});{note}"


def _words_by_place(table: Outline) -> dict[str, float]:
    """The words of a table with the most that each is worth."""
    places: dict[str, float] = {}
    for worth, texts in (
        (_COMMENT, comments_in(table.sql)),
        (_COLUMN, [name for name, _ in table.columns]),
        (_NAME, [table.name]),
    ):
        places.update({word: worth for text in texts for word in split_words(text)})
    return places


def _neighbours(tables: Sequence[Outline]) -> list[set[int]]:
    """For each table the numbers of those that it refers to or that refer to it."""
    numbers = {table.name.casefold(): number for number, table in enumerate(tables)}
    found: list[set[int]] = [set() for _ in tables]
    for number, table in enumerate(tables):
        for reference in table.references:
            other = numbers.get(reference.table.casefold())
            if other is not None and other != number:
                found[number].add(other)
                found[other].add(number)
    return found


def _question_words(question: str, vocabulary: Iterable[str]) -> list[str]:
    """The words that count in a question, each once; also words of the schema in a script without blanks."""
    small = set(_SMALL_WORDS.split())
    words = [word for word in split_words(question) if word not in small][:_MOST_WORDS]
    folded = question.casefold()
    words += [word for word in vocabulary if not word.isascii() and len(word) > 1 and word in folded]
    return list(dict.fromkeys(words))


def split_words(text: str) -> list[str]:
    """The words of a text or name in small letters and in the singular: `orderItems2` gives order, item, 2."""
    words = []
    for run in _CASES.findall(text):
        start = 0
        for place in range(1, len(run)):
            after_small = run[place - 1].islower() and run[place].isupper()
            last_capital = run[place - 1 : place + 2].isalpha() and (
                run[place - 1].isupper() and run[place].isupper() and run[place + 1 : place + 2].islower()
            )
            if after_small or last_capital:
                words.append(run[start:place])
                start = place
        words.append(run[start:])
    return [_singular(word.casefold()) for word in words]


def _singular(word: str) -> str:
    if len(word) > 3 and word.isascii():
        if word.endswith("ies"):
            return f"{word[:-3]}y"
        if word.endswith(("sses", "xes", "ches", "shes")):
            return word[:-2]
        if word.endswith("s") and not word.endswith(("ss", "us", "is")):
            return word[:-1]
    return word


def _likeness(word: str, known: str) -> float:
    """1 for the same word, somewhat less where one begins with the other, else 0."""
    if word == known:
        return 1.0
    shorter, longer = sorted((word, known), key=len)
    begins = len(shorter) >= _SHORTEST_BEGINNING and longer.startswith(shorter)
    return _ONLY_THE_BEGINNING if begins else 0.0
