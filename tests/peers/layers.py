"""Layers around fla-core's naive forms. The projections, convolution, norm and gate of a layer follow our plugins' READMEs. Its
wrong variants follow another convention.
"""
import contextlib
import importlib.util
import sys
from unittest import mock

import torch
from torch.nn import functional as F

from draws import Draws

OPS = importlib.util.find_spec("fla").submodule_search_locations[0] + "/ops"
HEADS = 2


@contextlib.contextmanager
def in_double():
    """Makes code that uses float32 compute in float64."""
    with (mock.patch.multiple(torch, float=torch.float64, float32=torch.float64),
          mock.patch.object(torch.Tensor, "float", torch.Tensor.double)):
        yield


def naive(of, function):
    """Returns a function of fla/ops/`of`/naive.py. Kernels that this file imports are replaced: they need a device."""
    spec = importlib.util.spec_from_file_location("naive_" + of, f"{OPS}/{of}/naive.py")
    module = importlib.util.module_from_spec(spec)
    with mock.patch.dict(sys.modules, {"fla.ops.utils": mock.Mock(), "fla.ops.utils.pooling": mock.Mock(), "flash_attn": mock.Mock()}):
        spec.loader.exec_module(module)

    def form(*inputs, **options):
        with in_double():
            found = getattr(module, function)(*inputs, **options)
        found = found[0] if isinstance(found, tuple) else found
        assert found.dtype in (torch.float64, torch.int64)
        return found
    return form


class Layer:
    """Numbers of a layer, from -1 to 1. Each number is drawn at its first use."""

    def __init__(self, seed):
        self.draws, self.drawn = Draws(seed), {}

    def __call__(self, name, *shape):
        if name not in self.drawn:
            values = 2 * torch.tensor(self.draws.values(torch.Size(shape).numel(), 0)) - 1
            self.drawn[name] = values.view(shape).requires_grad_()
        return self.drawn[name]

    def linear(self, name, x, outputs, bias=True):
        y = x @ self(name + ".weight", outputs, x.size(-1)).mT
        return y + self(name + ".bias", outputs) if bias else y


def heads_of(x, heads=HEADS):
    """[1, n, channels] -> [1, n, heads, channels of a head]"""
    return x.unflatten(-1, (heads, -1))


def head_first(function, *inputs):
    """Calls a form with the layout [batch, heads, n, ...]."""
    return function(*(x.transpose(1, 2) for x in inputs)).transpose(1, 2)


def unit(x):
    return x * (x.square().sum(-1, keepdim=True) + 1e-6).rsqrt()


def rms(x):
    return x * (x.square().mean(-1, keepdim=True) + 1e-5).rsqrt()


def convolved(x, filters, bias=None):
    """Convolves each channel with its own filter, and applies SiLU."""
    tokens = filters.size(1)
    return F.silu(F.conv1d(F.pad(x.mT, (tokens - 1, 0)), filters.unsqueeze(1), bias, groups=x.size(-1)).mT)


def projected(layer, x, queries, keys, values, convolution=0):
    y = [layer.linear(name, x, width) for name, width in (("query", queries), ("key", keys), ("value", values))]
    if not convolution:
        return y
    return convolved(torch.cat(y, -1), layer("filter", queries + keys + values, convolution)).split([queries, keys, values], -1)


def left(layer, x, values, norm=None, gate=False):
    """Applies the rest of a layer to the values of its heads: norm (rms or layer), gate, output."""
    if norm == "layer":
        values = values - values.mean(-1, keepdim=True)
    if norm:
        values = rms(values)
    values = values.flatten(2)
    if gate:
        values = values * F.silu(layer.linear("gate", x, values.size(-1)))
    return layer.linear("output", values, x.size(-1))


