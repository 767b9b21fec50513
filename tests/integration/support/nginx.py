"""An nginx of its own in front of PHP-FPM: `with Nginx(fpm, {"NAME": "value"}) as nginx`.

The variables are FastCGI parameters of every PHP script. It has the workloads.
"""
import os
import shutil
import subprocess

import apache
import build
import clients
import processes
from processes import wait_until

CONFIGURATION = """
{user}
daemon off;
worker_processes 1;
pid {root}/run/nginx.pid;
error_log {root}/error.log notice;
events {{ worker_connections 256; }}
http {{
    access_log off;
    types {{ text/html html; text/css css; }}
    default_type application/octet-stream;
    client_body_temp_path {root}/run/body;
    proxy_temp_path {root}/run/proxy;
    fastcgi_temp_path {root}/run/fastcgi;
    uwsgi_temp_path {root}/run/uwsgi;
    scgi_temp_path {root}/run/scgi;
    server {{
        listen 127.0.0.1:{port} backlog=511;
        root {root}/htdocs;
        index index.php index.html;
        location ~ \\.php$ {{
            try_files $uri =404;
            include /etc/nginx/fastcgi_params;
            fastcgi_param SCRIPT_FILENAME $document_root$fastcgi_script_name;
            fastcgi_param HTTP_X_REQUEST_START "t=$msec";
            {variables}
            fastcgi_pass unix:{socket};
        }}
    }}
}}
"""


class Nginx:
    def __init__(self, fpm, variables=None):
        self.root = apache.make_root()
        self.holder = apache.hold_port()
        self.port = self.holder.getsockname()[1]
        shutil.copytree(build.WORKLOADS, self.root / "htdocs", dirs_exist_ok=True)
        user = "user www-data;" if os.geteuid() == 0 else ""
        (self.root / "nginx.conf").write_text(CONFIGURATION.format(
            root=self.root, port=self.port, user=user, socket=fpm.socket,
            variables="\n".join(f'fastcgi_param {name} "{value}";'
                                for name, value in (variables or {}).items())))
        self.process = None

    def log_text(self):
        log = self.root / "error.log"
        return log.read_text(errors="replace") if log.exists() else ""

    def answers(self):
        assert self.process.poll() is None, "nginx ended:\n" + self.log_text()
        try:
            clients.Connection(self.port).close()
        except OSError:
            return False
        return True

    def get(self, path="/", **options):
        return clients.get(self.port, path, **options)

    def connect(self, **options):
        return clients.Connection(self.port, **options)

    def __enter__(self):
        program = build.find("nginx")
        assert program, "there is no nginx: install nginx"
        self.process = subprocess.Popen(
            [program, "-p", str(self.root), "-c", str(self.root / "nginx.conf"),
             "-e", str(self.root / "error.log")], env={"PATH": build.PATH}, cwd="/",
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True)
        try:
            wait_until(self.answers, 30, lambda: "nginx to answer:\n" + self.log_text())
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, kind, error, traceback):
        processes.end(self.process, str(self.root))
        self.holder.close()
        shutil.rmtree(self.root, ignore_errors=True)
