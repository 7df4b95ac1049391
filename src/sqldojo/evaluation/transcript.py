"""An episode as text to read: who said what, what the tools answered, how it ended and why."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import zip_longest

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.padding import Padding
from rich.rule import Rule
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from sqldojo.agent.tool_format import render_plain
from sqldojo.records import CORRECT, OUT_OF_BUDGET, Episode, Message

STYLES = {"system": "dim", "user": "bold", "assistant": "cyan", "tool": "magenta"}


def select(
    episodes: Iterable[Episode], *, outcome: str | None = None, type: str | None = None, split: str | None = None
) -> list[Episode]:
    """The episodes that have every value asked for; None asks for nothing."""
    wanted = {"outcome": outcome, "type": type, "split": split}
    return [
        episode
        for episode in episodes
        if all(value is None or getattr(episode, field) == value for field, value in wanted.items())
    ]


def same_attempts(before: Iterable[Episode], after: Iterable[Episode]) -> list[tuple[Episode, Episode]]:
    """Each attempt at a question that both made, in the order of `after`."""
    first = {(episode.question, episode.attempt): episode for episode in before}
    return [(first[key], episode) for episode in after if (key := (episode.question, episode.attempt)) in first]


def render(episode: Episode, *, system: bool = False) -> Group:
    """The episode for a rich console; the system prompt, alike in all of them, only when asked for."""
    shown = [message for message in episode.messages if system or message.role != "system"]
    lines = [part for message in shown for part in _lines(message)]
    return Group(_title(episode), *lines, _ending(episode), Text())


def render_beside(names: Sequence[str], sides: Sequence[Episode], *, system: bool = False) -> Group:
    """Two checkpoints' attempts at one question beside each other, message by message, under the checkpoints' names.

    Above them what both were asked, the system prompt only when asked for.
    """
    table = Table(*map(escape, names), expand=True, show_lines=True)
    for column in table.columns:
        column.ratio = 1
    said = [[message for message in side.messages if message.role in ("assistant", "tool")] for side in sides]
    for row in zip_longest(*said):
        table.add_row(*(Group(*_lines(message)) if message is not None else Text() for message in row))
    table.add_row(*map(_ending, sides))
    roles = ("system", "user") if system else ("user",)
    asked = [line for message in sides[-1].messages if message.role in roles for line in _lines(message)]
    return Group(_title(sides[-1]), *asked, table, Text())


def _title(episode: Episode) -> Rule:
    return Rule(f"{episode.id} · {episode.split} · {episode.type} · attempt {episode.attempt}", align="left")


def _lines(message: Message) -> list[RenderableType]:
    """A message as its role and text; a call as its tool and query, after the model's words where it wrote others."""
    call, speaker = message.tool_call, (f"{message.role}: ", STYLES.get(message.role, ""))
    if call is None:
        return [Text.assemble(speaker, _printable(message.content.strip()))]
    written = message.content.strip()
    words = [] if written == render_plain(call) else [Text.assemble(speaker, _printable(written))]
    query = Syntax(_printable(call.sql), "sql", theme="ansi_dark", word_wrap=True, background_color="default")
    return [*words, Text.assemble(speaker, (call.name, "bold")), Padding(query, (0, 2))]


def _printable(text: str) -> str:
    """The text without what would move the cursor, ring or recolour: a model may write that to a terminal too."""
    return "".join(each if each.isprintable() or each in "\n\t" else "\N{REPLACEMENT CHARACTER}" for each in text)


def _ending(episode: Episode) -> Text:
    colour = {CORRECT: "green", OUT_OF_BUDGET: "red"}.get(episode.outcome, "yellow")
    reason = _printable(episode.reason)
    return Text.assemble((f"=> {episode.outcome}", colour), f", reward {episode.reward:g}: {reason}")
