"""Where the files of the repair chain lie: one model taught to repair SQL, step by step.

The chain goes released -> sft_a -> sft_b -> r1 -> r2: fine-tuned on one teacher's conversations, then on another's,
then corrected twice. All paths are relative to the root of the repository.
"""

from __future__ import annotations

from pathlib import Path

RELEASED = "released"
TEACHERS = ("a", "b")
ROUNDS = ("r1", "r2")
TRAINED = (*(f"sft_{teacher}" for teacher in TEACHERS), *ROUNDS)
CHECKPOINTS = (RELEASED, *TRAINED)

ROOT = Path("data/repair")
TASKS = ROOT / "tasks"
DATABASES = TASKS / "database"
PUBLIC, HIDDEN = TASKS / "tasks.jsonl", TASKS / "hidden.jsonl"
REFERENCES = ROOT / "references.jsonl"  # what models behind an API did at the evaluation tasks


def before(checkpoint: str) -> str:
    """The checkpoint that a trained one goes on from; ValueError for one that is not trained."""
    if checkpoint not in TRAINED:
        raise ValueError(f"{checkpoint!r} is not trained (those that are: {', '.join(TRAINED)})")
    return CHECKPOINTS[CHECKPOINTS.index(checkpoint) - 1]


def adapter(checkpoint: str) -> Path:
    """The adapter's folder of a trained checkpoint."""
    return ROOT / "adapters" / checkpoint


def demonstrations(teacher: str) -> Path:
    """The verified conversations of a teacher."""
    return ROOT / "demonstrations" / f"{teacher}.jsonl"


def attempts(correction_round: str) -> Path:
    """What the student that a round corrects did at every training task."""
    return ROOT / "attempts" / f"{correction_round}.jsonl"


def corrections(correction_round: str) -> Path:
    """What the teacher continued in a round."""
    return ROOT / "corrections" / f"{correction_round}.jsonl"


def episodes(checkpoint: str) -> Path:
    """A checkpoint's attempts at the validation and evaluation tasks."""
    return ROOT / "episodes" / f"{checkpoint}.jsonl"


def metrics(name: str) -> Path:
    """The metrics of a stage or a checkpoint's scores."""
    return Path("metrics/repair") / f"{name}.json"


def curve(checkpoint: str) -> Path:
    """The training curve of a checkpoint as a table."""
    return Path("plots/repair") / f"{checkpoint}.csv"


def looks(checkpoint: str) -> Path:
    """The looks at the validation tasks while a checkpoint was trained, as a table."""
    return Path("plots/repair") / f"{checkpoint}_looks.csv"
