"""The one table of a run's options: whatever is expanded from it, and whatever documents it, says the same."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import pytest
from click.testing import CliRunner

from autotest.api import decorator
from autotest.cli import main
from autotest.commands.run import pytest_arguments
from autotest.errors import UsageError
from autotest.options import OPTIONS, Option, RunOptions, TestOptions
from support.documents import table

COMMAND = [option for option in OPTIONS.values() if option.run is not None]
PYTEST = [option for option in OPTIONS.values() if option.pytest is not None]
#: Of `RunOptions`: where a run is, which nobody is asked for.
PLACE = {
    *("folder", "root", "worker", "first", "laid_out", "settled", "avoided"),
    *("command", "selection", "commit", "width"),
}


def typed(cell: str) -> str:
    """The option that a cell of a table starts with, without what stands for its value; empty where it has none."""
    found = re.match(r"`(-[-a-z]+)", cell)
    return found[1] if found else ""


@pytest.mark.parametrize("option", PYTEST, ids=lambda option: option.name)
def test_default_is_that_of_the_field(option: Option) -> None:
    """The default text of a row means what `RunOptions` has where nothing is said."""
    [field] = [field for field in dataclasses.fields(RunOptions) if field.name == (option.field or option.name)]
    assert option.read(option.default) == field.default
    assert type(option.read(option.default)) is type(field.default) or field.name == "report"


def test_each_field_has_a_row() -> None:
    """What a run is asked for can be given to pytest, all of it and once."""
    filled = [option.field or option.name for option in PYTEST]
    assert sorted(filled) == sorted({field.name for field in dataclasses.fields(RunOptions)} - PLACE)


def test_command_has_the_rows() -> None:
    """`autotest run` has the options with a face for it, in this order, with these defaults and helps."""
    run = main.commands["run"]
    found = [param for param in run.params if isinstance(param, click.Option)]
    assert [(param.opts, param.default, param.help) for param in found] == [
        ([option.typed], option.default, option.run.help) for option in COMMAND if option.run is not None
    ]


def test_pytest_has_the_rows(pytestconfig: pytest.Config) -> None:
    """pytest has the options with a face for it; its help names their defaults."""
    [group] = [group for group in pytestconfig._parser._groups if group.name == "autotest"]
    assert [option.names() for option in group.options] == [[option.typed_for_pytest] for option in PYTEST]
    assert [option.default for option in group.options] == [option.default for option in PYTEST]
    for option in PYTEST:
        assert option.pytest is not None
        assert ("(default: %(default)s" in option.pytest.help) == isinstance(option.default, str)


@pytest.mark.parametrize(
    ("given", "arguments"),
    [
        ({}, []),
        ({"cases": 5, "shard": None}, ["--autotest-cases=5"]),
        ({"drop_in": True, "no_memory": False}, ["--autotest-drop-in"]),
        ({"ledger": ()}, []),
        ({"ledger": ("a.toml", "suites")}, ["--autotest-ledger=a.toml", "--autotest-ledger=suites"]),
        ({"case_timeout": "0", "shrink": 0}, ["--autotest-case-timeout=0", "--autotest-shrink=0"]),
    ],
)
def test_arguments_of_pytest(given: dict[str, Any], arguments: list[str]) -> None:
    """Given options become pytest's by name; what was not given is left to pytest's default."""
    assert pytest_arguments(given) == arguments


@pytest.mark.parametrize(
    ("command", "option", "sentence"),
    [
        ("run", "-k", "No such option '-k'. Options of pytest go behind --, as in autotest run tests -- -k relu"),
        ("tolerances", "-x", "No such option '-x'. Options of pytest go behind --, as in "
         "autotest tolerances tests -- -k relu"),
        ("run", "--reprot", "No such option '--reprot'. (Did you mean one of: '--report', '--repro-total'?)"),
    ],
)  # fmt: skip
def test_options_of_pytest_go_behind_dashes(command: str, option: str, sentence: str) -> None:
    """An option of pytest's among ours is told where it belongs; one of ours that is mistyped, what was meant."""
    result = CliRunner().invoke(main, [command, "tests", option, "relu"], prog_name="autotest")
    assert result.exit_code == 2
    assert result.output.endswith(f"\nError: {sentence}\n")


