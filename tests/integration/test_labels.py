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


@pytest.mark.parametrize("name", ["two words", "", "a" * 64, "semi;colon", "brace}"])
def test_a_wrong_label_in_htaccess_is_an_error_of_that_request(server, name):
    apache = server("event", LABELLED)
    apache.allow("MPMStatLabel")
    fill(apache, "wrong")
    (apache.root / "htdocs/wrong/.htaccess").write_text(f'MPMStatLabel "{name}"\n')
    assert apache.get("/wrong/page").status == 500
    assert apache.get("/index.html").status == 200
    assert apache.log_lines("MPMStatLabel")
