"""A repair attempt: its tools, each way to end, what it is worth, and that nothing hidden gets out of it."""

from dataclasses import replace

import pytest
from repair_tasks import AGENT, CANARY, HIDDEN, JOIN, NAME, SETUP, SOLUTIONS, TASKS, make_attempts, say, write_books

from sqldojo.databases.execution import Limits
from sqldojo.files import to_line
from sqldojo.records import CORRECT, WRONG_SQL, Message, ToolCall
from sqldojo.repair.attempt import REPAIR_REWARDS, RepairAttempt
from sqldojo.repair.judging import Judge
from sqldojo.repair.task import (
    INFRASTRUCTURE,
    MANAGEMENT,
    PARSE_FAILURE,
    REPAIR_OUTCOMES,
    REPEATED_ACTION,
    TOKEN_LIMIT,
    TURN_LIMIT,
    Hidden,
)


@pytest.fixture(scope="module")
def databases(tmp_path_factory):
    return write_books(tmp_path_factory.mktemp("repair"))


@pytest.fixture
def make(databases):
    return make_attempts(databases)


def ended(attempt):
    episode = attempt.episode()
    return episode.outcome, episode.reward, episode.reason


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
def test_a_submission_that_passes_the_hidden_tests_solves_the_task(make, task):
    attempt = make(task, 0)
    assert say(attempt, "submit_sql", SOLUTIONS[task.id]) is None
    assert ended(attempt) == (CORRECT, 1.0, "")
    assert attempt.submission == SOLUTIONS[task.id].strip()


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
def test_the_users_own_query_solves_nothing(make, task):
    attempt = make(task, 0)
    say(attempt, "submit_sql", task.issue_sql[0])
    outcome, reward, reason = ended(attempt)
    assert (outcome, reward) == (WRONG_SQL, 0.0)
    assert reason and CANARY not in reason


def test_the_tools_work_on_the_tasks_database(make):
    attempt = make(SETUP, 0)
    assert "restock(book_id INTEGER, copies INTEGER)" in say(attempt, "inspect_schema")
    assert say(attempt, "inspect_schema", "author").endswith("author_id | name\n1 | Ada\n2 | Bo")
    assert say(attempt, "run_sql", "SELECT COUNT(*) FROM restock") == "COUNT(*)\n4"
    assert say(attempt, "run_sql", SETUP.issue_sql[0]) == "Error: misuse of aggregate: SUM()"
    assert say(attempt, "run_sql", "DELETE FROM restock").startswith("Error: only reading is allowed")
    assert attempt.outcome is None and attempt.turns_left == AGENT.turns - 5


def test_the_same_call_again_ends_it_whatever_its_white_space(make):
    attempt = make(JOIN, 0)
    say(attempt, "run_sql", "SELECT 1\n FROM   book")
    assert say(attempt, "run_sql", "SELECT 1 FROM book") is None
    assert ended(attempt) == (REPEATED_ACTION, 0.0, "the same call of run_sql once more")
    attempt = make(JOIN, 0)
    assert say(attempt, "inspect_schema") and say(attempt, "inspect_schema", "book") and say(attempt, "run_sql", "book")
    assert say(attempt, "inspect_schema", "\n") is None
    assert attempt.outcome == REPEATED_ACTION


def test_a_query_that_was_run_may_be_submitted(make):
    attempt = make(NAME, 0)
    say(attempt, "run_sql", SOLUTIONS[NAME.id])
    say(attempt, "submit_sql", SOLUTIONS[NAME.id])
    assert attempt.outcome == CORRECT


def test_prose_is_a_parse_failure_and_a_cut_off_reply_is_out_of_tokens(make):
    attempt = make(JOIN, 0)
    assert attempt.reply("Use a LEFT JOIN.") is None
    assert ended(attempt) == (PARSE_FAILURE, 0.0, "the reply holds no well-formed tool call")
    attempt = make(JOIN, 0)
    attempt.reply("<run_sql>SELECT name, name", cut_off=True)
    assert ended(attempt) == (TOKEN_LIMIT, -0.2, "the token limit ended the reply")
    attempt = make(JOIN, 0)
    attempt.stop_for_tokens()
    assert ended(attempt) == (TOKEN_LIMIT, -0.2, "no submission within 2000 tokens")


