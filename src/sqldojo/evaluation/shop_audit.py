"""The audit of the shop: every hand-written question type, on both families of databases."""

from __future__ import annotations

from pathlib import Path

from sqldojo.databases.execution import Limits
from sqldojo.databases.families import FAMILIES, family_paths
from sqldojo.questions.every_value import every_reference
from sqldojo.questions.shop_held_out_types import CHECK_TYPES, SELECTION_TYPES
from sqldojo.questions.shop_training_types import TRAINING_TYPES
from sqldojo.verifier.audit import ReferenceAudit
from sqldojo.verifier.audit_running import AuditParams, audit

SHOP_TYPES = (*TRAINING_TYPES, *SELECTION_TYPES, *CHECK_TYPES)


def audit_shop(databases: Path, params: AuditParams, limits: Limits) -> list[ReferenceAudit]:
    """The audit of every reference of the shop's types; `databases` is the folder of both families.

    UserError when a database is missing, ReferenceFailed when a reference does not run.
    """
    subjects = every_reference(SHOP_TYPES, databases, most=params.values_per_type, seed=params.seed)
    return audit(subjects, {family: family_paths(databases, family) for family in FAMILIES}, params, limits)
