"""`op`: a handler, with all that JAX must know of it, becomes a JAX function."""

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, ParamSpec, Protocol, TypeAlias, TypeVar, overload

import jax
from jax import Array

from .. import types
from ..core import checks
from ..core.compat import Tracer
from . import attributes as attribute_types
from . import buffers, calls, declaration
from .attributes import AttributeLike, Attributes
from .call_errors import RAISED_BY_JAX, HandlerError
from .calls import Type, VmapMethod
from .sharding import Rule

P = ParamSpec("P")
R = TypeVar("R", covariant=True)

_UNSET: Any = object()
# How many combinations of attributes an operation remembers before it starts anew.
_REMEMBERED = 1024


HandlerLike: TypeAlias = str | Mapping[str, str]


class ForeignFunction(Protocol, Generic[P, R]):
    """What `op` makes: a function with the signature of its reference.

    Attributes:
        ref: the reference; None if there is none.
    """

    ref: Callable[..., Any]

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """The result of the handler, or of the reference where there is no handler."""
        ...


@overload
def op(
    handler: HandlerLike,
    *,
    ref: Callable[P, R],
    name: str | None = ...,
    operands: Mapping[str, Any] | None = ...,
    attributes: Mapping[str, AttributeLike] | type | None = ...,
    result: Any = ...,
    scratch: Any = ...,
    vmap: VmapMethod | None = ...,
    sharding: str | None = ...,
    aliases: Mapping[str | int, int] | None = ...,
    has_side_effect: bool = ...,
) -> ForeignFunction[P, R]: ...


@overload
def op(
    handler: HandlerLike,
    *,
    ref: None,
    name: str,
    operands: Mapping[str, Any],
    result: Any,
    attributes: Mapping[str, AttributeLike] | type | None = ...,
    scratch: Any = ...,
    vmap: VmapMethod | None = ...,
    sharding: str | None = ...,
    aliases: Mapping[str | int, int] | None = ...,
    has_side_effect: bool = ...,
) -> ForeignFunction[..., Any]: ...


@overload
def op(
    handler: HandlerLike,
    *,
    name: str | None = ...,
    operands: Mapping[str, Any] | None = ...,
    attributes: Mapping[str, AttributeLike] | type | None = ...,
    result: Any = ...,
    scratch: Any = ...,
    vmap: VmapMethod | None = ...,
    sharding: str | None = ...,
    aliases: Mapping[str | int, int] | None = ...,
    has_side_effect: bool = ...,
) -> Callable[[Callable[P, R]], ForeignFunction[P, R]]: ...


