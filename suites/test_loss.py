"""Losses, with each reduction."""

from __future__ import annotations

from forms import forms, modules

from autotest import autotest, oneof, random, random_device, random_tensor, torch

_REDUCTIONS = ("none", "mean", "sum")


@modules({"torch.nn.MSELoss": {}, "torch.nn.L1Loss": {}, "torch.nn.SmoothL1Loss": {}})
@autotest(n=20, check_graph=True)
def test_regression_module(module):
    device = random_device()
    rows, columns = random(1, 6), random(1, 6)
    m = module(reduction=oneof(*_REDUCTIONS)).to(device)
    x = random_tensor(ndim=2, dim0=rows, dim1=columns).to(device)
    y = random_tensor(ndim=2, dim0=rows, dim1=columns, requires_grad=False).to(device)
    return m(x, y)


@forms("torch.nn.functional.mse_loss", "torch.nn.functional.l1_loss")
@autotest(n=20, check_graph=True)
def test_regression_function(op):
    device = random_device()
    rows, columns = random(1, 6), random(1, 6)
    x = random_tensor(ndim=2, dim0=rows, dim1=columns).to(device)
    y = random_tensor(ndim=2, dim0=rows, dim1=columns, requires_grad=False).to(device)
    return op(x, y, reduction=oneof(*_REDUCTIONS))


@forms("torch.nn.functional.smooth_l1_loss")
@autotest(n=20, check_graph=True)
def test_smooth_l1_function(op):
    device = random_device()
    rows, columns = random(1, 6), random(1, 6)
    x = random_tensor(ndim=2, dim0=rows, dim1=columns).to(device)
    y = random_tensor(ndim=2, dim0=rows, dim1=columns, requires_grad=False).to(device)
    return op(x, y, reduction=oneof(*_REDUCTIONS), beta=random(0.5, 2).to(float))


@autotest(n=20, check_graph=True)
def test_cross_entropy_module():
    device = random_device()
    batch, classes = random(1, 6), 5
    m = torch.nn.CrossEntropyLoss(reduction=oneof(*_REDUCTIONS), ignore_index=oneof(-100, 2)).to(device)
    x = random_tensor(ndim=2, dim0=batch, dim1=classes).to(device)
    y = random_tensor(ndim=1, dim0=batch, low=3, high=classes, dtype=int).to(device)
    return m(x, y)


@autotest(n=20, check_graph=True)
def test_cross_entropy_function():
    device = random_device()
    batch, classes = random(1, 6), 5
    x = random_tensor(ndim=2, dim0=batch, dim1=classes).to(device)
    y = random_tensor(ndim=1, dim0=batch, low=0, high=classes, dtype=int).to(device)
    return torch.nn.functional.cross_entropy(x, y, reduction=oneof(*_REDUCTIONS))


@autotest(n=20, check_graph=True)
def test_nll_loss_module():
    device = random_device()
    batch, classes = random(1, 6), 5
    m = torch.nn.NLLLoss(reduction=oneof(*_REDUCTIONS)).to(device)
    x = random_tensor(ndim=2, dim0=batch, dim1=classes).to(device)
    y = random_tensor(ndim=1, dim0=batch, low=0, high=classes, dtype=int).to(device)
    return m(torch.log_softmax(x, dim=1), y)


@autotest(n=20, check_graph=True)
def test_bce_loss_module():
    device = random_device()
    rows, columns = random(1, 6), random(1, 6)
    m = torch.nn.BCELoss(reduction=oneof(*_REDUCTIONS)).to(device)
    x = random_tensor(ndim=2, dim0=rows, dim1=columns, low=0.1, high=0.9).to(device)
    y = random_tensor(ndim=2, dim0=rows, dim1=columns, low=0, high=1, requires_grad=False).to(device)
    return m(x, y)


@autotest(n=20, check_graph=True)
def test_bce_with_logits_module():
    device = random_device()
    rows, columns = random(1, 6), random(1, 6)
    m = torch.nn.BCEWithLogitsLoss(reduction=oneof(*_REDUCTIONS)).to(device)
    x = random_tensor(ndim=2, dim0=rows, dim1=columns).to(device)
    y = random_tensor(ndim=2, dim0=rows, dim1=columns, low=0, high=1, requires_grad=False).to(device)
    return m(x, y)


@autotest(n=20, check_graph=True)
def test_kl_div_module():
    device = random_device()
    rows, columns = random(1, 6), random(1, 6)
    m = torch.nn.KLDivLoss(reduction=oneof("none", "sum"), log_target=oneof(True, False)).to(device)
    x = random_tensor(ndim=2, dim0=rows, dim1=columns).to(device)
    y = random_tensor(ndim=2, dim0=rows, dim1=columns, low=0.1, high=0.9, requires_grad=False).to(device)
    return m(x, y)


@autotest(n=20, check_graph=True)
def test_margin_ranking_loss_module():
    device = random_device()
    batch = random(1, 6)
    m = torch.nn.MarginRankingLoss(margin=random(0, 2).to(float), reduction=oneof(*_REDUCTIONS)).to(device)
    x = random_tensor(ndim=1, dim0=batch).to(device)
    y = random_tensor(ndim=1, dim0=batch).to(device)
    side = torch.sign(random_tensor(ndim=1, dim0=batch, requires_grad=False).to(device))
    return m(x, y, side)
