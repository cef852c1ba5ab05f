"""The dimension numbers of gathers and scatters.

The fields have exactly the names of XLA's protocol buffer, so that the class takes what
a dump of such a message holds. What needs no shapes is checked when an object is made;
ranks and sizes are for the operations.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jax import lax

from .arguments import (
    freeze,
    freeze_dimensions,
    from_mapping,
    integer,
    require_ascending,
    require_disjoint,
    require_equal_lengths,
    shown,
)
from .record import Record


class GatherDimensionNumbers(Record):
    """Which dimensions of a gather's operand, indices and output belong together.

    Args:
        offset_dims: the output's dimensions that run over a slice, ascending.
        collapsed_slice_dims: the operand's dimensions of slice size 1 that are left out
            of the output, ascending.
        start_index_map: for each part of an index vector, the operand's dimension.
        index_vector_dim: the dimension of ``start_indices`` that holds index vectors;
            its rank if each element is an index of its own.
        operand_batching_dims: the operand's batch dimensions, ascending.
        start_indices_batching_dims: those of ``start_indices``.

    Raises:
        TypeError: if a number is not an integer.
        ValueError: if the numbers contradict one another.

    Example:
        >>> from xlaops.types import GatherDimensionNumbers
        >>> GatherDimensionNumbers(
        ...     offset_dims=[1], collapsed_slice_dims=[0], start_index_map=[0],
        ...     index_vector_dim=1,
        ... ).offset_dims
        (1,)

    Source:
        ``GatherDimensionNumbers`` of XLA's ``xla_data.proto``; the section "Gather" of
        "Operation semantics".
    """

    offset_dims: tuple[int, ...]
    collapsed_slice_dims: tuple[int, ...]
    start_index_map: tuple[int, ...]
    index_vector_dim: int
    operand_batching_dims: tuple[int, ...] = ()
    start_indices_batching_dims: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        _freeze_indexing(
            self,
            ascending=("offset_dims", "collapsed_slice_dims", "operand_batching_dims"),
            index_map="start_index_map",
            dropped="collapsed_slice_dims",
            operand_batch="operand_batching_dims",
            indices_batch="start_indices_batching_dims",
        )

    @classmethod
    def coerce(
        cls, value: Any, *, index_vector_dim: int | None = None
    ) -> GatherDimensionNumbers:
        """The numbers from an instance or from what stands for one.

        Args:
            value: an instance; a mapping with the field names; or a
                ``lax.GatherDimensionNumbers``.
            index_vector_dim: for lax's class alone, which always means the last
                dimension of the indices and does not say which number that is.

        Raises:
            TypeError, ValueError: if the value is none of these.
        """
        if isinstance(value, GatherDimensionNumbers):
            return value
        if isinstance(value, lax.GatherDimensionNumbers):
            return cls(
                offset_dims=value.offset_dims,
                collapsed_slice_dims=value.collapsed_slice_dims,
                start_index_map=value.start_index_map,
                index_vector_dim=_last_dimension(cls, index_vector_dim),
                operand_batching_dims=value.operand_batching_dims,
                start_indices_batching_dims=value.start_indices_batching_dims,
            )
        if isinstance(value, Mapping):
            return from_mapping(cls, value)
        raise TypeError(
            f"{cls.__name__}: value must be an instance, a mapping of its fields or a "
            f"lax.GatherDimensionNumbers, got {shown(value)}"
        )

    def to_lax(self) -> lax.GatherDimensionNumbers:
        """The numbers as ``lax.gather`` takes them.

        lax has no ``index_vector_dim``: the indices that go with the result must hold
        their index vectors in the last dimension.
        """
        return lax.GatherDimensionNumbers(
            offset_dims=self.offset_dims,
            collapsed_slice_dims=self.collapsed_slice_dims,
            start_index_map=self.start_index_map,
            operand_batching_dims=self.operand_batching_dims,
            start_indices_batching_dims=self.start_indices_batching_dims,
        )


class ScatterDimensionNumbers(Record):
    """Which dimensions of a scatter's operand, indices and updates belong together.

    Args:
        update_window_dims: the updates' dimensions that run over a window, ascending.
        inserted_window_dims: the operand's dimensions of window size 1 that the updates
            leave out, ascending.
        scatter_dims_to_operand_dims: for each part of an index vector, the operand's
            dimension.
        index_vector_dim: the dimension of ``scatter_indices`` that holds index vectors;
            its rank if each element is an index of its own.
        input_batching_dims: the operand's batch dimensions, ascending.
        scatter_indices_batching_dims: those of ``scatter_indices``.

    Raises:
        TypeError: if a number is not an integer.
        ValueError: if the numbers contradict one another.

    Example:
        >>> from xlaops.types import ScatterDimensionNumbers
        >>> ScatterDimensionNumbers(
        ...     update_window_dims=[], inserted_window_dims=[0],
        ...     scatter_dims_to_operand_dims=[0], index_vector_dim=1,
        ... ).inserted_window_dims
        (0,)

    Source:
        ``ScatterDimensionNumbers`` of XLA's ``xla_data.proto``; the section "Scatter"
        of "Operation semantics".
    """

    update_window_dims: tuple[int, ...]
    inserted_window_dims: tuple[int, ...]
    scatter_dims_to_operand_dims: tuple[int, ...]
    index_vector_dim: int
    input_batching_dims: tuple[int, ...] = ()
    scatter_indices_batching_dims: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        _freeze_indexing(
            self,
            ascending=(
                "update_window_dims",
                "inserted_window_dims",
                "input_batching_dims",
            ),
            index_map="scatter_dims_to_operand_dims",
            dropped="inserted_window_dims",
            operand_batch="input_batching_dims",
            indices_batch="scatter_indices_batching_dims",
        )

    @classmethod
    def coerce(
        cls, value: Any, *, index_vector_dim: int | None = None
    ) -> ScatterDimensionNumbers:
        """The numbers from an instance or from what stands for one.

        Args:
            value: an instance; a mapping with the field names; or a
                ``lax.ScatterDimensionNumbers``.
            index_vector_dim: for lax's class alone, which always means the last
                dimension of the indices and does not say which number that is.

        Raises:
            TypeError, ValueError: if the value is none of these.
        """
        if isinstance(value, ScatterDimensionNumbers):
            return value
        if isinstance(value, lax.ScatterDimensionNumbers):
            return cls(
                update_window_dims=tuple(value.update_window_dims),
                inserted_window_dims=tuple(value.inserted_window_dims),
                scatter_dims_to_operand_dims=tuple(value.scatter_dims_to_operand_dims),
                index_vector_dim=_last_dimension(cls, index_vector_dim),
                input_batching_dims=tuple(value.operand_batching_dims),
                scatter_indices_batching_dims=tuple(
                    value.scatter_indices_batching_dims
                ),
            )
        if isinstance(value, Mapping):
            return from_mapping(cls, value)
        raise TypeError(
            f"{cls.__name__}: value must be an instance, a mapping of its fields or a "
            f"lax.ScatterDimensionNumbers, got {shown(value)}"
        )

    def to_lax(self) -> lax.ScatterDimensionNumbers:
        """The numbers as ``lax.scatter`` takes them.

        lax has no ``index_vector_dim``: the indices that go with the result must hold
        their index vectors in the last dimension.
        """
        return lax.ScatterDimensionNumbers(
            update_window_dims=self.update_window_dims,
            inserted_window_dims=self.inserted_window_dims,
            scatter_dims_to_operand_dims=self.scatter_dims_to_operand_dims,
            operand_batching_dims=self.input_batching_dims,
            scatter_indices_batching_dims=self.scatter_indices_batching_dims,
        )


def _freeze_indexing(
    instance: Any,
    *,
    ascending: tuple[str, ...],
    index_map: str,
    dropped: str,
    operand_batch: str,
    indices_batch: str,
) -> None:
    """The checks that gather and scatter share, under the names of either."""
    owner = type(instance).__name__
    freeze_dimensions(instance, *ascending, index_map, indices_batch)
    number = integer(instance.index_vector_dim, owner, "index_vector_dim", minimum=0)
    freeze(instance, index_vector_dim=number)
    require_ascending(instance, *ascending)
    require_equal_lengths(instance, operand_batch, indices_batch)
    require_disjoint(instance, dropped, operand_batch)
    require_disjoint(instance, index_map, operand_batch)
    if number in getattr(instance, indices_batch):
        raise ValueError(
            f"{owner}: {indices_batch} must not hold index_vector_dim, got "
            f"{getattr(instance, indices_batch)} with index_vector_dim {number}"
        )


def _last_dimension(cls: type, index_vector_dim: int | None) -> int:
    if index_vector_dim is None:
        raise ValueError(
            f"{cls.__name__}.coerce: index_vector_dim must be given for lax's class, "
            "which means the last dimension of the indices (rank - 1), got None"
        )
    return index_vector_dim
