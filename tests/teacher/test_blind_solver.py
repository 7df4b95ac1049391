"""The blind solver: who is asked, what it is shown, and that a provider's failure judges nothing."""

from dataclasses import dataclass

import pytest
from canned_replies import called, said
from sqlite_files import write_database

from sqldojo.agent.episode import AnswerParams
from sqldojo.databases.execution import Limits
from sqldojo.errors import UserError
from sqldojo.records import SUBMIT_SQL, FilledType, QuestionType
from sqldojo.teacher.blind_solver import blind_solver
from sqldojo.teacher.provider import ProviderError, ProviderParams

AGENT = AnswerParams(turns=3, tokens_per_turn=100, tokens_per_episode=400, preview_rows=2, schema_characters=12_000)
SQL = "SELECT a FROM t WHERE a > 1"


@dataclass(frozen=True)
class Task:
    type: QuestionType
    filled: FilledType
    text: str
    number: int


def task(number, proposer="composed"):
    kind = QuestionType("over", "train", ("Which {least}?",), "SELECT a FROM t WHERE a > :least", proposer=proposer)
    return Task(kind, FilledType("over", "train", "train", {"least": 1}, SQL), "Which 1?", number)


@pytest.fixture
def solver(tmp_path):
    databases = {"train": [write_database(tmp_path / "a.sqlite", "CREATE TABLE t(a); INSERT INTO t VALUES (1), (2);")]}

    def make(ask, *models, privacy="rows"):
        providers = ProviderParams(1.0, 2, 0, 1.0, privacy)
        return blind_solver(ask, models, databases, AGENT, Limits(), providers)

    return make


def test_submissions_come_in_the_order_of_the_tasks_and_the_reference_is_never_sent(solver):
    asked = []

    def ask(request):
        asked.append(request)
        return called(SUBMIT_SQL, f"SELECT {request.number}") if request.number else said("I cannot say.")

    assert solver(ask, "m")([task(1), task(0), task(2)]) == ["SELECT 1", None, "SELECT 2"]
    assert all(request.messages[1] == {"role": "user", "content": "Which 1?"} for request in asked)
    assert SQL not in str(asked)


def test_the_proposer_does_not_solve_its_own_type(solver):
    def ask(request):
        return called(SUBMIT_SQL, f"SELECT '{request.model}'")

    assert solver(ask, "m", "n")([task(0), task(0, "m")]) == ["SELECT 'm'", "SELECT 'n'"]
    for same in ("m", "openai/m", "openai/m-2024-08-06"):
        with pytest.raises(UserError, match="over was proposed by m, the only solver; name another model"):
            solver(ask, same)([task(0, "m")])


def test_a_failing_provider_judges_nothing_but_what_else_can_be_asked_is(solver):
    asked = []

    def ask(request):
        asked.append(request.number)
        if request.number == 1:
            raise ProviderError("time-out")
        return called(SUBMIT_SQL, "SELECT 1")

    with pytest.raises(UserError, match=r"m gave no reply for over \(time-out; 1 of 3 tries failed so\)"):
        solver(ask, "m")([task(1), task(2), task(3)])
    assert sorted(asked) == [1, 2, 3]


def test_schema_only_hides_values(solver):
    def ask(request):
        assert request.messages[1]["content"] == "Which LEAST_VALUE?"
        return called(SUBMIT_SQL, "SELECT a FROM t WHERE a > LEAST_VALUE")

    assert solver(ask, "m", privacy="schema_only")([task(0)]) == [SQL]
