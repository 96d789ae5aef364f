"""Computes layers around fla-core's naive forms, and transformers' modules, in float64. Makes tests/plugins/methods.csv, which
tests/plugins/peers_test.cpp reads.

Both sides draw a case's numbers in the order of its rows. The row "output" is the layer's output. It is weighted by numbers
drawn for that row; the other rows are gradients of the weighted sum. A row "wrong: ..." is another convention's output.

| case | fla.ops | differences here |
|---|---|---|
| forget gate | forgetting_attn; attn with a sink | |
| sink, grouped | attn | |
| native sparse | nsa, window by attn | each head of queries has its own keys; nsa's whole form refuses this |
| DeltaNet | delta_rule | from this row to DeltaProduct: queries and keys are scaled to length 1 before the form |
| Gated DeltaNet | gated_delta_rule | the form takes the decay's logarithm, -exp(log_rate) softplus(x W + b) |
| KDA | kda | |
| GDN-2 | gdn2 | |
| DeltaProduct | gated_delta_product | a token's steps are tokens of the form; in our parameters, steps have their own dimension |
| retention | retention | |
| gated linear | gla | |
| linear | linear_attn | divides by the sum of weights; fla adds 1e-10 to the sum |
| Mamba-2 | simple_gla | B and C are not scaled; values by their time steps |
| Based | based | divides by the sum of weights; fla adds 1e-6 to the sum |
| block-mixture (MoBA) | none: moba's kernels need a device, and transformers has no such module | |

| case | transformers.models | differences here |
|---|---|---|
| latent | deepseek_v2: DeepseekV2Attention, no latent of queries | queries have a bias; positions turn channels i and i + d/2 instead of neighbours, so weights have another order; epsilon 1e-5; in the case without turned channels, the module turns zeros, and divides by sqrt(d) |
| gated | qwen3_next: Qwen3NextAttention | the gate has no bias; the norm has a gain for each head, and only for queries; or there is no norm |
| gated pool | deepseek_v4: DeepseekV4HCACompressor; with overlap DeepseekV4CSACompressor, which selects all slots | pools each head's keys and values, which are the module's input; the module's input projection is the identity; no norm, slots not turned; a query without a slot reads 0 |
"""
import importlib.metadata
import sys

try:
    import torch
    import fixture
    from layers import Layer, based, delta, gated_linear, linear, mamba2, native_sparse, retention, softmax
    from modules import gated, gated_pool, latent
except (ImportError, AttributeError) as error:
    print(f"found {error}, expected a python3 with torch and numpy, and the packages of tests/peers/methods.txt: "
          "pip install torch==2.11.0 numpy, tools/setup --peers", file=sys.stderr)
    sys.exit(77)

TOKENS, WIDTH = 6, 4
CASES = {  # the layer, its options, its wrong variants
    "forget gate": (softmax, {"forget_gate": True}, ["fades by the key's own gate"]),
    "forget gate over one head of keys": (softmax, {"forget_gate": True, "key_heads": 1}, ["fades by the key's own gate"]),
    "forget gate with a sink": (softmax, {"forget_gate": True, "sink": True}, ["no sink"]),
    "sink": (softmax, {"sink": True}, ["no sink"]),
    "grouped": (softmax, {"heads": 4, "key_heads": 2, "width": 8}, ["heads of keys in turn"]),
    "KDA": (delta, {"decay": "channel", "gate": True, "convolution": 2, "norm": "rms"},
            ["decays by the token before", "keys of their own length"]),
    "KDA without norm": (delta, {"decay": "channel"}, ["queries not scaled"]),
    "GDN-2": (delta, {"decay": "channel", "strengths": True, "gate": True, "convolution": 2, "norm": "rms"},
              ["writes all", "erases channels alike", "decays by the token before"]),
    "GDN-2 without norm": (delta, {"decay": "channel", "strengths": True, "negative": True},
                           ["queries not scaled", "eigenvalues from 0"]),
    "DeltaProduct": (delta, {"steps": 3, "negative": True, "convolution": 2, "norm": "rms"},
                     ["steps in reverse", "eigenvalues from 0"]),
    "gated DeltaProduct without norm": (delta, {"steps": 2, "decay": "head", "gate": True},
                                        ["steps in reverse", "decays by the token before", "queries not scaled"]),
    "DeltaNet": (delta, {"convolution": 2, "norm": "rms"}, ["keys of their own length"]),
    "Gated DeltaNet without norm": (delta, {"decay": "head", "gate": True}, ["decays by the token before", "queries not scaled"]),
    "retention": (retention, {"gate": True, "norm": "layer", "width": 8}, ["not turned", "heads from the last"]),
    "retention without rotation or norm": (retention, {"rotation": False}, ["heads from the last"]),
    "gated linear": (gated_linear, {"gate": True, "norm": "rms"}, ["no temperature"]),
    "gated linear without norm": (gated_linear, {}, ["no temperature", "decays by the token before"]),
    "linear": (linear, {}, ["exp"]),
    "Mamba-2": (mamba2, {}, ["queries scaled", "normed before the gate"]),
    "Based": (based, {}, ["sums", "scaled by a value's channels"]),
    "native sparse": (native_sparse, {"block": 1, "top": 4, "window": 2}, ["gates from the last", "a token more in the window"]),
    "native sparse by twos": (native_sparse, {"block": 2, "top": 3, "window": 3},
                              ["gates from the last", "a token more in the window"]),
    "latent": (latent, {"channels": 2}, ["latent not normed", "gain before the norm"]),
    "latent with rotation": (latent, {"channels": 6, "turned": 4, "width": 16},
                             ["pairs of neighbours", "scaled by what is not turned", "not turned"]),
    "gated": (gated, {}, ["not gated", "gates from the last"]),
    "gated with norm and rotation over one head of keys": (gated, {"key_heads": 1, "norm": True, "turned": True, "width": 8},
                                                           ["not gated", "gates from the last", "keys not normed", "not turned"]),
    "gated pool": (gated_pool, {"rate": 2}, ["no places", "one gate for all channels"]),
    "gated pool by threes": (gated_pool, {"rate": 3, "width": 8}, ["no places", "slots seen from their first token on"]),
    "gated pool with overlap": (gated_pool, {"rate": 2, "overlap": True, "width": 8},
                                ["no overlap", "the gates of before are its own", "before and own in turn"]),
}


def rows_of(seed, name):
    make, given, wrongs = CASES[name]
    options, layer = dict(given), Layer(seed)
    width = options.pop("width", WIDTH)
    seen, x = layer("output", 1, TOKENS, width), layer("x", 1, TOKENS, width)
    output = make(layer, x, **options)
    gradients = torch.autograd.grad((output * seen).sum(), [of for key, of in layer.drawn.items() if key != "output"])
    found = dict(zip(layer.drawn, [output, *gradients]))
    found |= {"wrong: " + wrong: make(layer, x, **options, wrong=wrong) for wrong in wrongs}
    # Numbers that are 0 except for rounding would differ between processors.
    return [[name, key, " ".join(fixture.text_of(0 if abs(y) < 1e-13 else y) for y in of.flatten().tolist())]
            for key, of in found.items()]


def main():
    torch.set_default_dtype(torch.float64)
    by = ", ".join(f"{of} {importlib.metadata.version(of)}" for of in ("fla-core", "transformers")) + "; by tests/peers/methods.py"
    rows = [row for seed, name in enumerate(CASES, 1) for row in rows_of(seed, name)]
    fixture.finish("methods.csv", by, ["case", "name", "values"], rows, folder="plugins", within=1e-11)


if __name__ == "__main__":
    main()
