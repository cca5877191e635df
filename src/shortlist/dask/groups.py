"""Which partitions are worked on in one go, and where."""

from __future__ import annotations

from collections.abc import Sequence

#: How much more than its share a group may hold, for the sake of what need not be moved.
_SLACK = 1.15


def group(
    sizes: Sequence[int], places: Sequence[str | None], slots: Sequence[str]
) -> list[tuple[str, tuple[int, ...]]]:
    """Return groups of partitions of about the same size, at most one for each slot.

    Partitions stay with a slot of the place that holds them, unless that would make a group
    much larger than the others.
    """
    share = sum(sizes) / max(min(len(slots), len(sizes)), 1)
    members: list[list[int]] = [[] for _ in slots]
    loads = [0] * len(slots)
    for i in sorted(range(len(sizes)), key=lambda i: (-sizes[i], i)):
        near = [s for s, slot in enumerate(slots) if slot == places[i]]
        near = [s for s in near if loads[s] + sizes[i] <= _SLACK * share or not members[s]]
        best = min(near or range(len(slots)), key=lambda s: (loads[s], s))
        members[best].append(i)
        loads[best] += sizes[i]
    return [
        (slot, tuple(sorted(own))) for slot, own in zip(slots, members, strict=True) if own
    ]  # fmt: skip


def freest(slots: Sequence[str], taken: Sequence[str]) -> str:
    """Return the place with the fewest groups for each of its slots."""
    return min(dict.fromkeys(slots), key=lambda slot: taken.count(slot) / slots.count(slot))
