"""Programs that run in a process of their own, for they could end it or hang."""

import subprocess
import sys
import textwrap


def printed(script):
    """What a program prints, which has to end well and within two minutes."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
