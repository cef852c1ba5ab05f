"""What tests of side effects share.

Values come from Python lists of what was put where; queues are filled and emptied by
the tests themselves.
"""

import numpy as np
import pytest

from xlaops import effects as fx


@pytest.fixture(autouse=True)
def queues():
    """No test sees the queues of another one, and none waits for long."""
    fx.reset()
    fx.configure(timeout=10.0)
    yield
    fx.flush()
    fx.reset()


@pytest.fixture
def order(monkeypatch):
    """What was done to queues, in the order in which it happened."""
    events = []
    put, take = fx.HostQueue._put, fx.HostQueue._take

    def logged_put(queue, item, timeout=None):
        put(queue, item, timeout)
        events.append((queue.name, np.asarray(item.value).tolist()))

    def logged_take(queue, timeout=None, check=None):
        item = take(queue, timeout, check)
        events.append((queue.name, np.asarray(item.value).tolist()))
        return item

    monkeypatch.setattr(fx.HostQueue, "_put", logged_put)
    monkeypatch.setattr(fx.HostQueue, "_take", logged_take)
    return events
