"""Where repair tasks come from, as params.yaml says it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

GENERATED = "generated"
_SIX_GYM = "sixgym:"


@dataclass(frozen=True)
class SourceParams:
    """The section `repair` of params.yaml.

    `source` is `generated` (over the project's own worlds), `sixgym:DIR` (a folder with the published data set) or the
    path of the user's own database, over which tasks are generated too. `category` and `databases` choose among the
    records of a data set. `evaluation_share` is of all tasks of a database, `validation_share` of what that leaves.
    `allow_test_code` lets tests run that can only be judged by running what the data set's authors wrote.
    """

    source: str
    category: str
    databases: tuple[str, ...]
    seed: int
    evaluation_share: float
    validation_share: float
    allow_test_code: bool

    def __post_init__(self) -> None:
        if not self.source.removeprefix(_SIX_GYM).strip():
            raise ValueError(f"source: {self.source!r} names nothing; give {GENERATED}, {_SIX_GYM}DIR or a database")
        for key in ("evaluation_share", "validation_share"):
            if not 0 <= getattr(self, key) < 1:
                raise ValueError(f"{key}: {getattr(self, key)} is out of range; use 0 to 0.9")

    @property
    def six_gym_folder(self) -> Path | None:
        """The folder of the data set, None for another source."""
        name = self.source.removeprefix(_SIX_GYM)
        return None if name == self.source else Path(name).expanduser()

    @property
    def user_database(self) -> Path | None:
        """The user's own database, None for another source."""
        return None if self.source == GENERATED or self.six_gym_folder else Path(self.source).expanduser()
