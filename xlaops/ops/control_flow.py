"""Loops and branches.

They take Python callables, so they bypass the fast eager path: a callable that holds a
tracer must never become part of the key of a compiled program.
"""

import inspect
import weakref
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, overload

import jax
import jax.numpy as jnp
from jax import Array, lax
from jax.typing import ArrayLike

from ..core import checks, primitive

T = TypeVar("T")
A = TypeVar("A")
B = TypeVar("B")
R = TypeVar("R")


def while_(condition: Callable[[T], ArrayLike], body: Callable[[T], T], init: T) -> T:
    """The value that repeated application of ``body`` reaches.

    ``body`` is applied to ``init``, then to its own result, for as long as
    ``condition`` of the value is true; not once, if it is false at the start.

    Forward derivatives work; reverse ones do not, as the number of iterations is known
    only when the program runs: JAX raises a ValueError that says so.

    Args:
      condition: called with one argument of the type of ``init``; returns a PRED
        scalar.
      body: called with one argument of the type of ``init``; returns the same type.
      init: an array or any pytree of arrays (the document's tuples). A list in it is
        taken as a tuple, and so are lists that ``body`` returns.

    Returns:
      A value of the type of ``init``.

    Raises:
      TypeError: if ``condition`` or ``body`` is not callable or returns another type.

    Example:
      >>> import xlaops as xo
      >>> count, power = xo.while_(
      ...     lambda state: state[0] < 10,
      ...     lambda state: (state[0] + 1, state[1] * 2),
      ...     (0, 1),
      ... )
      >>> print(power)
      1024

    Source: *While* in XLA's Operation semantics; ``stablehlo.while``.
    """
    _callable("while_", "condition", condition)
    _callable("while_", "body", body)

    init = _arrays("while_", "init", init)
    try:
        # As they are: jax.lax recognises a function that it has traced before.
        return lax.while_loop(condition, body, init)
    except TypeError:
        _explain_loop(condition, body, init)
        return lax.while_loop(condition, lambda value: _tuples(body(value)), init)


def _explain_loop(
    condition: Callable[[T], ArrayLike], body: Callable[[T], T], init: T
) -> None:
    """Raises what is wrong with the types of a loop, if anything is."""
    value = jax.eval_shape(lambda: init)
    continued = jax.eval_shape(condition, value)
    leaves = jax.tree.leaves(continued)
    if [_type(x) for x in leaves] != ["bool[]"] or leaves[0] is not continued:
        raise TypeError(
            f"while_: condition must return a PRED scalar, got {_types(continued)}"
        )
    result = _tuples(jax.eval_shape(body, value))
    if not _same_type(result, value):
        raise TypeError(
            f"while_: body must return the type of init, {_types(value)}, "
            f"got {_types(result)}"
        )


@overload
def conditional(
    predicate: ArrayLike,
    true_operand: A,
    true_computation: Callable[[A], R],
    false_operand: B,
    false_computation: Callable[[B], R],
) -> R: ...


@overload
def conditional(
    branch_index: ArrayLike,
    branch_computations: Sequence[Callable[[Any], R]],
    branch_operands: Sequence[Any],
) -> R: ...


def conditional(*args, **kwargs):  # noqa: D417
    """The result of one of several computations, chosen when the program runs.

    There are two forms: ``conditional(predicate, true_operand, true_computation,
    false_operand, false_computation)`` and ``conditional(branch_index,
    branch_computations, branch_operands)``.

    Only the chosen computation runs, but under `jax.vmap` over the predicate or index
    all of them do and the results are selected. Derivatives are those of the chosen
    computation.

    Args:
      predicate: PRED scalar.
      true_operand: argument of ``true_computation``: an array or a pytree of arrays.
      true_computation: called with ``true_operand`` alone.
      false_operand: argument of ``false_computation``; of any type.
      false_computation: called with ``false_operand`` alone; returns what
        ``true_computation`` does.
      branch_index: S32 scalar. Below 0 or above N - 1 it chooses the LAST computation
        (`jax.lax.switch` clamps it: a negative one chooses the first).
      branch_computations: N callables of one argument that return the same type.
      branch_operands: N arguments, one for each.

    Returns:
      What the chosen computation returns, lists in it as tuples.

    Raises:
      TypeError: if ``predicate`` or ``branch_index`` is not such a scalar, or if
        computations are not callable or return different types.
      ValueError: if there are no branches, or not as many operands.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> x = jnp.float32(2.0)
      >>> print(xo.conditional(x > 1, x, lambda v: v * 10, x, lambda v: v))
      20.0
      >>> branches = [lambda v: v + 1, lambda v: v * 10, lambda v: v - 5]
      >>> print(xo.conditional(-1, branches, [x, x, x]))
      -3.0

    Source: *Conditional* in XLA's Operation semantics; ``stablehlo.case``.
    """
    indexed = "branch_index" in kwargs or len(args) + len(kwargs) == 3
    form = _by_index if indexed else _by_predicate
    try:
        bound = inspect.signature(form).bind(*args, **kwargs)
    except TypeError as error:
        raise TypeError(f"conditional: {error}") from None
    return form(*bound.args)


