"""What the stages of the repair chain do: teach, train, play and correct, each from records to records."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sqldojo.agent.tool_format import ToolFormat, plain_format
from sqldojo.chains import Chain
from sqldojo.databases.execution import Limits
from sqldojo.errors import UserError
from sqldojo.evaluation.repair_scores import bug_kind, score_repairs
from sqldojo.evaluation.scoring import play_all
from sqldojo.evaluation.tables import write_table
from sqldojo.evaluation.validation_look import validation_look
from sqldojo.files import read_records, write_json
from sqldojo.records import CORRECT, Episode
from sqldojo.repair.attempt import RepairAttempt, repair_attempt_maker
from sqldojo.repair.judging import Judge
from sqldojo.repair.task import EVALUATION, TRAIN, VALIDATION, Hidden, RepairTask
from sqldojo.repair.tools import REPAIR_TOOLS
from sqldojo.repair_chain import (
    DATABASES,
    HIDDEN,
    PUBLIC,
    RELEASED,
    ROUNDS,
    adapter,
    attempts,
    before,
    metrics,
)
from sqldojo.repair_chain import curve as curve_path
from sqldojo.repair_chain import looks as looks_path
from sqldojo.repair_params import RepairParams
from sqldojo.teacher.costs import spending
from sqldojo.teacher.provider import Ask, ProviderParams
from sqldojo.teacher.recording import Replaying
from sqldojo.teacher.repair_api import api_corrector, api_demonstrations, api_episodes
from sqldojo.teacher.repair_correction import Continuation, correct, retained
from sqldojo.teacher.repair_script import SCRIPTED_A, SCRIPTED_B, demonstrate, script_teacher
from sqldojo.training.dialogue import Dialogue, TokenSequence
from sqldojo.training.policy_model import (
    PolicyModel,
    adapter_params,
    add_fresh_adapter,
    load_policy_model,
    save_adapter,
)
from sqldojo.training.provenance import provenance
from sqldojo.training.selection import Selection
from sqldojo.training.sft import Example, RowCounts, fine_tune
from sqldojo.training.supervised import Looking, UpdateRecord, final_loss

SCRIPTED = (SCRIPTED_A, SCRIPTED_B)


@dataclass(frozen=True)
class TaskSet:
    """The tasks of a run, at most as many of each split as params.yaml says, and what judges and plays them."""

    tasks: Sequence[RepairTask]
    hidden: Mapping[str, Hidden]
    params: RepairParams
    limits: Limits
    root: Path

    @classmethod
    def read(cls, params: RepairParams, limits: Limits, root: Path = Path(".")) -> TaskSet:
        """Those that the stage make_tasks wrote below `root`. UserError for a malformed file."""
        hidden = {half.id: half for half in read_records(root / HIDDEN, Hidden)}
        return cls(read_records(root / PUBLIC, RepairTask), hidden, params, limits, root)

    @property
    def demonstrated(self) -> list[RepairTask]:
        """The training tasks that teachers show."""
        return self._some(TRAIN, self.params.most.demonstrations)

    def of(self, split: str) -> list[RepairTask]:
        """The tasks of a split that are played, in their order."""
        return self._some(split, getattr(self.params.most, split))

    def _some(self, split: str, most: int) -> list[RepairTask]:
        """At most so many of a split's tasks that are not too hard, 0 for all; fewer are among more."""
        hardest = self.params.most.hardest
        members = [task for task in self.tasks if task.split == split and task.difficulty <= hardest]
        order = [task.id for task in members]
        random.Random(f"{self.params.seed}/most/{split}").shuffle(order)
        drawn = set(order[: most or None])
        return [task for task in members if task.id in drawn]

    def maker(self, tool_format: ToolFormat) -> Callable[[RepairTask, int], RepairAttempt]:
        """What makes attempts in a tool format."""
        databases = self.root / DATABASES
        judge = Judge(databases, self.limits, allow_test_code=self.params.allow_test_code)
        return repair_attempt_maker(databases, self.hidden, judge, tool_format, self.params.agent, self.limits)

    @property
    def plain_maker(self) -> Callable[[RepairTask, int], RepairAttempt]:
        """What makes attempts for teachers."""
        return self.maker(plain_format(REPAIR_TOOLS))


