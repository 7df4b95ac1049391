"""What an artefact says of its origin is JSON, the same each time, and names no machine."""

import json
from importlib.metadata import version

from sqldojo.training.provenance import provenance


def test_seed_device_and_versions_are_named() -> None:
    about = provenance(17)
    assert about["seed"] == 17
    assert about["device"] in ("cpu", "gpu")
    assert about["versions"] == {"mlx": version("mlx"), "mlx-lm": version("mlx-lm")}


def test_it_is_the_same_each_time_and_holds_no_path() -> None:
    text = json.dumps(provenance(17), sort_keys=True)
    assert text == json.dumps(provenance(17), sort_keys=True)
    assert "/" not in text and "\\" not in text
