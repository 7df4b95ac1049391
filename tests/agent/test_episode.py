"""Episodes played by a script: what each kind of reply leads to, and what it is worth."""

from dataclasses import replace

import pytest
from sqlite_files import write_database

from sqldojo.agent.episode import REWARDS, AgentParams, AnswerParams, Attempt
from sqldojo.agent.schema_budget import FittedSchema
from sqldojo.agent.tool_format import PLAIN
from sqldojo.databases import sandbox
from sqldojo.databases.execution import Limits
from sqldojo.records import (
    CORRECT,
    NEVER_SUBMITTED,
    OUT_OF_BUDGET,
    OUTCOMES,
    RUN_SQL,
    SUBMIT_SQL,
    WRONG_SQL,
    Message,
    Question,
    ToolCall,
)
from sqldojo.verifier.grading import ReferenceFailed

REFERENCE = "SELECT name FROM pet WHERE age = (SELECT MAX(age) FROM pet)"
QUESTION = Question("oldest/1", "oldest", "check", "evaluation", "Which pets are oldest?", REFERENCE, {})
PARAMS = AgentParams(turns=3, tokens_per_turn=100, tokens_per_episode=250, preview_rows=2)
RIGHT = "<submit_sql>SELECT name FROM pet ORDER BY age DESC LIMIT 1</submit_sql>"  # right on the first database only
LOOK = "<run_sql>SELECT name FROM pet ORDER BY age DESC</run_sql>"


@pytest.fixture
def databases(tmp_path):
    schema = "CREATE TABLE pet(name TEXT, age INTEGER);"
    rows = {"first": "('Tom', 3), ('Rex', 5), ('Ivy', 1)", "second": "('Max', 5), ('Ida', 5)"}
    return [
        write_database(tmp_path / f"{name}.sqlite", f"{schema} INSERT INTO pet VALUES {values};")
        for name, values in rows.items()
    ]


@pytest.fixture
def attempt(databases):
    return start(databases)


def start(databases, question=QUESTION, params=PARAMS, *, whole=True):
    schema = FittedSchema("CREATE TABLE pet(...);", whole)
    return Attempt(
        question, 7, databases=databases, schema=schema, tool_format=PLAIN, params=params, limits=Limits()
    )


def outcome(attempt):
    """Outcome, reward and reason of a finished attempt."""
    episode = attempt.episode()
    assert (episode.outcome, episode.reason) == (attempt.outcome, attempt.reason)
    return episode.outcome, episode.reward, episode.reason


def test_a_right_submission_is_worth_one(attempt):
    assert attempt.reply(LOOK) == "name\nRex\nTom\n(first 2 rows, there are more)"
    assert attempt.outcome is None
    assert attempt.reply(f"<submit_sql>{REFERENCE}</submit_sql>") is None
    assert outcome(attempt) == (CORRECT, 1.0, "")
    assert attempt.submission == REFERENCE


def test_right_on_the_first_database_alone_is_wrong(databases):
    attempt = start(databases)
    attempt.reply(RIGHT)
    assert outcome(attempt) == (
        WRONG_SQL,
        0.0,
        "wrong on second: 1 rows where 2 are expected; row ('Ida') is expected 1 times, not 0",
    )
    attempt = start(databases[:1])
    attempt.reply(RIGHT)
    assert outcome(attempt) == (CORRECT, 1.0, "")


def test_the_order_of_rows_counts_where_the_question_says_so(databases):
    reference = "SELECT name FROM pet ORDER BY age, name"
    for ordered, outcome_expected in ((False, CORRECT), (True, WRONG_SQL)):
        attempt = start(databases, replace(QUESTION, reference=reference, ordered=ordered))
        attempt.reply("<submit_sql>SELECT name FROM pet ORDER BY age, name DESC</submit_sql>")
        assert attempt.outcome == outcome_expected
        attempt = start(databases, replace(QUESTION, reference=reference, ordered=ordered))
        attempt.reply(f"<submit_sql>{reference}</submit_sql>")
        assert attempt.outcome == CORRECT


