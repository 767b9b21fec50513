"""The load of the fleet test: each user asks for the page again and again. Each request has an id,
and the trace and span of a client that traces (and samples) all."""
import os

import mpmstat_rows
from locust import HttpUser, constant, task


class Visitor(HttpUser):
    host = os.environ["FLEET_URL"]
    wait_time = constant(0)

    @task
    def page(self):
        number = mpmstat_rows.next_id()
        headers = {"X-MPMStat-Id": str(number),
                   "traceparent": f"00-{number:032x}-{number:016x}-01"}
        self.client.get(os.environ["FLEET_PAGE"], headers=headers, context={"mpmstat_id": number})
