"""Repair tasks from where params.yaml says: generated over our worlds or a user's database, or those of a data set."""

from __future__ import annotations

import shutil
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sqldojo.bank_files import database_name
from sqldojo.databases.execution import Limits
from sqldojo.databases.families import TRAIN, family_paths
from sqldojo.databases.shop_schema import is_shop
from sqldojo.errors import UserError
from sqldojo.files import replacing_folder, write_records
from sqldojo.progress import progress
from sqldojo.repair import six_gym
from sqldojo.repair.gate import Gated, gate
from sqldojo.repair.generating import Generated, generate
from sqldojo.repair.judging import Judge
from sqldojo.repair.places import template_path
from sqldojo.repair.references import RepairReference
from sqldojo.repair.splitting import split
from sqldojo.repair.task import REPAIR_SPLITS, Hidden, RepairTask
from sqldojo.repair.worlds import OWN_WORLDS, SHOP, build_own_world, build_world, shop_references
from sqldojo.repair_chain import DATABASES, HIDDEN, PUBLIC
from sqldojo.repair_params import RepairParams
from sqldojo.user_files import as_database

MANIFEST = "manifest.jsonl"


def make_tasks(params: RepairParams, limits: Limits, out: Path, *, audited: Path, databases: Path) -> dict[str, Any]:
    """Replace the folder `out` by tasks, their hidden halves, a manifest of what was left out, and the databases.

    Returns the metrics. `audited` and `databases` are the shop's audited bank and families. UserError for a source
    that cannot be read or gives no sound task.
    """
    with replacing_folder(out) as folder:
        root = folder / DATABASES.name
        root.mkdir()
        if params.six_gym_folder:
            tasks, hidden, found = _published(params, root)
        else:
            references = _references(params, limits, root, audited, databases)
            made = generate(references, root, params.generate.bugs(params.seed), limits)
            tasks, hidden, found = made.tasks, made.hidden, _generated_metrics(references, made)
        judge = Judge(root, limits, allow_test_code=params.allow_test_code)
        with progress("gate", len(tasks)) as report:
            sound = gate(tasks, hidden, judge, report)
        if not sound.tasks:
            raise UserError(f"params.yaml: repair.source: {params.source} gives no sound task ({dict(sound.counts)})")
        placed = split(
            sound.tasks,
            seed=params.seed,
            evaluation_share=params.evaluation_share,
            validation_share=params.validation_share,
        )
        write_records(folder / PUBLIC.name, placed)
        write_records(folder / HIDDEN.name, sound.hidden)
        write_records(folder / MANIFEST, sound.dropped)
        six_gym.write(folder, placed, sound.hidden)
    return {**found, **_metrics(placed, sound)}


def _published(params: RepairParams, root: Path) -> tuple[Sequence[RepairTask], Sequence[Hidden], dict[str, Any]]:
    """The chosen records of a data set, whose databases are copied below `root`."""
    source = params.six_gym_folder
    assert source is not None
    loaded = six_gym.load(source, params.category, params.databases)
    for warning in loaded.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    for db_id in loaded.by_database:
        (root / db_id).mkdir()
        shutil.copyfile(template_path(source / six_gym.DATABASES, db_id), template_path(root, db_id))
    return (
        loaded.tasks,
        loaded.hidden,
        {
            "records": loaded.records,
            "by_category": dict(loaded.by_category),
            "warnings": list(loaded.warnings),
        },
    )


def _references(
    params: RepairParams, limits: Limits, root: Path, audited: Path, databases: Path
) -> list[RepairReference]:
    """What may be asked of our worlds, or of the user's database; their families are built below `root`."""
    world, own = params.generate.world(params.seed), params.user_database
    if own is not None:
        if not own.is_file():
            raise UserError(
                f"params.yaml: repair.source: there is no file {own}; give the path of a database, `generated` or "
                "`sixgym:DIR`"
            )
        name = database_name(own)
        with as_database(own) as database:
            return build_world(database, name, root / name, world, limits)
    if not is_shop(family_paths(databases, TRAIN)[0]):
        raise UserError(
            "params.yaml: repair.source: `generated` needs the shop, but databases.source is a database of your own; "
            "give repair.source that database's path too, or set databases.source back"
        )
    found = shop_references(audited, databases, root / SHOP, world)
    for number, name in enumerate(OWN_WORLDS, start=1):
        print(f"world {number} of {len(OWN_WORLDS)}: {name}", file=sys.stderr, flush=True)
        found += build_own_world(name, root / name, world, limits)
    return found


def _generated_metrics(references: Sequence[RepairReference], made: Generated) -> dict[str, Any]:
    return {
        "references": dict(sorted(Counter(each.db_id for each in references).items())),
        "types": len({each.type for each in references}),
        "bugs": dict(made.counts),
        "imbalance": round(made.imbalance, 2),
        "left_out": dict(made.left_out),
    }


def _metrics(tasks: Sequence[RepairTask], sound: Gated) -> dict[str, Any]:
    def counts(members: Sequence[RepairTask]) -> dict[str, int]:
        return dict(sorted(Counter(task.db_id for task in members).items()))

    splits = {name: [task for task in tasks if task.split == name] for name in REPAIR_SPLITS}
    return {
        "gate": dict(sound.counts),
        "tasks": len(tasks),
        "two_bugs": sum("+" in task.kind for task in tasks),
        "by_database": counts(tasks),
        "splits": {name: {"tasks": len(members), "types": len({task.type for task in members}),
                          "by_database": counts(members)} for name, members in splits.items()},
    }  # fmt: skip
