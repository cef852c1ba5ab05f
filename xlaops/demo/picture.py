"""A picture of test images with what they were taken for."""

import math
from pathlib import Path

import numpy as np

_COLUMNS = 10
_RIGHT, _WRONG, _QUIET = "#2e7d4f", "#c62828", "#555555"


def require_matplotlib() -> None:
    """Says early what is missing.

    Raises:
      ImportError: if matplotlib is not installed.
    """
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise ImportError(
            "the picture is made with matplotlib, which cannot be imported: "
            'pip install "xlaops[examples]"'
        ) from error


def require_format(path: Path) -> None:
    """Says early that the ending of a path is not one of a picture.

    Args:
      path: where the picture is going to be written.

    Raises:
      ImportError: if matplotlib is not installed.
      ValueError: if it cannot write such a file.
    """
    require_matplotlib()
    from matplotlib.backend_bases import FigureCanvasBase

    endings = sorted(FigureCanvasBase.get_supported_filetypes())
    # Without an ending matplotlib would write to another path than the one given.
    if path.suffix.removeprefix(".").lower() not in endings:
        raise ValueError(
            f"--output must end in one of .{', .'.join(endings)}, got {path}"
        )


def draw(
    images: np.ndarray,
    labels: np.ndarray,
    predictions: np.ndarray,
    path: str | Path,
    count: int = 40,
) -> None:
    """Writes a picture of some images with labels and predictions, mistakes first.

    Args:
      images: [n, height, width, 1].
      labels: [n], the true classes.
      predictions: [n], what they were taken for.
      path: where to write it; the ending says the format (``.png``, ``.pdf``, ...).
      count: how many images to show at most.

    Raises:
      ImportError: if matplotlib is not installed.
    """
    require_matplotlib()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    wrong = np.flatnonzero(predictions != labels)
    right = np.flatnonzero(predictions == labels)
    shown = np.concatenate([wrong, right])[:count]
    rows = math.ceil(len(shown) / _COLUMNS)

    # Sizes in inches. Without pyplot, no state and no window of the caller is touched.
    top, bottom, cell = 0.85, 0.2, (1.0, 1.22)
    height = top + rows * cell[1] + bottom
    figure = Figure(figsize=(_COLUMNS * cell[0] + 0.2, height), facecolor="white")
    FigureCanvasAgg(figure)
    axes = figure.subplots(rows, _COLUMNS, squeeze=False)
    figure.subplots_adjust(
        left=0.02,
        right=0.98,
        top=1 - (top + 0.1) / height,
        bottom=bottom / height,
        wspace=0.12,
        hspace=0.42,
    )
    figure.text(
        0.02,
        1 - 0.34 / height,
        f"{len(right)} of {len(labels)} test digits recognised "
        f"({100 * len(right) / len(labels):.1f} %)",
        fontsize=15,
        fontweight="bold",
        va="center",
    )
    figure.text(
        0.02,
        1 - 0.62 / height,
        _legend(len(wrong), len(shown)),
        fontsize=10,
        color=_QUIET,
        va="center",
    )
    for axis in axes.flat[len(shown) :]:
        axis.set_axis_off()
    for axis, index in zip(axes.flat, shown, strict=False):
        label, prediction = labels[index], predictions[index]
        is_right = label == prediction
        axis.imshow(images[index, ..., 0], cmap="gray_r", vmin=0, vmax=1)
        axis.set_xticks([])
        axis.set_yticks([])
        axis.set_title(
            f"{prediction}" if is_right else f"{prediction}, is {label}",
            fontsize=11,
            pad=3,
            color=_RIGHT if is_right else _WRONG,
            fontweight="normal" if is_right else "bold",
        )
        for spine in axis.spines.values():
            spine.set_color("#bbbbbb" if is_right else _WRONG)
            spine.set_linewidth(0.8 if is_right else 2.5)
    figure.savefig(path, dpi=120)


def _legend(wrong: int, shown: int) -> str:
    if wrong == 0:
        return "Above each image what it was taken for, which is what it is."
    return (
        "Above each image what it was taken for; "
        f"the {'mistake comes' if wrong == 1 else f'{wrong} mistakes come'} first, "
        "with the true digit."
    )
