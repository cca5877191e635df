import pytest


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with files to train and to test on, in which the command runs."""
    from cli.running import sets, single
    from shortlist import datasets

    monkeypatch.chdir(tmp_path)
    datasets.write(single(), "train.svm")
    datasets.write(single(24, seed=1), "test.svm")
    datasets.write(sets(), "sets.parquet")
    return tmp_path
