"""The report of repair: the numbers that stand in it, in the text, in the metrics and on a terminal."""

import io
import json
from dataclasses import replace

import pytest
from example_repair import CHECKPOINTS, LIMITS, REFERENCE, attempt, results, task
from rich.console import Console

from sqldojo.errors import UserError
from sqldojo.evaluation.repair_comparing import compare_repairs
from sqldojo.evaluation.repair_report import p_value, repair_markdown, told_pairs, yield_table
from sqldojo.evaluation.repair_results import (
    RepairResults,
    RepairRun,
    pair_of,
    repair_metrics,
    selection_note,
    told_apart,
)
from sqldojo.evaluation.repair_scores import score_repairs
from sqldojo.evaluation.repair_view import show_repair_pair, show_repair_summary
from sqldojo.files import write_json, write_records, write_text
from sqldojo.records import CORRECT, WRONG_SQL
from sqldojo.repair.task import EVALUATION, VALIDATION


@pytest.fixture(scope="module")
def made():
    return results()


@pytest.fixture(scope="module")
def metrics(made):
    return repair_metrics(made)


@pytest.fixture(scope="module")
def text(metrics):
    return repair_markdown(metrics)


def part(text, title):
    """The lines of a part, its tables as cells."""
    lines = text.split(f"## {title}\n")[1].split("\n## ")[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]


def chain(*runs, selected=None, tasks=None):
    """Results of checkpoints given as name -> letters, `+` for a solved task."""
    asked = tasks or [task(f"task-{number}") for number in range(len(runs[0][1]))]
    made = [
        RepairRun(name, [attempt(each, CORRECT if letter == "+" else WRONG_SQL)
                         for each, letter in zip(asked, letters, strict=True)], LIMITS)
        for name, letters in runs
    ]  # fmt: skip
    return RepairResults("tiny", 17, asked, made, selected=selected)


def test_metrics_are_those_of_the_parts(made, metrics):
    assert metrics["chain"] == list(CHECKPOINTS) and metrics["references"] == [REFERENCE]
    assert metrics["counts"] == {"evaluation": 12, "train": 1, "validation": 6}
    asked = {split: [each for each in made.tasks if each.split == split] for split in (EVALUATION, VALIDATION)}
    run = made.checkpoints[3]
    assert metrics["scores"]["r1"] == score_repairs(run.episodes, asked[EVALUATION], seed=17, limits=LIMITS)
    assert metrics["validation"]["r1"] == score_repairs(run.validation, asked[VALIDATION], seed=17, limits=LIMITS)
    assert REFERENCE not in metrics["validation"]
    assert len(metrics["pairs"]) == 15
    pair = compare_repairs(made.checkpoints[0].episodes, run.episodes, made.tasks, ("released", "r1"))
    assert pair_of(metrics, "released", "r1").items() >= pair.as_json().items()
    with pytest.raises(KeyError, match="no pair r1, released"):
        pair_of(metrics, "r1", "released")


def test_metrics_come_back_from_their_file(metrics, text, tmp_path):
    write_json(tmp_path / "repair.json", metrics)
    again = json.loads((tmp_path / "repair.json").read_text())
    assert repair_markdown(again).split("## Correction")[0] == text.split("## Correction")[0]


def test_attempts_at_other_splits_are_no_scores(made):
    wrong = replace(made.checkpoints[0], episodes=made.checkpoints[0].validation)
    with pytest.raises(ValueError, match="held-0 was attempted but is not among the tasks"):
        repair_metrics(replace(made, checkpoints=[wrong], selected=None))


def test_the_chain_table(metrics, text):
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]
    assert rows[0] == ["checkpoint", "solved", "of all, %", "of validation, %", "gained", "lost", "provider failures"]
    row = metrics["scores"]["r1"]["all"]
    assert rows[5][:2] == ["r1 (selected)", f"{row['solved']} of 12"]
    bounds = f"[{100 * row['solve_rate_low']:.1f}, {100 * row['solve_rate_high']:.1f}]"
    assert rows[5][2] == f"{100 * row['solve_rate']:.1f} {bounds}"
    step = metrics["history"]["steps"][2]
    assert rows[5][4:6] == [str(step["gained"]), str(step["lost"])]
    assert rows[7][0] == REFERENCE and rows[7][3:] == ["-", "", "", "1"]


