"""Each family of models by its chat template: its format, there and back, and what a model makes of it on a bad day."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import pytest
from chat_templates import GEMMA3, HERMES, LFM2, LLAMA3, LLAMA3_TAGGED, MINICPM5, QWEN3_5, QWEN3_CODER, SMOLLM3
from hypothesis import given, settings
from hypothesis import strategies as st
from mlx_lm.tokenizer_utils import TokenizerWrapper
from tiny_policy import SCHEMA, tokenizer_with
from tokenizers import AddedToken

from sqldojo.agent.prompt import opening
from sqldojo.agent.tool_format import PLAIN, TOOL_NAMES, ToolFormat, without_thought
from sqldojo.records import RUN_SQL, SUBMIT_SQL, ToolCall
from sqldojo.repair.tools import INSPECT_SCHEMA, REPAIR_TOOLS
from sqldojo.training.chat_template import TODAY, assistant_message, on_a_fixed_day, render
from sqldojo.training.dialogue import Dialogue
from sqldojo.training.native_format import tool_format_of


@dataclass(frozen=True)
class Family:
    """A template and what is expected of it: a call of `run_sql` with SELECT and a newline, as the family writes it."""

    template: str
    call: str
    end: str
    in_content: bool = False
    before_reply: str = "<|im_start|>assistant\n"


EMPTY_THOUGHT = "<think>\n\n</think>\n\n"
LLAMA_CALL = '{"name": "run_sql", "parameters": {"sql": "SELECT\\n1"}}'
LLAMA_TURN = "<|start_header_id|>assistant<|end_header_id|>\n\n"
CODER_CALL = "<tool_call>\n<function=run_sql>\n<parameter=sql>\nSELECT\n1\n</parameter>\n</function>\n</tool_call>"
HERMES_CALL = '<tool_call>\n{"name": "run_sql", "arguments": {"sql": "SELECT\\n1"}}\n</tool_call>'
THINKER = "<|im_start|>assistant\n" + EMPTY_THOUGHT
FAMILIES = {
    "qwen3": Family(HERMES, HERMES_CALL, "</tool_call>", before_reply=THINKER),
    "qwen3_coder": Family(QWEN3_CODER, CODER_CALL, "</tool_call>", before_reply=THINKER),
    "qwen3_5": Family(QWEN3_5, CODER_CALL, "</tool_call>", before_reply=THINKER),
    "minicpm5": Family(
        MINICPM5, '<function name="run_sql"><param name="sql"><![CDATA[SELECT\n1]]></param></function>', "</function>",
        before_reply=THINKER,
    ),
    "llama3": Family(LLAMA3, LLAMA_CALL, "}", before_reply=LLAMA_TURN),
    "llama3_tagged": Family(LLAMA3_TAGGED, "<|python_tag|>" + LLAMA_CALL, "}", before_reply=LLAMA_TURN),
    "lfm2": Family(
        LFM2, '<|tool_call_start|>[run_sql(sql="SELECT\\n1")]<|tool_call_end|>', "<|tool_call_end|>", in_content=True
    ),
    "smollm3": Family(
        SMOLLM3, HERMES_CALL, "</tool_call>", in_content=True,
        before_reply="<|im_start|>assistant\n<think>\n\n</think>\n",
    ),
}  # fmt: skip
QUERIES = (
    "SELECT 1",
    "SELECT 'it''s', \"a b\" FROM t",
    "SELECT *\nFROM t\n\nWHERE a < 3 AND b > 2 -- <b>",
    "SELECT 'é\\n', '{\"x\": [1]}}' || char(10) FROM t\tWHERE [a] = '('",
    "SELECT a & b, '&amp;', ']]>', '</param>x', '<![CDATA[' FROM t",
    "SELECT 'run_sql', '<tool_call>', '</function>', '<function name=' FROM submit_sql",
)
RESULTS = ("name | age\nZoë | \"41\"", "(no rows)", " a\\b \n", "Error: near \"'\": syntax error", "")
# What a format cannot carry, because its own reader ends there.
CANNOT = dict.fromkeys(("qwen3", "qwen3_coder", "qwen3_5", "smollm3"), ("<tool_call>",))


@pytest.fixture(scope="module")
def tokenizers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, TokenizerWrapper]:
    root = tmp_path_factory.mktemp("families")
    found = {}
    for name, template in {**{name: family.template for name, family in FAMILIES.items()}, "gemma3": GEMMA3}.items():
        (root / name).mkdir()
        found[name] = tokenizer_with(root / name, template)
    return found


@pytest.fixture(scope="module")
def formats(tokenizers: Mapping[str, TokenizerWrapper]) -> dict[str, ToolFormat]:
    return {name: tool_format_of(tokenizer) for name, tokenizer in tokenizers.items()}


def carried(name: str) -> list[str]:
    return [sql for sql in QUERIES if not any(mark in sql for mark in CANNOT.get(name, ()))]


@pytest.mark.parametrize("name", FAMILIES)
def test_a_format_is_known_by_its_template(formats: dict[str, ToolFormat], name: str) -> None:
    found, family = formats[name], FAMILIES[name]
    assert (found.name, found.call_ends, found.result_role) == ("native", (family.end,), "tool")
    assert found.calls_in_content == family.in_content and found.instructions == ""
    assert [schema["function"]["name"] for schema in found.schemas or ()] == list(TOOL_NAMES)
    assert found.render(ToolCall(RUN_SQL, "SELECT\n1")) == family.call


def test_gemma_is_told_of_plain_tags(
    tokenizers: Mapping[str, TokenizerWrapper], formats: dict[str, ToolFormat]
) -> None:
    """Its template has no place for tools: they are in the system prompt, and results in the user's turns."""
    assert formats["gemma3"] is PLAIN
    dialogue = Dialogue(tokenizers["gemma3"], PLAIN)
    shown = dialogue.tokenizer.decode(dialogue.prompt(opening("How many?", SCHEMA, PLAIN)))
    assert shown.startswith("<bos><start_of_turn>user\nYou answer") and PLAIN.instructions in shown
    assert shown.endswith("\n\nHow many?<end_of_turn>\n<start_of_turn>model\n")
    bridge = dialogue.tokenizer.decode(dialogue.bridge(" 7\n"))  # it trims what is said
    assert bridge == "<end_of_turn>\n<start_of_turn>user\n7<end_of_turn>\n<start_of_turn>model\n"


