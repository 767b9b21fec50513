"""The site's pages."""
from django.urls import path

from . import views

urlpatterns = [
    path("", views.front, name="front"),
    path("note/<int:number>", views.note, name="note"),
    path("topic/<int:number>", views.topic, name="topic"),
]
