"""Reading a folder laid out like the published data set, and writing one."""

import dataclasses
import json
from collections import Counter

import pytest
from repair_records import CODE_TEST, ISSUE, NAMES, PLAIN_TEST, RIGHT, WRONG, record, write_folder, write_template

from sqldojo.databases.execution import Limits
from sqldojo.errors import UserError
from sqldojo.repair.gate import gate
from sqldojo.repair.judging import Judge
from sqldojo.repair.six_gym import PUBLISHED, load, write
from sqldojo.repair.splitting import split
from sqldojo.repair.task import EVALUATION, TRAIN, VALIDATION, Hidden, RepairTask


def test_the_published_numbers_add_up():
    assert sum(train for train, _ in PUBLISHED.values()) == 879
    assert sum(evaluation for _, evaluation in PUBLISHED.values()) == 220


def test_a_record_becomes_a_task_and_its_hidden_half(tmp_path):
    keys = record(
        "TRAIN_7", "books", query="Why?", preprocess_sql=["CREATE TEMP TABLE a(b)"], clean_up_sql=["DROP TABLE a"],
        conditions={"order": True}, efficiency=False,
    )  # fmt: skip
    loaded = load(write_folder(tmp_path, [keys]))
    assert loaded.tasks == (
        RepairTask(
            "TRAIN_7", "books", "", "Query", "TRAIN_7", "Query", "Why?", (f"{WRONG} -- TRAIN_7",),
            ("CREATE TEMP TABLE a(b)",), ("DROP TABLE a",),
        ),
    )  # fmt: skip
    assert loaded.hidden == (Hidden("TRAIN_7", (f"{RIGHT} -- TRAIN_7",), (PLAIN_TEST,), True),)


@pytest.mark.parametrize(
    ("value", "expected"), [("", ()), (None, ()), (..., ()), ("a", ("a",)), (["a", "b"], ("a", "b"))]
)
def test_lists_have_several_forms(tmp_path, value, expected):
    fields = ("issue_sql", "preprocess_sql", "clean_up_sql", "sol_sql", "test_cases", "conditions")
    keys = record("TRAIN_1", "books", **dict.fromkeys(fields[:-1], value), conditions=None if value is ... else "")
    loaded = load(write_folder(tmp_path, [keys]))
    (task,), (hidden,) = loaded.tasks, loaded.hidden
    assert (task.issue_sql, task.preprocess_sql, task.clean_up_sql) == (expected,) * 3
    assert (hidden.sol_sql, hidden.test_cases, hidden.ordered) == (expected, expected, False)


def test_category_and_databases_choose(tmp_path):
    records = [
        record("TRAIN_1", "books"),
        record("TRAIN_2", "books", category="Management"),
        record("TRAIN_3", "hockey"),
        record("TRAIN_4", "hockey", selected_database="chinook"),
        record("TRAIN_5", "books", selected_database=None),
    ]
    folder = write_folder(tmp_path, records)
    loaded = load(folder)
    assert [(task.id, task.db_id) for task in loaded.tasks] == [
        ("TRAIN_1", "books"), ("TRAIN_4", "chinook"), ("TRAIN_5", "books")
    ]  # fmt: skip
    assert loaded.records == 5
    assert loaded.by_category == {"Management": 1, "Query": 4}
    assert loaded.by_database == {"books": 2, "chinook": 1}
    assert [task.id for task in load(folder, "Management", ("books",)).tasks] == ["TRAIN_2"]


def test_ids_may_repeat(tmp_path):
    records = [record("TRAIN_1", name, query=name) for name in ("books", "books", "netflix")] + [record("B", "books")]
    loaded = load(write_folder(tmp_path, records))
    assert [task.id for task in loaded.tasks] == ["TRAIN_1@1", "TRAIN_1@2", "TRAIN_1@3", "B"]
    assert [half.id for half in loaded.hidden] == [task.id for task in loaded.tasks]


def test_what_is_the_same_has_one_type(tmp_path):
    def own(id, **changes):
        return record(id, "books", **{"query": id, "issue_sql": id, "sol_sql": id, **changes})

    records = [
        own("A"), own("B", issue_sql="A"), own("C", sol_sql="B"), own("D"), own("E", query="D"), own("F"),
        own("G", issue_sql="", sol_sql=None), own("H", issue_sql="", sol_sql=None), own("I", issue_sql="F", query="C"),
    ]  # fmt: skip
    types = {task.id: task.type for task in load(write_folder(tmp_path, records)).tasks}
    clusters = Counter(types.values())
    assert types["A"] == types["B"] == types["C"] == types["F"] == types["I"]
    assert types["D"] == types["E"]
    assert sorted(clusters.values()) == [1, 1, 2, 5]


def test_counts_other_than_the_published_ones_are_told(tmp_path):
    loaded = load(write_folder(tmp_path, [record("TRAIN_1", "books"), record("TRAIN_2", "chinook")]))
    assert loaded.warnings[0] == "2 tasks in all where the original experiment had 1,099"
    assert loaded.warnings[1].startswith("books: 1 tasks where the original experiment had 282 (226 for training")
    assert len(loaded.warnings) == 5
    assert load(tmp_path, "Query", ("books",)).warnings == ()