def test_a_query_that_hangs_is_an_error_for_the_agent_to_read(databases, monkeypatch):
    monkeypatch.setattr(sandbox, "_PATIENCE_SECONDS", 0.1)
    attempt = Attempt(
        QUESTION, 7, databases=databases, schema=FittedSchema("", True), tool_format=PLAIN, params=PARAMS,
        limits=Limits(seconds=0.2),
    )  # fmt: skip
    stuck = "SELECT instr(printf('%.999000c', 'a'), printf('%.499000c', 'a') || 'b')"
    assert attempt.reply(f"<run_sql>{stuck}</run_sql>") == "Error: the query was stopped after 0.2 seconds"
    assert attempt.reply(LOOK) == "name\nRex\nTom\n(first 2 rows, there are more)"


@pytest.mark.parametrize("sql", ["SELECT 1", "SELECT x", "DELETE FROM pet", "SELECT 1; SELECT 2", "SELECT '\ud800'"])
def test_a_submission_that_is_wrong_refused_or_broken_is_worth_nothing(attempt, sql):
    assert attempt.reply(f"<submit_sql>{sql}</submit_sql>") is None
    name, reward, reason = outcome(attempt)
    assert (name, reward) == (WRONG_SQL, 0.0)
    assert reason.split(" on first: ")[0] in ("wrong", "error", "rejected")
    assert attempt.submission == sql


@pytest.mark.parametrize("text", ["", "The oldest pet is Rex.", "<run_sql>SELECT 1", LOOK + LOOK])
def test_prose_is_never_submitted_and_worth_nothing(attempt, text):
    assert attempt.reply(text) is None
    assert outcome(attempt)[:2] == (NEVER_SUBMITTED, 0.0)
    assert attempt.submission is None


def test_prose_that_a_token_limit_ended_is_out_of_budget(attempt):
    assert attempt.reply("<run_sql>SELECT name, name, name", cut_off=True) is None
    assert outcome(attempt)[:2] == (OUT_OF_BUDGET, -0.2)


def test_a_call_that_was_complete_when_the_limit_came_counts(attempt):
    assert attempt.reply(LOOK, cut_off=True).startswith("name\nRex")
    attempt.reply(f"<submit_sql>{REFERENCE}</submit_sql>", cut_off=True)
    assert outcome(attempt)[0] == CORRECT


def test_the_last_turn_is_for_submitting(databases):
    attempt = start(databases)
    assert attempt.reply(LOOK) and attempt.reply(LOOK)
    assert attempt.reply(LOOK) is None
    assert outcome(attempt) == (OUT_OF_BUDGET, -0.2, "no submission within 3 turns")
    attempt = start(databases)
    assert attempt.reply(LOOK) and attempt.reply(LOOK)
    attempt.reply(f"<submit_sql>{REFERENCE}</submit_sql>")
    assert outcome(attempt)[0] == CORRECT


def test_no_tokens_left_is_out_of_budget(attempt):
    attempt.reply(LOOK)
    attempt.stop_for_tokens()
    assert outcome(attempt) == (OUT_OF_BUDGET, -0.2, "no submission within 250 tokens")


@pytest.mark.parametrize("then", [lambda a: a.reply(f"<submit_sql>{REFERENCE}</submit_sql>"), lambda a: a.reply("Hm."),
                                  lambda a: a.stop_for_tokens()])  # fmt: skip
def test_an_outcome_never_changes(attempt, then):
    attempt.reply("<submit_sql>SELECT 1</submit_sql>")
    with pytest.raises(AssertionError, match="over"):
        then(attempt)
    assert attempt.outcome == WRONG_SQL
    assert len(attempt.messages) == 3


def test_an_attempt_that_is_not_over_is_no_episode(attempt):
    attempt.reply(LOOK)
    with pytest.raises(AssertionError, match="not over"):
        attempt.episode()


def test_errors_and_refusals_go_back_to_the_agent(attempt):
    assert attempt.reply("<run_sql>SELECT age2 FROM pet</run_sql>") == "Error: no such column: age2"
    assert attempt.reply("<run_sql>DROP TABLE pet</run_sql>").startswith("Error: only reading is allowed")
    assert attempt.outcome is None


