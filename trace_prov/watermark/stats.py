"""Exact tails of the two channels, in logarithms, so that a p of 1e-500 is still a number (WATERMARK §1)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

EULER = float(np.euler_gamma)
#: below this a double's tail is rebuilt from logarithms
TINY = 1e-280
#: no likelihood ratio is called lower, in logarithms
LEAST = -1e300


def gamma_log_sf(count: int, total: float) -> float:
    """Return ln P(Gamma(count, 1) >= total): the selection channel's exact tail; 0 when nothing was scored."""
    if count == 0 or total <= 0:
        return 0.0
    tail = float(special.gammaincc(count, total))
    if tail > TINY:
        return math.log(tail)
    # For a whole number of scores the tail is a Poisson sum: e^-S * sum_{k<n} S^k / k!
    k = np.arange(count)
    return float(special.logsumexp(k * math.log(total) - special.gammaln(k + 1)) - total)


def gamma_sf(count: NDArray[np.float64] | float, total: NDArray[np.float64]) -> NDArray[np.float64]:
    """Vectorised P(Gamma(count, 1) >= total); 1 where nothing was scored."""
    counts = np.asarray(count, dtype=float)
    with np.errstate(invalid="ignore"):
        tail = special.gammaincc(np.maximum(counts, 1e-9), np.maximum(total, 0.0))
    return np.asarray(np.where(counts > 0, tail, 1.0))


def match_log_sf(matches: int, ones: int, zeros: int, q: float) -> float:
    """Return ln P(M >= matches) for the tally channel under H0.

    M counts agreements of key bits (1 with probability q) with `ones` observed ones and `zeros` zeros, so it is
    Binomial(ones, q) + Binomial(zeros, 1 - q): a Poisson-binomial with two kinds of trials, exact.
    """
    if ones + zeros == 0 or matches <= 0:
        return 0.0
    if q == 0.5:
        return _binom_log_sf(matches, ones + zeros, 0.5)
    log_pmf = stats.binom.logpmf(np.arange(ones + 1), ones, q)
    needed = np.clip(matches - np.arange(ones + 1), 0, zeros + 1)
    tails = _binom_log_tails(zeros, 1 - q)
    return min(0.0, float(special.logsumexp(log_pmf + tails[needed])))


def match_pmf(matches: int, ones: int, zeros: int, q: float) -> float:
    """Return P(M = matches) under H0, for randomised p-values."""
    above = match_log_sf(matches + 1, ones, zeros, q) if matches < ones + zeros else -math.inf
    return math.exp(match_log_sf(matches, ones, zeros, q)) - math.exp(above)


def _binom_log_sf(matches: int, count: int, q: float) -> float:
    tail = float(stats.binom.sf(matches - 1, count, q))
    if tail > TINY:
        return math.log(tail)
    return float(special.logsumexp(stats.binom.logpmf(np.arange(matches, count + 1), count, q)))


def _binom_log_tails(count: int, q: float) -> NDArray[np.float64]:
    """ln P(X >= k) for k = 0 .. count + 1."""
    log_pmf = stats.binom.logpmf(np.arange(count + 1), count, q)
    tails = np.logaddexp.accumulate(log_pmf[::-1])[::-1]
    return np.append(np.minimum(tails, 0.0), -np.inf)


def match_moments(ones: int, zeros: int, q: float) -> tuple[float, float]:
    """Return mean and standard deviation of the number of matches under H0."""
    return ones * q + zeros * (1 - q), math.sqrt((ones + zeros) * q * (1 - q))


def joint_log_p(rule: str, first: float, second: float) -> float:
    """Return the logarithm of the joint p of two channels' ln p (WATERMARK §1.6)."""
    least = min(first, second)
    if rule == "bonferroni":
        return min(0.0, least + math.log(2))
    if rule == "fisher":
        half = -(first + second)
        return min(0.0, math.log1p(half) - half)
    return sidak_log_p(least)


def sidak_log_p(log_p: float) -> float:
    """Return ln(1 - (1 - p)^2), accurate for tiny p."""
    if log_p >= 0:
        return 0.0
    if log_p < -600:
        return log_p + math.log(2)
    return math.log(-math.expm1(2 * math.log1p(-math.exp(log_p))))


def joint_p(rule: str, first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    """Vectorised joint p of two channels' p-values."""
    least = np.minimum(first, second)
    if rule == "bonferroni":
        return np.asarray(np.minimum(1.0, 2 * least))
    if rule == "fisher":
        half = -(np.log(np.maximum(first, 1e-300)) + np.log(np.maximum(second, 1e-300)))
        return np.asarray(np.exp(np.log1p(half) - half))
    with np.errstate(divide="ignore"):
        return np.asarray(-np.expm1(2 * np.log1p(-least)))


def log_likelihood_ratio(u: NDArray[np.float64], probability: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return (1/p - 1) ln u - ln p: a winner's u is Beta(1/p, 1), any other is uniform (WATERMARK §1.2).

    Never below -1e300, where a probability is too small for doubles: any sum of these stays a number.
    """
    with np.errstate(over="ignore"):
        return np.asarray(np.maximum((1 / probability - 1) * np.log(u) - np.log(probability), LEAST))


def harmonic(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """H_x = psi(x + 1) + gamma_E."""
    return np.asarray(special.digamma(x + 1) + EULER)


def marked_moments(probabilities: NDArray[np.float64]) -> tuple[float, float]:
    """Return mean and variance of one marked decision's score -ln(1 - u) at this distribution (WATERMARK §1.2)."""
    p = probabilities[probabilities > 0]
    h = harmonic(1 / p)
    mean = float(np.sum(p * h))
    second = float(np.sum(p * (math.pi**2 / 6 - special.polygamma(1, 1 / p + 1) + h**2)))
    return mean, second - mean**2


def entropy(probabilities: NDArray[np.float64]) -> float:
    """Shannon entropy in nats."""
    p = probabilities[probabilities > 0]
    return float(-np.sum(p * np.log(p)))


def wilson(hits: int, count: int, z: float = 1.959964) -> tuple[float, float]:
    """Return the Wilson score interval of a share."""
    if count == 0:
        return 0.0, 1.0
    share = hits / count
    middle = share + z * z / (2 * count)
    spread = z * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count))
    scale = 1 + z * z / count
    return max(0.0, (middle - spread) / scale), min(1.0, (middle + spread) / scale)
