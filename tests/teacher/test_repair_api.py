"""Models behind an API at repair: what they are sent, what is kept of them, and how a provider's failure is counted."""

import json
from dataclasses import replace

import pytest
from canned_replies import Canned, called, said
from repair_tasks import AGENT, CANARY, HIDDEN, JOIN, NAME, PLAIN, SOLUTIONS, make_attempts, say, write_books

from sqldojo.agent.tool_format import tool_schemas
from sqldojo.errors import UserError
from sqldojo.records import CORRECT, RUN_SQL, SUBMIT_SQL, WRONG_SQL
from sqldojo.repair.task import INFRASTRUCTURE, PARSE_FAILURE, TURN_LIMIT
from sqldojo.repair.tools import INSPECT_SCHEMA, REPAIR_TOOLS
from sqldojo.teacher.provider import ROWS, SCHEMA_ONLY, ProviderError, ProviderParams
from sqldojo.teacher.repair_api import api_corrector, api_demonstrations, api_episodes

PROVIDERS = ProviderParams(budget_usd=1.0, concurrency=1, retries=0, seconds=5.0, privacy=ROWS)
LOOK = said("", (INSPECT_SCHEMA, "{}"))
WRONG = called(SUBMIT_SQL, "SELECT 1")


def right(task):
    return called(SUBMIT_SQL, SOLUTIONS[task.id])


@pytest.fixture(scope="module")
def databases(tmp_path_factory):
    return write_books(tmp_path_factory.mktemp("repair"))


@pytest.fixture
def make(databases):
    return make_attempts(databases)


def test_a_model_is_sent_the_tools_and_no_plain_format(make):
    ask = Canned([LOOK, called(RUN_SQL, "SELECT cost FROM book"), right(NAME)])
    (episode,) = api_episodes([NAME], ask, make, "m", AGENT, PROVIDERS)
    assert (episode.outcome, episode.teacher, episode.type) == (CORRECT, "m", "name")
    first, *_, last = ask.requests
    assert first.tools == tool_schemas(REPAIR_TOOLS) and first.model == "m"
    system, user = first.messages
    assert "<run_sql>" not in system["content"] and system["content"].endswith("none twice.")
    assert user["content"] == episode.messages[1].content
    assert last.messages[2]["tool_calls"][0]["function"] == {"name": INSPECT_SCHEMA, "arguments": "{}"}
    assert last.messages[3]["content"].startswith("author(author_id INTEGER key")
    assert episode.messages[2].content == "<inspect_schema></inspect_schema>"
    assert [message.target for message in episode.messages if message.role == "assistant"] == [True, False, True]
    sent = json.dumps(ask.requests, default=vars)
    assert CANARY not in sent and SOLUTIONS[NAME.id] not in sent


def test_a_call_that_is_none_is_told_what_there_is(make):
    ask = Canned([said("", (RUN_SQL, '{"table": "book"}')), right(NAME)])
    api_episodes([NAME], ask, make, "m", AGENT, PROVIDERS)
    assert ask.requests[1].messages[-1]["content"] == (
        "Error: call inspect_schema or run_sql or submit_sql with a JSON object that holds the argument as text under "
        "`table` or `sql`"
    )


def test_every_attempt_has_an_outcome(databases):
    make = make_attempts(databases, agent=replace(AGENT, turns=2))
    ask = Canned(
        [said("no"), LOOK, LOOK, WRONG, said("", ("drop", "{}")), said("", ("drop", "{}")), ProviderError("Timeout")]
    )
    episodes = api_episodes([JOIN, NAME], ask, make, "m", AGENT, PROVIDERS, attempts=2)
    episodes += api_episodes([JOIN], ask, make, "m", AGENT, PROVIDERS)
    assert [(episode.id, episode.outcome) for episode in episodes] == [
        ("books-1/0", PARSE_FAILURE), ("books-1/1", "repeated_action"), ("books-2/0", WRONG_SQL),
        ("books-2/1", TURN_LIMIT), ("books-1/0", INFRASTRUCTURE),
    ]  # fmt: skip
    assert [request.number for request in ask.requests] == [0, 1, 1, 0, 1, 1, 0]
    assert episodes[-1].reason == "the provider failed: Timeout"


def test_what_passes_is_a_demonstration_and_the_rest_is_counted(make):
    replies = [right(NAME), right(NAME), WRONG, ProviderError("Timeout"), LOOK, right(NAME)]
    found = api_demonstrations([NAME], HIDDEN, Canned(replies), make, "m", AGENT, PROVIDERS, attempts=5)
    assert [len(episode.messages) for episode in found.episodes] == [3, 5]
    assert found.rejected == {"repeated": 1, WRONG_SQL: 1}
    assert found.provider_errors == {"the provider failed: Timeout": 1}


def test_a_dialogue_that_shows_the_reference_is_no_demonstration(make):
    told = replace(NAME, issue=f"Is it {SOLUTIONS[NAME.id]}?")
    found = api_demonstrations([told], HIDDEN, Canned([right(NAME)]), make, "m", AGENT, PROVIDERS)
    assert (found.episodes, found.rejected) == ([], {"leaked": 1})


def test_a_corrector_goes_on_where_somebody_stopped(make):
    attempt = make(JOIN, 0)
    say(attempt, "inspect_schema", "book")
    say(attempt, "run_sql", "SELECT 1")
    ask = Canned([right(JOIN)])
    api_corrector(ask, "m", AGENT, PROVIDERS)(attempt)
    assert attempt.outcome == CORRECT
    (request,) = ask.requests
    assert [message["role"] for message in request.messages] == [
        "system",
        "user",
        "assistant",
        "tool",
        "assistant",
        "tool",
    ]
    made = [message["tool_calls"][0] for message in request.messages if "tool_calls" in message]
    assert [call["function"] for call in made] == [
        {"name": INSPECT_SCHEMA, "arguments": '{"table": "book"}'},
        {"name": RUN_SQL, "arguments": '{"sql": "SELECT 1"}'},
    ]
    answered = [message["tool_call_id"] for message in request.messages if message["role"] == "tool"]
    assert answered == [call["id"] for call in made] and len(set(answered)) == 2
    assert request.messages[5]["content"] == "1\n1"


def test_a_corrector_has_the_turns_that_are_left(databases):
    attempt = make_attempts(databases, agent=replace(AGENT, turns=3))(JOIN, 0)
    say(attempt, "run_sql", "SELECT 1")
    ask = Canned([called(RUN_SQL, "SELECT 2"), said("", ("drop", "{}"))])
    api_corrector(ask, "m", AGENT, PROVIDERS)(attempt)
    assert attempt.outcome == TURN_LIMIT and len(ask.requests) == 2


def test_where_no_value_may_be_sent_nothing_is(make):
    ask, private = Canned([]), replace(PROVIDERS, privacy=SCHEMA_ONLY)
    with pytest.raises(UserError, match=r"params.yaml: providers.privacy: .*set `rows`"):
        api_episodes([JOIN], ask, make, "m", AGENT, private)
    with pytest.raises(UserError, match=r"providers.privacy"):
        api_corrector(ask, "m", AGENT, private)
    assert ask.requests == []


def test_a_model_without_native_calls_may_write_them(make):
    ask = Canned([said("<inspect_schema></inspect_schema>"), said(f"<submit_sql>{SOLUTIONS[JOIN.id]}</submit_sql>")])
    (episode,) = api_episodes([JOIN], ask, make, "m", AGENT, PROVIDERS)
    assert episode.outcome == CORRECT and PLAIN.parse(episode.messages[2].content) is not None
