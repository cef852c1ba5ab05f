"""Errors of handlers as Python exceptions that carry their code."""

import contextlib
import enum
import re
from collections.abc import Iterator
from typing import Any

import jax


class ErrorCode(enum.IntEnum):
    """The error codes that a handler can return, ``xla::ffi::ErrorCode``.

    Example:
        >>> import xlaops.ffi
        >>> xlaops.ffi.ErrorCode.NOT_FOUND
        <ErrorCode.NOT_FOUND: 5>
    """

    CANCELLED = 1
    UNKNOWN = 2
    INVALID_ARGUMENT = 3
    DEADLINE_EXCEEDED = 4
    NOT_FOUND = 5
    ALREADY_EXISTS = 6
    PERMISSION_DENIED = 7
    RESOURCE_EXHAUSTED = 8
    FAILED_PRECONDITION = 9
    ABORTED = 10
    OUT_OF_RANGE = 11
    UNIMPLEMENTED = 12
    INTERNAL = 13
    UNAVAILABLE = 14
    DATA_LOSS = 15
    UNAUTHENTICATED = 16


_CODED = re.compile(rf"({'|'.join(ErrorCode.__members__)}): (.*)", re.DOTALL)

# What JAX raises for an error of a program. A compiled function that is called again
# raises ValueError where its first call raises the other, with the same text.
RAISED_BY_JAX = (jax.errors.JaxRuntimeError, ValueError)


class HandlerError(jax.errors.JaxRuntimeError):
    """The error with which a handler ended a program.

    It is one of JAX's own errors as well, so code that catches those keeps working.

    Attributes:
        code: the `ErrorCode` that the handler returned; UNKNOWN for a C++ exception.
        message: the handler's message.
        operation: the name of the operation that was called; None where it is not
            known, as in a program of several.

    Example:
        >>> import xlaops.ffi
        >>> error = xlaops.ffi.HandlerError(5, "no such table", operation="look_up")
        >>> error.code, error.message
        (<ErrorCode.NOT_FOUND: 5>, 'no such table')
        >>> print(error)
        look_up: NOT_FOUND: no such table
    """

    def __init__(
        self, code: ErrorCode | int, message: str, operation: str | None = None
    ) -> None:
        self.code = ErrorCode(code)
        self.message = message
        self.operation = operation
        prefix = f"{operation}: " if operation else ""
        super().__init__(f"{prefix}{self.code.name}: {message}")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.code, self.message, self.operation)

    @classmethod
    def of(
        cls, error: BaseException, operation: str | None = None
    ) -> "HandlerError | None":
        """What an error that JAX raised stands for.

        None if it has no code, or is a `HandlerError` already.
        """
        if isinstance(error, cls) or not isinstance(error, RAISED_BY_JAX):
            return None
        found = _CODED.match(str(error))
        if found is None:
            return None
        return cls(ErrorCode[found[1]], found[2], operation)


@contextlib.contextmanager
def handler_errors(operation: str | None = None) -> Iterator[None]:
    """Errors of XLA that leave the block, or the function, carry their code.

    A program that JAX compiled raises `jax.errors.JaxRuntimeError`, or ValueError where
    it has run before; the text begins with the name of the code. Here both become
    `HandlerError`. XLA's own errors have codes too, and are converted alike.
    Programs run asynchronously: an error appears where a result is waited for, so this
    must happen inside the block.

    It is a decorator as well. Operations of `xlaops.ffi.op` that are called outside a
    traced function need neither: they wait for their results on the CPU, and convert
    errors themselves.

    Args:
        operation: what `HandlerError.operation` says.

    Returns:
        A context manager, which is a decorator too.

    Raises:
        HandlerError: For an error of a handler inside.

    Example:
        >>> import jax, xlaops.ffi
        >>> with xlaops.ffi.handler_errors():
        ...     y = jax.block_until_ready(jax.jit(lambda x: x + 1)(1.0))

    Source: "Error handling" of XLA's *Custom calls* document.
    """
    try:
        yield
    except RAISED_BY_JAX as error:
        converted = HandlerError.of(error, operation)
        if converted is None:
            raise
        raise converted from error
