"""``python -m anguilla``: the command line."""

import sys

from anguilla.cli import main

sys.exit(main())
