"""The site's settings. Its data is in ../data."""
from pathlib import Path

DATA = Path(__file__).resolve().parent.parent / "data"

SECRET_KEY = (DATA / "secret").read_text()
DEBUG = False
# Apache decides who may ask (Require local); virtual hosts have names of their own.
ALLOWED_HOSTS = ["*"]
ROOT_URLCONF = "notebook.urls"
INSTALLED_APPS = ["notebook"]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
TEMPLATES = [{"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True}]
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": DATA / "notes.sqlite",
                         "OPTIONS": {"timeout": 30}}}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
USE_TZ = True
