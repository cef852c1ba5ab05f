"""Convolutions, in the five forms of XlaBuilder.

They differ in what can be said: padding as SAME or VALID or by numbers, which dimension
is which, and dilation. All come down to `jax.lax.conv_general_dilated`.
"""

import math
from collections.abc import Sequence

from jax import Array, lax
from jax.typing import ArrayLike

from ..core import checks, compat, products
from ..core.operation import operation
from ..core.typing import (
    ConvolutionDimensionNumbersLike,
    Dims,
    DTypeLike,
    PaddingLike,
    PrecisionConfigLike,
    WindowPadding,
)
from ..types import (
    ConvolutionDimensionNumbers,
    Padding,
    PrecisionConfig,
    window_padding,
)

_padding = checks.coerced(Padding.coerce)
_window_padding = checks.coerced(window_padding)
_dimension_numbers = checks.coerced(ConvolutionDimensionNumbers.coerce)
_precision = checks.optional(checks.coerced(PrecisionConfig.coerce))
_element_type = checks.optional(checks.element_type)


@operation(
    window_strides=checks.integers,
    padding=_padding,
    feature_group_count=checks.integer,
    batch_group_count=checks.integer,
    precision_config=_precision,
    preferred_element_type=_element_type,
)
def conv(
    lhs: ArrayLike,
    rhs: ArrayLike,
    window_strides: Dims,
    padding: PaddingLike,
    feature_group_count: int = 1,
    batch_group_count: int = 1,
    precision_config: PrecisionConfigLike = None,
    preferred_element_type: DTypeLike | None = None,
) -> Array:
    """Convolution of a batch of inputs with a kernel, with SAME or VALID padding.

    Dimensions are batch, features, then space in ``lhs`` and the result (NCHW), and
    output features, input features, then space in ``rhs`` (OIHW).

    The kernel is not reversed: this is the cross-correlation that machine learning
    calls convolution.

    Args:
      lhs: array of rank n + 2: a batch of inputs with features and n spatial
        dimensions.
      rhs: array of rank n + 2 and of the element type of ``lhs``: the kernel.
      window_strides: n steps of the window, at least 1.
      padding: ``"SAME"`` (the result has ``ceil(size / stride)`` positions; of an odd
        padding the larger half is at the end) or ``"VALID"`` (none).
      feature_group_count: number of groups that the features of ``lhs``, and the output
        features of ``rhs``, are split into; group i is convolved with group i.
      batch_group_count: number of groups that the batch of ``lhs``, and the output
        features of ``rhs``, are split into; group i is convolved with group i.
      precision_config: the precision of the two operands, as `xlaops.PrecisionConfig`
        or what it is made of (``"HIGHEST"``, a pair, ...); None leaves it to the
        backend.
      preferred_element_type: element type to accumulate in and of the result; None is
        that of the operands.

    Returns:
      An array with the batch of ``lhs`` (divided by ``batch_group_count``), the output
      features of ``rhs``, and as many spatial positions as the window takes.

    Raises:
      TypeError: if ranks or element types differ or features do not match.
      ValueError: if a list has not n entries, or a number in it is out of range.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> x = jnp.arange(5.0).reshape(1, 1, 5)
      >>> xo.conv(x, jnp.ones((1, 1, 3)), (1,), "SAME")
      Array([[[1., 3., 6., 9., 7.]]], dtype=float32)

    Source: *Conv (Convolution)* in XLA's Operation semantics;
    ``stablehlo.convolution``.
    """
    return _convolve(
        "conv",
        lhs,
        rhs,
        window_strides,
        Padding.coerce(padding),
        None,
        None,
        None,
        feature_group_count,
        batch_group_count,
        precision_config,
        preferred_element_type,
        None,
    )


