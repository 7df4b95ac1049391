"""Our GRPO step and our rollout of dialogues beside those of other trainers on MLX, and where the time of ours goes.

    make bench

Model, adapter, token ids and lengths are the same for all. Every arm of every round is a process of its own, one after
the other (A, B, .. A, B, ..), and takes a tiny step first, so that nothing is loaded or compiled in the one that is
measured. The best round counts. Step: one prompt, a group of attempts of one turn, loss with gradient, optimizer.
Dialogues: two prompts, three turns with results in between, rollout only. Peers: mlx-lm-lora, as it is and with its
decode width set to the group's size; inductive-mlxrl. grpo_peers.py says what is switched off and what is not.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
STEP_ARMS = ("ours", "mlx-lm-lora", "mlx-lm-lora, wide", "inductive-mlxrl")
DIALOGUE_ARMS = ("ours: dialogues", "inductive-mlxrl: dialogues")
Result = dict[str, Any]


def main() -> None:
    """Run all arms and print the tables; with the hidden `--arm`, run that one and print its figures as JSON."""
    options = _options()
    if options.arm:
        print("\n" + json.dumps(_run(options)))
        return
    rounds: dict[str, list[Result]] = {}
    for number in range(options.rounds):
        for arm in STEP_ARMS + DIALOGUE_ARMS:
            if options.only in arm:
                print(f"round {number + 1} of {options.rounds}: {arm}", file=sys.stderr)
                rounds.setdefault(arm, []).append(_start(arm))
    best = {arm: _best(results) for arm, results in rounds.items()}
    print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}; best of {options.rounds}")
    print(f"\nStep: 1 prompt of {options.prompt} tokens, {options.attempts} attempts of {options.sampled} tokens")
    _print_arms({arm: best[arm] for arm in STEP_ARMS if arm in best})
    print(f"\nDialogues: 2 prompts of {options.dialogue_prompt} tokens, {options.attempts // 2} attempts at each, "
          f"3 turns of {options.sampled // 2} tokens, results of 30 and 70 tokens")  # fmt: skip
    _print_arms({arm: best[arm] for arm in DIALOGUE_ARMS if arm in best})
    if "ours" in best:
        _print_parts(_start("parts"), best["ours"]["seconds"])


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, default=ROOT / "data/models/smollm2-135m",
                        help="an MLX folder (default: the embedded model's)")  # fmt: skip
    parser.add_argument("--rounds", type=int, default=1, help="of which the best counts (default: 1)")
    parser.add_argument("--only", default="", metavar="TEXT", help="only the arms whose name holds it")
    parser.add_argument("--prompt", type=int, default=400, help="tokens of the step's prompt (default: 400)")
    parser.add_argument("--attempts", type=int, default=8, help="attempts of a group (default: 8)")
    parser.add_argument("--sampled", type=int, default=64, help="tokens of an attempt (default: 64)")
    parser.add_argument("--dialogue-prompt", type=int, default=240, help="tokens of a dialogue's prompt (default: 240)")
    parser.add_argument("--rows", type=int, help="sequences in our micro-batch (default: that of params.yaml)")
    parser.add_argument("--arm", help=argparse.SUPPRESS)
    return parser.parse_args()


def _start(arm: str) -> Result:
    command = [sys.executable, __file__, *sys.argv[1:], "--arm", arm]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(done.returncode)  # it has said why
    return json.loads(done.stdout.splitlines()[-1])


def _run(options: argparse.Namespace) -> Result:
    from grpo_work import Measured, Work  # here, since mlx is loaded in the arm's own process only

    work, tiny = Work(options.prompt, 1, options.attempts, options.sampled), Work(16, 1, 2, 3)
    if options.arm in DIALOGUE_ARMS:
        work = Work(options.dialogue_prompt, 2, options.attempts // 2, options.sampled // 2, results=(30, 70))
        tiny = Work(16, 1, 2, 3, results=(8,))
    if options.arm == "parts":
        from grpo_parts import parts

        return parts(options.model, work, options.rows)
    arm = _arm(options)
    arm(tiny, Measured())
    measured = Measured()
    arm(work, measured)
    return asdict(measured)


def _arm(options: argparse.Namespace) -> Any:
    if options.arm.startswith("ours"):
        from grpo_ours import Ours

        return Ours(options.model, options.rows, rollout_only=options.arm in DIALOGUE_ARMS)
    try:
        import grpo_peers
    except ImportError as error:
        sys.exit(f"error: a peer is not installed ({error}); run `make bench`, or `--only ours`")
    if options.arm == "inductive-mlxrl":
        return grpo_peers.MlxrlStep(options.model)
    if options.arm in DIALOGUE_ARMS:
        return grpo_peers.MlxrlDialogues(options.model)
    return grpo_peers.MlxLmLora(options.model, wide=options.arm.endswith("wide"))


def _best(results: list[Result]) -> Result:
    """The least seconds and memory of all rounds; the counts are alike."""
    least = {kind: {name: min(result[kind][name] for result in results) for name in results[0][kind]}
             for kind in ("seconds", "memory")}  # fmt: skip
    return {**least, "counts": results[0]["counts"]}


def _print_arms(results: dict[str, Result]) -> None:
    """The last two columns are ratios to the first arm, of the seconds (of the step if there is one) and the peak."""
    _print_row("", ("rollout s", "loss s", "step s", "episodes/s", "sampled/s", "prefilled", "rollout GB", "loss GB",
                    "x seconds", "x memory"))  # fmt: skip
    first = None
    for arm, result in results.items():
        seconds, memory, counts = result["seconds"], result["memory"], result["counts"]
        whole, peak = seconds.get("step", seconds["rollout"]), max(memory.values())
        first = first or (whole, peak)
        _print_row(arm, (seconds["rollout"], seconds.get("loss"), seconds.get("step"), counts["episodes"] / whole,
                         counts["sampled"] / seconds["rollout"], counts["prefilled"], memory["rollout"] / 1e9,
                         memory["loss"] / 1e9 if "loss" in memory else None, whole / first[0],
                         peak / first[1]))  # fmt: skip


def _print_parts(found: Result, measured: dict[str, float]) -> None:
    peak, phases, floor = found["peak"], ("rollout", "loss"), found["needed"] / found["peak"]
    print(f"\nOur step by its parts, each timed alone; a large matrix product runs at {peak / 1e9:.0f} GFLOP/s")
    _print_row("", (*(f"{phase} s" for phase in phases), "of step", "GFLOP", "GFLOP/s", "of peak"))
    for name, part in sorted(found["parts"].items(), key=lambda item: -sum(item[1][phase] for phase in phases)):
        both, operations = sum(part[phase] for phase in phases), part["operations"]
        rates = (operations / 1e9, operations / both / 1e9, operations / both / peak) if operations else ()
        _print_row(name, (*(part[phase] for phase in phases), both / measured["step"], *rates))
    sums = {phase: sum(part[phase] for part in found["parts"].values()) for phase in phases}
    rest = {phase: measured[phase] - sums[phase] for phase in phases}
    _print_row("all else, by difference", (*rest.values(), sum(rest.values()) / measured["step"]))
    print(f"floor: {found['needed'] / 1e9:.0f} GFLOP at that rate take {floor:.1f} s; the step takes "
          f"{measured['step'] / floor:.1f} times as long")  # fmt: skip


def _print_row(head: str, cells: Iterable[Any]) -> None:
    texts = ("" if cell is None else f"{cell:.2f}" if isinstance(cell, float) else cell for cell in cells)
    print(f"{head:30}" + "".join(f"{text:>11}" for text in texts))


if __name__ == "__main__":
    main()