def softmax(layer, x, heads=HEADS, key_heads=HEADS, forget_gate=False, sink=False, wrong=None):
    width = x.size(-1)
    q, k, v = projected(layer, x, width, width // heads * key_heads, width // heads * key_heads)
    q, k, v = heads_of(q, heads), heads_of(k, key_heads), heads_of(v, key_heads)
    if wrong == "heads of keys in turn":
        k, v = (y[:, :, [i % key_heads for i in range(heads)]] for y in (k, v))
    g = F.logsigmoid(layer.linear("forget", x, heads)) if forget_gate else None
    if wrong == "fades by the key's own gate":
        g = F.pad(g, (0, 0, 1, 0))[:, :-1]
    sinks = layer("sink", heads) if sink and wrong != "no sink" else None
    if forget_gate and not sink:
        read = naive("forgetting_attn", "naive_forgetting_attn")(q, k, v, g)
    else:
        read = naive("attn", "naive_parallel_attn")(q, k, v, g=g, sink_bias=sinks)
    return left(layer, x, read)


def native_sparse(layer, x, block, top, window, wrong=None):
    width = x.size(-1)
    q, k, v = (heads_of(y) for y in projected(layer, x, width, width, width))
    means = [torch.stack([part.mean(1) for part in y.split(block, 1)], 1) for y in (k, v)]
    scale = q.size(-1)**-0.5
    compressed = naive("nsa", "naive_nsa_compression")(q, *means, block, scale)
    chosen = naive("nsa", "naive_nsa_topk")(q, means[0], top, block, scale)
    selected = naive("nsa", "naive_nsa_selection")(q, k, v, chosen, block)
    near = naive("attn", "naive_parallel_attn")(q, k, v, window_size=window + (wrong == "a token more in the window"))
    gates = heads_of(layer.linear("gate", x, HEADS * 3)).sigmoid()
    if wrong == "gates from the last":
        gates = gates.flip(3)
    return left(layer, x, sum(gate * read for gate, read in zip(gates.split(1, 3), (compressed, selected, near))))


def by_step(x, steps):
    """[1, n, channels of heads, of a head's steps] -> [1, n, steps, heads, channels]"""
    return heads_of(x).unflatten(3, (steps, -1)).transpose(2, 3)


def log_decay(layer, x, rank, channels):
    """@param rank of the projection to channels; 0: a decay for each head"""
    step = layer.linear("step", x, rank or channels, bias=False)
    if rank:
        step = layer.linear("step_up", step, channels, bias=False)
    return -layer("log_rate", HEADS).exp().unsqueeze(-1) * heads_of(F.softplus(step + layer("step_bias", channels)))


def written(layer, x, steps=1, convolution=0, wrong=None):
    """Returns queries, keys and values of heads. The steps of a token follow each other as if they were tokens."""
    keys, values = x.size(-1), x.size(-1) * 3 // 2
    q, k, v = projected(layer, x, keys, keys, values, convolution)
    q, k, v = heads_of(q), by_step(k, 1), by_step(v, 1)
    if steps > 1:
        further = layer.linear("further", x, (keys + values) * (steps - 1))
        if convolution:
            further = convolved(further, layer("further_filter", further.size(-1), convolution))
        k, v = (torch.cat([first, by_step(others, steps - 1)], 2)
                for first, others in zip((k, v), further.split([keys * (steps - 1), values * (steps - 1)], -1)))
    if wrong == "steps in reverse":
        k, v = k.flip(2), v.flip(2)
    k, v = k.flatten(1, 2), v.flatten(1, 2)
    if not convolution:  # otherwise the convolution applies SiLU
        q, k, v = F.silu(q), F.silu(k), F.silu(v)
    q = unit(q) * (q.size(-1)**0.5 if wrong == "queries not scaled" else 1)
    return q, k if wrong == "keys of their own length" else unit(k), v


def delta(layer, x, decay=None, strengths=False, gate=False, negative=False, steps=1, convolution=0, norm=None, wrong=None):
    """@param decay head or channel @param strengths True: each channel has its own strengths of erasing and of writing"""
    q, k, v = written(layer, x, steps, convolution, wrong)
    d_key, d_value = k.size(-1), v.size(-1)
    strength = lambda name, channels: (
        by_step(layer.linear(name, x, HEADS * steps * channels, bias=False), steps).flatten(1, 2).sigmoid())
    most = 2 if negative and wrong != "eigenvalues from 0" else 1
    if strengths:
        erase, write = strength("erase", d_key) * most, strength("write", d_value)
        write = torch.ones_like(write) if wrong == "writes all" else write
        erase = erase.mean(-1, keepdim=True).expand_as(erase) if wrong == "erases channels alike" else erase
    else:
        beta = strength("beta", 1) * most
    if decay:
        g = log_decay(layer, x, *((d_value, HEADS * d_key) if decay == "channel" else (0, HEADS)))
    if wrong == "decays by the token before":
        g = F.pad(g, (0, 0, 0, 0, 1, 0))[:, :-1]
    if strengths:
        read = naive("gdn2", "naive_recurrent_gdn2")(q, k, v, g, erase, write)
    elif decay == "channel":
        read = naive("kda", "naive_recurrent_kda")(q, k, v, g, beta.squeeze(3))
    elif steps > 1:
        read = naive("gated_delta_product", "naive_recurrent_gated_delta_product")(
            q, k, v, g.squeeze(3) if decay else None, beta.squeeze(3), d_key**-0.5, num_householder=steps)
    elif decay:
        read = naive("gated_delta_rule", "naive_recurrent_gated_delta_rule")(q, k, v, beta.squeeze(3), g.squeeze(3))
    else:
        read = head_first(naive("delta_rule", "delta_rule_recurrence"), q, k, v, beta)
    return left(layer, x, read, norm, gate)


def turned(x):
    """Turns channels i and i + d/2 by an angle of 10000^(-2i/d) for each token."""
    half = x.size(3) // 2
    angle = torch.outer(torch.arange(x.size(1), dtype=x.dtype), 10000 ** (-torch.arange(half, dtype=x.dtype) / half)).unsqueeze(1)
    a, b = x.split(half, 3)
    return torch.cat([a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()], 3)


def retention(layer, x, rotation=True, gate=False, norm=None, wrong=None):
    width = x.size(-1)
    q, k, v = (heads_of(y) for y in projected(layer, x, width, width, width * 3 // 2))
    if rotation and wrong != "not turned":
        q, k = turned(q), turned(k)
    if wrong == "heads from the last":
        q, k, v = q.flip(2), k.flip(2), v.flip(2)
    read = head_first(naive("retention", "naive_retention"), q, k, v)
    return left(layer, x, read.flip(2) if wrong == "heads from the last" else read, norm, gate)


def gated_linear(layer, x, gate=False, norm=None, wrong=None):
    width, rank, temperature = x.size(-1), 3, 16
    q, k, v = (heads_of(y) for y in projected(layer, x, width, width, width * 3 // 2))
    g = F.logsigmoid(heads_of(layer.linear("decay_up", layer.linear("decay_down", x, rank, bias=False), width)))
    g = g if wrong == "no temperature" else g / temperature
    if wrong == "decays by the token before":
        g = F.pad(g, (0, 0, 0, 0, 1, 0))[:, :-1]
    return left(layer, x, naive("gla", "naive_recurrent_gla")(q, k, v, g), norm, gate)


def shares(sums, q, k, v):
    """Divides by the sum of weights. The forms' own division adds a number to the sum, which is too large for the tolerance."""
    return sums(q, k, v) / sums(q, k, torch.ones_like(v[..., :1]))


def based(layer, x, features=3, wrong=None):
    width = x.size(-1)
    q, k, v = (heads_of(y) for y in projected(layer, x, HEADS * features, HEADS * features, width))
    if wrong == "scaled by a value's channels":
        q = q * (features / v.size(3))**0.5
    sums = lambda *of: head_first(lambda *by_head: naive("based", "naive_parallel_based")(*by_head, use_norm=False), *of)
    return left(layer, x, sums(q, k, v) if wrong == "sums" else shares(sums, q, k, v))


def linear(layer, x, wrong=None):
    q, k, v = (heads_of(y) for y in projected(layer, x, *[x.size(-1)] * 3))
    phi = torch.exp if wrong == "exp" else lambda y: F.elu(y) + 1
    return left(layer, x, shares(naive("linear_attn", "naive_recurrent_linear_attn"), phi(q), phi(k), v))


def mamba2(layer, x, states=3, convolution=3, wrong=None):
    inner = 2 * x.size(-1)
    z, fields, time = layer.linear("in", x, 2 * inner + 2 * states + HEADS, bias=False).split([inner, inner + 2 * states, HEADS], -1)
    channels = fields.size(-1)
    fields = convolved(fields, layer("filter", channels, convolution), layer("filter_bias", channels))
    values, b, c = fields.split([inner, states, states], -1)
    time = F.softplus(time + layer("step_bias", HEADS))
    decay, of_all = -layer("log_a", HEADS).exp() * time, lambda y: y.unsqueeze(2).expand(-1, -1, HEADS, -1)
    values, scale = heads_of(values), states**-0.5 if wrong == "queries scaled" else 1.0
    read = naive("simple_gla", "naive_recurrent_simple_gla")(of_all(c), of_all(b), values * time.unsqueeze(3), decay, scale)
    y, gate = (read + layer("skip", HEADS).unsqueeze(1) * values).flatten(2), F.silu(z)
    y = rms(y) * gate if wrong == "normed before the gate" else rms(y * gate)
    return layer.linear("out", y * layer("gain", inner), x.size(-1), bias=False)
