"""Two runs and a chain of runs on the same repair tasks: counted by hand."""

import pytest
from example_repair import attempt, task

from sqldojo.evaluation.repair_comparing import (
    Step,
    chain_history,
    compare_repairs,
    differing_tasks,
    outcome_transitions,
    which_to_trust,
)
from sqldojo.evaluation.statistics import exact_mcnemar, paired_interval
from sqldojo.records import CORRECT, WRONG_SQL
from sqldojo.repair.task import INFRASTRUCTURE, TURN_LIMIT

NAMES = ("first", "second")


def run(outcomes, tasks):
    """Episodes by a letter a task: `+` solved, `-` wrong, `t` out of turns, `!` a provider's failure."""
    named = {"+": CORRECT, "-": WRONG_SQL, "t": TURN_LIMIT, "!": INFRASTRUCTURE}
    return [attempt(asked, named[letter]) for asked, letter in zip(tasks, outcomes, strict=True)]


def tasks_of(types):
    return [task(f"task-{number}", type=name) for number, name in enumerate(types)]


@pytest.mark.parametrize(
    ("only_first", "only_second", "p"),
    [(1, 8, 0.0390625), (8, 1, 0.0390625), (0, 0, 1.0), (3, 3, 1.0), (0, 5, 0.0625), (0, 10, 2 / 1024)],
)
def test_mcnemar(only_first, only_second, p):
    """1 against 8: twice the chance of at most one head in nine throws, 2 (1 + 9) / 512."""
    assert exact_mcnemar(only_first, only_second) == pytest.approx(p, abs=1e-12)


def test_mcnemar_wants_counts():
    with pytest.raises(ValueError, match="-1"):
        exact_mcnemar(-1, 3)


def test_a_paired_table():
    tasks = tasks_of("aabbccddeeff")
    first, second = run("+++---------", tasks), run("++-++++++-++", tasks)
    pair = compare_repairs(first, second, tasks, NAMES)
    assert (pair.both, pair.only_first, pair.only_second, pair.neither) == (2, 1, 8, 1)
    assert (pair.tasks, pair.union, pair.types, pair.left_out) == (12, 11, 6, 0)
    assert pair.mcnemar_p == pytest.approx(0.0390625)
    sides = [
        {name: {each.question: [float(each.outcome == CORRECT)] for each, asked in zip(side, tasks, strict=True)
                if asked.type == name} for name in "abcdef"}
        for side in (first, second)
    ]  # fmt: skip
    wanted = paired_interval(*sides)
    assert pair.change == round(7 / 12, 4)
    assert (pair.change_low, pair.change_high) == (round(wanted.low, 4), round(wanted.high, 4))
    assert pair.as_json()["union"] == 11 and pair.as_json()["mcnemar_p"] == pair.mcnemar_p


def test_tasks_with_a_provider_failure_are_left_out_of_a_pair():
    tasks = tasks_of("abcd")
    pair = compare_repairs(run("+!-+", tasks), run("++!-", tasks), tasks, NAMES)
    assert (pair.both, pair.only_first, pair.only_second, pair.neither, pair.left_out) == (1, 1, 0, 0, 2)


def test_which_to_trust():
    shared, own = tasks_of("aabb"), tasks_of("abcd")
    text = which_to_trust(compare_repairs(run("+-+-", shared), run("++--", shared), shared, NAMES))
    assert "4 tasks are of 2 types" in text and "trust the interval" in text
    text = which_to_trust(compare_repairs(run("+-+-", own), run("++--", own), own, NAMES))
    assert "a type of its own, so both hold" in text


def test_other_tasks_are_not_compared():
    tasks = tasks_of("abc")
    with pytest.raises(ValueError, match="task-2 was attempted in one run and not in another"):
        compare_repairs(run("++", tasks[:2]), run("+++", tasks), tasks, NAMES)
    with pytest.raises(ValueError, match="task-1 was attempted but is not among the tasks"):
        compare_repairs(run("++", tasks[:2]), run("++", tasks[:2]), tasks[:1], NAMES)
    with pytest.raises(ValueError, match="first and second have no task that both answered"):
        compare_repairs(run("!+", tasks[:2]), run("+!", tasks[:2]), tasks, NAMES)


def test_a_chain_with_losses_and_returns():
    """Down the page a checkpoint, across it a task; the last task met a provider's failure."""
    tasks = tasks_of("abcdefgh")
    fates = {
        "released": "+--+---+",
        "sft_a":    "+++-+--+",
        "sft_b":    "++-++--+",
        "r1":       "++--+-+!",
        "r2":       "+++---++",
    }  # fmt: skip
    found = chain_history({name: run(letters, tasks) for name, letters in fates.items()})
    assert found.steps == (
        Step("released", "sft_a", solved_before=2, solved_after=4, gained=3, regained=0, lost=1),
        Step("sft_a", "sft_b", solved_before=4, solved_after=4, gained=1, regained=1, lost=1),
        Step("sft_b", "r1", solved_before=4, solved_after=4, gained=1, regained=0, lost=1),
        Step("r1", "r2", solved_before=4, solved_after=4, gained=1, regained=1, lost=1),
    )
    assert (found.tasks, found.left_out) == (7, 1)
    assert (found.always, found.never, found.ever) == (1, 1, 6)
    # Lost: tasks 2, 3 and 4. Solved again: 2 (by r2), 3 (by sft_b, then lost for good). Missing at the end: 3, 4.
    assert (found.lost, found.regained, found.lost_at_end) == (3, 2, 2)


def test_a_chain_of_one_has_no_step():
    found = chain_history({"released": run("+-", tasks_of("ab"))})
    assert (found.steps, found.tasks, found.ever, found.lost) == ((), 2, 1, 0)


def test_outcomes_before_and_after():
    tasks = tasks_of("abcde")
    first, second = run("t-+t!", tasks), run("+++-+", tasks)
    assert outcome_transitions(first, second) == {
        CORRECT: {CORRECT: 1, WRONG_SQL: 0},
        WRONG_SQL: {CORRECT: 1, WRONG_SQL: 0},
        TURN_LIMIT: {CORRECT: 1, WRONG_SQL: 1},
        INFRASTRUCTURE: {CORRECT: 1, WRONG_SQL: 0},
    }
    assert differing_tasks(first, second) == (["task-0", "task-1"], [])
    assert differing_tasks(second, first) == ([], ["task-0", "task-1"])
