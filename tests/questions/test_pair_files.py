import json

import pytest

from sqldojo.errors import UserError
from sqldojo.questions.from_pairs import Pair
from sqldojo.questions.pair_files import read_pairs

ONE = {"id": "a", "db_id": "boats", "question": "All?", "query": "SELECT 1 ;"}
TWO = {"question": "None?", "sql": "SELECT 2"}


def test_lines_and_a_list_are_read_alike(tmp_path):
    lines, items = tmp_path / "pairs.jsonl", tmp_path / "pairs.json"
    lines.write_text(f"{json.dumps(ONE)}\n\n{json.dumps(TWO)}\n", encoding="utf-8")
    items.write_text(json.dumps([ONE, TWO], indent=2), encoding="utf-8")
    first = Pair("a", "boats", "All?", "SELECT 1 ")
    assert read_pairs(lines, "boats") == [first, Pair("line 3", "boats", "None?", "SELECT 2")]
    assert read_pairs(items, "boats") == [first, Pair("item 2", "boats", "None?", "SELECT 2")]


@pytest.mark.parametrize(
    ("text", "database", "said"),
    [
        ("", None, "there is no pair in it"),
        ("[]", None, "there is no pair in it"),
        ("[", None, "not JSON"),
        (f"{json.dumps(ONE)}\n{{", None, "line 2: not JSON"),
        ('"SELECT 1"', None, "line 1: expected an object, found str"),
        (json.dumps(ONE | {"question": " "}), None, "line 1: the key `question` is missing"),
        (json.dumps({"db_id": "boats", "question": "All?"}), None, "line 1: the key `query` is missing"),
        (json.dumps(ONE | {"query": 3}), None, "line 1: the key `query` is missing or no text"),
        (json.dumps([ONE, TWO]), None, "item 2: the key `db_id` is missing"),
        (json.dumps(ONE | {"question": "\ud800"}), None, "line 1: `question` holds half a surrogate pair"),
        (json.dumps([ONE, TWO]), "ships", "about 2 databases"),
    ],
)
def test_a_malformed_file_is_named_with_the_line_and_the_key(tmp_path, text, database, said):
    path = tmp_path / "pairs.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UserError) as error:
        read_pairs(path, database)
    assert str(error.value).startswith(str(path)) and said in str(error.value)


def test_a_file_in_another_encoding_is_named(tmp_path):
    (tmp_path / "pairs.jsonl").write_bytes(b"\xff\xfe")
    with pytest.raises(UserError, match="not UTF-8"):
        read_pairs(tmp_path / "pairs.jsonl", None)
