"""Convolutions and pooling, as functions and as modules."""

from __future__ import annotations

from forms import forms, modules

from autotest import autotest, oneof, random, random_bool, random_device, random_tensor, torch


@autotest(n=20, check_graph=True)
def test_conv1d_module():
    device = random_device()
    channels = random(1, 5)
    m = torch.nn.Conv1d(
        channels,
        random(1, 5),
        kernel_size=random(1, 4),
        stride=random(1, 3),
        padding=random(0, 3),
        dilation=random(1, 3),
        bias=random_bool(),
    ).to(device)
    x = random_tensor(ndim=3, dim1=channels, dim2=random(8, 12)).to(device)
    return m(x)


@autotest(n=20, check_graph=True)
def test_conv2d_module():
    device = random_device()
    channels = random(1, 5)
    m = torch.nn.Conv2d(
        channels,
        random(1, 5),
        kernel_size=random(1, 4),
        stride=random(1, 3),
        padding=random(0, 3),
        dilation=random(1, 3),
        bias=random_bool(),
    ).to(device)
    x = random_tensor(ndim=4, dim0=random(1, 3), dim1=channels, dim2=random(8, 12), dim3=random(8, 12)).to(device)
    return m(x)


@autotest(n=20, check_graph=True)
def test_conv2d_groups():
    device = random_device()
    groups = random(1, 4)
    m = torch.nn.Conv2d(groups * 2, groups * random(1, 3), kernel_size=3, groups=groups).to(device)
    x = random_tensor(ndim=4, dim0=random(1, 3), dim1=groups * 2, dim2=6, dim3=random(4, 8)).to(device)
    return m(x)


@autotest(n=20, check_graph=True)
def test_conv2d_function():
    device = random_device()
    channels, kernel = random(1, 4), random(1, 4)
    x = random_tensor(ndim=4, dim0=random(1, 3), dim1=channels, dim2=8, dim3=random(6, 9)).to(device)
    weight = random_tensor(ndim=4, dim0=random(1, 4), dim1=channels, dim2=kernel, dim3=kernel).to(device)
    return torch.nn.functional.conv2d(x, weight, stride=random(1, 3), padding=oneof(0, 1, (1, 0)))


@autotest(n=20, check_graph=True)
def test_conv3d_module():
    device = random_device()
    channels = random(1, 4)
    m = torch.nn.Conv3d(channels, random(1, 4), kernel_size=random(1, 3), padding=random(0, 2)).to(device)
    x = random_tensor(ndim=5, dim0=1, dim1=channels, dim2=4, dim3=random(4, 6), dim4=random(4, 6)).to(device)
    return m(x)


@autotest(n=20, check_graph=True)
def test_conv_transpose2d_module():
    device = random_device()
    channels = random(1, 4)
    m = torch.nn.ConvTranspose2d(
        channels, random(1, 4), kernel_size=random(1, 4), stride=random(1, 3), bias=random_bool()
    ).to(device)
    x = random_tensor(ndim=4, dim0=random(1, 3), dim1=channels, dim2=random(3, 6), dim3=random(3, 6)).to(device)
    return m(x)


@modules({"torch.nn.MaxPool2d": {}, "torch.nn.AvgPool2d": {}})
@autotest(n=20, check_graph=True)
def test_pool2d_module(module):
    device = random_device()
    m = module(kernel_size=random(2, 4).to(int), stride=random(1, 3).to(int), padding=random(0, 2).to(int)).to(device)
    x = random_tensor(ndim=4, dim0=random(1, 3), dim1=random(1, 4), dim2=random(6, 9), dim3=random(6, 9)).to(device)
    return m(x)


@forms("torch.nn.functional.max_pool2d", "torch.nn.functional.avg_pool2d")
@autotest(n=20, check_graph=True)
def test_pool2d_function(op):
    device = random_device()
    x = random_tensor(ndim=4, dim0=random(1, 3), dim1=random(1, 4), dim2=random(6, 9), dim3=random(6, 9)).to(device)
    return op(x, random(2, 4).to(int).value())


@modules({"torch.nn.AdaptiveAvgPool2d": {}})
@autotest(n=20, check_graph=True)
def test_adaptive_pool2d_module(module):
    device = random_device()
    m = module((random(1, 4).to(int), random(1, 4).to(int))).to(device)
    x = random_tensor(ndim=4, dim0=random(1, 3), dim1=random(1, 4), dim2=random(6, 9), dim3=random(6, 9)).to(device)
    return m(x)


@autotest(n=20, check_graph=True)
def test_pad():
    device = random_device()
    x = random_tensor(ndim=4, dim0=random(1, 3), dim1=random(1, 4), dim2=random(3, 6), dim3=random(3, 6)).to(device)
    return torch.nn.functional.pad(
        x, (random(0, 3).to(int), random(0, 3).to(int), 1, random(0, 3).to(int)), value=random(-2, 3).to(float)
    )


@autotest(n=20, check_graph=True)
def test_conv_relu_pool():
    device = random_device()
    conv = torch.nn.Conv2d(3, random(1, 5), kernel_size=3, padding=1).to(device)
    pool = torch.nn.MaxPool2d(2).to(device)
    x = random_tensor(ndim=4, dim0=random(1, 3), dim1=3, dim2=6, dim3=random(4, 8)).to(device)
    return pool(torch.relu(conv(x)))
