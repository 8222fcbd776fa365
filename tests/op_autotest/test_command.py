"""The command, before it has read itself."""

from __future__ import annotations

import pytest

from op_autotest import command


def test_interrupted_while_it_is_read(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Ctrl-C in the first half second has one word and the status of a run that is interrupted."""

    def interrupted(name: str) -> None:
        assert name == "autotest.cli"
        raise KeyboardInterrupt

    monkeypatch.setattr("importlib.import_module", interrupted)
    with pytest.raises(SystemExit) as ended:
        command.main()
    assert (ended.value.code, capsys.readouterr().err) == (2, "interrupted\n")
