"""Whose a test is, by its node id."""

from __future__ import annotations

import pytest

from autotest.census.owners import owner_of


@pytest.mark.parametrize(
    ("test", "owner"),
    [
        ("suites/opinfo/test_opinfo.py::test_entry[norm.nuc]", ("OpInfo", "norm.nuc")),
        ("/site/suites/opinfo/test_opinfo.py::test_ways[nn.functional.conv2d]", ("OpInfo", "nn.functional.conv2d")),
        ("test_opinfo.py::test_errors[linalg.norm-12]", ("OpInfo", "linalg.norm")),
        ("test_opinfo.py::test_sample[nn.functional.interpolate.nearest-exact]",
         ("OpInfo", "nn.functional.interpolate.nearest-exact")),
        ("suites/opinfo/test_modules.py::test_layer[nn.BatchNorm1d-train]", ("OpInfo", "nn.BatchNorm1d")),
        ("suites/opinfo/test_modules.py::test_least[nn.ReLU]", ("OpInfo", "nn.ReLU")),
        ("suites/opinfo/test_opinfo.py::test_left_out", ("suites", "")),
        ("suites/test_matmul.py::test_op[torch.linalg.norm-default]", ("suites", "linalg.norm")),
        ("suites/test_sorting.py::test_form[Tensor.argsort]", ("suites", "Tensor.argsort")),
        ("my_opinfo/my_test_opinfo.py::test_entry[norm]", ("suites", "norm")),
        ("night/tests/test_calls.py::test_softmax", ("calls", "")),
        ("autotest-campaign/tests/test_mutations.py::test_add_", ("mutations", "")),
        ("autotest-campaign/tests/test_programs.py::test_random_program", ("programs", "")),
    ],
)  # fmt: skip
def test_owner(test: str, owner: tuple[str, str]) -> None:
    """Entries of PyTorch's tables by their names, sources of campaigns by their files, and the path that is spelled."""
    assert owner_of(test) == owner
