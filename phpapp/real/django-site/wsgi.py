"""What mod_wsgi loads."""
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
os.environ["DJANGO_SETTINGS_MODULE"] = "settings"

from django.core.wsgi import get_wsgi_application    # noqa: E402  (after the path is set)

application = get_wsgi_application()
