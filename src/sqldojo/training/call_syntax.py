"""How families of models write a tool call: between which markers, how it is read, and how it is written.

A chat template mostly writes calls itself, and then a syntax only reads. Some templates declare the tools and leave a
call to the text of the assistant's message (LFM2, SmolLM3): for these it writes too. Readers are mlx-lm's, but for two
of its formats: there its reader takes some damaged calls for other SQL.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from xml.sax.saxutils import unescape

from mlx_lm.tool_parsers import json_tools, qwen3_coder

from sqldojo.agent.tool_format import Tool, call_with
from sqldojo.records import ToolCall

# What readers raise on text that is no call; their other errors would be faults of their own.
UNPARSABLE = (
    ValueError, KeyError, IndexError, TypeError, AttributeError, SyntaxError, RecursionError, MemoryError,
)  # fmt: skip


@dataclass(frozen=True)
class CallSyntax:
    """Calls between the markers `start` and `end`.

    `read` takes what stands between them and the tools' schemas, and gives a mapping with `name` and `arguments`, or a
    list with one; it raises one of `UNPARSABLE` for anything else. `write` makes what stands between them from a name
    and arguments. `declared_by` are texts of which a template that declares tools for this syntax has one. One call
    holds just one of `single`, once, which is asked where a reader would merge two calls; None stands for the tools'
    names. In what `quotation` matches a marker is text.
    """

    start: str
    end: str
    read: Callable[[str, list[dict]], Any]
    write: Callable[[str, Mapping[str, str]], str] | None = None
    declared_by: tuple[str, ...] = ()
    single: tuple[str, ...] | None = None
    quotation: re.Pattern[str] | None = None

    def unquoted(self, text: str) -> str:
        """The text with blanks in the place of quotations, so that all places stay what they are."""
        return text if self.quotation is None else self.quotation.sub(lambda found: " " * len(found[0]), text)

    def closes(self, text: str) -> bool:
        """Whether the end marker stands in the text and not in a quotation alone."""
        return self.end in self.unquoted(text)

    def parse(self, text: str, tools: Sequence[Tool], schemas: Sequence[dict]) -> ToolCall | None:
        """The one call in a reply, whatever stands around it; None for no call, a damaged one, or more than one."""
        bare = self.unquoted(text)
        first, last = bare.find(self.start), bare.find(self.end)
        if bare.count(self.start) != 1 or bare.count(self.end) != 1 or last < first:
            return None
        inner, bare = (each[first + len(self.start) : last] for each in (text, bare))
        single = self.single if self.single is not None else [tool.name for tool in tools]
        if single and sum(map(bare.count, single)) != 1:
            return None
        try:
            call = self.read(inner, list(schemas))
            call = call[0] if isinstance(call, list) and len(call) == 1 else call
            return call_with(call["name"], call["arguments"], tools)
        except UNPARSABLE:
            return None

    def render(self, name: str, arguments: Mapping[str, str]) -> str:
        """A call with its markers, by `write`."""
        return self.start + self.write(name, arguments) + self.end


def _to_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _write_hermes(name: str, arguments: Mapping[str, str]) -> str:
    return f'\n{{"name": {_to_json(name)}, "arguments": {_to_json(arguments)}}}\n'


def _write_coder(name: str, arguments: Mapping[str, str]) -> str:
    values = "".join(f"<parameter={key}>\n{value}\n</parameter>\n" for key, value in arguments.items())
    return f"\n<function={name}>\n{values}</function>\n"


def _write_pythonic(name: str, arguments: Mapping[str, str]) -> str:
    # A text in JSON is also one in Python.
    return f"[{name}({', '.join(f'{key}={_to_json(value)}' for key, value in arguments.items())})]"


def _read_pythonic(inner: str, _: object) -> dict[str, Any]:
    """LFM2's list of one call; mlx-lm's reader has a second try that takes any text without quotes for a value."""
    text = inner.strip()
    try:
        node = ast.parse(text, mode="eval").body
    except SyntaxError:  # models write line breaks in a query as they are, which Python's quotes do not allow
        node = ast.parse(text.replace("\n", "\\n"), mode="eval").body
    if not isinstance(node, ast.List) or len(node.elts) != 1:
        raise ValueError("not a list of one call")
    return _python_call(node.elts[0])


def _python_call(node: ast.expr) -> dict[str, Any]:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.args:
        raise ValueError("not a call with named arguments")
    return {"name": node.func.id, "arguments": {each.arg: ast.literal_eval(each.value) for each in node.keywords}}


_CDATA_END = r"\]\]>(?=\s*</param>)"  # SQL may hold `]]>` too, so what ends a block is what stands behind it
_CDATA = re.compile(rf"<!\[CDATA\[(.*?)(?:{_CDATA_END}|\Z)", re.DOTALL)
_PARAM = re.compile(
    rf"""\s*<param\s+name\s*=\s*["']?(?P<key>[\w.-]+)["']?\s*>"""
    rf"(?:\s*<!\[CDATA\[(?P<quoted>.*?){_CDATA_END}\s*|(?P<plain>.*?))</param>",
    re.DOTALL,
)
_FUNCTION = re.compile(r"""\s*["']?(?P<name>[\w.-]+)["']?\s*>""")
_ENTITIES = {"&quot;": '"', "&apos;": "'"}


