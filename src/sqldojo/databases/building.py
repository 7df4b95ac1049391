"""From parameters to the database files of both families."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sqldojo.databases.adversarial import adversarial_rows
from sqldojo.databases.families import ADVERSARIAL, FAMILIES, INSTANCES, family_paths
from sqldojo.databases.ordinary import SHAPES, ordinary_rows
from sqldojo.databases.rows import ShopRows
from sqldojo.databases.shop import SCHEMA, VOCABULARIES
from sqldojo.databases.writing import write_database
from sqldojo.files import replacing_folder

# The module that makes the shop is the path of that source, so that DVC watches a user's own database in the same way.
SHOP_SOURCE = "src/sqldojo/databases/shop.py"

# The smallest instance has 60 % of these and must hold every city, category and year once;
# the largest has 160 % and no more products than a category has names.
RANGES = {"customers": (30, 1_000), "products": (30, 200), "orders": (50, 5_000), "rows": (20, 2_000)}


@dataclass(frozen=True)
class DatabaseParams:
    """The section `databases` of params.yaml: the seed, and the sizes of the middle one of the ordinary instances.

    `source` is SHOP_SOURCE or the path of a user's own database, of whose large tables it then has about `rows` rows.
    """

    seed: int
    customers: int
    products: int
    orders: int
    source: str = SHOP_SOURCE
    rows: int = 120

    def __post_init__(self) -> None:
        for key, (least, most) in RANGES.items():
            value = getattr(self, key)
            if not least <= value <= most:
                raise ValueError(f"{key}: {value} is out of range; use {least} to {most}")
        if not self.source.strip():
            raise ValueError(f"source: names nothing; give {SHOP_SOURCE} or the path of a database")

    @property
    def is_shop(self) -> bool:
        """Whether the databases are those of the shop."""
        return Path(self.source) == Path(SHOP_SOURCE)


def build_families(root: Path, params: DatabaseParams, instances: Sequence[str] = INSTANCES) -> None:
    """Replace the folder `root` by these instances of both families, the same bytes for the same params."""
    with replacing_folder(root) as folder:
        for family in FAMILIES:
            for instance, path in zip(instances, family_paths(folder, family, instances), strict=True):
                path.parent.mkdir(exist_ok=True)
                write_database(path, SCHEMA, _rows(family, instance, params).tables)


def _rows(family: str, instance: str, params: DatabaseParams) -> ShopRows:
    if instance == ADVERSARIAL:
        return hand_made_rows(family, params.seed)
    rng = random.Random(f"{params.seed}/databases/{family}/{instance}")
    return ordinary_rows(
        rng,
        VOCABULARIES[family],
        SHAPES[instance],
        customers=params.customers,
        products=params.products,
        orders=params.orders,
    )


def hand_made_rows(family: str, seed: int) -> ShopRows:
    """The rows of a family's adversarial instance before it is grown against the questions that are asked."""
    rng = random.Random(f"{seed}/databases/{family}/{ADVERSARIAL}")
    return adversarial_rows(rng, VOCABULARIES[family])
