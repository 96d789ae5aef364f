"""Layers that are transformers' modules with our numbers as weights. Wrong variants of a layer follow another convention."""
import __future__
import ast
import functools
import importlib.util
import pathlib
from types import SimpleNamespace

import torch
from torch import nn

from layers import HEADS, heads_of, in_double, left, projected

MODELS = pathlib.Path(importlib.util.find_spec("transformers").submodule_search_locations[0]) / "models"
ROPE = {"rope_type": "default", "rope_theta": 10000.0}


@functools.cache
def modelling(model):
    """Returns the functions and torch modules of a modelling file that need only torch. Leaves out imports from transformers:
    they need packages with compiled parts. Leaves out decorators, which select kernels and report old names of arguments."""
    file = MODELS / model / f"modeling_{model}.py"
    tree = ast.parse(file.read_text())
    tree.body = [of for of in tree.body if isinstance(of, (ast.Import, ast.FunctionDef))
                 or isinstance(of, ast.ImportFrom) and of.level == 0
                 or isinstance(of, ast.ClassDef) and all(ast.unparse(base).startswith("nn.") for base in of.bases)]
    for of in ast.walk(tree):
        if isinstance(of, (ast.FunctionDef, ast.ClassDef)):
            of.decorator_list = [by for by in of.decorator_list if ast.unparse(by) == "staticmethod"]
    names = {"__name__": model, "ALL_ATTENTION_FUNCTIONS": SimpleNamespace(get_interface=lambda name, plain: plain)}
    exec(compile(tree, file, "exec", __future__.annotations.compiler_flag), names)
    return SimpleNamespace(**names)


def give(module, **numbers):
    """Replaces the module's parameters, or adds them if it has none."""
    for name, of in numbers.items():
        module._parameters.pop(name, None)
        setattr(module, name, of)


def by_head(*maps):
    """Joins maps so that all output channels of a head follow each other."""
    return torch.cat([of.unflatten(0, (HEADS, -1)) for of in maps], 1).flatten(0, 1)


def later(n):
    """Returns a mask that hides keys after a query."""
    return torch.full((n, n), -torch.inf).triu(1).view(1, 1, n, n)


def weights(layer, name, outputs, inputs, bias=True):
    return layer(name + ".weight", outputs, inputs), layer(name + ".bias", outputs) if bias else torch.zeros(outputs)