def test_gains_and_losses_along_the_chain():
    found = repair_markdown(repair_metrics(chain(("released", "+--+"), ("sft_a", "-+-+"), ("r1", "++--"))))
    assert part(found, "From checkpoint to checkpoint")[2:] == [
        ["released", "sft_a", "2", "1", "0", "1", "2", "+0.0 [-100.0, +100.0]", "1.000"],
        ["sft_a", "r1", "2", "1", "1", "1", "2", "+0.0 [-100.0, +100.0]", "1.000"],
    ]  # fmt: skip
    assert (
        "Along the chain of 3 checkpoints 2 of 4 tasks were lost at least once, 1 of these were solved again" in found
    )
    assert "1 that an earlier checkpoint solved the last one does not" in found
    assert "3 by at least one checkpoint, which is an upper bound." in found


def test_a_paired_table_of_first_and_last_comes_first():
    found = repair_metrics(chain(("released", "++" + 8 * "-"), ("r1", "+-" + 7 * "+" + "+"), ("r2", "-" + 9 * "+")))
    assert [(pair["first"], pair["second"]) for pair in told_pairs(found)] == [
        ("released", "r2"), ("released", "r1"), ("r1", "r2"),
    ]  # fmt: skip
    rows = part(repair_markdown(found), "Two runs on the same tasks")
    assert rows[2][:7] == ["released", "r2", "1", "1", "8", "0", "0.039"]
    assert rows[2][8:] == ["10"]


def test_tasks_left_out_of_a_pair_are_counted(text):
    heads, _, *rows = part(text, "Two runs on the same tasks")
    assert heads[-1] == "left out" and [row[-1] for row in rows] == ["0"] * 6 + ["1"]


def test_the_union_is_called_an_upper_bound_and_a_sentence_says_what_to_trust(text):
    assert "upper bound, not the score of any model" in text and "McNemar 1947" in text
    assert "The 12 tasks are of 6 types" in text and "trust the interval" in text


def test_the_selection_is_told(made, metrics):
    assert selection_note(metrics) == "r1 was selected on validation (6 tasks), not on the evaluation tasks (12)."
    training = {"sft_a": {"kept_update": 20, "updates": 40}, "r1": {"kept_update": 5}}
    found = selection_note(repair_metrics(replace(made, training=training, selected=None)))
    assert found.startswith("Each stage kept the checkpoint that did best on validation (6 tasks), not on the "
                            "evaluation tasks (12): sft_a at update 20, r1 at update 5.")  # fmt: skip
    assert "the last one, r2, stands for it" in found


def test_databases_kinds_and_outcomes(metrics, text):
    assert [row[0] for row in part(text, "By database, %")[2:]] == ["bookshop (6)", "streaming (6)"]
    assert [row[0] for row in part(text, "By kind of bug, %")[2:]] == [
        "join-fan-out (4)", "null-comparison (4)", "wrong-alias (4)",
    ]  # fmt: skip
    ended = metrics["scores"][REFERENCE]["all"]["outcomes"]
    assert part(text, "How attempts ended")[-1] == [REFERENCE, *map(str, ended.values())]
    before = part(text, "How the tasks ended in released (down) and r1 (across)")
    assert sum(int(cell) for row in before[2:] for cell in row[1:]) == 12


def test_yields(text):
    rows = {row[0]: row[1:] for row in part(text, "Correction rounds")[2:]}
    assert rows["candidate states"] == ["410", "280"] and rows["states skipped: first verified"] == ["80", "60"]
    assert rows["earlier successes on lost tasks retained"] == ["0", "7"]
    assert rows["continuations rejected: wrong SQL"] == ["159", "-"]
    assert list(rows)[:4] == [
        "training tasks attempted", "solved by the student", "not solved by the student", "candidate states",
    ]  # fmt: skip


def test_metrics_of_stages_are_told_apart():
    asked = {"all": {"calls": 3, "failures": {}}, "models": {}}
    nobody = {"all": {"calls": 0, "failures": {}}, "models": {}}
    training, yields, costs = told_apart({
        "sft_a": {"updates": 4, "cost": nobody},
        "r1": {"updates": 5, "yield": {"attempted": 9, "cost": asked}},
        "r2": {"updates": 6, "yield": {"attempted": 8, "cost": {}}},
    })  # fmt: skip
    assert training == {"sft_a": {"updates": 4}, "r1": {"updates": 5}, "r2": {"updates": 6}}
    assert yields == {"r1": {"attempted": 9}, "r2": {"attempted": 8}}
    assert costs == {"r1": asked}


def test_a_run_of_attempts_at_all_splits(made):
    run = made.checkpoints[1]
    trained = attempt(made.tasks[-1], CORRECT)
    assert RepairRun.of("sft_a", [trained, *run.validation, *run.episodes], LIMITS) == run


