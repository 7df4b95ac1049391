"""Splits: exact shares, whole types, the same for the same seed."""

from collections import Counter, defaultdict
from random import Random

from sqldojo.repair.splitting import split
from sqldojo.repair.task import EVALUATION, TRAIN, VALIDATION, RepairTask


def tasks_of(*sizes, db_id="books"):
    """One type of tasks for each size."""
    return [
        RepairTask(f"{db_id}-{type}-{number}", db_id, "", "k", f"{db_id}-{type}", "Query", "?", ("SELECT 1",))
        for type, size in enumerate(sizes)
        for number in range(size)
    ]


def splits(tasks, **changes):
    return split(tasks, **{"seed": 42, "evaluation_share": 0.2, "validation_share": 0.1, **changes})


def test_shares_are_exact_for_each_database():
    tasks = tasks_of(*[1] * 282) + tasks_of(*[1] * 293, db_id="netflix")
    found = Counter((task.db_id, task.split) for task in splits(tasks))
    assert found == {
        ("books", EVALUATION): 56, ("books", VALIDATION): 23, ("books", TRAIN): 203,
        ("netflix", EVALUATION): 59, ("netflix", VALIDATION): 23, ("netflix", TRAIN): 211,
    }  # fmt: skip


def test_a_type_is_in_one_split():
    random = Random(1)
    tasks = tasks_of(*[random.randint(1, 9) for _ in range(80)])
    found = splits(tasks)
    by_type = defaultdict(set)
    for task in found:
        by_type[task.type].add(task.split)
    assert all(len(where) == 1 for where in by_type.values())
    counts = Counter(task.split for task in found)
    assert counts[EVALUATION] == round(0.2 * len(tasks))
    assert counts[VALIDATION] == round(0.1 * (len(tasks) - counts[EVALUATION]))


def test_a_type_on_several_databases_is_in_one_split():
    tasks = [
        RepairTask(f"{db_id}-{number}", db_id, "", "k", f"type-{number}", "Query", "?", ("SELECT 1",))
        for db_id in ("a", "b", "c")
        for number in range(50)
    ]
    found = splits(tasks)
    assert len({(task.type, task.split) for task in found}) == 50
    assert Counter(task.split for task in found) == {EVALUATION: 30, VALIDATION: 12, TRAIN: 108}


def test_a_seed_decides_and_nothing_else():
    tasks = tasks_of(*[1] * 100)
    assert splits(tasks) == splits(tasks)
    shuffled = Random(3).sample(tasks, len(tasks))
    assert sorted(splits(shuffled), key=lambda task: task.id) == sorted(splits(tasks), key=lambda task: task.id)
    assert splits(tasks) != splits(tasks, seed=43)
    evaluation = [task.id for task in splits(tasks) if task.split == EVALUATION]
    assert [task.id for task in splits(tasks, validation_share=0.5) if task.split == EVALUATION] == evaluation


def test_types_too_large_for_a_share_stay_in_training():
    found = Counter(task.split for task in splits(tasks_of(10, 10, 10)))
    assert found == {TRAIN: 30}


def test_without_shares_all_is_training():
    assert {task.split for task in splits(tasks_of(1, 2), evaluation_share=0.0, validation_share=0.0)} == {TRAIN}
    assert splits([]) == []
