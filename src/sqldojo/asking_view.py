"""What `sqldojo ask` shows: the queries as they come, and the answer as a table, as SQL or as JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from sqldojo.agent.episode import AgentParams
from sqldojo.asking import Answer, AskParams, ask
from sqldojo.chains import KEPT, Chain
from sqldojo.databases.execution import Limits
from sqldojo.errors import UserError
from sqldojo.params import load, load_list
from sqldojo.training.policy_model import PolicyModel, load_policy_model

_MOST_ROWS = 50  # of an answer's table; `--json` has all
_PROMPT = "? "


@dataclass(frozen=True)
class Session:
    """A model and a database, of which questions are asked."""

    policy: PolicyModel
    database: Path
    params: AskParams
    agent: AgentParams
    limits: Limits

    @classmethod
    def open(
        cls, database: Path, params_file: Path, model: Path | None, adapter: Path | None, params: AskParams
    ) -> Session:
        """With a base model and an adapter, or those of the first chain in the params file.

        A model that is named comes without an adapter unless one is named too. UserError where either is not there.
        """
        if model is None:
            chain = Chain(load_list(params_file, "models", str)[0], load_list(params_file, "seeds", int)[0])
            model = chain.base
            adapter = adapter or chain.weights(KEPT)
        if adapter is not None and not adapter.is_dir():
            raise UserError(f"{adapter}: there is no adapter; train one with `make repro`, or name one with --adapter")
        agent, limits = load(params_file, "agent", AgentParams), load(params_file, "verifier", Limits)
        return cls(load_policy_model(model, adapter), database, params, agent, limits)

    def run(self, question: str | None, *, sql_only: bool, as_json: bool) -> bool:
        """Answer the question, or those that are typed; whether the last one got an answer."""
        given = True
        for asked in [question] if question is not None else _typed():
            given = self.answer(asked, sql_only=sql_only, as_json=as_json)
        return given

    def answer(self, question: str, *, sql_only: bool, as_json: bool) -> bool:
        """Answer one question on standard output; how it was found goes to standard error."""
        notes = Console(stderr=True, highlight=False)

        def tell(query: str, result: str) -> None:
            if self.params.attempts == 1:  # several work at once, and their queries would come mixed
                notes.print(Text(f"> {query}\n{result}", style="dim"), soft_wrap=True)

        found = ask(self.policy, self.database, question, self.params, self.agent, self.limits, tell)
        if as_json:
            print(json.dumps(found.as_json(), ensure_ascii=False))
        elif not found.given:
            notes.print(Text(_no_answer(found)), soft_wrap=True)
        elif sql_only:
            print(found.sql)
        else:
            _show(found, notes)
        return found.given


def _typed() -> Iterator[str]:
    """The questions on standard input; with a prompt where somebody types them."""
    typed_in = sys.stdin.isatty()
    while True:
        if typed_in:
            print(_PROMPT, end="", file=sys.stderr, flush=True)
        line = sys.stdin.readline()
        if not line:
            break
        if line.strip():
            yield line.strip()
    if typed_in:
        print(file=sys.stderr)


def _show(answer: Answer, notes: Console) -> None:
    assert answer.result is not None
    notes.print(Text(f"{answer.sql}", style="bold"), soft_wrap=True)
    columns, rows = answer.result.columns, answer.result.rows
    table = Table()
    for name in columns:
        table.add_column(Text(name))  # names come from the database, so none is markup
    for row in rows[:_MOST_ROWS]:
        table.add_row(*(Text(_cell(value)) for value in row))
    Console().print(table if rows else Text("(no rows)"))
    if len(rows) > _MOST_ROWS:
        notes.print(Text(f"the first {_MOST_ROWS} of {len(rows)} rows; --json prints all"))
    if answer.attempts > 1:
        notes.print(Text(f"{answer.agreeing} of {answer.attempts} attempts agree"))


def _no_answer(answer: Answer) -> str:
    """Why there is none, in a line."""
    if answer.sql is None:
        return f"no answer: {answer.reasons[0] if answer.reasons else 'no attempt submitted a query that runs'}"
    return (
        f"no answer: only {answer.agreeing} of {answer.attempts} attempts agree, so any answer would be a guess; "
        f"theirs was: {answer.sql}"
    )


def _cell(value: object) -> str:
    if value is None:
        return "NULL"
    return f"x'{value.hex()}'" if isinstance(value, bytes) else str(value)
