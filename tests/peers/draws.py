"""Random numbers that both sides of a comparison compute, so that no table of them is stored."""
import numpy as np


class Draws:
    """A linear congruential generator (Knuth's MMIX), the same as in tests/db/draws.h."""

    def __init__(self, seed):
        self.state = seed

    def whole(self, below):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 33) % below

    def values(self, count, shift):
        """Returns multiples of 1/1024 between 0 and 1, plus shift / 1024. Their sums are exact, so that SciPy finds the same ties."""
        return np.array([(self.whole(1025) + shift) / 1024 for _ in range(count)])


class Mersenne:
    """The 64-bit Mersenne twister (Nishimura 2000), which C++ calls std::mt19937_64."""

    def __init__(self, seed):
        self.words, self.at = [seed], 312
        for i in range(1, 312):
            last = self.words[-1]
            self.words.append((6364136223846793005 * (last ^ (last >> 62)) + i) % 2**64)

    def turn(self):
        words = self.words
        for i in range(312):
            x = (words[i] & 0xFFFFFFFF80000000) | (words[(i + 1) % 312] & 0x7FFFFFFF)
            words[i] = words[(i + 156) % 312] ^ (x >> 1) ^ (0xB5026F5AA96619E9 if x & 1 else 0)
        self.at = 0

    def __call__(self):
        if self.at == 312:
            self.turn()
        x = self.words[self.at]
        self.at += 1
        x ^= (x >> 29) & 0x5555555555555555
        x ^= (x << 17) & 0x71D67FFFEDA60000
        x ^= (x << 37) & 0xFFF7EEE000000000
        return x ^ (x >> 43)

    def below(self, bound):
        """Returns a number below `bound`, each with equal probability: draws again if a word would favour small numbers
        (db/report/inference/permutation.cpp)."""
        last = 2**64 - 1 - (2**64 - 1) % bound
        while True:
            drawn = self()
            if drawn < last:
                return drawn % bound


assert [Mersenne(5489)() for _ in range(1)] == [14514284786278117030]  # the first number with the default seed
