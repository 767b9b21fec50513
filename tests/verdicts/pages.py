"""Pages of PHP and clients that cases are made of."""

NAP = "<?php usleep(50000); echo 'done';"
QUICK = "<?php usleep(2000); echo 'done';"


def nap(milliseconds):
    return f"<?php usleep({milliseconds * 1000}); echo 'done';"


def burn(milliseconds):
    """Computes for so much time of a CPU."""
    return ("<?php $u = function () { $r = getrusage(); return $r['ru_utime.tv_sec'] * 1e6 + "
            "$r['ru_utime.tv_usec'] + $r['ru_stime.tv_sec'] * 1e6 + $r['ru_stime.tv_usec']; };"
            f"$end = $u() + {milliseconds * 1000}; while ($u() < $end) for ($i = 0; $i < 2000; "
            "$i++) ; echo 'done';")


def some(share, rare, usual=QUICK):
    """One page in a hundred times `share` is `rare`, the others are `usual`."""
    bodies = [text.removeprefix("<?php ") for text in (rare, usual)]
    return (f"<?php if (mt_rand(1, 1000) <= {int(share * 1000)}) {{ {bodies[0]} }} "
            f"else {{ {bodies[1]} }}")


def queries(port, *statements):
    """Statements of SQL on a connection of the request's own."""
    lines = "".join(f'$db->query("{s}");' for s in statements)
    return (f"<?php $db = new mysqli('127.0.0.1', 'root', '', '', {port}); {lines} echo 'done';")


def fetch(url, seconds=0):
    """seconds: how long it waits at most; 0: until there is an answer."""
    return (f"<?php $c = curl_init('{url}'); curl_setopt($c, CURLOPT_RETURNTRANSFER, 1); "
            f"curl_setopt($c, CURLOPT_TIMEOUT, {seconds}); curl_exec($c); echo 'done';")


def session(directory, milliseconds):
    """All requests have the same session, and keep it for so long. PHP 8.6 takes no id that it has
    not made, unless its strict mode is off."""
    return (f"<?php session_save_path('{directory}'); ini_set('session.use_strict_mode', 0); "
            f"session_id('one'); session_start(); usleep({milliseconds * 1000}); echo 'done';")


# Uses a CPU until it is ended.
BURNER = "while (true);"

# Programs of a load, with the port and what else they take as arguments.
SLOW_READERS = """
import select, socket, sys, time
port, count, path = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
connections = []
for _ in range(count):
    c = socket.socket()
    c.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8192)
    c.connect(("127.0.0.1", port))
    c.sendall(f"GET {path} HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n".encode())
    connections.append(c)
end = time.monotonic() + 12
while connections and time.monotonic() < end:
    time.sleep(0.01)
    for c in select.select(connections, [], [], 10)[0]:
        if not c.recv(8192):
            connections.remove(c)
"""

# count clients at a time send a body in pieces over some seconds, `rounds` times.
SLOW_POSTS = """
import socket, sys, threading, time
port, count, rounds, seconds, path = (int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]),
                                      float(sys.argv[4]), sys.argv[5])
piece = int(sys.argv[6]) if len(sys.argv) > 6 else 1000
def client():
    for _ in range(rounds):
        c = socket.create_connection(("127.0.0.1", port))
        c.sendall(f"POST {path} HTTP/1.1\\r\\nHost: x\\r\\nContent-Length: {20 * piece}\\r\\n"
                  "Content-Type: application/octet-stream\\r\\n"
                  "Connection: close\\r\\n\\r\\n".encode())
        for _ in range(20):
            time.sleep(seconds / 20)
            c.sendall(b"x" * piece)
        while c.recv(65536):
            pass
threads = [threading.Thread(target=client) for _ in range(count)]
[t.start() for t in threads]
[t.join() for t in threads]
"""

SLOW_HEADERS = """
import socket, sys, threading, time
port, count, seconds = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
def client():
    for _ in range(2):
        c = socket.create_connection(("127.0.0.1", port))
        c.sendall(b"GET / HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n")
        for _ in range(10):
            time.sleep(seconds / 10)
            c.sendall(b"X-A: b\\r\\n")
        c.sendall(b"\\r\\n")
        while c.recv(65536):
            pass
threads = [threading.Thread(target=client) for _ in range(count)]
[t.start() for t in threads]
[t.join() for t in threads]
"""

# A client of one thread that computes between its requests.
BUSY_CLIENT = """
import sys, time, urllib.request
end = time.monotonic() + 3
while time.monotonic() < end:
    urllib.request.urlopen(sys.argv[1]).read()
    x = 1
    for _ in range(200000):
        x = x * 48271 % 2147483647
"""

BUSY_WRK = """
request = function()
    local x = 1
    for i = 1, 2000000 do x = x * 48271 % 2147483647 end
    return wrk.format("GET", "/index.html?" .. x)
end
"""

# Clients that go away after a while, before the answer is there.
IMPATIENT = """
import socket, sys, threading, time
port, count, rounds, seconds, path = (int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]),
                                      float(sys.argv[4]), sys.argv[5])
def client(number):
    for i in range(rounds):
        c = socket.create_connection(("127.0.0.1", port))
        c.sendall(f"GET {path} HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n".encode())
        end = time.monotonic() + (seconds if (i + number) % 2 else 30)
        while time.monotonic() < end and c.recv(65536):
            pass
        c.close()
threads = [threading.Thread(target=client, args=(i,)) for i in range(count)]
[t.start() for t in threads]
[t.join() for t in threads]
"""