@pytest.mark.parametrize("tool", TOOL_NAMES)
@pytest.mark.parametrize("name", FAMILIES)
def test_calls_come_back_and_are_written_the_same_again(formats: dict[str, ToolFormat], name: str, tool: str) -> None:
    for sql in carried(name):
        text = formats[name].render(ToolCall(tool, sql))
        assert formats[name].parse(text) == ToolCall(tool, sql), sql
        assert formats[name].render(formats[name].parse(text)) == text


@pytest.mark.parametrize("name", [*FAMILIES, "gemma3"])
def test_the_pieces_are_the_templates_own_tokens(
    tokenizers: Mapping[str, TokenizerWrapper], formats: dict[str, ToolFormat], name: str
) -> None:
    """Prompt, calls and results, each rendered by itself, against one rendering of the whole dialogue."""
    dialogue = Dialogue(tokenizers[name], formats[name])
    prompt = opening(" How many?\n", SCHEMA, formats[name])
    for result in RESULTS:
        pieces = [dialogue.prompt(prompt)]
        messages = [{"role": message.role, "content": message.content} for message in prompt]
        for sql in carried(name)[:3]:
            call = ToolCall(RUN_SQL, sql)
            pieces += [dialogue.action(call), dialogue.bridge(result)]
            in_content = formats[name].calls_in_content or formats[name] is PLAIN
            said = {"role": "assistant", "content": formats[name].render(call)}
            messages += [said if in_content else assistant_message(call)]
            messages += [{"role": formats[name].result_role, "content": result}]
        whole = render(dialogue.tokenizer, messages, formats[name].schemas, add_generation_prompt=True)
        tokens = [token for piece in pieces for token in piece]
        shown = dialogue.tokenizer.decode(tokens)
        if EMPTY_THOUGHT not in whole.rpartition(EMPTY_THOUGHT)[0]:  # it drops those of earlier turns
            before, thought, last = shown.rpartition(EMPTY_THOUGHT)
            shown = before.replace(thought, "") + thought + last if thought else shown
        assert shown == whole
        if shown == dialogue.tokenizer.decode(tokens):
            assert tokens == dialogue.tokenizer.encode(whole, add_special_tokens=False)


