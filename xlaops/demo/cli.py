"""The command ``xlaops demo``."""

import argparse
import contextlib
import os
import sys
from pathlib import Path

import jax

from . import data, picture, training
from .progress import Progress

ACCURACY_WANTED = 0.97
_VIRTUAL_DEVICES = 8


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options of ``xlaops demo``.

    Args:
      parser: of this command.
    """
    parser.description = (
        "Trains a small convolutional network, made of xlaops operations, on "
        "handwritten digits: jitted, differentiated, and spread over all devices or, "
        "on a CPU, over virtual ones. The exit code is 1 if it recognises less than "
        f"{100 * ACCURACY_WANTED:.0f} % of the test images."
    )
    parser.add_argument(
        "--epochs",
        type=_positive,
        default=training.EPOCHS,
        metavar="N",
        help="how often to go through the training images (%(default)s)",
    )
    parser.add_argument(
        "--batch-size",
        type=_positive,
        metavar="N",
        help="images in a step, a multiple of the number of devices "
        f"(about {training.BATCH_SIZE})",
    )
    parser.add_argument(
        "--devices",
        type=_positive,
        metavar="N",
        help=f"how many devices to use ({_VIRTUAL_DEVICES} virtual ones on a CPU, "
        "otherwise all)",
    )
    parser.add_argument(
        "--seed", type=int, default=0, metavar="N", help="of all chance (%(default)s)"
    )
    parser.add_argument(
        "--output",
        type=Path,
        default=Path("xlaops-demo.png"),
        metavar="PATH",
        help="where to write the picture; its ending says the format (%(default)s)",
    )
    parser.add_argument(
        "--no-picture", action="store_true", help="do not write a picture"
    )
    parser.add_argument(
        "--platform",
        choices=("cpu", "gpu", "tpu"),
        help="what to compute on (JAX's choice)",
    )


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, got {value}")
    return value


_positive.__name__ = "number"  # what argparse calls it in its messages


def run(args: argparse.Namespace) -> int:
    """Runs the demo.

    Args:
      args: the options that `add_arguments` adds.

    Returns:
      The exit code: 0, or 1 if too few test images are recognised, or something is
      missing or wrong.
    """
    try:
        # All that can be wrong is found before the work, not after it.
        if not args.no_picture:
            _check_output(args.output)
            picture.require_format(args.output)
        digits = data.load(args.seed)
        devices = _devices(args.platform, args.devices)
        batch_size = training.fitting_batch_size(
            len(digits.train_images), len(devices), args.batch_size
        )
    except (ImportError, ValueError) as error:
        print(f"xlaops demo: {error}", file=sys.stderr)
        return 1
    print(_header(devices))
    print(
        f"{len(digits.train_images):,} digits to train with, "
        f"{len(digits.test_images):,} to test with",
        flush=True,
    )
    with Progress() as progress:
        result = training.fit(
            digits,
            devices,
            epochs=args.epochs,
            batch_size=batch_size,
            seed=args.seed,
            report=progress.update,
        )
    if not args.no_picture:
        picture.draw(
            digits.test_images, digits.test_labels, result.predictions, args.output
        )
    for name, value in _summary(result):
        print(f"  {name:<18} {value:>18}")
    if not args.no_picture:
        print(f"  {'picture':<18} {args.output}")
    total = len(result.predictions)
    print(f"test accuracy {100 * result.accuracy:.1f} % ({result.correct} of {total})")
    return 0 if result.accuracy >= ACCURACY_WANTED else 1


def _check_output(path: Path) -> None:
    folder = path.absolute().parent
    if path.is_dir() or not folder.is_dir() or not os.access(folder, os.W_OK):
        raise ValueError(
            f"--output must be a file in a folder that can be written, got {path}"
        )


def _devices(platform: str | None, count: int | None) -> training.Devices:
    """The devices to use; those of a CPU are virtual, as many as are wanted."""
    # It has no effect on other platforms, and which one it will be is not yet known. If
    # JAX is running already, it is too late; what is missing then is told below.
    with contextlib.suppress(RuntimeError):
        jax.config.update("jax_num_cpu_devices", count or _VIRTUAL_DEVICES)
    try:
        devices = jax.devices(platform)
    except RuntimeError as error:
        raise ValueError(f"--platform {platform} cannot be used: {error}") from error
    wanted = count or (_VIRTUAL_DEVICES if devices[0].platform == "cpu" else 0)
    if wanted > len(devices):
        print(
            f"xlaops demo: {wanted} devices wanted, {len(devices)} there",
            file=sys.stderr,
        )
    return devices[: wanted or len(devices)]


def _header(devices: training.Devices) -> str:
    number = f"{len(devices)} device" + "s" * (len(devices) != 1)
    return (
        f"xlaops demo: jax {jax.__version__}, {devices[0].platform}, {number}, "
        f"native handlers {_native_handlers()}"
    )


def _native_handlers() -> str:
    try:
        from .. import ffi
    except ImportError:
        return "not installed"
    return "loaded" if ffi.available() else "not loaded"


def _summary(result: training.Result) -> list[tuple[str, str]]:
    parameters = sum(x.size for x in jax.tree.leaves(result.state.parameters))
    return [
        ("parameters", f"{parameters:,}"),
        ("images seen", f"{result.images:,}"),
        ("compile time", f"{result.compile_seconds:.1f} s"),
        ("training time", f"{result.train_seconds:.1f} s"),
        ("throughput", f"{result.images_per_second:,.0f} images/s"),
        ("training loss", f"{result.train_loss:.4f}"),
        ("test loss", f"{result.test_loss:.4f}"),
    ]
