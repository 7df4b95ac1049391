"""Whatever chat program renders the exported template, the model reads what it was trained on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from chat_templates import NATIVE
from tiny_policy import SCHEMA, tokenizer_with

from sqldojo.agent.prompt import opening
from sqldojo.agent.tool_format import PLAIN, ToolFormat
from sqldojo.export.exported_template import carrying_tools
from sqldojo.records import RUN_SQL, SUBMIT_SQL, ToolCall
from sqldojo.training.chat_template import assistant_message
from sqldojo.training.dialogue import Dialogue
from sqldojo.training.native_format import tool_format_of
from sqldojo.training.tiny_model import CHAT_TEMPLATE

# SmolLM2's own, which brings a system prompt where there is none.
SMOLLM2 = (
    "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}"
    "{{ '<|im_start|>system\nYou are a helpful AI assistant named SmolLM<|im_end|>\n' }}{% endif %}"
    "{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
TEMPLATES = {"tiny": CHAT_TEMPLATE, "smollm2": SMOLLM2, **NATIVE}
QUESTION = "How many <b>\"people\"</b>?"


class Pair:
    """A tokenizer before and after: with the template it was trained with, and with the exported one."""

    def __init__(self, folder: Path, template: str) -> None:
        (folder / "before").mkdir()
        (folder / "after").mkdir()
        self.before = tokenizer_with(folder / "before", template)
        self.format: ToolFormat = tool_format_of(self.before)
        self.template = carrying_tools(template, self.format)
        self.after = tokenizer_with(folder / "after", self.template)

    def trained(self, messages: list[dict[str, Any]], **options: Any) -> str:
        """As training renders it, with the tools where the format shows them."""
        tools = list(self.format.schemas) if self.format.schemas else None
        return self.before.apply_chat_template(messages, tools=tools, enable_thinking=False, tokenize=False, **options)

    def exported(self, messages: list[dict[str, Any]], **options: Any) -> str:
        """As a chat program renders it, which knows nothing of tools or thinking."""
        return self.after.apply_chat_template(messages, tokenize=False, **options)

    def opening(self) -> list[dict[str, Any]]:
        return [{"role": each.role, "content": each.content} for each in opening(QUESTION, SCHEMA, self.format)]


@pytest.fixture(params=sorted(TEMPLATES))
def pair(request: pytest.FixtureRequest, tmp_path: Path) -> Pair:
    return Pair(tmp_path, TEMPLATES[request.param])


def test_the_tool_format_stays_what_it_was(pair: Pair) -> None:
    found = tool_format_of(pair.after)
    assert (found.name, found.call_ends, found.schemas) == (
        pair.format.name, pair.format.call_ends, pair.format.schemas,
    )  # fmt: skip
    call = ToolCall(SUBMIT_SQL, "SELECT 'it''s' FROM t WHERE a < 2")
    assert found.render(call) == pair.format.render(call)


def test_a_whole_dialogue_is_rendered_as_before(pair: Pair) -> None:
    messages = pair.opening()
    assert pair.exported(messages, add_generation_prompt=True) == pair.trained(messages, add_generation_prompt=True)
    said = pair.format.render(ToolCall(RUN_SQL, "SELECT 1")) if not pair.format.schemas else "It is one."
    messages += [{"role": "assistant", "content": said}, {"role": "user", "content": "1\n1"}]
    assert pair.exported(messages, add_generation_prompt=True) == pair.trained(messages, add_generation_prompt=True)


def test_with_the_schema_alone_as_system_prompt_the_model_reads_the_whole_one(pair: Pair) -> None:
    short = [{"role": "system", "content": SCHEMA}, {"role": "user", "content": QUESTION}]
    wanted = pair.trained(pair.opening(), add_generation_prompt=True)
    assert pair.exported(short, add_generation_prompt=True) == wanted
    assert SCHEMA in wanted and RUN_SQL in wanted and SUBMIT_SQL in wanted


def test_without_a_system_prompt_the_tools_are_there_all_the_same(pair: Pair) -> None:
    found = pair.exported([{"role": "user", "content": QUESTION}], add_generation_prompt=True)
    bare = [{"role": each.role, "content": each.content} for each in opening(QUESTION, "", pair.format)]
    assert found == pair.trained(bare, add_generation_prompt=True)


def test_calls_and_results_of_a_program_become_what_the_model_was_trained_on(pair: Pair) -> None:
    dialogue, call = Dialogue(pair.before, pair.format), ToolCall(RUN_SQL, "SELECT name FROM people WHERE age > 7")
    opened = opening(QUESTION, SCHEMA, pair.format)
    trained = [*dialogue.prompt(opened), *dialogue.action(call), *dialogue.bridge("name\nZoë")]
    messages = [
        {"role": "system", "content": SCHEMA},
        {"role": "user", "content": QUESTION},
        assistant_message(call),
        {"role": "tool", "content": "name\nZoë"},
    ]
    # An empty thought stands before each reply of a model that was told not to think, and templates drop past ones.
    found = pair.exported(messages, add_generation_prompt=True).replace("<think>\n\n</think>\n\n", "")
    assert found == pair.before.decode(trained).replace("<think>\n\n</think>\n\n", "")


def test_arguments_as_text_are_taken_as_they_are(tmp_path: Path) -> None:
    pair = Pair(tmp_path, SMOLLM2)
    function = {"name": RUN_SQL, "arguments": "SELECT 1"}
    said = {"role": "assistant", "content": None, "tool_calls": [{"type": "function", "function": function}]}
    found = pair.exported([{"role": "user", "content": "?"}, said])
    assert found.endswith("<|im_start|>assistant\n<run_sql>SELECT 1</run_sql><|im_end|>\n")


@pytest.mark.parametrize("name", sorted(NATIVE))
def test_it_thinks_only_when_asked_to(name: str, tmp_path: Path) -> None:
    pair = Pair(tmp_path, NATIVE[name])
    messages = pair.opening()
    assert pair.exported(messages, add_generation_prompt=True).endswith("<think>\n\n</think>\n\n")
    thinking = pair.exported(messages, add_generation_prompt=True, enable_thinking=True)
    assert thinking.endswith("<|im_start|>assistant\n")


def test_tools_of_ones_own_take_the_place_of_ours(tmp_path: Path) -> None:
    pair = Pair(tmp_path, NATIVE["hermes"])
    own = [{"type": "function", "function": {"name": "look_it_up", "description": "?", "parameters": {}}}]
    found = pair.exported(pair.opening(), tools=own)
    assert "look_it_up" in found and SUBMIT_SQL not in found


def test_todays_date_is_that_of_training() -> None:
    template = "{{ strftime_now('%d %b %Y') }}" + CHAT_TEMPLATE
    assert "strftime_now" not in carrying_tools(template, PLAIN) and "26 Jul 2024" in carrying_tools(template, PLAIN)
