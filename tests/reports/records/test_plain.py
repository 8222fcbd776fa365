"""What is written is plain data, whole and finite."""

from __future__ import annotations

import numpy
import pytest

from reports import PlainError
from reports.records.plain import encode

EXPECTED = "plain data: None, bool, int, finite float, str, list or dict with str keys"


def test_numpy_scalars_become_numbers():
    """NumPy scalars are written as Python's numbers."""
    value = [numpy.int64(3), numpy.float32(0.5), numpy.bool_(True), numpy.float64(0.25), numpy.array(2)]
    assert encode(value, "here") == "[3,0.5,true,0.25,2]"


def test_one_ascii_line():
    """Line ends, other scripts and lone surrogates are escaped."""
    assert encode("a\n\u2028\u00e9\ud800", "here") == '"a\\n\\u2028\\u00e9\\ud800"'


class Tensor:
    """A 0-dim tensor of some framework: reading it may wait for a device."""

    shape = ()

    def item(self):
        """Fail: nothing should read it."""
        raise AssertionError


@pytest.mark.parametrize(
    ("value", "offender"),
    [
        ({"a": [1, float("inf")]}, "value['a'][1]=inf"),
        ({"a": numpy.float32("nan")}, "value['a']=nan"),
        ({"a": {1, 2}}, "value['a']=<builtins.set>"),
        ({"a": numpy.zeros(2)}, "value['a']=<numpy.ndarray>"),
        ({("a",): 1}, "key of value=<builtins.tuple>"),
        ([Tensor()], f"value[0]=<{__name__}.Tensor>"),
    ],
)
def test_offender_is_named(value, offender):
    """The sentence names the part which is not plain."""
    with pytest.raises(PlainError) as caught:
        encode(value, "here")
    assert str(caught.value) == f"{offender}, but should be {EXPECTED} [here]"


def test_loop_is_refused():
    """A list which holds itself is refused and no crash."""
    loop = []
    loop.append(loop)
    with pytest.raises(PlainError, match=r"but should be plain data"):
        encode(loop, "here")
