"""`sqldojo ask`: what attempts come to, when there is no answer, and that the database is only read."""

from __future__ import annotations

import json
from pathlib import Path

import cpu_first  # noqa: F401
import pytest

# isort: split
from click.testing import CliRunner
from source_tree import ROOT
from tiny_policy import write_databases, write_model

from sqldojo import asking_view
from sqldojo.agent.episode import AgentParams
from sqldojo.agent.tool_format import PLAIN
from sqldojo.asking import ANSWERED, AskAttempt, AskParams, agreed, ask
from sqldojo.cli import main
from sqldojo.databases.execution import Limits
from sqldojo.databases.schema import schema_text
from sqldojo.errors import UserError
from sqldojo.records import WRONG_SQL, ToolCall
from sqldojo.training.policy_model import load_policy_model

AGENT = AgentParams(turns=3, tokens_per_turn=8, tokens_per_episode=24, preview_rows=2)
OLDEST, COUNT = "SELECT name FROM people WHERE age > 40", "SELECT count(*) FROM people"


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return write_databases(tmp_path)[0]


def attempt(database: Path, number: int, *calls: ToolCall, told: list[tuple[str, str]] | None = None) -> AskAttempt:
    """An attempt that made these calls, or wrote prose when there is none."""
    told = [] if told is None else told
    made = AskAttempt("Who?", number, database=database, schema=schema_text(database), tool_format=PLAIN, params=AGENT,
                      limits=Limits(), tell=lambda *shown: told.append(shown))  # fmt: skip
    for call in calls:
        made.reply(PLAIN.render(call))
    if not calls:
        made.reply("It is Zoë.")
    return made


def submitted(database: Path, number: int, sql: str) -> AskAttempt:
    return attempt(database, number, ToolCall("submit_sql", sql))


def test_an_attempt_shows_its_queries_and_keeps_the_whole_result(database: Path) -> None:
    told: list[tuple[str, str]] = []
    made = attempt(database, 0, ToolCall("run_sql", "SELECT name FROM people"),
                   ToolCall("submit_sql", "SELECT age FROM people ORDER BY age"), told=told)  # fmt: skip
    assert told == [("SELECT name FROM people", "name\nZoë\nMax\n(first 2 rows, there are more)")]
    assert made.outcome == ANSWERED and made.result.rows == ((7,), (7,), (41,))


def test_one_attempt_is_its_own_answer_whatever_the_share(database: Path) -> None:
    found = agreed("Who?", [submitted(database, 0, OLDEST)], AskParams(agreement=1.0))
    assert found.given and found.confidence == 1.0 and found.sql == OLDEST and found.result.rows == (("Zoë",),)


def test_attempts_agree_by_their_results_and_not_by_their_text(database: Path) -> None:
    other = "SELECT name FROM people ORDER BY age DESC LIMIT 1"
    made = [submitted(database, 0, COUNT), submitted(database, 1, OLDEST), submitted(database, 2, other)]
    found = agreed("Who?", made, AskParams(attempts=3))
    assert found.given and found.sql == OLDEST and (found.agreeing, found.attempts) == (2, 3)
    assert not agreed("Who?", made, AskParams(attempts=3, agreement=0.7)).given


def test_half_against_half_is_no_answer(database: Path) -> None:
    found = agreed("Who?", [submitted(database, 0, COUNT), submitted(database, 1, OLDEST)], AskParams(attempts=2))
    assert not found.given and found.confidence == 0.5
    assert found.as_json()["rows"] is None and found.as_json()["answered"] is False


def test_attempts_without_a_result_count_against_it(database: Path) -> None:
    broken = submitted(database, 1, "SELECT height FROM people")
    assert broken.outcome == WRONG_SQL and "no such column" in broken.reason
    made = [submitted(database, 0, OLDEST), broken, attempt(database, 2)]
    found = agreed("Who?", made, AskParams(attempts=3))
    assert not found.given and found.agreeing == 1
    assert found.reasons == (broken.reason, "the reply holds no well-formed tool call")
    nothing = agreed("Who?", made[1:], AskParams(attempts=2))
    assert not nothing.given and nothing.sql is None and nothing.confidence == 0


