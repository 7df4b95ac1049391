"""A model's own tool format: what its template writes is read back; whatever a model writes is a call or nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from chat_templates import HERMES, NATIVE, REFUSES_CALLS, SHOWS_NO_CALL
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_policy import tokenizer_with

from sqldojo.agent.tool_format import PLAIN, TOOL_NAMES, ToolFormat, plain_format
from sqldojo.records import RUN_SQL, SUBMIT_SQL, ToolCall
from sqldojo.repair.tools import INSPECT_SCHEMA, REPAIR_TOOLS
from sqldojo.training.native_format import tool_format_of
from sqldojo.training.tiny_model import CHAT_TEMPLATE

ENDS = {"hermes": "</tool_call>", "minicpm5": "</function>", "qwen3_coder": "</tool_call>"}
QUERIES = (
    "SELECT 1",
    "SELECT 'it''s', \"a b\" FROM t",
    "SELECT *\nFROM t\n\nWHERE a < 3 AND b > 2 -- <b>",
    "SELECT 'é\\n', '{\"x\": [1]}' || char(10) FROM t",
    "SELECT a & b, '&amp;', ']]>', '</param>x' FROM t",
)
MARKUP = {
    "hermes": (
        "<tool_call>",
        "</tool_call>",
        '{"name": "',
        '", "arguments": {"sql": ',
        '"SELECT 1"',
        "}}",
        "[",
        "9e999",
    ),
    "minicpm5": ('<function name="', "<function", '">', "</function>", '<param name="sql">', "</param>", "<![CDATA["),
    "qwen3_coder": ("<tool_call>", "</tool_call>", "<function=", ">", "</function>", "<parameter=sql>", "</parameter>"),
}


@pytest.fixture(scope="module")
def formats(tmp_path_factory: pytest.TempPathFactory) -> dict[str, ToolFormat]:
    root = tmp_path_factory.mktemp("formats")
    found = {}
    for name, template in NATIVE.items():
        (root / name).mkdir()
        found[name] = tool_format_of(tokenizer_with(root / name, template))
    return found


def write(name: str, tool: str, sql: str) -> str:
    """A call as a model of that family writes it, put together here without its template."""
    if name == "hermes":
        return "<tool_call>" + json.dumps({"name": tool, "arguments": {"sql": sql}}) + "</tool_call>"
    if name == "minicpm5":
        return f'<function name="{tool}"><param name="sql">{sql}</param></function>'
    return f"<tool_call>\n<function={tool}>\n<parameter=sql>\n{sql}\n</parameter>\n</function>\n</tool_call>"


@pytest.mark.parametrize("name", NATIVE)
def test_a_parsable_template_gives_its_own_format(formats: dict[str, ToolFormat], name: str) -> None:
    found = formats[name]
    assert (found.name, found.call_ends, found.result_role, found.instructions) == ("native", (ENDS[name],), "tool", "")
    assert [schema["function"]["name"] for schema in found.schemas or ()] == list(TOOL_NAMES)


@pytest.mark.parametrize("sql", QUERIES)
@pytest.mark.parametrize("tool", TOOL_NAMES)
@pytest.mark.parametrize("name", NATIVE)
def test_rendered_calls_are_read_back(formats: dict[str, ToolFormat], name: str, tool: str, sql: str) -> None:
    text = formats[name].render(ToolCall(tool, sql))
    assert formats[name].parse(text) == ToolCall(tool, sql)
    assert formats[name].render(formats[name].parse(text)) == text
    assert text.endswith(ENDS[name]) and "<|im" not in text and "?" not in text
    assert sum(text.count(end) for end in formats[name].call_ends) == 1


def test_rendered_calls_are_what_the_families_write(formats: dict[str, ToolFormat]) -> None:
    assert {name: formats[name].render(ToolCall(RUN_SQL, "SELECT\n1")) for name in NATIVE} == {
        "hermes": '<tool_call>\n{"name": "run_sql", "arguments": {"sql": "SELECT\\n1"}}\n</tool_call>',
        "minicpm5": '<function name="run_sql"><param name="sql"><![CDATA[SELECT\n1]]></param></function>',
        "qwen3_coder": "<tool_call>\n<function=run_sql>\n"
        "<parameter=sql>\nSELECT\n1\n</parameter>\n</function>\n</tool_call>",
    }


@pytest.mark.parametrize("name", NATIVE)
def test_a_call_after_thoughts_or_prose_is_a_call(formats: dict[str, ToolFormat], name: str) -> None:
    call = write(name, SUBMIT_SQL, " SELECT 1 ")
    for text in (call, "<think>\nhm\n</think>\n\n" + call, "I shall submit:\n" + call + "\nDone."):
        assert formats[name].parse(text) == ToolCall(SUBMIT_SQL, "SELECT 1")


@pytest.mark.parametrize("name", NATIVE)
def test_anything_else_is_no_call(formats: dict[str, ToolFormat], name: str) -> None:
    call, end = write(name, RUN_SQL, "SELECT 1"), ENDS[name]
    replies = {
        "nothing": "",
        "prose": "The answer is 42.",
        "bare SQL": "```sql\nSELECT 1\n```",
        "unclosed": call.removesuffix(end),
        "unopened": call.partition(">")[2],
        "closed before it opens": end + call.removesuffix(end),
        "two calls": call + "\n" + write(name, SUBMIT_SQL, "SELECT 1"),
        "unknown tool": call.replace("run_sql", "drop_sql"),
        "no name": call.replace("run_sql", ""),
        "no query": write(name, RUN_SQL, " \n "),
        "wrong argument": call.replace("sql>", "query>").replace('"sql"', '"query"'),
        "plain tags": PLAIN.render(ToolCall(RUN_SQL, "SELECT 1")),
        "markers alone": call.partition(">")[0] + ">" + end,
    }
    assert {what: formats[name].parse(text) for what, text in replies.items()} == dict.fromkeys(replies)


@pytest.mark.parametrize(
    "inner",
    [
        '{"name": "run_sql", "arguments": {"sql": 1}}',
        '{"name": "run_sql", "arguments": {"sql": null}}',
        '{"name": "run_sql", "arguments": {"sql": ["SELECT 1"]}}',
        '{"name": "run_sql", "arguments": "SELECT 1"}',
        '{"name": "run_sql", "arguments": ["sql"]}',
        '{"name": ["run_sql"], "arguments": {"sql": "SELECT 1"}}',
        '{"name": {"run_sql": 1}, "arguments": {"sql": "SELECT 1"}}',
        '{"name": "run_sql"}',
        '["run_sql"]',
        '"run_sql"',
        "run_sql",
        "[]",
        '{"name": "run_sql", "arguments": {"sql": "SELECT 1"}',
        '[{"name": "run_sql", "arguments": {"sql": "1"}}, {"name": "run_sql", "arguments": {"sql": "2"}}]',
        "run_sql" + "[" * 100_000,
        '{"name": "run_sql", "arguments": ' + "[" * 100_000,
        '{"name": "run_sql", "arguments": ' + "9" * 10_000 + "}",
    ],
)
def test_json_of_another_shape_is_no_call(formats: dict[str, ToolFormat], inner: str) -> None:
    assert formats["hermes"].parse(f"<tool_call>{inner}</tool_call>") is None


def test_two_calls_within_one_pair_of_tags_are_no_call(formats: dict[str, ToolFormat]) -> None:
    one, two = (write("qwen3_coder", tool, f"SELECT '{tool[:3]}'") for tool in TOOL_NAMES)
    merged = one.removesuffix("</tool_call>") + two.removeprefix("<tool_call>\n")
    assert merged.count("<tool_call>") == merged.count("</tool_call>") == 1
    assert formats["qwen3_coder"].parse(merged) is None


@pytest.mark.parametrize("name", NATIVE)
def test_no_reply_raises(formats: dict[str, ToolFormat], name: str) -> None:
    pieces = st.sampled_from((*MARKUP[name], *TOOL_NAMES, "SELECT 1", '"', "null", " ", "é")) | st.text(max_size=3)

    @settings(max_examples=150, deadline=None, derandomize=True, database=None)
    @given(st.lists(pieces, max_size=14).map("".join))
    def check(text: str) -> None:
        for reply in (text, MARKUP[name][0] + text + ENDS[name]):
            call = formats[name].parse(reply)
            assert call is None or (call.name in TOOL_NAMES and call.sql == call.sql.strip() != "")

    check()


@pytest.mark.parametrize("template", [CHAT_TEMPLATE, REFUSES_CALLS], ids=["none", "refusing"])
def test_a_template_without_calls_falls_back_to_the_plain_format(tmp_path: Path, template: str) -> None:
    tokenizer = tokenizer_with(tmp_path, template)
    assert tokenizer.has_tool_calling == (template != CHAT_TEMPLATE)
    assert tool_format_of(tokenizer) is PLAIN


def test_a_call_that_a_template_does_not_show_is_the_text_of_a_turn(tmp_path: Path) -> None:
    """If the template declares the tools and says how to call; if it leaves out the tools, no format is its own."""
    found = tool_format_of(tokenizer_with(tmp_path, SHOWS_NO_CALL))
    assert (found.name, found.calls_in_content, found.call_ends) == ("native", True, ("</tool_call>",))
    call = ToolCall(RUN_SQL, "SELECT\n1")
    assert found.render(call) == '<tool_call>\n{"name": "run_sql", "arguments": {"sql": "SELECT\\n1"}}\n</tool_call>'
    assert found.parse(found.render(call)) == call
    assert tool_format_of(tokenizer_with(tmp_path, SHOWS_NO_CALL.replace("tool | tojson", "loop.index"))) is PLAIN


def test_a_format_without_an_end_falls_back_to_the_plain_format(tmp_path: Path) -> None:
    """Mistral's calls end with the turn, so nothing in the text says that one is complete."""
    tokenizer = tokenizer_with(tmp_path, HERMES.replace("<tool_call>", "[TOOL_CALLS]").replace("</tool_call>", ""))
    assert (tokenizer.has_tool_calling, tokenizer.tool_call_end) == (True, "")
    assert tool_format_of(tokenizer) is PLAIN


