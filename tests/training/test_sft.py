"""Training rows of one action each: what they hold, and that computing them together changes no gradient."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import mlx.core as mx
import pytest
from mlx.utils import tree_flatten
from tiny_policy import demonstration, with_adapter

from sqldojo.errors import UserError
from sqldojo.training.action_rows import ActionRow, RowCaps, action_rows, merged, within
from sqldojo.training.dialogue import TokenSequence
from sqldojo.training.policy_model import PolicyModel, adapter_weights, add_fresh_adapter, load_policy_model
from sqldojo.training.selection import Look, Selection, SelectionParams
from sqldojo.training.sft import Example, SftParams, fine_tune, row_batches
from sqldojo.training.shared_prefix import loss_and_gradients, make_tree
from sqldojo.training.supervised import Looking

PARAMS = SftParams(
    seed=7, updates=6, batch_size=4, micro_batch_size=2, learning_rate=0.01, final_share=0.1, warmup_steps=1,
    gradient_norm=1.0, checkpoint_every=2, lora_rank=4, lora_scale=2.0, caps=RowCaps(600, 100), departure_weight=1.0,
)  # fmt: skip
SEQUENCE = TokenSequence((5, 6, 7, 8, 9, 10, 11, 12), (0, 0, 1, 1, 0, 1, 0, 1))
EPISODES = [
    demonstration(1, "SELECT count(*) FROM people"),
    demonstration(2, "SELECT max(age) FROM people", look="SELECT age FROM people"),
    demonstration(3, "SELECT min(age) FROM people", look="SELECT age FROM people", mistake="SELECT name FROM people"),
]


def examples(policy: PolicyModel) -> list[Example]:
    return [Example(each.question, policy.dialogue.demonstration(each.messages)) for each in EPISODES]


def test_every_action_is_a_row_of_its_own() -> None:
    assert action_rows(SEQUENCE) == [
        ActionRow((5, 6, 7, 8), 2), ActionRow((5, 6, 7, 8, 9, 10), 5), ActionRow((5, 6, 7, 8, 9, 10, 11, 12), 7),
    ]  # fmt: skip


def test_longer_rows_are_left_out() -> None:
    rows = action_rows(SEQUENCE)
    assert within(rows, RowCaps(5, 2)) == rows[:2]
    assert within(rows, RowCaps(7, 1)) == rows[1:]
    with pytest.raises(ValueError, match="context_tokens: must be at least 1"):
        RowCaps(0, 1)


def test_rows_of_one_dialogue_become_one_sequence_again() -> None:
    rows = action_rows(SEQUENCE)
    assert merged(rows) == [SEQUENCE]
    assert merged([rows[2], rows[0]]) == [TokenSequence(SEQUENCE.tokens, (0, 0, 1, 1, 0, 0, 0, 1))]
    other = ActionRow((5, 6, 70, 80), 2)
    assert merged([rows[0], other]) == [
        TokenSequence(rows[0].tokens, (0, 0, 1, 1)), TokenSequence(other.tokens, (0, 0, 1, 1)),
    ]  # fmt: skip


def gradients(policy: PolicyModel, sequences: list[TokenSequence]) -> dict[str, mx.array]:
    tree = make_tree([[(each.tokens, each.action_mask) for each in sequences]], rows=2)
    _, found, _ = loss_and_gradients(policy, tree, lambda logprobs, batch: -(logprobs * batch.weights).sum())
    return dict(tree_flatten(found))


def test_merged_rows_have_the_gradient_of_the_rows_one_by_one(tiny_folder: Path) -> None:
    policy = with_adapter(tiny_folder)
    rows = [row for each in examples(policy) for row in action_rows(each.sequence)]
    assert len(rows) == 5 and len(merged(rows)) == 3
    apart = [TokenSequence(row.tokens, (0,) * row.start + (1,) * row.target_tokens) for row in rows]
    one, other = gradients(policy, merged(rows)), gradients(policy, apart)
    for name, tensor in one.items():
        assert mx.abs(tensor - other[name]).max().item() <= 1e-4 * mx.abs(tensor).max().item() + 1e-7


def test_updates_have_as_many_rows_as_asked_and_every_type_alike(tiny_folder: Path) -> None:
    rows = [action_rows(each.sequence) for each in examples(load_policy_model(tiny_folder))]
    steps = row_batches(rows, ["a", "b", "b"], replace(PARAMS, updates=5))
    assert [len(step) for step in steps] == [4] * 5
    seen = Counter(row for step in steps for row in step)
    assert seen[rows[0][0]] == pytest.approx(seen[rows[1][0]] + seen[rows[2][0]], abs=1)


def test_a_continuation_learns_the_teachers_actions_alone(tiny_folder: Path) -> None:
    dialogue = load_policy_model(tiny_folder).dialogue
    whole = dialogue.demonstration(EPISODES[1].messages)
    first = action_rows(whole)[0]
    messages = EPISODES[1].messages[2:]
    assert dialogue.continued(whole.tokens[: first.start], messages) == whole
    mistaken = [replace(messages[0], target=False), *messages[1:]]
    (row,) = action_rows(dialogue.continued(whole.tokens[: first.start], mistaken))
    assert row == action_rows(whole)[1]


def fresh(folder: Path) -> PolicyModel:
    policy = load_policy_model(folder)
    add_fresh_adapter(policy.model, PARAMS.lora, PARAMS.seed)
    return policy


def test_fine_tuning_lowers_the_loss_and_counts_rows(tiny_folder: Path, tmp_path: Path) -> None:
    policy = fresh(tiny_folder)
    curve, counts = fine_tune(policy, examples(policy), replace(PARAMS, updates=25, learning_rate=0.02), tmp_path, "s")
    assert curve[-1].loss < 0.7 * curve[0].loss
    assert (counts.rows, counts.too_long) == (5, 0)


def test_rows_that_are_all_too_long_are_the_users_fault(tiny_folder: Path, tmp_path: Path) -> None:
    policy = fresh(tiny_folder)
    with pytest.raises(UserError, match=r"params.yaml: sft.caps: none of 5 rows is short enough"):
        fine_tune(policy, examples(policy), replace(PARAMS, caps=RowCaps(3, 3)), tmp_path, "sft")


def test_the_best_look_decides_which_adapter_is_left(tiny_folder: Path, tmp_path: Path) -> None:
    """Looks after 2, 4 and 6 updates, of which the one after 4 is the best: the result is a run of 4 with that rate."""
    accuracies = {2: 0.25, 4: 0.75, 6: 0.5}
    weights: dict[int, dict[str, mx.array]] = {}
    policy = fresh(tiny_folder)

    def look(step: int) -> Look:
        weights[step] = dict(tree_flatten(policy.model.trainable_parameters()))
        return Look(step, accuracies[step], 0.0, 1.0, 4, 4)

    selection = Selection(SelectionParams(every=2, attempts=1, patience=3, keep="best", accuracy_floor_drop=1.0))
    curve, _ = fine_tune(policy, examples(policy), PARAMS, tmp_path, "sft", looking=Looking(selection, look))
    assert sorted(weights) == [2, 4, 6] and len(curve) == 6 and selection.kept.step == 4
    left = dict(tree_flatten(policy.model.trainable_parameters()))
    assert all(mx.array_equal(left[name], tensor) for name, tensor in weights[4].items())
    assert any(not mx.array_equal(left[name], tensor) for name, tensor in weights[6].items())


def test_a_killed_run_resumes_with_its_looks(tiny_folder: Path, tmp_path: Path) -> None:
    class Killed(Exception):
        pass

    def run(folder: Path, die_at: int | None) -> tuple[PolicyModel, Selection]:
        policy = fresh(tiny_folder)

        def look(step: int) -> Look:
            if step == die_at:
                raise Killed
            return Look(step, {2: 0.5, 4: 0.25, 6: 0.25}[step], 0.0, 1.0, 4, 4)

        selection = Selection(SelectionParams(every=2, attempts=1, patience=3, keep="best", accuracy_floor_drop=1.0))
        fine_tune(policy, examples(policy), PARAMS, folder, "sft", looking=Looking(selection, look))
        return policy, selection

    straight, looks = run(tmp_path / "straight", None)
    with pytest.raises(Killed):
        run(tmp_path / "killed", 4)
    resumed, again = run(tmp_path / "killed", None)
    assert again.state() == looks.state() and again.kept.step == 2
    one, other = (dict(tree_flatten(each.model.trainable_parameters())) for each in (straight, resumed))
    assert all(mx.array_equal(one[name], other[name]) for name in one)


def test_a_weight_of_one_is_the_plain_loss_and_another_moves_what_is_learnt(tiny_folder: Path, tmp_path: Path) -> None:
    ends = []
    for number, weight in enumerate((1.0, 1.0, 4.0)):
        policy = fresh(tiny_folder)
        curve, _ = fine_tune(
            policy, examples(policy), replace(PARAMS, departure_weight=weight), tmp_path / str(number), "s"
        )
        ends.append((curve[-1].loss, adapter_weights(policy.model)))
    assert ends[0][0] == ends[1][0] != ends[2][0]
    moved = [mx.abs(ends[0][1][name] - ends[2][1][name]).max().item() for name in ends[0][1]]
    assert max(moved) > 1e-5


def test_no_weight_is_refused() -> None:
    for weight in (0.0, -1.0, float("inf")):
        with pytest.raises(ValueError, match="departure_weight: must be above 0"):
            replace(PARAMS, departure_weight=weight)
