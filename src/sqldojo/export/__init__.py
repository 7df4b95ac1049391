"""Trained models for other programs: fused weights, GGUF files, and what llama.cpp makes of them.

The training package comes first, whatever is imported of this one: it puts a fast BLAS under mlx.
"""

import sqldojo.training  # noqa: F401
