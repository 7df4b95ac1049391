"""What is taught: API solutions first, the script for the rest, and the figures of both."""

import pytest
from canned_replies import called, said
from sqlite_files import write_database

from sqldojo.agent.episode import AnswerParams
from sqldojo.databases.execution import Limits
from sqldojo.records import SUBMIT_SQL, Question
from sqldojo.teacher.collection import collect
from sqldojo.teacher.provider import ProviderParams
from sqldojo.teacher.scripted import TeachParams

AGENT = AnswerParams(turns=3, tokens_per_turn=100, tokens_per_episode=400, preview_rows=2, schema_characters=12_000)
QUESTIONS = [
    Question(f"q-{n}", f"t-{n}", "train", "train", f"Which {n}?", f"SELECT a + {n} FROM t", {}) for n in range(3)
]


@pytest.fixture
def database(tmp_path):
    return write_database(tmp_path / "a.sqlite", "CREATE TABLE t(a); INSERT INTO t VALUES (1), (2);")


def taught(database, ask, **params):
    settings = TeachParams(17, 1, 0, 0, 0, **params)
    return collect(QUESTIONS, [database], ask, settings, AGENT, ProviderParams(1.0, 2, 0, 1.0, "rows"), Limits())


def test_offline_the_script_teaches_everything(database):
    kept, metrics = taught(database, None)
    assert [(episode.question, episode.teacher) for episode in kept] == [(f"q-{n}", "scripted") for n in range(3)]
    assert metrics == {
        "questions": 3,
        "kept": 3,
        "by_teacher": {"scripted": 3},
        "by_style": {"direct": 3, "check": 0, "inspect": 0, "mistake": 0},
        "rejected": {"scripted": 0},
        "provider_errors": {},
    }


def test_the_script_fills_what_no_model_solved(database):
    def ask(request):
        number = int(request.messages[1]["content"][6])
        if request.number:
            return called(SUBMIT_SQL, f"SELECT {number} + a AS b FROM t")
        return called(SUBMIT_SQL, f"SELECT a + {number} FROM t") if number == 1 else said("No idea.")

    kept, metrics = taught(database, ask, models=("m",), attempts=2)
    assert [(episode.question, episode.teacher, episode.attempt) for episode in kept] == [
        ("q-0", "m", 2), ("q-1", "m", 1), ("q-1", "m", 2), ("q-2", "m", 2)
    ]  # fmt: skip
    kept, metrics = taught(database, ask, models=("m",), attempts=1)
    assert [(episode.question, episode.teacher) for episode in kept] == [
        ("q-0", "scripted"), ("q-1", "m"), ("q-2", "scripted")
    ]  # fmt: skip
    assert metrics["by_teacher"] == {"scripted": 2, "m": 1}
    assert metrics["rejected"] == {"never_submitted": 2, "scripted": 0}
    assert metrics["by_style"]["direct"] == 2
