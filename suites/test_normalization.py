"""Normalisation layers, their state after a step included."""

from __future__ import annotations

from forms import modules

from autotest import autotest, random, random_bool, random_device, random_tensor, torch


@autotest(n=20, check_graph=True)
def test_batch_norm_function_training():
    device = random_device()
    channels = random(1, 5)
    x = random_tensor(ndim=4, dim0=random(2, 5), dim1=channels, dim2=random(2, 5), dim3=random(2, 5)).to(device)
    mean = random_tensor(ndim=1, dim0=channels, requires_grad=False).to(device)
    variance = random_tensor(ndim=1, dim0=channels, low=0.5, high=2, requires_grad=False).to(device)
    weight = random_tensor(ndim=1, dim0=channels).to(device)
    bias = random_tensor(ndim=1, dim0=channels).to(device)
    return torch.nn.functional.batch_norm(x, mean, variance, weight, bias, training=True, momentum=0.3)


@modules({"torch.nn.BatchNorm1d": {}})
@autotest(n=20, check_graph=True)
def test_batch_norm_1d_statistics_of_the_batch(module):
    device = random_device()
    channels = random(1, 5)
    m = module(channels, track_running_stats=False, affine=random_bool()).to(device)
    x = random_tensor(ndim=3, dim0=random(2, 5), dim1=channels, dim2=random(2, 6)).to(device)
    return m(x)


@modules({"torch.nn.BatchNorm2d": {}})
@autotest(n=20, check_graph=True)
def test_batch_norm_2d_statistics_of_the_batch(module):
    device = random_device()
    channels = random(1, 5)
    m = module(channels, track_running_stats=False, affine=random_bool()).to(device)
    x = random_tensor(ndim=4, dim0=random(2, 5), dim1=channels, dim2=random(2, 5), dim3=random(2, 5)).to(device)
    return m(x)


# In training mode OneFlow's graph leaves num_batches_tracked at 0; eager agrees, its buffers included.
@autotest(n=20, check_graph=False)
def test_batch_norm_2d_training():
    device = random_device()
    channels = random(1, 5)
    m = torch.nn.BatchNorm2d(channels, momentum=random(0, 1).to(float), affine=random_bool()).to(device)
    x = random_tensor(ndim=4, dim0=random(2, 5), dim1=channels, dim2=random(2, 5), dim3=random(2, 5)).to(device)
    return m(x)


@autotest(n=20, check_graph=True)
def test_batch_norm_2d_eval():
    device = random_device()
    channels = random(1, 5)
    m = torch.nn.BatchNorm2d(channels, affine=random_bool()).to(device).eval()
    x = random_tensor(ndim=4, dim0=random(2, 5), dim1=channels, dim2=random(2, 5), dim3=random(2, 5)).to(device)
    return m(x)


@autotest(n=20, check_graph=True)
def test_layer_norm_module():
    device = random_device()
    rows, columns = random(2, 6), random(2, 6)
    m = torch.nn.LayerNorm((rows, columns), elementwise_affine=random_bool()).to(device)
    x = random_tensor(ndim=3, dim1=rows, dim2=columns).to(device)
    return m(x)


@autotest(n=20, check_graph=True)
def test_layer_norm_function():
    device = random_device()
    columns = random(2, 6)
    x = random_tensor(ndim=3, dim2=columns).to(device)
    weight = random_tensor(ndim=1, dim0=columns).to(device)
    bias = random_tensor(ndim=1, dim0=columns).to(device)
    return torch.nn.functional.layer_norm(x, (columns,), weight, bias)


@autotest(n=20, check_graph=True)
def test_group_norm_module():
    device = random_device()
    groups = random(1, 4)
    m = torch.nn.GroupNorm(groups, groups * 2, affine=random_bool()).to(device)
    x = random_tensor(ndim=4, dim0=random(1, 4), dim1=groups * 2, dim2=random(2, 5), dim3=random(2, 5)).to(device)
    return m(x)


@autotest(n=20, check_graph=True)
def test_instance_norm_module():
    device = random_device()
    channels = random(1, 5)
    m = torch.nn.InstanceNorm2d(channels, affine=random_bool()).to(device)
    x = random_tensor(ndim=4, dim0=random(1, 4), dim1=channels, dim2=random(2, 5), dim3=random(2, 5)).to(device)
    return m(x)


@autotest(n=20, check_graph=True)
def test_normalize():
    device = random_device()
    x = random_tensor(ndim=2).to(device)
    return torch.nn.functional.normalize(x, p=2, dim=random(0, 2).to(int))


@autotest(n=20, check_graph=True)
def test_dropout_eval():
    device = random_device()
    m = torch.nn.Dropout(p=random(0, 1).to(float)).to(device).eval()
    x = random_tensor().to(device)
    return m(x)
