"""Which handlers this package has registered with XLA, and under which names."""

import contextlib
import ctypes
import dataclasses
import threading
from collections.abc import Mapping
from typing import Any

import jax


@dataclasses.dataclass(frozen=True)
class Target:
    """A handler as XLA knows it.

    Attributes:
        name: The name to call it by, as in `jax.ffi.ffi_call`.
        platform: Where it runs: "cpu", "CUDA" or another name of XLA's.
        library: The file that holds it.
    """

    name: str
    platform: str
    library: str


# Held while XLA is told: a name is in the table when XLA has it.
_lock = threading.Lock()
_targets: dict[tuple[str, str], Target] = {}
_types: set[tuple[str, str]] = set()


def targets() -> tuple[Target, ...]:
    """The handlers that this package has registered in this process."""
    with _lock:
        return tuple(_targets.values())


def register(name: str, platform: str, stages: Mapping[str, Any], file: str) -> None:
    """Registers a handler, once.

    A name stands for one content: those of `load` hold a hash. So the same name and
    platform again mean the same handler, and nothing is to be done.

    Args:
        name: The name of the target.
        platform: "cpu", "CUDA" or another of XLA's platforms.
        stages: The C symbols by stage: "execute", and any of "instantiate", "prepare"
            and "initialize".
        file: The library, for those who ask.
    """
    with _lock:
        if (name, platform) in _targets:
            return
        capsules = {
            stage: jax.ffi.pycapsule(pointer) for stage, pointer in stages.items()
        }
        # A dictionary of one stage would do as well; the plain form is the older one.
        handler = capsules["execute"] if len(capsules) == 1 else capsules
        jax.ffi.register_ffi_target(name, handler, platform=platform)
        _targets[name, platform] = Target(name, platform, file)


def register_state(name: str, platform: str, type_id: int, type_info: int) -> None:
    """Registers the type of a handler's state, once.

    Args:
        name: The name of the type, unique in the process.
        platform: The platform of the handlers that use it.
        type_id: The address of its XLA_FFI_TypeId.
        type_info: The address of its XLA_FFI_TypeInfo.
    """
    with _lock:
        if (name, platform) in _types:
            return
        _start(platform)
        pointers: Any = {
            "type_id": jax.ffi.pycapsule(ctypes.c_void_p(type_id)),
            "type_info": jax.ffi.pycapsule(ctypes.c_void_p(type_info)),
        }
        jax.ffi.register_ffi_type(name, pointers, platform=platform)
        _types.add((name, platform))


def _start(platform: str) -> None:
    """Starts JAX's backend of a platform, if this machine has one.

    What is registered before that is handed over when it starts: first handlers, then
    types. XLA wants a type first, and the whole backend would fail to start.
    """
    with contextlib.suppress(RuntimeError):
        jax.local_devices(backend=platform.lower())
