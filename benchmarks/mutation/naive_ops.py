"""One ordinary test per op, as somebody writes it who has never heard of a fault: random tensors, the op, return.

Over 500 lines, for the tests of all faulty ops are one flat list, in which people look an op up by its name.
"""

from typing import Any

from autotest import autotest, oneof, random, random_bool, random_dtype, random_tensor, torch

F = torch.nn.functional
nn = torch.nn


def dim(rank: int) -> Any:
    """A dimension of a tensor of this rank, counted from either end."""
    return random(-rank, rank).to(int)


def size(low: int = 1, high: int = 6) -> Any:
    """The size of a dimension."""
    return random(low, high).to(int)


# One tensor in, one tensor out.


@autotest()
def test_gelu():
    return F.gelu(random_tensor())


@autotest()
def test_silu():
    return F.silu(random_tensor())


@autotest()
def test_relu():
    return F.relu(random_tensor())


@autotest()
def test_softplus():
    return F.softplus(random_tensor(), beta=random(1, 4).to(int))


@autotest()
def test_sigmoid():
    return torch.sigmoid(random_tensor())


@autotest()
def test_abs():
    return torch.abs(random_tensor(dtype=random_dtype("float32", "int64")))


@autotest()
def test_ceil():
    return torch.ceil(random_tensor(low=-3, high=3))


@autotest()
def test_round():
    return torch.round(random_tensor(low=-3, high=3))


@autotest()
def test_floor():
    return torch.floor(random_tensor(low=-3, high=3))


@autotest(grad_order=2)
def test_sin():
    return torch.sin(random_tensor())


@autotest(grad_order=2)
def test_cos():
    return torch.cos(random_tensor())


@autotest(grad_order=2)
def test_tanh():
    return torch.tanh(random_tensor())


@autotest(grad_order=2)
def test_exp():
    return torch.exp(random_tensor(dtype=random_dtype("floating")))


@autotest(grad_order=2)
def test_log():
    return torch.log(random_tensor(low=0.5, high=4))


@autotest(grad_order=2)
def test_square():
    return torch.square(random_tensor())


@autotest()
def test_sinh():
    return torch.sinh(random_tensor())


@autotest()
def test_cosh():
    return torch.cosh(random_tensor())


@autotest()
def test_atan():
    return torch.atan(random_tensor())


@autotest()
def test_erf():
    return torch.erf(random_tensor())


@autotest()
def test_clamp():
    x = random_tensor(low=-3, high=3)
    return torch.clamp(x, min=oneof(None, random(-3, 0).to(float)), max=random(0, 3).to(float))


@autotest()
def test_softmax():
    return F.softmax(random_tensor(ndim=3), dim=random(-4, 4).to(int))


@autotest()
def test_log_softmax():
    return F.log_softmax(random_tensor(ndim=3), dim=dim(3))


@autotest()
def test_cumsum():
    return torch.cumsum(random_tensor(ndim=2), dim=dim(2))


@autotest()
def test_tril():
    return torch.tril(random_tensor(ndim=2))


@autotest()
def test_triu():
    return torch.triu(random_tensor(ndim=2), diagonal=random(-2, 3).to(int))


@autotest()
def test_flip():
    return torch.flip(random_tensor(ndim=3), dims=oneof((0,), (0, 1), (1, 2)))


@autotest()
def test_roll():
    return torch.roll(random_tensor(ndim=2), shifts=(random(-3, 4).to(int), random(-3, 4).to(int)), dims=(0, 1))


@autotest()
def test_normalize():
    return F.normalize(random_tensor(ndim=2))


@autotest()
def test_layer_norm():
    columns = size(2)
    return F.layer_norm(random_tensor(ndim=2, dim1=columns), (columns,))


@autotest()
def test_pad():
    x = random_tensor(ndim=4)
    border = size(0, 3)
    return F.pad(x, (border, size(0, 3), size(0, 3), size(0, 3)), mode="constant", value=random(-2, 2).to(float))


# Two tensors or more.


@autotest()
def test_add():
    rows, columns = size(), size()
    return torch.add(random_tensor(ndim=2, dim0=rows, dim1=columns), random_tensor(ndim=1, dim0=columns))


@autotest()
def test_sub():
    return torch.sub(random_tensor(ndim=1, dim0=4), random_tensor(ndim=2, dim1=4), alpha=random(1, 4).to(int))


@autotest()
def test_div():
    rows = size()
    dtype = random_dtype("float32", "int32", "int64")
    x = random_tensor(ndim=2, dim0=rows, dim1=3, dtype=dtype, low=1, high=9)
    return torch.div(x, random_tensor(ndim=2, dim0=rows, dim1=3, dtype=dtype, low=1, high=9))


