"""Small tables, and arguments that tune on them."""

import numpy as np
import pandas as pd
import skops.io

FIXED = ("--C", "1", "--gamma", "0.1")  # where the choice does not matter

GOOD = "a,b,y\n" + "".join(f"{i},{'uv'[i % 2]},{i * i % 7}.5\n" for i in range(12))


def flats(n=40, seed=0):
    """A table with numbers, words and truth values, a label in words and a price."""
    rng = np.random.default_rng(seed)
    area = rng.uniform(20, 120, n).round(1)
    town = rng.choice(["Ulm", "Bonn", "Kiel"], n)
    lift = rng.random(n) < 0.5
    price = 10 * area + 200 * (town == "Bonn") + 50 * lift + rng.normal(0, 10, n)
    sold = np.where(price > np.median(price), "dear", "cheap")
    return pd.DataFrame({"area": area, "town": town, "lift": lift, "price": price.round(2), "sold": sold})


def csv(text):
    """Write data.csv and give the arguments that tune on it."""
    with open("data.csv", "w", encoding="utf-8") as file:
        file.write(text)
    return ["data.csv", "--target", "y"]


def load(path="model.skops"):
    return skops.io.load(path, trusted=skops.io.get_untrusted_types(file=path))
