"""Which elements of a function's Jacobian can differ from zero."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from . import coloring, structure
from .coloring import Coloring
from .jacobian_maps import JacobianMaps, Leaf, jacobian_maps
from .map_data import merged_reasons
from .map_sets import Maps
from .positions import MAX_POINTS, merged, pairs
from .structure import Block

Mode = Literal["auto", "forward", "reverse"]


class Sparsity:
    """The pattern of a Jacobian: a formula, and the positions that follow from it.

    Rows are the elements of the result, columns those of the arguments that are
    differentiated: each array row by row, and the arrays of a pytree one behind the
    other. Every element that can differ from zero is in the pattern, for whatever
    values of the arguments.

    Made by `sparsity`. Positions are computed when they are first asked for.

    Attributes:
        outputs: the arrays of the result, with their names and shapes.
        inputs: the arrays of the arguments.
        maps: for each output and each input the maps from its elements: the formula.
        undefined: primitives without a rule that were met, and how often; what they
            make is taken to depend on all that they read.
        widened: how many sets of maps were too large and became one map.
        forward: whether JAX can differentiate the function in forward mode.
        reverse: whether it can in reverse mode.
    """

    def __init__(self, found: JacobianMaps, limit: int | None = None) -> None:
        self.outputs: tuple[Leaf, ...] = found.outputs
        self.inputs: tuple[Leaf, ...] = found.inputs
        self.maps: tuple[tuple[Maps, ...], ...] = found.blocks
        self.undefined = found.undefined
        self.widened = found.widened
        self.forward = found.forward
        self.reverse = found.reverse
        self.limit = MAX_POINTS if limit is None else limit
        self._positions: tuple[np.ndarray, np.ndarray] | None = None
        self._colorings: dict[Mode, Coloring] = {}

    # What it is

    @property
    def shape(self) -> tuple[int, int]:
        """How many rows and columns there are."""
        return _total(self.outputs), _total(self.inputs)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why it has more elements than need be, if it has."""
        found: tuple[str, ...] = ()
        for row in self.maps:
            for maps in row:
                for one in maps:
                    found = merged_reasons(found, one.reasons)
        return found

    @property
    def exact(self) -> bool:
        """Whether no rule took more elements than the operations read."""
        return all(one.exact for row in self.maps for maps in row for one in maps)

    @property
    def formula(self) -> str:
        """The maps, one a line.

        Names of outputs and inputs are written where there are several.
        """
        lines = []
        several = len(self.outputs) * len(self.inputs) > 1
        for made, row in zip(self.outputs, self.maps, strict=True):
            for read, maps in zip(self.inputs, row, strict=True):
                if several:
                    lines.append(f"{made.name} <- {read.name}:")
                indent = "  " * several
                lines += [f"{indent}{one}" for one in maps] or [f"{indent}nothing"]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"Sparsity({self.shape[0]} x {self.shape[1]})"

    def __str__(self) -> str:
        rows, columns = self.shape
        text = f"{rows} x {columns}, {self.nnz} elements"
        if rows * columns:
            text += f" ({100 * self.density:.3g} %)"
        lower, upper = self.band
        text += f", band from {lower} to {upper}"
        size = self.block_size
        if size is not None and size != self.shape:
            text += f", blocks of {size[0]} x {size[1]} along the diagonal"
        lines = [text, self.formula]
        lines += [f"more than needed: {reason}" for reason in self.reasons]
        lines += [
            f"no rule: {k} ({n} times)" for k, n in sorted(self.undefined.items())
        ]
        if self.widened:
            lines.append(f"widened sets: {self.widened}")
        return "\n".join(lines)

    # Positions

    def coo(self) -> tuple[np.ndarray, np.ndarray]:
        """The rows and the columns of all elements, by rows and then by columns.

        Returns:
            Two int64 arrays of one length, which cannot be written.

        Raises:
            ValueError: if there are more than the limit that `sparsity` was given.
        """
        if self._positions is None:
            rows, columns = self._computed()
            rows.setflags(write=False)
            columns.setflags(write=False)
            self._positions = rows, columns
        return self._positions

    def _computed(self) -> tuple[np.ndarray, np.ndarray]:
        if len(self.outputs) == len(self.inputs) == 1:
            made, read = self.outputs[0], self.inputs[0]
            return pairs(self.maps[0][0], made.shape, read.shape, self.limit)
        width = max(self.shape[1], 1)
        parts = []
        for made, row in zip(self.outputs, self.maps, strict=True):
            for read, maps in zip(self.inputs, row, strict=True):
                if maps:
                    rows, columns = pairs(maps, made.shape, read.shape, self.limit)
                    rows = rows + made.start
                    parts.append(rows * width + (columns + read.start))
        return np.divmod(merged(parts), width)

    @property
    def nnz(self) -> int:
        """How many elements can differ from zero."""
        return len(self.coo()[0])

    @property
    def density(self) -> float:
        """Which part of all elements that is; 0 if there are none."""
        rows, columns = self.shape
        return self.nnz / (rows * columns) if rows * columns else 0.0

    def dense(self) -> np.ndarray:
        """The pattern as an array of bools.

        Example:
            >>> import jax.numpy as jnp
            >>> from xlaops.indexing import sparsity
            >>> sparsity(jnp.cumsum, jnp.zeros(3)).dense().astype(int)
            array([[1, 0, 0],
                   [1, 1, 0],
                   [1, 1, 1]])
        """
        found = np.zeros(self.shape, bool)
        found[self.coo()] = True
        return found

    def to_scipy(self, format: str = "csr") -> Any:
        """The pattern as a sparse array of SciPy, with True for each element.

        Args:
            format: SciPy's name of its format: ``"csr"``, ``"csc"``, ``"coo"``, ...

        Raises:
            ImportError: if SciPy is not installed.
        """
        try:
            import scipy.sparse
        except ImportError as error:
            raise ImportError(
                "Sparsity.to_scipy: SciPy must be installed, and cannot be imported"
            ) from error
        values = np.ones(self.nnz, bool)
        return scipy.sparse.coo_array((values, self.coo()), self.shape).asformat(format)

    def to_bcoo(self, values: Any = None) -> Any:
        """A sparse matrix of JAX with this pattern.

        Args:
            values: an element for each position of `coo`; None: 1.0 for all, as JAX has
                no sparse arrays of bools that become dense.

        Returns:
            A `jax.experimental.sparse.BCOO`, its indices sorted and unique.

        Raises:
            ValueError: if there is not one value for each position, or the indices,
                which have 32 bits, cannot hold all rows and columns.
        """
        import jax.numpy as jnp
        from jax.experimental import sparse

        if max(self.shape) > 2**31:
            raise ValueError(
                "Sparsity.to_bcoo: the pattern must have at most 2**31 rows and "
                f"columns, got {self.shape}"
            )
        rows, columns = self.coo()
        data = jnp.ones(self.nnz) if values is None else jnp.asarray(values)
        if data.shape != (self.nnz,):
            raise ValueError(
                f"Sparsity.to_bcoo: values must have shape ({self.nnz},), got "
                f"{data.shape}"
            )
        indices = jnp.asarray(np.stack([rows, columns], 1).astype(np.int32))
        return sparse.BCOO(
            (data, indices), shape=self.shape, indices_sorted=True, unique_indices=True
        )

    # Structure

    @property
    def band(self) -> tuple[int, int]:
        """The least and the largest column minus row of an element.

        A tridiagonal matrix has (-1, 1), a lower triangle of n rows (1 - n, 0). It is
        read off the formula where that is linear, and off the positions where not.
        """
        if len(self.outputs) == len(self.inputs) == 1 and self.maps[0][0]:
            made, read = self.outputs[0], self.inputs[0]
            bands = [
                structure.band_of_map(one, made.shape, read.shape)
                for one in self.maps[0][0]
            ]
            known = [b for b in bands if b is not None]
            if len(known) == len(bands):
                return min(a for a, _ in known), max(b for _, b in known)
        return structure.band_of_positions(*self.coo())

    @property
    def diagonal_blocks(self) -> list[Block]:
        """The finest division into blocks along the diagonal, outside of which is zero.

        The whole matrix is one block if there is none.
        """
        return structure.diagonal_blocks(*self.coo(), self.shape)

    @property
    def block_size(self) -> tuple[int, int] | None:
        """The rows and columns of each diagonal block, or None if they differ."""
        sizes = {block.shape for block in self.diagonal_blocks}
        return sizes.pop() if len(sizes) == 1 else None

    # Colours

    def coloring(self, mode: Mode = "auto") -> Coloring:
        """Colours for columns or rows that one derivative can find together.

        Args:
            mode: ``"forward"`` for columns, ``"reverse"`` for rows, ``"auto"`` for
                rows if they need less than half of the colours, or if the function has
                no forward derivative.

        Raises:
            ValueError: if the mode is another one.
        """
        if mode not in ("auto", "forward", "reverse"):
            raise ValueError(
                "Sparsity.coloring: mode must be 'auto', 'forward' or 'reverse', got "
                f"{mode!r}"
            )
        found = self._colorings.get(mode)
        if found is None:
            found = self._colorings[mode] = self._colored(mode)
        return found

    def _colored(self, mode: Mode) -> Coloring:
        if mode == "auto":
            if not self.reverse:
                return self.coloring("forward")
            if not self.forward:
                return self.coloring("reverse")
            rows, columns = self.coo()
            # What neither can do better need not be coloured.
            by_column = int(np.bincount(rows).max()) if len(rows) else 1
            by_row = int(np.bincount(columns).max()) if len(rows) else 1
            if by_column <= 2 * by_row:
                return self.coloring("forward")
            forward, reverse = self.coloring("forward"), self.coloring("reverse")
            return reverse if 2 * reverse.count < forward.count else forward
        is_forward = mode == "forward"
        leaves = self.inputs if is_forward else self.outputs
        return coloring.color(
            *self.coo(),
            self.shape[is_forward],
            "columns" if is_forward else "rows",
            leaves[0].shape if len(leaves) == 1 else (),
        )


