"""Plain tags: what is a call, what is prose, and that rendering and parsing are inverse."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sqldojo.agent.tool_format import (
    ANSWER_TOOLS,
    PLAIN,
    TOOL_NAMES,
    Tool,
    arguments_of,
    call_with,
    parse_plain,
    plain_format,
    render_plain,
    tool_schemas,
)
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


LOOK = Tool("look_at", "what", "Look at something, or around.", may_be_empty=True, example="")
WITH_LOOK = (LOOK, *ANSWER_TOOLS)


def test_the_answer_tools_prompt_is_what_models_were_trained_with():
    assert PLAIN.instructions == (
        "<run_sql>SELECT ...</run_sql> Run one SQLite query and see its first rows.\n"
        "<submit_sql>SELECT ...</submit_sql> Submit the query whose result answers the question. This ends the task."
    )
    assert PLAIN.call_ends == ("</run_sql>", "</submit_sql>")
    assert tool_schemas()[0] == {
        "type": "function",
        "function": {
            "name": "run_sql",
            "description": "Run one SQLite query and see its first rows.",
            "parameters": {"type": "object", "properties": {"sql": {"type": "string"}}, "required": ["sql"]},
        },
    }


def test_a_format_is_made_once_for_its_tools():
    assert plain_format(ANSWER_TOOLS) is PLAIN
    assert plain_format(WITH_LOOK) is plain_format(WITH_LOOK) is not PLAIN


@pytest.mark.parametrize(
    ("text", "call"),
    [
        ("<look_at></look_at>", ToolCall("look_at", "")),
        ("<look_at> \n </look_at>", ToolCall("look_at", "")),
        ("I see. <look_at> a b </look_at>", ToolCall("look_at", "a b")),
        ("<run_sql>SELECT 1</run_sql>", ToolCall(RUN_SQL, "SELECT 1")),
        ("<run_sql></run_sql>", None),
        ("<look_at></look_at><run_sql>SELECT 1</run_sql>", None),
        ("<look_at/>", None),
    ],
)
def test_a_tool_may_be_called_with_nothing_if_it_says_so(text, call):
    shown = plain_format(WITH_LOOK)
    assert shown.parse(text) == call
    assert call is None or shown.parse(shown.render(call)) == call
    assert parse_plain("<look_at></look_at>") is None  # the answer tools have no such tool


def test_other_tools_have_instructions_ends_and_schemas_of_their_own():
    shown = plain_format(WITH_LOOK)
    assert shown.instructions == f"<look_at></look_at> Look at something, or around.\n{PLAIN.instructions}"
    assert shown.call_ends == ("</look_at>", *PLAIN.call_ends) and shown.tools == WITH_LOOK
    parameters = tool_schemas(WITH_LOOK)[0]["function"]["parameters"]
    assert parameters == {"type": "object", "properties": {"what": {"type": "string"}}, "required": []}


@pytest.mark.parametrize(
    ("name", "arguments", "call"),
    [
        ("look_at", {"what": " x "}, ToolCall("look_at", "x")),
        ("look_at", {}, ToolCall("look_at", "")),
        ("look_at", {"what": None}, ToolCall("look_at", "")),
        ("look_at", {"sql": "x"}, ToolCall("look_at", "")),
        ("look_at", {"what": 1}, None),
        ("look_at", None, None),
        (RUN_SQL, {"sql": "SELECT 1", "more": 2}, ToolCall(RUN_SQL, "SELECT 1")),
        (RUN_SQL, {"what": "SELECT 1"}, None),
        (RUN_SQL, {"sql": None}, None),
        (["look_at"], {}, None),
        ("drop", {"sql": "x"}, None),
    ],
)
def test_a_call_is_made_of_a_name_and_json(name, arguments, call):
    assert call_with(name, arguments, WITH_LOOK) == call


def test_an_empty_argument_is_left_out():
    assert arguments_of(ToolCall("look_at", ""), WITH_LOOK) == {}
    assert arguments_of(ToolCall("look_at", "x"), WITH_LOOK) == {"what": "x"}
    assert arguments_of(ToolCall(SUBMIT_SQL, "x")) == {"sql": "x"}