def scan(
    inputs: Sequence[ArrayLike],
    inits: Sequence[ArrayLike],
    computation: Callable[..., Any],
    scan_dimension: int,
    scan_dimension_size: int | None = None,
    is_reverse: bool = False,
    is_associative: bool | None = None,
) -> Any:
    """Results and final carries of a computation that walks along one dimension.

    At each index the computation gets the slices of the inputs there (without the
    dimension) and the carries, and returns the slices of the outputs and the new
    carries.

    Args:
      inputs: N arrays of equal size in ``scan_dimension``; N may be 0.
      inits: M arrays: the carries before the first step.
      computation: called with N + M arrays; returns K outputs, then M carries of the
        types of ``inits``, as a tuple (one array alone if K + M is 1).
      scan_dimension: the dimension of inputs and outputs to walk along.
      scan_dimension_size: number of steps; needed if there are no inputs.
      is_reverse: whether to start at the last index.
      is_associative: whether the computation may be regrouped. XLA may use it; JAX has
        no way to pass it on, and the result is the same.

    Returns:
      A tuple of the K outputs, with their slices along ``scan_dimension``, and the M
      final carries (one array alone if K + M is 1).

    Raises:
      TypeError: if ``computation`` is not callable or returns other carries, if
        ``inputs`` or ``inits`` is no sequence of arrays, or if ``is_reverse`` or
        ``is_associative`` is no bool.
      ValueError: if sizes differ, ``scan_dimension`` is out of range, or nothing says
        how many steps there are.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> sums, total = xo.scan(
      ...     [jnp.arange(5.0)], [0.0], lambda x, carry: (x + carry, x + carry), 0
      ... )
      >>> sums
      Array([ 0.,  1.,  3.,  6., 10.], dtype=float32)

    Source: ``Scan`` of ``xla_builder.h``; ``chlo.scan``.
    """
    _callable("scan", "computation", computation)
    dim = checks.integer("scan", "scan_dimension", scan_dimension)
    reverse = checks.boolean("scan", "is_reverse", is_reverse)
    checks.optional(checks.boolean)("scan", "is_associative", is_associative)
    xs = _sequence("inputs", inputs)
    carries = _sequence("inits", inits)
    for x in xs:
        checks.dimension("scan", "scan_dimension", dim, x.ndim)
    steps = {x.shape[dim] for x in xs}
    if scan_dimension_size is not None:
        size = checks.integer("scan", "scan_dimension_size", scan_dimension_size)
        if size < 0:
            raise ValueError(
                f"scan: scan_dimension_size must not be negative, got {size}"
            )
        steps.add(size)
    if len(steps) != 1:
        raise ValueError(
            f"scan: inputs and scan_dimension_size must say one number of steps, "
            f"got {sorted(steps)}"
        )

    step = _made_of(computation, "step", _step)
    moved = tuple(jnp.moveaxis(x, dim, 0) for x in xs)
    count = steps.pop()
    try:
        final, outputs = lax.scan(step, carries, moved, length=count, reverse=reverse)
    except TypeError:
        # What is left are carries of which only later ones differ by device.
        axes = frozenset().union(*map(primitive.varying_axes, (*xs, *carries)))
        if not axes:
            raise
        carries = primitive.varying_over(axes, *carries)
        final, outputs = lax.scan(step, carries, moved, length=count, reverse=reverse)
    for output in outputs:
        checks.dimension("scan", "scan_dimension", dim, output.ndim)
    results = (*(jnp.moveaxis(y, 0, dim) for y in outputs), *final)
    return results[0] if len(results) == 1 else results


