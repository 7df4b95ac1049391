"""The three kinds of fault, and the one that needs a type of its own.

The model's fault (bad SQL, a time-out, prose) is data: a `QueryResult`, a `Verdict` or an outcome, never raised.
Our fault (a reference that fails, a broken invariant) raises whatever it raises and stops the stage with a traceback.
The user's fault (params, files, a missing package) is a `UserError`: one line naming file, key and remedy.
"""


class UserError(ValueError):
    """Something only the user can mend; the message names the file, the key and the remedy."""
