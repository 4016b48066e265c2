"""Cache: what a long run found so far, so that it can go on where it was interrupted.

An entry is a JSON file with its own hash inside, written whole. What is cut off or altered is
never read: it counts as not there.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from calibrant._writing import write_whole


class Cache:
    """Results by key, in a folder; without a folder nothing is kept."""

    def __init__(self, folder: Path | None) -> None:
        # processes at work may have been started in another folder
        self._folder = None if folder is None else folder.absolute()

    def get(self, key: dict[str, Any], make: Callable[[], Any]) -> Any:
        """Return what is known for a key, or make it and keep it."""
        place = self._place(key)
        if place is None:
            return make()
        known = _read(place, key)
        if known is None:
            known = make()
            place.parent.mkdir(parents=True, exist_ok=True)
            text = json.dumps(known, allow_nan=False)
            write_whole(place, json.dumps({"key": key, "sha256": _digest(text), "result": text}))
        return known

    def has(self, key: dict[str, Any]) -> bool:
        """Say whether a whole entry is there."""
        place = self._place(key)
        return place is not None and _read(place, key) is not None

    def _place(self, key: dict[str, Any]) -> Path | None:
        if self._folder is None:
            return None
        return self._folder / f"{_digest(json.dumps(key, sort_keys=True))[:24]}.json"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _read(place: Path, key: dict[str, Any]) -> Any:
    try:
        entry = json.loads(place.read_text(encoding="utf-8"))
        if entry["key"] == key and _digest(entry["result"]) == entry["sha256"]:
            return json.loads(entry["result"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        pass
    return None