@autotest()
def test_fmod():
    rows = size()
    return torch.fmod(random_tensor(ndim=1, dim0=rows, low=-5, high=5), random_tensor(ndim=1, dim0=rows, low=1, high=3))


@autotest()
def test_pow():
    rows = size()
    return torch.pow(random_tensor(ndim=1, dim0=rows, low=0, high=3), random_tensor(ndim=1, dim0=rows))


@autotest()
def test_minimum():
    rows = size()
    return torch.minimum(random_tensor(ndim=1, dim0=rows), random_tensor(ndim=1, dim0=rows))


@autotest()
def test_eq():
    rows = size()
    x = random_tensor(ndim=1, dim0=rows, dtype=int, low=0, high=3)
    return torch.eq(x, random_tensor(ndim=1, dim0=rows, dtype=int, low=0, high=3))


@autotest()
def test_where():
    rows = size()
    x = random_tensor(ndim=2, dim0=rows, dim1=3)
    return torch.where(random_tensor(ndim=2, dim0=rows, dim1=3) > 0, x, random_tensor(ndim=2, dim0=rows, dim1=3))


@autotest(grad_order=2)
def test_matmul():
    k = size()
    return torch.matmul(random_tensor(ndim=2, dim1=k), random_tensor(ndim=2, dim0=k))


@autotest()
def test_bmm():
    batch, k = size(), size()
    return torch.bmm(random_tensor(ndim=3, dim0=batch, dim2=k), random_tensor(ndim=3, dim0=batch, dim1=k))


@autotest()
def test_dot():
    k = size()
    return torch.dot(random_tensor(ndim=1, dim0=k), random_tensor(ndim=1, dim0=k))


@autotest()
def test_linear():
    k, out = size(), size()
    x, weight = random_tensor(ndim=2, dim1=k), random_tensor(ndim=2, dim0=out, dim1=k)
    return F.linear(x, weight, random_tensor(ndim=1, dim0=out))


# Reductions.


@autotest()
def test_mean():
    return torch.mean(random_tensor())


@autotest()
def test_sum():
    x = random_tensor(ndim=3, dtype=random_dtype("float32", "int32"))
    return torch.sum(x, dim=dim(3), keepdim=random_bool())


@autotest()
def test_prod():
    return torch.prod(random_tensor(ndim=2), dim=dim(2))


@autotest()
def test_std():
    return torch.std(random_tensor(ndim=2, dim0=size(2), dim1=size(2)), dim=dim(2))


@autotest()
def test_var():
    x = random_tensor(ndim=3, dim0=size(2), dim1=size(2))
    return torch.var(x, dim=oneof((0,), (0, 1), (1, 0)), unbiased=random_bool(), keepdim=random_bool())


@autotest()
def test_logsumexp():
    return torch.logsumexp(random_tensor(ndim=2), dim=dim(2))


@autotest()
def test_amax():
    return torch.amax(random_tensor(ndim=3), dim=oneof(0, -1, (0, 2)), keepdim=random_bool())


@autotest()
def test_argmax():
    return torch.argmax(random_tensor(ndim=3), dim=dim(3))


@autotest()
def test_topk():
    return torch.topk(random_tensor(ndim=2, dim0=4, dim1=5), size(1, 4), dim=dim(2), largest=random_bool())


# Views, and ops that only move elements.


@autotest()
def test_transpose():
    return torch.transpose(random_tensor(ndim=3), random(-4, 4).to(int), random(-3, 3).to(int))


@autotest()
def test_permute():
    return random_tensor(ndim=3).permute(oneof((0, 1, 2), (2, 0, 1), (-1, 0, 1), (1, -1, 0)))


@autotest()
def test_squeeze():
    return torch.squeeze(random_tensor(ndim=3, dim0=size(1, 3), dim1=size(1, 3), dim2=size(2)))


@autotest()
def test_unsqueeze():
    return torch.unsqueeze(random_tensor(ndim=2), random(-3, 3).to(int))


@autotest()
def test_flatten():
    return torch.flatten(random_tensor(ndim=3))


@autotest()
def test_narrow():
    return torch.narrow(random_tensor(ndim=2, dim0=5), 0, size(0, 3), size(1, 3))


@autotest()
def test_chunk():
    return torch.chunk(random_tensor(ndim=2, dim0=6), 3, 0)


@autotest()
def test_split():
    return torch.split(random_tensor(ndim=2, dim0=5), size(1, 4), 0)


@autotest()
def test_diagonal():
    return torch.diagonal(random_tensor(ndim=3), 0, 0, 1)


