"""An API model's episode: its calls, what goes back to it, and that what it sees may be less than what is stored."""

import json
from dataclasses import replace

import pytest
from canned_replies import Canned, called, said
from sqlite_files import write_database

from sqldojo.agent.episode import AnswerParams, AttemptMaker
from sqldojo.agent.tool_format import PLAIN, tool_schemas
from sqldojo.databases.execution import Limits
from sqldojo.records import CORRECT, NEVER_SUBMITTED, OUT_OF_BUDGET, RUN_SQL, SUBMIT_SQL, WRONG_SQL, Question
from sqldojo.teacher.api_episode import play
from sqldojo.teacher.provider import ProviderError

AGENT = AnswerParams(turns=3, tokens_per_turn=100, tokens_per_episode=400, preview_rows=2, schema_characters=12_000)
SQL = "SELECT name FROM customers WHERE city = 'Rome'"
SCRIPT = """CREATE TABLE customers(id INTEGER PRIMARY KEY, name TEXT, city TEXT);
            INSERT INTO customers VALUES (1, 'Ada', 'Rome'), (2, 'Bo', 'Oslo'), (3, 'Cy', 'Rome');"""
QUESTION = Question("q-1", "in-city", "train", "train", "Who lives in Rome?", SQL, {"city": "Rome"})


@pytest.fixture
def attempt(tmp_path):
    databases = [write_database(tmp_path / f"{name}.sqlite", SCRIPT) for name in "ab"]
    return AttemptMaker(databases, PLAIN, AGENT, Limits())(QUESTION, 7)


def test_an_episode_has_the_messages_of_any_other(attempt):
    ask = Canned([called(RUN_SQL, "SELECT * FROM customers"), called(SUBMIT_SQL, SQL)])
    play(attempt, ask, "m", AGENT, number=1)
    assert attempt.outcome == CORRECT
    assert [message.content for message in attempt.messages[2:]] == [
        "<run_sql>SELECT * FROM customers</run_sql>",
        "id | name | city\n1 | Ada | Rome\n2 | Bo | Oslo\n(first 2 rows, there are more)",
        f"<submit_sql>{SQL}</submit_sql>",
    ]
    assert PLAIN.instructions in attempt.messages[0].content


def test_the_provider_is_sent_tools_the_schema_and_the_results_but_never_the_reference(attempt):
    ask = Canned([called(RUN_SQL, "SELECT 1"), called(SUBMIT_SQL, "SELECT 2")])
    play(attempt, ask, "m", AGENT, number=1)
    assert attempt.outcome == WRONG_SQL
    first, second = ask.requests
    assert (first.model, first.number, first.tools) == ("m", 1, tool_schemas())
    system, user = first.messages
    assert "CREATE TABLE customers" in system["content"] and "<run_sql>" not in system["content"]
    assert user == {"role": "user", "content": "Who lives in Rome?"}
    assert second.messages[:2] == first.messages
    assert second.messages[2]["tool_calls"][0]["function"] == {"name": RUN_SQL, "arguments": '{"sql": "SELECT 1"}'}
    assert second.messages[3] == {"role": "tool", "tool_call_id": "call-0", "content": "1\n1"}
    assert SQL not in json.dumps(ask.requests, default=vars)


@pytest.mark.parametrize(
    "calls",
    [
        [(RUN_SQL, "SELECT 1")],
        [(RUN_SQL, '{"query": "SELECT 1"}')],
        [(RUN_SQL, '{"sql": 1}')],
        [(RUN_SQL, '{"sql": " "}')],
        [(RUN_SQL, "[]")],
        [(RUN_SQL, "[" * 100_000)],
        [("drop_table", '{"sql": "SELECT 1"}')],
        [(RUN_SQL, '{"sql": "SELECT 1"}'), (SUBMIT_SQL, json.dumps({"sql": SQL}))],
    ],
)
def test_a_call_that_is_none_is_told_and_costs_a_turn(attempt, calls):
    ask = Canned([said("", *calls), called(RUN_SQL, "SELECT 1"), called(SUBMIT_SQL, SQL)])
    play(attempt, ask, "m", AGENT)
    assert attempt.outcome == CORRECT
    told = ask.requests[1].messages[3:]
    assert [message["tool_call_id"] for message in told] == [f"call-{place}" for place in range(len(calls))]
    assert all(message["content"].startswith("Error: ") for message in told)
    assert [message.role for message in attempt.messages[2:]] == ["assistant", "tool", "assistant"]


