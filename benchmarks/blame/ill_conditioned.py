"""Twenty programs that no float32 computes well: what one rounding leaves, the next calls magnify.

They are run against PyTorch computing each op in float64 and rounding: as lawful as the reference, and far from it.
"""

from typing import Any

from autotest import autotest, random_tensor, torch

F = torch.nn.functional
#: So many times is a rounding of float32 magnified until it is past every tolerance.
GREAT = 1e5


def values(*sizes: int, low: float = 0.25, high: float = 0.75) -> Any:
    """Ordinary numbers."""
    dims = {f"dim{axis}": size for axis, size in enumerate(sizes)}
    return random_tensor(ndim=len(sizes), low=low, high=high, **dims)


def nearly_singular() -> Any:
    """A matrix all of whose rows are nearly the same."""
    return torch.ones(4, 4) + 1e-6 * values(4, 4)


@autotest(n=1, inputs="plain", check_graph=False)
def test_sum_that_cancels():
    x = values(500)
    return torch.sum(torch.cat([GREAT * x, -GREAT * x.flip(0), x]))


@autotest(n=1, inputs="plain", check_graph=False)
def test_mean_that_cancels():
    x = values(500)
    return torch.mean(torch.cat([GREAT * x, -GREAT * x.flip(0)]))


@autotest(n=1, inputs="plain", check_graph=False)
def test_sum_of_products_that_cancels():
    x = values(3, 200)
    return torch.einsum("ij,kj->ik", torch.cat([x, -x], 1), GREAT * torch.cat([x, x], 1))


@autotest(n=1, inputs="plain", check_graph=False)
def test_product_that_cancels():
    x, y = values(3, 200), values(200, 3)
    return torch.matmul(torch.cat([x, -x], 1), torch.cat([GREAT * y, GREAT * y.flip(1).flip(1)], 0))


@autotest(n=1, inputs="plain", check_graph=False)
def test_dot_that_cancels():
    x, y = values(300), values(300)
    return torch.dot(torch.cat([x, -x.flip(0)]), GREAT * torch.cat([y, y.flip(0)]))


@autotest(n=1, inputs="plain", check_graph=False)
def test_variance_far_from_zero():
    return torch.var(values(300) + 1e6)


@autotest(n=1, inputs="plain", check_graph=False)
def test_deviation_far_from_zero():
    return torch.std(values(4, 100) + 1e6, dim=1)


@autotest(n=1, inputs="plain", check_graph=False)
def test_layer_norm_of_nearly_equal():
    return F.layer_norm(GREAT + values(4, 50), (50,))


@autotest(n=1, inputs="plain", check_graph=False)
def test_inverse_nearly_singular():
    return torch.linalg.inv(nearly_singular())


@autotest(n=1, inputs="plain", check_graph=False)
def test_solve_nearly_singular():
    return torch.linalg.solve(nearly_singular(), values(4, 1))


@autotest(n=1, inputs="plain", check_graph=False)
def test_determinant_nearly_singular():
    return torch.linalg.det(nearly_singular()) * 1e20


@autotest(n=1, inputs="plain", check_graph=False)
def test_difference_of_exponentials():
    x = values(50)
    return GREAT * (torch.exp(x) - torch.exp(x + 1e-6))


@autotest(n=1, inputs="plain", check_graph=False)
def test_sine_of_a_great_number():
    return torch.sin(GREAT * torch.pow(values(500, low=2.0, high=4.0), 1.7))


@autotest(n=1, inputs="plain", check_graph=False)
def test_tangent_near_its_pole():
    x = values(50)
    return torch.tan(torch.log(torch.exp(1.5707 + 1e-5 * x)))


@autotest(n=1, inputs="plain", check_graph=False)
def test_one_less_squares():
    x = values(50)
    return GREAT * (1 - torch.sin(x) ** 2 - torch.cos(x) ** 2)


@autotest(n=1, inputs="plain", check_graph=False)
def test_logarithm_of_nearly_one():
    x = values(500)
    return GREAT * torch.log(torch.pow(x, 1.7) / torch.pow(x + 1e-6, 1.7))


@autotest(n=1, inputs="plain", check_graph=False)
def test_reciprocal_of_a_difference():
    x = values(500)
    return 1 / (torch.pow(x, 1.7) - torch.pow(x + 1e-5, 1.7))


@autotest(n=1, inputs="plain", check_graph=False)
def test_angle_of_nearly_parallel():
    x = values(20, 30)
    return GREAT * (1 - F.cosine_similarity(x, x * 1.001, dim=1))


@autotest(n=1, inputs="plain", check_graph=False)
def test_angle_of_nearly_one():
    return torch.acos(torch.sin(torch.pow(values(500, low=1.3, high=1.304), 1.7)))


@autotest(n=1, inputs="plain", check_graph=False)
def test_softmax_of_great_numbers():
    x = values(300)
    sums = torch.stack([torch.sum(x), torch.sum(x.flip(0)), 300 * torch.mean(x)])
    return F.softmax(GREAT * sums, dim=0)
