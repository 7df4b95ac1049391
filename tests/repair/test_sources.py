"""The section of params.yaml that says where repair tasks come from."""

import dataclasses
from pathlib import Path

import pytest

from sqldojo.repair.sources import SourceParams

PARAMS = SourceParams("generated", "Query", ("books",), 42, 0.2, 0.1, False)


@pytest.mark.parametrize(
    ("source", "folder", "database"),
    [
        ("generated", None, None),
        ("sixgym:data/six-gym", Path("data/six-gym"), None),
        ("sixgym:~/x", Path.home() / "x", None),
        ("shop.sqlite", None, Path("shop.sqlite")),
    ],
)
def test_source(source, folder, database):
    params = dataclasses.replace(PARAMS, source=source)
    assert (params.six_gym_folder, params.user_database) == (folder, database)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"source": "sixgym:"}, "source: "),
        ({"source": " "}, "source: "),
        ({"evaluation_share": 1.0}, "evaluation_share: 1.0 is out of range"),
        ({"validation_share": -0.1}, "validation_share: -0.1 is out of range"),
    ],
)
def test_values_out_of_range_are_refused(changes, why):
    with pytest.raises(ValueError, match=why):
        dataclasses.replace(PARAMS, **changes)