def test_a_write_is_refused_and_the_file_stays(database: Path) -> None:
    before = database.read_bytes()
    made = submitted(database, 0, "DELETE FROM people")
    assert made.outcome == WRONG_SQL and "only reading is allowed" in made.reason
    assert database.read_bytes() == before and sorted(path.name for path in database.parent.glob("ordinary_1*")) == [
        "ordinary_1.sqlite"
    ]


def test_json_has_plain_values_and_all_rows(database: Path) -> None:
    found = agreed("Who?", [submitted(database, 0, "SELECT x'00ff' AS b, NULL AS n, 1.5 AS r")], AskParams())
    assert found.as_json() | {"question": ""} == {
        "question": "", "answered": True, "sql": "SELECT x'00ff' AS b, NULL AS n, 1.5 AS r", "columns": ["b", "n", "r"],
        "rows": [["00ff", None, 1.5]], "agreeing": 1, "attempts": 1, "confidence": 1.0, "queries": [], "reasons": [],
    }  # fmt: skip


@pytest.mark.parametrize(("values", "key"), [({"attempts": 0}, "--attempts"), ({"agreement": 1.5}, "--agreement")])
def test_odd_settings_are_the_users_fault(values: dict[str, float], key: str) -> None:
    with pytest.raises(UserError, match=key):
        AskParams(**values)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    write_model(folder)
    return folder


def test_a_model_that_knows_nothing_gives_no_answer_the_same_each_time(database: Path, model: Path) -> None:
    policy = load_policy_model(model)
    found = [ask(policy, database, "Who?", AskParams(attempts=3), AGENT, Limits()) for _ in range(2)]
    assert found[0] == found[1] and not found[0].given and len(found[0].reasons) == 3
    with pytest.raises(UserError, match="the question is empty"):
        ask(policy, database, "  ", AskParams(), AGENT, Limits())


def command(*arguments: str, **options: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(main, ["ask", *arguments, "--params", str(ROOT / "params.yaml")], **options)
    return result.exit_code, result.stdout, result.stderr


def test_the_command_says_in_a_line_that_there_is_no_answer(database: Path, model: Path) -> None:
    code, out, err = command(str(database), "Who?", "--model", str(model))
    assert code == 1 and out == "" and err.strip().splitlines()[-1].startswith("no answer: ")


def test_the_command_reads_questions_a_line_each(database: Path, model: Path) -> None:
    code, out, _ = command(str(database), "--model", str(model), "--json", input="Who?\n\nHow old?\n")
    answers = [json.loads(line) for line in out.splitlines()]
    assert [answer["question"] for answer in answers] == ["Who?", "How old?"]
    assert code == (0 if answers[-1]["answered"] else 1)


def test_an_answer_is_shown_as_a_table_or_as_its_query(
    database: Path, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sql = "SELECT name AS '[b]who', age, NULL AS n FROM people ORDER BY age DESC LIMIT 1"
    answer = agreed("Who?", [submitted(database, 0, sql), submitted(database, 1, sql)], AskParams(attempts=2))
    monkeypatch.setattr(asking_view, "ask", lambda *_: answer)
    code, out, err = command(str(database), "Who?", "--model", str(model))
    assert code == 0 and all(word in out for word in ("[b]who", "Zoë", "41", "NULL"))
    assert sql in err and "2 of 2 attempts agree" in err
    assert command(str(database), "Who?", "--model", str(model), "--sql-only")[1] == f"{sql}\n"


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"", "no table"), (b"SQLite format 3\0" + b"?" * 90, "cannot be read"), (b"\x89PNG\r\n", "neither a SQLite")],
    ids=["empty", "corrupt", "picture"],
)
def test_files_that_are_no_database_are_told_in_a_line(tmp_path: Path, model: Path, content: bytes, said: str) -> None:
    path = tmp_path / "odd.sqlite"
    path.write_bytes(content)
    code, out, err = command(str(path), "Who?", "--model", str(model))
    assert code == 1 and out == "" and len(err.strip().splitlines()) == 1 and said in err and "odd.sqlite" in err


def test_an_adapter_that_is_not_there_is_told_with_the_remedy(database: Path, tmp_path: Path, model: Path) -> None:
    code, _, err = command(str(database), "Who?", "--model", str(model), "--adapter", str(tmp_path / "none"))
    assert code == 1 and "there is no adapter; train one with `make repro`" in err
