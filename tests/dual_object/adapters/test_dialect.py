"""Dialects: rows of data between PyTorch's names and a target's, and what is said of a row that cannot be."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dual_object.adapters.dialect import Dialect, Row, read, written
from dual_object.errors import DialectError, MissingOp, UnmappedOp
from dual_object.program.calls import Call
from dual_object.replay.adapter import TargetInfo


class Array:
    """A tensor of a framework that calls things otherwise."""

    shape = (2, 3)

    def sum(self, axis: object = None, out: object = None) -> tuple[str, object]:
        """Only says what it was asked for."""
        return "method", axis

    def width(self) -> int:
        """A method where PyTorch has an attribute."""
        return 3


def total(a: object, axis: object = None, precision: object = None, keepdims: object = False) -> tuple[object, ...]:
    """A function whose third argument is another one than PyTorch's."""
    return ("total", a, axis, precision, keepdims)


def paired(x: object = None, y: object = None, /, **named: object) -> tuple[object, ...]:
    """A function without names for its arguments."""
    return ("paired", x, y, named)


FRAMEWORK = SimpleNamespace(
    total=total,
    paired=paired,
    absolute=lambda x: ("absolute", x),
    extremes=lambda x, axis: [("low", x, axis), ("place", x, axis)],
    reshape=lambda a, shape: ("reshape", a, shape),
    float32="single",
    nn=SimpleNamespace(relu=lambda x: ("relu", x)),
)
CODE = {"clamp": lambda x, low, high=9: ("clamp", x, low, high), "spread": lambda x: ("spread", x), "number": 3}


def dialect(rows: dict[str, dict[str, Any]]) -> Dialect:
    """The toy framework's dialect with these rows."""
    return Dialect("toy", [Row.from_json(path, row) for path, row in rows.items()], FRAMEWORK, CODE)


SUM = {"to": "total", "args": ["input", "dim", "keepdim", "*", "dtype", "out"], "unsupported": {"out": None}}
SUM["rename"] = {"input": "a", "dim": "axis", "keepdim": "keepdims", "dtype": "precision"}


class TestCalls:
    """What the target is called with."""

    def test_places_are_told_by_name(self) -> None:
        """PyTorch's third argument is not the target's third."""
        call = dialect({"sum": SUM}).resolve("sum")
        assert call("x", 1, True) == ("total", "x", 1, None, True)
        assert call("x", keepdim=True, dtype="half") == ("total", "x", None, "half", True)

    def test_wrong_order_shows(self) -> None:
        """A row that has PyTorch's order wrong hands the dtype on as the dimension: the order is no decoration."""
        turned = {**SUM, "args": ["input", "keepdim", "dim", "*", "dtype", "out"]}
        assert dialect({"sum": turned}).resolve("sum")("x", 1, True) == ("total", "x", True, None, 1)

    def test_handed_on_by_place(self) -> None:
        """A target without names for its arguments gets the first ones by place, however they were given; what comes
        after one that is left out has its name.
        """
        call = dialect({"hypot": {"to": "paired", "args": ["input", "other", "out"], "places": 2}}).resolve("hypot")
        assert call("x", "y") == call(input="x", other="y") == call("x", other="y") == ("paired", "x", "y", {})
        assert call("x", out="z") == ("paired", "x", None, {"out": "z"})
        assert call(other="y") == ("paired", None, None, {"other": "y"})

    def test_numpys_names(self) -> None:
        """PyTorch takes `axis` for `dim`, and so does a row that knows only `dim`."""
        call = dialect({"sum": SUM}).resolve("sum")
        assert call("x", axis=1, keepdims=True) == call("x", 1, True)

    def test_constants_give_way(self) -> None:
        """A constant is passed unless the caller says otherwise."""
        call = dialect({"sum": {**SUM, "constants": {"precision": "double"}}}).resolve("sum")
        assert call("x") == ("total", "x", None, "double", False)
        assert call("x", dtype="half") == ("total", "x", None, "half", False)

    def test_ignored_and_several(self) -> None:
        """An ignored argument is not handed on; one argument may be two of the target's."""
        row = {"to": "total", "rename": {"dim": ["axis", "keepdims"]}, "ignored": ["device"]}
        assert dialect({"sum": row}).resolve("sum")("x", dim=7, device="cpu") == ("total", "x", 7, None, 7)

    @pytest.mark.parametrize("size", [(2, 3), ((2, 3),), ([2, 3],)])
    def test_sizes(self, size: tuple[Any, ...]) -> None:
        """`*size` are several arguments or one list."""
        row = {"args": ["input", "*size"], "rename": {"input": "a", "size": "shape"}}
        name, a, shape = dialect({"reshape": row}).resolve("reshape")("x", *size)
        assert (name, a, list(shape)) == ("reshape", "x", [2, 3])

    def test_fields(self) -> None:
        """Several results get PyTorch's names; one result stays what it is."""
        named = dialect({"min": {"to": "extremes", "fields": ["values", "indices"]}}).resolve("min")("x", 1)
        assert (named.values, named.indices) == (("low", "x", 1), ("place", "x", 1))
        assert dialect({"abs": {"to": "absolute", "fields": ["a", "b", "c"]}}).resolve("abs")("x") == ("absolute", "x")

    def test_plain_objects(self) -> None:
        """What cannot be called is itself."""
        assert dialect({"float32": {}}).resolve("float32") == "single"