def teach(
    tasks: TaskSet, teacher: str, ask: Replaying, providers: ProviderParams
) -> tuple[list[Episode], dict[str, Any]]:
    """A teacher's verified conversations at the training tasks, and their metrics."""
    params, asked = tasks.params, tasks.demonstrated
    if teacher in SCRIPTED:
        kept, counts = demonstrate(asked, tasks.hidden, tasks.plain_maker, teacher, params.styles.of(params.seed))
        return kept, {"teacher": teacher, "tasks": len(asked), "kept": len(kept), "by_style": dict(counts)}
    found = api_demonstrations(asked, tasks.hidden, ask, tasks.plain_maker, teacher, params.agent, providers)
    return found.episodes, {
        "teacher": teacher,
        "tasks": len(asked),
        "kept": len(found.episodes),
        "rejected": dict(found.rejected),
        "infrastructure": dict(found.provider_errors),
        "cost": spending(ask.used.values(), {teacher: len(found.episodes)}),
    }


def load_student(params: RepairParams, checkpoint: str, *, to_train: bool = False) -> PolicyModel:
    """The model with the adapter of a checkpoint; to train the first one, with a fresh adapter."""
    base = Chain(params.model, params.seed).base
    learnt = None if checkpoint == RELEASED else adapter(checkpoint)
    policy = load_policy_model(base, learnt, tools=REPAIR_TOOLS, to_play=not to_train)
    if to_train and checkpoint == RELEASED:
        add_fresh_adapter(policy.model, params.training.lora, params.seed)
    return policy


def weights(params: RepairParams, checkpoint: str) -> Path:
    """What stands for a checkpoint's weights among a stage's inputs: its adapter, or the base model's card."""
    return Chain(params.model, params.seed).base_card if checkpoint == RELEASED else adapter(checkpoint)


def inputs(params: RepairParams, limits: Limits, checkpoint: str) -> tuple[object, ...]:
    """All that playing or training from a checkpoint hangs on: when any of it changes, nothing old is resumed."""
    base = Chain(params.model, params.seed).base_card
    return (params, limits, provenance(params.seed), base, weights(params, checkpoint), PUBLIC, HIDDEN, DATABASES)


def play(policy: PolicyModel, tasks: TaskSet, asked: Sequence[RepairTask], journal: Path, name: str) -> list[Episode]:
    """One attempt at each task, sorted by id; every checkpoint meets a task with the same random keys."""
    make, params = tasks.maker(policy.dialogue.tool_format), tasks.params
    attempts = [make(task, 0) for task in asked]
    return play_all(
        policy, attempts, params.agent, journal, name, seed=params.seed, width=params.width, greedy=params.greedy
    )


def demonstrated(dialogue: Dialogue, episodes: Sequence[Episode]) -> list[Example]:
    """A teacher's conversations as examples to learn from; UserError when there is none."""
    if not episodes:
        raise UserError("data/repair/demonstrations: a teacher solved no task; check params.yaml: repair.teachers")
    return [Example(bug_kind(each.type), dialogue.demonstration(each.messages)) for each in episodes]


@dataclass(frozen=True)
class Lesson:
    """What a correction round learns from, continuations of a teacher and the student's successes, and its yield."""

    continuations: list[Continuation]
    kept: list[Episode]
    counts: dict[str, Any]

    def examples(self, dialogue: Dialogue) -> list[Example]:
        """What is learnt, with the student's tokens as they were sampled."""
        taught = [(each.type, dialogue.continued(each.prefix, each.messages)) for each in self.continuations]
        own = [(each.type, TokenSequence(each.tokens, each.action_mask)) for each in self.kept]
        return [Example(bug_kind(kind), sequence) for kind, sequence in (*taught, *own)]


def correction_round(
    tasks: TaskSet,
    student: Sequence[Episode],
    earlier: Sequence[Sequence[Episode]],
    ask: Replaying,
    providers: ProviderParams,
) -> Lesson:
    """What a round learns from, as the switches in params.yaml say.

    `student` are its attempts at the training tasks, `earlier` those of older checkpoints, the oldest first.
    """
    chosen = tasks.params.correction
    solved = {episode.question for episode in student if episode.outcome == CORRECT}
    continuations: list[Continuation] = []
    counts: dict[str, Any] = {"attempted": len(student), "solved": len(solved)}
    if chosen.corrections:
        teach_on = _corrector(tasks, ask, providers)
        found = correct(tasks.of(TRAIN), tasks.hidden, student, tasks.plain_maker, teach_on, chosen.teacher)
        continuations, counts = found.continuations, asdict(found.counts)
        if chosen.teacher not in SCRIPTED:
            counts["cost"] = spending(ask.used.values(), {chosen.teacher: len(continuations)})
    kept = retained(student, earlier) if chosen.retention else []
    own = sum(episode.question in solved for episode in kept)
    return Lesson(continuations, kept, counts | {"retained_own": own, "retained_lost": len(kept) - own})


