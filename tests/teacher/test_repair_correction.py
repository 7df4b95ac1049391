"""Corrections: from which states, what is kept of them, what a round is said to have brought, and retention."""

from dataclasses import replace

import pytest
from repair_tasks import AGENT, CANARY, HIDDEN, JOIN, NAME, SETUP, SOLUTIONS, TASKS, make_attempts, say, write_books

from sqldojo.files import read_records, to_line, write_records
from sqldojo.records import CORRECT, RUN_SQL, SUBMIT_SQL, WRONG_SQL
from sqldojo.repair.task import INFRASTRUCTURE, PARSE_FAILURE, REPEATED_ACTION, TOKEN_LIMIT, TURN_LIMIT
from sqldojo.repair.tools import INSPECT_SCHEMA
from sqldojo.teacher.repair_correction import Continuation, Yield, candidate_states, correct, retained
from sqldojo.teacher.repair_script import SCRIPTED_A, SCRIPTED_B, RepairTeachParams, script_teacher

PARAMS = RepairTeachParams(seed=1, direct=0, look=1, run_and_look=0, check=1, mistake=0)
LOOK, TRY, WRONG = (INSPECT_SCHEMA, ""), (RUN_SQL, "SELECT 1"), (SUBMIT_SQL, "SELECT 2")


@pytest.fixture(scope="module")
def databases(tmp_path_factory):
    return write_books(tmp_path_factory.mktemp("repair"))


@pytest.fixture
def make(databases):
    return make_attempts(databases)


def played(make, task, *replies, number=0, tokens=True):
    """A student's episode of these replies, calls or prose; a reply of n characters has n tokens, as has a result."""
    attempt = make(task, number)
    ids, mask = [1, 2, 3], [0, 0, 0]
    for reply in replies:
        before = len(attempt.messages)
        if isinstance(reply, str):
            attempt.reply(reply)
        else:
            say(attempt, *reply)
        for message in attempt.messages[before:]:
            own = int(message.role == "assistant")
            ids += [1000 * len(attempt.messages) + place for place in range(len(message.content) + 1)]
            mask += [own] * (len(message.content) + 1)
    if attempt.outcome is None:
        attempt.stop_for_tokens()
    return attempt.episode(tokens=ids, action_mask=mask, logprobs=[0.0] * len(ids)) if tokens else attempt.episode()


def right(task):
    return SUBMIT_SQL, SOLUTIONS[task.id]


def corrected(make, student, teacher=SCRIPTED_B, teach=None):
    teach = teach or script_teacher(HIDDEN, teacher, PARAMS)
    return correct(TASKS, HIDDEN, student, make, teach, teacher)


def made(continuation):
    return [(m.tool_call.name, m.target) for m in continuation.messages if m.role == "assistant"]


@pytest.mark.parametrize(
    ("replies", "outcome", "states"),
    [
        ([WRONG], WRONG_SQL, [0]),
        ([LOOK, WRONG], WRONG_SQL, [1, 0]),
        ([LOOK, TRY, (RUN_SQL, "SELECT 3"), WRONG], WRONG_SQL, [3, 2]),
        ([LOOK, "Well."], PARSE_FAILURE, [1, 0]),
        (["Well."], PARSE_FAILURE, [0]),
        ([LOOK, TRY], TOKEN_LIMIT, [1, 0]),
        ([LOOK, LOOK], REPEATED_ACTION, [1, 0]),
        ([LOOK, right(JOIN)], CORRECT, []),
    ],
)
def test_states_are_those_before_the_failed_action_and_one_turn_earlier(make, replies, outcome, states):
    episode = played(make, JOIN, *replies)
    assert (episode.outcome, candidate_states(episode)) == (outcome, states)


def test_a_failure_of_a_provider_has_no_state(make):
    assert candidate_states(replace(played(make, JOIN, LOOK, WRONG), outcome=INFRASTRUCTURE)) == []


def test_a_teacher_goes_on_from_the_state_before_the_failed_action(make):
    episode = played(make, NAME, LOOK, TRY, WRONG)
    found = corrected(make, [episode])
    (continuation,) = found.continuations
    assert (continuation.id, continuation.task, continuation.type, continuation.teacher) == (
        "books-2/0/2", "books-2", "name", SCRIPTED_B,
    )  # fmt: skip
    assert made(continuation) == [(RUN_SQL, True), (SUBMIT_SQL, True)]
    assert continuation.messages[1].content.startswith("title | price\nDust | 9.5")
    kept = sum(len(message.content) + 1 for message in episode.messages[2:6])
    assert continuation.prefix == episode.tokens[: 3 + kept]
    assert episode.action_mask[3 + kept] == 1 and episode.action_mask[2 + kept] == 0
    assert found.counts == Yield(
        attempted=1, solved=0, failed=1, candidate_states=2, requested=1, skipped={"first_verified": 1}, rejected={},
        infrastructure=0, verified=1,
    )  # fmt: skip


def test_the_failed_action_is_in_no_continuation(make):
    wrong = "SELECT 'never again'"
    for replies in ([(SUBMIT_SQL, wrong)], [LOOK, (SUBMIT_SQL, wrong)], [TRY, LOOK, (SUBMIT_SQL, wrong)]):
        (continuation,) = corrected(make, [played(make, JOIN, *replies)]).continuations
        assert wrong not in to_line(continuation)


def test_a_failed_first_action_leaves_the_whole_task_to_the_teacher(make):
    episode = played(make, JOIN, "I cannot.")
    (continuation,) = corrected(make, [episode]).continuations
    assert continuation.prefix == episode.tokens[:3] == (1, 2, 3)
    assert made(continuation) == [(RUN_SQL, True), (INSPECT_SCHEMA, True), (RUN_SQL, True), (SUBMIT_SQL, True)]