@operation(
    window_strides=checks.integers,
    padding=_window_padding,
    feature_group_count=checks.integer,
    batch_group_count=checks.integer,
    precision_config=_precision,
    preferred_element_type=_element_type,
)
def conv_with_general_padding(
    lhs: ArrayLike,
    rhs: ArrayLike,
    window_strides: Dims,
    padding: WindowPadding,
    feature_group_count: int = 1,
    batch_group_count: int = 1,
    precision_config: PrecisionConfigLike = None,
    preferred_element_type: DTypeLike | None = None,
) -> Array:
    """Convolution of a batch of inputs with a kernel, with any padding.

    Dimensions are batch, features, then space in ``lhs`` and the result (NCHW), and
    output features, input features, then space in ``rhs`` (OIHW).

    The kernel is not reversed: this is the cross-correlation that machine learning
    calls convolution.

    Args:
      lhs: array of rank n + 2: a batch of inputs with features and n spatial
        dimensions.
      rhs: array of rank n + 2 and of the element type of ``lhs``: the kernel.
      window_strides: n steps of the window, at least 1.
      padding: n pairs ``(low, high)`` of zeros added at the edges; negative ones remove
        elements.
      feature_group_count: number of groups that the features of ``lhs``, and the output
        features of ``rhs``, are split into; group i is convolved with group i.
      batch_group_count: number of groups that the batch of ``lhs``, and the output
        features of ``rhs``, are split into; group i is convolved with group i.
      precision_config: the precision of the two operands, as `xlaops.PrecisionConfig`
        or what it is made of (``"HIGHEST"``, a pair, ...); None leaves it to the
        backend.
      preferred_element_type: element type to accumulate in and of the result; None is
        that of the operands.

    Returns:
      An array with the batch of ``lhs`` (divided by ``batch_group_count``), the output
      features of ``rhs``, and as many spatial positions as the window takes.

    Raises:
      TypeError: if ranks or element types differ or features do not match.
      ValueError: if a list has not n entries, or a number in it is out of range.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> x = jnp.arange(5.0).reshape(1, 1, 5)
      >>> xo.conv_with_general_padding(x, jnp.ones((1, 1, 3)), (1,), [(-1, 1)])
      Array([[[6., 9., 7.]]], dtype=float32)

    Source: *ConvWithGeneralPadding* in XLA's Operation semantics;
    ``stablehlo.convolution``.
    """
    return _convolve(
        "conv_with_general_padding",
        lhs,
        rhs,
        window_strides,
        window_padding(padding),
        None,
        None,
        None,
        feature_group_count,
        batch_group_count,
        precision_config,
        preferred_element_type,
        None,
    )


@operation(
    window_strides=checks.integers,
    padding=_padding,
    dimension_numbers=_dimension_numbers,
    feature_group_count=checks.integer,
    batch_group_count=checks.integer,
    precision_config=_precision,
    preferred_element_type=_element_type,
)
def conv_with_general_dimensions(
    lhs: ArrayLike,
    rhs: ArrayLike,
    window_strides: Dims,
    padding: PaddingLike,
    dimension_numbers: ConvolutionDimensionNumbersLike,
    feature_group_count: int = 1,
    batch_group_count: int = 1,
    precision_config: PrecisionConfigLike = None,
    preferred_element_type: DTypeLike | None = None,
) -> Array:
    """Convolution with SAME or VALID padding and dimensions in any order.

    The kernel is not reversed: this is the cross-correlation that machine learning
    calls convolution.

    Args:
      lhs: array of rank n + 2: a batch of inputs with features and n spatial
        dimensions.
      rhs: array of rank n + 2 and of the element type of ``lhs``: the kernel.
      window_strides: n steps of the window, at least 1.
      padding: ``"SAME"`` (the result has ``ceil(size / stride)`` positions; of an odd
        padding the larger half is at the end) or ``"VALID"`` (none).
      dimension_numbers: what each dimension of ``lhs``, ``rhs`` and the result is: a
        `xlaops.ConvolutionDimensionNumbers`, a mapping of its fields, three strings as
        ``("NHWC", "HWIO", "NHWC")``, or XLA's text ``"b01f_01io->b01f"``.
      feature_group_count: number of groups that the features of ``lhs``, and the output
        features of ``rhs``, are split into; group i is convolved with group i.
      batch_group_count: number of groups that the batch of ``lhs``, and the output
        features of ``rhs``, are split into; group i is convolved with group i.
      precision_config: the precision of the two operands, as `xlaops.PrecisionConfig`
        or what it is made of (``"HIGHEST"``, a pair, ...); None leaves it to the
        backend.
      preferred_element_type: element type to accumulate in and of the result; None is
        that of the operands.

    Returns:
      An array with the batch of ``lhs`` (divided by ``batch_group_count``), the output
      features of ``rhs``, and as many spatial positions as the window takes.

    Raises:
      TypeError: if ranks or element types differ or features do not match.
      ValueError: if a list has not n entries, or a number in it is out of range.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> x, kernel = jnp.ones((2, 8, 8, 3)), jnp.ones((3, 3, 3, 16))
      >>> numbers = ("NHWC", "HWIO", "NHWC")
      >>> xo.conv_with_general_dimensions(x, kernel, (1, 1), "SAME", numbers).shape
      (2, 8, 8, 16)

    Source: *ConvWithGeneralDimensions* in XLA's Operation semantics;
    ``stablehlo.convolution``.
    """
    return _convolve(
        "conv_with_general_dimensions",
        lhs,
        rhs,
        window_strides,
        Padding.coerce(padding),
        None,
        None,
        dimension_numbers,
        feature_group_count,
        batch_group_count,
        precision_config,
        preferred_element_type,
        None,
    )


