"""Messy data files, made by seeded code: what people have, not what they should have."""

import numpy as np
import pandas as pd

N = 60


def _base(seed, n):
    """Columns that a label follows, so that there is something to learn."""
    rng = np.random.default_rng(seed)
    age, town = rng.integers(18, 80, n), rng.choice(["Ulm", "Bonn", "Kiel"], n)
    risk = np.where(age + 20 * (town == "Ulm") + rng.normal(0, 4, n) > 50, "high", "low")
    return rng, pd.DataFrame({"age": age.astype(object), "town": town.astype(object), "risk": risk})


def customers(n=N, seed=0):
    """Missing values in several spellings, an identifier, dates, a constant, percent, thousands, gaps in the target."""
    rng, table = _base(seed, n)
    table.insert(0, "customer", [f"C{code:05d}" for code in rng.permutation(99999)[:n]])
    table["since"] = pd.Series(pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n), unit="D")).dt.date
    table["income"] = [f"{value:,.0f}" for value in rng.uniform(900, 90000, n)]
    table["share"] = [f"{value} %" for value in rng.integers(0, 100, n)]
    table["score"] = rng.normal(size=n).round(3).astype(str)
    table["member"] = rng.choice(["yes", "no"], n)
    table["zip"] = rng.choice(["01067", "04109", "80331"], n)
    table["currency"] = "EUR"
    table.loc[[1, 5, 9], "age"] = ["", "NA", "?"]
    table.loc[[2, 8], "town"] = ["null", "-"]
    table.loc[[4, 6, 7], "score"] = "unknown"
    table.loc[[3, 11], "risk"] = ""
    return table.to_csv(index=False)


def german(n=N, seed=1):
    """Semicolons, decimal commas, points for thousands, days first, a byte order mark, Windows line ends."""
    rng, table = _base(seed, n)
    table["Größe"] = [f"{value:.2f}".replace(".", ",") for value in rng.uniform(1, 2, n)]
    table["Preis"] = [
        f"{value:,.2f}".translate(str.maketrans(",.", ".,")) + " €" for value in rng.uniform(900, 9000, n)
    ]
    days = pd.Series(pd.Timestamp("2021-03-01") + pd.to_timedelta(rng.integers(0, 300, n), unit="D"))
    table["Tag"] = days.dt.strftime("%d.%m.%Y")
    return "\ufeff" + table.to_csv(index=False, sep=";", lineterminator="\r\n")


def quoted(n=N, seed=2):
    """Quotes with separators and line ends inside, spaces around cells, blank lines, empty lines at the end."""
    rng, table = _base(seed, n)
    notes = ['says "fine, thanks"', "two\nlines", "plain"]
    table["remark"] = [notes[index] for index in rng.integers(0, 3, n)]
    table["town"] = " " + table["town"] + " "
    head, rest = table.to_csv(index=False).split("\n", 1)
    return f"\n{head}\n\n{rest}\n\n\n"


def many_words(n=200, seed=3):
    """A column of very many words, one of numbers and words, one that is nearly empty, one that is empty."""
    rng, table = _base(seed, n)
    table["street"] = [f"street {number}" for number in rng.integers(0, 120, n)]
    table["grade"] = rng.choice(["1", "2", "3a", "3b", "4+"], n)
    table["fax"] = [""] * (n - 1) + ["1234"]
    table["pager"] = ""
    return table.to_csv(index=False)


def ambiguous(n=N, seed=4):
    """Days and months that can be exchanged, a row number, a number all of whose values differ, times of the day."""
    rng, table = _base(seed, n)
    table.insert(0, "row", np.arange(1, n + 1))
    table["visit"] = [f"{rng.integers(1, 12)}/{rng.integers(1, 12)}/2024" for _ in range(n)]
    table["weight"] = rng.permutation(1000)[:n]
    table["hour"] = [f"{rng.integers(0, 24):02d}:{rng.integers(0, 60):02d}" for _ in range(n)]
    return table.to_csv(index=False)


def sites(n=N, seed=5):
    """Weights, groups, and a target of True and False."""
    rng, table = _base(seed, n)
    table["clinic"] = rng.choice(["a", "b", "c", "d", "e", "f"], n)
    table["w"] = rng.uniform(0.5, 2, n).round(2)
    table["risk"] = table["risk"] == "high"
    table.loc[[0, 1], "age"] = "n/a"
    return table.to_csv(index=False)


def prices(n=N, seed=6):
    """A regression: a target in dollars, some of it missing."""
    rng, table = _base(seed, n)
    rooms = rng.integers(1, 7, n)
    table["rooms"] = rooms
    table["risk"] = [
        f"${1000 * count + 37 * number:,}" for count, number in zip(rooms, rng.integers(0, 9, n), strict=True)
    ]
    table.loc[[5], "risk"] = "n/a"
    return table.to_csv(index=False)


FILES = {
    "customers": customers,
    "german": german,
    "quoted": quoted,
    "many_words": many_words,
    "ambiguous": ambiguous,
    "sites": sites,
    "prices": prices,
}
