"""The three kinds of fault, and the one that needs a type of its own.

The model's fault (bad SQL, a time-out, prose) is data: a `QueryResult`, a `Verdict` or an outcome, never raised.
Our fault (a reference that fails, a broken invariant) raises whatever it raises and stops the stage with a traceback.
The user's fault (params, files, a missing package) is a `UserError`: one line naming file, key and remedy.
"""

from __future__ import annotations

import errno


class UserError(ValueError):
    """Something only the user can mend; the message names the file, the key and the remedy."""


def system_refusal(error: OSError) -> str:
    """What the operating system refused, in one line with the file, where it is known, and the remedy."""
    remedy = {
        errno.ENOENT: "restore it with `dvc checkout` or `git checkout`, or rebuild it with `dvc repro`",
        errno.ENOSPC: "make room on the disk and run this again",
        errno.EDQUOT: "make room on the disk and run this again",
        errno.EACCES: "change its permissions and run this again",
        errno.EROFS: "run this in a copy that can be written to",
    }.get(error.errno or 0, "mend that and run this again")
    return f"{error.filename or 'the system'}: {error.strerror or error}; {remedy}"