def op(
    handler: HandlerLike,
    *,
    ref: Any = _UNSET,
    name: str | None = None,
    operands: Mapping[str, Any] | None = None,
    attributes: Mapping[str, AttributeLike] | type | None = None,
    result: Any = None,
    scratch: Any = None,
    vmap: VmapMethod | None = "sequential",
    sharding: str | None = None,
    aliases: Mapping[str | int, int] | None = None,
    has_side_effect: bool = False,
) -> Any:
    """Makes a JAX function of a handler, with derivatives, batching and sharding.

    The reference is the same function in JAX. Its signature is that of the result, and
    what JAX cannot know of foreign code comes from it: derivatives of any order, the
    types of results, and what runs where there is no handler. It must compute what the
    handler does.

    The function works eagerly and under `jax.jit`, `jax.grad`, `jax.vmap`,
    `jax.lax.scan`, `jax.checkpoint`, `jax.shard_map` and so on. Eager calls are
    compiled once for each combination of types and attributes; on the CPU they wait for
    the result, so that an error of the handler is raised where the call is.

    Args:
        handler: the name of a target: what `Library.target` returns, or one that is
            registered otherwise, for the CPU. For other platforms, or several, a
            mapping from ``"cpu"``, ``"cuda"``, ``"rocm"`` or ``"gpu"`` (both of these)
            to names. Other platforms run the reference.
        ref: the reference. It is called with the operands by position and the
            attributes by name. Without it, ``op`` returns a decorator for it. None is a
            handler that nothing stands for: it has no derivatives and runs nowhere
            else, and ``name``, ``operands`` and ``result`` must be given.
        name: how messages call the operation; that of the reference, if None.
        operands: for each operand what it must be, by its name: ``"f32[n,m]"``, where a
            name is one size wherever it occurs and ``_`` is any, ``"f32|f64[...]"`` for
            one of several element types and any shape, ``"T[..., 3]"``, where a capital
            letter is one element type wherever it occurs, or ``"*"`` for any array.
            ``...`` is the same sizes wherever it occurs, ``"f32"`` of any shape at all.
            Tuples of these for operands that are tuples. Parameters that are not named
            may be anything. With ``ref=None`` it lists all operands in order, and the
            name of one that stands for any number begins with ``*``.
        attributes: for each attribute its type: ``"s8"`` to ``"s64"``, ``"u8"`` to
            ``"u64"``, ``"f32"``, ``"f64"``, ``"pred"``, ``"str"``; arrays of numbers as
            ``"s32[]"``; ``"c64"`` and ``"c128"``, which reach the handler as an array
            of two numbers; NumPy's scalar types, and Python's, which have 64 bits; an
            enumeration, which is a C++ enum over ``int32_t`` (see `enumeration`); a
            dataclass, which is a C++ struct, with such types as annotations, or within
            ``Annotated[float, "f32"]``; a mapping from names to types, which is a
            dictionary, or ``dict`` for one of any names. A dataclass instead of the
            mapping declares its fields as the attributes; ``dict`` takes any keyword,
            with the type of its value. Parameters of the reference that are here are
            attributes, with their defaults.
        result: the types of the results: a `jax.ShapeDtypeStruct`, a text such as
            ``"f32[n]"`` with the names of ``operands``, a tree of these, or a function
            of the operands' types and of the attributes that gives one. None: those of
            the reference. The handler gets the leaves of the tree as its results, in
            order; trailing ones may be None, for results that are optional.
        scratch: memory that the handler needs while it runs, in the same form. It gets
            it as further results, which are not returned.
        vmap: how the handler is given a batch. ``"sequential"``: one call for each
            element (``"sequential_unrolled"`` without a loop); ``"broadcast_all"``: one
            call, with the batch as a leading dimension of all operands and results;
            ``"expand_dims"``: the same, with size 1 in operands that have no batch;
            ``"ref"``: not at all, the batched reference runs; None: `jax.vmap` is
            refused.
        sharding: how a call is divided among devices in a program that XLA partitions.
            A rule such as ``"b _, _ -> b _"`` has for each operand and result the names
            of dimensions that may be split, as the handler works on parts of them
            alike, and ``_`` for those that it needs whole; ``...`` in front stands for
            any number of dimensions that may be split. ``"replicate"``: all devices get
            all of the operands. None: such programs run the reference, which XLA knows
            how to divide. Inside `jax.shard_map` the handler runs in any case.
        aliases: which results take the memory of which operands, by the operands' names
            or numbers and the results' numbers. Of an operand that is used elsewhere
            XLA makes a copy first.
        has_side_effect: whether calls must stay in a program though their results are
            not used, and must not be merged.

    Returns:
        The function. ``function.ref`` is the reference.

    Raises:
        TypeError: An argument is of another kind; or, from the function, an operand or
            attribute is not what it must be, or the reference returns something else
            than ``result``.
        ValueError: An argument has an impossible value; or, from the function, an
            attribute is out of the range of its type.
        HandlerError: From the function: the handler returned an error.

    Example:
        >>> import jax, jax.numpy as jnp, xlaops.ffi
        >>> @xlaops.ffi.op(
        ...     {}, operands={"x": "f32[...]"}, attributes={"factor": "f32"}
        ... )
        ... def scaled_sine(x, *, factor=1.0):
        ...     return jnp.sin(x) * factor
        >>> print(jax.grad(scaled_sine)(0.0, factor=2.0))
        2.0

    Source: *Custom calls* of XLA's documentation; ``stablehlo.custom_call``.
    """
    if ref is _UNSET:
        return lambda ref: op(
            handler,
            ref=ref,
            name=name,
            operands=operands,
            attributes=attributes,
            result=result,
            scratch=scratch,
            vmap=vmap,
            sharding=sharding,
            aliases=aliases,
            has_side_effect=has_side_effect,
        )
    if name is not None and not isinstance(name, str):
        raise TypeError(f"op: name must be a text, got {checks.describe(name)}")
    targets = declaration.targets_of(handler)
    if ref is not None and not callable(ref):
        raise TypeError(
            f"op: ref must be callable, or None if nothing stands for the handler, "
            f"got {checks.describe(ref)}"
        )
    known = calls.VmapMethod.__args__  # type: ignore[attr-defined]
    if vmap is not None and vmap not in known:
        raise ValueError(f"op: vmap must be one of {', '.join(known)}, got {vmap!r}")
    if ref is None and (name is None or operands is None or result is None):
        raise TypeError("op: name, operands and result must be given where ref is None")
    if ref is None and not targets:
        raise ValueError("op: handler must be given where ref is None")
    if ref is None and vmap == "ref":
        raise ValueError("op: vmap must not be 'ref' where ref is None")
    if vmap == "ref" and has_side_effect is True:
        raise ValueError(
            "op: vmap must not be 'ref' where has_side_effect is True, since ref has "
            "no side effects"
        )
    called = name or declaration.name_of(ref, targets)
    made = _Operation(
        called, targets, ref, operands, attributes, result, scratch, vmap, sharding,
        aliases, has_side_effect,
    )  # fmt: skip

    def function(*args: Any, **kwargs: Any) -> Any:
        return made(args, kwargs)

    if ref is not None:
        functools.update_wrapper(function, ref)
        del vars(function)["__wrapped__"]  # which is not what is called
    function.__name__ = called.rpartition(".")[2]
    function.__qualname__ = getattr(ref, "__qualname__", called)
    function.__signature__ = made.signature  # type: ignore[attr-defined]
    function.ref = ref  # type: ignore[attr-defined]
    return function


