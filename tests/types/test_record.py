"""Plain data: what records have in common with frozen dataclasses."""

import copy
import dataclasses
import importlib
import pickle
import pkgutil

import jax
import pytest

from xlaops import types
from xlaops.types.record import Record


class Point(Record):
    """What a test needs."""

    x: int
    y: tuple[int, ...] = ()
    note: str = dataclasses.field(default="", compare=False)
    rank: int = dataclasses.field(init=False, repr=False, compare=False, default=0)

    def __post_init__(self):
        object.__setattr__(self, "rank", len(self.y))


class Lone(Record):
    """Of one field, whose value is not taken for a tuple of them."""

    x: object


class Subpoint(Point):
    """The same fields, and another class."""


@dataclasses.dataclass(frozen=True)
class Reference:
    x: int
    y: tuple[int, ...] = ()
    note: str = dataclasses.field(default="", compare=False)
    rank: int = dataclasses.field(init=False, repr=False, compare=False, default=0)


def test_it_is_a_dataclass():
    assert dataclasses.is_dataclass(Point)
    for cls in (Point, Subpoint):
        assert [f.name for f in dataclasses.fields(cls)] == ["x", "y", "note", "rank"]
        assert cls.__match_args__ == Reference.__match_args__
    point = dataclasses.replace(Point(1, (2, 3)), x=4)
    assert (point.x, point.y, point.note, point.rank) == (4, (2, 3), "", 2)
    assert dataclasses.asdict(point) == {"x": 4, "y": (2, 3), "note": "", "rank": 2}
    match point:
        case Point(x, y):
            assert (x, y) == (4, (2, 3))


@pytest.mark.parametrize("arguments", [(), (1, 2, 3, 4)], ids=["too few", "too many"])
def test_arguments_are_bound_as_by_a_function(arguments):
    with pytest.raises(TypeError) as wanted:
        Reference(*arguments)
    with pytest.raises(TypeError) as got:
        Point(*arguments)
    assert str(got.value) == str(wanted.value).replace("Reference", "Point")


def test_it_is_shown_as_a_dataclass():
    shown = repr(Reference(1, (2,), "n")).replace("Reference", "Point")
    assert repr(Point(1, (2,), "n")) == shown == "Point(x=1, y=(2,), note='n')"


def test_equal_fields_make_equal_records():
    assert Point(1, (2,)) == Point(1, (2,), "not compared")
    assert hash(Point(1, (2,))) == hash(Point(1, (2,), "not compared"))
    assert Point(1) != Point(2)
    assert Point(1) != Point(1, (2,))
    assert Point(1) != Subpoint(1)
    assert Subpoint(1) != Point(1)
    assert Point(1) != (1, ())
    assert Lone((1, 2)) == Lone((1, 2))
    assert Lone((1, 2)) != Lone([1, 2])
    with pytest.raises(TypeError, match="unhashable"):
        hash(Lone([1]))
    assert len({Point(1), Point(1), Point(2), Subpoint(1)}) == 3


@pytest.mark.parametrize("name", ["x", "y", "note", "rank", "other"])
def test_fields_are_set_once(name):
    point = Point(1)
    before = dict(point.__dict__)
    with pytest.raises(dataclasses.FrozenInstanceError, match=f"'{name}'"):
        setattr(point, name, 5)
    with pytest.raises(dataclasses.FrozenInstanceError, match=f"'{name}'"):
        delattr(point, name)
    assert point.__dict__ == before


def test_records_are_copied_and_pickled():
    shape = types.Shape.parse("(f32[2,<=3]{1,0:T(8,128)}, token[])")
    for made in (
        copy.copy(shape),
        copy.deepcopy(shape),
        pickle.loads(pickle.dumps(shape)),
    ):
        assert made == shape
        assert str(made) == str(shape)
        with pytest.raises(dataclasses.FrozenInstanceError):
            made.layout = None


def test_records_are_static_arguments():
    traced = []

    def f(x, numbers):
        traced.append(numbers)
        return x

    jitted = jax.jit(f, static_argnums=1)
    for numbers in (((1,), (0,)), ((1,), (0,)), ((0,), (0,))):
        jitted(1.0, types.DotDimensionNumbers(*numbers))
    assert len(traced) == 2


def test_all_plain_data_is_made_of_records():
    modules = [
        importlib.import_module(f"xlaops.types.{module.name}")
        for module in pkgutil.iter_modules(types.__path__)
    ]
    defined = {
        value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, type) and dataclasses.is_dataclass(value)
    }
    assert {types.Shape, types.Tile, types.DotDimensionNumbers} <= defined
    assert {cls.__name__ for cls in defined if not issubclass(cls, Record)} == set()
