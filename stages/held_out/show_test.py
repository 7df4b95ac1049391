"""Print the score in metrics/test.json as the ledger has it, for `make score-test`."""

import json
import sys
from pathlib import Path

from sqldojo.errors import UserError
from sqldojo.held_out.ledger import LEDGER, recorded_score
from sqldojo.held_out.release import headline


def main() -> None:
    shown = json.loads(Path("metrics/test.json").read_text(encoding="utf-8"))
    try:
        print(headline(recorded_score(LEDGER, shown["key"])))
    except UserError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