def test_the_last_turn_is_for_submitting(databases):
    make = make_attempts(databases, agent=replace(AGENT, turns=2))
    attempt = make(JOIN, 0)
    assert say(attempt, "run_sql", "SELECT 1") and say(attempt, "run_sql", "SELECT 2") is None
    assert ended(attempt) == (TURN_LIMIT, -0.2, "no submission within 2 turns")
    attempt = make(JOIN, 0)
    say(attempt, "run_sql", "SELECT 1")
    say(attempt, "submit_sql", SOLUTIONS[JOIN.id])
    assert attempt.outcome == CORRECT


def test_a_providers_failure_is_an_outcome_of_its_own(make):
    attempt = make(JOIN, 0)
    attempt.stop_for_provider("Timeout")
    assert ended(attempt) == (INFRASTRUCTURE, 0.0, "the provider failed: Timeout")


def test_every_outcome_has_a_reward():
    assert set(REPAIR_REWARDS) == set(REPAIR_OUTCOMES)
    assert {name for name, reward in REPAIR_REWARDS.items() if reward < 0} == {TURN_LIMIT, TOKEN_LIMIT}


def test_a_query_comes_alone_but_a_change_may_have_several_statements(databases):
    attempt = make_attempts(databases)(NAME, 0)
    say(attempt, "submit_sql", f"SELECT 1; {SOLUTIONS[NAME.id]}")
    assert attempt.outcome == WRONG_SQL
    change = replace(NAME, category=MANAGEMENT)
    test = (
        "def test_case(pred_sqls, sol_sqls, db_path, conn, conditions):\n"
        "    rows, err, timeout = execute_queries('SELECT COUNT(*) FROM book', db_path, conn)\n"
        "    assert not err and not timeout\n"
        "    assert rows[0][0] == 0\n"
    )
    attempt = RepairAttempt(
        change, 0, hidden=Hidden(NAME.id, ("DELETE FROM book",), (test,)), judge=Judge(databases, Limits()),
        database=attempt.database, tool_format=attempt.tool_format, params=AGENT,
    )  # fmt: skip
    say(attempt, "submit_sql", "DELETE FROM book WHERE price > 8; DELETE FROM book WHERE price <= 8;")
    assert attempt.outcome == CORRECT, attempt.reason


def test_the_record_is_an_episode_like_any_other(make):
    attempt = make(JOIN, 3)
    say(attempt, "inspect_schema")
    say(attempt, "submit_sql", "SELECT 1")
    episode = attempt.episode(tokens=[1, 2], action_mask=[0, 1], logprobs=[0.0, -1.0])
    assert (episode.id, episode.question, episode.type, episode.split, episode.attempt) == (
        "books-1/3", "books-1", "join", "train", 3,
    )  # fmt: skip
    assert [message.role for message in episode.messages] == ["system", "user", "assistant", "tool", "assistant"]
    assert episode.messages[2] == Message(
        "assistant", "<inspect_schema></inspect_schema>", ToolCall("inspect_schema", "")
    )
    assert (episode.tokens, episode.action_mask) == ((1, 2), (0, 1))


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
def test_nothing_hidden_is_in_what_it_tells(make, task):
    attempt = make(task, 0)
    say(attempt, "inspect_schema")
    say(attempt, "run_sql", task.issue_sql[0])
    say(attempt, "submit_sql", "SELECT 1, 2, 3")
    told = to_line(attempt.episode())
    assert attempt.outcome == WRONG_SQL
    assert CANARY not in told and "test_case" not in told and SOLUTIONS[task.id] not in told


def test_halves_that_do_not_belong_together_are_our_fault(make, databases):
    with pytest.raises(ValueError, match="books-1: the hidden half belongs to books-2"):
        RepairAttempt(JOIN, 0, hidden=HIDDEN[NAME.id], judge=Judge(databases), database=make(JOIN, 0).database,
                      tool_format=make(JOIN, 0).tool_format, params=AGENT)  # fmt: skip
