"""The scripted teacher: what each style looks like, that all of it is true, and that only verified episodes stay."""

from collections import Counter

import pytest
from sqlite_files import write_database

from sqldojo.agent.episode import AnswerParams, AttemptMaker
from sqldojo.agent.tool_format import PLAIN
from sqldojo.databases.execution import Limits
from sqldojo.files import to_line
from sqldojo.records import CORRECT, RUN_SQL, SUBMIT_SQL, Question
from sqldojo.teacher.scripted import TeachParams, demonstrate
from sqldojo.verifier.grading import ReferenceFailed

STYLES = ("direct", "check", "inspect", "mistake")
AGENT = AnswerParams(turns=4, tokens_per_turn=100, tokens_per_episode=400, preview_rows=2, schema_characters=12_000)
CITY = "SELECT name FROM customers WHERE city = 'Rome'"
JOIN = (
    "SELECT customers.name FROM orders JOIN customers ON customers.id = orders.customer_id GROUP BY customers.id "
    "HAVING COUNT(*) > 1"
)
RICH = "WITH rich AS (SELECT id FROM customers WHERE city = 'Rome') SELECT COUNT(*) FROM rich"
SCRIPT = """
CREATE TABLE customers(id INTEGER PRIMARY KEY, name TEXT, city TEXT);
CREATE TABLE orders(id INTEGER PRIMARY KEY, customer_id INTEGER);
INSERT INTO customers VALUES (1, 'Ada', 'Rome'), (2, 'Bo', 'Oslo'), (3, 'Cy', 'Rome');
INSERT INTO orders VALUES (1, 3), (2, 3), (3, 1), (4, {});
"""


@pytest.fixture
def databases(tmp_path):
    return [write_database(tmp_path / f"{name}.sqlite", SCRIPT.format(name)) for name in (1, 2)]


def questions(*references):
    return [Question(f"q-{n}", "t", "train", "train", f"Question {n}?", sql, {}) for n, sql in enumerate(references)]


def teach(databases, references, agent=AGENT, seed=17, **weights):
    params = TeachParams(seed=seed, **{style: weights.get(style, 0) for style in STYLES})
    make = AttemptMaker(databases, PLAIN, agent, Limits())
    return demonstrate(questions(*references), databases[0], make, params, Limits())


def calls(episode):
    return [(m.tool_call.name, m.tool_call.sql, m.target) for m in episode.messages if m.role == "assistant"]


def test_direct_submits_at_once(databases):
    (episode,), counts = teach(databases, [CITY], direct=1)
    assert calls(episode) == [(SUBMIT_SQL, CITY, True)]
    assert (episode.outcome, episode.reward, episode.submission) == (CORRECT, 1.0, CITY)
    assert counts == {"direct": 1, "check": 0, "inspect": 0, "mistake": 0, "rejected": 0}


def test_check_runs_the_query_first(databases):
    (episode,), _ = teach(databases, [CITY], check=1)
    assert calls(episode) == [(RUN_SQL, CITY, True), (SUBMIT_SQL, CITY, True)]
    assert episode.messages[3].content == "name\nAda\nCy"


def test_inspect_looks_at_a_table_that_exists(databases):
    episodes, _ = teach(databases, [JOIN] * 12, inspect=1)
    looks = {calls(episode)[0] for episode in episodes}
    assert looks == {(RUN_SQL, f"SELECT * FROM {table} LIMIT 2", True) for table in ("customers", "orders")}
    episodes, _ = teach(databases, [RICH] * 6, inspect=1)
    assert {calls(episode)[0][1] for episode in episodes} == {"SELECT * FROM customers LIMIT 2"}


