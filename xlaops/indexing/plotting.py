"""Pictures of access patterns and of the patterns of Jacobians."""

from __future__ import annotations

import functools
import io
import os
from collections.abc import Sequence
from math import prod
from pathlib import Path
from typing import Any, Final

import numpy as np

from .analysis import Analysis, Selector
from .map import IndexingMap
from .map_sets import Maps
from .positions import pairs
from .questions import element_of
from .sparsity_pattern import Sparsity

_PIXELS: Final = 512
_FEW: Final = 40
_SEEN, _CHOSEN, _GRID, _QUIET = "#1f5fa8", "#c62828", "#dddddd", "#555555"
_DPI: Final = 120


def plot(
    what: Sparsity | Analysis | IndexingMap | Sequence[IndexingMap],
    path: str | os.PathLike[str] | None = None,
    *,
    element: Sequence[int] | None = None,
    output: Selector = 0,
    input: Selector = 0,
    title: str = "",
    limit: int | None = None,
) -> Any:
    """A picture of a Jacobian's pattern, or of what the elements of a result read.

    A pattern is drawn as a matrix. Maps are drawn as two arrays: the result, with one
    element marked, and the argument, where the elements that this one reads are marked,
    and the others are the darker the more elements of the result read them. Arrays of
    more than two dimensions are drawn with all but the last one as rows.

    Args:
        what: a pattern, an analysis, or one or more maps between two arrays.
        path: where to write it; the ending says the format: ``.png``, ``.svg``, ...
        element: the index of the marked element, from the end where negative; None: the
            one in the middle.
        output: of an analysis which result.
        input: of an analysis which argument.
        title: what stands above.
        limit: how many points may be looked at, 2**27 unless given.

    Returns:
        A `matplotlib.figure.Figure`, which notebooks show.

    Raises:
        ImportError: if matplotlib is not installed.
        TypeError: if it is nothing of that, or the index has another length.
        ValueError: if there is no such element, or the path has no ending that
            matplotlib knows.

    Example:
        >>> import jax, jax.numpy as jnp
        >>> from xlaops.indexing import plot, sparsity
        >>> x = jax.ShapeDtypeStruct((40,), jnp.float32)
        >>> figure = plot(sparsity(lambda x: x[2:] - x[:-2], x))
        >>> figure.axes[0].get_title()
        '38 x 40, 76 elements'

    Source:
        *Indexing Analysis*, section Indexing map.
    """
    _require_matplotlib()
    if isinstance(what, Sparsity):
        figure = _pattern(what, title)
    elif isinstance(what, Analysis):
        made, read = what.output(output), what.input(input)
        maps = what.output_to_input(made, read)
        figure = _access(maps, made.shape, read.shape, element, title, limit)
    else:
        several = what if isinstance(what, (list, tuple)) else (what,)
        maps: Maps = tuple(several)  # pyright: ignore[reportAssignmentType]
        if not maps or not all(isinstance(one, IndexingMap) for one in maps):
            raise TypeError(
                "plot: what must be a Sparsity, an Analysis or maps, got "
                f"{type(what).__name__}"
            )
        figure = _access(maps, *_shapes(maps), element, title, limit)
    if path is not None:
        _save(figure, path)
    return figure


def _require_matplotlib() -> None:
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise ImportError(
            "plot: pictures are made with matplotlib, which cannot be imported: "
            'pip install "xlaops[plot]"'
        ) from error


@functools.cache
def _figure_type() -> Any:
    from matplotlib.figure import Figure

    class Picture(Figure):
        """A figure that notebooks show, whether or not they know of matplotlib."""

        def _repr_png_(self) -> bytes:
            data = io.BytesIO()
            self.savefig(data, format="png", dpi=_DPI)
            return data.getvalue()

    return Picture


def _figure(width: float, height: float) -> Any:
    # Without pyplot, no state and no window of the caller is touched.
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure = _figure_type()(
        figsize=(width, height), facecolor="white", layout="constrained"
    )
    FigureCanvasAgg(figure)
    return figure


def _save(figure: Any, path: str | os.PathLike[str]) -> None:
    kinds = figure.canvas.get_supported_filetypes()
    ending = Path(path).suffix.removeprefix(".").lower()
    if ending not in kinds:
        raise ValueError(
            f"plot: path must end with one of {', '.join('.' + k for k in kinds)}, got "
            f"{os.fspath(path)!r}"
        )
    # Equal pictures are equal files.
    metadata = {"Date": None} if ending == "svg" else None
    figure.savefig(path, dpi=_DPI, metadata=metadata)


# The pattern of a Jacobian


def _pattern(pattern: Sparsity, title: str) -> Any:
    rows, columns = pattern.shape
    image = _binned(*pattern.coo(), (max(rows, 1), max(columns, 1)))
    figure = _figure(*_size(rows, columns, 5.0))
    axis = figure.subplots()
    _draw(axis, image, (rows, columns), "Blues")
    axis.set_title(title or f"{rows} x {columns}, {pattern.nnz} elements", fontsize=10)
    axis.set_xlabel(_names(pattern.inputs))
    axis.set_ylabel(_names(pattern.outputs))
    for leaves, line in (
        (pattern.outputs, axis.axhline),
        (pattern.inputs, axis.axvline),
    ):
        for leaf in leaves[1:]:
            line(leaf.start - 0.5, color=_QUIET, linewidth=0.6)
    return figure


def _names(leaves: Sequence[Any]) -> str:
    if len(leaves) > 4:
        return f"{leaves[0].name} ... {leaves[-1].name}"
    return ", ".join(leaf.name for leaf in leaves)


# What elements read


