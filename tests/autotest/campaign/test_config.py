"""The keys of a campaign's file: what they mean, and what is said of each that means nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from autotest.campaign.config import Config, read_config
from autotest.errors import UsageError


def written(folder: Path, text: str) -> Path:
    """A file of a campaign, in the current folder."""
    path = folder / "night.toml"
    path.write_text(text)
    return Path("night.toml")


@pytest.fixture(autouse=True)
def _inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "test_own.py").write_text("")


def test_keys(tmp_path: Path) -> None:
    """Each key of a file means what the option of its name does."""
    text = """
target = "torch:fx"
time = "1h30m"
cases = 1000
seed = 7
folder = "here"
processes = 2
ray = "local"
sources = ["programs"]
tests = ["test_own.py"]
steering = "uniform"
look = 0.5
inputs = "edge"
eager = true
case_timeout = 5
memory_limit = "1G"
"""
    config = read_config(written(tmp_path, text), {})
    assert config == Config(
        target="torch:fx",
        time=5400.0,
        cases=1000,
        seed=7,
        folder=Path("here"),
        processes="2",
        ray="local",
        sources=("programs",),
        tests=("test_own.py",),
        steering="uniform",
        look=0.5,
        inputs="edge",
        eager=True,
        case_timeout=5.0,
        memory_limit=1 << 30,
        given=config.given,
    )


def test_options_go_before_the_file(tmp_path: Path) -> None:
    """What is typed counts; what is not typed is the file's, or the default."""
    config = read_config(written(tmp_path, 'time = "1h"\nseed = 7'), {"seed": "8", "target": None, "sources": ()})
    assert (config.time, config.seed, config.target) == (3600.0, 8, "oneflow")


def test_a_campaign_is_the_same_however_it_is_given(tmp_path: Path) -> None:
    """By a file or typed, with its defaults or without: the same command goes on, and so does the other."""
    (tmp_path / "test_own.py").write_text("")
    own = str(tmp_path / "test_own.py")
    text = f'time = "1h"\nseed = 0\nsources = ["programs"]\ntests = ["{own}"]'
    typed = {"cases": "100", "sources": ("programs",), "tests": (own,)}
    identities = [read_config(written(tmp_path, text), {}).identity, read_config(None, typed).identity]
    assert json.loads(json.dumps(identities)) == identities
    assert (
        identities
        == [
            {
                "target": "oneflow",
                "seed": 0,
                "inputs": "standard",
                "eager": False,
                "sources": ["programs"],
                "tests": [own],
                "calls": [],
                "steering": "finds",
            }
        ]
        * 2
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "a campaign has no end, but should have one: give --time 8h or --cases 100000, or both"),
        (
            "cases = 0",
            "cases='0', but should be a whole number of at least 1 [night.toml: cases]",
        ),
        (
            'time = "soon"',
            "time='soon', but should be a time such as 8h, 30m, 1h30m or 90 (seconds), of more than 0 "
            "[night.toml: time]",
        ),
        (
            "time = 0",
            "time='0', but should be a time such as 8h, 30m, 1h30m or 90 (seconds), of more than 0 [night.toml: time]",
        ),
        (
            'time = "1h"\ntarget = "flow"',
            "target='flow', but should be one of jax, oneflow, paddle, torch, torch:EXECUTOR, package.module:Class, "
            "or a name in pyproject.toml; did you mean oneflow? [night.toml: target]",
        ),
        ('time = "1h"\ntarget = true', "target=True, but should be a text or a number [night.toml: target]"),
        ('time = "1h"\neager = "yes"', "eager='yes', but should be true or false [night.toml: eager]"),
        ('time = "1h"\nseed = -1', "seed='-1', but should be a whole number of at least 0, or 'random' "
                                   "[night.toml: seed]"),
        (
            'time = "1h"\nsources = ["suite"]',
            "sources='suite', but should be one of suites, programs, calls, mutations; did you mean suites? "
            "[night.toml: sources]",
        ),
        ('time = "1h"\nsources = "suites"', "sources='suites', but should be a list of texts [night.toml: sources]"),
        (
            'time = "1h"\nsources = []',
            "sources=[] leaves nothing to run, but should name some, or tests should [--sources, --tests]",
        ),
        (
            'time = "1h"\ntests = ["test_none.py"]',
            "tests='test_none.py', but should be a file or folder of tests that is there, or a node id of such a file "
            "[night.toml: tests]",
        ),
        (
            'time = "1h"\nprocesses = "many"',
            "processes='many', but should be a whole number of at least 1, or 'auto' [night.toml: processes]",
        ),
        (
            'time = "1h"\nray = " "',
            "ray=' ', but should be the address of a Ray cluster, or 'local' for one that is started here "
            "[night.toml: ray]",
        ),
        (
            'time = "1h"\nsteering = "best"',
            "steering='best', but should be one of finds, cells, uniform [night.toml: steering]",
        ),
        ('time = "1h"\nlook = 2', "look='2', but should be a share of the time, from 0 to 1 [night.toml: look]"),
        (
            'time = "1h"\nbudget = 3',
            "night.toml: budget is no key, but should be one of time, cases, folder, processes, ray, sources, tests, "
            "calls, steering, look, target, target_python, seed, inputs, eager, ledger, case_timeout, memory_limit",
        ),
        ("time = ", "night.toml is no TOML: Invalid value (at end of document)"),
    ],
)  # fmt: skip
def test_what_means_nothing(tmp_path: Path, text: str, said: str) -> None:
    """The sentence names the key, what it should be, and where it stands."""
    with pytest.raises(UsageError) as caught:
        read_config(written(tmp_path, text), {})
    assert str(caught.value) == said


def test_a_file_of_tests(tmp_path: Path) -> None:
    """Who gives a test file in place of the campaign's is told the option for it."""
    path = tmp_path / "test_mine.py"
    path.write_text("import torch\n")
    with pytest.raises(UsageError) as caught:
        read_config(path, {})
    assert str(caught.value) == (
        f"{path} is no TOML: Expected '=' after a key in a key/value pair (at line 1, column 8); a campaign draws from "
        f"test files by --tests {path}"
    )


def test_missing_file() -> None:
    """A file that is not there is named."""
    with pytest.raises(UsageError) as caught:
        read_config(Path("none.toml"), {})
    assert str(caught.value) == "none.toml cannot be read: No such file or directory"


def test_option_that_means_nothing() -> None:
    """The sentence names the option that was typed."""
    with pytest.raises(UsageError) as caught:
        read_config(None, {"cases": "few"})
    assert str(caught.value) == "cases='few', but should be a whole number of at least 1 [--cases]"
