"""What is exported, and where its files lie: the section `export` of params.yaml. Paths are relative to the root."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sqldojo.chains import Chain
from sqldojo.export.quantising import BF16, check_kind

MLX = "mlx"
FILES, EPISODES = Path("data/export/files"), Path("data/export/episodes")
FUSED, EXAMPLES = Path("data/export/fused"), Path("data/export/examples.jsonl")
CHECKS, ENDINGS = Path("metrics/export/checks.json"), Path("metrics/export/endings.json")
METRICS = Path("metrics/export.json")
REPORT, GUIDE = Path("reports/export.md"), Path("reports/lmstudio.md")


@dataclass(frozen=True)
class ExportParams:
    """The section `export`: whose kept adapter is exported, in which files, and what the guide shows of them.

    `files` begin with bf16, of which the others are made. The `examples` are questions that the `example_file` is
    asked, each once greedily and `example_attempts` times with drawn tokens.
    """

    model: str
    seed: int
    files: tuple[str, ...]
    examples: int
    example_file: str
    example_attempts: int

    def __post_init__(self) -> None:
        if self.files[:1] != (BF16,) or len(set(self.files)) < len(self.files):
            raise ValueError(f"files: must begin with {BF16}, of which the others are made, and hold none twice")
        for kind in self.files[1:]:
            check_kind(kind, "files")
        if self.example_file not in self.files:
            raise ValueError(f"example_file: {self.example_file!r} is none of `files`; name one of them")
        for name in ("examples", "example_attempts"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}: must be at least 1, found {getattr(self, name)}")

    @property
    def chain(self) -> Chain:
        """The chain whose kept adapter is exported."""
        return Chain(self.model, self.seed)


def file_path(folder: Path, name: str, kind: str) -> Path:
    """Where a file of this kind lies; LM Studio and llama.cpp tell the kind by the end of the name."""
    return folder / f"{name}-{kind.upper()}.gguf"


def episodes_path(kind: str) -> Path:
    """What a file did at the questions of the selection set."""
    return EPISODES / f"{kind}.jsonl"
