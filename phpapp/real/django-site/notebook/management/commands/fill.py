"""manage.py fill: 40 notes on 5 topics, always the same ones."""
from datetime import datetime, timedelta, timezone

from django.core.management.base import BaseCommand
from django.db import transaction

from ...models import Note, Topic

SENTENCES = (
    "The ferry was late, and nobody minded.",
    "Two lamps were lit on the quay long before it was dark.",
    "What the tide had brought lay in a row: a rope, an oar, half a crate.",
    "The clerk counted twice & wrote down a third number.",
    "It rained, then it did not, and then it did again.",
)


class Command(BaseCommand):
    help = __doc__

    @transaction.atomic
    def handle(self, *args, **options):
        topics = [Topic.objects.create(name=name)
                  for name in ("Boats", "Letters", "People", "Repairs", "Weather")]
        first = datetime(2024, 1, 8, 9, tzinfo=timezone.utc)
        for number in range(40):
            paragraphs = [" ".join(SENTENCES[(number + p + s * 2) % 5] for s in range(4))
                          for p in range(4)]
            Note.objects.create(topic=topics[number % 5], title=f"Note {number + 1}",
                                text="\n\n".join(paragraphs),
                                written=first + timedelta(days=9 * number))
