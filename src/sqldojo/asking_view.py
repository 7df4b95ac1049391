"""What `sqldojo ask` shows: the queries as they come, the answer as a table, as SQL or as JSON, and the conversation.

Answers go to standard output, everything else to standard error. What comes from the database is text and nothing
else: no markup, and no control character reaches the terminal.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from rich.console import Console
from rich.table import Table
from rich.text import Text

from sqldojo.asking import Answer
from sqldojo.asking_session import Session
from sqldojo.asking_terminal import lines, typed_in
from sqldojo.databases.user_queries import user_outlines
from sqldojo.errors import UserError

MOST_ROWS = 50  # of an answer's table; `--json` has all
_LONGEST_CELL = 200
_WIDE_AS_NEEDED = 100_000  # columns of a console that is no terminal, where nothing has to be cut
_LEAST_WIDTH, _USUAL_WIDTH = 3, 24  # characters of a column: what it cannot do without, what is kept for a long one
_BESIDE_CELLS = 3  # characters of a column's border and padding
_PROMPT = "? "
_HELP = """\
Type a question in words. Ctrl-C stops the one under way, Ctrl-D ends.
  .schema [TABLE]   the statements that make the tables, or one of them
  .tables           the names of the tables and views
  .sql              the query of the last answer
  .help             this
  .quit             end"""


@dataclass
class Conversation:
    """Questions about one session's database and their answers. `answered` says whether the last one got an answer."""

    session: Session
    sql_only: bool = False
    as_json: bool = False
    answered: bool = True
    _last: Answer | None = field(default=None, init=False)

    def run(self) -> None:
        """Answer what is typed or piped in, and obey its commands, until it ends.

        Ctrl-C ends the question under way alone; a database that cannot be read any more is told, and the next
        question may find it mended. Without a terminal both end it all. Whoever ends a conversation on a terminal has
        got what they wanted: `answered` is then True.
        """
        terminal = typed_in()
        if terminal:
            print(f"Questions about {self.session.database.name}; .help tells more", file=sys.stderr)
        for line in lines(_PROMPT):
            try:
                if not line.startswith("."):
                    self.answer(line)
                elif not self._obey(line):
                    break
            except KeyboardInterrupt:
                if not terminal:
                    raise
                print("\nstopped", file=sys.stderr)
            except UserError as error:
                if not terminal:
                    raise
                print(f"Error: {error}", file=sys.stderr)
        self.answered = self.answered or terminal

    def answer(self, question: str) -> None:
        """Answer one question."""
        notes, telling = Console(stderr=True, highlight=False), True

        def tell(query: str, result: str) -> None:
            if telling and self.session.params.attempts == 1:  # several work at once: their queries would come mixed
                notes.print(Text(f"> {visible(query)}\n{visible(result)}", style="dim"), soft_wrap=True)

        self.answered = False
        try:
            found = self.session.ask(question, tell)
        finally:
            telling = False  # a query that was under way when it was stopped
        self.answered, self._last = found.given, found
        if self.as_json:
            print(json.dumps(found.as_json(), ensure_ascii=False), flush=True)
        elif not found.given:
            notes.print(Text(visible(no_answer(found))), soft_wrap=True)
        elif self.sql_only:
            print(found.sql, flush=True)
        else:
            _show(found, notes)

    def _obey(self, line: str) -> bool:
        """Do what a line that begins with a dot says; whether to go on."""
        word, _, rest = line.partition(" ")
        if word in (".quit", ".exit"):
            return False
        commands: dict[str, Callable[[str], str]] = {
            ".help": lambda _: _HELP,
            ".schema": self._statements,
            ".tables": lambda _: "\n".join(table.name for table in user_outlines(self.session.database)),
            ".sql": lambda _: self._last_query(),
        }
        if word in commands:
            print(visible(commands[word](rest.strip())), flush=True)
        else:
            print(f"{visible(word)}: no such command; .help lists them", file=sys.stderr)
        return True

    def _statements(self, name: str) -> str:
        tables = user_outlines(self.session.database)
        found = [f"{table.sql};" for table in tables if not name or table.name.casefold() == name.strip('"').casefold()]
        return "\n".join(found) or f"there is no table {name}; .tables lists them"

    def _last_query(self) -> str:
        if self._last is None or self._last.sql is None:
            return "-- there is no answer yet"
        return self._last.sql


def no_answer(answer: Answer) -> str:
    """Why there is none, in a line."""
    if answer.sql is None:
        return f"no answer: {answer.reasons[0] if answer.reasons else 'no attempt submitted a query that runs'}"
    return (
        f"no answer: only {answer.agreeing} of {answer.attempts} attempts agree, so any answer would be a guess; "
        f"theirs was: {answer.sql}"
    )


def visible(text: str) -> str:
    """The text with control characters written out, all but line ends and tabs: no value may steer a terminal."""
    return "".join(each if each.isprintable() or each in "\n\t" else _written_out(each) for each in text)


def cell(value: object) -> str:
    """A value on one line: NULL, a blob in hexadecimal, and what is long cut off."""
    if value is None:
        return "NULL"
    if isinstance(value, bytes):
        text = f"x'{value[:_LONGEST_CELL].hex()}'"
        return text if len(text) <= _LONGEST_CELL else f"{text[:40]}... ({len(value):,} bytes)"
    text = str(value)
    if len(text) > _LONGEST_CELL:
        text = f"{text[:_LONGEST_CELL]}... ({len(text):,} characters)"
    return visible(text).replace("\n", "\\n").replace("\t", "\\t")


def _written_out(letter: str) -> str:
    return letter.encode("unicode_escape").decode("ascii")


def _show(answer: Answer, notes: Console) -> None:
    assert answer.result is not None and answer.sql is not None
    notes.print(Text(visible(answer.sql), style="bold"), soft_wrap=True)
    columns, rows = answer.result.columns, answer.result.rows
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=_WIDE_AS_NEEDED)
    if rows:
        shown = _columns_that_fit(columns, rows[:MOST_ROWS], console.width)
        console.print(_table(columns[:shown], [row[:shown] for row in rows[:MOST_ROWS]]))
        if shown < len(columns):
            notes.print(Text(f"the first {shown} of {len(columns)} columns; --json prints all"))
    else:
        console.print(Text("(no rows)"))
    if len(rows) > MOST_ROWS:
        notes.print(Text(f"the first {MOST_ROWS} of {len(rows):,} rows; --json prints all"))
    if answer.attempts > 1:
        notes.print(Text(f"{answer.agreeing} of {answer.attempts} attempts agree"))


def _table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> Table:
    table = Table()
    for number, name in enumerate(columns):
        numeric = all(isinstance(row[number], int | float | None) for row in rows)
        # Names come from the database, so none is markup.
        table.add_column(Text(cell(name)), justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        # NULL looks unlike the text 'NULL'.
        table.add_row(*(Text(cell(value), style="dim italic" if value is None else "") for value in row))
    return table


def _columns_that_fit(columns: Sequence[str], rows: Sequence[Sequence[object]], width: int) -> int:
    """How many of the columns a table of this width can show, at least one; long ones are wrapped to make room."""
    left = width - 1
    for number, name in enumerate(columns):
        longest = max(len(cell(value)) for value in (name, *(row[number] for row in rows)))
        left -= max(_LEAST_WIDTH, min(longest, _USUAL_WIDTH)) + _BESIDE_CELLS
        if left < 0:
            return max(1, number)
    return len(columns)