def test_the_earlier_state_is_tried_when_the_later_one_brings_nothing(make):
    """A teacher that only submits what it has seen to run."""

    def teach(attempt):
        if attempt.turns_left == AGENT.turns - 1:
            say(attempt, *right(attempt.task))
        else:
            say(attempt, SUBMIT_SQL, "SELECT 3")

    found = corrected(make, [played(make, JOIN, LOOK, TRY, WRONG)], teach=teach)
    assert [continuation.id for continuation in found.continuations] == ["books-1/0/1"]
    assert (found.counts.requested, found.counts.rejected, found.counts.verified, found.counts.skipped) == (
        2, {WRONG_SQL: 1}, 1, {},
    )  # fmt: skip


def test_the_teacher_has_the_turns_that_the_student_left(databases):
    make = make_attempts(databases, agent=replace(AGENT, turns=3))
    episode = played(make, JOIN, LOOK, TRY, (RUN_SQL, "SELECT 3"))
    assert episode.outcome == TURN_LIMIT
    (continuation,) = corrected(make, [episode]).continuations
    assert made(continuation) == [(SUBMIT_SQL, True)]


def test_what_does_not_verify_is_counted_by_its_outcome(make):
    def teach(attempt):
        if attempt.task == JOIN:
            attempt.reply("I give up.")
        elif attempt.task == NAME:
            attempt.stop_for_provider("Timeout")
        else:
            say(attempt, *right(attempt.task))

    student = [played(make, task, LOOK, WRONG) for task in TASKS]
    student += [played(make, JOIN, right(JOIN), number=1), replace(student[0], outcome=INFRASTRUCTURE)]
    found = corrected(make, student, "m", teach)
    assert [continuation.task for continuation in found.continuations] == [SETUP.id]
    assert found.counts == Yield(
        attempted=4, solved=1, failed=3, candidate_states=6, requested=5, skipped={"first_verified": 1},
        rejected={PARSE_FAILURE: 2}, infrastructure=2, verified=1,
    )  # fmt: skip


def test_a_state_with_other_results_than_then_is_skipped(make):
    episode = played(make, JOIN, TRY, LOOK, WRONG)
    messages = list(episode.messages)
    messages[3] = replace(messages[3], content="1\n2")
    found = corrected(make, [replace(episode, messages=tuple(messages))])
    assert found.continuations == []
    assert (found.counts.requested, found.counts.skipped) == (0, {"results_differ": 2})
    messages = list(episode.messages)
    messages[5] = replace(messages[5], content="other tables")
    found = corrected(make, [replace(episode, messages=tuple(messages))])
    assert [continuation.id for continuation in found.continuations] == ["books-1/0/1"]
    assert found.counts.skipped == {"results_differ": 1}


def test_a_continuation_that_shows_the_reference_is_rejected(make):
    told = replace(NAME, issue=f"Is it {SOLUTIONS[NAME.id]}?")
    student = [played(make, told, WRONG)]
    found = correct([told], HIDDEN, student, make, script_teacher(HIDDEN, SCRIPTED_A, PARAMS), SCRIPTED_A)
    assert (found.continuations, found.counts.rejected) == ([], {"leaked": 1})


def test_an_attempt_without_tokens_is_our_fault(make):
    with pytest.raises(ValueError, match="books-1/0: the attempt has no tokens of its reply 2"):
        corrected(make, [played(make, JOIN, LOOK, WRONG, tokens=False)])


def test_corrections_come_in_the_order_of_the_attempts_and_can_be_kept(make, tmp_path):
    student = [played(make, task, LOOK, WRONG, number=number) for number in range(3) for task in reversed(TASKS)]
    found = corrected(make, student)
    assert [each.id for each in found.continuations] == [f"{episode.id}/1" for episode in student]
    write_records(tmp_path / "c.jsonl", found.continuations)
    assert read_records(tmp_path / "c.jsonl", Continuation) == found.continuations


def test_nothing_hidden_but_the_teachers_own_sql_is_in_a_continuation(make):
    for continuation in corrected(make, [played(make, task, LOOK, WRONG) for task in TASKS]).continuations:
        others = [message for message in continuation.messages if message.role != "assistant"]
        told = to_line(replace(continuation, messages=tuple(others)))
        assert SOLUTIONS[continuation.task] not in told
        assert CANARY not in to_line(continuation) and "test_case" not in to_line(continuation)
        assert {message.role for message in continuation.messages} == {"assistant", "tool"}


def test_what_the_student_can_do_and_could_do_is_retained(make):
    def attempts(*outcomes):
        """One attempt at each task, solved or not."""
        return [
            played(make, task, right(task) if solved else WRONG) for task, solved in zip(TASKS, outcomes, strict=True)
        ]

    oldest, middle, now = attempts(True, True, False), attempts(True, False, False), attempts(False, False, True)
    oldest[0], middle[0] = replace(oldest[0], reason="oldest"), replace(middle[0], reason="middle")
    assert retained(now, []) == [now[2]]
    assert retained(now, [oldest, middle]) == [now[2], middle[0], oldest[1]]
    assert retained(now, [middle]) == [now[2], middle[0]]
    assert retained(attempts(True, True, True), [oldest, middle]) == attempts(True, True, True)
    assert retained(now[1:], [oldest]) == [now[2], oldest[1]]  # a task that was not attempted is not lost


def test_of_several_earlier_successes_at_a_task_the_first_is_retained(make):
    several = [played(make, JOIN, right(JOIN), number=number) for number in range(3)]
    now = [played(make, JOIN, WRONG, number=number) for number in range(2)]
    assert retained(now, [several]) == [several[0]]
    once = [now[0], played(make, JOIN, right(JOIN), number=1)]
    assert retained(once, [several]) == [once[1]]