@autotest()
def test_expand():
    return random_tensor(ndim=2, dim0=1).expand(size(1, 4), -1)


@autotest()
def test_contiguous():
    return random_tensor(ndim=2).contiguous()


@autotest()
def test_gather():
    x = random_tensor(ndim=2, dim0=3, dim1=3)
    return torch.gather(x, random(-2, 3).to(int), random_tensor(ndim=2, dim0=3, dim1=3, dtype=int, low=0, high=3))


@autotest()
def test_index_select():
    return torch.index_select(random_tensor(ndim=2, dim0=4), 0, random_tensor(ndim=1, dtype=int, low=0, high=4))


@autotest()
def test_masked_fill():
    x = random_tensor(ndim=2, dim0=3, dim1=4)
    return torch.masked_fill(x, random_tensor(ndim=2, dim0=3, dim1=4) > 0, random(-2, 2).to(float))


# In place.


@autotest()
def test_add_():
    rows = size()
    return (random_tensor(ndim=1, dim0=rows) + 1).add_(random_tensor(ndim=1, dim0=rows))


@autotest()
def test_sub_():
    rows = size()
    return (random_tensor(ndim=1, dim0=rows) + 1).sub_(random_tensor(ndim=1, dim0=rows))


@autotest()
def test_mul_():
    rows = size()
    return (random_tensor(ndim=1, dim0=rows) + 1).mul_(random_tensor(ndim=1, dim0=rows))


@autotest()
def test_clamp_():
    x = random_tensor(ndim=2, requires_grad=False)
    return x.clamp_(random(-1, 0).to(float), random(0, 1).to(float))


@autotest()
def test_zero_():
    x = random_tensor(ndim=2, requires_grad=False)
    x.zero_()
    return x


@autotest()
def test_fill_():
    x = random_tensor(ndim=2, requires_grad=False)
    x.fill_(random(1, 4).to(float))
    return x


# Convolution, pooling, losses.


@autotest()
def test_conv2d():
    groups = oneof(1, 2)
    x = random_tensor(ndim=4, dim0=size(1, 3), dim1=4, dim2=size(5, 8), dim3=size(5, 8))
    weight = random_tensor(ndim=4, dim0=4, dim1=4 // groups.value(), dim2=2, dim3=2)
    return F.conv2d(x, weight, None, random(1, 3).to(int), random(0, 2).to(int), random(1, 3).to(int), groups)


@autotest()
def test_avg_pool2d():
    return F.avg_pool2d(random_tensor(ndim=4, dim2=size(4, 8), dim3=size(4, 8)), 3, stride=2, padding=1)


@autotest()
def test_max_pool2d():
    x = random_tensor(ndim=4, dim2=size(4, 8), dim3=size(4, 8))
    return F.max_pool2d(x, 3, stride=2, padding=random(0, 2).to(int))


@autotest()
def test_mse_loss():
    rows = size()
    x = random_tensor(ndim=2, dim0=rows, dim1=3)
    return F.mse_loss(x, random_tensor(ndim=2, dim0=rows, dim1=3), reduction=oneof("mean", "sum", "none"))


@autotest()
def test_cross_entropy():
    rows = size(2)
    target = random_tensor(ndim=1, dim0=rows, dtype=int, low=0, high=4)
    ignored = oneof(-100, 0, 1)
    return F.cross_entropy(random_tensor(ndim=2, dim0=rows, dim1=4), target, ignore_index=ignored)


# Creation.


@autotest()
def test_arange():
    return torch.arange(random(0, 4).to(int), random(5, 20).to(int), random(1, 4).to(int))


@autotest()
def test_linspace():
    return torch.linspace(random(-3, 0).to(float), random(1, 4).to(float), random(2, 9).to(int))


@autotest()
def test_zeros_like():
    return torch.zeros_like(random_tensor(), dtype=oneof(torch.float32, torch.int64))


@autotest()
def test_full():
    return torch.full((size(), size()), oneof(random(-3, 3).to(int), random(-3, 3).to(float)))


# Layers.


def _batch_norm(layer: Any, *sizes: Any) -> Any:
    channels = size()
    m = layer(channels)
    m.train(random_bool())
    dims = {f"dim{axis}": value for axis, value in enumerate((size(2), channels, *sizes))}
    return m(random_tensor(ndim=2 + len(sizes), **dims))


@autotest()
def test_BatchNorm1d():
    return _batch_norm(nn.BatchNorm1d, size(2))


@autotest()
def test_BatchNorm2d():
    return _batch_norm(nn.BatchNorm2d, 2, 3)


@autotest()
def test_BatchNorm3d():
    return _batch_norm(nn.BatchNorm3d, 2, 2, 2)


@autotest()
def test_Sequential():
    m = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU())
    m.train(random_bool())
    return m(random_tensor(ndim=2, dim0=size(2), dim1=3))