@pytest.mark.parametrize("name", FAMILIES)
def test_thinking_is_off_and_the_day_is_fixed(
    tokenizers: Mapping[str, TokenizerWrapper], formats: dict[str, ToolFormat], name: str
) -> None:
    dialogue = Dialogue(tokenizers[name], formats[name])
    shown = dialogue.tokenizer.decode(dialogue.prompt(opening("How many?", SCHEMA, formats[name])))
    assert shown.endswith(FAMILIES[name].before_reply)
    assert all(tool in shown for tool in TOOL_NAMES)
    assert ("2024" in shown) == ("strftime_now" in FAMILIES[name].template)
    assert str(date.today().year) not in shown or date.today().year == TODAY.year
    assert "Reasoning Mode: /think" not in shown


@pytest.mark.parametrize(
    ("template", "shown"),
    [
        ("{{ strftime_now('%d %b %Y') }}", "{{ '26 Jul 2024' }}"),
        ('{% set x = strftime_now( "%d %B %Y" ) %}', "{% set x = '26 July 2024' %}"),
        ("{% if strftime_now %}{{ strftime_now(x) }}", "{% if strftime_now %}{{ strftime_now(x) }}"),
        ("{{ my_strftime_now('%Y') }}", "{{ my_strftime_now('%Y') }}"),
    ],
)  # fmt: skip
def test_only_a_written_format_is_replaced(template: str, shown: str) -> None:
    assert on_a_fixed_day(template) == shown


@pytest.mark.parametrize("name", FAMILIES)
def test_a_call_is_over_where_it_ends_and_no_earlier(formats: dict[str, ToolFormat], name: str) -> None:
    """As a rollout asks: after each character of the reply. What is cut there is the call."""
    for sql in carried(name):
        call = formats[name].render(ToolCall(SUBMIT_SQL, sql))
        for before in ("", "Let me see. "):
            said = before + call + "\nand so on }"
            over = next(end for end in range(len(said) + 1) if formats[name].is_over(said[:end]))
            assert said[:over] == before + call, sql


def replies(name: str) -> dict[str, tuple[str, bool]]:
    """Replies of a model of that family, and whether each is a call of `run_sql` with SELECT, newline, 1."""
    family = FAMILIES[name]
    call = family.call
    other = call.replace("run_sql", "submit_sql")
    return {
        "the call": (call, True),
        "prose around": (f"I shall look.\n{call}\nThat is all.", True),
        "a thought before": (f"<think>\nrun_sql {other} or\n</think>\n\n{call}", True),
        "a thought that does not end": (f"<think>\n{call}", False),
        "nothing": ("", False),
        "prose": ("The answer is 42.", False),
        "bare SQL": ("```sql\nSELECT\n1\n```", False),
        "unclosed": (call.removesuffix(family.end), False),
        "cut in the SQL": (call[: call.index("SELECT") + 3], False),
        "two calls": (f"{call}\n{other}", False),
        "the same twice": (call + call, False),
        "another tool": (call.replace("run_sql", "drop_sql"), False),
        "no tool": (call.replace("run_sql", ""), False),
        "another argument": (call.replace('"sql"', '"q"').replace("=sql>", "=q>").replace("sql=", "q="), False),
        "plain tags": (PLAIN.render(ToolCall(RUN_SQL, "SELECT\n1")), False),
    }


