from dataclasses import replace

import pytest
from village import IN_TOWN

from sqldojo.databases.execution import Limits
from sqldojo.databases.families import FAMILIES, family_paths
from sqldojo.questions.standing import standing
from sqldojo.records import FilledType

TIED = replace(IN_TOWN, id="tied")


def fill(town, split="train", of="in-town", sql="SELECT name FROM people WHERE town = '{}'"):
    return FilledType(of, "train" if split == "train" else "evaluation", split, {"town": town}, sql.format(town))


FINE = [fill("Rome"), fill("Pisa"), fill("Oslo", "reserved")]


@pytest.fixture(scope="module")
def stand(tiny_databases):
    databases = {family: family_paths(tiny_databases, family) for family in FAMILIES}
    return lambda types, filled: standing(types, filled, databases, Limits())


def test_what_is_fine_stays(stand):
    assert stand([IN_TOWN], FINE) == ([IN_TOWN], FINE, [])


def test_values_with_nothing_to_say_are_left_out(stand):
    assert stand([IN_TOWN], [*FINE, fill("Atlantis")]) == ([IN_TOWN], FINE, [])


def test_a_type_without_a_value_left_for_one_of_its_splits_is_withdrawn(stand):
    other = fill("Rome", of="tied")
    types, filled, (withdrawn,) = stand([IN_TOWN, TIED], [*FINE[:2], fill("Atlantis", "reserved"), other])
    assert (types, filled) == ([TIED], [other])
    assert (withdrawn.type, withdrawn.accepted, withdrawn.rule) == ("in-town", False, "empty-everywhere")


def test_a_type_that_rests_on_ties_is_withdrawn_with_all_its_values(stand):
    tied = fill("Pisa", of="tied", sql="SELECT name FROM people WHERE town >= '{}' ORDER BY age DESC LIMIT 1")
    types, filled, (withdrawn,) = stand([TIED, IN_TOWN], [fill("Rome", of="tied"), tied, *FINE])
    assert (types, filled) == ([IN_TOWN], FINE)
    assert withdrawn.rule == "depends-on-ties" and "LIMIT" in withdrawn.evidence