@operation(
    window_strides=checks.integers,
    padding=_window_padding,
    dimension_numbers=_dimension_numbers,
    feature_group_count=checks.integer,
    batch_group_count=checks.integer,
    precision_config=_precision,
    preferred_element_type=_element_type,
)
def conv_general(
    lhs: ArrayLike,
    rhs: ArrayLike,
    window_strides: Dims,
    padding: WindowPadding,
    dimension_numbers: ConvolutionDimensionNumbersLike,
    feature_group_count: int = 1,
    batch_group_count: int = 1,
    precision_config: PrecisionConfigLike = None,
    preferred_element_type: DTypeLike | None = None,
) -> Array:
    """Convolution with any padding and dimensions in any order.

    The kernel is not reversed: this is the cross-correlation that machine learning
    calls convolution.

    Args:
      lhs: array of rank n + 2: a batch of inputs with features and n spatial
        dimensions.
      rhs: array of rank n + 2 and of the element type of ``lhs``: the kernel.
      window_strides: n steps of the window, at least 1.
      padding: n pairs ``(low, high)`` of zeros added at the edges; negative ones remove
        elements.
      dimension_numbers: what each dimension of ``lhs``, ``rhs`` and the result is: a
        `xlaops.ConvolutionDimensionNumbers`, a mapping of its fields, three strings as
        ``("NHWC", "HWIO", "NHWC")``, or XLA's text ``"b01f_01io->b01f"``.
      feature_group_count: number of groups that the features of ``lhs``, and the output
        features of ``rhs``, are split into; group i is convolved with group i.
      batch_group_count: number of groups that the batch of ``lhs``, and the output
        features of ``rhs``, are split into; group i is convolved with group i.
      precision_config: the precision of the two operands, as `xlaops.PrecisionConfig`
        or what it is made of (``"HIGHEST"``, a pair, ...); None leaves it to the
        backend.
      preferred_element_type: element type to accumulate in and of the result; None is
        that of the operands.

    Returns:
      An array with the batch of ``lhs`` (divided by ``batch_group_count``), the output
      features of ``rhs``, and as many spatial positions as the window takes.

    Raises:
      TypeError: if ranks or element types differ or features do not match.
      ValueError: if a list has not n entries, or a number in it is out of range.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> x, kernel = jnp.ones((2, 8, 8, 3)), jnp.ones((3, 3, 3, 16))
      >>> numbers = ("NHWC", "HWIO", "NHWC")
      >>> xo.conv_general(x, kernel, (2, 2), [(1, 1), (0, 0)], numbers).shape
      (2, 4, 3, 16)

    Source: *ConvGeneral* in XLA's Operation semantics; ``stablehlo.convolution``.
    """
    return _convolve(
        "conv_general",
        lhs,
        rhs,
        window_strides,
        window_padding(padding),
        None,
        None,
        dimension_numbers,
        feature_group_count,
        batch_group_count,
        precision_config,
        preferred_element_type,
        None,
    )


