"""The loader of the paper's data sets: folders, hashes, and what happens without a network."""

import gzip
import hashlib
import os

import numpy as np
import pytest

from calibrant.experiments import datasets
from calibrant.experiments.datasets import load_adult, load_covertype

ADULT = (
    "39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, White, "
    "Male, 2174, 0, 40, United-States, <=50K\n"
    "50, ?, 83311, HS-grad, 9, Divorced, Sales, Husband, White, Female, 0, 0, 13, Cuba, >50K\n"
)
TEST = "|1x3 Cross validator\n" + ADULT.replace("50K\n", "50K.\n")


@pytest.fixture
def small_files(monkeypatch):
    """Stand-ins for the real files, under their own hashes."""
    forest = "\n".join(",".join(map(str, [*range(54), kind])) for kind in (2, 1, 2)) + "\n"
    texts = {
        "adult/adult.data": ADULT,
        "adult/adult.test": TEST,
        "covtype/covtype.data": forest,
    }
    for name, text in texts.items():
        url, _ = datasets._FILES[name]
        digest = hashlib.sha256(text.encode()).hexdigest()
        monkeypatch.setitem(datasets._FILES, name, (url, digest))
    monkeypatch.delenv("CALIBRANT_DATA", raising=False)
    return texts


def write(folder, texts, packed):
    for name, text in texts.items():
        place = folder / (f"{name}.gz" if packed else name)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(gzip.compress(text.encode()) if packed else text.encode())


@pytest.mark.parametrize("packed", [False, True])
def test_reads_a_folder(small_files, tmp_path, packed, monkeypatch):
    write(tmp_path, small_files, packed)
    adult = datasets.load_adult(tmp_path)
    assert adult.labels.tolist() == [False, True, False, True]
    assert adult.features[:, 0].tolist() == [39, 50, 39, 50]
    # six numbers; of words, two kinds each in 8 columns would be 16, but race has one
    assert adult.features.shape == (4, 6 + 15)
    assert repr(adult) == "<Dataset Adult: 4 rows, 21 columns, 50.0% events>"
    forest = datasets.load_covertype(tmp_path)
    assert forest.labels.tolist() == [True, False, True]
    assert forest.features.shape == (3, 54)
    monkeypatch.setenv("CALIBRANT_DATA", str(tmp_path))
    assert np.array_equal(datasets.load_adult().features, adult.features)


def test_a_changed_or_missing_file_is_refused(small_files, tmp_path):
    with pytest.raises(ValueError, match=r"There is no adult/adult\.data"):
        datasets.load_adult(tmp_path)
    write(tmp_path, small_files, packed=False)
    (tmp_path / "adult" / "adult.data").write_text(ADULT + "\n", encoding="utf-8")
    with pytest.raises(ValueError, match="its hash differs"):
        datasets.load_adult(tmp_path)


def test_downloads_are_checked_too(small_files, tmp_path, monkeypatch):
    import pooch

    def retrieved(url, **_):
        name = next(name for name, (known, _) in datasets._FILES.items() if known == url)
        place = tmp_path / name.replace("/", "-")
        place.write_bytes(gzip.compress(small_files[name].encode()))
        return str(place)

    monkeypatch.setattr(pooch, "retrieve", retrieved)
    assert len(datasets.load_covertype().labels) == 3

    def unreachable(*_, **__):
        raise OSError("no route to host")

    monkeypatch.setattr(pooch, "retrieve", unreachable)
    with pytest.raises(ValueError, match=r"could not be downloaded .*no route to host.*data_dir="):
        datasets.load_adult()


def test_a_download_that_was_cut_off_is_not_kept(small_files, tmp_path, monkeypatch):
    import pooch

    place = tmp_path / "cached"
    whole = gzip.compress(small_files["covtype/covtype.data"].encode())

    def retrieved(_url, **_):
        if not place.exists():
            place.write_bytes(parts.pop())
        return str(place)

    monkeypatch.setattr(pooch, "retrieve", retrieved)
    parts = [whole, whole[: len(whole) // 2]]
    with pytest.raises(ValueError, match=r"hash differs.*cut off.*again"):
        datasets.load_covertype()
    assert len(datasets.load_covertype().labels) == 3  # the second attempt downloads it again
    assert parts == []


def test_a_damaged_file_of_ones_own_is_refused_and_kept(small_files, tmp_path):
    write(tmp_path, small_files, packed=True)
    place = tmp_path / "covtype" / "covtype.data.gz"
    damaged = bytearray(place.read_bytes())
    damaged[20] ^= 255
    place.write_bytes(damaged)
    with pytest.raises(ValueError, match=r"covtype\.data\.gz' is not the covtype/covtype\.data"):
        datasets.load_covertype(tmp_path)
    assert place.read_bytes() == damaged


REAL = pytest.mark.skipif(
    not os.environ.get("CALIBRANT_DATA"), reason="CALIBRANT_DATA names no folder of UCI files"
)


@pytest.mark.validity
@REAL
def test_real_data_are_the_published_ones():
    adult, forest = load_adult(), load_covertype()
    assert (len(adult.labels), int(adult.labels.sum())) == (48_842, 11_687)
    assert (len(forest.labels), int(forest.labels.sum())) == (581_012, 283_301)
    assert adult.features.shape[1] == 108
    assert forest.features.shape[1] == 54