def _by_predicate(
    predicate: ArrayLike,
    true_operand: A,
    true_computation: Callable[[A], R],
    false_operand: B,
    false_computation: Callable[[B], R],
) -> R:
    chosen = checks.operand("conditional", "predicate", predicate, "b")
    _scalar("predicate", chosen)
    names = ("true_computation", "false_computation")
    computations = (true_computation, false_computation)
    operands = (
        _arrays("conditional", "true_operand", true_operand),
        _arrays("conditional", "false_operand", false_operand),
    )
    return _switch(
        lambda branches, operands: lax.cond(chosen, *branches, operands),
        chosen,
        names,
        computations,
        operands,
    )


def _by_index(
    branch_index: ArrayLike,
    branch_computations: Sequence[Callable[[Any], R]],
    branch_operands: Sequence[Any],
) -> R:
    for name, value in (
        ("branch_computations", branch_computations),
        ("branch_operands", branch_operands),
    ):
        if not isinstance(value, (tuple, list)):
            raise TypeError(
                f"conditional: {name} must be a sequence, got {checks.describe(value)}"
            )
    count = len(branch_computations)
    index = checks.operand("conditional", "branch_index", branch_index, "iu")
    _scalar("branch_index", index)
    if index.dtype != "int32" and not jax.typeof(index).weak_type:
        raise TypeError(
            f"conditional: branch_index must be an S32 scalar, got "
            f"{checks.describe(index)}"
        )
    if not count:
        raise ValueError("conditional: branch_computations must not be empty")
    if len(branch_operands) != count:
        raise ValueError(
            f"conditional: branch_operands must have one entry for each of the {count} "
            f"branch_computations, got {len(branch_operands)}"
        )
    names = tuple(f"branch_computations[{i}]" for i in range(count))
    # As an unsigned number a negative index is large: both ends are out of range at the
    # same side, and jax.lax.switch never has to clamp.
    unsigned = f"uint{checks.bit_width(index.dtype)}"
    last = lax.min(
        lax.convert_element_type(index, unsigned),
        lax.full_like(index, count - 1, dtype=unsigned),
    )
    position = lax.convert_element_type(last, "int32")
    operands = tuple(
        _arrays("conditional", f"branch_operands[{i}]", x)
        for i, x in enumerate(branch_operands)
    )
    return _switch(
        lambda branches, operands: lax.switch(position, branches, operands),
        position,
        names,
        branch_computations,
        operands,
    )


def _switch(
    run: Callable[[list[Callable[[Sequence[Any]], R]], Sequence[Any]], R],
    chooser: Array,
    names: Sequence[str],
    computations: Sequence[Callable[[Any], R]],
    operands: Sequence[Any],
) -> R:
    """Runs branches that get all operands and pass on their own."""
    for name, computation in zip(names, computations, strict=True):
        _callable("conditional", name, computation)
    chosen_by = primitive.varying_axes(chooser)
    if chosen_by:
        # Devices that choose differently have different results, whatever the operands.
        return _switch_varying(run, chosen_by, computations, operands)
    try:
        branches = [_branch(f, i) for i, f in enumerate(computations)]
        return _tuples(run(branches, operands))
    except TypeError:
        types = [
            _tuples(jax.eval_shape(f, x))
            for f, x in zip(computations, operands, strict=True)
        ]
        for name, other in zip(names, types, strict=True):
            if not _same_type(types[0], other):
                raise TypeError(
                    f"conditional: {name} must return the type that {names[0]} does, "
                    f"{_types(types[0])}, got {_types(other)}"
                ) from None
        # What is left are lists, and branches of which only one differs by device.
        return _switch_varying(run, chosen_by, computations, operands)


def _switch_varying(
    run: Callable[[list[Callable[[Sequence[Any]], R]], Sequence[Any]], R],
    axes: frozenset[str],
    computations: Sequence[Callable[[Any], R]],
    operands: Sequence[Any],
) -> R:
    """Runs branches whose operands and results all vary over the same mesh axes."""
    axes = axes.union(*(primitive.varying_axes(x) for x in jax.tree.leaves(operands)))
    # Cast outside of the branches: JAX sums no derivative over devices inside of one.
    operands = jax.tree.map(lambda x: primitive.varying_over(axes, x)[0], operands)
    try:
        alike = [_alike(f, axes) for f in computations]
        return run([_branch(f, i) for i, f in enumerate(alike)], operands)
    except TypeError:
        # A branch holds a value that varies over more axes than the operands do.
        alike = [_alike(f, primitive.manual_axes()) for f in computations]
        return run([_branch(f, i) for i, f in enumerate(alike)], operands)