@operation(
    window_strides=checks.integers,
    padding=_window_padding,
    lhs_dilation=checks.integers,
    rhs_dilation=checks.integers,
    dimension_numbers=_dimension_numbers,
    feature_group_count=checks.integer,
    batch_group_count=checks.integer,
    precision_config=_precision,
    preferred_element_type=_element_type,
    window_reversal=checks.optional(checks.booleans),
)
def conv_general_dilated(
    lhs: ArrayLike,
    rhs: ArrayLike,
    window_strides: Dims,
    padding: WindowPadding,
    lhs_dilation: Dims,
    rhs_dilation: Dims,
    dimension_numbers: ConvolutionDimensionNumbersLike,
    feature_group_count: int = 1,
    batch_group_count: int = 1,
    precision_config: PrecisionConfigLike = None,
    preferred_element_type: DTypeLike | None = None,
    window_reversal: Sequence[bool] | None = None,
) -> Array:
    """Convolution with any padding, dilation and dimensions in any order.

    The kernel is not reversed: this is the cross-correlation that machine learning
    calls convolution.

    Args:
      lhs: array of rank n + 2: a batch of inputs with features and n spatial
        dimensions.
      rhs: array of rank n + 2 and of the element type of ``lhs``: the kernel.
      window_strides: n steps of the window, at least 1.
      padding: n pairs ``(low, high)`` of zeros added at the edges; negative ones remove
        elements.
      lhs_dilation: n numbers, at least 1: ``lhs_dilation - 1`` zeros are put between
        neighbouring elements of ``lhs`` (a transposed convolution).
      rhs_dilation: n numbers, at least 1: the same for ``rhs`` (an atrous convolution).
      dimension_numbers: what each dimension of ``lhs``, ``rhs`` and the result is: a
        `xlaops.ConvolutionDimensionNumbers`, a mapping of its fields, three strings as
        ``("NHWC", "HWIO", "NHWC")``, or XLA's text ``"b01f_01io->b01f"``.
      feature_group_count: number of groups that the features of ``lhs``, and the output
        features of ``rhs``, are split into; group i is convolved with group i.
      batch_group_count: number of groups that the batch of ``lhs``, and the output
        features of ``rhs``, are split into; group i is convolved with group i.
      precision_config: the precision of the two operands, as `xlaops.PrecisionConfig`
        or what it is made of (``"HIGHEST"``, a pair, ...); None leaves it to the
        backend.
      preferred_element_type: element type to accumulate in and of the result; None is
        that of the operands.
      window_reversal: n bools: whether the kernel is reversed in that spatial
        dimension, as it is in a mathematical convolution. None is False everywhere.

    Returns:
      An array with the batch of ``lhs`` (divided by ``batch_group_count``), the output
      features of ``rhs``, and as many spatial positions as the window takes.

    Raises:
      TypeError: if ranks or element types differ or features do not match.
      ValueError: if a list has not n entries, or a number in it is out of range.

    Example:
      >>> import jax.numpy as jnp
      >>> import xlaops as xo
      >>> x = jnp.arange(3.0).reshape(1, 1, 3)
      >>> kernel = jnp.array([[[1.0, 10.0]]])
      >>> xo.conv_general_dilated(
      ...     x, kernel, (1,), [(0, 0)], (2,), (1,), "bf0_oi0->bf0"
      ... )
      Array([[[ 0., 10.,  1., 20.]]], dtype=float32)

    Source: *ConvGeneralDilated* in XLA's Operation semantics;
    ``stablehlo.convolution``.
    """
    return _convolve(
        "conv_general_dilated",
        lhs,
        rhs,
        window_strides,
        window_padding(padding),
        lhs_dilation,
        rhs_dilation,
        dimension_numbers,
        feature_group_count,
        batch_group_count,
        precision_config,
        preferred_element_type,
        window_reversal,
    )


