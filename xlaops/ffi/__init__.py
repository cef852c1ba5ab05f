"""XLA's foreign function interface: C++ handlers as JAX functions."""

from . import kernels as kernels
from .api_version import runtime_api_version as runtime_api_version
from .attributes import enumeration as enumeration
from .call_errors import ErrorCode as ErrorCode
from .call_errors import HandlerError as HandlerError
from .call_errors import handler_errors as handler_errors
from .diagnosis import Diagnosis as Diagnosis
from .diagnosis import doctor as doctor
from .kernels import periodic_add as periodic_add
from .library import available as available
from .library import include_dir as include_dir
from .library import unavailable_reason as unavailable_reason
from .load_errors import BuildError as BuildError
from .load_errors import CacheError as CacheError
from .load_errors import CompilerNotFoundError as CompilerNotFoundError
from .load_errors import HandlerNotFoundError as HandlerNotFoundError
from .load_errors import LoadError as LoadError
from .load_errors import VersionError as VersionError
from .loading import load as load
from .operation import op as op
from .registry import Target as Target
from .registry import targets as targets
from .shared_library import Library as Library
from .shared_library import load_library as load_library
