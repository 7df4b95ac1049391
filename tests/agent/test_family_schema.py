"""A database of many tables in the recipe: what its prompts hold, and that its questions are taught."""

from dataclasses import replace

import pytest
from awkward_database import many_tables
from source_tree import ROOT
from sqlite_files import write_database

from sqldojo.agent.episode import AnswerParams, AttemptMaker
from sqldojo.agent.family_schema import read_family_schema
from sqldojo.agent.prompt import opening
from sqldojo.agent.tool_format import PLAIN
from sqldojo.databases.execution import Limits
from sqldojo.databases.families import TRAIN
from sqldojo.databases.schema import schema_text
from sqldojo.databases.shop import SCHEMA
from sqldojo.errors import UserError
from sqldojo.params import load
from sqldojo.records import CORRECT, OUT_OF_BUDGET, RUN_SQL, SUBMIT_SQL, Question, ToolCall
from sqldojo.teacher.collection import collect
from sqldojo.teacher.provider import ProviderParams
from sqldojo.teacher.scripted import TeachParams

MOST = 2_000
AGENT = AnswerParams(turns=2, tokens_per_turn=100, tokens_per_episode=400, preview_rows=2, schema_characters=MOST)
SUM = "SELECT SUM(amount) FROM t41"
JOIN = "SELECT COUNT(*) FROM t41 JOIN t40 ON t40.id = t41.t40_id WHERE t40.amount > 20"
QUESTIONS = [
    Question("sum", "sum", TRAIN, TRAIN, "What is the total amount of t 41?", SUM, {}),
    Question("join", "join", TRAIN, TRAIN, "How many t 41 belong to a t 40 with an amount above 20?", JOIN, {}),
    Question("told", "told", TRAIN, TRAIN, "What do they come to in all?", SUM, {}),  # no word of it names a table
]


@pytest.fixture(scope="module")
def databases(tmp_path_factory):
    folder = tmp_path_factory.mktemp("many")
    return [many_tables(folder / f"{name}.sqlite", 60) for name in ("first", "second")]


@pytest.fixture
def make(databases):
    return AttemptMaker(databases, PLAIN, AGENT, Limits())


def call(name, sql):
    return PLAIN.render(ToolCall(name, sql))


def statement(databases, table):
    (found,) = [line for line in schema_text(databases[0]).splitlines() if line.startswith(f"CREATE TABLE {table} ")]
    return found


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_prompt_holds_the_tables_of_its_question_whole_within_its_characters(databases, make, question):
    assert len(schema_text(databases[0])) > 2 * MOST
    attempt = make(question, 0)
    system, user = attempt.messages
    schema = system.content.split(PLAIN.instructions + "\n")[1]
    assert len(schema) <= MOST and schema == attempt.schema.text and not attempt.schema.whole
    assert user.content == question.text
    asked = {"sum": ["t41"], "join": ["t40", "t41"], "told": []}[question.id]
    assert all(statement(databases, table) in schema.splitlines() for table in asked)
    assert not set(asked) & set(attempt.schema.left_out)
    assert attempt.messages == [*read_family_schema(databases[0], MOST).opening(question.text, PLAIN)]
    assert attempt.messages == make(question, 1).messages


def test_a_schema_within_the_characters_is_shown_byte_for_byte_and_costs_nothing(databases):
    text = schema_text(databases[0])
    for most, whole in ((len(text), True), (len(text) - 1, False)):
        make = AttemptMaker(databases, PLAIN, replace(AGENT, schema_characters=most), Limits())
        assert make(QUESTIONS[0], 0).schema.whole == whole
        assert (make.params.turns, make.params.tokens_per_episode) == ((2, 400) if whole else (4, 1200))
        assert (make(QUESTIONS[0], 0).messages == [*opening(QUESTIONS[0].text, text, PLAIN)]) == whole


def test_the_shop_is_always_whole_so_that_its_prompts_never_change():
    """held_out.release relies on it: the least that may be set is more than the shop has."""
    most = load(ROOT / "params.yaml", "agent", AnswerParams).schema_characters
    assert len(";\n".join(SCHEMA.values())) < 1_000 <= most


def test_what_the_prompt_leaves_out_is_looked_up_in_a_turn_of_its_own(databases, make):
    attempt = make(QUESTIONS[2], 0)
    assert "t41" in attempt.schema.left_out
    seen = attempt.reply(call(RUN_SQL, "SELECT sql FROM sqlite_schema WHERE name = 't41'"))
    assert f"{seen};" == statement(databases, "t41")
    assert attempt.reply(call(RUN_SQL, "SELECT name FROM sqlite_master WHERE name LIKE 't4%'")).startswith("t4\nt40")
    assert attempt.reply(call(RUN_SQL, "SELECT COUNT(*) FROM t41")) == "COUNT(*)\n30"
    attempt.reply(call(SUBMIT_SQL, SUM))
    assert attempt.outcome == CORRECT


def test_the_turns_end_all_the_same(make):
    attempt = make(QUESTIONS[0], 0)
    for _ in range(4):
        attempt.reply(call(RUN_SQL, "SELECT sql FROM sqlite_schema WHERE name = 't41'"))
    assert attempt.outcome == OUT_OF_BUDGET


def test_the_script_teaches_it_and_looks_first_where_the_prompt_does_not_show_a_table(databases):
    teach = TeachParams(17, direct=1, check=0, inspect=0, mistake=0)
    kept, metrics = collect(
        QUESTIONS, databases, None, teach, AGENT, ProviderParams(1.0, 2, 0, 1.0, "rows"), Limits()
    )
    assert metrics["kept"] == 3 and {episode.outcome for episode in kept} == {CORRECT}
    calls = [[message.tool_call.sql for message in episode.messages if message.tool_call] for episode in kept]
    assert calls == [[SUM], [JOIN], ["SELECT sql FROM sqlite_schema WHERE name = 't41'", SUM]]
    assert f"{kept[2].messages[3].content};" == statement(databases, "t41")


def test_a_schema_of_which_nothing_fits_is_told_with_the_setting(tmp_path):
    name = "n" * 2_000
    path = write_database(tmp_path / "a.sqlite", f"CREATE TABLE {name}(a); CREATE TABLE b(a);")
    with pytest.raises(UserError, match=r"more than 1000 characters.*`agent\.schema_characters` in params\.yaml"):
        read_family_schema(path, 1_000).shown_for("Who?")
