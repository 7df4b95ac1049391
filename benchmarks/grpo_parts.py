"""Where the time of our GRPO step goes: its parts, each timed alone at the shapes of the step."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grpo_ours import PARAMS, fixed_policy
from grpo_work import SCALE, Work

# isort: split
import mlx.core as mx
from mlx_lm.tuner.lora import LoRALinear

from sqldojo.training.attention import attend
from sqldojo.training.cpu_math import logsumexp, swiglu
from sqldojo.training.policy_model import PolicyModel
from sqldojo.training.sampling import draw

_REPEATS = 3


@dataclass(frozen=True)
class _Pass:
    """`times` runs of the layers over tokens [rows, length], each row behind `prefix` shared and among `own` keys."""

    phase: str
    rows: int
    length: int
    prefix: int
    own: int
    times: int = 1
    backward: bool = False
    needed: bool = True


@dataclass(frozen=True)
class _Piece:
    """`function(layer, *arrays)` for each of `layers`; `operations` are those of its matrix products, all layers."""

    part: str
    function: Callable[..., Any]
    arrays: Sequence[mx.array]
    operations: float = 0
    layers: int = 1
    differentiated: bool = True


def parts(folder: Path, work: Work, rows: int | None = None) -> dict[str, Any]:
    """`parts`: for each its seconds in rollout and loss, and its operations. `needed`: the operations of the step
    without the second forward pass of the prompt, which saves memory. `peak`: the rate of a large square product [1/s].
    """
    policy = fixed_policy(folder)
    group, prompt, new = work.attempts, work.prompt, work.sampled_a_turn
    rows = min(rows or PARAMS.micro_batch_size, group)
    passes = [
        _Pass("rollout", 1, prompt, 0, prompt),
        _Pass("rollout", group, 1, prompt, new, times=new - 1),
        _Pass("loss", 1, prompt, 0, prompt, needed=False),
        _Pass("loss", 1, prompt, 0, prompt, backward=True),
        _Pass("loss", rows, new, prompt, new, times=-(-group // rows), backward=True),
    ]
    found: dict[str, dict[str, float]] = {}
    needed = 0.0
    for run in passes:
        for piece in _pieces(policy, run):
            sums = found.setdefault(piece.part, {"rollout": 0.0, "loss": 0.0, "operations": 0.0})
            sums[run.phase] += run.times * _seconds(piece, run.backward)
            sums["operations"] += run.times * piece.operations
            needed += run.times * piece.operations * run.needed
    square = mx.random.normal((2048, 2048))
    seconds = _seconds(_Piece("", lambda _, x: x @ x, [square]), backward=False)
    return {"parts": found, "needed": needed, "peak": 2 * 2048**3 / seconds}


def _pieces(policy: PolicyModel, run: _Pass) -> Iterator[_Piece]:
    model, shape, tokens = policy.model, policy.model.args, run.rows * run.length
    layers, count = model.layers, len(model.layers)
    linears = [[part for part in layer.modules() if isinstance(part, LoRALinear)] for layer in layers]
    frozen = 2 if run.backward else 1  # of the model's own weights only the inputs have gradients
    trained = 3 if run.backward else 1

    def random(*sizes: int) -> mx.array:
        return mx.random.normal(sizes)

    for kind, linear in enumerate(linears[0]):
        x, y = (random(run.rows, run.length, width) for width in (linear.lora_a.shape[0], linear.lora_b.shape[1]))
        base, low_rank = linear.linear.weight.size, linear.lora_a.size + linear.lora_b.size
        yield _Piece("matrix products of the layers",
                     lambda layer, x, kind=kind: x @ linears[layer][kind].linear.weight.T, [x],
                     2 * tokens * base * frozen * count, count)  # fmt: skip
        yield _Piece("LoRA", lambda _, y, x, a, b: y + SCALE * ((x @ a) @ b), [y, x, linear.lora_a, linear.lora_b],
                     2 * tokens * low_rank * trained * count, count)  # fmt: skip
    heads, kv_heads = shape.num_attention_heads, shape.num_key_value_heads
    size = shape.head_dim or shape.hidden_size // heads
    queries, keys = random(run.rows, heads, run.length, size), random(run.rows, kv_heads, run.own, size)
    shared = [random(1, kv_heads, run.prefix, size)] * 2 if run.prefix else []
    mask = "causal" if run.length > 1 else mx.ones((run.rows, 1, 1, run.own), mx.bool_)
    yield _Piece("attention",
                 lambda _, q, k, v, *prefix: attend(q, k, v, scale=size**-0.5, mask=mask, prefix=prefix or None),
                 [queries, keys, keys, *shared],
                 4 * tokens * heads * size * (run.prefix + run.own) * trained * count, count)  # fmt: skip
    yield _Piece("SwiGLU", lambda _, x, y: swiglu(x, y), [random(run.rows, run.length, shape.intermediate_size)] * 2,
                 layers=count)  # fmt: skip
    norm, rope = layers[0].input_layernorm, layers[0].self_attn.rope
    hidden = random(run.rows, run.length, shape.hidden_size)
    yield _Piece("norms, RoPE, residuals", lambda _, x, q, k: (norm(x) + x, norm(x) + x, rope(q), rope(k)),
                 [hidden, queries, random(run.rows, kv_heads, run.length, size)], layers=count)  # fmt: skip

    hidden = hidden[:, -1] if run.phase == "rollout" else hidden.reshape(tokens, -1)
    if run.phase == "rollout" or run.prefix:
        logits = random(hidden.shape[0], shape.vocab_size)
        yield _Piece("output head", lambda _, x: policy.head(x), [hidden], 2 * hidden.size * shape.vocab_size * frozen)
        if run.backward:
            yield _Piece("log-probabilities", lambda _, x: logsumexp(x), [logits])
        else:
            yield _Piece("sampling", lambda _, x: draw(x, [""] * x.shape[0]), [logits])

    def build_graph(*_: object) -> tuple[()]:
        tensors, ids = model.trainable_parameters(), mx.zeros((run.rows, run.length), mx.int32)
        if run.backward:
            mx.grad(lambda tensors: (model.update(tensors), policy.body(ids).sum())[1])(tensors)
            model.update(tensors)
        else:
            policy.body(ids)
        return ()

    yield _Piece("Python: building graphs", build_graph, [], differentiated=False)


def _seconds(piece: _Piece, backward: bool) -> float:
    """Best of a few runs over all layers, with the gradients in all arrays if `backward`."""
    size = len(piece.arrays)
    arrays = [array + 0 for _ in range(piece.layers) for array in piece.arrays]  # each layer has its own, as in a model
    mx.eval(arrays)

    def run(*arrays: mx.array) -> list[mx.array]:
        outputs = []
        for layer in range(piece.layers):
            output = piece.function(layer, *arrays[size * layer : size * (layer + 1)])
            outputs += output if isinstance(output, tuple) else (output,)
        return outputs

    best = float("inf")
    for _ in range(_REPEATS):
        started = time.perf_counter()
        outputs = run(*arrays)
        if backward and piece.differentiated:
            mx.eval(mx.vjp(run, arrays, [mx.ones_like(output) for output in outputs]))
        else:
            mx.eval(outputs)
        best = min(best, time.perf_counter() - started)
    return best
