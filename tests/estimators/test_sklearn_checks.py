"""scikit-learn's own estimator checks."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from svmpath import PathOneClassSVM, PathSVC, PathSVR, Range

# A weight of two is not two samples to a leave-one-out choice: the copy left in the fit gives the other one away.
REPETITION = "leaving one sample out tells a weight of two from a sample that is there twice"
EXCUSED = {
    "check_sample_weight_equivalence_on_dense_data": REPETITION,
    "check_sample_weight_equivalence_on_sparse_data": REPETITION,
}

QUICK = [
    PathSVC(gamma=1.0, C=[1.0]),  # they choose among few values
    PathSVR(kernel="linear", C=[1.0], scale=True),
    PathOneClassSVM(gamma=1.0, nu=0.3),  # some checks have few rows
]
ESTIMATORS = [
    PathOneClassSVM(nu=0.3),
    PathOneClassSVM(nu=[0.3, 0.5], rank=10, scale=True),
    PathSVC(loss="least_squares", gamma=1.0, C=[0.1, 1.0]),
    PathSVC(calibration="temperature"),  # as below
    PathSVR(),
    PathSVC(loss="least_squares", gamma=1.0, C=[1.0], scale=True),
    PathSVC(loss="least_squares", rank=10, random_state=0, gamma=1.0, C=[1.0]),
    PathSVC(loss="least_squares"),
    PathSVC(loss="least_squares", rank=10, random_state=0, calibration="temperature"),  # as below
    PathSVR(loss="least_squares", kernel="poly", gamma=Range(0.01, 10.0), search="grid", scoring="squared"),
    # Platt's sigmoid is 1/2 beside zero: near the boundary the class with the larger probability may be the other one.
    PathSVC(loss="least_squares", kernel="linear", criterion="kfold", cv=3, calibration="temperature"),
    PathSVC(loss="squared_hinge", gamma=[0.1, 1.0], C=[0.1, 1.0, 10.0]),
    PathSVC(loss="least_squares", gamma="ard", C=Range(0.1, 10.0), random_state=0),
    PathSVR(search="gradient", gamma=Range(0.05, 2.0), C=Range(0.1, 10.0), random_state=0),
]


# Some checks fit a cubic kernel to data without noise: the best C is the largest, and the warning is right.
@pytest.mark.filterwarnings("ignore::svmpath.exceptions.PrecisionWarning")
@parametrize_with_checks(QUICK, expected_failed_checks=lambda estimator: EXCUSED)
def test_estimator_check(estimator, check):
    check(estimator)


# Some checks fit columns of noise, or targets that are a function of the rows: then the best C is an end of the range.
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::svmpath.exceptions.EdgeWarning", "ignore::svmpath.exceptions.PrecisionWarning")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=lambda estimator: EXCUSED)
def test_estimator_check_of_a_search(estimator, check):
    check(estimator)