def xml(value: str) -> str:
    return f'<function name="run_sql"><param name="sql">{value}</param></function>'


def pythonic(arguments: str) -> str:
    return f"<|tool_call_start|>[run_sql({arguments})]<|tool_call_end|>"


def tagged(inner: str) -> str:
    return f"<tool_call>{inner}</tool_call>"


TWO_IN_A_LIST = 'sql="SELECT\\n1"), submit_sql(sql="SELECT 2"'
# Replies of single families, each with whether it is that call, or the SQL that it carries.
OWN_REPLIES: dict[str, dict[str, tuple[str, bool | str]]] = {
    "minicpm5": {
        "no CDATA": (xml("SELECT\n1"), True),
        "entities": (xml("SELECT 1 &lt; 2 &amp; 3"), "SELECT 1 < 2 & 3"),
        "entities in CDATA": (xml("<![CDATA[SELECT '&lt;']]>"), "SELECT '&lt;'"),
        "spaces about CDATA": (xml("\n <![CDATA[ SELECT\n1 ]]>\n").replace('"', "'"), True),
        "unclosed CDATA": (xml("<![CDATA[SELECT\n1"), False),
        "unclosed parameter": (xml("SELECT\n1").replace("</param>", ""), False),
        "text among parameters": (xml("SELECT\n1").replace("<param", "so<param"), False),
        "end within CDATA": (xml("<![CDATA[SELECT '</param></function>']]>"), "SELECT '</param></function>'"),
    },
    "qwen3": {
        "single quotes": (tagged("{'name': 'run_sql', 'arguments': {'sql': 'SELECT 1'}}"), False),
        "a raw newline": (tagged('{"name": "run_sql", "arguments": {"sql": "SELECT\n1"}}'), False),
        "unescaped quotes": (tagged('{"name": "run_sql", "arguments": {"sql": "SELECT "a""}}'), False),
        "a list of one": (tagged('[{"name": "run_sql", "arguments": {"sql": "SELECT\\n1"}}]'), True),
        "another family's": (CODER_CALL, False),
    },
    "qwen3_5": {
        "on one line": (tagged("<function=run_sql><parameter=sql>SELECT\n1</parameter></function>"), True),
        "unclosed parameter": (CODER_CALL.replace("</parameter>\n", ""), False),
        "unclosed function": (CODER_CALL.replace("</function>\n", ""), False),
        "no outer tag": (CODER_CALL.removeprefix("<tool_call>\n"), False),
        "two in one tag": (tagged(2 * CODER_CALL.removeprefix("<tool_call>").removesuffix("</tool_call>")), False),
        "another family's": (HERMES_CALL, False),
    },
    "llama3": {
        "arguments": (LLAMA_CALL.replace("parameters", "arguments"), True),
        "a type beside them": (LLAMA_CALL.replace('{"name"', '{"type": "function", "name"'), True),
        "the python tag": ("<|python_tag|>" + LLAMA_CALL, True),
        "in a fence": (f"```json\n{LLAMA_CALL}\n```", True),
        "two with a semicolon": (f"{LLAMA_CALL}; {LLAMA_CALL}", False),
        "called as a method": ('<|python_tag|>run_sql.call(sql="SELECT\\n1")', True),
        "a method that does not end": ('<|python_tag|>run_sql.call(sql="SELECT\\n1"', False),
        "another method": ('<|python_tag|>drop_sql.call(sql="SELECT\\n1")', False),
        "code as an argument": ("<|python_tag|>run_sql.call(sql=open('x').read())", False),
        "no object of parameters": ('{"name": "run_sql", "parameters": "SELECT\\n1"}', False),
        "an empty object": ("{}", False),
        "deep nesting": ('{"name": "run_sql", "parameters": ' + "[" * 50_000, False),
        "many braces": ("{" * 3_000, False),
    },
    "lfm2": {
        "single quotes": (pythonic("sql='SELECT\\n1'"), True),
        "a raw newline": (pythonic('sql="SELECT\n1"'), True),
        "three quotes": (pythonic('sql=\"\"\"SELECT\n1\"\"\"'), True),
        "two in the list": (pythonic(TWO_IN_A_LIST), False),
        "no name of the argument": (pythonic('"SELECT\\n1"'), False),
        "a number": (pythonic("sql=1"), False),
        "no quotes": (pythonic("sql=SELECT a, b FROM t"), False),
        "quotes in quotes": (pythonic('sql="SELECT "a", b FROM t"'), False),
        "code": (pythonic("sql=open('x')"), False),
        "deep nesting": (pythonic("sql=" + "(" * 5_000), False),
    },
}


