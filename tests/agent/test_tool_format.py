"""Plain tags: what is a call, what is prose, and that rendering and parsing are inverse."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqldojo.agent.tool_format import PLAIN, TOOL_NAMES, parse_plain, render_plain, tool_schemas
from sqldojo.records import RUN_SQL, SUBMIT_SQL, ToolCall

fixed = settings(derandomize=True, database=None, deadline=None, max_examples=150)


@fixed
@given(st.sampled_from(TOOL_NAMES), st.text(min_size=1))
def test_parsing_undoes_rendering(name, sql):
    call = ToolCall(name, sql.strip())
    if call.sql and f"</{name}>" not in sql:
        assert parse_plain(render_plain(call)) == call


@fixed
@given(st.text(alphabet="<>/ runsubmit_qlSELECT1\n"))
def test_whatever_a_model_writes_is_a_call_or_prose(text):
    call = parse_plain(text)
    assert call is None or (call.name in TOOL_NAMES and call.sql.strip() == call.sql != "")


@pytest.mark.parametrize(
    ("text", "call"),
    [
        ("<run_sql>SELECT 1</run_sql>", ToolCall(RUN_SQL, "SELECT 1")),
        ("Let me see.\n<run_sql>\nSELECT a,\n  b FROM t\n</run_sql>", ToolCall(RUN_SQL, "SELECT a,\n  b FROM t")),
        ("<submit_sql>SELECT '<b>' <> '</b>'</submit_sql>", ToolCall(SUBMIT_SQL, "SELECT '<b>' <> '</b>'")),
        ("<submit_sql>not even SQL</submit_sql> Done!", ToolCall(SUBMIT_SQL, "not even SQL")),
    ],
)  # fmt: skip
def test_one_call_is_read_whatever_stands_around_it(text, call):
    assert parse_plain(text) == call


@pytest.mark.parametrize(
    "text",
    [
        "", "SELECT 1", "The answer is 42.", "<run_sql>", "<run_sql>SELECT 1", "SELECT 1</run_sql>",
        "<run_sql>SELECT 1</submit_sql>", "<run_sql></run_sql>", "<submit_sql> \n </submit_sql>",
        "<drop_table>x</drop_table>", "<RUN_SQL>SELECT 1</RUN_SQL>", "<run_sql >SELECT 1</run_sql >",
        "<run_sql>SELECT 1</run_sql><run_sql>SELECT 2</run_sql>",
        "<run_sql>SELECT 1</run_sql>\n<submit_sql>SELECT 1</submit_sql>", '{"name": "run_sql", "sql": "SELECT 1"}',
    ],
)  # fmt: skip
def test_anything_else_is_prose(text):
    assert parse_plain(text) is None


def test_a_call_ends_where_the_format_says():
    for name in TOOL_NAMES:
        text = render_plain(ToolCall(name, "SELECT 1"))
        assert any(text.endswith(end) for end in PLAIN.call_ends)
        assert not any(end in text[:-1] for end in PLAIN.call_ends)


def test_instructions_show_each_tool_as_it_is_parsed():
    lines = PLAIN.instructions.splitlines()
    assert [parse_plain(line) for line in lines] == [ToolCall(name, "SELECT ...") for name in TOOL_NAMES]


def test_schemas_describe_both_tools():
    assert [schema["function"]["name"] for schema in tool_schemas()] == ["run_sql", "submit_sql"]
    for schema in tool_schemas():
        assert schema["function"]["parameters"]["required"] == ["sql"]
        assert schema["function"]["description"]
