"""Custom calls as XlaBuilder has them: a name, and what is known of it nowhere else.

A handler that is to be differentiated, batched or divided among devices is better made
a function by `xlaops.ffi.op`.
"""

from collections.abc import Callable, Sequence
from typing import Any

import jax

from .. import types
from ..core import checks, compat, foreign
from ..core.typing import Aliasing, ItemShapeLike


def custom_call(
    call_target_name: str,
    operands: Sequence[Any],
    shape: ItemShapeLike,
    opaque: str | bytes = "",
    has_side_effect: bool = False,
    output_operand_aliasing: Aliasing = (),
    literal: None = None,
    schedule: types.CustomCallSchedule | str | int = "SCHEDULE_NONE",
    api_version: types.CustomCallApiVersion | str | int = "API_VERSION_ORIGINAL",
) -> Any:
    """The result of foreign code that is registered under a name.

    The code is called as it stands: it has no derivatives and no batches, and where XLA
    divides a program among devices, it gathers the operands onto each. The layouts are
    row-major.

    Args:
      call_target_name: the name of the target, of `Library.target` or registered with
        `jax.ffi.register_ffi_target`.
      operands: N arrays, or tuples of arrays.
      shape: the result's; a tuple shape, or a tuple of shapes, for several results.
      opaque: what the target is told beyond the operands: of the typed FFI the text of
        a dictionary of MLIR, such as ``"{factor = 2.0 : f32}"``, of the older versions
        any text.
      has_side_effect: whether the call must stay though its result is not used.
      output_operand_aliasing: pairs of an index into the result, such as ``()`` for all
        of it or ``(1,)`` for an element, and of an operand's number with an index into
        the operand; the two share memory.
      literal: a constant beside the operands, which JAX cannot carry: only None.
      schedule: where the call stands in the order of the program, which JAX cannot
        carry: only ``"SCHEDULE_NONE"``.
      api_version: how the target is called; handlers of XLA's FFI are of
        ``"API_VERSION_TYPED_FFI"``.

    Returns:
      An array, or a tuple as ``shape`` says.

    Raises:
      TypeError: if an argument is of another kind.
      ValueError: if an argument has an impossible value, or one that JAX cannot carry.

    Example:
      >>> import jax, jax.numpy as jnp
      >>> import xlaops as xo
      >>> def call(b, c):
      ...     return xo.custom_call(
      ...         "xlaops_periodic_add", [b, c], "s32[5]",
      ...         api_version="typed_ffi",
      ...     )
      >>> b, c = jnp.array([10, 20], "int32"), jnp.arange(5, dtype="int32")
      >>> text = jax.jit(call).lower(b, c).as_text()
      >>> "stablehlo.custom_call @xlaops_periodic_add" in text
      True

    Source: *CustomCall* in XLA's Operation semantics; ``stablehlo.custom_call``.
    """
    return _call(
        "custom_call", call_target_name, operands, None, shape, None, opaque,
        has_side_effect, output_operand_aliasing, literal, schedule, api_version,
    )  # fmt: skip