def latent(layer, x, channels, turned=0, wrong=None):
    of, width, n = modelling("deepseek_v2"), x.size(-1), x.size(1)
    d, pairs = width // HEADS, turned or 2  # the module always turns some channels
    config = SimpleNamespace(
        attention_dropout=0.0, attention_bias=True, hidden_size=width, num_attention_heads=HEADS, num_key_value_heads=HEADS,
        q_lora_rank=None, kv_lora_rank=channels, qk_nope_head_dim=d, v_head_dim=d, qk_rope_head_dim=pairs, head_dim=pairs,
        rope_parameters=ROPE, max_position_embeddings=n, _attn_implementation=None)
    query, bias = weights(layer, "query", width, width)
    down, gain = layer("latent.weight", channels, width), layer("latent_gain", channels)
    key, value = layer("key.weight", width, channels), layer("value.weight", width, channels)
    turned_query = layer("turned_query.weight", HEADS * pairs, width) if turned else torch.zeros(HEADS * pairs, width)
    turned_key = layer("turned_key.weight", pairs, width) if turned else torch.zeros(pairs, width)
    if wrong != "pairs of neighbours":
        turned_query, turned_key = (y.unflatten(0, (-1, 2, pairs // 2)).transpose(1, 2).flatten(0, 2)
                                    for y in (turned_query, turned_key))
    with in_double():
        module = of.DeepseekV2Attention(config, 0)
        give(module.q_proj, weight=by_head(query, turned_query), bias=by_head(bias, torch.zeros(HEADS * pairs)))
        give(module.kv_a_proj_with_mqa, weight=torch.cat([down, turned_key]), bias=None)
        give(module.kv_a_layernorm, weight=gain, variance_epsilon=1e-5)
        give(module.kv_b_proj, weight=by_head(key, value))
        give(module.o_proj, **dict(zip(("weight", "bias"), weights(layer, "output", width, width))))
        if not turned or wrong == "scaled by what is not turned":
            module.scaling = d**-0.5
        if wrong == "latent not normed":
            module.kv_a_layernorm = nn.Identity()
        if wrong == "gain before the norm":
            give(module.kv_a_layernorm, weight=torch.ones(channels))
            give(module.kv_a_proj_with_mqa, weight=torch.cat([down * gain.unsqueeze(1), turned_key]))
        places = torch.arange(n).unsqueeze(0) * (wrong != "not turned")
        return module(x, later(n), position_embeddings=of.DeepseekV2RotaryEmbedding(config)(x, places))[0]


def gated(layer, x, key_heads=HEADS, norm=False, turned=False, wrong=None):
    of, width, n = modelling("qwen3_next"), x.size(-1), x.size(1)
    d = width // HEADS
    config = SimpleNamespace(
        attention_dropout=0.0, attention_bias=True, hidden_size=width, num_attention_heads=HEADS, num_key_value_heads=key_heads,
        head_dim=d, rms_norm_eps=1e-5, rope_parameters=ROPE, max_position_embeddings=n, _attn_implementation=None)
    query, bias = weights(layer, "query", width, width)
    key, value = (weights(layer, name, key_heads * d, width) for name in ("key", "value"))
    gate, gate_bias = weights(layer, "gate", width, width, bias=False)
    if wrong == "not gated":
        gate_bias = gate_bias + 50  # the sigmoid of this is 1
    if wrong == "gates from the last":
        gate = gate.flip(0)
    with in_double():
        module = of.Qwen3NextAttention(config, 0)
        give(module.q_proj, weight=by_head(query, gate), bias=by_head(bias, gate_bias))
        give(module.k_proj, weight=key[0], bias=key[1])
        give(module.v_proj, weight=value[0], bias=value[1])
        give(module.o_proj, **dict(zip(("weight", "bias"), weights(layer, "output", width, width))))
        if norm:
            give(module.q_norm, weight=layer("gain", HEADS, 1, 1).squeeze(2) - 1)  # the module adds 1
        else:
            module.q_norm = nn.Identity()
        if not norm or wrong == "keys not normed":
            module.k_norm = nn.Identity()
        places = torch.arange(n).unsqueeze(0) * (turned and wrong != "not turned")
        return module(x, of.Qwen3NextRotaryEmbedding(config)(x, places), later(n))[0]


def compressor(rate, d, weight, bias, before=None):
    """Returns a head's function. It maps tokens [1, n, d] to slots [1, slots, d] and a mask [n, slots] of hidden slots."""
    of, maps = modelling("deepseek_v4"), 1 if before is None else 2
    config = SimpleNamespace(
        hidden_size=d, head_dim=d, rms_norm_eps=1e-5, rope_parameters={}, max_position_embeddings=0, q_lora_rank=1,
        index_n_heads=1, index_head_dim=d, index_topk=2**20,
        compress_rates={"heavily_compressed_attention": rate, "compressed_sparse_attention": rate})
    module = (of.DeepseekV4HCACompressor if before is None else of.DeepseekV4CSACompressor)(config)
    for one in module.parameters():  # also parameters of the indexer, which have no effect because it selects all slots
        nn.init.zeros_(one)
    if before is not None:
        weight, bias = torch.cat([before[0], weight]), torch.cat([before[1], bias], 1)
    give(module.kv_proj, weight=torch.eye(d).repeat(maps, 1))
    give(module.gate_proj, weight=weight)
    give(module, position_bias=bias)
    module.kv_norm = nn.Identity()
    for one in module.modules():
        if isinstance(one, of.DeepseekV4RotaryEmbedding):  # makes the module turn by the angle 0
            one.compress_inv_freq, one.compress_attention_scaling = torch.zeros(1), 1.0

    def compress(tokens):
        n = tokens.size(1)
        slots, hidden = module(tokens, torch.zeros(1, n, 1), torch.arange(n).unsqueeze(0), None, 0)
        return slots.squeeze(1), hidden.view(n, -1)
    return compress


def gated_pool(layer, x, rate, overlap=False, wrong=None):
    width = x.size(-1)
    d = width // HEADS
    q, k, v = (heads_of(y) for y in projected(layer, x, width, width, width))
    gates = [(layer(f"compression.{of}weight", HEADS, d, d), layer(f"compression.{of}bias", HEADS, rate, d))
             for of in ("", "before_")[:1 + overlap]]
    if wrong == "no places":
        gates = [(weight, torch.zeros_like(bias)) for weight, bias in gates]
    if wrong == "one gate for all channels":
        gates = [(weight.mean(1, keepdim=True).expand_as(weight), bias.mean(2, keepdim=True).expand_as(bias))
                 for weight, bias in gates]
    if wrong == "the gates of before are its own":
        gates = [gates[0]] * 2
    if wrong == "before and own in turn":
        gates = gates[::-1]
    if wrong == "no overlap":
        gates = gates[:1]
    read = []
    with in_double():
        for head in range(HEADS):
            own, *before = [(weight[head], bias[head]) for weight, bias in gates]
            compress = compressor(rate, d, *own, *before)
            (keys, hidden), (values, _) = compress(k[:, :, head]), compress(v[:, :, head])
            if wrong == "slots seen from their first token on":
                hidden = torch.cat([hidden[rate - 1:], hidden[-1:].repeat(rate - 1, 1)])
            sizes = (q[:, :, head] @ keys.mT * d**-0.5 + hidden).exp()
            read.append(sizes @ values / sizes.sum(-1, keepdim=True).clamp_min(1e-300))
    return left(layer, x, torch.stack(read, 2))
