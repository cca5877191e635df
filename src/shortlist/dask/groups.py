"""Which partitions are worked on in one go, and where."""

from __future__ import annotations

import collections
import itertools
from collections.abc import Sequence


def group(
    sizes: Sequence[int], places: Sequence[str | None], slots: Sequence[str]
) -> list[tuple[str, tuple[int, ...]]]:
    """Return groups of partitions of about the same size, at most one for each slot.

    Which partitions are together follows from their sizes and the number of slots alone: the same
    data, on as many slots, are summed in the same order wherever they happen to lie. The
    groups then go where most of them is.
    """
    members = _runs(sizes, min(len(slots), len(sizes)))
    free, found = list(slots), []
    for own in members:
        here: dict[str, int] = dict.fromkeys(free, 0)
        for i in own:
            if places[i] in here:
                here[str(places[i])] += sizes[i]
        slot = max(here, key=lambda slot: here[slot])
        free.remove(slot)
        found.append((slot, own))
    return found


def _runs(sizes: Sequence[int], count: int) -> list[tuple[int, ...]]:
    """Return runs of consecutive partitions, none empty, with about the same examples each."""
    ends: list[int] = []
    total, rows = sum(sizes), 0
    for i, size in enumerate(sizes):
        rows += size
        left, runs_left = len(sizes) - i - 1, count - len(ends) - 1
        if runs_left and (left == runs_left or rows >= (len(ends) + 1) * total / count):
            ends.append(i + 1)
    bounds = [0, *ends, len(sizes)]
    return [tuple(range(*pair)) for pair in itertools.pairwise(bounds)]


def settle(slots: Sequence[str], taken: Sequence[str]) -> list[str]:
    """Return where groups go that are at the places `taken`, now that there are these slots.

    A group stays where it is, unless its place is gone, or has more groups than slots while
    another has slots to spare: one that died and came back is used again.
    """
    number = collections.Counter(slots)
    room = {slot: max(own, -(-len(taken) * own // len(slots))) for slot, own in number.items()}
    found: list[str] = []
    for slot in taken:
        found.append(slot if room.get(slot, 0) else "")
        if found[-1]:
            room[slot] -= 1
    for i in (i for i, slot in enumerate(found) if not slot):
        found[i] = max(room, key=lambda slot: room[slot] / number[slot])
        room[found[i]] -= 1
    return found
