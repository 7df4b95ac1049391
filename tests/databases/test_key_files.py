"""The file of foreign keys: written and read back, and each mistake told with file, entry and remedy."""

import pytest
from awkward_database import awkward

from sqldojo.databases.key_files import keys_text, read_keys
from sqldojo.databases.schema_model import ForeignKey, read_schema
from sqldojo.errors import UserError

KEYS = {
    "order": [ForeignKey(("group_id",), "group", ("id",))],
    'odd "name" x': [ForeignKey(('a"b', "c;d"), "line item", ("order_id", "number"))],
}


@pytest.fixture(scope="module")
def schema(tmp_path_factory):
    return read_schema(awkward(tmp_path_factory.mktemp("keys") / "awkward.sqlite"))


def test_what_is_written_is_read_back(schema, tmp_path):
    path = tmp_path / "keys.yaml"
    path.write_text(keys_text(KEYS), encoding="utf-8")
    assert read_keys(path, schema) == KEYS
    line = '  - {table: "order", columns: ["group_id"], parent: "group", parent_columns: ["id"]}'
    assert line in path.read_text("utf-8").splitlines()


def test_an_empty_document_leaves_keys_to_be_inferred_and_an_empty_list_says_that_there_are_none(schema, tmp_path):
    path = tmp_path / "keys.yaml"
    path.write_text("# nothing\n{}\n", encoding="utf-8")
    assert read_keys(path, schema) is None
    path.write_text(keys_text({}), encoding="utf-8")
    assert read_keys(path, schema) == {}


def test_names_are_spelt_as_in_the_schema_and_declared_keys_are_passed_over(schema, tmp_path):
    path = tmp_path / "keys.yaml"
    path.write_text(
        "foreign_keys:\n"
        "- {table: ORDER, columns: [Group_ID], parent: Group, parent_columns: [ID]}\n"
        "- {table: line item, columns: [order_id], parent: order, parent_columns: [id]}\n",
        encoding="utf-8",
    )
    assert read_keys(path, schema) == {"order": KEYS["order"]}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("keys: []", "expected `{}` or a list under `foreign_keys`, found {'keys': \\[\\]}; an entry is - {t"),
        ("foreign_keys: yes", "expected `{}` or a list"),
        ("foreign_keys: [a]", "entry 1: expected the keys table, columns, parent, parent_columns, found 'a'"),
        ("foreign_keys: [{table: order, columns: [id], parent: club, parent_columns: [id]}]",
         "entry 1: parent: there is no 'club' in the database \\(known: .*group.*if the file is another database's"),
        ("foreign_keys: [{table: order, columns: [club_id], parent: group, parent_columns: [id]}]",
         "entry 1 \\(order\\): columns: there is no 'club_id' in the database"),
        ("foreign_keys: [{table: order, columns: id, parent: group, parent_columns: [id]}]",
         "columns: expected a list of names, found 'id'"),
        ("foreign_keys: [{table: note, columns: [order_id, number], parent: order, parent_columns: [id]}]",
         "2 columns refer to 1; name as many of both"),
    ],
)  # fmt: skip
def test_mistakes(schema, tmp_path, text, message):
    path = tmp_path / "keys.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=f"keys.yaml: .*{message}"):
        read_keys(path, schema)