def test_queries_run_on_the_first_database_alone(attempt):
    assert "Max" not in attempt.reply("<run_sql>SELECT name FROM pet WHERE age >= 5</run_sql>")


def test_the_record_holds_the_dialogue_as_it_was(attempt):
    attempt.reply(f"I look.\n{LOOK}", target=False)
    attempt.reply(f"<submit_sql>{REFERENCE}</submit_sql>")
    episode = attempt.episode(tokens=[1, 2], action_mask=[0, 1], logprobs=[0.0, -0.5])
    assert (episode.id, episode.question, episode.type, episode.split, episode.attempt) == (
        "oldest/1/7", "oldest/1", "oldest", "check", 7,
    )  # fmt: skip
    assert [message.role for message in episode.messages] == ["system", "user", "assistant", "tool", "assistant"]
    query = "SELECT name FROM pet ORDER BY age DESC"
    assert episode.messages[2] == Message("assistant", f"I look.\n{LOOK}", ToolCall(RUN_SQL, query), target=False)
    assert episode.messages[4].tool_call == ToolCall(SUBMIT_SQL, REFERENCE)
    assert (episode.tokens, episode.action_mask, episode.logprobs) == ((1, 2), (0, 1), (0.0, -0.5))
    assert episode.submission == REFERENCE


def test_a_reference_that_fails_stops_the_run_and_is_no_outcome(databases):
    question = Question("q", "t", "check", "evaluation", "?", "SELECT nobody", {})
    attempt = start(databases, question)
    with pytest.raises(ReferenceFailed):
        attempt.reply("<submit_sql>SELECT 1</submit_sql>")
    assert attempt.outcome is None


def test_every_outcome_has_the_reward_of_the_task():
    assert REWARDS == {CORRECT: 1.0, WRONG_SQL: 0.0, NEVER_SUBMITTED: 0.0, OUT_OF_BUDGET: -0.2}
    assert set(REWARDS) == set(OUTCOMES)


@pytest.mark.parametrize("name", ["turns", "tokens_per_turn", "tokens_per_episode", "preview_rows"])
def test_budgets_are_at_least_one(name):
    with pytest.raises(ValueError, match=f"^{name}: must be at least 1, found 0"):
        AgentParams(**{"turns": 1, "tokens_per_turn": 1, "tokens_per_episode": 1, "preview_rows": 1} | {name: 0})


STATEMENT = "<run_sql>SELECT sql FROM sqlite_schema WHERE name = 'pet'</run_sql>"


def test_a_prompt_without_the_whole_schema_lets_the_agent_look_and_one_with_it_does_not(databases):
    attempt = start(databases, whole=False)
    assert attempt.reply(STATEMENT) == "CREATE TABLE pet(name TEXT, age INTEGER)" and attempt.looked
    assert attempt.reply(LOOK) == "name\nRex\nTom\n(first 2 rows, there are more)" and not attempt.looked
    attempt.reply(f"<submit_sql>{REFERENCE}</submit_sql>")
    assert outcome(attempt)[0] == CORRECT
    attempt = start(databases)
    assert attempt.reply(STATEMENT) == "Error: the table sqlite_master is not part of the data" and not attempt.looked


def test_a_submission_may_never_read_the_schema(databases):
    question = replace(QUESTION, reference="SELECT 'pet'")
    attempt = start(databases, question, whole=False)
    attempt.reply("<submit_sql>SELECT name FROM sqlite_schema</submit_sql>")
    assert outcome(attempt)[0] == WRONG_SQL
    assert outcome(attempt)[2] == "rejected on first: the table sqlite_master is not part of the data"


def test_the_schema_of_a_prompt_has_room_for_a_table():
    with pytest.raises(ValueError, match=r"^schema_characters: must be at least 1000, found 999"):
        AnswerParams(1, 1, 1, 1, schema_characters=999)
    with pytest.raises(ValueError, match=r"^turns: must be at least 1, found 0"):
        AnswerParams(0, 1, 1, 1, schema_characters=1000)