def _convolve(
    operation: str,
    lhs: ArrayLike,
    rhs: ArrayLike,
    window_strides: Dims,
    padding: Padding | tuple[tuple[int, int], ...],
    lhs_dilation: Dims | None,
    rhs_dilation: Dims | None,
    dimension_numbers: ConvolutionDimensionNumbersLike | None,
    feature_group_count: int,
    batch_group_count: int,
    precision_config: PrecisionConfigLike,
    preferred_element_type: DTypeLike | None,
    window_reversal: Sequence[bool] | None,
) -> Array:
    x, kernel = checks.same_element_type(operation, lhs=lhs, rhs=rhs)
    checks.element_kind(operation, "lhs", x, "iufc")
    numbers = _numbers(operation, x, kernel, dimension_numbers)
    spatial = numbers.input_spatial_dimensions
    for name, values in (
        ("window_strides", window_strides),
        ("lhs_dilation", lhs_dilation),
        ("rhs_dilation", rhs_dilation),
    ):
        _spatial(operation, name, values, len(spatial))
        if values is not None and any(v < 1 for v in values):
            raise ValueError(
                f"{operation}: {name} must be at least 1, got {tuple(values)}"
            )
    _spatial(operation, "window_reversal", window_reversal, len(spatial))
    if isinstance(padding, Padding) and any(v > 1 for v in lhs_dilation or ()):
        raise ValueError(
            f"{operation}: padding must be given in numbers when lhs is dilated, "
            f"got {padding.value!r} with lhs_dilation {tuple(lhs_dilation or ())}"
        )
    _groups(operation, x, kernel, numbers, feature_group_count, batch_group_count)
    _sum_type(operation, x, preferred_element_type)
    if not isinstance(padding, Padding):
        dilation = (1,) * len(spatial) if lhs_dilation is None else tuple(lhs_dilation)
        sizes = _dilated_sizes(operation, x, spatial, dilation, padding)
        _addressable(operation, x, spatial, sizes, padding)
        if compat.CROPPED_CONVOLUTION_IS_WRONG and any(min(p) < 0 for p in padding):
            x, padding = _cropped(x, spatial, sizes, dilation, padding)
            lhs_dilation = None
    if window_reversal is not None and any(window_reversal):
        # jax.lax cannot say it, and this way derivatives and batching need no rules.
        dims = zip(numbers.kernel_spatial_dimensions, window_reversal, strict=True)
        kernel = lax.rev(kernel, [d for d, reverse in dims if reverse])
    precision = products.precision(operation, precision_config)

    def multiply(x: Array, kernel: Array, preferred: DTypeLike | None) -> Array:
        return lax.conv_general_dilated(
            x,
            kernel,
            tuple(window_strides),
            padding.value if isinstance(padding, Padding) else padding,
            lhs_dilation=lhs_dilation,
            rhs_dilation=rhs_dilation,
            dimension_numbers=numbers.to_lax(),
            feature_group_count=feature_group_count,
            batch_group_count=batch_group_count,
            precision=precision,
            preferred_element_type=preferred,
        )

    return products.product(multiply, x, kernel, preferred_element_type)


def _numbers(
    operation: str,
    x: Array,
    kernel: Array,
    dimension_numbers: ConvolutionDimensionNumbersLike | None,
) -> ConvolutionDimensionNumbers:
    """The dimension numbers, which fit the ranks of the operands."""
    if x.ndim < 2 or x.ndim != kernel.ndim:
        raise TypeError(
            f"{operation}: lhs and rhs must have the same rank, 2 or more, got "
            f"{checks.describe(x)} and {checks.describe(kernel)}"
        )
    n = x.ndim - 2
    if dimension_numbers is None:
        numbers = ConvolutionDimensionNumbers.default(n)
    else:
        numbers = ConvolutionDimensionNumbers.coerce(dimension_numbers)
        if len(numbers.input_spatial_dimensions) != n:
            raise ValueError(
                f"{operation}: dimension_numbers must have {n} spatial dimensions for "
                f"lhs {x.shape}, got {numbers}"
            )
    if 0 in (kernel.shape[d] for d in numbers.kernel_spatial_dimensions):
        raise ValueError(
            f"{operation}: rhs must have no spatial dimension of size 0, "
            f"got {kernel.shape}"
        )
    return numbers


def _sum_type(operation: str, x: Array, preferred: DTypeLike | None) -> None:
    """Checks that the preferred type holds the sums, and no less than the operand."""
    products.check_sum_type(operation, x, preferred)
    products.check_not_narrower(operation, x, preferred)
    # jax.lax has fewer sums of products here than of those of a dot.
    kind = checks.kind(x.dtype)
    if preferred is not None and checks.kind(preferred) not in _SUMS[kind]:
        raise TypeError(
            f"{operation}: preferred_element_type must be a type that jax.lax has "
            f"convolutions of {x.dtype} in, got {preferred}"
        )


# The kinds of element type in which products of a kind are summed.
_SUMS = {"i": "if", "u": "iuf", "f": "f", "c": "c"}


