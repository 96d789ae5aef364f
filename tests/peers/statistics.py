"""What SciPy and statsmodels say of 1,000 random tables: writes tests/db/statistics.csv, which tests/db/inference_test.cpp reads.

By hand, in the environment of `tools/setup --peers`:  ~/.cache/ablate/peers/bin/python tests/peers/statistics.py
The values themselves are not kept: both sides draw them from the seed.
"""
import csv
import pathlib
import sys
import warnings

import numpy as np
import scipy
from scipy import integrate, stats
from statsmodels.stats.multitest import multipletests

warnings.filterwarnings("error", category=RuntimeWarning)
TABLES = 1000


class Draws:
    """A linear congruential generator (Knuth's MMIX), as the test has it."""

    def __init__(self, seed):
        self.state = seed

    def whole(self, below):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 33) % below

    def values(self, count, shift):
        """Multiples of 1/1024 between 0 and 1, moved by shift / 1024: their sums are exact, and ties are ties for SciPy, too."""
        return np.array([(self.whole(1025) + shift) / 1024 for _ in range(count)])


def sum_of_first(a, b, axis):
    """Rises with the difference of the means, and is exact."""
    return np.sum(a, axis=axis)


def paired(a, b):
    d = a - b
    interval = stats.ttest_1samp(d, 0).confidence_interval(0.95) if len(set(d)) > 1 else None
    test = stats.permutation_test((d,), lambda x, axis: np.sum(x, axis=axis), permutation_type="samples",
                                  n_resamples=np.inf, vectorized=True)
    return (interval.low, interval.high) if interval else (d[0], d[0]), test.pvalue


def unpaired(a, b):
    interval = stats.ttest_ind(a, b, equal_var=False).confidence_interval(0.95)
    test = stats.permutation_test((a, b), sum_of_first, permutation_type="independent", n_resamples=np.inf, vectorized=True)
    return (interval.low, interval.high), test.pvalue


def power(effect, n, level):
    t = stats.t.isf(level / 2, n - 1)
    there = stats.nct(n - 1, effect * np.sqrt(n))
    exact = there.sf(t) + there.cdf(-t)
    if not np.isnan(exact):
        return exact
    # SciPy's own far tail fails there: the same by quadrature over the estimated deviation.
    normal, shift = stats.norm.cdf, effect * np.sqrt(n)
    density = lambda s: stats.chi.pdf(s, n - 1) * (normal(shift - t * s / np.sqrt(n - 1)) + normal(-shift - t * s / np.sqrt(n - 1)))
    return integrate.quad(density, 0, np.inf, epsabs=1e-13, epsrel=1e-13)[0]


def main():
    out = pathlib.Path(__file__).parent.parent / "db/statistics.csv"
    with open(out, "w", newline="") as file:
        print(f"# scipy {scipy.__version__}; by tests/peers/statistics.py", file=file)
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow("seed paired_low paired_high paired_p low high p holm power".split())
        for seed in range(1, TABLES + 1):
            draws = Draws(seed)
            n, m = 3 + draws.whole(7), 3 + draws.whole(5)
            a, b, c = draws.values(n, draws.whole(900)), draws.values(n, 0), draws.values(m, 0)
            (low, high), p = paired(a, b)
            (w_low, w_high), w_p = unpaired(a[:6], c)
            family = [draws.whole(1000) / 5000 for _ in range(2 + draws.whole(9))]
            adjusted = multipletests(family, method="holm")[1]
            effect, level = 0.5 + draws.whole(30) / 10, 0.05 / (1 + draws.whole(10))
            numbers = [low, high, p, w_low, w_high, w_p]
            writer.writerow([seed] + [repr(float(x)) for x in numbers] + [" ".join(repr(float(x)) for x in adjusted)] +
                            [repr(float(power(effect, n, level)))])
    print(out, file=sys.stderr)


if __name__ == "__main__":
    main()
