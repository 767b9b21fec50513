"""What a CGI request costs, with the fork: mod_cgi forks on prefork, mod_cgid's daemon else."""
import time

import measure

CGI = '''
ScriptAlias /cgi/ "@ROOT@/cgi/"
<Directory "@ROOT@/cgi">
    Require all granted
</Directory>
'''


def scripts(server, count):
    path = server.cgi("hello", "echo Content-Type: text/plain\necho\necho hello\n")
    for _ in range(count):
        time.sleep(measure.PAUSE_SECONDS)
        assert server.get(path, timeout=60).text() == "hello\n"


def run():
    measure.need("valgrind")
    rows = []
    for mpm in ("prefork", "event"):
        module = "cgi" if mpm == "prefork" else "cgid"
        servers = [(f"{name}, mod_{module}", measure.merged(configuration, CGI, [module]))
                   for name, configuration in (measure.BARE, measure.RECORDED)]
        rows += measure.compare([mpm], servers, [measure.instructions_with_forks], scripts,
                                5, 30)
    measure.table("A CGI request, in httpd and in the fork until it is the script",
                  ["", "instructions", "added"], rows)