def _dilated_sizes(
    operation: str,
    x: Array,
    spatial: Sequence[int],
    dilation: Sequence[int],
    padding: Sequence[tuple[int, int]],
) -> list[int]:
    """The spatial sizes of the dilated operand, of which the padding leaves some."""
    _spatial(operation, "padding", padding, len(spatial))
    sizes = [
        max((x.shape[d] - 1) * step + 1, 0)
        for d, step in zip(spatial, dilation, strict=True)
    ]
    for size, (low, high) in zip(sizes, padding, strict=True):
        if low + high + size < 0:
            raise ValueError(
                f"{operation}: padding must not remove more than there is, got "
                f"{(low, high)} for {size} elements of lhs {x.shape}"
            )
    return sizes


def _addressable(
    operation: str,
    x: Array,
    spatial: Sequence[int],
    sizes: Sequence[int],
    padding: Sequence[tuple[int, int]],
) -> None:
    """Checks that XLA can count what dilation and padding make of the operand."""
    extents = list(x.shape)
    for d, size, (low, high) in zip(spatial, sizes, padding, strict=True):
        extents[d] = size + max(low, 0) + max(high, 0)
    checks.addressable(operation, "padding", extents, x.dtype)


def _cropped(
    x: Array,
    spatial: Sequence[int],
    sizes: Sequence[int],
    dilation: Sequence[int],
    padding: Sequence[tuple[int, int]],
) -> tuple[Array, tuple[tuple[int, int], ...]]:
    """The operand with its dilation and negative padding applied, and what is left."""
    config = [(0, 0, 0)] * x.ndim
    left = []
    for d, size, step, (low, high) in zip(
        spatial, sizes, dilation, padding, strict=True
    ):
        # What is removed beyond the elements comes off the padding of the other end.
        crop_low = min(max(-low, 0), size)
        crop_high = min(max(-high, 0), size - crop_low)
        config[d] = (-crop_low, -crop_high, step - 1)
        left.append((low + crop_low, high + crop_high))
    rest = tuple(
        (max(low, 0) + min(high, 0), 0)
        if high < 0
        else (max(low, 0), high + min(low, 0))
        for low, high in left
    )
    return lax.pad(x, lax.full_like(x, 0, shape=()), config), rest


def _spatial(
    operation: str, name: str, values: Sequence[object] | None, n: int
) -> None:
    """Checks that there is one value for each spatial dimension."""
    if values is not None and len(values) != n:
        raise ValueError(
            f"{operation}: {name} must have one entry for each of the {n} spatial "
            f"dimensions, got {tuple(values)}"
        )


def _groups(
    operation: str,
    x: Array,
    kernel: Array,
    numbers: ConvolutionDimensionNumbers,
    feature_group_count: int,
    batch_group_count: int,
) -> None:
    """Checks that batch and features fit the kernel and the groups."""
    for name, count in (
        ("feature_group_count", feature_group_count),
        ("batch_group_count", batch_group_count),
    ):
        if count < 1:
            raise ValueError(f"{operation}: {name} must be at least 1, got {count}")
    if feature_group_count > 1 and batch_group_count > 1:
        raise ValueError(
            f"{operation}: feature_group_count or batch_group_count must be 1, got "
            f"{feature_group_count} and {batch_group_count}"
        )
    features = x.shape[numbers.input_feature_dimension]
    kernel_features = kernel.shape[numbers.kernel_input_feature_dimension]
    outputs = kernel.shape[numbers.kernel_output_feature_dimension]
    batch = x.shape[numbers.input_batch_dimension]
    if features != kernel_features * feature_group_count:
        raise TypeError(
            f"{operation}: the input features of lhs must be feature_group_count times "
            f"those of rhs, got {features} in lhs {x.shape} and {feature_group_count} "
            f"times {kernel_features} in rhs {kernel.shape}"
        )
    groups = math.lcm(feature_group_count, batch_group_count)
    if outputs % groups:
        raise ValueError(
            f"{operation}: the output features of rhs must be divisible by the group "
            f"count {groups}, got {outputs} in rhs {kernel.shape}"
        )
    if batch % batch_group_count:
        raise ValueError(
            f"{operation}: the batch of lhs must be divisible by batch_group_count, "
            f"got {batch} in lhs {x.shape} and {batch_group_count}"
        )
