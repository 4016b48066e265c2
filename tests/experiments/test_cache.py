"""A run that is interrupted goes on where it was, and never on a half-written entry."""

import json

import pytest

from calibrant.experiments.cache import Cache
from calibrant.experiments.run import Study

KEY = {"version": 1, "what": "a test"}


class Counting:
    def __init__(self, result=None):
        self.calls, self.result = 0, result

    def __call__(self):
        self.calls += 1
        return {"value": 0.1 + 0.2, "list": [1, None, "ü"]} if self.result is None else self.result


def entry(folder):
    [file] = folder.glob("*.json")
    return file


def test_a_second_time_nothing_is_made(tmp_path):
    make = Counting()
    first = Cache(tmp_path / "new").get(KEY, make)
    assert Cache(tmp_path / "new").get(KEY, make) == first == make()
    assert make.calls == 2  # once by the cache, once here
    assert Cache(tmp_path / "new").has(KEY)
    assert not Cache(tmp_path / "new").has({**KEY, "seed": 1})


def test_without_a_folder_nothing_is_kept():
    make = Counting()
    cache = Cache(None)
    cache.get(KEY, make)
    cache.get(KEY, make)
    assert make.calls == 2
    assert not cache.has(KEY)


def damage_cut(text):
    return text[: len(text) // 2]


def damage_digit(text):
    return text.replace("0.30000000000000004", "0.40000000000000004")


def damage_empty(_text):
    return ""


def damage_other_json(_text):
    return "[1, 2]"


def damage_key(text):
    return text.replace("a test", "a jest")


@pytest.mark.parametrize(
    "damage", [damage_cut, damage_digit, damage_empty, damage_other_json, damage_key]
)
def test_a_damaged_entry_is_made_again(tmp_path, damage):
    make, cache = Counting(), Cache(tmp_path)
    cache.get(KEY, make)
    file = entry(tmp_path)
    before = file.read_text(encoding="utf-8")
    assert damage(before) != before
    file.write_text(damage(before), encoding="utf-8")
    assert not cache.has(KEY)
    assert cache.get(KEY, make)["value"] == 0.1 + 0.2
    assert make.calls == 2
    assert cache.has(KEY)


def test_a_result_that_fails_leaves_nothing(tmp_path):
    def broken():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Cache(tmp_path).get(KEY, broken)
    with pytest.raises(ValueError, match="JSON"):
        Cache(tmp_path).get(KEY, Counting(float("nan")))
    assert list(tmp_path.iterdir()) == []


def test_an_interrupted_study_goes_on(tmp_path):
    study = Study(cache=Cache(tmp_path), jobs=1)
    made = []

    def parts(stop):
        def one(number):
            if number == stop:
                raise KeyboardInterrupt
            made.append(number)
            return number**2

        return [(study.key(number=n), lambda n=n: one(n)) for n in range(5)]

    with pytest.raises(KeyboardInterrupt):
        study.each("Numbers", parts(stop=3))
    assert study.each("Numbers", parts(stop=None)) == [0, 1, 4, 9, 16]
    assert made == [0, 1, 2, 3, 4]  # none twice
    assert len(list(tmp_path.glob("*.json"))) == 5
    assert json.loads(entry_of(tmp_path, study.key(number=4)))["result"] == "16"


def entry_of(folder, key):
    for file in folder.glob("*.json"):
        text = file.read_text(encoding="utf-8")
        if json.loads(text)["key"] == key:
            return text
    raise AssertionError(key)
