"""Where the databases of repair tasks lie below a root, as in the published data set, and a generated one's family."""

from __future__ import annotations

from pathlib import Path

from sqldojo.databases.families import INSTANCES
from sqldojo.errors import UserError

FAMILY = "family"


def template_path(root: Path, db_id: str) -> Path:
    """The database that the tasks of a name are about."""
    return root / db_id / f"{db_id}_template.sqlite"


def template(root: Path, db_id: str) -> Path:
    """The same; UserError when it is not there."""
    path = template_path(root, db_id)
    if not path.is_file():
        raise UserError(f"{path}: no such database file; put it back, or leave {db_id} out of repair.databases")
    return path


def instance_paths(root: Path, db_id: str) -> tuple[Path, ...]:
    """The four instances of a generated database, in the order of INSTANCES; a published one has none."""
    return tuple(root / db_id / FAMILY / f"{name}.sqlite" for name in INSTANCES)


def has_family(root: Path, db_id: str) -> bool:
    """Whether a database has the four instances."""
    return (root / db_id / FAMILY).is_dir()
