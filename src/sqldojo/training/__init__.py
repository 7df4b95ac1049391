"""The model: where it comes from, how it is loaded, sampled and trained. The only subpackage that imports mlx.

Python runs this file before any module of the subpackage, whatever is imported first, so here and nowhere else the
fast BLAS is put under mlx.
"""

from sqldojo.training.blas import use_fast_blas

use_fast_blas()
