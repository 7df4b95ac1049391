"""The test ledger: which release was scored on which test set, once, and how it scored.

A test set that may be scored again and again becomes one more set to select by. So every look is a line of a file that
is kept in Git and only grows. There are three kinds of lines, in this order for a release:

- `exclusions`: which test types were left out because training overlaps them, decided before any score exists;
- `begun`: that this release is about to be played on this test set. It is written before the first episode, because a
  run that is killed may have shown how it went: the name of the release is taken from here on, and the look counts;
- `score`: the result. What was scored before is read from here and never played again.

Each line holds the SHA-256 of itself and of the line before, so an earlier line cannot be altered, removed or moved
alone without that showing. Lines cut off at the end, and a ledger whose hashes are all made anew, show in Git only.

A look is identified by its key, the hash of the split (questions and databases), the adapter, the base model and the
settings. Code is not part of it: a mended grader or prompt is no reason to look again, so what was scored stands until
there is another adapter or another test set. And a look that was begun, and may have shown how it went, is only gone
on with by the code that began it.
"""

from __future__ import annotations

import dataclasses
import fcntl
import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqldojo.errors import UserError
from sqldojo.files import replacing_file

EXCLUSIONS, BEGUN, SCORE = "exclusions", "begun", "score"
EXPERIMENT = "DVC_EXP_NAME"  # DVC sets it in the stages of an experiment
PARAMS, LEDGER = Path("stages/held_out/params.yaml"), Path("stages/held_out/ledger.jsonl")

Entry = Mapping[str, Any]


class LedgerError(UserError):
    """Something that the ledger refuses, with what to do instead."""


@dataclass(frozen=True)
class Exclusions:
    """Which of the `types` written for the test are left out of it, and by which `rules` (name -> what it says).

    `split` is the digest of what is left, `training` that of the training questions that it was compared with.
    `excluded` has a row for each type that overlaps a trained one: both names, the rule, what shows it.
    """

    split: str
    training: str
    types: tuple[str, ...]
    excluded: tuple[Mapping[str, str], ...]
    rules: Mapping[str, str]


@dataclass(frozen=True)
class Look:
    """One release about to be scored on one test set: digests of all that decides the result, and the settings.

    `code` is the digest of the code that plays it, and of the versions of the packages that it plays with.
    """

    release: str
    split: str
    training: str
    adapter: str
    base: str
    settings: Mapping[str, Any]
    code: str

    @property
    def key(self) -> str:
        """What tells this look from others; neither the release's name, the training questions nor the code count."""
        return _sha256({name: getattr(self, name) for name in ("split", "adapter", "base", "settings")})


def refuse_in_experiment(environment: Mapping[str, str] = os.environ) -> None:
    """LedgerError inside a DVC experiment: experiments are for choosing, and nothing is chosen by the test."""
    if environment.get(EXPERIMENT):
        raise LedgerError(
            f"the test set is not for experiments (this one is {environment[EXPERIMENT]}); choose by the splits "
            "selection and check, commit, then run `make score-test`"
        )


def read_ledger(path: Path) -> list[Entry]:
    """All entries, none when there is no file; LedgerError when a line was altered, removed or moved, or comes too
    early."""
    if not path.is_file():
        return []
    entries: list[Entry] = []
    for number, line in enumerate(path.read_bytes().splitlines(keepends=True), start=1):
        entry = _parsed(line)
        wrong = (
            "it was altered" if entry is None
            else "the lines before it were altered, removed or moved" if entry["previous"] != _last(entries)
            else _out_of_order(entry, entries)
        )  # fmt: skip
        if entry is None or wrong:
            raise LedgerError(
                f"{path}, line {number}: {wrong}; the ledger only grows: restore it with `git checkout {path}`"
            )
        entries.append(entry)
    return entries


def recorded_score(path: Path, key: str) -> Entry:
    """The score of a look; LedgerError when there is none."""
    found = _find(read_ledger(path), key)
    if found is None or found["kind"] != SCORE:
        raise LedgerError(f"{path}: no score is recorded of the look {key}; run `make score-test`")
    return found


def record_exclusions(path: Path, exclusions: Exclusions) -> None:
    """Append what was decided, unless it stands there already.

    LedgerError when it differs from what was decided for the same split and training questions and the split has been
    played since.
    """
    content = _plain(dataclasses.asdict(exclusions))

    def decide(entries: Sequence[Entry]) -> Entry | None:
        before = _exclusions_of(entries, exclusions.split, exclusions.training)
        if before and _decision(before[-1]) == _decision(content):
            return None
        if _begun_on(entries, exclusions.split, exclusions.training):
            raise LedgerError(
                f"{path}: this test set was played after its exclusions were decided, and they would now be others; "
                f"restore the code that decided them, or draw another test set with `test.seed` in {PARAMS}"
            )
        return {"kind": EXCLUSIONS, **content}

    _append(path, decide)


