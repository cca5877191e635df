"""All partitions, in groups that are worked on at the same time, and one call a round.

The duals of a group are a chain of values, each made from the one before: an engine that loses
some makes them again. Groups are pinned to places softly; where a place is gone, another takes over
and nothing else changes. Places that join take over some partitions of others from the next round.
A group that is late is not waited for longer than `patience`: it goes on with the question that
it has, and its answer is added when it comes, which is right at any time, because each example has
duals of its own.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from shortlist._arrays import FloatArray
from shortlist.dask import groups, partitions, store
from shortlist.dask.engines import Engine, Handle
from shortlist.dask.partitions import Answer, Duals, Outcome, Partition, Size

#: Answers that are added up in one place.
_FAN_IN = 8
#: Rounds without some group after which everybody waits for it: without it nothing is certified.
_MOST_INCOMPLETE = 10


class Question(NamedTuple):
    """What a method asks of all groups in one round."""

    point: FloatArray
    #: What weights are multiplied with, times the number of groups; None asks for gradients.
    shrink: float | None


class _Group:
    """Some partitions, the value that holds their duals, and an answer that is late."""

    def __init__(self, slot: str, members: tuple[int, ...], held: Handle) -> None:
        self.slot, self.members, self.held = slot, members, held
        self.late: Handle | None = None


def _held(value: Outcome | Duals) -> Duals:
    return value.duals if isinstance(value, Outcome) else value


def _ascend(parts: list[Partition], held: Outcome | Duals, *args: Any) -> Outcome:
    return partitions.ascend(parts, _held(held), *args)


def _rebuild(parts: list[Partition], held: Outcome | Duals, point: FloatArray) -> Answer:
    return partitions.rebuild(parts, _held(held), point)


def _answer(outcome: Outcome) -> Answer:
    return outcome.answer


def _itself(value: Any) -> Any:
    return value


def _save(
    held: Outcome | Duals, folder: str, round_: int, numbers: Sequence[int]
) -> int:  # fmt: skip
    return store.save_duals(folder, round_, numbers, _held(held))


def _one(held: Outcome | Duals, i: int) -> Duals:
    """Return the duals of one partition of a group; the first one keeps the count of losses."""
    duals = _held(held)
    return Duals((duals.arrays[i],), duals.losses if i == 0 else 0)


def _bundle(duals: list[Outcome | Duals]) -> Duals:
    each = [_held(own) for own in duals]
    arrays = tuple(array for own in each for array in own.arrays)
    return Duals(arrays, sum(own.losses for own in each))


class Fleet:
    """The partitions on an engine.

    Parameters
    ----------
    engine : Engine
        Where they are.
    parts : list of handles
        The partitions.
    sizes : list of Size
        What is known of them.
    seed : int
        The seed of the order of visits.
    epochs : int
        Passes of each group in a round.
    n_groups : int, optional
        The number of groups; by default as many as there are slots.
    at_least : int
        The groups to begin with where there are fewer slots: those that were seen before. What
        died since will be back, and should not decide the sums.
    patience : float
        Seconds that a late group is waited for.
    name : str
        The beginning of the keys of all values.
    asked_for : int, optional
        How many partitions were asked for, for a run that continues this one: some may be empty.
    """

    def __init__(
        self,
        engine: Engine,
        parts: list[Handle],
        sizes: list[Size],
        *,
        seed: int = 0,
        epochs: int = 1,
        n_groups: int | None = None,
        at_least: int = 1,
        patience: float = math.inf,
        name: str = "shortlist",
        asked_for: int | None = None,
    ) -> None:
        self.engine, self.parts, self.sizes = engine, parts, sizes
        self.seed, self.epochs, self.n_groups = seed, epochs, n_groups
        self.at_least, self.patience, self.name = at_least, patience, name
        self.asked_for = len(parts) if asked_for is None else asked_for
        self.lost = 0  # losses of duals that the client knows of
        self.incomplete = 0  # rounds in a row that some group was late for
        self.count = 0  # of values, for their keys
        self.bytes = 0  # that the client has sent and received
        self.groups: list[_Group] = []

    # Groups

    def start(self, layout: Sequence[Sequence[int]] | None = None) -> None:
        """Make groups with zero duals; `layout` are those of an earlier run."""
        slots = self._slots()
        if layout is None:
            found = self._layout(slots)
        else:
            found = [(slots[i % len(slots)], tuple(own)) for i, own in enumerate(layout)]
        self.groups = [_Group(slot, own, None) for slot, own in found]
        for group in self.groups:
            group.held = self._submit("zero", partitions.zero_duals, self._parts(group), at=group)

    def _slots(self) -> list[str]:
        slots = self.engine.slots()
        number = self.n_groups or max(self.at_least, len(slots))
        return [slots[i % len(slots)] for i in range(number)]

    def _layout(self, slots: list[str]) -> list[tuple[str, tuple[int, ...]]]:
        examples = [size.examples for size in self.sizes]
        return groups.group(examples, self.engine.places(self.parts), slots)

    def layout(self) -> list[list[int]]:
        """Return the partitions of each group."""
        return [list(group.members) for group in self.groups]

    def keep_up(self) -> None:
        """Look which places are there: replace those that are gone, use those that joined."""
        slots = self.engine.slots()
        more = len(slots) > len(self.groups) < len(self.parts)
        if more and self.n_groups is None and not self.is_late:
            self._regroup(slots)
        settled = groups.settle(slots, [group.slot for group in self.groups])
        for group, slot in zip(self.groups, settled, strict=True):
            group.slot = slot

    def _regroup(self, slots: list[str]) -> None:
        single: dict[int, Handle] = {}
        for group in self.groups:
            for i, member in enumerate(group.members):
                single[member] = self._submit("one", _one, group.held, i, at=group)
        self.groups = [_Group(slot, own, None) for slot, own in self._layout(slots)]
        for group in self.groups:
            duals = [single[member] for member in group.members]
            group.held = self._submit("bundle", _bundle, duals, at=group)

    # Rounds

    def ask(self, question: Question, round_: int) -> tuple[Answer, bool]:
        """Return the sum of the groups' answers, and whether all of them are in it.

        Where not all are, only its model means anything.
        """
        self.keep_up()
        if question.shrink is None:
            point = self._broadcast(question.point, self.groups[0])
            return self._value(self._sum(self._each("gradient", _differentiate, point))), True
        scale, seed = len(self.groups) * question.shrink, (self.seed, round_)
        if self.incomplete >= _MOST_INCOMPLETE:
            late, patience = self.drain(), math.inf
        else:
            late, patience = None, self.patience
        free = [group for group in self.groups if group.late is None]
        answers = self._begin(free, question.point, scale, seed, patience)
        total, missing = self._collect(answers, patience)
        complete = not missing and len(free) == len(self.groups)
        change = total.model.astype(np.float64)
        if late is not None:
            change += late
        for group in self.groups:  # those that were late before this round
            if group.late is not None and self.engine.is_done(group.late):
                change += self._value(group.late).model
                group.late = None
        for i in missing:
            free[i].late = answers[i]
        self.incomplete = 0 if complete else self.incomplete + 1
        return total._replace(model=change), complete

    def _begin(
        self,
        free: list[_Group],
        point: FloatArray,
        scale: float,
        seed: tuple[int, int],
        patience: float,
    ) -> list[Handle]:
        """Let groups work from a point; return their answers, which will be there some time.

        If not even the point is there in time, the place that it was sent to stands still, and
        nobody can have begun: the others get it from another place.
        """
        answers: dict[_Group, Handle] = {}
        waiting = free
        while waiting:
            there, before = self._broadcast(point, waiting[0]), [group.held for group in waiting]
            for group, held in zip(waiting, before, strict=True):
                group.held = self._submit(
                    "ascend", _ascend, self._parts(group), held, there, scale, self.epochs, seed,
                    at=group,
                )  # fmt: skip
                answers[group] = self._submit("answer", _answer, group.held, at=group)
            others = [group for group in waiting if group.slot != waiting[0].slot]
            if not others or self._comes(there, patience):
                break
            for group, held in zip(waiting, before, strict=True):
                group.held = held if group in others else group.held
            waiting = others
        return [answers[group] for group in free]

    def _comes(self, handle: Handle, patience: float) -> bool:
        """Return whether a value is there in time."""
        end = time.monotonic() + patience
        while not self.engine.is_done(handle):
            if time.monotonic() > end:
                return False
            time.sleep(0.002)
        return True

    def _collect(self, answers: list[Handle], patience: float) -> tuple[Answer, list[int]]:
        """Return the sum of the answers that are there in time, and which are missing."""
        try:
            return self._value(self._sum(answers), patience), []
        except TimeoutError:
            pass
        while not (there := [i for i, a in enumerate(answers) if self.engine.is_done(a)]):
            time.sleep(0.05)
        total = self._value(self._sum([answers[i] for i in there]))
        return total, [i for i in range(len(answers)) if i not in there]

    @property
    def is_late(self) -> bool:
        """Whether some group has yet to answer an earlier question."""
        return any(group.late is not None for group in self.groups)

    def drain(self) -> FloatArray | None:
        """Wait for all answers that are late; return what they change, if there are any."""
        change = None
        for group in self.groups:
            if group.late is not None:
                model = self._value(group.late).model
                change = model.astype(np.float64) if change is None else change + model
                group.late = None
        return change

    def rebuild(self, point: FloatArray) -> Answer:
        """Return the model of the duals that are held, and the losses at a point, exactly."""
        self.keep_up()
        self.drain()
        there = self._broadcast(point, self.groups[0])
        answers = [
            self._submit("rebuild", _rebuild, self._parts(group), group.held, there, at=group)
            for group in self.groups
        ]
        total: Answer = self._value(self._sum(answers))
        self.lost = total.lost
        return total

    def _each(self, key: str, function: Callable[..., Answer], *args: Any) -> list[Handle]:
        return [
            self._submit(key, function, self._parts(group), *args, at=group)
            for group in self.groups
        ]

    def _sum(self, answers: list[Handle]) -> Handle:
        """Return the sum of answers, by a tree."""
        while len(answers) > 1:
            answers = [
                self._submit("sum", partitions.add_up, answers[i : i + _FAN_IN])
                for i in range(0, len(answers), _FAN_IN)
            ]
        return answers[0]

    # Files

    def save(self, folder: str, round_: int) -> None:
        """Write all duals, and let what follows begin from the files.

        The values before need not be remembered then.
        """
        written = [
            self._submit("write", _save, group.held, folder, round_, self._numbers(group), at=group)
            for group in self.groups
        ]
        for handle in written:
            self._value(handle)

    def load(self, folder: str, round_: int) -> None:
        """Continue from files."""
        for group in self.groups:
            group.held = self._submit(
                "read", store.load_duals, folder, round_, self._parts(group), at=group
            )

    # The engine

    def _parts(self, group: _Group) -> list[Handle]:
        return [self.parts[member] for member in group.members]

    def _numbers(self, group: _Group) -> list[int]:
        return [self.sizes[member].number for member in group.members]

    def _submit(
        self, key: str, function: Callable[..., Any], *args: Any, at: _Group | None = None
    ) -> Handle:
        self.count += 1
        place = None if at is None else at.slot
        return self.engine.submit(
            function, *args, key=f"{self.name}-{key}-{self.count}", at=place
        )  # fmt: skip

    def _broadcast(self, point: FloatArray, group: _Group) -> Handle:
        """Send a point to the place of a group; others take it from there."""
        self.bytes += point.nbytes
        return self._submit("point", _itself, point, at=group)

    def _value(self, handle: Handle, timeout: float = math.inf) -> Any:
        value = self.engine.value(handle, timeout)
        if isinstance(value, Answer):
            self.bytes += value.model.nbytes
        return value


def _differentiate(parts: list[Partition], point: FloatArray) -> Answer:
    return partitions.differentiate(parts, point)
