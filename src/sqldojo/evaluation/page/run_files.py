"""What there is of one chain, read from wherever the stages put it; a run in progress has only a part of it.

Nothing is required: what is missing is None or absent, and the page says that it is not there yet. What is there but
cannot be read is the user's error, as everywhere.
"""

from __future__ import annotations

import functools
import hashlib
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import polars

from sqldojo.chains import CHECKPOINTS, GRPO, KEPT, REDISTILLED, RELEASED, Chain
from sqldojo.errors import UserError
from sqldojo.evaluation.live_curves import live_path
from sqldojo.files import file_sha256, read_records
from sqldojo.params import read_document
from sqldojo.records import HELD_OUT_SPLITS, OUTCOMES, Episode, Question

Record = TypeVar("Record")
Row = Mapping[str, Any]

_LOSSES = ("update", "loss")
# The curves of a chain, with the columns that a page cannot do without.
CURVES = {
    "distill": _LOSSES,
    "grpo_steps": ("step", "reward", "accuracy", "informative", "groups"),
    "grpo_looks": ("step", "accuracy", "low", "high", "questions", "attempts"),
    "redistill": _LOSSES,
}
_SCORES = ("accuracy", "accuracy_low", "accuracy_high", "questions", "attempts")
_OF_THE_CHAIN = ("distill", "grpo", "redistill", "keep")
_OF_ALL_CHAINS = ("audit", "bank", "propose", "review", "teach")
_PARAMS, _QUESTIONS = Path("params.yaml"), Path("data/questions")


@dataclass(frozen=True)
class Run:
    """One chain as its files tell it.

    `scores` maps a checkpoint to its metrics file, split -> row; `metrics` a stage to its own. `questions` are the
    held-out ones by id. `growing` names the curves that a stage is still writing. `about` holds each adapter's
    about.json, `card` the base model's, `inputs` the SHA-256 of every file that was read, by its path below the root.
    """

    chain: Chain
    scores: Mapping[str, Mapping[str, Row]] = field(default_factory=dict)
    episodes: Mapping[str, Sequence[Episode]] = field(default_factory=dict)
    questions: Mapping[str, Question] = field(default_factory=dict)
    curves: Mapping[str, Sequence[Row]] = field(default_factory=dict)
    growing: frozenset[str] = frozenset()
    metrics: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    about: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    card: Mapping[str, Any] | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    inputs: Mapping[str, str] = field(default_factory=dict)

    @property
    def kept(self) -> str | None:
        """The checkpoint that the selection set chose, None before that."""
        return kept_checkpoint(self.metrics["keep"]) if "keep" in self.metrics else None

    @property
    def quantised(self) -> str:
        """How the base model is quantised, in words; empty where it is not."""
        return (self.card or {}).get("quantisation", {}).get("text", "")

    @property
    def begun(self) -> bool:
        """Whether anything of this very chain is there; the released model's scores are those of all seeds."""
        own = {*self.scores, *self.episodes} - {RELEASED}
        return bool(own or self.curves or self.about)


def kept_checkpoint(keep: Mapping[str, Any]) -> str:
    """Which checkpoint a file metrics/keep says is kept."""
    return REDISTILLED if keep[f"{KEPT}_{REDISTILLED}"] else GRPO


def attempts_of(chain: Chain, checkpoint: str, root: Path) -> Path:
    """The file of what a checkpoint did at the held-out questions; `kept` is the one that the selection set chose.

    UserError when it has not played them, or none has been kept.
    """
    played = checkpoint
    if checkpoint == KEPT:
        keep = _Files(root).keep(chain.metrics("keep"))
        if keep is None:
            raise UserError(f"{root / chain.metrics('keep')}: no checkpoint has been kept yet; run `dvc repro keep`")
        played = kept_checkpoint(keep)
    path = root / chain.episodes(played)
    if not path.is_file():
        raise UserError(f"{path}: {checkpoint} has not played yet; run `dvc repro` or restore it with `dvc checkout`")
    return path


def read_run(root: Path, chain: Chain, *, live: bool = False) -> Run:
    """What there is of the chain below `root`; with `live`, growing curves take the place of those not there yet.

    A stage does without `live`, since what a killed run left there is no input of its. UserError for a file that is
    there and holds something else.
    """
    files = _Files(root)
    growing = {name: files.table(live_path(chain, name), CURVES[name], counted=False) if live else None
               for name in CURVES}  # fmt: skip
    finished = {name: files.table(chain.curve(name), CURVES[name]) for name in CURVES}
    questions = [files.records(path, Question) or [] for path in _question_files()]
    return Run(
        chain=chain,
        scores=_there({name: files.scores(chain.scores(name)) for name in CHECKPOINTS}),
        episodes=_there({name: files.records(chain.episodes(name), Episode) for name in CHECKPOINTS}),
        questions={question.id: question for split in questions for question in split},
        curves=_there({name: finished[name] or growing[name] for name in CURVES}),
        growing=frozenset(name for name in CURVES if not finished[name] and growing[name]),
        metrics=_there({name: files.keep(path) if name == "keep" else files.json(path)
                        for name, path in _metrics_files(chain).items()}),
        about=_there({name: files.json(path) for name, path in _about_files(chain).items()}),
        card=files.json(chain.base_card),
        params=files.params(),
        inputs=dict(sorted(files.digests.items())),
    )


