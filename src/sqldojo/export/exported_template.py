"""The chat template that goes into an exported model: it carries the agent's tools and does not think unless asked to.

A chat program knows nothing of the agent. With this template its user gives the schema as system prompt and asks; what
the model reads is then, to the last character, what it was trained on. A dialogue that already holds the whole system
prompt is rendered as by the original template. Messages with tool calls, as programs for agents send them, are turned
into the model's own format.

A preamble rewrites `messages` and `tools` and the original template follows. It keeps to what the template engines of
transformers, llama.cpp and LM Studio have in common: set, for, if, namespaces, and lists that are joined by `+`.
"""

from __future__ import annotations

import json

from sqldojo.agent.prompt import opening
from sqldojo.agent.tool_format import ToolFormat
from sqldojo.training.chat_template import on_a_fixed_day

# How a model that has a thinking mode is told not to use it, by Qwen's name for the switch, and by Granite's.
_NO_THINKING = "".join(
    f"{{%- set {name} = {name} is defined and {name} -%}}" for name in ("enable_thinking", "thinking")
)

# A native format: the template shows tools by itself, once it is given any.
_NATIVE = """\
{%- if not tools -%}{%- set tools = TOOLS -%}{%- endif -%}
{%- if not messages or messages[0].role != "system" -%}
{%- set messages = [{"role": "system", "content": PREFACE}] + messages -%}
{%- elif PREFACE not in messages[0].content -%}
{%- set messages = [{"role": "system", "content": PREFACE + "\\n" + messages[0].content}] + messages[1:] -%}
{%- endif -%}
"""

# The plain tags: the system prompt explains them, calls are text, and results come from the user. The one argument of a
# call is found whatever its name: llama.cpp tries a template with names of its own, and hands on the arguments as a
# text of JSON when that fails.
_PLAIN = """\
{%- set dojo = namespace(system="", call="", query="", turns=[]) -%}
{%- for message in messages -%}
{%- if loop.first and message.role == "system" -%}
{%- set dojo.system = message.content -%}
{%- elif message.role == "tool" -%}
{%- set dojo.turns = dojo.turns + [{"role": "user", "content": message.content}] -%}
{%- elif message.tool_calls -%}
{%- set dojo.call = message.content if message.content else "" -%}
{%- for entry in message.tool_calls -%}
{%- set called = entry.function if entry.function else entry -%}
{%- set dojo.query = called.arguments if called.arguments is string else "" -%}
{%- if called.arguments is not string -%}
{%- for name, value in called.arguments.items() -%}{%- set dojo.query = dojo.query + value -%}{%- endfor -%}
{%- endif -%}
{%- set dojo.call = dojo.call + "<" + called.name + ">" + dojo.query + "</" + called.name + ">" -%}
{%- endfor -%}
{%- set dojo.turns = dojo.turns + [{"role": "assistant", "content": dojo.call}] -%}
{%- else -%}
{%- set dojo.turns = dojo.turns + [message] -%}
{%- endif -%}
{%- endfor -%}
{%- if MARK not in dojo.system -%}
{%- set dojo.system = PREFACE + ("\\n" + dojo.system if dojo.system else "") -%}
{%- endif -%}
{%- set messages = [{"role": "system", "content": dojo.system}] + dojo.turns -%}
{%- set tools = none -%}
"""


def carrying_tools(template: str, tool_format: ToolFormat) -> str:
    """The template with the tools of `tool_format`, and thinking off unless the caller turns it on.

    One that asks for today's date gets the day that training showed it.
    """
    preface = opening("", "", tool_format)[0].content  # a system prompt without a schema
    # JSON's texts and lists are texts and lists of Jinja too.
    values = {"PREFACE": json.dumps(preface, ensure_ascii=False)}
    if tool_format.schemas:
        preamble = _NATIVE
        values["TOOLS"] = json.dumps(tool_format.schemas, ensure_ascii=False)
    else:
        preamble = _PLAIN
        values["MARK"] = json.dumps(tool_format.call_ends[0], ensure_ascii=False)
    for name, value in values.items():
        preamble = preamble.replace(name, value)
    preamble += _NO_THINKING if "thinking" in template else ""
    # The last block ends without a dash: it would swallow what the template begins with.
    return preamble.rstrip("\n").removesuffix("-%}") + "%}" + on_a_fixed_day(template)
