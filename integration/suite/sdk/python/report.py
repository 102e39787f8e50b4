"""Tells the runner in integration/suite/sdk/run what each operation came to: a line of JSON each."""

import json
import os
import signal
import sys
import time
import traceback

PATIENCE = 30  # seconds that an operation may take


class NotRun(Exception):
    """Raised by an operation that this machine or version cannot do; the text is the reason."""


def connection(name):
    """Returns the parts of a connection string that the runner put into the environment."""
    return dict(part.split("=", 1) for part in os.environ[name].split(";") if part)


def run(version, operations):
    """Does the operations, which are functions by name. What one returns is the milliseconds of a send."""
    signal.signal(signal.SIGALRM, late)
    for name, operation in operations.items():
        line = {"version": version, "operation": name, "result": "pass"}
        begin = time.monotonic()
        signal.alarm(PATIENCE)
        try:
            per_send = operation()
            if per_send is not None:
                line["msPerSend"] = round(per_send, 2)
        except NotRun as reason:
            line.update(result="not run", error=str(reason))
        except Exception as error:
            line.update(result="fail", error=explain(error))
        signal.alarm(0)
        line["ms"] = round((time.monotonic() - begin) * 1000, 1)
        print(json.dumps(line), flush=True)
    # The threads of clients that did not close are not waited for.
    sys.stdout.flush()
    os._exit(0)


def late(*_):
    raise TimeoutError(f"not done after {PATIENCE} s")


def explain(error):
    """Names the error and the line of the suite that it came from."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == sys.argv[0]]
    text = " ".join(str(error).split())[:300]
    return f"{type(error).__name__}: {text} (line {lines[-1] if lines else '?'})"


def equal(got, want):
    if got != want:
        raise AssertionError(f"got {got!r}, want {want!r}")


def refused(operation, *kinds):
    """Checks that an operation raises one of the kinds of errors, which is returned."""
    try:
        operation()
    except kinds as error:
        return error
    raise AssertionError(f"not refused with {' or '.join(kind.__name__ for kind in kinds)}")
