"""Wang, Yeung & Lochovsky's search for breakpoints: the slow twin of kernel paths, for the hinge and the rbf kernel.

gamma moves by factors: theta while the solution of fixed places is valid, its square root whenever it is not, until the
factor is nearer to one than epsilon. Then the sample that is first on the wrong side changes its place, just beyond.
"""

import numpy as np


class DecayPath:
    """The machine with exp(-gamma S) as gamma grows (in the paper's scale, 1 / gamma decays).

    Attributes
    ----------
    events : list of (gamma, sample)
    trials : int
        How often the elbow system was solved.
    """

    def __init__(self, S, y, C, gamma, alpha, theta=0.95, epsilon=1e-6):
        self.S, self.y, self.lam = S, y, 1.0 / C
        self.theta, self.epsilon = theta, epsilon
        self.gamma, self.trials, self.events = float(gamma), 0, []
        beta = y * alpha / C
        self.place = np.where(beta < 1e-9, 0, np.where(beta > 1 - 1e-9, 1, 2))  # right, left, elbow
        if not np.any(self.place == 2):
            raise ValueError("The twin does not know what to do without a sample on the elbow.")

    def solve(self, gamma, place):
        """Beta, and the margins minus one in units of lambda, at fixed places."""
        self.trials += 1
        y, E, L = self.y, np.flatnonzero(place == 2), np.flatnonzero(place == 1)
        m, support = len(E), np.concatenate([E, L])
        K = np.exp(-gamma * self.S[:, support])
        M = np.zeros((m + 1, m + 1))
        M[0, 1:] = M[1:, 0] = 1.0
        M[1:, 1:] = K[E, :m]
        left = K[:, m:] @ y[L]
        found = np.linalg.solve(M, np.concatenate([[-y[L].sum()], self.lam * y[E] - left[E]]))
        margin = y * (K[:, :m] @ found[1:] + left + found[0]) - self.lam
        return y[E] * found[1:], margin, E

    def wrong(self, gamma, place):
        """By how much each sample is on the wrong side, and the place it asks for."""
        beta, margin, E = self.solve(gamma, place)
        off, wanted = np.zeros(len(place)), place.copy()
        off[place == 0] = np.maximum(-margin[place == 0], 0.0)
        off[place == 1] = np.maximum(margin[place == 1], 0.0)
        wanted[off > 0] = 2
        off[E] = np.maximum(-beta, beta - 1.0).clip(0.0)
        wanted[E[beta < 0]], wanted[E[beta > 1]] = 0, 1
        off[off < 1e-12] = 0.0
        return off, wanted

    def to(self, last):
        """Walk to the last gamma."""
        while self.gamma < last:
            r, failed = self.theta, None
            while r < 1 - self.epsilon:
                gamma = min(self.gamma / r, last)
                off, wanted = self.wrong(gamma, self.place)
                if off.any():
                    r, failed = np.sqrt(r), (gamma, off, wanted)
                    continue
                self.gamma = gamma
                if gamma == last:
                    return self
            if failed is not None:
                self.change(*failed)
        return self

    def change(self, gamma, off, wanted):
        """Samples on the wrong side at gamma change places, the worst first, until nobody is."""
        for _ in range(20):
            if not off.any():
                self.gamma = gamma
                return
            i = int(np.argmax(off))
            self.place = self.place.copy()
            self.place[i] = wanted[i]
            self.events.append((gamma, i))
            off, wanted = self.wrong(gamma, self.place)
        raise RuntimeError(f"The scheme is stuck at gamma = {gamma:.6g}.")
