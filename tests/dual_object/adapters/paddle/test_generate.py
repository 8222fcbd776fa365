"""Paddle's dialect: what becomes of a row of PaConvert's tables, and that the table is what they give."""

from __future__ import annotations

import importlib.util
from typing import Any

import pytest

from dual_object.adapters.dialect import Row, read
from dual_object.adapters.paddle.generate import TABLE, generated, rows


def row(name: str, **entry: Any) -> Any:
    """The row of one entry of PaConvert's, None where there is none."""
    return rows({name: entry}, {}, {}).get(name.partition(".")[2])


class TestRows:
    """What PaConvert says, as a dialect says it."""

    def test_prefix(self) -> None:
        """The same call, under the same name or another; a method that is a function."""
        assert row("torch.abs", Matcher="ChangePrefixMatcher") == {}
        assert row("torch.float", Matcher="ChangeAPIMatcher", paddle_api="paddle.float32") == {"to": "float32"}
        method = row("torch.Tensor.det", Matcher="TensorFunc2PaddleFunc", paddle_api="paddle.linalg.det")
        assert method == {"to": "linalg.det"}

    def test_attribute(self) -> None:
        """An attribute that Paddle has as a method."""
        entry = {"torch.Tensor.imag": {"Matcher": "Attribute2Func", "paddle_api": "paddle.Tensor.imag"}}
        assert rows({}, entry, {}) == {"Tensor.imag": {"get": True}}

    def test_names(self) -> None:
        """Arguments are renamed, left out, or refused unless they ask for nothing."""
        entry = {
            "paddle_api": "paddle.nn.functional.celu",
            "args_list": ["input", "alpha", "inplace", "*", "device", "mode", "out", "seed"],
            "kwargs_change": {"input": "x", "alpha": "alpha", "inplace": "", "seed": "", "strange": "y"},
            "unsupport_args": ["mode"],
            "paddle_default_kwargs": {"axis": "-1", "training": "False"},
        }
        assert row("torch.celu", Matcher="GenericMatcher", **entry) == {
            "to": "nn.functional.celu",
            "args": ["input", "alpha", "inplace", "*", "device", "mode", "out", "seed"],
            "rename": {"input": "x"},
            "constants": {"axis": -1, "training": False},
            "ignored": ["device", "seed"],
            "unsupported": {"mode": None, "inplace": False, "out": None},
        }

    def test_named_by_paddle(self) -> None:
        """What Paddle has a name for is handed on, whatever it is called."""
        entry = {"args_list": ["dtype", "device"], "kwargs_change": {"dtype": "dtype", "device": "place"}}
        assert row("torch.x", Matcher="GenericMatcher", paddle_api="paddle.x", **entry) == {
            "args": ["dtype", "device"],
            "rename": {"device": "place"},
        }

    @pytest.mark.parametrize(
        ("name", "entry"),
        [
            ("torch.addbmm", {"Matcher": "AddBmmMatcher"}),
            ("torch.align_as", {}),
            ("torch.cuda.seed", {"Matcher": "ChangePrefixMatcher"}),
            ("torchvision.ops.nms", {"Matcher": "ChangePrefixMatcher"}),
            ("torch.x", {"Matcher": "GenericMatcher", "paddle_default_kwargs": {"dtype": "paddle.float32"}}),
        ],
    )
    def test_no_row(self, name: str, entry: dict[str, Any]) -> None:
        """What PaConvert writes code for, does not convert, or no Program calls."""
        assert row(name, **entry) is None

    def test_aliases(self) -> None:
        """An alias is called as what it stands for; one with a row of its own keeps that."""
        apis = {"torch.abs": {"Matcher": "ChangePrefixMatcher"}, "torch.neg": {"Matcher": "ChangePrefixMatcher"}}
        aliases = {"torch.absolute": "torch.abs", "torch.neg": "torch.abs", "torch.no": "torch.nothing"}
        assert rows(apis, {}, aliases) == {"abs": {}, "neg": {}, "absolute": {"to": "abs"}}


class TestTable:
    """The table that is checked in."""

    def test_is_a_dialect(self) -> None:
        """Both tables are read, and have each kind of row."""
        table = {row.path: row for row in read(TABLE)}
        assert len(table) == 1288
        assert [row.kind for row in table.values()].count("same") == 892
        by_hand = read(TABLE.with_name("by_hand.json"))
        assert {row.kind for row in by_hand} == {"renamed", "code"}
        assert table["nn.functional.celu"] == Row(
            "nn.functional.celu",
            args=("input", "alpha", "inplace"),
            rename={"input": "x"},
            unsupported={"inplace": False},
        )

    def test_by_hand_says_otherwise(self) -> None:
        """No row is written by hand that says what the generated one says."""
        table = {row.path: row for row in read(TABLE)}
        idle = [row.path for row in read(TABLE.with_name("by_hand.json")) if table.get(row.path) == row]
        assert idle == []

    @pytest.mark.skipif(importlib.util.find_spec("paconvert") is None, reason="paconvert is not installed")
    def test_is_what_paconvert_gives(self) -> None:
        """The table is made anew to the letter."""
        assert generated() == TABLE.read_text(encoding="utf-8")