def _total(leaves: Sequence[Leaf]) -> int:
    return leaves[-1].start + leaves[-1].size if leaves else 0


def sparsity(
    f: Callable[..., Any],
    *args: Any,
    argnums: int | Sequence[int] | None = 0,
    has_aux: bool = False,
    limit: int | None = None,
) -> Sparsity:
    """Which elements of a function's Jacobian can differ from zero, for any values.

    The function is traced, and nothing is computed. What is found is a formula, of
    which the length does not depend on the sizes of the arrays; positions are computed
    from it on request. Custom derivatives count, and not the functions that they
    belong to.

    Args:
        f: a function that JAX can trace and differentiate.
        *args: its arguments, pytrees of arrays or of `jax.ShapeDtypeStruct`.
            Leaves that are neither, nor numbers, are handed on as they are.
        argnums: which arguments are differentiated: a number, several, or None for all.
        has_aux: whether ``f`` returns a pair, of which only the first one counts.
        limit: how many positions may be computed, 2**27 unless given.

    Returns:
        The pattern.

    Raises:
        TypeError: if ``f`` is not callable, or if a result or an argument that is
            differentiated has no floating type.
        ValueError: if there is no argument of a number.

    Example:
        >>> import jax, jax.numpy as jnp
        >>> from xlaops.indexing import sparsity
        >>> x = jax.ShapeDtypeStruct((1000,), jnp.float32)
        >>> pattern = sparsity(lambda x: x[2:] - 2 * x[1:-1] + x[:-2], x)
        >>> print(pattern)
        998 x 1000, 2994 elements (0.3 %), band from 0 to 2
        (d0) -> (d0 + 1), domain: d0 in [0, 997]
        (d0) -> (d0 + 2), domain: d0 in [0, 997]
        (d0) -> (d0), domain: d0 in [0, 997]
        >>> pattern.coloring()
        Coloring(3 colors of 1000 columns, at least 3)

    Source:
        *Indexing Analysis*, section Indexing maps of fusions.
    """
    return Sparsity(jacobian_maps("sparsity", f, args, argnums, has_aux), limit)