def test_a_mistake_is_shown_with_its_consequence_mended_and_no_target(databases):
    episodes, counts = teach(databases, [CITY, JOIN] * 6, mistake=1)
    assert counts["mistake"] == 12
    for episode in episodes:
        (_, wrong, learnt), *rest = calls(episode)
        right = episode.submission
        assert not learnt and wrong != right
        assert rest == [(RUN_SQL, right, True), (SUBMIT_SQL, right, True)]
        seen, mended = episode.messages[3].content, episode.messages[5].content
        assert seen != mended
    assert any(episode.messages[3].content.startswith("Error: no such column") for episode in episodes)
    assert any(calls(episode)[0][1].endswith("customers.id = orders.id GROUP BY customers.id HAVING COUNT(*) > 1")
               for episode in episodes)  # fmt: skip


def test_without_a_possible_mistake_the_query_is_checked(databases):
    (episode,), _ = teach(databases, ["SELECT COUNT(*) FROM customers"], mistake=1)
    assert [name for name, *_ in calls(episode)] == [RUN_SQL, SUBMIT_SQL]


def test_another_order_of_rows_is_no_mistake(tmp_path):
    """Every variant of this query is right, apart from the order in which its rows come."""
    script = """CREATE TABLE customers(id INTEGER PRIMARY KEY, name TEXT, customer_name TEXT);
                INSERT INTO customers VALUES (1, 'Ada', 'Bo'), (2, 'Bo', 'Ada');"""
    databases = [write_database(tmp_path / "a.sqlite", script)]
    (episode,), _ = teach(databases, ["SELECT name FROM customers"], mistake=1)
    assert [name for name, *_ in calls(episode)] == [RUN_SQL, SUBMIT_SQL]


def test_styles_follow_their_weights_and_the_order_of_questions_is_kept(databases):
    episodes, counts = teach(databases, [CITY] * 80, direct=3, check=1)
    assert [episode.question for episode in episodes] == [f"q-{number}" for number in range(80)]
    assert counts["direct"] + counts["check"] == 80 and 45 <= counts["direct"] <= 72


def test_demonstrations_depend_on_seed_and_question_alone(databases):
    def lines(references, seed):
        return [to_line(episode) for episode in teach(databases, references, seed=seed, **dict.fromkeys(STYLES, 1))[0]]

    references = [CITY, JOIN, RICH, CITY, JOIN]
    assert lines(references, 1) == lines(references, 1)
    assert lines(references, 1)[:2] == lines(references[:2], 1)
    assert lines(references, 1) != lines(references, 2)


def test_an_episode_with_more_calls_than_turns_is_rejected_not_kept(databases):
    """Out of turns is out of turns: a later submission must not make it right."""
    short = AnswerParams(turns=1, tokens_per_turn=100, tokens_per_episode=400, preview_rows=2, schema_characters=12_000)
    episodes, counts = teach(databases, [CITY, JOIN], agent=short, check=1)
    assert episodes == []
    assert counts == Counter(direct=0, check=0, inspect=0, mistake=0, rejected=2)
    assert len(teach(databases, [CITY, JOIN], agent=short, direct=1)[0]) == 2


def test_a_reference_that_fails_stops_the_stage(databases):
    with pytest.raises(ReferenceFailed, match="no such column: age"):
        teach(databases, [CITY, "SELECT age FROM customers"], direct=1)


@pytest.mark.parametrize(("weights", "key"), [({}, "direct"), ({"check": 2, "mistake": -1}, "mistake")])
def test_weights_that_make_no_sense_name_their_key(databases, weights, key):
    with pytest.raises(ValueError, match=f"^{key}: "):
        teach(databases, [CITY], **weights)


@pytest.mark.parametrize(
    ("values", "key"), [({"choices": 0}, "choices"), ({"attempts": 0}, "attempts"), ({"models": ("m", "m")}, "models")]
)
def test_params_of_api_teachers_that_make_no_sense_name_their_key(values, key):
    with pytest.raises(ValueError, match=f"^{key}: "):
        TeachParams(17, 1, 0, 0, 0, **values)


def test_demonstrations_say_that_they_are_scripted(databases):
    (episode,), _ = teach(databases, [CITY], direct=1)
    assert episode.teacher == "scripted"
