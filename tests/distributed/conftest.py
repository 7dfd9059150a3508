"""What is tested here works on chunks also where they have few rows."""

import pytest

from svmpath.estimators import chunks


@pytest.fixture(autouse=True, scope="package")
def few_rows_stay_in_chunks():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chunks, "GATHERED_ROWS", 0)
        yield