@pytest.mark.parametrize("name", FAMILIES)
def test_a_reply_is_one_call_or_none(formats: dict[str, ToolFormat], name: str) -> None:
    for what, (text, expected) in (replies(name) | OWN_REPLIES.get(name, {})).items():
        sql = expected if isinstance(expected, str) else "SELECT\n1"
        call = formats[name].parse(without_thought(text))
        assert call == (ToolCall(RUN_SQL, sql) if expected else None), what


@pytest.mark.parametrize("name", FAMILIES)
def test_no_reply_raises(formats: dict[str, ToolFormat], name: str) -> None:
    """Random texts made of the family's own markup: a call of ours, or nothing."""
    call = FAMILIES[name].call
    parts = ["run_sql", "submit_sql", "SELECT", "sql", "<![CDATA[", "]]>", *"\"'(){}[]\\=\n"]
    marks = [call[start:end] for start in range(0, len(call), 5) for end in (start + 5, start + 11)]

    @settings(max_examples=150, deadline=None, derandomize=True, database=None)
    @given(st.lists(st.sampled_from([*parts, *marks, call]) | st.text(max_size=2), max_size=12).map("".join))
    def check(text: str) -> None:
        for reply in (text, call[:11] + text + call[-11:]):
            found = formats[name].parse(reply)
            assert found is None or (found.name in TOOL_NAMES and found.sql == found.sql.strip() != "")
            assert formats[name].is_over(reply) in (True, False)

    check()


@pytest.mark.parametrize("name", FAMILIES)
def test_the_repair_tools_too(tokenizers: Mapping[str, TokenizerWrapper], name: str) -> None:
    found = tool_format_of(tokenizers[name], REPAIR_TOOLS)
    assert found.name == "native" and found.tools == REPAIR_TOOLS
    for call in (ToolCall(INSPECT_SCHEMA, ""), ToolCall(INSPECT_SCHEMA, "my table"), ToolCall(SUBMIT_SQL, "SELECT 2")):
        assert found.parse(found.render(call)) == call
        assert found.is_over(found.render(call))


def test_what_a_template_ends_a_turn_with_ends_a_reply(tmp_path: Path) -> None:
    """Conversions forget it among the tokens that end an answer; only a special token can be meant."""
    tokenizer = tokenizer_with(tmp_path, LLAMA3)
    before = Dialogue(tokenizer, tool_format_of(tokenizer))
    assert before.turn_end == frozenset()  # here the mark is so many letters
    tokenizer.add_tokens([AddedToken("<|eot_id|>", special=True, normalized=False)], special_tokens=True)
    after = Dialogue(tokenizer, tool_format_of(tokenizer))
    (end,) = after.turn_end
    assert tokenizer.decode([end]) == "<|eot_id|>" and after.bridge("7")[0] == end


def test_results_of_llama_are_json(tokenizers: Mapping[str, TokenizerWrapper], formats: dict[str, ToolFormat]) -> None:
    dialogue = Dialogue(tokenizers["llama3"], formats["llama3"])
    shown = dialogue.tokenizer.decode(dialogue.bridge('a\n"é"'))
    turn = "<|start_header_id|>ipython<|end_header_id|>\n\n"
    assert shown == "<|eot_id|>" + turn + '"a\\n\\"é\\""<|eot_id|>' + LLAMA_TURN