def test_counts_that_are_not_known_beforehand_are_shown_last():
    heads, rows = yield_table({"r1": {"merged": 3, "attempted": 9}, "r2": {"attempted": 8}})
    assert heads == ["", "r1", "r2"]
    assert rows == [["training tasks attempted", "9", "8"], ["merged", "3", "-"]]


def test_cost_and_failed_calls(text):
    assert part(text, "What models behind an API cost")[-1][:4] == ["correct@r1", "maker/teacher", "40", "5000"]
    assert "Calls that failed in spite of retries: correct@r1 1 (timeout)." in text


def test_limits_are_told_of_each_run_where_they_differ(made, text):
    rows = part(text, "Limits of an attempt")
    assert rows[0] == ["run", "turns", "tokens per turn", "tokens per episode", "preview rows"]
    assert rows[-1] == [REFERENCE, "8", "1024", "2048", "5"] and len(rows) == 8
    alike = repair_markdown(repair_metrics(replace(made, references=())))
    assert part(alike, "Limits of an attempt")[2:] == [["all runs", "8", "256", "2048", "5"]]


def test_one_checkpoint_is_a_report_too():
    found = repair_markdown(repair_metrics(chain(("released", "+-"))))
    assert "1 of 2" in found and "## From checkpoint" not in found and "## Two runs" not in found


def test_small_p_values_are_no_zero():
    assert [p_value(p) for p in (0.00099, 0.001, 0.0390625, 1.0)] == ["< 0.001", "0.001", "0.039", "1.000"]


@pytest.mark.parametrize(("runs", "selected"), [([], None), ([("r1", "+"), ("r1", "-")], None), ([("r1", "+")], "r2")])
def test_results_that_make_no_sense(runs, selected):
    with pytest.raises(ValueError, match="checkpoint"):
        chain(*runs, selected=selected, tasks=[task("task-0")])


def test_a_terminal(metrics, tmp_path):
    write_json(tmp_path / "repair.json", metrics)
    out = io.StringIO()
    show_repair_summary(tmp_path / "repair.json", Console(file=out, width=160))
    shown = out.getvalue()
    row = metrics["scores"]["r2"]["all"]
    assert f"{row['solved']} of 12" in shown and "r1 (selected)" in shown and "candidate states" in shown
    assert "selected on validation (6 tasks), not on the evaluation tasks (12)" in shown


def test_a_narrow_terminal_cuts_nothing_off(metrics, tmp_path):
    write_json(tmp_path / "repair.json", metrics)
    out = io.StringIO()
    show_repair_summary(tmp_path / "repair.json", Console(file=out, width=80))
    shown = out.getvalue()
    assert "…" not in shown and max(map(len, shown.splitlines())) <= 80
    pair = pair_of(metrics, "released", "r2")
    assert f"+{100 * pair['change_high']:.1f}]" in shown


def test_names_are_no_markup_on_a_terminal(tmp_path):
    write_json(tmp_path / "repair.json", repair_metrics(chain(("[red]a[/red]", "+-"), ("b", "++"))))
    out = io.StringIO()
    show_repair_summary(tmp_path / "repair.json", Console(file=out, width=160))
    assert "[red]a[/red]" in out.getvalue()


@pytest.mark.parametrize("content", [None, "{", "[]", '{"chain": []}'])
def test_a_metrics_file_that_is_none(tmp_path, content):
    path = tmp_path / "repair.json"
    if content is not None:
        write_text(path, content)
    with pytest.raises(UserError, match=r"repair\.json: .*; run `make repro-repair`"):
        show_repair_summary(path)


def test_two_files_of_episodes_beside_each_other(tmp_path, made):
    """The table of two checkpoints from their files, and files that are not on the same tasks."""
    first, last = made.checkpoints[0], made.checkpoints[-1]
    for run in (first, last):
        write_records(tmp_path / f"{run.name}.jsonl", [*run.episodes, *run.validation])
    write_records(tmp_path / "tasks.jsonl", made.tasks)
    paths = [tmp_path / f"{run.name}.jsonl" for run in (first, last)]
    out = io.StringIO()
    show_repair_pair(*paths, tmp_path / "tasks.jsonl", Console(file=out, width=400))
    pair = compare_repairs(first.episodes, last.episodes, made.tasks, ("a", "b"))
    row = next(line for line in out.getvalue().splitlines() if str(paths[1]) in line)
    assert row.split()[2:6] == [str(number) for number in (pair.both, pair.only_first, pair.only_second, pair.neither)]
    write_records(tmp_path / "fewer.jsonl", last.episodes[1:])
    with pytest.raises(UserError, match="not two runs on the same tasks"):
        show_repair_pair(paths[0], tmp_path / "fewer.jsonl", tmp_path / "tasks.jsonl")
