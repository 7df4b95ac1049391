import json
from pathlib import Path

import pytest
from sqlite_files import write_database

from sqldojo import bank_files
from sqldojo.bank_files import BankParams, bank_from_database, bank_from_pairs, database_name
from sqldojo.databases.execution import Limits, run_query
from sqldojo.errors import UserError
from sqldojo.files import read_records
from sqldojo.records import FilledType, QuestionType, Review

SPIDER = Path(__file__).parents[2] / "shared" / "data" / "spider"
TOWNS = ("Oslo", "Moss", "Bergen", "Bodø", "Narvik")
ROWS = ", ".join(f"({n}, 'Boat {n}', '{TOWNS[n * n % 7 % 5]}', {n * 37 % 50 / 2})" for n in range(1, 41))
SCRIPT = f"""
CREATE TABLE boat (id INTEGER PRIMARY KEY, name TEXT, town TEXT, length REAL);
INSERT INTO boat VALUES {ROWS};
"""
PAIRS = [
    ("boats", "What are the names of the boats in Oslo?", 'SELECT name FROM boat WHERE town = "Oslo"'),
    ("boats", "Name the boats that lie in Moss.", "SELECT name FROM boat WHERE town = 'Moss'"),
    ("boats", "How many boats are longer than 10?", "SELECT COUNT(*) FROM boat WHERE length > 10"),
    ("boats", "Which boat lies in the first town?", "SELECT name FROM boat ORDER BY town LIMIT 1"),
    ("boats", "Which?", "SELEC name FROM boat"),
    ("ships", "How many boats are there?", "SELECT COUNT(*) FROM boat"),
]


@pytest.fixture
def given(tmp_path):
    """A file of pairs and a folder of two databases, one of them a script in a folder of its own."""
    databases = tmp_path / "databases"
    write_database(databases / "boats.sqlite", SCRIPT)
    (databases / "ships").mkdir()
    (databases / "ships" / "ships.sql").write_text(SCRIPT, encoding="utf-8")
    return write_pairs(tmp_path / "pairs.jsonl", PAIRS), databases


def write_pairs(path, pairs):
    lines = [json.dumps(dict(zip(("db_id", "question", "query"), pair, strict=True))) for pair in pairs]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_a_bank_from_pairs_over_two_databases(given, tmp_path):
    out = tmp_path / "out"
    summary = bank_from_pairs(*given, out, BankParams(values=3), Limits())
    types, filled = read_records(out / "types.jsonl", QuestionType), read_records(out / "filled.jsonl", FilledType)
    reviews = read_records(out / "reviews.jsonl", Review)
    assert [each.id for each in types] == ["boats-filter-1", "boats-aggregate-1", "ships-aggregate-1"]
    asked = "What are the names of the boats in {boat_town}?", "Name the boats that lie in {boat_town}."
    assert types[0].phrasings == asked
    assert [(each.type, each.accepted, each.rule) for each in reviews] == [
        ("line 5", False, "unreadable"),
        ("boats-filter-1", True, ""),
        ("boats-aggregate-1", True, ""),
        ("boats-top-1", False, "depends-on-ties"),
        ("ships-aggregate-1", True, ""),
    ]  # fmt: skip
    for each in filled:
        folder = out / "databases" / each.family
        results = [run_query(folder / f"ordinary_{n}.sqlite", each.reference, Limits()) for n in (1, 2, 3)]
        assert all(result.status == "ok" for result in results)
    assert [each.type for each in filled].count("boats-filter-1") == 3
    assert summary == {
        "pairs": 6, "databases": 2, "proposed": 4, "with_parameters": 2, "accepted": 3,
        "rejected": {"depends-on-ties": 1, "unreadable": 1},
        "patterns": {
            "filter": {"proposed": 1, "accepted": 1}, "aggregate": {"proposed": 2, "accepted": 2},
            "top": {"proposed": 1, "accepted": 0},
        },
    }  # fmt: skip
    written = json.loads((out / "summary.json").read_text(encoding="utf-8"))
    assert written == summary | {"settings": {"seed": 17, "values": 3, "rows": 60}}
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    bank_from_pairs(*given, out, BankParams(values=3), Limits())  # an earlier bank is replaced, by the same bytes
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before


def test_an_interruption_leaves_nothing_half_written(given, tmp_path, monkeypatch):
    def interrupted(*_arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(bank_files, "review", interrupted)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(KeyboardInterrupt):
        bank_from_pairs(*given, tmp_path / "out", BankParams(), Limits())
    assert sorted(tmp_path.iterdir()) == before


def test_one_database_serves_a_log_without_db_id(given, tmp_path):
    log = tmp_path / "log.jsonl"
    log.write_text(json.dumps({"question": "How many boats are there?", "sql": "SELECT COUNT(*) FROM boat"}))
    summary = bank_from_pairs(log, given[1] / "boats.sqlite", tmp_path / "out", BankParams(), Limits())
    assert (summary["accepted"], summary["databases"]) == (1, 1)
    assert [path.name for path in (tmp_path / "out" / "databases").iterdir()] == ["boats"]


def test_pairs_of_which_none_can_be_read_give_an_empty_bank(given, tmp_path):
    pairs = write_pairs(tmp_path / "none.jsonl", [("boats", "Which?", "SELEC 1")])
    summary = bank_from_pairs(pairs, given[1], tmp_path / "out", BankParams(), Limits())
    assert (summary["proposed"], summary["accepted"], summary["rejected"]) == (0, 0, {"unreadable": 1})
    assert read_records(tmp_path / "out" / "types.jsonl", QuestionType) == []


def test_a_database_that_is_missing_and_a_folder_in_use_are_named(given, tmp_path):
    pairs = write_pairs(tmp_path / "more.jsonl", [*PAIRS, ("../boats", "All?", "SELECT 1")])
    with pytest.raises(UserError, match=r"the db_id '\.\./boats' is no database in .*; add "):
        bank_from_pairs(pairs, given[1], tmp_path / "out", BankParams(), Limits())
    with pytest.raises(UserError, match=r"holds .*, which is no part of a question bank"):
        bank_from_pairs(*given, tmp_path, BankParams(), Limits())
    assert not (tmp_path / "out").exists()


def test_a_bank_composed_from_a_database(given, tmp_path, monkeypatch):
    monkeypatch.setattr(bank_files, "_MOST_COMPOSED", 1)
    out = tmp_path / "out"
    summary = bank_from_database(given[1] / "boats.sqlite", out, BankParams(values=2), Limits())
    types = read_records(out / "types.jsonl", QuestionType)
    assert 0 < summary["accepted"] == len(types) <= summary["proposed"] and "pairs" not in summary
    assert {each.proposer for each in types} == {"composed"}


@pytest.mark.parametrize("name", ["a.b.sqlite", "a.b.SQL", "a.b.sql.gz", "a.b.db", "a.b.other"])
def test_the_name_of_a_database(name):
    assert database_name(Path("folder") / name) == "a.b"


@pytest.mark.skipif(not SPIDER.is_dir(), reason="no ../shared beside this repository")
def test_real_pairs_give_accepted_types(tmp_path):
    lines = (SPIDER / "train.jsonl").read_text(encoding="utf-8").splitlines()[:40]
    (tmp_path / "pairs.jsonl").write_text("\n".join(lines), encoding="utf-8")
    summary = bank_from_pairs(tmp_path / "pairs.jsonl", SPIDER / "databases", tmp_path / "out", BankParams(), Limits())
    assert summary["accepted"] >= 10
