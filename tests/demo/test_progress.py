"""The progress bar, on a terminal that is played and on none."""

import io

import pytest

from xlaops.demo.progress import Progress


class _Stream(io.StringIO):
    def __init__(self, is_terminal, encoding="utf-8"):
        super().__init__()
        self._is_terminal, self._encoding = is_terminal, encoding

    def isatty(self):
        return self._is_terminal

    @property
    def encoding(self):
        return self._encoding


def test_lines_where_there_is_no_terminal():
    stream = _Stream(is_terminal=False)
    with Progress(stream) as progress:
        for i in range(401):
            progress.update(i, 400, f"step {i}")
    lines = stream.getvalue().splitlines()
    assert len(lines) == 11
    assert lines[0] == "  0 %  step 0"
    assert lines[5] == " 50 %  step 200"
    assert lines[-1] == "100 %  step 400"


def test_few_steps_are_lines_as_well():
    stream = _Stream(is_terminal=False)
    with Progress(stream) as progress:
        for i in range(4):
            progress.update(i, 3)
    percents = [line.split()[0] for line in stream.getvalue().splitlines()]
    assert percents == ["0", "33", "66", "100"]


@pytest.mark.parametrize(("encoding", "full"), [("utf-8", "━"), ("ascii", "#")])
def test_a_bar_on_a_terminal(monkeypatch, encoding, full):
    monkeypatch.setenv("COLUMNS", "60")
    stream = _Stream(is_terminal=True, encoding=encoding)
    with Progress(stream) as progress:
        progress.update(0, 10, "begin")
        progress.update(5, 10, "too soon to be drawn")
        progress.update(10, 10, "end " * 30)
    text = stream.getvalue()
    assert text.endswith("\n")
    assert text.count("\n") == 1
    drawn = text.rstrip("\n").replace("\x1b[K", "").split("\r")[1:]
    assert len(drawn) == 2
    assert full not in drawn[0]
    assert drawn[0].endswith("  0 %  begin")
    assert drawn[1].startswith(full * 28 + " 100 %  end end")
    assert max(map(len, drawn)) < 60


def test_the_line_is_closed_when_something_goes_wrong():
    stream = _Stream(is_terminal=True)

    def work():
        with Progress(stream) as progress:
            progress.update(1, 2)
            raise KeyError

    with pytest.raises(KeyError):
        work()
    assert stream.getvalue().endswith("\n")


def test_nothing_is_written_if_nothing_was_shown():
    stream = _Stream(is_terminal=True)
    with Progress(stream):
        pass
    assert stream.getvalue() == ""
