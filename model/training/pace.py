"""How long a run will still take, from its recent pace, evaluations and saves included."""

from __future__ import annotations

from collections import deque

RECENT_SECONDS = 60.0


class Pace:
    """Moments at which updates were done; those of the last minute, and at least two, decide.

    The mean of a whole run would follow slowly when the machine becomes busier or freer; a single interval would jump.
    """

    def __init__(self, now: float, step: int) -> None:
        self._moments = deque([(now, step)])

    def remaining(self, now: float, step: int, max_steps: int) -> float:
        """Seconds until `max_steps`, at the pace since about a minute before `now`."""
        if step > self._moments[-1][1]:
            self._moments.append((now, step))
        while len(self._moments) > 2 and now - self._moments[1][0] >= RECENT_SECONDS:
            self._moments.popleft()
        then, before = self._moments[0]
        return (now - then) / max(step - before, 1) * (max_steps - step)
