"""What the stages of the repair chain share: which tasks are used, what a round learns from, which one is best."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import cpu_first  # noqa: F401
import pytest

# isort: split
from source_tree import ROOT

from sqldojo import repair_chain
from sqldojo.databases.execution import Limits
from sqldojo.errors import UserError
from sqldojo.evaluation.repair_results import RepairRun
from sqldojo.params import ParamsError, load
from sqldojo.records import CORRECT, WRONG_SQL, Episode
from sqldojo.repair.task import EVALUATION, TRAIN, VALIDATION, RepairTask
from sqldojo.repair_params import RepairParams
from sqldojo.repair_reading import best_on_validation
from sqldojo.repair_runs import TaskSet, asks_models, correction_round, demonstrated, inputs
from sqldojo.repair_tasks import make_tasks

PARAMS = load(ROOT / "params.yaml", "repair", RepairParams)


def task(number: int, split: str = TRAIN) -> RepairTask:
    return RepairTask(f"t-{number}", "shop", split, "syntax", f"type-{number}", "Query", "It fails.", ("SELECT",))


def episode(number: int, outcome: str, split: str = TRAIN) -> Episode:
    return Episode(f"t-{number}/0", f"t-{number}", "syntax", split, 0, (), outcome, 0.0, "",
                   tokens=(1, 2), action_mask=(0, 1), logprobs=(0.0, -1.0))  # fmt: skip


def task_set(params: RepairParams = PARAMS) -> TaskSet:
    tasks = [task(number) for number in range(40)] + [task(number, EVALUATION) for number in range(40, 50)]
    return TaskSet(tasks, {}, params, Limits(), Path())


def most(**numbers: int) -> RepairParams:
    return replace(PARAMS, most=replace(PARAMS.most, **numbers))


def test_fewer_tasks_are_some_of_more_and_zero_means_all() -> None:
    few, some = task_set(most(train=5, demonstrations=12)), task_set(most(train=0, demonstrations=0))
    assert len(few.of(TRAIN)) == 5 and len(few.demonstrated) == 12
    assert {each.id for each in few.of(TRAIN)} < {each.id for each in few.demonstrated}
    assert some.of(TRAIN) == some.demonstrated and len(some.of(TRAIN)) == 40
    assert [each.id for each in few.demonstrated] == sorted(
        (each.id for each in few.demonstrated), key=lambda name: int(name[2:])
    )
    assert len(task_set(most(evaluation=3)).of(EVALUATION)) == 3 and task_set().of(VALIDATION) == []


def test_harder_tasks_are_left_to_stronger_models() -> None:
    tasks = [replace(task(number), difficulty=number % 5) for number in range(20)]
    found = {hardest: replace(task_set(most(hardest=hardest, train=0)), tasks=tasks).of(TRAIN) for hardest in (1, 4)}
    assert [each.difficulty for each in found[1]] == [0, 1] * 4 and len(found[4]) == 20
    with pytest.raises(ValueError, match="hardest: must be from 1 to 4, found 5"):
        most(hardest=5)


def test_every_trained_checkpoint_has_its_settings() -> None:
    found = PARAMS.training_of
    assert tuple(found) == repair_chain.TRAINED
    assert [found[name].updates for name in ("sft_a", "r1")] == [
        PARAMS.training.sft_updates["a"], PARAMS.training.correction_updates["r1"],
    ]  # fmt: skip
    assert found["sft_b"].learning_rate == PARAMS.training.sft_learning_rate["b"]
    assert found["r2"].learning_rate == PARAMS.training.correction_learning_rate
    assert {each.seed for each in found.values()} == {PARAMS.seed}
    assert [repair_chain.before(name) for name in repair_chain.TRAINED] == ["released", "sft_a", "sft_b", "r1"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("b: scripted-b\n", "b: scripted-b\n    c: x\n", r"repair\.teachers: name one for each of a, b, found a, b, c"),
        ("      b: 0.0005\n", "", r"repair\.training\.sft_learning_rate: give one for each of a, b, found a"),
        ("r2: 4\n", "r3: 4\n", r"repair\.training\.correction_updates: give one for each of r1, r2, found r1, r3"),
    ],
)
def test_a_wrong_name_is_the_users_fault(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = tmp_path / "params.yaml"
    text = (ROOT / "params.yaml").read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))
    with pytest.raises(ParamsError, match=message):
        load(path, "repair", RepairParams)


@pytest.mark.parametrize(
    ("retention", "kept", "lost"), [(True, {"t-0", "t-1"}, 1), (False, set(), 0)], ids=["retention", "without"]
)
def test_retention_is_a_switch(retention: bool, kept: set[str], lost: int) -> None:
    """Task 0 is solved now, task 1 was before and is lost, task 2 never was."""
    now = [episode(0, CORRECT), episode(1, WRONG_SQL), episode(2, WRONG_SQL)]
    before = [episode(0, CORRECT), episode(1, CORRECT), episode(2, WRONG_SQL)]
    params = replace(PARAMS, correction=replace(PARAMS.correction, corrections=False, retention=retention))
    found = correction_round(task_set(params), now, [before], None, None)
    assert {each.question for each in found.kept} == kept and found.continuations == []
    assert found.counts == {"attempted": 3, "solved": 1, "retained_own": len(kept) - lost, "retained_lost": lost}
    assert len(found.examples(None)) == len(kept)


def test_models_are_asked_only_where_they_are_named() -> None:
    assert not asks_models(PARAMS)
    assert asks_models(replace(PARAMS, references=("openai/tiny",)))
    assert asks_models(replace(PARAMS, correction=replace(PARAMS.correction, teacher="openai/tiny")))
    unused = replace(PARAMS.correction, teacher="openai/tiny", corrections=False)
    assert not asks_models(replace(PARAMS, correction=unused))


def test_of_equal_checkpoints_the_one_that_was_trained_less_is_chosen() -> None:
    def run(name: str, *outcomes: str) -> RepairRun:
        played = [episode(number, outcome, VALIDATION) for number, outcome in enumerate(outcomes)]
        return RepairRun(name, [], {}, played)

    runs = [run("a", WRONG_SQL, WRONG_SQL), run("b", CORRECT, WRONG_SQL), run("c", WRONG_SQL, CORRECT)]
    assert best_on_validation(runs) == "b"
    assert best_on_validation([RepairRun("a", [], {})]) is None


def test_a_teacher_who_solved_nothing_stops_the_training() -> None:
    with pytest.raises(UserError, match=r"a teacher solved no task; check params\.yaml: repair\.teachers"):
        demonstrated(None, [])


def test_whatever_judges_or_plays_is_among_the_inputs_of_a_resumed_run() -> None:
    """Hidden halves and databases change verdicts though the public tasks stay what they are."""
    found = inputs(PARAMS, Limits(), "sft_a")
    assert {repair_chain.PUBLIC, repair_chain.HIDDEN, repair_chain.DATABASES, repair_chain.adapter("sft_a")} < {
        each for each in found if isinstance(each, Path)
    }
    assert PARAMS in found and Limits() in found


def test_a_source_that_is_not_there_is_told_with_the_key_and_leaves_nothing(tmp_path: Path) -> None:
    params = replace(PARAMS, source=str(tmp_path / "club.sqlite"))
    said = r"params\.yaml: repair\.source: there is no file .*club\.sqlite; give the path"
    with pytest.raises(UserError, match=said):
        make_tasks(params, Limits(), tmp_path / "out", audited=tmp_path, databases=tmp_path)
    assert list(tmp_path.iterdir()) == []
