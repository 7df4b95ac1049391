"""A model that was loaded to be asked about one database, on a terminal or over HTTP."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from sqldojo.agent.episode import AgentParams
from sqldojo.asking import Answer, AskParams, Tell, ask
from sqldojo.chains import KEPT, Chain
from sqldojo.databases.execution import Limits
from sqldojo.databases.user_database import check_user_file, first_bytes, is_sqlite_file, open_user_database
from sqldojo.errors import UserError
from sqldojo.params import load, load_list
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
        base, adapter = _model_and_adapter(params_file, model, adapter)
        agent, limits = load(params_file, "agent", AgentParams), load(params_file, "verifier", Limits)
        try:
            policy = load_policy_model(base, adapter)
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


def _model_and_adapter(params_file: Path, model: str | None, adapter: Path | None) -> tuple[Path, Path | None]:
    """The folders of the base model and of its adapter, None for none; UserError where either is not there."""
    if model is not None and Path(model).is_dir():
        base = Path(model)
        if not (base / "config.json").is_file():
            raise UserError(f"--model {model}: there is no model in this folder (no config.json); give an MLX folder")
    else:
        names, seed = load_list(params_file, "models", str), load_list(params_file, "seeds", int)[0]
        if model is not None and model not in names:
            listed = ", ".join(names)
            raise UserError(f"--model {model}: neither a folder nor one of {params_file}: models ({listed})")
        chain = Chain(names[0] if model is None else model, seed)
        base, adapter = chain.base, adapter or chain.weights(KEPT)
    if adapter is not None:
        _check_adapter(adapter)
    return base, adapter


def _check_adapter(folder: Path) -> None:
    """UserError unless it looks like a folder in which `sqldojo` or mlx-lm saved a LoRA adapter."""
    if not folder.is_dir():
        raise UserError(f"{folder}: there is no adapter; train one with `make repro`, or name one with --adapter")
    config = folder / "adapter_config.json"
    try:
        lora = json.loads(config.read_text(encoding="utf-8"))["lora_parameters"]
        whole = (folder / "adapters.safetensors").is_file() and {"rank", "scale"} <= lora.keys()
    except (FileNotFoundError, ValueError, KeyError, TypeError, AttributeError):
        whole = False
    if not whole:
        raise UserError(
            f"{folder}: is no adapter (adapter_config.json with LoRA's rank and scale, and adapters.safetensors); "
            "name one with --adapter, such as data/adapters/MODEL/SEED/kept"
        )
