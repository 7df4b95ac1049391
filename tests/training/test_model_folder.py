"""Parameters are counted from the headers of the weight files."""

import json
import struct
from pathlib import Path

from sqldojo.training.model_folder import count_parameters


def write_header(path: Path, shapes: dict[str, list[int]]) -> None:
    """A safetensors file of empty tensors: only its header is read."""
    header = json.dumps(
        {name: {"dtype": "F32", "shape": shape, "data_offsets": [0, 0]} for name, shape in shapes.items()}
    ).encode()
    path.write_bytes(struct.pack("<Q", len(header)) + header)


def test_shards_and_quantised_tensors_are_counted(tmp_path: Path) -> None:
    write_header(tmp_path / "model-1.safetensors", {"a.weight": [3, 5], "a.bias": [3]})
    write_header(tmp_path / "model-2.safetensors", {"b.weight": [2, 8], "b.scales": [2, 2], "b.biases": [2, 2]})
    # b: 2 rows of 64 four-bit weights, packed into 8 words, in groups of 32
    assert count_parameters(tmp_path, group_size=32) == 15 + 3 + 128
