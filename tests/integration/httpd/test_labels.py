"""Which label a request is counted under."""
import pytest

from processes import wait_until


LABELLED = """
<Directory "@ROOT@/htdocs">
    AllowOverride FileInfo
</Directory>
<Location "/shop">
    MPMStatLabel shop
</Location>
<Location "/shop/basket">
    MPMStatLabel shop:basket
</Location>
<Location "/silent">
    MPMStat Off
</Location>
<VirtualHost *:*>
    ServerName first.example
</VirtualHost>
<VirtualHost *:*>
    ServerName second.example
    MPMStatLabel second
</VirtualHost>
"""


def counts(apache):
    return {label["label"]: label["requests"] for label in apache.status()["labels"]
            if label["requests"] and label["label"] != "mpm-status"}


def fill(apache, *directories):
    for directory in directories:
        (apache.root / "htdocs" / directory).mkdir(parents=True)
        (apache.root / "htdocs" / directory / "page").write_text("x")


def test_the_nearest_label_counts(server, mpm):
    apache = server(mpm, LABELLED)
    fill(apache, "shop", "shop/basket", "silent", "own")
    (apache.root / "htdocs/own/.htaccess").write_text("MPMStatLabel from-htaccess\n")
    for path, times in (("/index.html", 1), ("/shop/page", 2), ("/shop/basket/page", 3),
                        ("/silent/page", 4), ("/own/page", 5)):
        for _ in range(times):
            assert apache.get(path).status == 200
    assert apache.get("/index.html", headers={"Host": "second.example"}).status == 200
    expected = {"first.example": 1, "shop": 2, "shop:basket": 3, "from-htaccess": 5, "second": 1}
    wait_until(lambda: counts(apache) == expected, 5, lambda: f"{expected}, not {counts(apache)}")

    def in_flight():
        return {label["label"]: label["in_flight"] for label in apache.status()["labels"]
                if label["in_flight"]}
    # The one before may still be ending when its client has the answer already.
    wait_until(lambda: in_flight() == {"mpm-status": 1}, 5, lambda: f"only itself: {in_flight()}")


def test_virtual_hosts_without_directives_have_their_own_names(server, mpm):
    """httpd lets them share the configuration of the main server."""
    names = [f"{n}.example" for n in range(3)]
    apache = server(mpm, "".join(f"<VirtualHost *:*>\nServerName {name}\n</VirtualHost>\n"
                                 for name in names))
    for n, name in enumerate(names):
        for _ in range(n + 1):
            assert apache.get("/index.html", headers={"Host": name}).status == 200
    expected = {name: n + 1 for n, name in enumerate(names)}
    wait_until(lambda: counts(apache) == expected, 5, lambda: f"{expected}, not {counts(apache)}")


@pytest.mark.parametrize("name", ["two words", "", "a" * 64, "semi;colon", "brace}"])
def test_a_wrong_label_in_htaccess_is_an_error_of_that_request(server, name):
    apache = server("event", LABELLED)
    apache.allow("MPMStatLabel")
    fill(apache, "wrong")
    (apache.root / "htdocs/wrong/.htaccess").write_text(f'MPMStatLabel "{name}"\n')
    assert apache.get("/wrong/page").status == 500
    assert apache.get("/index.html").status == 200
    assert apache.log_lines("MPMStatLabel")


# ---- what tenants make ------------------------------------------------------------------

HOSTED = """
<Directory "@ROOT@/htdocs">
    AllowOverride FileInfo
</Directory>
<Location "/inside">
    MPMStatLabel inside
</Location>
<VirtualHost *:*>
    ServerName greedy.example
</VirtualHost>
<VirtualHost *:*>
    ServerName modest.example
</VirtualHost>
"""


def labelled(apache, directory, label):
    fill(apache, directory)
    (apache.root / "htdocs" / directory / ".htaccess").write_text(f"MPMStatLabel {label}\n")


def get(apache, directory, host="greedy.example"):
    assert apache.get(f"/{directory}/page", headers={"Host": host}).status == 200


def expect(apache, expected):
    wait_until(lambda: counts(apache) == expected, 10,
               lambda: f"{expected}, not {counts(apache)}")


def test_a_tenant_cannot_use_up_the_labels(server, mpm):
    """Of a hundred labels in .htaccess files, the first eight are had; the others' requests are
    their own virtual host's. Other hosts, and a configuration with more labels, have room."""
    apache = server(mpm, HOSTED)
    for n in range(100):
        labelled(apache, f"d{n}", f"label{n}")
        get(apache, f"d{n}")
    expected = {**{f"label{n}": 1 for n in range(8)}, "greedy.example": 92}
    expect(apache, expected)
    labelled(apache, "mine", "mine")
    get(apache, "mine", "modest.example")
    expect(apache, expected | {"mine": 1})
    [said] = apache.log_lines("MPMSTAT11")
    assert '"label8"' in said and "MPMStatTenantLabels" in said

    with open(apache.configuration, "a") as configuration:
        configuration.writelines(f'<Location "/c{n}">\nMPMStatLabel configured{n}\n</Location>\n'
                                 for n in range(40))
    old = set(apache.children())
    apache.restart()
    wait_until(lambda: not old & set(apache.children()), 30, "the children of before to end")
    fill(apache, "c39")
    get(apache, "c39")
    expect(apache, expected | {"mine": 1, "configured39": 1})


def test_what_has_no_room_counts_as_without_it(server):
    """Under the label of the directory above. A label that is there anybody may name, but for
    the status page's, under which requests would not be seen."""
    apache = server("event", "MPMStatTenantLabels 0\n" + HOSTED)
    for directory, label in (("inside/a", "new"), ("b", "inside"), ("c", "mpm-status")):
        labelled(apache, directory, label)
        get(apache, directory)
    expect(apache, {"inside": 2, "greedy.example": 1})


def test_a_quota_is_for_each_virtual_host(server):
    apache = server("worker", "MPMStatTenantLabels 1\n" + HOSTED)
    for n in range(3):
        labelled(apache, f"d{n}", f"label{n}")
    for n, host in ((0, "greedy.example"), (1, "greedy.example"), (2, "modest.example"),
                    (1, "modest.example"), (0, "modest.example")):
        get(apache, f"d{n}", host)
    expect(apache, {"label0": 2, "label2": 1, "greedy.example": 1, "modest.example": 1})
