"""What a person may do with all that is stored of them.

Erase it for good, delete runs, export it and import it elsewhere.
"""

from __future__ import annotations
