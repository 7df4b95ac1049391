import json

import pytest

from sqldojo.errors import UserError
from sqldojo.reference_files import Reference, read_references


def test_a_script_holds_one_reference_a_statement(tmp_path):
    path = tmp_path / "references.sql"
    script = "-- what we ask\nSELECT 'a;b' FROM t;\n\nSELECT 2\n  FROM t; -- the last\n-- end\n"
    path.write_text(script, encoding="utf-8")
    assert [each.sql for each in read_references(path)] == ["-- what we ask\nSELECT 'a;b' FROM t", "SELECT 2\n  FROM t"]
    assert [each.id for each in read_references(path)] == ["1", "2"]


@pytest.mark.parametrize("key", ["reference", "query", "sql"])
def test_json_lists_and_lines_hold_texts_or_objects(tmp_path, key):
    items = [{"id": "first", key: "SELECT 1", "other": 2}, "SELECT 2", {key: "SELECT 3"}]
    wanted = [Reference("first", "SELECT 1"), Reference("2", "SELECT 2"), Reference("3", "SELECT 3")]
    (tmp_path / "list.json").write_text(json.dumps(items), encoding="utf-8")
    (tmp_path / "lines.jsonl").write_text("\n".join(map(json.dumps, items)) + "\n", encoding="utf-8")
    assert read_references(tmp_path / "list.json") == read_references(tmp_path / "lines.jsonl") == wanted


def test_a_query_that_occurs_twice_is_one_reference_under_its_first_name(tmp_path):
    (tmp_path / "pairs.json").write_text('[{"id": "a", "reference": "SELECT 1"}, {"id": "b", "reference": "SELECT 1"}]')
    assert read_references(tmp_path / "pairs.json") == [Reference("a", "SELECT 1")]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.json", "{}", "expected a list, found dict"),
        ("a.json", "[1]", "item 1: holds no query"),
        ("a.json", '["SELECT 1", {"question": "?"}]', "item 2: holds no query"),
        ("a.json", "[", "not JSON"),
        ("a.jsonl", "SELECT 1", "not JSON"),
        ("a.sql", "-- nothing\n", "there is no query in it"),
        ("a.json", "[]", "there is no query in it"),
    ],
)
def test_a_file_without_queries_is_the_users_fault(tmp_path, name, text, message):
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=message):
        read_references(tmp_path / name)


def test_a_file_that_is_no_text_is_named(tmp_path):
    (tmp_path / "a.sql").write_bytes(b"\xff\xfe")
    with pytest.raises(UserError, match=r"a\.sql: not UTF-8"):
        read_references(tmp_path / "a.sql")


def test_a_wrong_shape_is_told_once(tmp_path):
    path = tmp_path / "refs.json"
    path.write_text('{"reference": "SELECT 1"}')
    with pytest.raises(UserError) as refused:
        read_references(path)
    assert str(refused.value) == f"{path}: expected a list, found dict; write a list of references"


@pytest.mark.parametrize(
    ("text", "message"), [("[" * 100_000, "not JSON"), (r'["SELECT 1", "SELECT \ud800"]', "item 2: holds half a surr")]
)
def test_json_that_python_cannot_read_or_write_is_the_users_fault(tmp_path, text, message):
    path = tmp_path / "refs.json"
    path.write_text(text)
    with pytest.raises(UserError, match=message):
        read_references(path)


def test_an_id_that_is_null_is_the_number_and_a_line_separator_is_part_of_a_text(tmp_path):
    path = tmp_path / "refs.jsonl"
    path.write_text('{"id": null, "sql": "SELECT 1"}\r\n\n"SELECT \'a\u2028b\'"\n', encoding="utf-8")
    assert read_references(path) == [Reference("1", "SELECT 1"), Reference("2", "SELECT 'a\u2028b'")]
