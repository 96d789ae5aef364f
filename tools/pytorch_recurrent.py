"""Causal attentions with a state, as a user would write them in PyTorch, in chunks of 64 tokens. For tools/pytorch-step, with its
sizes. Options are `ablate bench`'s defaults."""
import math

import torch
from torch import nn
from torch.nn import functional as F

WIDTH, HEADS = 64, 2
CHANNELS = WIDTH // HEADS  # of a head
fla_ops = None  # fla.ops, if fla-core's kernels compute the sums


def heads_of(x, heads=HEADS):
    """[batch, n, width] -> [batch, heads, n, width / heads]"""
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)


def joined(x):
    return x.transpose(1, 2).flatten(2)


def by_fla(function, *inputs):
    """Calls fla-core's kernels, which use the layout [batch, n, heads, ...] instead of [batch, heads, n, ...]."""
    return getattr(fla_ops, function)(*(x.transpose(1, 2).contiguous() for x in inputs), scale=1.0)[0].transpose(1, 2)


def in_chunks(*inputs, chunk=64):
    return [x.unflatten(2, (-1, min(chunk, x.size(2)))) for x in inputs]


def states_before(kept, added):
    """Returns the state before each chunk. A chunk multiplies the state by `kept` and adds `added`: [batch, heads, chunks, d_key, d_value]."""
    state, before = torch.zeros_like(added[:, :, 0]), []
    for chunk in range(added.size(2)):
        before.append(state)
        state = kept[:, :, chunk] * state + added[:, :, chunk]
    return torch.stack(before, 2)


def decayed_sums(q, k, v, log_decay):
    """o_t = q_t S_t, S_t = exp(log_decay_t) S_(t-1) + k_t v_t^T by chunks, as in the papers of GLA and Mamba-2."""
    q, k, v, log_decay = in_chunks(q, k, v, log_decay)
    since = log_decay.cumsum(-2)
    whole = since[..., -1:, :]
    if log_decay.size(-1) == 1:
        within = (q @ k.mT * (since - since.mT).tril().exp()).tril() @ v
    else:
        within = ((q * since.exp()) @ (k * (-since).exp()).mT).tril() @ v
    before = states_before(whole.mT.exp(), (k * (whole - since).exp()).mT @ v)
    return (within + (q * since.exp()) @ before).flatten(2, 3)


class Recurrent(nn.Module):
    """Causal, normed head by head, with an optional gate. Options are `ablate bench`'s defaults."""

    def __init__(self, key_width=1.0, value_width=1.0, gated=True):
        super().__init__()
        keys, values = int(key_width * WIDTH), int(value_width * WIDTH)
        self.query, self.key, self.value = nn.Linear(WIDTH, keys), nn.Linear(WIDTH, keys), nn.Linear(WIDTH, values)
        self.gate = nn.Linear(WIDTH, values) if gated else None
        self.output = nn.Linear(values, WIDTH)

    def forward(self, x):
        y = self.normed(self.sums(x, *(heads_of(layer(x)) for layer in (self.query, self.key, self.value))))
        return self.output(joined(y * F.silu(heads_of(self.gate(x))) if self.gate else y))

    def normed(self, y):
        return F.rms_norm(y, y.shape[-1:], eps=1e-5)