def begin(path: Path, look: Look) -> Entry:
    """The recorded score of this look, kind `score`, to be shown again; or the entry `begun`, after which to play.

    A look that was begun and not scored, by a run that was killed, is gone on with under the name it was begun with.
    LedgerError when it was begun by other code, when the release's name stands for another look, or when the exclusions
    were not decided for this split.
    """

    def decide(entries: Sequence[Entry]) -> Entry | None:
        known = _find(entries, look.key)
        if known:
            if known["kind"] == BEGUN and known["code"] != look.code:
                raise LedgerError(
                    f"{path}: the release `{known['release']}` was begun by other code, or with other versions of mlx, "
                    "and may have shown how it goes; restore what began it and run this again, or release another "
                    f"adapter under a new `release.name`, or draw another test set with `test.seed`, in {PARAMS}"
                )
            return None
        taken = next((each for each in entries if each["kind"] == BEGUN and each["release"] == look.release), None)
        if taken:
            raise LedgerError(
                f"{path}: the release `{look.release}` was scored already, with {_what_differs(taken, look)}; a "
                f"release is scored once: choose a new `release.name` in {PARAMS}, and the ledger will show a further "
                "look at the test set"
            )
        if not _exclusions_of(entries, look.split, look.training):
            raise LedgerError(
                f"{path}: no exclusions were decided for this test set and these training questions; run "
                "`dvc repro --force --single-item stages/held_out/dvc.yaml:build_test`"
            )
        played = [each for each in entries if each["kind"] == BEGUN]
        return {
            "kind": BEGUN,
            "key": look.key,
            **dataclasses.asdict(look),
            "look": 1 + sum(each["split"] == look.split for each in played),
            "look_at_any_split": 1 + len(played),
        }

    return _entry(_append(path, decide), look.key)


def record_score(path: Path, key: str, result: Mapping[str, Any]) -> Entry:
    """The entry of this look's score, appended unless another process was faster: then what that one found.

    The entry has what was begun, and `result`. ValueError when the look was never begun.
    """

    def decide(entries: Sequence[Entry]) -> Entry | None:
        begun = _find(entries, key)
        if begun is None:
            raise ValueError(f"the look {key} was not begun")
        if begun["kind"] == SCORE:
            return None
        return {**begun, "kind": SCORE, "result": result}

    return _entry(_append(path, decide), key)


def _find(entries: Sequence[Entry], key: str) -> Entry | None:
    """The last entry of a look: its score if there is one."""
    return next((each for each in reversed(entries) if each.get("key") == key), None)


def _entry(entries: Sequence[Entry], key: str) -> Entry:
    found = _find(entries, key)
    assert found is not None, "it was appended if it was not there"
    return found


def _exclusions_of(entries: Sequence[Entry], split: str, training: str) -> list[Entry]:
    return [each for each in entries
            if each["kind"] == EXCLUSIONS and (each["split"], each["training"]) == (split, training)]  # fmt: skip


def _decision(exclusions: Entry) -> tuple[list[str], list[tuple[str, str]]]:
    """What was decided, without the words for it."""
    return exclusions["types"], [(each["type"], each["overlaps"]) for each in exclusions["excluded"]]


def _begun_on(entries: Sequence[Entry], split: str, training: str) -> bool:
    return any(each["kind"] == BEGUN and (each["split"], each["training"]) == (split, training) for each in entries)


def _what_differs(taken: Entry, look: Look) -> str:
    words = {"split": "another test set", "adapter": "another adapter", "base": "another base model",
             "settings": "other settings"}  # fmt: skip
    ours = _plain(dataclasses.asdict(look))
    return " and ".join(text for name, text in words.items() if taken[name] != ours[name])


def _out_of_order(entry: Entry, before: Sequence[Entry]) -> str:
    """Why an entry may not stand here: what must precede it does not, or it is there twice; empty when it may."""
    known = _find(before, entry["key"]) if "key" in entry else None
    if entry["kind"] == BEGUN:
        if known:
            return "this look was begun before"
        if any(each["kind"] == BEGUN and each["release"] == entry["release"] for each in before):
            return f"the release `{entry['release']}` was begun before"
        if not _exclusions_of(before, entry["split"], entry["training"]):
            return "no exclusions were decided before this test set was played"
    if entry["kind"] == SCORE and (known is None or known["kind"] == SCORE):
        return "this score was not begun, or is there twice"
    if entry["kind"] == EXCLUSIONS and _begun_on(before, entry["split"], entry["training"]):
        return "these exclusions were decided after the test set was played"
    return ""


def _append(path: Path, decide: Callable[[Sequence[Entry]], Entry | None]) -> list[Entry]:
    """All entries, after the one that `decide` makes of those so far, if any; nobody else appends meanwhile.

    The whole file is written beside its place and renamed, so a crash leaves the old one or the new one.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with _locked(path.parent):
        entries = read_ledger(path)
        content = decide(entries)
        if content is None:
            return entries
        content = {name: value for name, value in content.items() if name not in ("previous", "sha256")}
        unsigned = {**_plain(content), "previous": _last(entries)}
        entry = {**unsigned, "sha256": _sha256(unsigned)}
        with replacing_file(path) as temporary, temporary.open("wb") as file:
            file.write((path.read_bytes() if path.is_file() else b"") + _line(entry))
            file.flush()
            os.fsync(file.fileno())
        return [*entries, entry]


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold the folder's lock, which the system frees when the process ends, however it ends."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _parsed(line: bytes) -> Entry | None:
    """The entry of a line, None when it is not what was written."""
    try:
        entry = json.loads(line)
        unsigned = {name: value for name, value in entry.items() if name != "sha256"}
        whole = line == _line(entry) and entry["sha256"] == _sha256(unsigned)
        return entry if whole and entry["kind"] in (EXCLUSIONS, BEGUN, SCORE) else None
    except (ValueError, KeyError, AttributeError):
        return None


def _last(entries: Sequence[Entry]) -> str:
    return entries[-1]["sha256"] if entries else ""


def _line(entry: Entry) -> bytes:
    return (_canonical(entry) + "\n").encode()


def _sha256(content: Any) -> str:
    return hashlib.sha256(_canonical(content).encode()).hexdigest()


def _canonical(content: Any) -> str:
    return json.dumps(content, sort_keys=True, ensure_ascii=False, allow_nan=False)


def _plain(content: Any) -> Any:
    """As JSON gives it back: tuples are lists."""
    return json.loads(_canonical(content))
