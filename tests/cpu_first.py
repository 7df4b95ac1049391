"""To be imported before mlx: a fast BLAS comes under it, and tests compute on the CPU, in float32, on every machine."""

import os

os.environ.setdefault("MKL_NUM_THREADS", "1")  # the tiny model's products are not worth a second thread

import sqldojo.training  # noqa: F401

# isort: split
import mlx.core as mx

mx.set_default_device(mx.cpu)