@autotest()
def test_LayerNorm():
    columns = size(2)
    return nn.LayerNorm(columns)(random_tensor(ndim=2, dim1=columns))


@autotest()
def test_GroupNorm():
    return nn.GroupNorm(2, 4)(random_tensor(ndim=3, dim1=4, dim2=size(2)))


@autotest()
def test_LeakyReLU():
    return nn.LeakyReLU()(random_tensor())


@autotest()
def test_Conv1d():
    return nn.Conv1d(3, size(), 2)(random_tensor(ndim=3, dim1=3, dim2=size(3, 7)))


@autotest()
def test_Dropout():
    m = nn.Dropout(random(0.2, 0.8).to(float))
    m.train(random_bool())
    return m(random_tensor())


# What is random.


@autotest()
def test_dropout():
    return F.dropout(random_tensor(), p=random(0.2, 0.4).to(float), training=random_bool())


@autotest()
def test_rand():
    return torch.rand(size(), size())


@autotest()
def test_randn():
    return torch.randn(size(), size())


@autotest()
def test_randint():
    return torch.randint(0, random(2, 6).to(int), (size(), size()))


@autotest()
def test_randperm():
    return torch.randperm(random(3, 9).to(int))


@autotest()
def test_bernoulli():
    return torch.bernoulli(random_tensor(ndim=2, low=0.1, high=0.4, requires_grad=False))


@autotest()
def test_normal():
    return torch.normal(random(1, 3).to(float), 1.0, size=(size(), size()))


# Trainings.


def loss_of(*layers: Any) -> Any:
    """The loss of some layers, one after the other."""
    x = random_tensor(ndim=2, dim1=3)
    for layer in layers:
        x = layer(x)
    return torch.square(x).mean()


@autotest(n=5, train=4)
def test_SGD():
    layer = nn.Linear(3, 2)
    optimizer = torch.optim.SGD(layer.parameters(), lr=random(0.01, 0.2).to(float), momentum=0.9)
    torch.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)
    return loss_of(layer)


@autotest(n=5, train=4)
def test_Adam():
    layer = nn.Linear(3, 2)
    torch.optim.Adam(layer.parameters(), lr=random(0.01, 0.2).to(float))
    return loss_of(layer)


@autotest(n=5, train=4)
def test_AdamW():
    layer = nn.Linear(3, 2)
    torch.optim.AdamW(layer.parameters(), lr=random(0.01, 0.2).to(float), weight_decay=0.1)
    return loss_of(layer)


@autotest(n=5, train=4)
def test_Adagrad():
    first, second = nn.Linear(3, 4), nn.Linear(4, 2)
    groups = [{"params": first.parameters()}, {"params": second.parameters(), "lr": 0.2}]
    torch.optim.Adagrad(groups, lr=random(0.01, 0.2).to(float))
    return loss_of(first, second)


@autotest(n=5, train=4)
def test_Adadelta():
    layer = nn.Linear(3, 2)
    torch.optim.Adadelta(layer.parameters(), lr=1.0, rho=random(0.5, 0.99).to(float))
    return loss_of(layer)


@autotest(n=5, train=4, accumulate=2)
def test_accumulate():
    layer = nn.Linear(3, 2)
    torch.optim.RMSprop(layer.parameters(), lr=random(0.01, 0.1).to(float), eps=1e-30)
    return loss_of(layer)


@autotest(n=5, train=4)
def test_StepLR():
    layer = nn.Linear(3, 2)
    torch.optim.lr_scheduler.StepLR(torch.optim.SGD(layer.parameters(), lr=0.1), step_size=2)
    return loss_of(layer)


@autotest(n=5, train=4)
def test_CosineAnnealingLR():
    layer = nn.Linear(3, 2)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=3, eta_min=random(0.001, 0.05).to(float))
    return loss_of(layer)


@autotest(n=5, train=2)
def test_clip_grad_norm_():
    layer = nn.Linear(3, 2)
    torch.optim.Adadelta(layer.parameters(), lr=1.0)
    loss = loss_of(layer)
    nn.utils.clip_grad_norm_(layer.parameters(), 0.01, norm_type=oneof(1.0, 2.0, float("inf")))
    return loss


@autotest(n=5, train=4)
def test_backward():
    layer = nn.Linear(3, 2)
    torch.optim.SGD(layer.parameters(), lr=0.1)
    torch.amp.GradScaler("cpu", init_scale=1024.0, growth_interval=2)
    return loss_of(layer)
