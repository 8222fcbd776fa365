"""One test's counts are one string that XML and pytest-xdist can carry."""

from __future__ import annotations

import numpy
import pytest

from reports import PlainError, junit_property


def test_one_string():
    """Keys are sorted, NumPy scalars are numbers, other scripts are escaped."""
    pair = junit_property({"skipped": {"no \u00e9": numpy.int64(2)}, "aligned": 3})
    assert pair == ("autotest", '{"aligned":3,"skipped":{"no \\u00e9":2}}')


def test_what_is_not_plain_is_refused():
    """An array or a key which is no string is named."""
    with pytest.raises(PlainError) as caught:
        junit_property({"aligned": numpy.zeros(2)})
    assert str(caught.value) == (
        "value['aligned']=<numpy.ndarray>, but should be plain data: None, bool, int, finite float, str, "
        "list or dict with str keys [junit_property]"
    )
    with pytest.raises(PlainError) as caught:
        junit_property({1: 2})
    assert str(caught.value) == "key=1, but should be a str [junit_property]"
