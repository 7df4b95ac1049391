import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from sqldojo.databases.execution import Limits
from sqldojo.databases.families import TRAIN, family_paths
from sqldojo.errors import UserError
from sqldojo.files import read_records, write_records
from sqldojo.records import (
    CORRECT,
    NEVER_SUBMITTED,
    RESERVED,
    WRONG_SQL,
    Episode,
    Message,
    Question,
)
from sqldojo.regrading import Change, read_questions, regrade, write_archive
from sqldojo.verifier.grading import ReferenceFailed

ARCHIVE = Path("episodes.jsonl")
REFERENCE = "SELECT name FROM person WHERE age > 10"
QUESTION = Question("old-0001", "old", RESERVED, TRAIN, "Who is older than 10?", REFERENCE, {})
OTHER = Question("all-0001", "all", RESERVED, TRAIN, "Who is there?", "SELECT name FROM person", {})
QUESTIONS = {question.id: question for question in (QUESTION, OTHER)}


@pytest.fixture(scope="module")
def databases(tmp_path_factory):
    """A family where only the last database has a row on the boundary."""
    root = tmp_path_factory.mktemp("databases")
    for number, path in enumerate(family_paths(root, TRAIN)):
        path.parent.mkdir(exist_ok=True)
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("CREATE TABLE person (name TEXT, age INTEGER)")
            connection.executemany("INSERT INTO person VALUES (?, ?)", [("Ada", 12), ("Bo", 10 if number == 3 else 9)])
            connection.commit()
    return root


def episode(question, submission, outcome, attempt=0, reward=0.0):
    return Episode(
        id=f"{question.id}/{attempt}",
        question=question.id,
        type=question.type,
        split=question.split,
        attempt=attempt,
        messages=(Message("system", "schema"), Message("user", question.text)),
        outcome=outcome,
        reward=reward,
        reason="as it was then",
        submission=submission,
        tokens=(1, 2),
        action_mask=(0, 1),
        logprobs=(0.0, -0.5),
    )


def test_says_which_outcomes_changed_and_keeps_the_others(databases):
    archive = [
        episode(QUESTION, "SELECT name FROM person WHERE age >= 10", CORRECT, 0, 1.0),
        episode(QUESTION, REFERENCE, WRONG_SQL, 1),
        episode(QUESTION, REFERENCE, CORRECT, 2, 1.0),
        episode(OTHER, "DELETE FROM person", WRONG_SQL),
        episode(OTHER, None, NEVER_SUBMITTED, 1, -0.2),
    ]
    found = regrade(archive, QUESTIONS, databases, Limits(), archive=ARCHIVE)
    assert found.submissions == 4
    assert found.counts() == {"correct -> wrong_sql": 1, "wrong_sql -> correct": 1}
    first, second = found.changes
    assert (first.episode, first.question, first.before, first.after) == ("old-0001/0", "old-0001", CORRECT, WRONG_SQL)
    assert first.reason.startswith("wrong on adversarial: ")
    assert second == Change("old-0001/1", "old-0001", WRONG_SQL, CORRECT, "then: as it was then")
    assert [(each.outcome, each.reward) for each in found.episodes] == [
        (WRONG_SQL, 0.0), (CORRECT, 1.0), (CORRECT, 1.0), (WRONG_SQL, 0.0), (NEVER_SUBMITTED, -0.2)
    ]  # fmt: skip
    assert found.episodes[4] == archive[4]
    assert found.episodes[1] == replace(archive[1], outcome=CORRECT, reward=1.0, reason="")


def test_a_verifier_that_is_the_same_changes_nothing(databases):
    archive = [episode(QUESTION, REFERENCE, WRONG_SQL, number) for number in range(3)]
    once = regrade(archive, QUESTIONS, databases, Limits(), archive=ARCHIVE)
    again = regrade(once.episodes, QUESTIONS, databases, Limits(), archive=ARCHIVE)
    assert (len(once.changes), again.changes, again.episodes) == (3, (), once.episodes)


def test_a_question_that_is_gone_or_was_replaced_is_the_users_to_restore(databases):
    archive = [episode(QUESTION, REFERENCE, CORRECT)]
    with pytest.raises(UserError, match=r"episodes\.jsonl: the question old-0001 of episode old-0001/0 is not among"):
        regrade(archive, {}, databases, Limits(), archive=ARCHIVE)
    renamed = {QUESTION.id: replace(QUESTION, text="Who is younger?")}
    with pytest.raises(UserError, match="old-0001/0 asks something else now"):
        regrade(archive, renamed, databases, Limits(), archive=ARCHIVE)


def test_an_episode_without_a_submission_needs_no_question(databases):
    archive = [episode(QUESTION, None, NEVER_SUBMITTED)]
    assert regrade(archive, {}, databases, Limits(), archive=ARCHIVE).episodes == tuple(archive)


def test_a_reference_that_fails_is_our_fault(databases):
    broken = {QUESTION.id: replace(QUESTION, reference="SELECT nothing FROM person")}
    with pytest.raises(ReferenceFailed):
        regrade([episode(QUESTION, REFERENCE, CORRECT)], broken, databases, Limits(), archive=ARCHIVE)


def test_regraded_archive_goes_to_a_new_file(databases, tmp_path):
    found = regrade([episode(QUESTION, REFERENCE, WRONG_SQL)], QUESTIONS, databases, Limits(), archive=ARCHIVE)
    write_archive(tmp_path / "new.jsonl", found)
    assert tuple(read_records(tmp_path / "new.jsonl", Episode)) == found.episodes
    with pytest.raises(UserError, match="exists already"):
        write_archive(tmp_path / "new.jsonl", found)


def test_questions_of_all_splits_are_read(tmp_path):
    for split in ("train", "reserved", "selection", "check"):
        write_records(tmp_path / f"{split}.jsonl", [replace(QUESTION, id=f"{split}-1", split=split)])
    assert sorted(read_questions(tmp_path)) == ["check-1", "reserved-1", "selection-1", "train-1"]
