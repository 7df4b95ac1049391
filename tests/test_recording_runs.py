"""What is recorded for a stage is what the stage asks for: recorded over real HTTP, replayed without it."""

import json

import pytest
from canned_replies import called, said
from faulty_provider import WRONG_ARGUMENTS, faulty_provider
from sqlite_files import write_database

from sqldojo import params, recording_runs
from sqldojo.agent.episode import AnswerParams
from sqldojo.databases.building import DatabaseParams, build_families
from sqldojo.databases.execution import Limits
from sqldojo.databases.families import FAMILIES, ORDINARY, TRAIN, family_paths
from sqldojo.errors import UserError
from sqldojo.files import write_records
from sqldojo.proposing import ProposeParams, propose
from sqldojo.records import SUBMIT_SQL, Question, QuestionType
from sqldojo.teacher.collection import collect
from sqldojo.teacher.provider import TEACH, ProviderParams
from sqldojo.teacher.recording import Replaying, recording
from sqldojo.teacher.scripted import TeachParams

SQL = "SELECT a FROM t"
PARAMS = """
propose: {seed: 17, most: 5, models: [MODELS], per_model: 5}
review: {seed: 17, trained_values: 2, held_out_values: 1, least_values: 1, reserved_share: 0.4, held_out_shapes: 0.0,
  tries: 1, solvers: [MODELS]}
teach: {seed: 17, direct: 1, check: 0, inspect: 0, mistake: 0, models: [MODELS], choices: 1, attempts: 1}
providers: {budget_usd: 1.0, concurrency: 2, retries: 0, seconds: 5.0, privacy: rows, prices: {openai/tiny: [1.0, 1.0]}}
agent: {turns: 2, tokens_per_turn: 100, tokens_per_episode: 400, preview_rows: 2, schema_characters: 12000}
verifier: {}
"""


@pytest.fixture
def files(tmp_path):
    """A function that writes a params file with these models; the data are those of a tiny project."""
    data = tmp_path / "data"
    for path in family_paths(data / "databases", TRAIN):
        write_database(path, f"CREATE TABLE t(a); INSERT INTO t VALUES ({len(path.stem)}), ('{path.stem}');")
    write_records(data / "questions/train.jsonl", [Question("q", "t", TRAIN, TRAIN, "Which a?", SQL, {})])

    def write(models):
        file = tmp_path / "params.yaml"
        file.write_text(PARAMS.replace("MODELS", models), encoding="utf-8")
        return file, data

    return write


def replayed(file, data, cassettes):
    kinds = {"teach": TeachParams, "agent": AnswerParams, "providers": ProviderParams, "verifier": Limits}
    sections = [params.load(file, name, kind) for name, kind in kinds.items()]
    questions = [Question("q", "t", TRAIN, TRAIN, "Which a?", SQL, {})]
    databases = family_paths(data / "databases", TRAIN)
    return collect(questions, databases, Replaying(cassettes, TEACH), *sections)


def test_teaching_is_recorded_over_http_and_replayed_without_it(files, tmp_path, monkeypatch):
    file, data = files("openai/tiny")
    with faulty_provider([WRONG_ARGUMENTS]) as provider:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-of-nobody-0123456789")
        monkeypatch.setenv("OPENAI_API_BASE", provider.url)
        with recording(tmp_path / "cassettes", TEACH, params.load(file, "providers", ProviderParams)) as ask:
            recording_runs.RUNS[TEACH](ask, file, data)
    assert len(provider.calls) == 2
    assert provider.calls[1]["messages"][3]["role"] == "tool"
    assert SQL not in json.dumps(provider.calls)
    episodes, metrics = replayed(file, data, tmp_path / "cassettes")
    assert [episode.teacher for episode in episodes] == ["scripted"]
    assert metrics["rejected"] == {"out_of_budget": 1, "scripted": 0}


def test_without_a_recording_the_stage_names_the_command(files, tmp_path):
    with pytest.raises(UserError, match="sqldojo record teach"):
        replayed(*files("openai/tiny"), tmp_path / "cassettes")


@pytest.mark.parametrize(
    ("purpose", "key"), [("propose", "propose.models"), ("review", "review.solvers"), ("teach", "teach.models")]
)
def test_without_models_there_is_nothing_to_record(files, purpose, key):
    with pytest.raises(UserError, match=f"{key}: no model is named"):
        recording_runs.RUNS[purpose](None, *files(""))


@pytest.fixture(scope="module")
def ordinary(tmp_path_factory):
    folder = tmp_path_factory.mktemp("recording") / "ordinary"
    build_families(folder, DatabaseParams(seed=17, customers=60, products=60, orders=250), ORDINARY)
    return folder


def test_proposers_are_asked_what_the_stage_asks(files, ordinary):
    file, data = files("m")
    (data / "ordinary").symlink_to(ordinary)
    asked = []

    def ask(request):
        asked.append(request)
        return said("[]")

    recording_runs.RUNS["propose"](ask, file, data)
    section = params.load(file, "propose", ProposeParams), params.load(file, "providers", ProviderParams)
    propose(family_paths(data / "ordinary", TRAIN, ORDINARY), ask, *section)
    assert len(asked) == 2 and asked[0] == asked[1]


def test_blind_solvers_try_what_the_other_rules_let_pass(files, ordinary, monkeypatch):
    file, data = files("m")
    (data / "ordinary").symlink_to(ordinary)
    monkeypatch.setattr("sqldojo.questions.to_review.hand_written", lambda _database: ())
    city = {"city": "SELECT DISTINCT city FROM customers WHERE city IS NOT NULL ORDER BY city"}
    sql = "SELECT name FROM customers WHERE city = :city"
    good = QuestionType("good", TRAIN, ("Who lives in {city}? Only names.",), sql, city, proposer="composed")
    bad = QuestionType("bad", TRAIN, ("Who lives in {city}, SELECT?",), sql, city, proposer="composed")
    write_records(data / "proposals/types.jsonl", [good, bad])
    (file.parent / "bank").mkdir()
    (file.parent / "bank/verdicts.yaml").write_text("{}\n", encoding="utf-8")
    asked = []

    def ask(request):
        asked.append(request.messages[1]["content"])
        return called(SUBMIT_SQL, "SELECT 1")

    recording_runs.RUNS["review"](ask, file, data)
    assert len(asked) == 1 and asked[0].endswith("? Only names.")
    assert set(FAMILIES) == {path.name for path in ordinary.iterdir()}
