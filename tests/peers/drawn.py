"""Computes p values by SciPy's permutation_test, with the flips and splits of db/report/inference/permutation.cpp. SciPy uses
our 100,000 draws instead of its own draws. Makes tests/db/statistics_drawn.csv, which tests/db/peers_test.cpp reads.
"""
import numpy as np
import scipy
from scipy import stats

import fixture
from draws import Draws, Mersenne

DRAWS, SEED, TABLES = 100_000, 20261124, 8


class Flips(np.random.Generator):
    """Draws a bit for each value, starting with the lowest bit of a word. A bit of 1 leaves the sign unchanged."""

    def __init__(self):
        super().__init__(np.random.PCG64(0))
        self.words = Mersenne(SEED)

    def permuted(self, indices, axis):
        draws, values, _ = indices.shape
        kept = np.array([[bits >> i & 1 for i in range(values)] for bits in (self.bits(values) for _ in range(draws))])
        return np.stack([1 - kept, kept], axis=-1)

    def bits(self, values):
        return sum(self.words() << 64 * word for word in range((values + 63) // 64))


class Splits(np.random.Generator):
    """Draws the first entries of a shuffle (Fisher and Yates). Each shuffle starts from the order of the last shuffle."""

    def __init__(self, first, all_values):
        super().__init__(np.random.PCG64(0))
        self.words, self.first, self.order = Mersenne(SEED), first, list(range(all_values))

    def permutation(self, values):
        for i in range(self.first):
            j = i + self.words.below(values - i)
            self.order[i], self.order[j] = self.order[j], self.order[i]
        return np.array(self.order)


def first(sample, *others, axis):
    return np.sum(sample, axis=axis)


def row_of(seed):
    draws = Draws(seed)
    n, a, b = 21 + draws.whole(60), 11 + draws.whole(10), 13 + draws.whole(10)
    d = draws.values(n, 0) - draws.values(n, 0) + draws.whole(200) / 1024
    one, other = draws.values(a, draws.whole(300)), draws.values(b, 0)
    common = {"n_resamples": DRAWS, "vectorized": True}
    flips = stats.permutation_test((d,), first, permutation_type="samples", rng=Flips(), **common)
    splits = stats.permutation_test((one, other), first, permutation_type="independent", rng=Splits(a, a + b), **common)
    return [seed, fixture.text_of(flips.pvalue), fixture.text_of(splits.pvalue)]


def main():
    fixture.finish("statistics_drawn.csv", f"scipy {scipy.__version__}; by tests/peers/drawn.py", ["seed", "flips", "splits"],
                   [row_of(seed) for seed in range(1, TABLES + 1)])


if __name__ == "__main__":
    main()
