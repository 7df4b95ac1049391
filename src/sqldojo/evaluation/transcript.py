"""An episode as text to read: who said what, what the tools answered, how it ended and why."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Group
from rich.rule import Rule
from rich.text import Text

from sqldojo.records import CORRECT, OUT_OF_BUDGET, Episode

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


def render(episode: Episode, *, system: bool = False) -> Group:
    """The episode for a rich console; the system prompt, alike in all of them, only when asked for."""
    title = f"{episode.id} · {episode.split} · {episode.type} · attempt {episode.attempt}"
    messages = [message for message in episode.messages if system or message.role != "system"]
    lines = [Text.assemble((f"{message.role}: ", STYLES.get(message.role, "")), message.content.strip())
             for message in messages]
    colour = {CORRECT: "green", OUT_OF_BUDGET: "red"}.get(episode.outcome, "yellow")
    ending = Text.assemble((f"=> {episode.outcome}", colour), f", reward {episode.reward:g}: {episode.reason}")
    return Group(Rule(title, align="left"), *lines, ending, Text())
