"""A page of notes, one note, the notes of a topic."""
from django.core.paginator import Paginator
from django.db.models import Count
from django.http import HttpResponseBadRequest
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from .models import Note, Topic

NOTES_ON_A_PAGE = 10


def page_of(request, notes, title):
    number = request.GET.get("page", "1")
    if not (number.isascii() and number.isdigit() and len(number) <= 6):
        return HttpResponseBadRequest("The parameter page should be a number from 1 to 999999.\n",
                                      content_type="text/plain; charset=utf-8")
    page = Paginator(notes.select_related("topic"), NOTES_ON_A_PAGE).get_page(int(number))
    topics = Topic.objects.annotate(notes=Count("note")).order_by("name")
    return render(request, "notes.html", {"title": title, "page": page, "topics": topics})


@require_safe
def front(request):
    return page_of(request, Note.objects.all(), "Notes")


@require_safe
def topic(request, number):
    found = get_object_or_404(Topic, pk=number)
    return page_of(request, found.note_set.all(), found.name)


@require_safe
def note(request, number):
    return render(request, "note.html", {"note": get_object_or_404(Note, pk=number)})
