"""Which adapter to keep and when to stop, decided by looks at the selection set on the way."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

BEST, LAST = "best", "last"
LATEST_BEST = "latest_best"  # of equal looks the last: what learns from a teacher learns on where no look can tell yet

_ROUNDING = 1e-9  # two accuracies that differ by less are equal


@dataclass(frozen=True)
class SelectionParams:
    """The section `grpo.selection`.

    A look after every `every` steps plays `attempts` episodes at each question of the selection set. The run stops
    after `patience` looks in a row that are no better than the best before, or when the accuracy has fallen by more
    than `accuracy_floor_drop` below that of the start. `keep` says which adapter is the result: that of the `best`
    look, of equals the first, or with `latest_best` the last of them; or that of the `last` look. What came after the
    last look, in a run that an indicator stopped, is not kept.
    """

    every: int
    attempts: int
    patience: int
    keep: str
    accuracy_floor_drop: float

    def __post_init__(self) -> None:
        for name in ("every", "attempts", "patience"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}: must be at least 1, found {getattr(self, name)}")
        if self.keep not in (BEST, LATEST_BEST, LAST):
            raise ValueError(f"keep: must be {BEST}, {LATEST_BEST} or {LAST}, found {self.keep!r}")
        if not 0 <= self.accuracy_floor_drop <= 1:
            raise ValueError(f"accuracy_floor_drop: must lie between 0 and 1, found {self.accuracy_floor_drop}")


@dataclass(frozen=True)
class Look:
    """One look: the accuracy on the selection set after `step` steps, its interval, and how much was played."""

    step: int
    accuracy: float
    low: float
    high: float
    questions: int
    attempts: int


class Selection:
    """The looks of a run and what follows from them; the first, at step 0, is at the starting adapter.

    A look becomes the best only when its accuracy is higher than the best before; of equals the earlier stays, which
    has drifted less. There is no margin: all looks play the same questions with the same random keys, and between two
    adapters that differ by less than the noise either choice is as good. A margin would not make the best look's
    accuracy honest either. That takes the number of looks beside it (`evaluation.statistics.luck_of_the_best`), and a
    comparison of the kept adapter with the start on episodes that did not choose it (`paired_interval` there).
    The start takes part, so with `keep: best` a run that only did harm returns the adapter it began with.
    """

    def __init__(self, params: SelectionParams) -> None:
        self._params = params
        self._looks: list[Look] = []

    @property
    def looks(self) -> tuple[Look, ...]:
        """All looks in their order, for the table and the plot."""
        return tuple(self._looks)

    def is_due(self, step: int, steps: int) -> bool:
        """Whether to look after `step` of `steps`: at the start, at every N-th step and at the end."""
        return step % self._params.every == 0 or step == steps

    def take(self, look: Look) -> bool:
        """Add a look; whether its adapter is the one to keep from now on. ValueError when its step is not a later one.

        The caller saves the adapter when it is, before the run goes on.
        """
        if self._looks and look.step <= self._looks[-1].step:
            raise ValueError(f"a look at step {look.step} cannot follow one at step {self._looks[-1].step}")
        self._looks.append(look)
        return self.kept is look

    @property
    def best(self) -> Look:
        """The earliest of the looks with the highest accuracy; with `latest_best` the latest of them."""
        margin = -_ROUNDING if self._params.keep == LATEST_BEST else _ROUNDING
        best = self._looks[0]
        for look in self._looks[1:]:
            if look.accuracy > best.accuracy + margin:
                best = look
        return best

    @property
    def kept(self) -> Look:
        """The look whose adapter is the result of the run so far."""
        return self._looks[-1] if self._params.keep == LAST else self.best

    @property
    def stop_reason(self) -> str | None:
        """Why the run should stop now, for people; None while it should go on."""
        if not self._looks:
            return None
        start, last, best = self._looks[0], self._looks[-1], self.best
        floor = start.accuracy - self._params.accuracy_floor_drop
        if last.accuracy < floor - _ROUNDING:
            return (
                f"selection accuracy {last.accuracy:.3f} at step {last.step} is more than "
                f"{self._params.accuracy_floor_drop:g} below the start's {start.accuracy:.3f}"
            )
        without_gain = len(self._looks) - 1 - self._looks.index(best)
        if without_gain >= self._params.patience:
            return f"{without_gain} looks in a row no better than {best.accuracy:.3f} at step {best.step}"
        return None

    def state(self) -> list[dict[str, Any]]:
        """The looks as plain JSON; everything else follows from them."""
        return [asdict(look) for look in self._looks]

    def restore(self, state: list[dict[str, Any]]) -> None:
        """Continue from what `state()` returned."""
        self._looks = [Look(**row) for row in state]
