"""Transcripts: the filters, and that markup in a model's text is shown and not interpreted."""

from rich.console import Console

from sqldojo.evaluation.transcript import render, render_beside, same_attempts, select
from sqldojo.records import CORRECT, OUT_OF_BUDGET, SUBMIT_SQL, Episode, Message, ToolCall

EPISODE = Episode(
    "cheap-1/0", "cheap-1", "cheap", "check", 0,
    (Message("system", "You have tools."), Message("user", "How many?"), Message("assistant", "[red]SELECT[/red] 1")),
    OUT_OF_BUDGET, -0.2, "no submission in 4 turns",
)  # fmt: skip
SOLVED = Episode(
    "cheap-1/0", "cheap-1", "cheap", "check", 0,
    (Message("system", "You have tools."), Message("user", "How many?"),
     Message("assistant", "<submit_sql>SELECT count(*) FROM shops</submit_sql>",
             ToolCall(SUBMIT_SQL, "SELECT count(*) FROM shops"))),
    CORRECT, 1.0, "",
)  # fmt: skip


def text_of(shown, width=100):
    console = Console(width=width, color_system=None, highlight=False)
    with console.capture() as capture:
        console.print(shown)
    return capture.get()


def test_render():
    text = text_of(render(EPISODE))
    assert "user: How many?" in text and "assistant: [red]SELECT[/red] 1" in text
    assert "=> out_of_budget, reward -0.2: no submission in 4 turns" in text
    assert "You have tools." not in text
    assert "system: You have tools." in text_of(render(EPISODE, system=True))


def test_a_call_is_shown_as_its_tool_and_query():
    text = text_of(render(SOLVED))
    assert "assistant: submit_sql\n  SELECT count(*) FROM shops" in text
    assert "<submit_sql>" not in text


def test_what_the_model_wrote_around_a_call_is_shown_too():
    said = Message("assistant", "Easy. {'sql': 1} So!", ToolCall(SUBMIT_SQL, "SELECT 1"))
    text = text_of(render(Episode("a/0", "a", "a", "check", 0, (said,), CORRECT, 1.0, "")))
    assert "assistant: Easy. {'sql': 1} So!" in text and "assistant: submit_sql\n  SELECT 1" in text


def test_a_model_cannot_write_to_the_terminal():
    call = ToolCall(SUBMIT_SQL, "SELECT '\x1b]0;t\x07'")
    said = (Message("assistant", "\x1b[2J\x07wiped"), Message("assistant", "", call))
    text = text_of(render(Episode("a/0", "a", "a", "check", 0, said, CORRECT, 1.0, "\x1b[31m")))
    assert "wiped" in text and "\x1b" not in text and "\x07" not in text


def test_two_checkpoints_beside_each_other():
    text = text_of(render_beside(("released", "[b]grpo"), (EPISODE, SOLVED)))
    header, first = next(line for line in text.splitlines() if "released" in line), text.split("\n")
    assert "[b]grpo" in header and header.index("released") < header.index("[b]grpo")
    row = next(line for line in first if "[red]SELECT[/red] 1" in line)
    assert "submit_sql" in row  # both first messages are in one row
    ends = next(line for line in first if "=> out_of_budget" in line)
    assert "=> correct" in ends
    assert text.count("How many?") == 1


def test_same_attempts():
    again = Episode("cheap-1/1", "cheap-1", "cheap", "check", 1, (), CORRECT, 1.0, "")
    assert same_attempts([EPISODE], [again, SOLVED]) == [(EPISODE, SOLVED)]
    assert same_attempts([], [SOLVED]) == []


def test_select():
    other = Episode("city-1/0", "city-1", "city", "reserved", 0, (), CORRECT, 1.0, "")
    both = [EPISODE, other]
    assert select(both) == both
    assert select(both, outcome=CORRECT) == select(both, type="city") == select(both, split="reserved") == [other]
    assert select(both, outcome=CORRECT, split="check") == []