def input_paths(chain: Chain) -> list[Path]:
    """Every file that `read_run` reads of a chain where it is there, below the root: what a page depends on."""
    played = [path for name in CHECKPOINTS for path in (chain.scores(name), chain.episodes(name))]
    curves = [chain.curve(name) for name in CURVES]
    about, metrics = _about_files(chain).values(), _metrics_files(chain).values()
    return sorted([_PARAMS, chain.base_card, *_question_files(), *about, *played, *curves, *metrics])


def live_paths(chain: Chain) -> list[Path]:
    """The curves that a running stage writes, wherever it is started from."""
    return [live_path(chain, name) for name in CURVES]


def _metrics_files(chain: Chain) -> dict[str, Path]:
    own = {name: chain.metrics(name) for name in _OF_THE_CHAIN}
    return own | {name: Path("metrics") / f"{name}.json" for name in _OF_ALL_CHAINS}


def _about_files(chain: Chain) -> dict[str, Path]:
    return {name: chain.weights(name) / "about.json" for name in CHECKPOINTS if name != RELEASED}


def _question_files() -> list[Path]:
    return [_QUESTIONS / f"{split}.jsonl" for split in HELD_OUT_SPLITS]


def _there(found: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in found.items() if value is not None}


@dataclass
class _Files:
    """Reads files below a root, None for one that is not there, and keeps the SHA-256 of the others."""

    root: Path
    digests: dict[str, str] = field(default_factory=dict)

    def json(self, path: Path) -> dict[str, Any] | None:
        """The object of a JSON file."""
        content = self._bytes(path)
        if content is None:
            return None
        try:
            found = json.loads(content)
        except ValueError as error:
            raise _unreadable(path, str(error)) from error
        if not isinstance(found, dict):
            raise _unreadable(path, "it holds no object")
        return found

    def keep(self, path: Path) -> dict[str, Any] | None:
        """The object of a file metrics/keep, with all that it must say."""
        found = self.json(path)
        if found is not None:
            _require_numbers(path, found, (f"{KEPT}_{REDISTILLED}", GRPO, REDISTILLED))
        return found

    def scores(self, path: Path) -> dict[str, Any] | None:
        """The object of a file metrics/scores: a row for each split, with all that it must say."""
        found = self.json(path)
        for row in (found or {}).values():
            _require_numbers(path, row if isinstance(row, dict) else {}, (*_SCORES, *OUTCOMES))
        return found

    def table(self, path: Path, columns: Sequence[str], *, counted: bool = True) -> list[dict[str, Any]] | None:
        """The rows of a CSV file with these columns, None for one without any row.

        `counted` says whether it is an input to name.
        """
        content = self._bytes(path, counted=counted)
        if content is None or not content.strip():
            return None
        try:
            found = polars.read_csv(io.BytesIO(content), infer_schema_length=None)
        except polars.exceptions.PolarsError as error:
            raise _unreadable(path, str(error).partition("\n")[0]) from error
        missing = [name for name in columns if name not in found.columns]
        if missing:
            raise _unreadable(path, f"it has no column `{missing[0]}`")
        return found.to_dicts() or None

    def records(self, path: Path, record_type: type[Record]) -> list[Record] | None:
        """The records of a JSONL file."""
        try:
            stamp = (self.root / path).stat()
            found, digest = _read_once(self.root / path, record_type, (stamp.st_mtime_ns, stamp.st_size))
        except FileNotFoundError:
            return None
        self.digests[path.as_posix()] = digest
        return list(found)

    def params(self) -> dict[str, Any]:
        """The sections of params.yaml, none when it is not there.

        They have no digest: DVC follows their values, and a comment that changes must not change the page.
        """
        return read_document(self.root / _PARAMS) if (self.root / _PARAMS).is_file() else {}

    def _bytes(self, path: Path, *, counted: bool = True) -> bytes | None:
        try:
            content = (self.root / path).read_bytes()
            if counted:
                self.digests[path.as_posix()] = hashlib.sha256(content).hexdigest()
        except FileNotFoundError:  # a running stage may remove it at any moment
            return None
        return content


@functools.lru_cache(maxsize=16)  # more than one chain has
def _read_once(path: Path, record_type: type[Record], stamp: tuple[int, int]) -> tuple[tuple[Record, ...], str]:
    """The records and the SHA-256 of a file; read again when its `stamp` is another.

    A page that is watched is built at each update of a curve, and thousands of episodes take seconds to read.
    """
    return tuple(read_records(path, record_type)), file_sha256(path)


def _require_numbers(path: Path, found: Mapping[str, Any], names: Sequence[str]) -> None:
    missing = [name for name in names if not isinstance(found.get(name), int | float)]
    if missing:
        raise _unreadable(path, f"it holds no number `{missing[0]}`")


def _unreadable(path: Path, reason: str) -> UserError:
    return UserError(f"{path}: {reason}; rebuild it with `dvc repro` or restore it with `dvc checkout`")
