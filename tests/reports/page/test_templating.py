"""Text becomes HTML or script in one place, where nothing in it can end what it stands in."""

from __future__ import annotations

import json

import pytest
from jinja2 import TemplateNotFound, UndefinedError

from reports import PlainError
from reports.page.templating import script, script_call, script_data, style, template

HOSTILE = "</script><script>alert(1)</script><!-- & \u2028\u2029 \ud800"


def test_script_data_holds_no_markup():
    """The data of a script has neither tags nor entities nor line ends of its own, and means what it meant."""
    text = script_data({HOSTILE: [HOSTILE]})
    assert text.isascii()
    assert not set("<>&\n") & set(text)
    assert json.loads(text) == {HOSTILE: [HOSTILE]}


def test_script_call():
    """A data file is one call of one function, on one line."""
    assert script_call("autotest.detail", {"a": "</script>"}) == ('autotest.detail({"a":"\\u003c/script\\u003e"});\n')


def test_data_that_is_not_plain():
    """What JSON has no word for is refused by name."""
    with pytest.raises(PlainError) as caught:
        script_data({"a": [float("nan")]})
    assert str(caught.value) == (
        "value['a'][0]=nan, but should be plain data: None, bool, int, finite float, str, list or dict with str keys "
        "[report]"
    )


def test_template_lacks_something():
    """A page that lacks one of its values is an error and no empty place."""
    with pytest.raises(UndefinedError, match=r"^'css' is undefined$"):
        template("index.html.j2").render(
            title="t", changes=[], graph=None, notices=[], first=[], failures=[], slowest=[], runs=[], tone=""
        )


def test_unknown_template():
    """A template that this package does not have is an error."""
    with pytest.raises(TemplateNotFound):
        template("no.html.j2")


@pytest.mark.parametrize("text", [style("report.css"), script("report")], ids=["style", "script"])
def test_assets_end_nothing(text):
    """What is inlined as it is cannot end the element that it stands in, and fetches nothing."""
    assert text
    for end in ("</script", "</style", "<!--", "@import", "http://cdn", "https://"):
        assert end not in text.lower()


def test_script_offers_the_functions_of_the_data_files():
    """The page's script has the two functions that data files call."""
    text = script("report")
    assert "autotest" in text
    assert "detail" in text
    assert "coverage" in text