def _shapes(maps: Maps) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The smallest arrays that hold all elements of maps."""
    arities = sorted({(len(m.dims), len(m.results)) for m in maps})
    if len(arities) > 1:
        raise ValueError(
            f"plot: maps must have as many dimensions and results, got {arities}"
        )
    defined = [m for m in maps if not m.is_undefined and not m.is_known_empty]
    if not defined:
        raise ValueError("plot: maps must relate something that is known")
    dims = [
        max(m.dims[i].bounds.upper for m in defined) + 1
        for i in range(len(defined[0].dims))
    ]
    results = [
        max(m.scope().range(m.results[i])[1] for m in defined) + 1
        for i in range(len(defined[0].results))
    ]
    return tuple(dims), tuple([max(n, 1) for n in results])


def _access(
    maps: Maps,
    made: tuple[int, ...],
    read: tuple[int, ...],
    element: Sequence[int] | None,
    title: str,
    limit: int | None,
) -> Any:
    from matplotlib.ticker import MaxNLocator

    index = element_of("plot", "element", element, tuple(made))
    rows, columns = pairs(maps, made, read, limit)
    counts = np.bincount(columns, minlength=prod(read)).reshape(_plane(read))
    here = int(np.ravel_multi_index(index, made)) if made else 0
    seen = columns[rows == here]
    sizes = [_size(*_plane(shape), 3.6) for shape in (made, read)]
    figure = _figure(sum(w for w, _ in sizes), max(h for _, h in sizes))
    left, right = figure.subplots(1, 2, width_ratios=[w for w, _ in sizes])
    _draw(left, np.zeros(_plane(made)), _plane(made), "Greys")
    _mark(left, np.asarray([here]), _plane(made), _CHOSEN)
    left.set_title(f"element {index} of the result", fontsize=10)
    shown = _binned_counts(counts)
    image = _draw(right, shown, _plane(read), "Greys")
    _mark(right, seen, _plane(read), _SEEN)
    right.set_title(f"reads {len(seen)} of {prod(read)} elements", fontsize=10)
    bar = figure.colorbar(image, ax=right, shrink=0.7, ticks=MaxNLocator(integer=True))
    bar.ax.tick_params(labelsize=8)
    bar.set_label("elements of the result that read it", fontsize=8)
    if title:
        figure.suptitle(title, fontsize=11)
    return figure


# Drawing


def _plane(shape: tuple[int, ...]) -> tuple[int, int]:
    """An array's rows and columns, where all dimensions but the last are rows."""
    return (prod(shape[:-1]), shape[-1]) if shape else (1, 1)


def _size(rows: int, columns: int, most: float) -> tuple[float, float]:
    """Inches of a picture of an array."""
    ratio = max(rows, 1) / max(columns, 1)
    if ratio >= 1:
        return max(most / ratio, 0.45 * most) + 0.8, most + 0.6
    return most + 0.8, max(most * ratio, 0.25 * most) + 0.6


def _scaled(values: np.ndarray, size: int) -> np.ndarray:
    return values if size <= _PIXELS else values * _PIXELS // size


def _binned(
    rows: np.ndarray, columns: np.ndarray, shape: tuple[int, int]
) -> np.ndarray:
    """Which pixels hold an element."""
    image = np.zeros([min(n, _PIXELS) for n in shape])
    image[_scaled(rows, shape[0]), _scaled(columns, shape[1])] = 1
    return image


def _binned_counts(counts: np.ndarray) -> np.ndarray:
    """The largest count in each pixel."""
    image = np.zeros([min(n, _PIXELS) for n in counts.shape])
    rows = np.arange(counts.shape[0])[:, None]
    columns = np.arange(counts.shape[1])
    index = (_scaled(rows, counts.shape[0]), _scaled(columns, counts.shape[1]))
    np.maximum.at(image, index, counts)
    return image


def _draw(axis: Any, image: np.ndarray, shape: tuple[int, int], colors: str) -> Any:
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap

    rows, columns = max(shape[0], 1), max(shape[1], 1)
    # The darkest greys are left out, so that marks stay visible on what is drawn.
    darkest = 0.55 if colors == "Greys" else 0.85
    drawn = axis.imshow(
        image,
        cmap=ListedColormap(colormaps[colors](np.linspace(0, darkest, 256))),
        vmin=0,
        vmax=max(1.0, float(image.max(initial=0))),
        interpolation="nearest",
        aspect="auto" if max(rows, columns) > 4 * min(rows, columns) else "equal",
        extent=(-0.5, columns - 0.5, rows - 0.5, -0.5),
    )
    if max(rows, columns) <= _FEW:
        axis.set_xticks(np.arange(columns + 1) - 0.5, minor=True)
        axis.set_yticks(np.arange(rows + 1) - 0.5, minor=True)
        axis.grid(which="minor", color=_GRID, linewidth=0.5)
    axis.tick_params(which="minor", length=0)
    axis.tick_params(labelsize=8)
    axis.xaxis.get_major_locator().set_params(integer=True)
    axis.yaxis.get_major_locator().set_params(integer=True)
    return drawn


def _mark(axis: Any, elements: np.ndarray, shape: tuple[int, int], color: str) -> None:
    """Colours some elements of an array that was drawn."""
    from matplotlib.colors import to_rgba

    rows, columns = np.divmod(elements, max(shape[1], 1))
    image = _binned(rows, columns, (max(shape[0], 1), max(shape[1], 1)))
    layer = np.zeros((*image.shape, 4))
    layer[image > 0] = to_rgba(color, 0.75)
    axis.imshow(
        layer,
        interpolation="nearest",
        aspect=axis.get_aspect(),
        extent=(-0.5, max(shape[1], 1) - 0.5, max(shape[0], 1) - 0.5, -0.5),
    )
