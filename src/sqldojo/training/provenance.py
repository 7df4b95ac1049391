"""What a trained artefact says of its origin, since two machines may differ in the last bits."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import mlx.core as mx


def provenance(seed: int) -> dict[str, Any]:
    """Seed, device and versions, as JSON; no clock, host or path, so the same run gives the same bytes."""
    return {
        "seed": seed,
        "device": mx.default_device().type.name,
        "versions": {package: version(package) for package in ("mlx", "mlx-lm")},
    }
