"""What the repair agent is told, to the letter."""

from dataclasses import replace

from repair_tasks import JOIN, PLAIN, SETUP, TASKS

from sqldojo.repair.prompt import opening


def test_the_system_prompt_is_the_same_for_all_tasks():
    assert len({opening(task, PLAIN)[0] for task in TASKS}) == 1
    assert opening(JOIN, PLAIN)[0].content == (
        "You repair SQL queries on a SQLite database. Find out why the user's query does not do what they want.\n"
        f"{PLAIN.instructions}\n"
        "Make one call at a time and none twice."
    )


def test_the_user_tells_the_issue_and_the_query():
    assert opening(JOIN, PLAIN)[1].content == f"{JOIN.issue}\n\nMy query:\n{JOIN.issue_sql[0]}"


def test_what_runs_before_is_told_statement_by_statement():
    content = opening(SETUP, PLAIN)[1].content
    assert content.endswith(
        "\n\nRun before it:\nCREATE TEMP TABLE restock (book_id INTEGER, copies INTEGER);\n"
        "INSERT INTO restock VALUES (1, 4), (1, 9), (2, 10), (3, 25);"
    )


def test_several_statements_end_with_semicolons():
    several = replace(JOIN, issue_sql=(" UPDATE book SET price = 1; ", "DELETE FROM author"))
    assert opening(several, PLAIN)[1].content.endswith("My query:\nUPDATE book SET price = 1;\nDELETE FROM author;")


def test_a_native_format_leaves_no_empty_line():
    native = replace(PLAIN, instructions="")
    assert opening(JOIN, native)[0].content.count("\n") == 1
