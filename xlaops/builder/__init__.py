"""XlaBuilder for JAX: code written against it, in C++ or Python, has a home again.

The functions have XlaBuilder's names and the document's parameters (``Add``,
``ConvGeneral``, ...) and return `XlaOp`; `XlaBuilder.Build` makes an `XlaComputation`
of them, which is a JAX function.

>>> from xlaops import builder as xb
>>> b = xb.XlaBuilder("f")
>>> x = xb.Parameter(b, 0, "f32[]", "x")
>>> f = b.Build(xb.Mul(x, xb.Sin(x)))
>>> import jax
>>> print(jax.grad(f)(0.0))
0.0
"""

from typing import Any

from .. import catalog as _catalog
from . import facade as _facade
from .graph import AddDependency as AddDependency
from .graph import Parameter as Parameter
from .graph import ProgramShape as ProgramShape
from .graph import XlaBuilder as XlaBuilder
from .graph import XlaComputation as XlaComputation
from .graph import XlaOp as XlaOp

_OWN = (
    "AddDependency",
    "Parameter",
    "ProgramShape",
    "XlaBuilder",
    "XlaComputation",
    "XlaOp",
)


def __getattr__(name: str) -> Any:
    # Made on first use. Editors and type checkers read the stub beside this file, which
    # `python -m xlaops.builder.stub` writes and a test compares.
    if name in _facade.records():
        return _facade.function(name)
    if name == "__all__":
        return __dir__()
    why = "".join(f"; it is {r.status}: {r.note}" for r in _catalog.by_name(name)[:1])
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}{why}")


def __dir__() -> list[str]:
    return sorted({*_OWN, *_facade.records()})
