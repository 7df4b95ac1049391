"""The test ledger: one look for each release, in order, and nothing that was written can be changed unseen."""

import json
import multiprocessing
from dataclasses import replace

import pytest

from sqldojo.held_out import ledger
from sqldojo.held_out.ledger import (
    BEGUN,
    EXCLUSIONS,
    SCORE,
    Exclusions,
    LedgerError,
    Look,
    begin,
    read_ledger,
    record_exclusions,
    record_score,
    recorded_score,
    refuse_in_experiment,
)

OVERLAP = {"type": "b", "overlaps": "trained", "rule": "same-shape", "evidence": "SELECT 1"}
DECIDED = Exclusions("split", "training", ("a", "b"), (OVERLAP,), {"same-shape": "built the same way"})
LOOK = Look("first", "split", "training", "adapter", "base", {"agent": {"turns": 4}, "seed": 17}, "code")
RESULT = {"scores": {"kept": {"accuracy": 0.5}}}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "held_out" / "ledger.jsonl"


@pytest.fixture
def scored(path):
    """A ledger with one score."""
    record_exclusions(path, DECIDED)
    begin(path, LOOK)
    record_score(path, LOOK.key, RESULT)
    return path


def kinds(path):
    return [entry["kind"] for entry in read_ledger(path)]


def test_a_release_is_decided_begun_and_scored_in_this_order(path):
    record_exclusions(path, DECIDED)
    begun = begin(path, LOOK)
    assert (begun["kind"], begun["release"], begun["look"], begun["adapter"]) == (BEGUN, "first", 1, "adapter")
    score = record_score(path, LOOK.key, RESULT)
    assert (score["kind"], score["result"], score["look"]) == (SCORE, RESULT, 1)
    assert kinds(path) == [EXCLUSIONS, BEGUN, SCORE]
    assert [line["previous"] for line in read_ledger(path)] == ["", *(line["sha256"] for line in read_ledger(path)[:2])]
    assert read_ledger(path)[0]["excluded"] == [OVERLAP]


def test_what_was_scored_is_replayed_under_its_own_name(scored):
    before = scored.read_bytes()
    for look in (LOOK, replace(LOOK, release="second"), replace(LOOK, training="other training")):
        found = begin(scored, look)
        assert (found["kind"], found["release"], found["result"]) == (SCORE, "first", RESULT)
    assert record_score(scored, LOOK.key, {"scores": "luckier"})["result"] == RESULT
    assert recorded_score(scored, LOOK.key)["result"] == RESULT
    assert scored.read_bytes() == before


@pytest.mark.parametrize(
    ("change", "words"),
    [({"adapter": "retrained"}, "another adapter"), ({"split": "harder"}, "another test set"),
     ({"base": "larger"}, "another base model"), ({"settings": {"seed": 18}}, "other settings")],
)  # fmt: skip
def test_a_name_stands_for_one_look(scored, change, words):
    before = scored.read_bytes()
    with pytest.raises(LedgerError, match=rf"`first` was scored already, with {words}; .*`release.name`"):
        begin(scored, replace(LOOK, **change))
    assert scored.read_bytes() == before


def test_a_new_name_is_a_further_look(scored):
    second = begin(scored, replace(LOOK, release="second", adapter="retrained"))
    assert (second["look"], second["look_at_any_split"]) == (2, 2)
    record_exclusions(scored, replace(DECIDED, split="harder"))
    third = begin(scored, replace(LOOK, release="third", split="harder"))
    assert (third["look"], third["look_at_any_split"]) == (1, 3)


def test_a_killed_run_keeps_its_name_and_counts_as_a_look(path):
    record_exclusions(path, DECIDED)
    begin(path, LOOK)  # and killed while it plays
    with pytest.raises(LedgerError, match="another adapter"):
        begin(path, replace(LOOK, adapter="better"))
    assert begin(path, LOOK)["kind"] == BEGUN
    assert begin(path, replace(LOOK, release="renamed"))["release"] == "first"
    assert kinds(path) == [EXCLUSIONS, BEGUN]
    assert begin(path, replace(LOOK, release="second", adapter="better"))["look"] == 2
    assert record_score(path, LOOK.key, RESULT)["look"] == 1


def test_a_killed_run_is_gone_on_with_by_its_own_code_only(path):
    record_exclusions(path, DECIDED)
    begin(path, LOOK)  # it showed how it went, was killed, and the prompt was changed
    before = path.read_bytes()
    with pytest.raises(LedgerError, match=r"`first` was begun by other code.*`release\.name`"):
        begin(path, replace(LOOK, code="of another prompt"))
    assert path.read_bytes() == before and begin(path, LOOK)["kind"] == BEGUN
    record_score(path, LOOK.key, RESULT)
    assert begin(path, replace(LOOK, code="of another prompt"))["result"] == RESULT, "it is read, not played"


def test_exclusions_come_first(path):
    for decided in (None, replace(DECIDED, split="other"), replace(DECIDED, training="other")):
        if decided:
            record_exclusions(path, decided)
        with pytest.raises(LedgerError, match=r"no exclusions were decided .*:build_test`"):
            begin(path, LOOK)
    with pytest.raises(ValueError, match="not begun"):
        record_score(path, LOOK.key, RESULT)
    with pytest.raises(LedgerError, match="no score is recorded"):
        recorded_score(path, LOOK.key)


