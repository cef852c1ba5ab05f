"""What can go wrong when a library of handlers is built or opened."""


class LoadError(RuntimeError):
    """A library of handlers cannot be used; the message says why."""


class CompilerNotFoundError(LoadError):
    """There is no compiler for the language of the sources."""


class BuildError(LoadError):
    """The sources do not compile.

    Attributes:
        log: All that the compiler and the build system wrote.
    """

    def __init__(self, message: str, log: str = ""):
        super().__init__(message)
        self.log = log


class VersionError(LoadError):
    """The library needs another version of XLA's FFI API than jaxlib has."""


class HandlerNotFoundError(LoadError):
    """The library does not export a handler of this name and stage."""


class CacheError(LoadError):
    """The cache cannot be used, or what lies in it cannot be trusted."""