class TestRefusals:
    """Arguments that PyTorch or the target does not take."""

    @pytest.mark.parametrize(
        ("args", "kwargs", "words"),
        [
            (("x", 1, True, "half"), {}, "sum takes 3 arguments by place, but was given 4"),
            (("x",), {"dims": 1}, "sum got an unexpected keyword argument 'dims'"),
            (("x", 1), {"dim": 2}, "sum got several values for argument 'dim'"),
            (("x", 1), {"axis": 2}, "sum got several values for argument 'dim'"),
        ],
    )
    def test_not_pytorchs(self, args: tuple[Any, ...], kwargs: dict[str, Any], words: str) -> None:
        """What PyTorch would not take either is a TypeError that says what."""
        with pytest.raises(TypeError) as raised:
            dialect({"sum": SUM}).resolve("sum")(*args, **kwargs)
        assert str(raised.value) == words

    def test_not_the_targets(self) -> None:
        """An unsupported argument is refused with a sentence, but where it asks for nothing."""
        call = dialect({"sum": SUM}).resolve("sum")
        assert call("x", out=None) == call("x")
        with pytest.raises(NotImplementedError) as raised:
            call("x", out="y")
        assert str(raised.value) == "total has no argument 'out' of sum"

    def test_nothing_is_exact(self) -> None:
        """0 is not False: what asks for nothing has the type that the row says."""
        call = dialect({"sum": {"to": "total", "unsupported": {"stable": False}}}).resolve("sum")
        assert call("x", stable=False) == ("total", "x", None, None, False)
        with pytest.raises(NotImplementedError):
            call("x", stable=0)

    def test_unmapped(self) -> None:
        """Without a row nobody has said what it is there."""
        with pytest.raises(UnmappedOp) as raised:
            dialect({"sum": SUM}).resolve("cumsum")
        assert str(raised.value) == "the dialect of toy has no row for 'cumsum'"

    def test_missing(self) -> None:
        """A row that names what is not there is another thing than none."""
        with pytest.raises(MissingOp) as raised:
            dialect({"cumsum": {"to": "nn.cumsum"}}).resolve("cumsum")
        assert type(raised.value) is MissingOp
        assert str(raised.value) == "toy has no 'nn.cumsum', which its dialect has for 'cumsum'"


class TestTensors:
    """Methods and attributes."""

    def test_own_method(self) -> None:
        """A method's row is one without the tensor."""
        rows = {"Tensor.total": {"to": "Tensor.sum", "args": ["dim", "*", "out"], "rename": {"dim": "axis"}}}
        assert dialect(rows).attribute(Array(), "total")(1) == ("method", 1)
        assert dialect({"Tensor.sum": {}}).attribute(Array(), "sum")(2) == ("method", 2)

    def test_method_that_is_a_function(self) -> None:
        """A method may be a function of the target, under its own row or the function's."""
        x = Array()
        assert dialect({"Tensor.sum": {"to": "total"}}).attribute(x, "sum")(1) == ("total", x, 1, None, False)
        assert dialect({"sum": SUM}).attribute(x, "sum")(1, True) == ("total", x, 1, None, True)
        assert dialect({"clamp": {"code": "clamp"}}).attribute(x, "clamp")(1) == ("clamp", x, 1, 9)

    def test_attributes(self) -> None:
        """An attribute is read, or asked for where the target has a method or code."""
        x = Array()
        assert dialect({"Tensor.shape": {}}).attribute(x, "shape") == (2, 3)
        assert dialect({"Tensor.size": {"to": "Tensor.shape"}}).attribute(x, "size") == (2, 3)
        assert dialect({"Tensor.width": {"get": True}}).attribute(x, "width") == 3
        assert dialect({"Tensor.T": {"get": True, "code": "spread"}}).attribute(x, "T") == ("spread", x)

    def test_refusals(self) -> None:
        """No row, and a row of what the tensor does not have."""
        with pytest.raises(UnmappedOp) as unmapped:
            dialect({}).attribute(Array(), "sum")
        assert str(unmapped.value) == "the dialect of toy has no row for 'Tensor.sum'"
        with pytest.raises(MissingOp) as missing:
            dialect({"Tensor.sum": {"to": "Tensor.add_up"}}).attribute(Array(), "sum")
        assert str(missing.value) == "toy has no 'Tensor.add_up', which its dialect has for 'Tensor.sum'"