def _corrector(tasks: TaskSet, ask: Replaying, providers: ProviderParams) -> Callable[[RepairAttempt], None]:
    teacher, params = tasks.params.correction.teacher, tasks.params
    if teacher in SCRIPTED:
        return script_teacher(tasks.hidden, teacher, params.styles.of(params.seed))
    return api_corrector(ask, teacher, params.agent, providers)


def train_checkpoint(
    tasks: TaskSet,
    checkpoint: str,
    examples_for: Callable[[Dialogue], Sequence[Example]],
    scratch: Path,
    counts: Mapping[str, Any],
) -> None:
    """Train a checkpoint from the one before and write its adapter, curve, looks, and metrics with these `counts` too.

    The adapter is that of the best look at the validation tasks, or the last one where there are no such tasks. Without
    an example nothing is learnt and it stays what it was before.
    """
    params, start = tasks.params, before(checkpoint)
    policy = load_student(params, start, to_train=True)
    examples = examples_for(policy.dialogue)
    curve: list[UpdateRecord] = []
    selection = Selection(params.looks.selection)
    found: dict[str, Any] = {"examples": len(examples), "updates": 0}
    if examples:
        curve, rows = fine_tune(policy, examples, params.training_of[checkpoint], scratch, "repair.training",
                                looking=_looking(policy, tasks, selection))  # fmt: skip
        found = _training_metrics(examples, curve, rows, selection)
    lora = params.training.lora if start == RELEASED else adapter_params(adapter(start))
    save_adapter(
        adapter(checkpoint), policy.model, lora, provenance(params.seed) | {"kept_update": found.get("kept_update", 0)}
    )
    write_table(curve_path(checkpoint), curve or [{"update": 0, "loss": None}])
    write_table(looks_path(checkpoint), selection.looks or [{"step": 0, "accuracy": None}])
    write_json(metrics(checkpoint), found | dict(counts))


def _looking(policy: PolicyModel, tasks: TaskSet, selection: Selection) -> Looking | None:
    """Looks at the validation tasks with the policy as it then is; None where there are no such tasks."""
    params, held = tasks.params, tasks.of(VALIDATION)
    if not held:
        return None
    make = tasks.maker(policy.dialogue.tool_format)
    look = validation_look(policy, held, make, params.agent, attempts=params.looks.attempts,
                           seed=params.seed, width=params.width, greedy=params.greedy)  # fmt: skip
    return Looking(selection, look)


def _training_metrics(
    examples: Sequence[Example], curve: Sequence[UpdateRecord], rows: RowCounts, selection: Selection
) -> dict[str, Any]:
    found = {
        "examples": len(examples),
        **asdict(rows),
        "updates": len(curve),
        "final_loss": final_loss(curve),
        "looks": len(selection.looks),
    }
    if selection.looks:
        kept = selection.kept
        found |= {"kept_update": kept.step, "kept_validation": round(kept.accuracy, 4)}
    return found


def scores(tasks: TaskSet, episodes: Sequence[Episode]) -> dict[str, Any]:
    """What a run comes to on the validation and on the evaluation tasks, with the limits that it was played under."""
    asked = {split: tasks.of(split) for split in (VALIDATION, EVALUATION)}
    return {
        split: score_repairs(
            [episode for episode in episodes if episode.split == split], members, seed=tasks.params.seed,
            limits=asdict(tasks.params.agent),
        )
        for split, members in asked.items()
        if members
    }  # fmt: skip


def record(tasks: TaskSet, ask: Ask, providers: ProviderParams, root: Path) -> None:
    """Ask what the stages of the chain will ask of models behind an API: as teachers, as references, as correctors.

    Correctors are asked about the attempts that there are below `root`: each round's once `dvc repro` has played them.
    """
    params, training = tasks.params, tasks.of(TRAIN)
    for teacher in params.teachers.values():
        if teacher not in SCRIPTED:
            api_demonstrations(
                tasks.demonstrated, tasks.hidden, ask, tasks.plain_maker, teacher, params.agent, providers
            )
    for model in params.references:
        api_episodes(tasks.of(EVALUATION), ask, tasks.plain_maker, model, params.agent, providers)
    if params.correction.corrections and params.correction.teacher not in SCRIPTED:
        for name in ROUNDS:
            if (root / attempts(name)).is_file():
                student = read_records(root / attempts(name), Episode)
                teach_on = api_corrector(ask, params.correction.teacher, params.agent, providers)
                correct(training, tasks.hidden, student, tasks.plain_maker, teach_on, params.correction.teacher)


def asks_models(params: RepairParams) -> bool:
    """Whether any model behind an API is named."""
    named = [*params.teachers.values(), *params.references]
    named += [params.correction.teacher] if params.correction.corrections else []
    return any(name not in SCRIPTED for name in named)