def test_half_a_character_in_a_query_can_be_kept_in_a_file(attempt):
    play(attempt, Canned([said("", (SUBMIT_SQL, '{"sql": "SELECT \'\\ud83d\'"}'))]), "m", AGENT)
    assert attempt.submission == "SELECT '?'"


def test_after_the_last_turn_nothing_is_asked(attempt):
    wrong = said("", (RUN_SQL, "?"))
    ask = Canned([called(RUN_SQL, "SELECT 1"), wrong, wrong])
    play(attempt, ask, "m", AGENT)
    assert attempt.outcome is None and len(ask.requests) == AGENT.turns


def test_turns_run_out_as_for_everybody(attempt):
    play(attempt, Canned([called(RUN_SQL, "SELECT 1")] * 3), "m", AGENT)
    assert attempt.outcome == OUT_OF_BUDGET


def test_prose_ends_the_attempt(attempt):
    play(attempt, Canned([said("I cannot.")]), "m", AGENT)
    assert attempt.outcome == NEVER_SUBMITTED


def test_a_reply_cut_off_by_its_limit_is_out_of_budget(attempt):
    play(attempt, Canned([said("Let me think", finish="length")]), "m", AGENT)
    assert attempt.outcome == OUT_OF_BUDGET


def test_a_model_without_native_calls_may_write_them(attempt):
    ask = Canned([said("First <run_sql>SELECT 1</run_sql>"), said(f"<submit_sql>{SQL}</submit_sql>")])
    play(attempt, ask, "m", AGENT)
    assert attempt.outcome == CORRECT
    assert attempt.messages[2].content == "<run_sql>SELECT 1</run_sql>"
    assert ask.requests[1].messages[-1] == {"role": "user", "content": "1\n1"}


def test_an_error_of_the_provider_goes_through(attempt):
    with pytest.raises(ProviderError, match="time-out"):
        play(attempt, Canned([ProviderError("time-out")]), "m", AGENT)


def test_schema_only_sends_no_value_and_stores_true_messages(attempt):
    look = "SELECT name, city FROM customers WHERE city = 'CITY_VALUE'"
    submit = "SELECT name FROM customers WHERE city = 'CITY_VALUE'"
    ask = Canned([called(RUN_SQL, look), called(RUN_SQL, "SELECT Rome"), called(SUBMIT_SQL, submit)])
    play(attempt, ask, "m", AGENT, schema_only=True)
    assert attempt.outcome == CORRECT and attempt.submission == SQL
    assert attempt.messages[3].content == "name | city\nAda | Rome\nCy | Rome"
    sent = [message["content"] for message in ask.requests[-1].messages]
    assert sent[1] == "Who lives in CITY_VALUE?"
    assert sent[3] == "name | city\n(2 rows, not shown)"
    text = json.dumps([request.messages for request in ask.requests])
    assert "CITY_VALUE" in sent[0]
    for value in ("Ada", "Cy", "Bo", "Oslo"):
        assert value not in text
    assert text.replace("SELECT Rome", "").count("Rome") == 0


def test_schema_only_shows_statements_that_were_looked_up_and_no_value_with_them(tmp_path):
    tables = "".join(f"CREATE TABLE archive_{n}(taken_at TEXT, content BLOB, note TEXT);" for n in range(20))
    path = write_database(tmp_path / "long.sqlite", SCRIPT + tables)
    look = "SELECT sql FROM sqlite_schema WHERE name = 'archive_7'"
    queries = [
        look,
        "SELECT upper('CITY_VALUE'), sql FROM sqlite_schema WHERE name = 'archive_7'",
        "SELECT sql, (SELECT name FROM customers) FROM sqlite_schema",
        "SELECT name AS sqlite_schema FROM customers",
    ]
    agent = replace(AGENT, schema_characters=1000)
    attempt = AttemptMaker([path], PLAIN, agent, Limits())(QUESTION, 7)
    ask = Canned([called(RUN_SQL, each) for each in queries] + [called(SUBMIT_SQL, "SELECT 1")])
    play(attempt, ask, "m", agent, schema_only=True)
    statement = "CREATE TABLE archive_7(taken_at TEXT, content BLOB, note TEXT)"
    shown = [message["content"] for message in ask.requests[-1].messages if message["role"] == "tool"]
    failed, counted = "Error: the query failed while it ran", "sqlite_schema\n(more than 2 rows, not shown)"
    assert shown == [statement, "(no rows)", failed, counted]
    stored = [message.content for message in attempt.messages if message.role == "tool"]
    assert stored[:2] == [statement, f"ROME | {statement}"]
    text = json.dumps([request.messages for request in ask.requests])
    assert not any(value in text for value in ("Ada", "Cy", "Bo", "Oslo", "Rome", "ROME"))