def custom_call_with_computation(
    call_target_name: str,
    operands: Sequence[Any],
    computation: Callable[..., Any],
    shape: ItemShapeLike,
    opaque: str | bytes = "",
    has_side_effect: bool = False,
    output_operand_aliasing: Aliasing = (),
    literal: None = None,
    schedule: types.CustomCallSchedule | str | int = "SCHEDULE_NONE",
    api_version: types.CustomCallApiVersion | str | int = "API_VERSION_ORIGINAL",
) -> Any:
    """The result of foreign code that is also given a computation.

    The computation becomes a function of the program that the call refers to. Only code
    inside XLA can run it: handlers of the FFI do not see it.

    Args:
      call_target_name: the name of the target, of `Library.target` or registered with
        `jax.ffi.register_ffi_target`.
      operands: N arrays, or tuples of arrays.
      computation: called with scalars, one of each operand's element type; or an
        `xlaops.builder.XlaComputation` with parameters of its own.
      shape: the result's; a tuple shape, or a tuple of shapes, for several results.
      opaque: what the target is told beyond the operands: of the typed FFI the text of
        a dictionary of MLIR, such as ``"{factor = 2.0 : f32}"``, of the older versions
        any text.
      has_side_effect: whether the call must stay though its result is not used.
      output_operand_aliasing: pairs of an index into the result, such as ``()`` for all
        of it or ``(1,)`` for an element, and of an operand's number with an index into
        the operand; the two share memory.
      literal: a constant beside the operands, which JAX cannot carry: only None.
      schedule: where the call stands in the order of the program, which JAX cannot
        carry: only ``"SCHEDULE_NONE"``.
      api_version: how the target is called; handlers of XLA's FFI are of
        ``"API_VERSION_TYPED_FFI"``.

    Returns:
      An array, or a tuple as ``shape`` says.

    Raises:
      TypeError: if an argument is of another kind.
      ValueError: if an argument has an impossible value, or one that JAX cannot carry.

    Example:
      >>> import jax, jax.numpy as jnp
      >>> import xlaops as xo
      >>> def call(b, c):
      ...     return xo.custom_call_with_computation(
      ...         "xlaops_periodic_add", [b, c], lambda b, c: b + c, "s32[5]",
      ...         api_version="typed_ffi",
      ...     )
      >>> b, c = jnp.array([10, 20], "int32"), jnp.arange(5, dtype="int32")
      >>> text = jax.jit(call).lower(b, c).as_text()
      >>> "stablehlo.custom_call @xlaops_periodic_add" in text
      True

    Source: ``xla_builder.h``; ``stablehlo.custom_call``.
    """
    _check_callable("custom_call_with_computation", computation)
    return _call(
        "custom_call_with_computation", call_target_name, operands, computation, shape,
        None, opaque,
        has_side_effect, output_operand_aliasing, literal, schedule, api_version,
    )  # fmt: skip


def custom_call_with_layout(
    call_target_name: str,
    operands: Sequence[Any],
    shape_with_layout: ItemShapeLike,
    operand_shapes_with_layout: Sequence[ItemShapeLike],
    opaque: str | bytes = "",
    has_side_effect: bool = False,
    output_operand_aliasing: Aliasing = (),
    literal: None = None,
    schedule: types.CustomCallSchedule | str | int = "SCHEDULE_NONE",
    api_version: types.CustomCallApiVersion | str | int = "API_VERSION_ORIGINAL",
) -> Any:
    """The result of foreign code that takes and gives layouts of its own.

    XLA brings the operands into these layouts first; the dimensions stay what they are.

    Args:
      call_target_name: the name of the target, of `Library.target` or registered with
        `jax.ffi.register_ffi_target`.
      operands: N arrays, or tuples of arrays.
      shape_with_layout: the result's, such as ``"f32[2,3]{0,1}"``; without a layout it
        is row-major.
      operand_shapes_with_layout: one for each operand, with its dimensions.
      opaque: what the target is told beyond the operands: of the typed FFI the text of
        a dictionary of MLIR, such as ``"{factor = 2.0 : f32}"``, of the older versions
        any text.
      has_side_effect: whether the call must stay though its result is not used.
      output_operand_aliasing: pairs of an index into the result, such as ``()`` for all
        of it or ``(1,)`` for an element, and of an operand's number with an index into
        the operand; the two share memory.
      literal: a constant beside the operands, which JAX cannot carry: only None.
      schedule: where the call stands in the order of the program, which JAX cannot
        carry: only ``"SCHEDULE_NONE"``.
      api_version: how the target is called; handlers of XLA's FFI are of
        ``"API_VERSION_TYPED_FFI"``.

    Returns:
      An array, or a tuple as ``shape`` says.

    Raises:
      TypeError: if an argument is of another kind.
      ValueError: if an argument has an impossible value, or one that JAX cannot carry.

    Example:
      >>> import jax, jax.numpy as jnp
      >>> import xlaops as xo
      >>> def call(b, c):
      ...     return xo.custom_call_with_layout(
      ...         "xlaops_periodic_add", [b, c], "s32[5]{0}",
      ...         ["s32[2]{0}", "s32[5]{0}"],
      ...         api_version="typed_ffi",
      ...     )
      >>> b, c = jnp.array([10, 20], "int32"), jnp.arange(5, dtype="int32")
      >>> text = jax.jit(call).lower(b, c).as_text()
      >>> "stablehlo.custom_call @xlaops_periodic_add" in text
      True

    Source: ``xla_builder.h``; ``stablehlo.custom_call``.
    """
    _check_shapes("custom_call_with_layout", operand_shapes_with_layout)
    return _call(
        "custom_call_with_layout", call_target_name, operands, None, shape_with_layout,
        operand_shapes_with_layout, opaque,
        has_side_effect, output_operand_aliasing, literal, schedule, api_version,
    )  # fmt: skip