def test_a_parsers_own_fault_is_not_hidden(tmp_path: Path) -> None:
    tokenizer = tokenizer_with(tmp_path, HERMES)
    tokenizer._tool_parser = lambda *_: 1 / 0
    with pytest.raises(ZeroDivisionError):
        tool_format_of(tokenizer)


REPAIR_CALLS = [
    ToolCall(INSPECT_SCHEMA, ""),
    ToolCall(INSPECT_SCHEMA, 'a "b"'),
    ToolCall(RUN_SQL, "SELECT\n1"),
    ToolCall(SUBMIT_SQL, "SELECT 2"),
]


@pytest.mark.parametrize("name", NATIVE)
def test_the_repair_tools_are_called_natively_too(tmp_path: Path, name: str) -> None:
    found = tool_format_of(tokenizer_with(tmp_path, NATIVE[name]), REPAIR_TOOLS)
    assert found.name == "native" and found.tools == REPAIR_TOOLS
    assert [schema["function"]["name"] for schema in found.schemas or ()] == [tool.name for tool in REPAIR_TOOLS]
    for call in REPAIR_CALLS:
        assert found.parse(found.render(call)) == call
        assert found.parse(f"Well.\n{found.render(call)}") == call
    assert found.parse(found.render(REPAIR_CALLS[0]) + found.render(REPAIR_CALLS[2])) is None
    assert found.parse(write(name, "drop_sql", "x")) is None


def test_without_a_native_format_the_repair_tools_have_plain_tags(tmp_path: Path) -> None:
    assert tool_format_of(tokenizer_with(tmp_path, CHAT_TEMPLATE), REPAIR_TOOLS) is plain_format(REPAIR_TOOLS)
