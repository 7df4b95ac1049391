"""What an export comes to: the numbers, the tables, the guide, and which questions it shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from example_chain import episodes, questions

from sqldojo.agent.schema_budget import FittedSchema
from sqldojo.agent.tool_format import PLAIN, ToolFormat
from sqldojo.export.examples import chosen_examples
from sqldojo.export.exporting import FileFacts
from sqldojo.export.lmstudio_guide import guide
from sqldojo.export.report import facts_lines, report, types_text
from sqldojo.export.results import example_rows, kind_of, results
from sqldojo.export.settings import ExportParams, file_path
from sqldojo.params import ParamsError, load
from sqldojo.records import CORRECT, SELECTION, WRONG_SQL, Episode

PARAMS = ExportParams("tiny", 17, ("bf16", "q8_0"), 4, "q8_0", 3)
FACTS = {
    "bf16": FileFacts(2_000_100, 1_000_000, {"bf16": 990_000, "f32": 10_000}),
    "q8_0": FileFacts(1_100_000, 1_000_000, {"f32": 10_000, "q8_0": 990_000}),
}
AGREEMENTS = {
    "bf16": {"prompts": 10, "tokens": 320, "equal": 320, "differences": []},
    "q8_0": {
        "prompts": 10, "tokens": 320, "equal": 290,
        "differences": [{"prompt": 3, "position": 7, "mlx": " Count", "llama": " Sum", "margin": 0.25}],
    },
}  # fmt: skip


def selected(outcomes: Sequence[bool]) -> list[Episode]:
    """Six attempts at the selection set, right where the outcomes say so."""
    played = [each for each in episodes("grpo") if each.split == SELECTION]
    return [
        replace(each, outcome=CORRECT if right else WRONG_SQL) for each, right in zip(played, outcomes, strict=True)
    ]


MLX = selected([True, True, False, True, False, False])
PLAYED = {"mlx": MLX, "bf16": MLX, "q8_0": selected([True, False, False, True, False, False])}


def test_results_pair_every_file_with_mlx() -> None:
    found = results(PLAYED, FACTS, AGREEMENTS, 17)
    assert list(found) == ["mlx", "bf16", "q8_0"]
    assert [row["accuracy"] for row in found.values()] == [0.5, 0.5, 0.3333]
    assert "change" not in found["mlx"] and found["bf16"]["change"] == 0.0
    assert found["q8_0"]["change"] == -0.1667 and found["q8_0"]["change_low"] < 0 < found["q8_0"]["change_high"]
    assert (found["q8_0"]["bytes"], found["q8_0"]["bits_per_weight"]) == (1_100_000, 8.8)
    assert found["bf16"]["types"] == {"bf16": 0.99, "f32": 0.01}


def test_other_questions_are_no_pair() -> None:
    with pytest.raises(ValueError, match="same"):
        results(PLAYED | {"bf16": MLX[:3]}, FACTS, AGREEMENTS, 17)


def test_the_report_has_each_number() -> None:
    text = report(results(PLAYED, FACTS, AGREEMENTS, 17))
    for part in ("selection (6 x 1)", "| mlx ", "33.3 [", "-16.7 [", "| 1.1 ", "8.80", "q8_0 99 %, f32 1 %",
                 "290 of 320, 9 of 10 prompts", "320 of 320, 10 of 10 prompts",
                 "q8_0: first at token 7 after prompt 3: ' Sum' where MLX writes ' Count'"):  # fmt: skip
        assert part in text, part


def test_the_commands_table_says_what_was_not_checked() -> None:
    facts = {f"tiny-{kind.upper()}.gguf": fact for kind, fact in FACTS.items()}
    text = "\n".join(facts_lines(facts, {"tiny-BF16.gguf": AGREEMENTS["bf16"]}))
    assert "320 of 320" in text and text.count("not checked") == 1


def test_small_shares_are_left_out() -> None:
    assert types_text({"f32": 0.0003, "q5_0": 0.61, "q8_0": 0.3897}) == "q5_0 61 %, q8_0 39 %"


def test_examples_are_spread_over_both_splits_whatever_their_order() -> None:
    asked = questions()
    found = chosen_examples(asked, 4)
    assert [each.split for each in found] == ["reserved", "reserved", "selection", "selection"]
    assert len({each.type for each in found}) == 4 and all(each.id.endswith("-0") for each in found)
    assert chosen_examples(asked[::-1], 4) == found
    assert len(chosen_examples(asked, 40)) == 5  # three reserved types and two of the selection set


def test_example_rows_count_the_drawn_attempts_apart() -> None:
    played = episodes("grpo", per_type=1, attempts=4)
    rows = example_rows(played)
    assert len(rows) == 7 and all(row["attempts"] == 3 for row in rows)
    for row, first in zip(rows, sorted((each for each in played if each.attempt == 0),
                                       key=lambda each: (each.split, each.type)), strict=True):  # fmt: skip
        drawn = [each for each in played if each.question == first.question and each.attempt > 0]
        assert row["greedy"] == (first.outcome == CORRECT)
        assert row["right"] == sum(each.outcome == CORRECT for each in drawn)


def written_guide(tool_format: ToolFormat, *, whole: bool = True) -> str:
    rows = [{"split": "reserved", "question": "Which?", "greedy": True, "right": 2, "attempts": 3},
            {"split": "selection", "question": "How many?", "greedy": False, "right": 1, "attempts": 3}]  # fmt: skip
    found = results(PLAYED, FACTS, AGREEMENTS, 17)
    return guide(found, rows, (1, 2), PARAMS, tool_format, FittedSchema("CREATE TABLE t (a);", whole))


def test_the_guide_has_the_settings_the_prompt_and_the_rates() -> None:
    text = written_guide(PLAIN)
    for part in ("`</run_sql>`, `</submit_sql>`", "1 of 2 greedy submissions", "CREATE TABLE t (a);", "| 2 of 3 ",
                 "In all 1 of 2 at temperature 0 and 3 of 6 at temperature 1", "tiny-17-Q8_0.gguf",
                 "<run_sql>SELECT ...</run_sql>", "makes no tool calls of them"):  # fmt: skip
        assert part in text, part
    assert max(map(len, (line for line in text.splitlines() if not line.startswith("|")))) <= 130


def test_a_native_format_is_described_as_one() -> None:
    text = written_guide(replace(PLAIN, schemas=({"name": "run_sql"},), instructions="", call_ends=("</tool_call>",)))
    assert "into tool calls" in text and "makes no tool calls" not in text


def test_the_guide_says_that_the_schema_was_cut_where_it_was() -> None:
    text, cut = written_guide(PLAIN), written_guide(PLAIN, whole=False)
    note = cut[cut.index("Their schema is longer") : cut.index("Before that the template puts")]
    assert "`agent.schema_characters`" in note and cut.replace(note, "") == text


def test_the_kind_is_in_the_name() -> None:
    assert [kind_of(file_path(PARAMS.chain.base, "a-b-17", kind)) for kind in ("bf16", "q4_k_m")] == ["bf16", "q4_k_m"]


SECTION = "export: {model: tiny, seed: 17, files: FILES, examples: 4, example_file: q8_0, example_attempts: 2}\n"


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ("[q8_0]", r"export\.files: must begin with bf16"),
        ("[bf16, q8_0, q8_0]", r"export\.files: .*hold none twice"),
        ("[bf16, q9]", r"export\.files: no such type of weights: 'q9'"),
        ("[bf16, q4_0]", r"export\.example_file: 'q8_0' is none of `files`"),
    ],
)
def test_settings_that_make_no_sense_are_told(tmp_path, files: str, message: str) -> None:
    (tmp_path / "params.yaml").write_text(SECTION.replace("FILES", files))
    with pytest.raises(ParamsError, match=message):
        load(tmp_path / "params.yaml", "export", ExportParams)