def custom_call_with_computation_and_layouts(
    call_target_name: str,
    operands: Sequence[Any],
    computation: Callable[..., Any],
    shape_with_layout: ItemShapeLike,
    operand_shapes_with_layout: Sequence[ItemShapeLike],
    opaque: str | bytes = "",
    has_side_effect: bool = False,
    output_operand_aliasing: Aliasing = (),
    literal: None = None,
    schedule: types.CustomCallSchedule | str | int = "SCHEDULE_NONE",
    api_version: types.CustomCallApiVersion | str | int = "API_VERSION_ORIGINAL",
) -> Any:
    """The result of foreign code with a computation and layouts of its own.

    Args:
      call_target_name: the name of the target, of `Library.target` or registered with
        `jax.ffi.register_ffi_target`.
      operands: N arrays, or tuples of arrays.
      computation: as in `xlaops.custom_call_with_computation`.
      shape_with_layout: the result's, as in `xlaops.custom_call_with_layout`.
      operand_shapes_with_layout: one for each operand, with its dimensions.
      opaque: what the target is told beyond the operands: of the typed FFI the text of
        a dictionary of MLIR, such as ``"{factor = 2.0 : f32}"``, of the older versions
        any text.
      has_side_effect: whether the call must stay though its result is not used.
      output_operand_aliasing: pairs of an index into the result, such as ``()`` for all
        of it or ``(1,)`` for an element, and of an operand's number with an index into
        the operand; the two share memory.
      literal: a constant beside the operands, which JAX cannot carry: only None.
      schedule: where the call stands in the order of the program, which JAX cannot
        carry: only ``"SCHEDULE_NONE"``.
      api_version: how the target is called; handlers of XLA's FFI are of
        ``"API_VERSION_TYPED_FFI"``.

    Returns:
      An array, or a tuple as ``shape`` says.

    Raises:
      TypeError: if an argument is of another kind.
      ValueError: if an argument has an impossible value, or one that JAX cannot carry.

    Example:
      >>> import jax, jax.numpy as jnp
      >>> import xlaops as xo
      >>> def call(b, c):
      ...     return xo.custom_call_with_computation_and_layouts(
      ...         "xlaops_periodic_add", [b, c], lambda b, c: b + c, "s32[5]{0}",
      ...     ["s32[2]{0}", "s32[5]{0}"],
      ...         api_version="typed_ffi",
      ...     )
      >>> b, c = jnp.array([10, 20], "int32"), jnp.arange(5, dtype="int32")
      >>> text = jax.jit(call).lower(b, c).as_text()
      >>> "stablehlo.custom_call @xlaops_periodic_add" in text
      True

    Source: ``xla_builder.h``; ``stablehlo.custom_call``.
    """
    operation = "custom_call_with_computation_and_layouts"
    _check_callable(operation, computation)
    _check_shapes(operation, operand_shapes_with_layout)
    return _call(
        operation, call_target_name, operands,
        computation, shape_with_layout, operand_shapes_with_layout, opaque,
        has_side_effect, output_operand_aliasing, literal, schedule, api_version,
    )  # fmt: skip


