"""`sqldojo ask`: what attempts come to, when there is no answer, and that the database is only read."""

from __future__ import annotations

import _thread
import threading
import time
from pathlib import Path

import cpu_first  # noqa: F401
import pytest

# isort: split
from scripted_replies import let_it_write, look, submit
from sqlite_files import write_database
from tiny_policy import write_databases, write_model

from sqldojo.agent.episode import AgentParams
from sqldojo.agent.tool_format import PLAIN
from sqldojo.asking import ANSWERED, AskAttempt, AskParams, QuestionError, agreed, ask
from sqldojo.databases.execution import Limits
from sqldojo.databases.schema import schema_text
from sqldojo.errors import UserError
from sqldojo.records import WRONG_SQL, ToolCall
from sqldojo.training.decoding import RolloutCounts
from sqldojo.training.policy_model import PolicyModel, load_policy_model

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
    sql = "SELECT x'00ff' AS b, NULL AS n, 1.5 AS r, 9e999 AS i"
    found = agreed("Who?", [submitted(database, 0, sql)], AskParams())
    assert found.as_json() | {"question": ""} == {
        "question": "", "answered": True, "sql": sql, "columns": ["b", "n", "r", "i"],
        "rows": [["00ff", None, 1.5, "inf"]], "agreeing": 1, "attempts": 1, "confidence": 1.0, "queries": [],
        "reasons": [],
    }  # fmt: skip


@pytest.mark.parametrize(("values", "key"), [
    ({"attempts": 0}, "--attempts"), ({"agreement": 1.5}, "--agreement"), ({"schema_tokens": 0}, "--schema-tokens"),
])
def test_odd_settings_are_the_users_fault(values: dict[str, float], key: str) -> None:
    with pytest.raises(UserError, match=key):
        AskParams(**values)


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> PolicyModel:
    folder = tmp_path_factory.mktemp("model")
    write_model(folder, config={"max_position_embeddings": 2_500})
    return load_policy_model(folder)


def test_a_model_that_knows_nothing_gives_no_answer_the_same_each_time(database: Path, policy: PolicyModel) -> None:
    found = [ask(policy, database, "Who?", AskParams(attempts=3), AGENT, Limits()) for _ in range(2)]
    assert found[0] == found[1] and not found[0].given and len(found[0].reasons) == 3


@pytest.mark.parametrize(
    ("question", "said"),
    [("  ", "the question is empty"), ("a\udcff", "no Unicode text"), ("who? " * 2000, "no room for the schema")],
)
def test_what_is_no_question_is_told(database: Path, policy: PolicyModel, question: str, said: str) -> None:
    with pytest.raises(QuestionError, match=said):
        ask(policy, database, question, AskParams(), AGENT, Limits())


ROOMY = AgentParams(turns=3, tokens_per_turn=200, tokens_per_episode=400, preview_rows=2)


def test_an_answer_is_found_and_its_tokens_are_counted(
    database: Path, policy: PolicyModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    let_it_write(monkeypatch, policy, [look(COUNT), submit(OLDEST)])
    told: list[tuple[str, str]] = []
    counts = RolloutCounts()
    found = ask(policy, database, " Who? ", AskParams(), ROOMY, Limits(), lambda *shown: told.append(shown), counts)
    assert found.given and found.question == "Who?" and found.sql == OLDEST and found.result.rows == (("Zoë",),)
    assert told == [(COUNT, "count(*)\n3")] and found.queries == (COUNT,)
    assert counts.sampled_tokens == len(look(COUNT)) + len(submit(OLDEST))  # its tokens are bytes


def test_attempts_that_disagree_give_no_answer(
    database: Path, policy: PolicyModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    let_it_write(monkeypatch, policy, [submit(COUNT)], [submit(OLDEST)], [submit("SELECT 3")])
    found = ask(policy, database, "Who?", AskParams(attempts=3), ROOMY, Limits())
    assert found.given and (found.sql, found.agreeing) == (COUNT, 2)
    assert not ask(policy, database, "Who?", AskParams(attempts=2), ROOMY, Limits()).given


def test_what_the_prompt_leaves_out_can_be_looked_up(
    tmp_path: Path, policy: PolicyModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = "".join(f"CREATE TABLE archive_{each}(taken_at TEXT, content BLOB);" for each in range(300))
    path = write_database(tmp_path / "long.sqlite", f"{script} INSERT INTO archive_7 VALUES ('today', x'00')")
    sql, answer = "SELECT sql FROM sqlite_schema WHERE name = 'archive_7'", "SELECT taken_at FROM archive_7"
    let_it_write(monkeypatch, policy, [look(sql), submit(answer)])
    told: list[tuple[str, str]] = []
    short = AskParams(schema_tokens=500)
    found = ask(policy, path, "When?", short, ROOMY, Limits(), lambda *shown: told.append(shown))
    assert told == [(sql, "CREATE TABLE archive_7(taken_at TEXT, content BLOB)")]
    assert found.result.rows == (("today",),)
    found = ask(policy, path, "When?", AskParams(schema_tokens=10**9), ROOMY, Limits())  # more than the model reads
    assert found.result.rows == (("today",),)
    with pytest.raises(UserError, match="more than 9 tokens"):
        ask(policy, path, "When?", AskParams(schema_tokens=9), ROOMY, Limits())


def test_a_short_schema_is_shown_as_in_training_and_is_not_data(
    database: Path, policy: PolicyModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    original = AskAttempt.__init__

    def recording(self: AskAttempt, question: str, number: int, **given: object) -> None:
        seen.append(str(given["schema"]))
        original(self, question, number, **given)

    monkeypatch.setattr(AskAttempt, "__init__", recording)
    sql = "SELECT sql FROM sqlite_schema"
    let_it_write(monkeypatch, policy, [submit(sql)])
    found = ask(policy, database, "What?", AskParams(), ROOMY, Limits())
    assert seen == [schema_text(database)] and found.reasons == ("the table sqlite_master is not part of the data",)


def test_a_question_that_is_stopped_takes_its_queries_with_it(
    database: Path, policy: PolicyModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
    let_it_write(monkeypatch, policy, [look("SELECT 1"), look(endless), submit(endless)])
    patient = Limits(vm_steps=10**15, seconds=600)

    def tell(_sql: str, _shown: str) -> None:
        threading.Timer(0.2, _thread.interrupt_main).start()  # by when the endless one runs

    before = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        ask(policy, database, "Who?", AskParams(), ROOMY, patient, tell)
    threads = [thread for thread in threading.enumerate() if thread.name.startswith("attempt")]
    for thread in threads:
        thread.join(30)
    assert time.monotonic() - before < 60 and not any(thread.is_alive() for thread in threads)
