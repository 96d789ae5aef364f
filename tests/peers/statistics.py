"""Computes statistics of 1,000 random tables by SciPy, statsmodels and autorank: tests/db/statistics.csv, for tests/db/peers_test.cpp.

If two of these programs compute the same number, the two numbers must agree:

| ablate | peers |
|---|---|
| paired difference, interval | scipy ttest_1samp; statsmodels DescrStatsW |
| difference of two samples, interval | scipy ttest_ind (Welch); statsmodels CompareMeans |
| p of sign flips, of splits | scipy permutation_test, all arrangements |
| Holm | statsmodels multipletests |
| power | scipy nct; statsmodels TTestPower |
| mean, deviation, interval | autorank; statsmodels DescrStatsW |
| interval over repeated splits | baycomp (which autorank uses), Nadeau and Bengio |
| rank over the rows | autorank |
| exponent and its uncertainty | statsmodels OLS; scipy linregress |
| ratio's uncertainty | statsmodels NonlinearDeltaCov |
"""
import contextlib
import importlib.metadata
import os
import warnings

import autorank
import baycomp
import numpy as np
import pandas as pd
import scipy
import statsmodels
import statsmodels.api as sm
from scipy import integrate, stats
from statsmodels.stats._delta_method import NonlinearDeltaCov
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestPower
from statsmodels.stats.weightstats import CompareMeans, DescrStatsW

import fixture
from draws import Draws

TABLES = 1000


def agree(*numbers):
    """Returns the first of several peers' numbers, after a check that they agree."""
    np.testing.assert_allclose(numbers[1:], numbers[:-1], rtol=1e-11, atol=1e-13)
    return numbers[0]


def exact(data, kind):
    """Returns the p value of the first sample's sum. The sum is exact, and rises with the difference of the means."""
    def first(sample, *others, axis):
        return np.sum(sample, axis=axis)
    return stats.permutation_test(data, first, permutation_type=kind, n_resamples=np.inf, vectorized=True).pvalue


def paired(a, b):
    d = a - b
    test = stats.ttest_1samp(d, 0).confidence_interval(0.95)
    low, high = DescrStatsW(d).tconfint_mean(0.05)
    return [np.mean(d), agree(test.low, low), agree(test.high, high), exact((d,), "samples")]


def unpaired(a, b):
    test = stats.ttest_ind(a, b, equal_var=False).confidence_interval(0.95)
    low, high = CompareMeans(DescrStatsW(a), DescrStatsW(b)).tconfint_diff(0.05, usevar="unequal")
    return [np.mean(a) - np.mean(b), agree(test.low, low), agree(test.high, high), exact((a, b), "independent")]


def power(effect, n, level):
    t = stats.t.isf(level / 2, n - 1)
    there = stats.nct(n - 1, effect * np.sqrt(n))
    whole = there.sf(t) + there.cdf(-t)
    if not np.isnan(whole):
        return agree(whole, TTestPower().power(effect, n, level))
    # SciPy returns NaN in the far tail, so the same number is computed by quadrature over the estimated deviation.
    normal, shift = stats.norm.cdf, effect * np.sqrt(n)
    density = lambda s: stats.chi.pdf(s, n - 1) * (normal(shift - t * s / np.sqrt(n - 1)) + normal(-shift - t * s / np.sqrt(n - 1)))
    return integrate.quad(density, 0, np.inf, epsabs=1e-13, epsrel=1e-13)[0]


def cells(draws):
    """Returns three rows of cells with samples. The third row begins like the first, which makes a tie."""
    columns, seeds = 5 + draws.whole(3), 5 + draws.whole(3)
    sizes = [1 + draws.whole(500)]
    for _ in range(columns - 1):
        sizes.append(sizes[-1] + 1 + draws.whole(500))
    rows = [[draws.values(seeds, 1 + draws.whole(900)) for _ in sizes] for _ in range(3)]
    rows[2][0] = rows[0][0]
    return sizes, rows


def of_cell(cell, other):
    """Returns mean, deviation, half the interval of the mean, and half the interval over splits with overlap 1 / (n - 1)."""
    # autorank divides the level by the number of populations. It uses Student's interval if both pass a test of normality.
    found = autorank.autorank(pd.DataFrame({"a": cell, "b": other}), alpha=0.1, force_mode="parametric")
    of_a = found.rankdf.loc["a"]
    half = DescrStatsW(cell).tconfint_mean(0.05)[1] - np.mean(cell)
    if found.all_normal:
        agree(half, of_a["ci_upper"] - of_a["mean"])
    splits = baycomp.CorrelatedTTest(cell, np.zeros(len(cell)))
    return [of_a["mean"], of_a["std"], half, stats.t.isf(0.025, splits.df) * np.sqrt(splits.var)]


def ratio(a, b):
    ddof = {"ddof": 1}
    variances = np.diag([np.var(a, **ddof), np.var(b, **ddof)])
    found = NonlinearDeltaCov(lambda p: np.array([p[0] / p[1]]), np.array([np.mean(a), np.mean(b)]), variances,
                              deriv=lambda p: np.array([[1 / p[1], -p[0] / p[1]**2]]))
    return [np.mean(a) / np.mean(b), found.se_vectorized()[0]]


def exponent(sizes, row):
    x, y = np.log(sizes), np.log([np.mean(cell) for cell in row])
    relative = np.array([np.std(cell, ddof=1) / np.mean(cell) for cell in row])
    fit = sm.OLS(y, sm.add_constant(x)).fit()
    weights = fit.model.pinv_wexog[1]
    return [agree(stats.linregress(x, y).slope, fit.params[1]), np.linalg.norm(weights * relative)]


def mean_rank(rows):
    means = pd.DataFrame({name: [np.mean(cell) for cell in row] for name, row in zip("abc", rows)})
    return [autorank.autorank(means, order="ascending", force_mode="nonparametric").rankdf.loc["a", "meanrank"]]


def row_of(seed):
    draws = Draws(seed)
    n, m = 3 + draws.whole(7), 3 + draws.whole(5)
    a, b, c = draws.values(n, draws.whole(900)), draws.values(n, 0), draws.values(m, 0)
    family = [draws.whole(1000) / 5000 for _ in range(2 + draws.whole(9))]
    effect, level = 0.5 + draws.whole(30) / 10, 0.05 / (1 + draws.whole(10))
    sizes, rows = cells(draws)
    numbers = (paired(a, b) + unpaired(a[:6], c) + [power(effect, n, level)] + of_cell(rows[0][0], rows[1][0]) +
               ratio(rows[0][0], rows[1][0]) + exponent(sizes, rows[0]) + mean_rank(rows))
    holm = multipletests(family, method="holm")[1]
    return [seed] + [fixture.text_of(x) for x in numbers] + [" ".join(fixture.text_of(x) for x in holm)]


def main():
    warnings.filterwarnings("error", category=RuntimeWarning, module="scipy")
    names = ("seed paired paired_low paired_high paired_p sides low high p power mean deviation half half_of_splits "
             "ratio ratio_uncertainty exponent exponent_uncertainty rank holm")
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):  # autorank prints text
        rows = [row_of(seed) for seed in range(1, TABLES + 1)]
    by = f"scipy {scipy.__version__}, statsmodels {statsmodels.__version__}, autorank {importlib.metadata.version('autorank')}; by tests/peers/statistics.py"
    fixture.finish("statistics.csv", by, names.split(), rows)


if __name__ == "__main__":
    main()
