"""Transcripts: the filters, and that markup in a model's text is shown and not interpreted."""

from rich.console import Console

from sqldojo.evaluation.transcript import render, select
from sqldojo.records import CORRECT, OUT_OF_BUDGET, Episode, Message

EPISODE = Episode(
    "cheap-1/0", "cheap-1", "cheap", "check", 0,
    (Message("system", "You have tools."), Message("user", "How many?"), Message("assistant", "[red]SELECT[/red] 1")),
    OUT_OF_BUDGET, -0.2, "no submission in 4 turns",
)  # fmt: skip


def printed(**options):
    console = Console(width=100, color_system=None, highlight=False)
    with console.capture() as capture:
        console.print(render(EPISODE, **options))
    return capture.get()


def test_render():
    text = printed()
    assert "user: How many?" in text and "assistant: [red]SELECT[/red] 1" in text
    assert "=> out_of_budget, reward -0.2: no submission in 4 turns" in text
    assert "You have tools." not in text
    assert "system: You have tools." in printed(system=True)


def test_select():
    other = Episode("city-1/0", "city-1", "city", "reserved", 0, (), CORRECT, 1.0, "")
    both = [EPISODE, other]
    assert select(both) == both
    assert select(both, outcome=CORRECT) == select(both, type="city") == select(both, split="reserved") == [other]
    assert select(both, outcome=CORRECT, split="check") == []