@pytest.mark.parametrize(
    ("option", "text", "sentence"),
    [
        ("--report", "", "report='', but should be the path of a folder [--report]"),
        ("--report", __file__, f"report={__file__!r}, but should be the path of a folder [--report]"),
        ("--report", f"{__file__}/in", f"report='{__file__}/in', but should be the path of a folder [--report]"),
        ("--seed", "x", "seed='x', but should be a whole number of at least 0, or 'random' [--seed]"),
        (
            "--target",
            "t",
            "target='t', but should be one of jax, oneflow, paddle, torch, torch:EXECUTOR, package.module:Class, or a "
            "name in pyproject.toml [--target]",
        ),
        (
            "--target",
            "padle",
            "target='padle', but should be one of jax, oneflow, paddle, torch, torch:EXECUTOR, package.module:Class, "
            "or a name in pyproject.toml; did you mean paddle? [--target]",
        ),
        (
            "--target",
            "torch:inductr",
            "executor='inductr', but should be one of fx, make_fx, trace, script, eager, aot_eager, "
            "aot_eager_decomp_partition, inductor, export, export_decomp, lazy, refs, meta, fake, onnxruntime, iree; "
            "did you mean inductor? [--target torch:EXECUTOR]",
        ),
        (
            "--target",
            "oneflow,torch:eager",
            "target='oneflow,torch:eager', but should be one target, or executors of PyTorch alone, such as "
            "torch:eager,torch:inductor [--target]",
        ),
        ("--case-timeout", "-1", "case_timeout='-1', but should be a number of seconds of at least 0 [--case-timeout]"),
        (
            "--ledger",
            "no.toml",
            "ledger='no.toml', but should be an existing file of known divergences, or 'suites': those of the suites "
            "[--ledger]",
        ),
    ],
)
@pytest.mark.parametrize("words", [["run", "-n", "0"], ["run", "--ranks", "2"], ["check", "x[2] + 1"]], ids=" ".join)
def test_refused_by_the_option_that_was_typed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, words: list[str], option: str, text: str, sentence: str
) -> None:
    """A value that means nothing is told of by the name that the command line has for it, before pytest starts."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("pytest.main", lambda *_, **__: pytest.fail("pytest was started"))
    monkeypatch.setattr("psutil.virtual_memory", lambda: SimpleNamespace(available=8 << 30))
    result = CliRunner().invoke(main, [*words, option, text])
    assert result.exit_code == 2
    assert result.output.endswith(f"\nError: {sentence}\n")


def test_command_line_reaches_pytest(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every option of `autotest run` that pytest has reaches it as typed."""
    calls: list[list[str]] = []

    def run(arguments: list[str], plugins: object) -> int:
        calls.append(arguments)
        return 0

    monkeypatch.setattr("pytest.main", run)
    values = {
        "target": "torch",
        "target_python": sys.executable,
        "override": f"torch.sin={__file__}:sin",
        "cases": "3",
        "inputs": "edge",
        "coverage": "pairs",
        "isolate": "never",
        "shard": "1/2",
        "ledger": "suites",
    }
    both = [option for option in COMMAND if option.pytest is not None]
    given, expected = ["run", "-n", "0"], []
    for option in both:
        text = values.get(option.name, "7")
        given += [option.typed] if option.kind.flag else [option.typed, text]
        expected.append(option.typed_for_pytest + ("" if option.kind.flag else f"={text}"))
    result = CliRunner().invoke(main, given)
    assert result.exit_code == 0, result.output
    [arguments] = calls
    assert sorted(argument for argument in arguments if argument.startswith("--autotest-")) == sorted(expected)


def test_knob_is_where_it_was_given() -> None:
    """A refusal names pytest's option, or the one that it is told."""
    option = OPTIONS["case_timeout"]
    sentence = "case_timeout='soon', but should be a number of seconds of at least 0"
    for knob, named in ((None, "--autotest-case-timeout"), ("--case-timeout", "--case-timeout")):
        with pytest.raises(UsageError) as caught:
            option.read("soon", knob)
        assert str(caught.value) == f"{sentence} [{named}]"


def test_random_seeds_differ() -> None:
    """`random` is another seed each time."""
    assert len({OPTIONS["seed"].read("random") for _ in range(5)}) > 1


def documented(option: Option) -> str | None:
    """The default as the tables show it; None where they say it in words."""
    return "off" if option.kind.flag else None if option.default is None else f"`{option.default}`"


def test_table_of_the_command() -> None:
    """docs/command-line.md has every option of `autotest run` with its default."""
    rows = table("docs/command-line.md", "## autotest run")
    assert sorted(typed(cells[0]) for cells in rows) == sorted(option.typed for option in COMMAND)
    defaults = {typed(cells[0]): cells[1] for cells in rows}
    for option in COMMAND:
        default = defaults[option.typed]
        expected = documented(option)
        assert default == expected if expected else not re.fullmatch("`[^`]*`|off", default), option.typed


def test_table_of_pytest() -> None:
    """docs/command-line.md has every option of pytest, and what it is called for `autotest run`."""
    rows = table("docs/command-line.md", "## pytest")
    assert [typed(cells[0]) for cells in rows] == [option.typed_for_pytest for option in PYTEST]
    for option, cells in zip(PYTEST, rows, strict=True):
        assert (typed(cells[1]) == option.typed) == (option.run is not None), option.name


def test_options_of_a_test_are_declared_alike() -> None:
    """The signature of `@autotest`, its docstring and docs/writing-tests.md have the fields of `TestOptions`."""
    fields = {field.name: field.default for field in dataclasses.fields(TestOptions)}
    functions = [node for node in ast.parse(inspect.getsource(decorator)).body if isinstance(node, ast.FunctionDef)]
    signature = next(node.args for node in functions if node.args.kwonlyargs)
    declared = zip(signature.kwonlyargs, signature.kw_defaults, strict=True)
    assert {argument.arg: ast.literal_eval(default) for argument, default in declared if default} == fields
    told = re.findall(r"^ {8}([a-z_, ]+): ", decorator.autotest.__doc__ or "", re.MULTILINE)
    assert [name for names in told for name in names.split(", ")] == ["body", *fields]
    rows = table("docs/writing-tests.md", "| option of `@autotest` | default | meaning |")
    documented = {name: cells[1] for cells in rows for name in re.findall("`([a-z_]+)`", cells[0])}
    assert documented.keys() == fields.keys()
    words = {"rtol": "the dtype's own", "atol": "the dtype's own", "inputs": "the run's", "seed": "the run's"}
    for name, default in fields.items():
        plain = f'`"{default}"`' if isinstance(default, str) else str(default)
        assert documented[name] == words.get(name, plain)
