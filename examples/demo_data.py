"""Write the demonstration's data: ``python examples/demo_data.py FOLDER``.

``breast_cancer.csv`` has 539 of the 569 rows of the Wisconsin breast cancer set that comes with scikit-learn,
the diagnosis in words; ``new_patients.csv`` has the other 30, without the diagnosis.
"""

import argparse
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer


def main() -> None:
    """Write both files to the folder named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where to write; made if need be")
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)

    cancer = load_breast_cancer(as_frame=True)
    table = cancer.data.assign(diagnosis=cancer.target_names[cancer.target])
    new = np.zeros(len(table), dtype=bool)
    new[np.random.default_rng(0).choice(len(table), size=30, replace=False)] = True

    table[~new].to_csv(folder / "breast_cancer.csv", index=False)
    table[new].drop(columns="diagnosis").to_csv(folder / "new_patients.csv", index=False)
    print(f"Wrote {folder / 'breast_cancer.csv'} and {folder / 'new_patients.csv'}.")


if __name__ == "__main__":
    main()