def _alike(computation: Callable[[Any], R], axes: frozenset[str]) -> Callable[[Any], R]:
    """The computation with tuples for lists, varying over the given mesh axes."""

    def run(operand: Any) -> R:
        result = _tuples(computation(operand))
        return jax.tree.map(lambda x: primitive.varying_over(axes, x)[0], result)

    return run


def _sequence(parameter: str, values: Any) -> tuple[Array, ...]:
    """The arrays of a sequence, which may be empty; an array is no sequence of rows."""
    if not isinstance(values, (tuple, list)):
        raise TypeError(
            f"scan: {parameter} must be a sequence of arrays, "
            f"got {checks.describe(values)}"
        )
    return tuple(
        checks.array("scan", f"{parameter}[{i}]", x) for i, x in enumerate(values)
    )


def _step(computation: Callable[..., Any]) -> Callable[..., Any]:
    """The body of `lax.scan` that runs the computation of `scan`."""

    def step(carries: tuple[Any, ...], slices: tuple[Any, ...]) -> Any:
        result = _tuples(computation(*slices, *carries))
        results = result if isinstance(result, tuple) else (result,)
        split = len(results) - len(carries)
        if split < 0 or not _same_type(results[split:], carries):
            raise TypeError(
                f"scan: computation must return its outputs, then carries of the types "
                f"of inits, {_types(carries)}, got {_types(results)}"
            )
        return results[split:], results[:split]

    return step


def _branch(computation: Callable[[Any], R], i: int) -> Callable[[Sequence[Any]], R]:
    """The function of all operands that calls ``computation`` with operand ``i``."""

    def make(computation: Callable[[Any], R]) -> Callable[[Sequence[Any]], R]:
        return lambda operands: computation(operands[i])

    return _made_of(computation, i, make)


# What was made of each computation: jax.lax recognises a function that it has traced
# before.
_made: weakref.WeakKeyDictionary[Callable[..., Any], dict[Any, Any]] = (
    weakref.WeakKeyDictionary()
)


def _made_of(
    computation: Callable[..., R],
    key: int | str,
    make: Callable[[Callable[..., R]], Callable[..., Any]],
) -> Callable[..., Any]:
    """What ``make`` makes of a computation: the same object for the same computation.

    It refers to the computation weakly, so that both can go; the caller holds the
    computation for as long as what is made of it can run.
    """
    try:
        made = _made.setdefault(computation, {})
        held = weakref.ref(computation)
    except TypeError:  # it cannot be referred to weakly, or has no hash
        return make(computation)
    if key not in made:

        def held_computation(*args: Any) -> R:
            function = held()
            assert function is not None  # the caller holds it
            return function(*args)

        made[key] = make(held_computation)
    return made[key]


def _callable(operation: str, parameter: str, value: Any) -> None:
    if not callable(value):
        raise TypeError(
            f"{operation}: {parameter} must be callable, got {checks.describe(value)}"
        )


def _scalar(parameter: str, value: Any) -> None:
    if value.ndim:
        raise TypeError(
            f"conditional: {parameter} must be a scalar, got {checks.describe(value)}"
        )


def _arrays(operation: str, parameter: str, tree: Any) -> Any:
    """The tree with tuples for lists and strongly typed arrays for its leaves."""

    def strong(leaf: Any) -> Any:
        array = checks.array(operation, parameter, leaf)
        if jax.typeof(array).weak_type:
            # A Python scalar has the type that the document gives T, not a weak one.
            return lax.convert_element_type(array, array.dtype)
        return array

    return jax.tree.map(strong, _tuples(tree))


def _tuples(tree: Any) -> Any:
    """The tree with tuples in the place of lists: the document has only tuples."""
    return jax.tree.map(
        lambda x: tuple(map(_tuples, x)) if isinstance(x, list) else x,
        tree,
        is_leaf=lambda x: isinstance(x, list),
    )


def _type(value: Any) -> str:
    aval = jax.typeof(value)
    return f"{aval.dtype}{list(aval.shape)}"


def _types(tree: Any) -> Any:
    """The tree with the type of each array in its place, for messages."""
    return jax.tree.map(_type, tree)


def _same_type(a: Any, b: Any) -> bool:
    """Whether two trees have equal structure and types, but for weak ones."""
    return jax.tree.structure(a) == jax.tree.structure(b) and all(
        _type(x) == _type(y)
        for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True)
    )