def test_the_published_counts_give_no_warning_and_the_published_split(tmp_path):
    sizes = {name: sum(parts) for name, parts in PUBLISHED.items()}
    records = [record(f"TRAIN_{name}_{n}", name) for name, size in sizes.items() for n in range(size)]
    loaded = load(write_folder(tmp_path, records))
    assert loaded.warnings == () and len(loaded.tasks) == 1099
    tasks = split(loaded.tasks, seed=42, evaluation_share=0.2, validation_share=0.0)
    found = Counter((task.db_id, task.split) for task in tasks)
    assert {name: (found[name, TRAIN], found[name, EVALUATION]) for name in sizes} == PUBLISHED


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"instance_id": 7}, "instance_id"),
        ({"instance_id": ...}, "instance_id"),
        ({"db_id": ""}, "db_id"),
        ({"selected_database": 3}, "selected_database"),
        ({"category": None}, "category"),
        ({"query": ...}, "query"),
        ({"query": "half a \ud800"}, "query"),
        ({"issue_sql": [1]}, "issue_sql"),
        ({"sol_sql": {"a": 1}}, "sol_sql"),
        ({"test_cases": [["a"]]}, "test_cases"),
        ({"conditions": ["order"]}, "conditions"),
    ],
)
def test_a_malformed_record_is_named(tmp_path, changes, key):
    folder = write_folder(tmp_path, [record("TRAIN_1", "books"), record("TRAIN_2", "books", **changes)])
    with pytest.raises(UserError, match=rf"train\.jsonl, line 2: key `{key}`: .*; correct that line"):
        load(folder)


@pytest.mark.parametrize("line", ["{", "[]", "7", '"text"', "\xff"])
def test_a_line_that_is_no_record_is_named(tmp_path, line):
    folder = write_folder(tmp_path, [record("TRAIN_1", "books")])
    with (folder / "train.jsonl").open("ab") as file:
        file.write(b"\n" + line.encode("latin-1"))
    with pytest.raises(UserError, match="line 3"):
        load(folder)


def test_what_is_missing_is_named(tmp_path):
    with pytest.raises(UserError, match=r"train\.jsonl.*repair\.source"):
        load(tmp_path)
    folder = write_folder(tmp_path, [record("TRAIN_1", "books"), record("TRAIN_2", "lego")])
    with pytest.raises(UserError, match=r"lego_template\.sqlite.*repair\.databases"):
        load(folder, databases=("books", "lego"))
    with pytest.raises(UserError, match=r"category Quarry on books.*categories: Query.*databases: books, lego"):
        load(folder, "Quarry", ("books",))


def test_writing_and_reading_again_changes_nothing(tmp_path):
    tasks = [
        RepairTask("G-1", "books", "", "wrong_alias", "top-1", "Query", ISSUE, (WRONG,), ("CREATE TEMP TABLE a(b)",)),
        RepairTask("G-2", "books", "", "lost_tie", "top-2", "Query", "Ünïcode?\n", ("a", "b"), (), ("c",), 3),
    ]
    hidden = [Hidden("G-1", (RIGHT,), (PLAIN_TEST,), True), Hidden("G-2", ("SELECT 1",), (), False)]
    write_template(tmp_path / "database", "books")
    write(tmp_path, tasks, hidden)
    loaded = load(tmp_path, databases=("books",))
    assert loaded.tasks == tuple(tasks) and loaded.hidden == tuple(hidden)
    before = (tmp_path / "train.jsonl").read_bytes()
    write(tmp_path, loaded.tasks, loaded.hidden)
    assert (tmp_path / "train.jsonl").read_bytes() == before
    keys = json.loads(before.splitlines()[0])
    assert keys["dialect"] == "SQLite" and keys["conditions"] == {"order": True}
    with pytest.raises(ValueError, match="G-2"):
        write(tmp_path, tasks[:1], hidden[1:])


def test_a_whole_folder_goes_through_loader_gate_and_split(tmp_path):
    records = [record(f"TRAIN_{name}_{number}", name) for name in NAMES for number in range(10)]
    records += [
        record("BAD_1", "books", sol_sql=["SELECT 1 WHERE 0"]),
        record("BAD_2", "chinook", issue_sql=[f"{RIGHT} -- fine"]),
        record("BAD_3", "movie_3", test_cases=[CODE_TEST]),
        record("BAD_4", "netflix", sol_sql=[]),
        record("OTHER", "books", category="Management"),
    ]
    folder = write_folder(tmp_path, records)
    loaded = load(folder)
    assert len(loaded.tasks) == 44
    gated = gate(loaded.tasks, loaded.hidden, Judge(folder / "database", Limits()))
    assert {row.id for row in gated.dropped} == {f"BAD_{number}" for number in range(1, 5)}
    tasks = split(gated.tasks, seed=42, evaluation_share=0.2, validation_share=0.25)
    assert Counter(task.split for task in tasks) == {TRAIN: 24, VALIDATION: 8, EVALUATION: 8}
    assert [dataclasses.replace(task, split="") for task in tasks] == list(gated.tasks)
    assert all((folder / "database" / name / f"{name}_template.sqlite").stat().st_size for name in NAMES)
    assert len(list((folder / "database" / "books").iterdir())) == 1