def custom_call_with_conv_dnums(
    call_target_name: str,
    operands: Sequence[Any],
    shape: ItemShapeLike,
    operand_shapes_with_layout: Sequence[ItemShapeLike],
    opaque: str | bytes = "",
    has_side_effect: bool = False,
    output_operand_aliasing: Aliasing = (),
    literal: None = None,
    window: None = None,
    dnums: None = None,
    schedule: types.CustomCallSchedule | str | int = "SCHEDULE_NONE",
    api_version: types.CustomCallApiVersion | str | int = "API_VERSION_ORIGINAL",
) -> Any:
    """The result of foreign code for a convolution, as far as JAX can say it.

    XLA's own targets for convolutions are told of the window and of the dimensions
    beside the operands. StableHLO has no place for them in a custom call: a target of
    one's own takes them as attributes, in ``opaque``.

    Args:
      call_target_name: the name of the target, of `Library.target` or registered with
        `jax.ffi.register_ffi_target`.
      operands: N arrays, or tuples of arrays.
      shape: the result's, with its layout; a tuple shape, or a tuple of shapes, for
        several results.
      operand_shapes_with_layout: one for each operand, with its dimensions; an empty
        sequence for row-major ones.
      opaque: what the target is told beyond the operands: of the typed FFI the text of
        a dictionary of MLIR, such as ``"{factor = 2.0 : f32}"``, of the older versions
        any text.
      has_side_effect: whether the call must stay though its result is not used.
      output_operand_aliasing: pairs of an index into the result, such as ``()`` for all
        of it or ``(1,)`` for an element, and of an operand's number with an index into
        the operand; the two share memory.
      literal: a constant beside the operands, which JAX cannot carry: only None.
      window: the convolution's, which JAX cannot carry: only None.
      dnums: its dimension numbers, which JAX cannot carry: only None.
      schedule: where the call stands in the order of the program, which JAX cannot
        carry: only ``"SCHEDULE_NONE"``.
      api_version: how the target is called; handlers of XLA's FFI are of
        ``"API_VERSION_TYPED_FFI"``.

    Returns:
      An array, or a tuple as ``shape`` says.

    Raises:
      TypeError: if an argument is of another kind.
      ValueError: if an argument has an impossible value, or one that JAX cannot carry.

    Example:
      >>> import jax, jax.numpy as jnp
      >>> import xlaops as xo
      >>> def call(b, c):
      ...     return xo.custom_call_with_conv_dnums(
      ...         "xlaops_periodic_add", [b, c], "s32[5]", [], api_version="typed_ffi"
      ...     )
      >>> b, c = jnp.array([10, 20], "int32"), jnp.arange(5, dtype="int32")
      >>> text = jax.jit(call).lower(b, c).as_text()
      >>> "stablehlo.custom_call @xlaops_periodic_add" in text
      True

    Source: ``xla_builder.h``; ``stablehlo.custom_call``.
    """
    for parameter, value in (("window", window), ("dnums", dnums)):
        if value is not None:
            raise ValueError(
                f"custom_call_with_conv_dnums: {parameter} must be None, since "
                f"StableHLO's custom calls cannot carry it, got "
                f"{checks.describe(value)}"
            )
    layouts = operand_shapes_with_layout
    if isinstance(layouts, (tuple, list)) and not layouts:
        layouts = None
    return _call(
        "custom_call_with_conv_dnums", call_target_name, operands, None, shape, layouts,
        opaque, has_side_effect, output_operand_aliasing, literal, schedule,
        api_version,
    )  # fmt: skip


def _call(
    operation: str,
    target: Any,
    operands: Any,
    computation: Any,
    shape: Any,
    operand_shapes: Any,
    opaque: Any,
    has_side_effect: Any,
    aliasing: Any,
    literal: Any,
    schedule: Any,
    api_version: Any,
) -> Any:
    if not isinstance(target, str) or not target:
        error = ValueError if isinstance(target, str) else TypeError
        raise error(
            f"{operation}: call_target_name must be the name of a target, "
            f"got {target!r}"
        )
    if literal is not None:
        raise ValueError(
            f"{operation}: literal must be None, since StableHLO's custom calls cannot "
            f"carry it, got {checks.describe(literal)}. (Tip: what is constant is an "
            f"operand, or stands in opaque.)"
        )
    coerced = checks.coerced(types.CustomCallSchedule.coerce)
    if coerced(operation, "schedule", schedule) != "SCHEDULE_NONE":
        raise ValueError(
            f"{operation}: schedule must be SCHEDULE_NONE, since StableHLO's custom "
            f"calls cannot carry another, got {schedule!r}"
        )
    version = _version(operation, api_version)
    trees = _operands(operation, operands)
    leaves = jax.tree.leaves(trees)
    result = _shape(operation, "shape", shape)
    results = list(_leaves(result))
    for leaf in results:
        if not leaf.is_array or not leaf.is_static:
            raise ValueError(
                f"{operation}: shape must be of arrays with static dimensions, "
                f"got {result}"
            )
        checks.addressable(operation, "shape", leaf.dimensions, leaf.dtype)
    if version.number < foreign.TYPED_FFI:
        # The older versions pass tuples as arrays of pointers.
        nested = [t for t in trees if isinstance(t, tuple)]
        if nested or any(s.is_tuple for s in result.tuple_shapes):
            raise ValueError(
                f"{operation}: operands must be arrays, and shape one or a tuple of "
                f"them, where api_version is {version.value}: JAX passes the elements "
                f"of tuples on their own"
            )
    layouts = [_layout(operation, "shape", leaf) for leaf in results]
    values = foreign.custom_call(
        leaves,
        operation=operation,
        target=target,
        results=tuple((leaf.dimensions, leaf.dtype) for leaf in results),
        opaque=_opaque(operation, opaque, version),
        aliases=_aliases(operation, aliasing, trees, result),
        has_side_effect=checks.boolean(operation, "has_side_effect", has_side_effect),
        api_version=version.number,
        operand_layouts=_operand_layouts(operation, operand_shapes, trees),
        result_layouts=None
        if layouts.count(None) == len(layouts)
        else tuple(
            tuple(reversed(range(leaf.rank))) if order is None else order
            for leaf, order in zip(results, layouts, strict=True)
        ),
        computation=_traced(operation, computation, leaves),
    )
    return _as_tree(result, iter(values))


