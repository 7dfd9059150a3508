"""scikit-learn estimators: assembly only."""

from svmpath.estimators.classifier import PathSVC
from svmpath.estimators.dictionary import KernelDictionary
from svmpath.estimators.elastic_net import ElasticNetSVC
from svmpath.estimators.novelty import PathOneClassSVM
from svmpath.estimators.regressor import PathSVR

__all__ = ["ElasticNetSVC", "KernelDictionary", "PathOneClassSVM", "PathSVC", "PathSVR"]
