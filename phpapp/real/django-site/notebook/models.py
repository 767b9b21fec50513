"""Notes, each with a topic."""
from django.db import models


class Topic(models.Model):
    name = models.CharField(max_length=40, unique=True)


class Note(models.Model):
    topic = models.ForeignKey(Topic, on_delete=models.CASCADE)
    title = models.CharField(max_length=120)
    text = models.TextField()
    written = models.DateTimeField()

    class Meta:
        ordering = ["-written", "-id"]