class _Operation:
    """What stands behind the function that `op` returns."""

    def __init__(
        self,
        name: str,
        targets: dict[str, str],
        ref: Any,
        operands: Any,
        attributes: Any,
        result: Any,
        scratch: Any,
        vmap: Any,
        sharding: Any,
        aliases: Any,
        has_side_effect: bool,
    ) -> None:
        self.name = name
        self._ref = ref
        self._result = result
        self._scratch = scratch
        # Without a schema every keyword is an attribute, of the type of its value.
        self._schema: dict[str, attribute_types.AttributeType] | None = {}
        defaults: dict[str, Any] = {}
        if attributes is dict:
            self._schema = None
        elif attributes is not None:
            self._schema = attribute_types.record_of(attributes)
            if isinstance(attributes, type):
                defaults = attribute_types.defaults_of(attributes)
        if operands is not None and not isinstance(operands, Mapping):
            raise TypeError(
                f"op: operands must be a mapping from names to texts such as 'f32[n]', "
                f"got {checks.describe(operands)}"
            )
        parameters = declaration.parameters_of(
            ref, operands or {}, self._schema, defaults
        )
        self.signature = inspect.Signature(
            parameters,
            return_annotation=(
                inspect.signature(ref).return_annotation
                if ref is not None
                else inspect.Signature.empty
            ),
        )
        self._operands = [p for p in parameters if declaration.is_operand(p)]
        self._types = {
            key.lstrip("*"): declaration.parsed_operand(key, spec)
            for key, spec in (operands or {}).items()
        }
        unknown = set(self._types) - {p.name for p in self._operands}
        if unknown:
            raise TypeError(
                f"op: operands must name operands of ref, got {', '.join(unknown)}"
            )
        self._aliases = declaration.checked_aliases(
            aliases, [p.name for p in self._operands]
        )
        if sharding is not None and not isinstance(sharding, str):
            raise TypeError(
                f"op: sharding must be a rule such as 'b _ -> b _', 'replicate' or "
                f"None, got {checks.describe(sharding)}"
            )
        gathers = sharding == "replicate"
        self.definition = calls.Definition(
            name=name,
            targets=targets,
            reference=ref,
            vmap=vmap,
            rule=None if sharding is None or gathers else Rule.parse(sharding),
            may_gather=gathers,
            has_side_effect=checks.boolean("op", "has_side_effect", has_side_effect),
            scratch=self._scratch_types,
        )
        self._jits: dict[Any, Callable[..., Any]] = {}
        self._attributes: dict[Any, Attributes] = {}

    # A call

    def __call__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        try:
            bound = self.signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{self.name}: {error}") from None
        bound.apply_defaults()
        given = bound.arguments
        attributes = self._normal_attributes(given)
        arguments = [
            self._as_arrays(name, type_, value)
            for name, type_, value in self._named(self._in_order(given))
        ]
        self._refuse_gaps(arguments)
        leaves, tree = jax.tree.flatten(tuple(arguments))
        for leaf in leaves:
            if isinstance(leaf, Tracer):
                return self._run(leaves, tree, attributes)
        key = (tree, attributes)
        jitted = self._jits.get(key)
        if jitted is None:
            if len(self._jits) >= _REMEMBERED:
                self._jits.clear()
            run = functools.partial(self._run_flat, tree, attributes)
            # Inlined: within another trace nothing is left of it.
            jitted = jax.jit(run, inline=True)
            self._jits[key] = jitted
        try:
            return _waited(jitted(*leaves))
        except RAISED_BY_JAX as error:
            converted = HandlerError.of(error, self.name)
            if converted is None:
                raise
            raise converted from None

    def _normal_attributes(self, given: Mapping[str, Any]) -> Attributes:
        if self._schema is None:
            written = given.get("attributes", {})
        else:
            written = {name: given[name] for name in self._schema}
        if not written:
            return _NONE
        # Types and texts tell apart what is equal to Python: 1 and True, signed zeros.
        key = None
        if all(type(value) in _PLAIN for value in written.values()):
            key = tuple(
                (name, type(v), repr(v) if type(v) is float else v)
                for name, v in written.items()
            )
            known = self._attributes.get(key)
            if known is not None:
                return known
        schema = self._schema
        if schema is None:
            schema = {
                name: attribute_types.type_of_value(self.name, name, value)
                for name, value in written.items()
            }
        values, text = attribute_types.normalize_all(self.name, schema, written)
        attributes = Attributes(text, values)
        if key is not None:
            if len(self._attributes) >= _REMEMBERED:
                self._attributes.clear()
            self._attributes[key] = attributes
        return attributes

    def _in_order(self, given: Mapping[str, Any]) -> tuple[Any, ...]:
        """The values of the operands."""
        values: list[Any] = []
        for p in self._operands:
            is_rest = p.kind is inspect.Parameter.VAR_POSITIONAL
            values += given.get(p.name, ()) if is_rest else (given[p.name],)
        return tuple(values)

    def _named(self, values: tuple[Any, ...]) -> list[tuple[str, Any, Any]]:
        """Name, type and value of each operand."""
        rows: list[tuple[str, Any, Any]] = []
        left = iter(values)
        for p in self._operands:
            type_ = self._types.get(p.name)
            if p.kind is not inspect.Parameter.VAR_POSITIONAL:
                rows.append((p.name, type_, next(left)))
                continue
            rows += [(f"{p.name}[{i}]", type_, v) for i, v in enumerate(left)]
        return rows

    def _as_arrays(self, name: str, type_: Any, value: Any) -> Any:
        """An operand's arrays; element types that are wanted go to Python scalars."""
        if value is None:
            parameter = self.signature.parameters.get(name)
            if parameter is None or parameter.default is not None:
                raise TypeError(f"{self.name}: {name} must be an array, got None")
            return None
        if type_ is None and not _is_tree(value):
            return checks.array(self.name, name, value)
        if isinstance(type_, buffers.BufferType):
            if _is_tree(value):
                raise TypeError(
                    f"{self.name}: {name} must be {type_.text}, "
                    f"got {checks.describe(value)}"
                )
            return buffers.array(self.name, name, value, type_)
        if type_ is not None:
            wanted = jax.tree.structure(type_)
            if jax.tree.structure(value) != wanted:
                raise TypeError(
                    f"{self.name}: {name} must be a tree of arrays like "
                    f"{_text_of(type_)}, got {checks.describe(value)}"
                )
            return jax.tree.map(
                lambda t, v: buffers.array(self.name, name, v, t), type_, value
            )
        return jax.tree.map_with_path(
            lambda path, v: checks.array(
                self.name, name + jax.tree_util.keystr(path), v
            ),
            value,
        )

    def _refuse_gaps(self, arguments: Sequence[Any]) -> None:
        missing = False
        for p, value in zip(self._operands, arguments, strict=False):
            if value is None:
                missing = True
            elif missing:
                raise TypeError(
                    f"{self.name}: {p.name} must be None where an operand before it "
                    f"is, got {checks.describe(value)}"
                )

    # A call of known types

    def _run_flat(self, tree: Any, attributes: Attributes, *leaves: Array) -> Any:
        return self._run(leaves, tree, attributes)

    def _run(self, leaves: Sequence[Array], tree: Any, attributes: Attributes) -> Any:
        at = self._bindings(jax.tree.unflatten(tree, leaves))
        result = self._results(leaves, tree, attributes, at)
        flat, result_tree = jax.tree.flatten(result)
        if result_tree.num_leaves != len(jax.tree.leaves(result, is_leaf=_is_none)):
            self._refuse_missing_results(result)
        results = tuple((r.shape, r.dtype) for r in flat)
        types_in = [(x.shape, x.dtype) for x in leaves]
        values = calls.call(
            leaves,
            definition=self.definition,
            tree=tree,
            attributes=attributes,
            results=results,
            scratch=self._scratch_types(tree, types_in, attributes),
            aliases=self._alias_pairs(tree, types_in, results),
            batch=(),
        )
        return jax.tree.unflatten(result_tree, values)

    def _bindings(self, arguments: tuple[Any, ...]) -> buffers.Bindings:
        """Checks operands, and says what the names in their types stand for."""
        at = buffers.Bindings()
        for name, type_, value in self._named(arguments):
            if type_ is None or value is None:
                continue
            if isinstance(type_, buffers.BufferType):
                type_.check(self.name, name, value, at)
                continue
            paths = jax.tree_util.tree_leaves_with_path(type_)
            for (path, leaf), array in zip(paths, jax.tree.leaves(value), strict=True):
                leaf.check(self.name, name + jax.tree_util.keystr(path), array, at)
        return at

    def _results(
        self,
        leaves: Sequence[Array],
        tree: Any,
        attributes: Attributes,
        at: buffers.Bindings,
    ) -> Any:
        """The tree of the results' types."""
        declared = None
        if self._result is not None:
            declared = self._by_rule(
                self._result, tree, [(x.shape, x.dtype) for x in leaves], attributes, at
            )
        if self._ref is None:
            return declared

        def reference(*flat: Any) -> Any:
            arguments = jax.tree.unflatten(tree, flat)
            result = self._ref(*arguments, **attributes.values)
            return jax.tree.map(functools.partial(calls.strong, self.name), result)

        types_in: Sequence[Any] = leaves
        if self.definition.rule is not None and any(map(calls.is_explicit, leaves)):
            # It will see parts that are whole where it needs them to be.
            types_in = [jax.ShapeDtypeStruct(x.shape, x.dtype) for x in leaves]
        found = jax.eval_shape(reference, *types_in)
        if declared is None:
            return found
        wanted, given = (
            (jax.tree.structure(t), [(x.shape, x.dtype) for x in jax.tree.leaves(t)])
            for t in (declared, found)
        )
        if wanted != given:
            raise TypeError(
                f"{self.name}: ref must return what result says, "
                f"{calls.shown(wanted[1])} in {wanted[0]}, "
                f"got {calls.shown(given[1])} in {given[0]}"
            )
        return declared

    def _by_rule(
        self,
        rule: Any,
        tree: Any,
        types_in: Sequence[Type],
        attributes: Attributes,
        at: buffers.Bindings,
    ) -> Any:
        """The tree of types that a rule gives."""
        if callable(rule) and not isinstance(rule, types.Shape):
            structs = [jax.ShapeDtypeStruct(*t) for t in types_in]
            arguments = jax.tree.unflatten(tree, structs)
            rule = rule(*arguments, **attributes.values)
        return buffers.result_tree(self.name, rule, at)

    def _scratch_types(
        self, tree: Any, types_in: Sequence[Type], attributes: Attributes
    ) -> tuple[Type, ...]:
        if self._scratch is None:
            return ()
        structs = [jax.ShapeDtypeStruct(*t) for t in types_in]
        at = self._bindings(jax.tree.unflatten(tree, structs))
        found = self._by_rule(self._scratch, tree, types_in, attributes, at)
        return tuple((s.shape, s.dtype) for s in jax.tree.leaves(found))

    def _alias_pairs(
        self, tree: Any, types_in: Sequence[Type], results: Sequence[Type]
    ) -> tuple[tuple[int, int], ...]:
        if not self._aliases:
            return ()
        numbers = jax.tree.unflatten(tree, range(len(types_in)))
        places = {name: value for name, _, value in self._named(numbers)}
        pairs = []
        for key, result in self._aliases.items():
            operand = places[key] if isinstance(key, str) else key
            if operand is None:
                continue
            if not isinstance(operand, int):
                raise TypeError(
                    f"{self.name}: aliases must name an operand that is one array, or "
                    f"its number among all arrays, got {key!r}"
                )
            if operand >= len(types_in) or result >= len(results):
                raise ValueError(
                    f"{self.name}: aliases must be of {len(types_in)} operands and "
                    f"{len(results)} results, got {key!r} and {result}"
                )
            if types_in[operand] != results[result]:
                raise TypeError(
                    f"{self.name}: {key} must have the type of result {result}, which "
                    f"takes its memory, {calls.shown([results[result]])}, "
                    f"got {calls.shown([types_in[operand]])}"
                )
            if any(operand == other for other, _ in pairs):
                raise ValueError(
                    f"{self.name}: aliases must have a result for each operand, at "
                    f"most, got two for {key!r}"
                )
            pairs.append((operand, result))
        return tuple(pairs)

    def _refuse_missing_results(self, result: Any) -> None:
        leaves = jax.tree.leaves(result, is_leaf=_is_none)
        first = next(i for i, leaf in enumerate(leaves) if leaf is None)
        if any(leaf is not None for leaf in leaves[first:]):
            raise TypeError(
                f"{self.name}: result must have None behind all others only, "
                f"got one as number {first}"
            )


_NONE = Attributes("{}", {})
# Types of which the text says everything about a value.
_PLAIN = frozenset([bool, int, float, str])


def _text_of(type_: Any) -> str:
    return str(jax.tree.map(lambda t: t.text, type_)).replace("'", "")


def _is_none(value: Any) -> bool:
    return value is None


def _is_tree(value: Any) -> bool:
    """Whether JAX knows a value as a tree, and not as a leaf of one."""
    return not jax.tree_util.all_leaves([value])


def _waited(result: Any) -> Any:
    """The result of an eager call, which on the CPU is waited for."""
    for leaf in jax.tree.leaves(result):
        if isinstance(leaf, Tracer):
            break  # of a trace that is none of the operands'
        if next(iter(leaf.devices())).platform == "cpu":
            leaf.block_until_ready()
    return result
