from dataclasses import replace
from pathlib import Path

import pytest
from sqlite_files import write_table

from sqldojo.databases.building import DatabaseParams, build_families
from sqldojo.databases.execution import Limits
from sqldojo.databases.families import EVALUATION, FAMILIES, ORDINARY, TRAIN, family_paths
from sqldojo.params import load
from sqldojo.questions.instantiate import QuestionParams, make_questions
from sqldojo.questions.review import ReviewParams, review
from sqldojo.questions.shop_types import SHOP_TYPES

PARAMS = Path(__file__).parents[2] / "params.yaml"

TOWNS = {TRAIN: ("Rome", "Pisa"), EVALUATION: ("Oslo", "Bergen")}


@pytest.fixture(scope="session")
def tiny_databases(tmp_path_factory):
    """Two families of four databases with people(name, town, age): 1 to 4 people a town, aged 10, 20, 30, 40."""
    root = tmp_path_factory.mktemp("tiny")
    for family, towns in TOWNS.items():
        for size, path in enumerate(family_paths(root, family), start=1):
            people = [(f"{town} {n}", town, 10 * n) for town in towns for n in range(1, size + 1)]
            write_table(path, "CREATE TABLE people (name TEXT, town TEXT, age INTEGER)", people)
    return root


@pytest.fixture(scope="session")
def shop_databases(tmp_path_factory):
    """Both families of the shop world, as params.yaml has them."""
    root = tmp_path_factory.mktemp("shop") / "databases"
    build_families(root, load(PARAMS, "databases", DatabaseParams))
    return root


@pytest.fixture(scope="session")
def shop_review(shop_databases):
    """The review of the hand-written types on the ordinary instances, with all of their values for training."""
    params = replace(load(PARAMS, "review", ReviewParams), trained_values=60, held_out_values=4)
    ordinary = {family: family_paths(shop_databases, family, ORDINARY) for family in FAMILIES}
    return review(SHOP_TYPES, ordinary, params, Limits())


@pytest.fixture(scope="session")
def shop_questions(shop_review):
    """Every question of the shop types on those databases."""
    params = QuestionParams(seed=17, train_per_type=60, held_out_per_type=4)
    return make_questions(shop_review.types, shop_review.filled, params)