def _version(operation: str, value: Any) -> types.CustomCallApiVersion:
    version = checks.coerced(types.CustomCallApiVersion.coerce)(
        operation, "api_version", value
    )
    if version.number == 0:
        raise ValueError(f"{operation}: api_version must be specified, got {value!r}")
    return version


def _operands(operation: str, operands: Any) -> tuple[Any, ...]:
    if not isinstance(operands, (tuple, list)):
        raise TypeError(
            f"{operation}: operands must be a sequence, got {checks.describe(operands)}"
        )

    def arrays(parameter: str, value: Any) -> Any:
        if isinstance(value, (tuple, list)):
            return tuple(arrays(f"{parameter}[{i}]", v) for i, v in enumerate(value))
        return checks.array(operation, parameter, value)

    return tuple(arrays(f"operands[{i}]", value) for i, value in enumerate(operands))


def _shape(operation: str, parameter: str, value: Any) -> types.Shape:
    """The shape of a result or operand, with the layouts that were written."""
    if isinstance(value, (tuple, list)):
        return types.Shape.tuple(_shape(operation, parameter, item) for item in value)
    return checks.coerced(types.Shape.coerce)(operation, parameter, value)


def _leaves(shape: types.Shape) -> Any:
    if shape.is_tuple:
        for part in shape.tuple_shapes:
            yield from _leaves(part)
    else:
        yield shape


def _as_tree(shape: types.Shape, values: Any) -> Any:
    if shape.is_tuple:
        return tuple(_as_tree(part, values) for part in shape.tuple_shapes)
    return next(values)


def _layout(
    operation: str, parameter: str, shape: types.Shape
) -> tuple[int, ...] | None:
    """The order of an array's dimensions, minor first; None for the usual one."""
    layout = shape.layout
    if layout is None:
        return None
    if layout.tiles or layout.memory_space:
        raise ValueError(
            f"{operation}: {parameter} must have layouts without tiles and memory "
            f"spaces, which JAX's custom calls cannot carry, got {shape}"
        )
    return tuple(layout.minor_to_major)


def _operand_layouts(operation: str, written: Any, trees: tuple[Any, ...]) -> Any:
    if written is None:
        return None
    _check_shapes(operation, written)
    parameter = "operand_shapes_with_layout"
    shapes = [_shape(operation, f"{parameter}[{i}]", s) for i, s in enumerate(written)]
    wanted = [
        _shape(operation, "operands", jax.tree.map(jax.typeof, tree)) for tree in trees
    ]
    if [s.without_layout() for s in shapes] != [s.without_layout() for s in wanted]:
        raise TypeError(
            f"{operation}: {parameter} must be the shapes of the operands, "
            f"{', '.join(str(s.without_layout()) for s in wanted)}, "
            f"got {', '.join(map(str, shapes))}"
        )
    orders = []
    for leaf in (leaf for shape in shapes for leaf in _leaves(shape)):
        order = _layout(operation, parameter, leaf)
        orders.append(tuple(reversed(range(leaf.rank))) if order is None else order)
    return tuple(orders)


