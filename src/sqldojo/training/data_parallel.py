"""Data-parallel training on mlx's distributed back ends: who is who, and what the ranks tell each other.

Every rank holds the whole model and takes the same decisions; only rollouts and gradients are divided. A process that
nobody launched as a rank is the only one: everything here then returns its argument at once.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import mlx.core as mx
import numpy as np
from mlx.utils import tree_flatten, tree_map, tree_unflatten

from sqldojo.errors import UserError
from sqldojo.training.launching import LOST_RANK, RANK, RING

Item = TypeVar("Item")


@dataclass(frozen=True)
class Ranks:
    """This process's number among the ranks that train together, and how many they are.

    All but `share` are collective: every rank must call them, in the same order, or the others wait for ever.
    A rank whose peer is gone exits in them with LOST_RANK. They run on the CPU's stream and on values that are
    evaluated already, because handing over from a GPU within one evaluation is where mlx has been seen to hang.
    """

    rank: int = 0
    size: int = 1
    group: mx.distributed.Group | None = None

    @property
    def is_first(self) -> bool:
        """Whether this rank writes files and shows progress."""
        return self.rank == 0

    def share(self, items: Sequence[Item], cost: Callable[[Item], float] = lambda _: 1.0) -> list[Item]:
        """The items of this rank, in their order; every item belongs to exactly one rank.

        The costliest first, each to the rank with the least so far (Graham 1969: at most 4/3 of the best maximum).
        What must stay together, as a question's attempts, is one item.
        """
        totals, mine = [0.0] * self.size, []
        costs = [cost(item) for item in items]
        for index in sorted(range(len(items)), key=lambda index: -costs[index]):
            rank = totals.index(min(totals))
            totals[rank] += costs[index]
            if rank == self.rank:
                mine.append(index)
        return [items[index] for index in sorted(mine)]

    def sum_gradients(self, gradients: Any) -> Any:
        """The sum over ranks of a tree of arrays, added in float32; the same bits on every rank.

        All give trees of the same names and shapes; one without work gives zeros. One message for all arrays, because
        each costs milliseconds.
        """
        if self.size == 1:
            return gradients
        named = sorted(tree_flatten(gradients))
        total = self._evaluated(
            mx.distributed.all_sum,
            mx.concatenate([array.reshape(-1).astype(mx.float32) for _, array in named]),
        )
        ends = np.cumsum([array.size for _, array in named]).tolist()
        parts = mx.split(total, ends[:-1])
        summed = {
            name: part.reshape(array.shape).astype(array.dtype)
            for (name, array), part in zip(named, parts, strict=True)
        }
        return tree_unflatten([(name, summed[name]) for name, _ in tree_flatten(gradients)])

    def of_first(self, tree: Any) -> Any:
        """Rank 0's tree of arrays, bit for bit, on every rank; all give trees of the same names and shapes."""
        if self.size == 1:
            return tree
        return self.sum_gradients(tree if self.is_first else tree_map(mx.zeros_like, tree))

    def gather_objects(self, value: Any) -> list[Any]:
        """Every rank's JSON-like value, in the order of ranks; tuples come back as lists, also the own one."""
        return [json.loads(text) for text in self._gather_bytes(json.dumps(value).encode())]

    def barrier(self) -> None:
        """Wait until every rank is here."""
        self._gather_bytes(b"")

    def agree(self, name: str, value: Any) -> None:
        """ValueError, on every rank and with both values, when a rank has another JSON-like `value` than rank 0."""
        if self.size == 1:
            return
        text = json.dumps(value, sort_keys=True)
        first, *others = self.gather_objects([hashlib.sha256(text.encode()).hexdigest(), text[:200]])
        for rank, other in enumerate(others, start=1):
            if other[0] != first[0]:
                raise ValueError(f"ranks disagree on {name}: rank 0 has {first[1]}, rank {rank} has {other[1]}")

    def _gather_bytes(self, data: bytes) -> list[bytes]:
        """Lengths first, then everything padded to the longest: a gathering moves equal shapes only."""
        if self.size == 1:
            return [data]
        lengths = self._evaluated(mx.distributed.all_gather, mx.array([len(data)])).tolist()
        padded = np.zeros(max(1, *lengths), np.uint8)
        padded[: len(data)] = np.frombuffer(data, np.uint8)
        rows = np.array(self._evaluated(mx.distributed.all_gather, mx.array(padded))).reshape(self.size, -1)
        return [row[:length].tobytes() for row, length in zip(rows, lengths, strict=True)]

    def _evaluated(self, collective: Callable[..., mx.array], array: mx.array) -> mx.array:
        mx.eval(array)
        try:
            result = collective(array, group=self.group, stream=mx.cpu)
            mx.eval(result)
        except RuntimeError as error:
            if "connection to a peer was lost" not in str(error):
                raise
            print(f"rank {self.rank}: another rank has ended", file=sys.stderr)
            sys.exit(LOST_RANK)
        return result


def join_ranks() -> Ranks:
    """This process among the ranks it was launched with, by `relaunch_on` or by mlx.launch; the only one without.

    To be called early: the ranks wait 15 s for each other. UserError when they do not find together.
    """
    ring = os.environ.get(RING)
    if ring is None:
        group = mx.distributed.init()
        if group.rank() != int(os.environ.get(RANK, group.rank())):  # mlx would go on alone, and so would each rank
            raise UserError(f"rank {os.environ[RANK]} found no back end of mlx to join; check the hostfile")
        return Ranks(group.rank(), group.size(), group)
    threading.Thread(target=_end_with_launcher, daemon=True).start()
    with tempfile.NamedTemporaryFile("w", suffix=".json") as hostfile:
        hostfile.write(ring)
        hostfile.flush()
        os.environ["MLX_HOSTFILE"] = hostfile.name  # where mlx looks for it
        try:
            group = mx.distributed.init(strict=True, backend="ring")
        except RuntimeError as error:
            raise UserError(
                f"params.yaml: grpo.hosts: rank {os.environ[RANK]} cannot join {ring}: {error}; "
                "check that the machines reach each other there and that no firewall is between them"
            ) from error
    return Ranks(group.rank(), group.size(), group)


def _end_with_launcher() -> None:
    """Waits beside the work, for an evaluation or a missing peer may keep it for long."""
    os.read(0, 1)
    os._exit(LOST_RANK)
