"""API teachers: which questions they get, and which of their solutions are kept."""

import pytest
from canned_replies import called, said
from sqlite_files import write_database

from sqldojo.agent.episode import AnswerParams, AttemptMaker
from sqldojo.agent.tool_format import PLAIN
from sqldojo.databases.execution import Limits
from sqldojo.records import RUN_SQL, SUBMIT_SQL, Question
from sqldojo.teacher.api_teacher import api_solutions
from sqldojo.teacher.provider import ProviderError, ProviderParams
from sqldojo.teacher.scripted import TeachParams

AGENT = AnswerParams(turns=3, tokens_per_turn=100, tokens_per_episode=400, preview_rows=2, schema_characters=12_000)
PROVIDERS = ProviderParams(1.0, 2, 0, 1.0, "rows")
SCRIPT = """CREATE TABLE customers(id INTEGER PRIMARY KEY, name TEXT, city TEXT);
            INSERT INTO customers VALUES (1, 'Ada', 'Rome'), (2, 'Bo', 'Oslo'), (3, 'Cy', {});
            CREATE VIEW romans AS SELECT id FROM customers WHERE city = 'Rome';"""
CITIES = ("Rome", "Oslo", "Bonn")


def sql_of(city):
    return f"SELECT name FROM customers WHERE city = '{city}'"


QUESTIONS = [
    Question(f"in-city-{place}-{city}", "in-city", "train", "train", f"{opening} {city}?", sql_of(city), {"city": city})
    for place, opening in enumerate(("Who lives in", "Who is from"))
    for city in CITIES
]


@pytest.fixture
def solve(tmp_path):
    databases = [write_database(tmp_path / f"{city}.sqlite", SCRIPT.format(f"'{city}'")) for city in CITIES]
    make = AttemptMaker(databases, PLAIN, AGENT, Limits())

    def run(ask, questions=QUESTIONS, **params):
        settings = TeachParams(17, 1, 0, 0, 0, **{"models": ("m",), "choices": 1, "attempts": 1, **params})
        return api_solutions(questions, ask, make, settings, AGENT, PROVIDERS)

    return run


def right(request):
    """A model that knows the answer at once."""
    return called(SUBMIT_SQL, sql_of(request.messages[1]["content"].split()[-1].removesuffix("?")))


def test_without_models_nothing_is_asked(solve):
    found = solve(lambda _: pytest.fail("asked"), models=())
    assert (found.episodes, found.rejected, found.provider_errors) == ([], {}, {})


@pytest.mark.parametrize(("choices", "kept"), [(1, 1), (2, 2), (9, 3)])
def test_choices_are_questions_with_different_values(solve, choices, kept):
    found = solve(right, choices=choices)
    assert len({episode.question.split("-")[-1] for episode in found.episodes}) == len(found.episodes) == kept
    assert [episode.question for episode in solve(right, choices=choices).episodes] == [
        episode.question for episode in found.episodes
    ]


def test_a_question_without_values_is_one_choice(solve):
    plain = [Question(f"q-{n}", "all", "train", "train", f"All names? {n}", "SELECT name FROM customers", {}) for n in
             range(3)]  # fmt: skip
    assert len(solve(lambda _: called(SUBMIT_SQL, "SELECT name FROM customers"), plain, choices=4).episodes) == 1


def test_solutions_say_who_taught_and_have_ids_of_their_own(solve):
    def ask(request):
        looks_first = request.model == "n" and request.messages[-1]["role"] == "user"
        return called(RUN_SQL, "SELECT 1") if looks_first else right(request)

    found = solve(ask, models=("m", "n"), attempts=2)
    assert [(episode.teacher, episode.attempt) for episode in found.episodes] == [("m", 1), ("n", 3)]
    assert found.rejected == {"repeated": 2}
    assert len({episode.id for episode in found.episodes}) == 2


def test_attempts_are_told_apart_by_number_alone(solve):
    numbers = []

    def ask(request):
        numbers.append((request.model, request.number))
        return right(request)

    solve(ask, models=("m", "n"), attempts=2)
    assert sorted(numbers) == [("m", 0), ("m", 1), ("n", 0), ("n", 1)]


def test_what_is_not_correct_on_every_database_is_counted_by_outcome(solve):
    def ask(request):
        city = request.messages[1]["content"].split()[-1].removesuffix("?")
        return {
            "Rome": called(SUBMIT_SQL, "SELECT 'Ada'"),  # true on two of the three
            "Oslo": said("I do not know."),
            "Bonn": said("", (RUN_SQL, "no JSON")),
        }[city]

    found = solve(ask, choices=3)
    assert found.episodes == []
    assert found.rejected == {"wrong_sql": 1, "never_submitted": 1, "out_of_budget": 1}


def test_errors_of_providers_are_counted_apart(solve):
    def ask(request):
        if "Rome" in request.messages[1]["content"]:
            raise ProviderError("time-out")
        return right(request)

    found = solve(ask, choices=3)
    assert (len(found.episodes), found.rejected, found.provider_errors) == (2, {}, {"time-out": 1})


def test_a_dialogue_that_shows_the_reference_is_left_out(solve):
    reference = "SELECT id FROM customers WHERE city = 'Rome'"
    question = Question("q", "romans", "train", "train", "Ids of Romans?", reference, {})
    found = solve(lambda _: called(SUBMIT_SQL, "SELECT id FROM romans"), [question])
    assert (found.episodes, found.rejected) == ([], {"leaked": 1})


def test_a_query_that_failed_is_context_not_a_target(solve):
    def ask(request):
        if request.messages[-1]["role"] == "user":
            return called(RUN_SQL, "SELECT nome FROM customers")
        return right(request)

    (episode,) = solve(ask).episodes
    assert [message.target for message in episode.messages if message.role == "assistant"] == [False, True]
