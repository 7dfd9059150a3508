"""Ctrl-C as another process sends it."""

import signal
import subprocess
import time


def interrupted(command, announcement, **options):
    """Exit code and output of a process that gets SIGINT soon after it has printed a line."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes, **options) as child:
        try:
            assert child.stdout.readline() == f"{announcement}\n"
            time.sleep(0.4)  # it is somewhere in its work; where does not matter
            child.send_signal(signal.SIGINT)
            out, err = child.communicate(timeout=300)
        finally:
            child.kill()
    return child.returncode, out, err
