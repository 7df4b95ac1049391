"""A model that was loaded to be asked about one database, on a terminal or over HTTP."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from sqldojo.agent.episode import AgentParams, AnswerParams
from sqldojo.asking import Answer, AskParams, Tell, ask
from sqldojo.chosen_model import model_and_adapter
from sqldojo.databases.execution import Limits
from sqldojo.databases.user_database import check_user_file, first_bytes, is_sqlite_file, open_user_database
from sqldojo.errors import UserError
from sqldojo.params import load
from sqldojo.training.decoding import RolloutCounts
from sqldojo.training.policy_model import PolicyModel, load_policy_model
from sqldojo.user_files import as_database

_LOOKED_AT = 1_000_000  # bytes of a text file, in which the first CREATE TABLE of a script must come
_MAKES_A_TABLE = re.compile(rb"\bcreate\s[^;]*\btable\b", re.IGNORECASE)
_GZIP = b"\x1f\x8b"


@dataclass(frozen=True)
class Session:
    """A model, called `name`, and a database, of which questions are asked."""

    name: str
    policy: PolicyModel
    database: Path
    params: AskParams
    agent: AgentParams
    limits: Limits

    def ask(self, question: str, tell: Tell, *, seed: int | None = None, counts: RolloutCounts | None = None) -> Answer:
        """The agent's answer, as `asking.ask` gives it; `seed` takes the place of the session's own."""
        params = self.params if seed is None else replace(self.params, seed=seed)
        return ask(self.policy, self.database, question, params, self.agent, self.limits, tell, counts)


@contextmanager
def open_session(
    database: Path, params_file: Path, model: str | None, adapter: Path | None, params: AskParams
) -> Iterator[Session]:
    """Yield a session on a SQLite file or SQL script, which is only read.

    `model` is a name of the params file, whose kept adapter comes with it, or the folder of a base model, which comes
    without an adapter unless one is named; None is the first of the params file. UserError, before anything large is
    loaded, where one of them is not there or not what it should be.
    """
    with database_to_ask(database) as opened:
        base, adapter = model_and_adapter(params_file, model, adapter)
        agent, limits = load(params_file, "agent", AnswerParams), load(params_file, "verifier", Limits)
        try:
            policy = load_policy_model(base, adapter, to_play=True)
        except FileNotFoundError as error:  # mlx-lm's, for a folder without weights or tokenizer
            raise UserError(f"{base}: a file of the model is missing ({error}); build it again") from error
        yield Session(base.resolve().name, policy, opened, params, agent, limits)


@contextmanager
def database_to_ask(path: Path) -> Iterator[Path]:
    """Yield the SQLite file itself, after it was checked, or one that the SQL script (perhaps gzipped) builds.

    UserError with its own sentence for each way in which `path` is neither.
    """
    if is_sqlite_file(path):
        open_user_database(path).close()
        yield path
        return
    head, _ = first_bytes(path)
    if not head.startswith(_GZIP):
        with path.open("rb") as file:
            if b"\0" in head or not _MAKES_A_TABLE.search(file.read(_LOOKED_AT)):
                check_user_file(path)  # says what it is instead
    with as_database(path) as database:
        open_user_database(database).close()
        yield database
