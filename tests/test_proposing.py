"""All proposals together: offline the same every time, with stones for what fails and with what models reply."""

import json

import pytest
from canned_replies import said

from sqldojo.databases.building import DatabaseParams, build_families
from sqldojo.databases.families import ORDINARY, TRAIN, family_paths
from sqldojo.errors import UserError
from sqldojo.files import to_line
from sqldojo.proposing import ProposeParams, proposal_metrics, propose, read_failing
from sqldojo.questions.shop_held_out_types import CHECK_TYPES, SELECTION_TYPES
from sqldojo.teacher.provider import ProviderError, ProviderParams

PROVIDERS = ProviderParams(1.0, 2, 0, 1.0, "schema_only")
ITEM = {
    "id": "city-names",
    "phrasings": ["Which customers live in {city}, by name? Return only the names."],
    "sql": "SELECT name FROM customers WHERE city = :city",
    "parameters": {"city": "known"},
}


@pytest.fixture(scope="module")
def databases(tmp_path_factory):
    folder = tmp_path_factory.mktemp("proposing") / "ordinary"
    build_families(folder, DatabaseParams(seed=17, customers=60, products=60, orders=250), ORDINARY)
    return family_paths(folder, TRAIN, ORDINARY)


def nobody(_):
    pytest.fail("asked")


def test_offline_types_are_composed_and_nobody_is_asked(databases):
    found = propose(databases, nobody, ProposeParams(seed=17, most=40), PROVIDERS)
    again = propose(databases, nobody, ProposeParams(seed=17, most=40), PROVIDERS)
    assert [to_line(each) for each in found.types] == [to_line(each) for each in again.types]
    metrics = proposal_metrics(found)
    assert metrics["by_proposer"] == {"composed": metrics["proposed"]}
    assert sum(metrics["by_pattern"].values()) == sum(metrics["by_difficulty"].values()) == metrics["proposed"]
    assert len(metrics["by_pattern"]) >= 10


def test_stones_come_for_failing_types_and_never_twice(databases, tmp_path):
    file = tmp_path / "failing.json"
    file.write_text('{"top-spenders": 0.1, "unknown": 0.0}', encoding="utf-8")
    few = propose(databases, nobody, ProposeParams(seed=17, most=1, failing=str(file)), PROVIDERS)
    ids = [each.id for each in few.types]
    assert len(set(ids)) == len(ids)
    stones = [each.sql for each in few.types if each.proposer == "stepping-stones"]
    assert "SELECT COUNT(*) FROM orders JOIN customers ON customers.id = orders.customer_id " \
           "WHERE customers.country = :country" in stones  # fmt: skip


def test_models_propose_after_another_and_a_failing_provider_is_counted(databases):
    asked = []

    def ask(request):
        asked.append(request)
        if request.model == "broken/one":
            raise ProviderError("time-out")
        return said(json.dumps([ITEM, {"id": "bad"}]))

    settings = ProposeParams(seed=17, most=1, models=("a/one", "broken/one", "b/two"), per_model=5)
    found = propose(databases, ask, settings, PROVIDERS)
    first, second = [each for each in found.types if each.proposer in settings.models]
    assert (first.id, first.proposer, first.pattern, first.difficulty) == ("a-one-city-names", "a/one", "filter", 1)
    assert second.id == "b-two-city-names"
    metrics = proposal_metrics(found)
    assert metrics["malformed"] == {"a/one": 1, "b/two": 1}
    assert metrics["provider_errors"] == {"time-out": 1}
    text = asked[-1].messages[0]["content"]
    assert "- a-one-city-names: " in text and "- top-spenders: " in text
    for held_out in (*SELECTION_TYPES, *CHECK_TYPES):
        assert held_out.phrasings[0] not in text


def test_under_schema_only_no_value_of_a_row_is_in_a_prompt(databases):
    asked = []

    def ask(request):
        asked.append(request.messages[0]["content"])
        return said("[]")

    propose(databases, ask, ProposeParams(seed=17, most=0, models=("m",)), PROVIDERS)
    for value in ("Lyon", "France", "Cookbooks", "pending"):
        assert value not in asked[0]


@pytest.mark.parametrize(
    ("text", "why"),
    [("{", "not JSON"), ("[]", "expected an object"), ('{"a": "low"}', "expected an object")],
)
def test_a_file_of_failing_types_that_is_none_is_the_users_to_mend(tmp_path, text, why):
    file = tmp_path / "failing.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=why):
        read_failing(file)
    with pytest.raises(UserError, match=r"propose\.failing: no file"):
        read_failing(tmp_path / "absent.json")


@pytest.mark.parametrize(("key", "value"), [("most", -1), ("per_model", 0), ("models", ("m", "m"))])
def test_params_out_of_range_name_their_key(key, value):
    with pytest.raises(ValueError, match=f"^{key}: "):
        ProposeParams(**{"seed": 17, "most": 1, key: value})