class Retention(Recurrent):
    def __init__(self, n):
        super().__init__(value_width=2)
        angles = torch.arange(n)[:, None] * 10000.0 ** (-torch.arange(CHANNELS // 2) / (CHANNELS // 2))
        self.register_buffer("turns", torch.stack([angles.cos(), angles.sin()]))
        log_decay = (1 - 2.0 ** (-5.0 - torch.arange(HEADS))).log()
        self.register_buffer("log_decay", log_decay.view(1, -1, 1, 1).expand(1, HEADS, n, 1))

    def turned(self, x):
        (cos, sin), (a, b) = self.turns, x.unflatten(-1, (-1, 2)).unbind(-1)
        return torch.stack([a * cos - b * sin, a * sin + b * cos], -1).flatten(-2)

    def sums(self, x, q, k, v):
        q, k = self.turned(q) / math.sqrt(CHANNELS), self.turned(k)
        return by_fla("chunk_retention", q, k, v) if fla_ops else decayed_sums(q, k, v, self.log_decay)

    def normed(self, y):
        return F.layer_norm(y, y.shape[-1:])


class GatedLinear(Recurrent):
    def __init__(self, n, rank=16):
        super().__init__(key_width=0.5)
        self.decay = nn.Sequential(nn.Linear(WIDTH, rank, bias=False), nn.Linear(rank, WIDTH // 2))

    def sums(self, x, q, k, v):
        q, log_decay = q / math.sqrt(q.size(-1)), heads_of(F.logsigmoid(self.decay(x))) / 16
        return by_fla("chunk_gla", q, k, v, log_decay) if fla_ops else decayed_sums(q, k, v, log_decay)


class Delta(Recurrent):
    """Without decay; a short convolution of four tokens with SiLU, unit queries and keys."""

    def __init__(self, n, tokens=4):
        super().__init__(gated=False)
        self.beta = nn.Linear(WIDTH, HEADS, bias=False)
        self.near = nn.Conv1d(3 * WIDTH, 3 * WIDTH, tokens, padding=tokens - 1, groups=3 * WIDTH, bias=False)

    def forward(self, x):
        qkv = torch.cat([self.query(x), self.key(x), self.value(x)], -1)
        q, k, v = (heads_of(part) for part in F.silu(self.near(qkv.mT)[..., :x.size(1)].mT).chunk(3, -1))
        q, k = F.normalize(q, dim=-1) / math.sqrt(CHANNELS), F.normalize(k, dim=-1)
        return self.output(joined(self.normed(self.sums(x, q, k, v))))

    def sums(self, x, q, k, v):
        beta = heads_of(self.beta(x).sigmoid())
        if fla_ops:
            return by_fla("chunk_delta_rule", q, k, v, beta.squeeze(-1))
        q, k, v, beta = in_chunks(q, k, v, beta)
        system = ((beta * k) @ k.mT).tril(-1)
        right = torch.cat([beta * v, beta * k], -1).float()
        solved = torch.linalg.solve_triangular(system.float(), right, upper=False, unitriangular=True).to(q.dtype)
        of_values, of_state = solved.split([v.size(-1), k.size(-1)], -1)
        state, before, moved = torch.zeros_like(k[:, :, 0].mT @ v[:, :, 0]), [], []
        for chunk in range(q.size(2)):
            before.append(state)
            moved.append(of_values[:, :, chunk] - of_state[:, :, chunk] @ state)
            state = state + k[:, :, chunk].mT @ moved[-1]
        return ((q @ k.mT).tril() @ torch.stack(moved, 2) + q @ torch.stack(before, 2)).flatten(2, 3)


class Mamba2(nn.Module):
    """128 inner channels, a state of 64 that heads share, a short convolution of four tokens."""

    def __init__(self, n, inner=2 * WIDTH, states=64, tokens=4):
        super().__init__()
        self.sizes, self.parts = [inner, inner + 2 * states, HEADS], [inner, states, states]
        self.inputs, self.output = nn.Linear(WIDTH, sum(self.sizes), bias=False), nn.Linear(inner, WIDTH, bias=False)
        self.near = nn.Conv1d(self.sizes[1], self.sizes[1], tokens, padding=tokens - 1, groups=self.sizes[1])
        step = torch.exp(torch.rand(HEADS) * math.log(100) + math.log(1e-3))
        self.step_bias = nn.Parameter(step + torch.log(-torch.expm1(-step)))
        self.log_a, self.skip = nn.Parameter(torch.empty(HEADS).uniform_(1, 16).log()), nn.Parameter(torch.ones(HEADS))
        self.gain = nn.Parameter(torch.ones(inner))

    def forward(self, x):
        gate, fields, step = self.inputs(x).split(self.sizes, -1)
        values, keys, queries = F.silu(self.near(fields.mT)[..., :x.size(1)].mT).split(self.parts, -1)
        time = heads_of(F.softplus(step + self.step_bias))
        log_decay, values = -self.log_a.exp().view(-1, 1, 1) * time, heads_of(values)
        q, k = (y.unsqueeze(1).expand(-1, HEADS, -1, -1) for y in (queries, keys))
        if fla_ops:
            sums = by_fla("chunk_simple_gla", q, k, values * time, log_decay.squeeze(-1))
        else:
            sums = decayed_sums(q, k, values * time, log_decay)
        y = joined(sums + values * self.skip.view(-1, 1, 1)) * F.silu(gate)
        return self.output(F.rms_norm(y, y.shape[-1:], self.gain, 1e-5))


RECURRENT = {"retention": Retention, "gated-linear": GatedLinear, "delta": Delta, "mamba2": Mamba2}
