"""XLA's foreign function interface: C++ handlers as JAX functions."""

from . import kernels as kernels
from .kernels import periodic_add as periodic_add
from .library import available as available
from .library import include_dir as include_dir
from .library import unavailable_reason as unavailable_reason
