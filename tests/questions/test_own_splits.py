"""Splits of a user's own database: none that is needed is empty, and no held-out question is trained."""

from dataclasses import replace

import pytest
from village import IN_TOWN

from sqldojo.databases.execution import Limits
from sqldojo.databases.families import FAMILIES, family_paths
from sqldojo.errors import UserError
from sqldojo.files import write_records
from sqldojo.questions.instantiate import SPLITS
from sqldojo.questions.own_splits import check_splits, without_clashes
from sqldojo.questions.review import ReviewParams, hold_out_shapes
from sqldojo.questions.shop_types import SHOP_TYPES
from sqldojo.questions.to_review import to_review
from sqldojo.records import Question

PARAMS = ReviewParams(
    seed=17, trained_values=2, held_out_values=1, reserved_share=0.4, held_out_shapes=0.1, reserved_types=0.1
)
TRAINED = Question("a-train-0001", "a", "train", "train", "Who lives in Rome?",
                   "SELECT name FROM people WHERE town = 'Rome' AND age > 10", {"town": "Rome"})  # fmt: skip
SELECTION = Question("b-selection-0001", "b", "selection", "evaluation", "Who is old in Oslo?",
                     "SELECT name FROM people WHERE town = 'Oslo' AND age > 30", {"town": "Oslo"})  # fmt: skip
SAME = Question("c-check-0001", "c", "check", "evaluation", "Whose town is Rome?",
                "SELECT name FROM people WHERE age > 10 AND town = 'Rome'", {"town": "Rome"})  # fmt: skip


def questions(*asked):
    return {split: [each for each in asked if each.split == split] for split in SPLITS}


@pytest.fixture(scope="module")
def databases(tiny_databases):
    return {family: family_paths(tiny_databases, family) for family in FAMILIES}


def test_a_held_out_question_that_is_trained_is_left_out_and_told(databases):
    kept, notes = without_clashes(questions(TRAINED, SELECTION, SAME), databases, Limits())
    assert kept == questions(TRAINED, SELECTION)
    assert notes == [
        "left out: c-check-0001: held out, but the training question a-train-0001 has the same query: "
        "Whose town is Rome? (SELECT name FROM people WHERE age > 10 AND town = 'Rome')",
        "the split reserved is empty: it is neither played nor scored",
        "the split check is empty: it is neither played nor scored",
    ]


def test_the_shops_types_are_mended_and_not_left_out(shop_databases):
    databases = {family: family_paths(shop_databases, family) for family in FAMILIES}
    trained = replace(TRAINED, reference="SELECT name FROM customers WHERE id = 1")
    same = replace(SAME, reference="SELECT name FROM customers WHERE 1 = id")
    with pytest.raises(UserError, match=r"c-check-0001: held out, but .* change or remove one of the two types"):
        without_clashes(questions(trained, SELECTION, same), databases, Limits())


@pytest.mark.parametrize("split", ["train", "selection"])
def test_a_needed_split_that_is_empty_is_named(databases, split):
    left = [each for each in (TRAINED, SELECTION, SAME) if each.split != split]
    with pytest.raises(UserError, match=f"data/questions: the split {split} is empty: the database gives too few"):
        without_clashes(questions(*left), databases, Limits())
    check_splits({"train", "selection"}, "data/reviewed")


def shapes(count, difficulty=1):
    """Types of so many shapes, one of each."""
    selected = (", ".join(["id"] * n) for n in range(1, count + 1))
    return [
        replace(IN_TOWN, id=f"t{n}", difficulty=difficulty, sql=f"SELECT {columns} FROM people WHERE town = :town")
        for n, columns in enumerate(selected, start=1)
    ]


def places(types, tmp_path, database):
    write_records(tmp_path / "types.jsonl", types)
    proposals, params = to_review(tmp_path / "types.jsonl", database, PARAMS)
    placed = hold_out_shapes(proposals, {"people": ("id", "name", "town")}, params)
    return [sum(each.split == split for each in placed) for split in ("train", "selection", "check")], params


def test_few_shapes_still_fill_the_held_out_splits(tmp_path, databases):
    assert places(shapes(30), tmp_path, databases["train"][0])[0] == [18, 6, 6]
    assert places(shapes(9), tmp_path, databases["train"][0])[0][0] >= 6


def test_many_shapes_are_held_out_by_their_share_alone(tmp_path, databases):
    few = hold_out_shapes(shapes(150), {"people": ("id", "name", "town")}, PARAMS)
    counts = [sum(each.split == split for each in few) for split in ("train", "selection", "check")]
    assert places(shapes(150), tmp_path, databases["train"][0])[0] == counts and min(counts) > 6


def test_hard_types_do_not_count(tmp_path, databases):
    counts, _ = places([*shapes(30), *shapes(60, difficulty=3)[30:]], tmp_path, databases["train"][0])
    assert counts[1] >= 6 and counts[2] >= 6


def test_few_types_are_all_asked_with_reserved_values(tmp_path, databases):
    assert places(shapes(20), tmp_path, databases["train"][0])[1].reserved_types == 1.0
    assert places(shapes(60), tmp_path, databases["train"][0])[1].reserved_types == pytest.approx(24 / 60)
    assert places(shapes(250), tmp_path, databases["train"][0])[1].reserved_types == 0.1


def test_the_shop_is_reviewed_as_its_params_say_with_its_own_types_first(tmp_path, shop_databases):
    write_records(tmp_path / "types.jsonl", shapes(3))
    shop = family_paths(shop_databases, "train")[0]
    assert to_review(tmp_path / "types.jsonl", shop, PARAMS) == ([*SHOP_TYPES, *shapes(3)], PARAMS)
