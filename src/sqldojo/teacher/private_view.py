"""What a model behind an API sees of one question under `privacy: schema_only`: the schema, but no value of a row.

Values of the question's parameters may come from rows, so each is sent as a stand-in such as CITY_VALUE and put back
into the model's SQL here. Of a result only its column names and the number of its rows are sent, and of errors only
those that SQLite finds while it compiles a query: they depend on the query and the schema alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

NOTE = (
    "A word such as CITY_VALUE in a question stands for a value that you are not shown: write it into the SQL as it "
    "is, in quotes where the value is a text. Of results you see the column names and the number of rows."
)
_COMPILE_ERRORS = (
    "no such column", "no such table", "no such function", "near ", "ambiguous column name", "incomplete input",
    "misuse of ", "wrong number of arguments", "a GROUP BY clause is required", "unrecognized token",
    "SELECTs to the left and right", "circular reference", "duplicate WITH table name",
)  # fmt: skip
_CUT = "..."  # ends what `agent.prompt` shortens: it may end in a part of a value, which nobody would find


@dataclass(frozen=True)
class PrivateView:
    """One question with stand-ins for its values, `stand_ins` being stand-in -> value."""

    stand_ins: Mapping[str, str | int | float]

    def question(self, text: str) -> str:
        """The question as it is sent; a value that is part of a word is only looked for where it is no word itself."""
        for value in map(str, self.stand_ins.values()):
            if not re.search(_word(value), text):
                return self._hide(text, re.escape)
        return self._hide(text, _word)

    def sql(self, sql: str) -> str:
        """The model's SQL with the values put back; a text's own quotes are doubled, as it stands in quotes already."""
        pattern = "|".join(sorted(map(re.escape, self.stand_ins), key=len, reverse=True))
        return re.sub(pattern, lambda found: _quoted(self.stand_ins[found.group()]), sql) if pattern else sql

    def result(self, observation: str, preview_rows: int) -> str:
        """A query's result, given as `agent.prompt.observation` writes it, without what its rows hold."""
        header, *rows = observation.split("\n")
        if header.startswith("Error: "):  # or a column that is named so: its rows stay here too
            told = header.removeprefix("Error: ").startswith(_COMPILE_ERRORS) and _CUT not in header
            return self._hide(header, re.escape) if told else "Error: the query failed while it ran"
        if not rows:
            return "(no rows)"
        count = f"{len(rows)} rows" if len(rows) <= preview_rows else f"more than {preview_rows} rows"
        names = "(names of columns too long to show)" if _CUT in header else self._hide(header, re.escape)
        return f"{names}\n({count}, not shown)"

    def _hide(self, text: str, pattern_of: Callable[[str], str]) -> str:
        """All values replaced in one pass, so that none is looked for in a stand-in; the longer of two first."""
        names: dict[str, str] = {}
        for stand_in, value in self.stand_ins.items():
            names.setdefault(str(value), stand_in)
            names.setdefault(_quoted(value), stand_in)
        longest_first = sorted(names, key=lambda value: (-len(value), value))
        pattern = "|".join(pattern_of(value) for value in longest_first)
        return re.sub(pattern, lambda found: names[found.group()], text) if pattern else text


def private_view(parameters: Mapping[str, str | int | float]) -> PrivateView:
    """The view on a question with these parameters."""
    return PrivateView({f"{name.upper()}_VALUE": value for name, value in parameters.items()})


def _quoted(value: str | int | float) -> str:
    return str(value).replace("'", "''")


def _word(value: str) -> str:
    return rf"(?<!\w){re.escape(value)}(?!\w)"