def test_exclusions_are_written_once_and_never_after_a_look(path):
    record_exclusions(path, DECIDED)
    record_exclusions(path, replace(DECIDED, rules={"same-shape": "in other words"}))
    assert kinds(path) == [EXCLUSIONS]
    more = replace(DECIDED, excluded=())
    record_exclusions(path, more)  # nobody has looked yet
    assert kinds(path) == [EXCLUSIONS, EXCLUSIONS]
    begin(path, LOOK)
    record_exclusions(path, more)
    with pytest.raises(LedgerError, match=r"was played after .* `test\.seed`"):
        record_exclusions(path, DECIDED)
    record_exclusions(path, replace(DECIDED, training="of the next release"))
    assert kinds(path) == [EXCLUSIONS, EXCLUSIONS, BEGUN, EXCLUSIONS]


def edited(lines, number, **change):
    """The lines with one entry changed, its own hash left as it was."""
    changed = json.dumps(json.loads(lines[number]) | change, sort_keys=True, ensure_ascii=False) + "\n"
    return [*lines[:number], changed.encode(), *lines[number + 1 :]]


@pytest.mark.parametrize(
    ("tamper", "line"),
    [
        (lambda lines: edited(lines, 2, result={"scores": {"kept": {"accuracy": 0.9}}}), 3),
        (lambda lines: edited(lines, 0, excluded=[]), 1),
        (lambda lines: lines[1:], 1),
        (lambda lines: [lines[0], lines[2]], 2),
        (lambda lines: [lines[1], lines[0], lines[2]], 1),
        (lambda lines: [*lines, lines[2]], 4),
        (lambda lines: [*lines[:2], lines[2][:-20]], 3),
        (lambda lines: [*lines[:2], lines[2].rstrip(b"\n")], 3),
        (lambda lines: [lines[0].replace(b'"kind"', b' "kind"'), *lines[1:]], 1),
        (lambda lines: [*lines, b"[]\n"], 4),
    ],
    ids=["score", "exclusions", "first lost", "middle lost", "moved", "twice", "cut", "no end", "space", "no entry"],
)
def test_an_altered_ledger_is_refused(scored, tamper, line):
    scored.write_bytes(b"".join(tamper(scored.read_bytes().splitlines(keepends=True))))
    for use in (read_ledger, lambda path: begin(path, LOOK), lambda path: record_exclusions(path, DECIDED)):
        with pytest.raises(LedgerError, match=rf"ledger.jsonl, line {line}: .*git checkout"):
            use(scored)


def test_a_rewritten_chain_still_has_to_be_in_order(tmp_path, scored):
    """Hashes can be computed anew by whoever forges a ledger, but a score cannot come before the exclusions."""
    other = tmp_path / "other.jsonl"
    record_exclusions(other, replace(DECIDED, training="another"))
    forged = read_ledger(scored)[1] | {"previous": read_ledger(other)[0]["sha256"]}
    unsigned = {name: value for name, value in forged.items() if name != "sha256"}
    other.write_bytes(other.read_bytes() + ledger._line(unsigned | {"sha256": ledger._sha256(unsigned)}))
    with pytest.raises(LedgerError, match="line 2: no exclusions were decided before"):
        read_ledger(other)


def test_experiments_never_see_the_test_set():
    refuse_in_experiment({})
    with pytest.raises(LedgerError, match=r"not for experiments .*gentler"):
        refuse_in_experiment({"DVC_EXP_NAME": "gentler"})


def append_many(path, name, start):
    start.wait()
    for number in range(20):
        look = replace(LOOK, release=f"{name}-{number}", adapter=f"{name}-{number}")
        begin(path, look)
        record_score(path, look.key, RESULT)
        begin(path, replace(LOOK, release=f"shared-{number}", adapter=f"shared-{number}"))


def test_two_processes_append_without_losing_a_line(path):
    record_exclusions(path, DECIDED)
    context = multiprocessing.get_context("fork")
    start = context.Barrier(2)
    processes = [context.Process(target=append_many, args=(path, name, start)) for name in "ab"]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0]
    entries = read_ledger(path)
    begun = [entry for entry in entries if entry["kind"] == BEGUN]
    assert len(begun) == 60 and len(entries) == 1 + 60 + 40
    assert [entry["look"] for entry in begun] == list(range(1, 61))


def test_a_crash_while_writing_leaves_the_old_ledger(scored, monkeypatch):
    before = scored.read_bytes()

    def crash(handle):
        raise OSError("no space left")

    monkeypatch.setattr("os.fsync", crash)
    with pytest.raises(OSError, match="no space"):
        begin(scored, replace(LOOK, release="second", adapter="new"))
    assert scored.read_bytes() == before and [each.name for each in scored.parent.iterdir()] == [scored.name]
    monkeypatch.undo()
    assert begin(scored, replace(LOOK, release="second", adapter="new"))["look"] == 2
