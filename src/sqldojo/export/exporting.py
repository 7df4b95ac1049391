"""From a base model and an adapter to files that llama.cpp and LM Studio load, each checked by llama.cpp itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sqldojo.errors import UserError
from sqldojo.export.checks import Agreement, check_file, mlx_greedy
from sqldojo.export.fuse import write_fused_folder
from sqldojo.export.gguf_file import EXTRA_REMEDY, write_gguf
from sqldojo.export.quantising import BF16, quantise
from sqldojo.export.settings import MLX, file_path
from sqldojo.progress import unobserved
from sqldojo.records import Message
from sqldojo.training.policy_model import PolicyModel, load_policy_model


@dataclass(frozen=True)
class FileFacts:
    """What a file is made of: its bytes, its weights, and how many of these have which type."""

    size: int
    parameters: int
    types: dict[str, int]

    @property
    def bits_per_weight(self) -> float:
        """Of the whole file, tokenizer included."""
        return 8 * self.size / self.parameters


def export_model(
    base: Path, adapter: Path | None, out: Path, name: str, kinds: Sequence[str],
    tell: Callable[[str], None] = unobserved,
) -> list[Path]:  # fmt: skip
    """Write the fused folder, `out`/mlx, and a GGUF file for each kind; the paths of the files, that in BF16 first.

    `kinds` are those besides BF16, which is always written. `tell` hears of each step. UserError as in the steps.
    """
    tell("fuse the adapter into the weights")
    write_fused_folder(base, adapter, out / MLX)
    return write_files(out / MLX, out, name, kinds, tell)


def write_files(
    fused: Path, out: Path, name: str, kinds: Sequence[str], tell: Callable[[str], None] = unobserved
) -> list[Path]:
    """The GGUF files of a fused folder, as in `export_model`."""
    paths = [file_path(out, name, kind) for kind in (BF16, *(kind for kind in kinds if kind != BF16))]
    tell(f"write {paths[0].name}")
    write_gguf(fused, paths[0], name)
    for path, kind in zip(paths[1:], [kind for kind in kinds if kind != BF16], strict=True):
        tell(f"write {path.name}")
        quantise(paths[0], path, kind)
    return paths


def check_files(
    fused: Path, paths: Sequence[Path], prompts_of: Callable[[PolicyModel], Sequence[Sequence[Message]]],
    tell: Callable[[str], None] = unobserved,
) -> dict[Path, Agreement]:  # fmt: skip
    """How far each file agrees with MLX after these prompts; the first one must. UserError as in `check_file`."""
    policy = load_policy_model(fused)
    prompts = prompts_of(policy)
    tell(f"MLX answers {len(prompts)} prompts")
    expected = mlx_greedy(policy, [policy.dialogue.prompt(prompt) for prompt in prompts])
    found = {}
    for path in paths:
        tell(f"llama.cpp answers them with {path.name}")
        found[path] = check_file(path, policy, prompts, expected, exact=path == paths[0])
    return found


def file_facts(path: Path) -> FileFacts:
    """The facts of a GGUF file, from its own header."""
    try:
        from gguf import GGUFReader
    except ModuleNotFoundError as error:
        raise UserError(f"the package gguf is not installed; {EXTRA_REMEDY}") from error
    types: Counter[str] = Counter()
    for tensor in GGUFReader(path).tensors:
        types[tensor.tensor_type.name.lower()] += int(tensor.n_elements)
    return FileFacts(path.stat().st_size, types.total(), dict(sorted(types.items())))