class TestClasses:
    """What a divergence is shown with."""

    def test_kinds(self) -> None:
        """`same`, `renamed`, `code`: of a path, and of the method that is a function."""
        rows: dict[str, dict[str, Any]] = {
            "abs": {},
            "sum": SUM,
            "clamp": {"code": "clamp"},
            "Tensor.abs": {"to": "absolute"},
        }
        said = dialect(rows)
        kinds = {path: row.kind for path in (*rows, "Tensor.sum") if (row := said.row(path)) is not None}
        assert kinds == {
            "abs": "same",
            "sum": "renamed",
            "clamp": "code",
            "Tensor.abs": "renamed",
            "Tensor.sum": "renamed",
        }
        assert said.row("cumsum") is None
        assert len(said) == 4

    @pytest.mark.parametrize(
        "row", [{"args": ["input"]}, {"rename": {"a": "b"}}, {"constants": {"a": 1}}, {"fields": ["a"]}, {"get": True}]
    )
    def test_every_field_renames(self, row: dict[str, Any]) -> None:
        """No field changes a call that is still called the same."""
        assert Row.from_json("x", row).kind == "renamed"


class TestFiles:
    """The file, and what is damaged in one."""

    def test_one_row_a_line(self, tmp_path: Path) -> None:
        """What is written is read again, sorted, a row in each line."""
        rows: dict[str, dict[str, Any]] = {"sum": SUM, "abs": {"rename": {"a": ["b", "c"]}}}
        text = written("of a test", rows)
        assert [line.partition(":")[0] for line in text.splitlines()[2:4]] == ['"abs"', '"sum"']
        (tmp_path / "toy.json").write_text(text)
        assert read(tmp_path / "toy.json") == [Row.from_json(path, rows[path]) for path in sorted(rows)]
        assert Dialect.load("toy", tmp_path / "toy.json", FRAMEWORK, CODE).resolve("sum")("x") == total("x")

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ('{"rows": {"a": {}, "a": {}}}', "'a' is there twice, but should be once"),
            (
                '{"rows": {"a": {"too": "b"}}}',
                "field 'too', but should be one of "
                "args, code, constants, fields, get, ignored, places, rename, to, unsupported [a]",
            ),
            (
                '{"rows": {"a": {"args": ["x", "*", "y"], "rename": {"z": "x"}}}}',
                "argument 'z', but should be one of x, y [a]",
            ),
            (
                '{"rows": {"a": {"rename": {"z": "x"}, "ignored": ["z"]}}}',
                "argument 'z' is said twice of, but should be once [a]",
            ),
            ("{}", "'rows'"),
        ],
    )
    def test_damaged(self, text: str, words: str, tmp_path: Path) -> None:
        """The message names the file, the row and what it should be."""
        (tmp_path / "toy.json").write_text(text)
        with pytest.raises(DialectError) as raised:
            read(tmp_path / "toy.json")
        assert str(raised.value) == f"toy.json is no dialect: {words}"

    @pytest.mark.parametrize("name", ["nothing", "number"])
    def test_code_that_is_not_there(self, name: str) -> None:
        """A function that a row names is looked for when the dialect is made."""
        with pytest.raises(DialectError) as raised:
            dialect({"clamp": {"code": name}})
        assert str(raised.value) == f"code={name!r}, but should be a function of the adapter's module [clamp]"

    def test_text_is_json(self) -> None:
        """Nothing but JSON: 3.10 reads no TOML."""
        assert json.loads(written('about "it"', {})) == {"about": 'about "it"', "rows": {}}


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({}, ""),
        ({"args": ["input", "dim"], "ignored": ["dim"]}, ""),
        ({"to": "nn.relu"}, "renamed to nn.relu"),
        ({"args": ["input", "dim"], "rename": {"dim": "axis", "input": "input"}}, "arguments dim=axis"),
        (
            {"to": "pad", "args": ["p"], "rename": {"p": ["a", "b"]}, "constants": {"mode": "x"}},
            "renamed to pad, arguments p=a=b, always mode='x'",
        ),
        ({"code": "median"}, "median, a function written for it"),
    ],
)
def test_words_of_a_row(data: dict[str, Any], words: str) -> None:
    """People are told what becomes of an op, and of those that stay the same nothing."""
    dialect = Dialect("it", [Row.from_json("op", data)], None, {"median": len})
    assert dialect.translations() == ({"op": words} if words else {})


def test_translation_of_a_call() -> None:
    """A method has a row of its own, or that of the function; an operator is what Python makes of it."""
    info = TargetInfo("it", {}, (), (), translations={"sum": "as a function", "Tensor.max": "as a method", "add": "no"})

    def told(kind: Any, op: str) -> str:
        return info.translation(Call(kind, op, (), {}))

    assert [told("function", "sum"), told("method", "sum")] == ["as a function"] * 2
    assert told("method", "max") == "as a method"
    assert (told("function", "max"), told("operator", "add"), told("get", "max")) == ("", "", "as a method")
