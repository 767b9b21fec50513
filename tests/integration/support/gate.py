"""Scripts that hold their worker until the test opens their gate, a FIFO."""
import os


def make(directory):
    gate = directory / "gate"
    os.mkfifo(gate)
    gate.chmod(0o644)
    return gate


def make_for(apache):
    """The path of a CGI script of Apache's that waits there."""
    return apache.cgi("gate", f"cat {make(apache.root)} >/dev/null\n"
                              "echo Content-Type: text/plain\necho\necho passed\n")


def open_once(directory):
    """Lets those pass that wait there now."""
    os.close(os.open(directory / "gate", os.O_WRONLY))