def _check_shapes(operation: str, written: Any) -> None:
    if not isinstance(written, (tuple, list)):
        raise TypeError(
            f"{operation}: operand_shapes_with_layout must be a sequence of shapes, "
            f"got {checks.describe(written)}"
        )


def _opaque(operation: str, value: Any, version: types.CustomCallApiVersion) -> str:
    if not isinstance(value, (str, bytes)):
        raise TypeError(
            f"{operation}: opaque must be a text, got {checks.describe(value)}. (Tip: "
            f"xlaops.ffi.op has attributes with types.)"
        )
    if isinstance(value, bytes):
        try:
            value = value.decode()
        except UnicodeDecodeError:
            raise ValueError(
                f"{operation}: opaque must be text in UTF-8, got {value!r}"
            ) from None
    if version.number < foreign.TYPED_FFI or not value:
        return value
    try:
        return compat.parsed_dictionary(value)
    except ValueError as error:
        raise ValueError(
            f"{operation}: opaque must be the text of a dictionary of MLIR for the "
            f"typed FFI, such as '{{factor = 2.0 : f32}}', got "
            f"{checks.describe(value)}: {error}"
        ) from None


def _aliases(
    operation: str, aliasing: Any, trees: tuple[Any, ...], result: types.Shape
) -> tuple[tuple[int, int], ...]:
    """Pairs of an operand and a result, by their numbers among all arrays."""
    parameter = "output_operand_aliasing"
    inputs = jax.tree.unflatten(
        jax.tree.structure(trees), range(len(jax.tree.leaves(trees)))
    )
    outputs = _as_tree(result, iter(range(len(list(_leaves(result))))))
    arrays, shapes = jax.tree.leaves(trees), list(_leaves(result))
    pairs: list[tuple[int, int]] = []
    try:
        written = [
            (checks.integers(operation, parameter, out), number, index)
            for out, (number, index) in aliasing
        ]
    except (TypeError, ValueError):
        raise TypeError(
            f"{operation}: {parameter} must be pairs of an index and of an operand "
            f"with an index, such as ((1,), (0, ())), got {checks.describe(aliasing)}"
        ) from None
    for out, number, index in written:
        place = checks.integers(operation, parameter, index)
        operand = _at(inputs, (checks.integer(operation, parameter, number), *place))
        output = _at(outputs, out)
        if operand is None or output is None:
            raise ValueError(
                f"{operation}: {parameter} must lead to arrays of the operands and of "
                f"the result, got {(tuple(out), (number, place))}"
            )
        array, shape = arrays[operand], shapes[output]
        if array.shape != shape.dimensions or array.dtype != shape.dtype:
            raise TypeError(
                f"{operation}: {parameter} must be of arrays of one shape, "
                f"got {checks.describe(array)} and {shape}"
            )
        pairs.append((operand, output))
    if len(dict(pairs)) != len(pairs) or len({o for _, o in pairs}) != len(pairs):
        raise ValueError(
            f"{operation}: {parameter} must name each array once, got {aliasing!r}"
        )
    return tuple(pairs)


def _at(tree: Any, index: Sequence[int]) -> int | None:
    for i in index:
        if not isinstance(tree, tuple) or not 0 <= i < len(tree):
            return None
        tree = tree[i]
    return tree if isinstance(tree, int) else None


def _traced(operation: str, computation: Any, operands: Sequence[Any]) -> Any:
    if computation is None:
        return None
    program = getattr(computation, "program_shape", None)
    if program is None:
        structs = [jax.ShapeDtypeStruct((), x.dtype) for x in operands]
    else:
        structs = [shape.to_struct() for shape in program.parameters]
    traced = jax.make_jaxpr(lambda *xs: computation(*xs))(*structs)
    if any(isinstance(value, compat.Tracer) for value in traced.consts):
        raise TypeError(f"{operation}: computation must not close over traced values")
    if traced.effects:
        raise TypeError(f"{operation}: computation must have no side effects")
    if not traced.out_avals:
        raise TypeError(f"{operation}: computation must return an array, got none")
    return traced


def _check_callable(operation: str, computation: Any) -> None:
    if not callable(computation):
        raise TypeError(
            f"{operation}: computation must be callable, "
            f"got {checks.describe(computation)}"
        )
