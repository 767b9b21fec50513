"""A server of status pages that answers as a test wants it."""
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import tool


TYPES = {"text": "text/plain; charset=utf-8", "json": "application/json",
         "openmetrics": "application/openmetrics-text; version=1.0.0; charset=utf-8",
         "prometheus": "text/plain; version=0.0.4; charset=utf-8"}


class Server:
    """An HTTP server whose answers are one function of the handler."""

    def __init__(self, answer, tls=None):
        self.asked = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                server.asked.append((self.path, dict(self.headers)))
                try:
                    answer(self)
                except (BrokenPipeError, ConnectionResetError):
                    pass    # the tool hung up, as it should
                self.close_connection = True

            def log_message(self, *_):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        if tls:
            self.http.socket = tls.wrap_socket(self.http.socket, server_side=True)
        self.url = f"http{'s' if tls else ''}://127.0.0.1:{self.http.server_port}/mpm-status"
        self.thread = threading.Thread(target=self.http.serve_forever, args=(0.05,))

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.http.shutdown()
        self.http.server_close()
        self.thread.join(10)


def reply(handler, body, type="application/json", status=200, length=None, **headers):
    handler.send_response(status)
    if type:
        handler.send_header("Content-Type", type)
    handler.send_header("Content-Length", str(len(body) if length is None else length))
    for name, value in headers.items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(body)


def rendered(board, format):
    return tool.run("status", "--format", format, board.path).stdout.encode()
