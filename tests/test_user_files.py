import gzip

import pytest
from sqlite_files import write_database

from sqldojo.databases.parameters import pool
from sqldojo.errors import UserError
from sqldojo.user_files import as_database, check_replaceable

SCRIPT = "CREATE TABLE boat (name TEXT); INSERT INTO boat VALUES ('Ada');"


def test_a_database_a_script_and_a_gzipped_script_are_databases(tmp_path):
    write_database(tmp_path / "boats.sqlite", SCRIPT)
    (tmp_path / "boats.sql").write_text(SCRIPT, encoding="utf-8")
    (tmp_path / "boats.sql.gz").write_bytes(gzip.compress(SCRIPT.encode()))
    for path in sorted(tmp_path.iterdir()):
        with as_database(path) as database:
            assert database != path and pool(database, "SELECT name FROM boat") == ["Ada"]
    assert len(list(tmp_path.iterdir())) == 3


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\xff\xfe\x00", "neither a SQLite database nor a SQL script"),
        # The time of writing, which gzip puts into its head, would be in the test's name and differ between workers.
        (gzip.compress(SCRIPT.encode(), mtime=0)[:-9], "neither a SQLite database nor a SQL script"),
        (b"CREATE TABLE", "the script that builds the database fails"),
    ],
    ids=["no_text", "a_gzip_cut_short", "half_a_statement"],
)
def test_anything_else_is_the_users_fault_and_named(tmp_path, content, said):
    (tmp_path / "boats").write_bytes(content)
    with pytest.raises(UserError) as error, as_database(tmp_path / "boats"):
        pass
    assert str(error.value).startswith(str(tmp_path / "boats")) and said in str(error.value)


def test_only_an_earlier_result_may_be_replaced(tmp_path):
    check_replaceable(tmp_path / "new", ("a",), "bank")
    (tmp_path / "a").touch()
    check_replaceable(tmp_path, ("a", "b"), "bank")
    with pytest.raises(UserError, match="holds a, which is no part of a bank"):
        check_replaceable(tmp_path, ("b",), "bank")
    with pytest.raises(UserError, match="is a file; give a folder"):
        check_replaceable(tmp_path / "a", ("a",), "bank")
    with pytest.raises(UserError, match="is a file, so"):
        check_replaceable(tmp_path / "a" / "b", ("a",), "bank")