def _read_xml(inner: str, _: object) -> dict[str, Any]:
    """MiniCPM5's call behind `<function name=`; mlx-lm's reader ends a value at `</param>` within CDATA too."""
    function = _FUNCTION.match(inner)
    if function is None:
        raise ValueError("no name of a function")
    arguments, place = {}, function.end()
    while param := _PARAM.match(inner, place):
        quoted, plain = param["quoted"], param["plain"]
        arguments[param["key"]] = quoted if quoted is not None else unescape(plain, _ENTITIES)
        place = param.end()
    if inner[place:].strip():
        raise ValueError("something else among the parameters")
    return {"name": function["name"], "arguments": arguments}


def _write_xml(name: str, arguments: Mapping[str, str]) -> str:
    def value(text: str) -> str:
        return f"<![CDATA[{text}]]>" if any(mark in text for mark in "<&\n") else text

    params = "".join(f'<param name="{key}">{value(text)}</param>' for key, text in arguments.items())
    return f'"{name}">{params}'


HERMES = CallSyntax(
    "<tool_call>", "</tool_call>", json_tools.parse_tool_call, _write_hermes, ("<tool_call>",), single=()
)
CODER = CallSyntax(
    "<tool_call>", "</tool_call>", qwen3_coder.parse_tool_call, _write_coder, ("<function=",), single=("<function=",)
)
PYTHONIC = CallSyntax(
    "<|tool_call_start|>", "<|tool_call_end|>", _read_pythonic, _write_pythonic,
    ("<|tool_list_start|>", "<|tool_call_start|>"), single=(),
)  # fmt: skip
MINICPM = CallSyntax(
    "<function name=", "</function>", _read_xml, _write_xml, ("<function name=",), single=(), quotation=_CDATA
)
# Those that say more come first: a declaration for coders shows both tags.
SYNTAXES = (CODER, MINICPM, PYTHONIC, HERMES)


def syntax_of(tokenizer: Any) -> CallSyntax | None:
    """The syntax that mlx-lm finds for a tokenizer, ours where it has the same markers; None where there is none.

    One without an end marker counts as none: nothing in the text would say that a call is complete.
    """
    if not tokenizer.has_tool_calling or not tokenizer.tool_call_end:
        return None
    found = CallSyntax(tokenizer.tool_call_start, tokenizer.tool_call_end, tokenizer.tool_parser)
    for ours in SYNTAXES:
        same_marks = (ours.start, ours.end) == (found.start, found.end)
        if same_marks and (ours.read is found.read or ours in (MINICPM, PYTHONIC)):
            return ours
    return found


def declared_syntax(declaration: str) -> CallSyntax | None:
    """The syntax that what a template says of tools asks for; None when it names no markers that we know."""
    named = [syntax for syntax in SYNTAXES if any(mark in declaration for mark in syntax.declared_by)]
    return named[0] if named else None


PYTHON_TAG = "<|python_tag|>"
_DECODER = json.JSONDecoder()
_METHOD_CALL = re.compile(rf"\s*{re.escape(PYTHON_TAG)}\s*(\w+)\.call\((.*)\)\s*", re.DOTALL)


def json_calls(text: str) -> list[tuple[dict[str, Any], int]]:
    """The JSON objects with a `name` in a text, outermost ones only, each with the place behind it.

    Llama 3 calls so: `{"name": ..., "parameters": {...}}`, with no marker behind it.
    """
    found, place = [], text.find("{")
    while place >= 0:
        try:
            value, end = _DECODER.raw_decode(text, place)
        except RecursionError:
            return []
        except ValueError:
            value, end = None, place + 1
        if isinstance(value, dict) and "name" in value:
            found.append((value, end))
        place = text.find("{", end)
    return found


def parse_json_call(text: str, tools: Sequence[Tool]) -> ToolCall | None:
    """The one call in a reply of Llama 3, as JSON or, behind the python tag, as `tool.call(...)`; else None."""
    method = _METHOD_CALL.fullmatch(text)
    if method is not None:
        return _method_call(*method.groups(), tools)
    calls = json_calls(text)
    if len(calls) != 1:
        return None
    call = calls[0][0]
    return call_with(call["name"], call.get("parameters", call.get("arguments")), tools)


def _method_call(name: str, arguments: str, tools: Sequence[Tool]) -> ToolCall | None:
    try:
        call = _python_call(ast.parse(f"{name}({arguments})", mode="eval").body)
        return call_with(call["name"], call["arguments"], tools)
    except UNPARSABLE:
        return None
