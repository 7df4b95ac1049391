"""The `sqldojo` command: what people ask of the project outside the graph.

Paths are options whose defaults fit the repository's root. A user's fault ends a command with one line and exit code 1.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import os
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NoReturn

import click
from rich.console import Console
from rich.markdown import Markdown
from rich.table import Table

from sqldojo import profiles
from sqldojo.bank_files import REVIEWS, BankParams, bank_from_database, bank_from_pairs
from sqldojo.chains import CHECKPOINTS, KEPT
from sqldojo.databases.execution import Limits
from sqldojo.errors import UserError, system_refusal
from sqldojo.evaluation import transcript
from sqldojo.evaluation.audit_report import audit_markdown
from sqldojo.evaluation.bank_audit import audit_bank, read_bank
from sqldojo.evaluation.page.run_files import attempts_of
from sqldojo.evaluation.repair_view import show_repair_pair, show_repair_summary
from sqldojo.family_files import family_databases, family_from_file, refused_by
from sqldojo.files import read_records, write_json, write_text
from sqldojo.grading_files import grade_cases, grade_pairs
from sqldojo.params import load as load_params
from sqldojo.questions.stepping_stones import failing_types
from sqldojo.recording_runs import RUNS
from sqldojo.records import HELD_OUT_SPLITS, OUTCOMES, TEST, TRAIN, Episode
from sqldojo.reference_files import read_references
from sqldojo.regrading import read_questions, regrade, write_archive
from sqldojo.teacher.provider import PURPOSES, ProviderParams
from sqldojo.teacher.recording import recording, run_until_interrupted
from sqldojo.verifier.audit import Subject, summarise
from sqldojo.verifier.audit_running import AuditParams, audit
from sqldojo.verifier.family_search import FamilyParams
from sqldojo.verifier.grading import CORRECT, ReferenceFailed, Verdict, grade
from sqldojo.verifier.mutants import Unparsable


class _Existing(click.Path):
    """A path that must be there; one that is not is bad input, exit code 1, not a wrong use of the command."""

    def fail(self, message: str, param: click.Parameter | None = None, ctx: click.Context | None = None) -> NoReturn:
        """ClickException with the option's name and click's own message, which names the path."""
        where = f"{param.get_error_hint(ctx)}: " if param is not None and ctx is not None else ""
        raise click.ClickException(f"{where}{message} Give another path.")


_FILE = _Existing(exists=True, dir_okay=False, path_type=Path)
_FOLDER = _Existing(exists=True, file_okay=False, path_type=Path)
_PATH = click.Path(path_type=Path)
_EXISTING = _Existing(exists=True, path_type=Path)


def reporting_errors(command: Callable[..., None]) -> Callable[..., None]:
    """The command, with a UserError or what the system refuses told in one line instead of a traceback."""

    @functools.wraps(command)
    def wrapped(*arguments: Any, **options: Any) -> None:
        try:
            command(*arguments, **options)
        except UserError as error:
            raise click.ClickException(str(error)) from error
        except BrokenPipeError:  # the reader, such as `head`, has seen enough: click ends quietly
            raise
        except OSError as error:
            raise click.ClickException(system_refusal(error)) from error

    return wrapped


@click.group()
@click.version_option(package_name="sqldojo")
def main() -> None:
    """Teach a small model to answer questions about SQLite databases, and see how well it does."""


@main.command()
@click.option("--report", type=_PATH, default=Path("reports/summary.md"), show_default=True)
@click.option("--seconds", type=_PATH, default=Path(".scratch/seconds"), show_default=True)
@reporting_errors
def summary(report: Path, seconds: Path) -> None:
    """Print the scores of the last run, and the seconds that each stage took when it last ran."""
    if not report.is_file():
        raise UserError(f"{report}: no report yet; make one with `make repro`")
    console = _console()
    console.print(Markdown(report.read_text(encoding="utf-8")))
    timings = _timings(seconds)
    if timings:
        table = Table("stage", "seconds", title="Seconds per stage, when it last ran")
        table.columns[1].justify = "right"
        for stage, taken in timings:
            table.add_row(stage, f"{taken:.1f}")
        table.add_row("total", f"{sum(taken for _, taken in timings):.1f}", style="bold")
        console.print(table)


def _asking_options(command: Callable[..., None]) -> Callable[..., None]:
    """The options of `ask` and `serve`: who answers, and when an answer is given."""
    for option in reversed((
        click.option("--model", help="A model of the params file, with the adapter that its chain kept, or an MLX "
                     "folder, without one. By default the first model."),
        click.option("--adapter", type=_PATH, help="An adapter's folder, in place of the one that the chain kept."),
        click.option("--attempts", type=click.IntRange(min=1), default=1, show_default=True,
                     help="Answer so many times; how many agree is shown."),
        click.option("--agreement", type=click.FloatRange(0, 1), default=0.5, show_default=True,
                     help="No answer is given unless more than this share of the attempts agree."),
        click.option("--seed", default=17, show_default=True),
        click.option("--schema-tokens", type=click.IntRange(min=1), default=4_000, show_default=True,
                     help="A longer schema is cut down to what the question is about."),
        click.option("--params", type=_PATH, default=Path("params.yaml"), show_default=True),
    )):  # fmt: skip
        command = option(command)
    return command


@main.command(name="ask", short_help="Ask a trained agent about a database.")
@click.argument("database", type=_PATH)
@click.argument("question", required=False)
@_asking_options
@click.option("--sql-only", is_flag=True, help="Print the query alone.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object for each question.")
@reporting_errors
def ask_command(database: Path, question: str | None, model: str | None, adapter: Path | None, attempts: int,
                agreement: float, seed: int, schema_tokens: int, sql_only: bool, as_json: bool,
                params: Path) -> None:  # fmt: skip
    """Let the agent answer QUESTION about DATABASE, a SQLite file or a SQL script, which is only ever read.

    Without a question they are read from standard input, one a line, until it ends; lines that begin with a dot are
    commands, which .help lists. Each query that the agent tries is shown with what came back.

    Exit code 0 when the last question was answered, 1 when it was not or the input is unfit, 2 for a wrong use.
    """
    # Here and not above: it loads mlx, for which no other command should wait.
    from sqldojo.asking import AskParams
    from sqldojo.asking_session import open_session
    from sqldojo.asking_view import Conversation

    if question is not None and not question.strip():
        raise click.UsageError("QUESTION is empty; leave it out to type questions.")
    if sql_only and as_json:
        raise click.UsageError("--sql-only and --json exclude each other.")
    asked = AskParams(attempts, agreement, seed, schema_tokens)
    with open_session(database, params, model, adapter, asked) as session:
        conversation = Conversation(session, sql_only=sql_only, as_json=as_json)
        if question is None:
            conversation.run()
        else:
            conversation.answer(question)
    if not conversation.answered:
        raise SystemExit(1)


@main.command(name="serve", short_help="Let programs ask a trained agent, over HTTP.")
@click.argument("database", type=_PATH, default=Path("data/databases/evaluation/ordinary_1.sqlite"))
@_asking_options
@click.option("--port", type=click.IntRange(0, 65535), default=8766, show_default=True, help="0 for any free one.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Another address lets other machines ask too.")
@reporting_errors
def serve_command(database: Path, model: str | None, adapter: Path | None, attempts: int, agreement: float, seed: int,
                  schema_tokens: int, params: Path, port: int, host: str) -> None:  # fmt: skip
    """Serve OpenAI's chat completions: the last message of the user is a question about DATABASE, which is only read.

    DATABASE is by default a shop that no model was trained on. Ctrl-C ends it.
    """
    from sqldojo.asking import AskParams
    from sqldojo.asking_session import open_session
    from sqldojo.serving import AnswerServer, serve_until_interrupted

    asked = AskParams(attempts, agreement, seed, schema_tokens)
    with open_session(database, params, model, adapter, asked) as session:
        server = AnswerServer(session, port, host, attempts=attempts)
        if not server.only_local:
            click.echo(f"whoever reaches {host} can now read {database}, without a password", err=True)
        click.echo(f"{server.address} (model {session.name}; Ctrl-C ends it)")
        serve_until_interrupted(server)


@main.command()
@click.option("--report", type=_PATH, default=Path("metrics/repair/report.json"), show_default=True)
@click.option(
    "--compare",
    type=_FILE,
    nargs=2,
    help="Two files of episodes on the same tasks, such as those of two "
    "experiments: who solved what, on the evaluation tasks.",
)
@click.option("--tasks", type=_PATH, default=Path("data/repair/tasks/tasks.jsonl"), show_default=True)
@reporting_errors
def repair(report: Path, compare: tuple[Path, Path] | None, tasks: Path) -> None:
    """Print what the checkpoints of the repair chain solve, gain and lose; `make repro-repair` makes the file."""
    if compare:
        show_repair_pair(*compare, tasks, _console())
    else:
        show_repair_summary(report, _console())


@main.command()
@click.argument("name")
@click.option("--params", type=_PATH, default=Path("params.yaml"), show_default=True)
@click.option("--folder", type=_PATH, default=Path("profiles"), show_default=True)
@reporting_errors
def profile(name: str, params: Path, folder: Path) -> None:
    """Lay profiles/NAME.yaml over params.yaml; `git checkout params.yaml` takes it off again."""
    changed = profiles.apply(params, folder / f"{name}.yaml")
    click.echo(f"{params}: {len(changed)} values changed" + (f": {', '.join(changed)}" if changed else ""))


_MODEL = click.option("--model", help="The chain's model; the first of params.yaml by default.")
_SEED = click.option("--seed", type=int, help="The chain's seed; the first of params.yaml by default.")
_CHECKPOINT = click.Choice((*CHECKPOINTS, KEPT))
_PARAMS = click.option("--params", type=_PATH, default=Path("params.yaml"), show_default=True)


@main.command(name="export", short_help="Write files for llama.cpp and LM Studio.")
@click.option("--model", help="A model of the params file, with the adapter that its chain kept, or an MLX folder, "
              "without one. By default the first model.")
@click.option("--adapter", type=_PATH, help="An adapter's folder, in place of the one that the chain kept.")
@click.option("--out", type=_PATH, default=Path("exported"), show_default=True)
@click.option("--quantise", multiple=True, default=("q8_0", "q4_k_m"), show_default=True,
              help="A type of llama.cpp's, once for each file besides that in BF16.")
@_PARAMS
@reporting_errors
def export_command(
    model: str | None, adapter: Path | None, out: Path, quantise: tuple[str, ...], params: Path
) -> None:
    """Fuse an adapter into its model and write a folder for MLX and GGUF files, each checked by llama.cpp.

    `make export` does the same for a chain and scores every file. docs/lmstudio.md says how to use them.
    """
    from sqldojo.export.command import export_and_report

    table = export_and_report(params, model, adapter, out, quantise, lambda step: click.echo(step, err=True))
    _console().print(Markdown("\n".join(table)))


@main.command(short_help="Print the transcripts of a checkpoint, or of a file.")
@click.argument("episodes", type=_FILE, required=False)
@click.option("--checkpoint", type=_CHECKPOINT, help="In place of a file: what this checkpoint did.")
@click.option("--beside", type=_CHECKPOINT, help="An earlier checkpoint, shown beside --checkpoint.")
@_MODEL
@_SEED
@_PARAMS
@click.option("--outcome", type=click.Choice(OUTCOMES))
@click.option("--type", "question_type", help="Only this question type.")
@click.option("--split", type=click.Choice((TRAIN, *HELD_OUT_SPLITS)))
@click.option("--limit", type=click.IntRange(min=1), default=5, show_default=True)
@click.option("--system", is_flag=True, help="Print the system prompt too.")
@reporting_errors
def show(
    episodes: Path | None,
    checkpoint: str | None,
    beside: str | None,
    model: str | None,
    seed: int | None,
    params: Path,
    outcome: str | None,
    question_type: str | None,
    split: str | None,
    limit: int,
    system: bool,
) -> None:
    """Print transcripts: of a JSONL file of EPISODES, or of a --checkpoint, perhaps with another one --beside it."""
    if (episodes is None) == (checkpoint is None) or (beside is not None and checkpoint is None):
        raise UserError("show: give a file of EPISODES, or --checkpoint and perhaps --beside")
    earlier = None
    if checkpoint is not None:
        from sqldojo.watching import chosen_chain  # here and below: its charts take long to import

        chain = chosen_chain(params, model, seed)
        episodes = attempts_of(chain, checkpoint, Path())
        earlier = read_records(attempts_of(chain, beside, Path()), Episode) if beside is not None else None
    records = read_records(episodes, Episode)
    found = transcript.select(records, outcome=outcome, type=question_type, split=split)
    console = _console()
    if earlier is None:
        shown = [transcript.render(episode, system=system) for episode in found[:limit]]
    else:
        pairs = transcript.same_attempts(earlier, found)[:limit]
        shown = [transcript.render_beside((beside, checkpoint), pair, system=system) for pair in pairs]
    for each in shown:
        console.print(each)
    click.echo(f"{len(shown)} of {len(found)} matching episodes; the file holds {len(records)}")


@main.command(name="compare", short_help="Say what changed from one checkpoint to another.")
@click.argument("before")
@click.argument("after")
@click.option("--split", type=click.Choice((TRAIN, *HELD_OUT_SPLITS, TEST)), help="Only this split.")
@click.option("--limit", type=click.IntRange(min=0), default=10, show_default=True,
              help="Questions gained to print, and as many lost.")
@_MODEL
@_SEED
@_PARAMS
@click.option("--json", "as_json", is_flag=True, help="Print everything as one JSON object.")
@reporting_errors
def compare_command(
    before: str,
    after: str,
    split: str | None,
    limit: int,
    model: str | None,
    seed: int | None,
    params: Path,
    as_json: bool,
) -> None:
    """Compare what two checkpoints did at the same questions, from BEFORE to AFTER.

    Each is a JSONL file of episodes, or released, distilled, grpo, redistilled or kept for a checkpoint of a chain.
    """
    from sqldojo.comparing_files import compare_files, episodes_path
    from sqldojo.evaluation.comparison_view import render_comparison
    from sqldojo.watching import chosen_chain

    chain = functools.partial(chosen_chain, params, model, seed)
    files = [episodes_path(name, chain, Path()) for name in (before, after)]
    found = compare_files(*files, names=(before, after), split=split)
    if as_json:
        click.echo(json.dumps(found.as_json(), sort_keys=True, ensure_ascii=False))
    else:
        _console().print(render_comparison(found.names, found.splits, found.types, found.questions, limit))


@main.command(name="report", short_help="Write the page of a chain as it is now.")
@_MODEL
@_SEED
@_PARAMS
@click.option("--out", type=_PATH, help="The HTML file to write; MODEL-SEED.html here by default.")
@reporting_errors
def report_command(model: str | None, seed: int | None, params: Path, out: Path | None) -> None:
    """Write one HTML page with all that there is of a chain now, while it trains too.

    The stage of the same name writes reports/MODEL/SEED.html, which this command leaves to DVC.
    """
    from sqldojo.watching import chosen_chain, write_page

    chain = chosen_chain(params, model, seed)
    path = out or Path(f"{chain.name}.html")
    write_page(Path(), chain, path)
    click.echo(f"{path}: open it in a browser")


@main.command(name="watch", short_help="Serve the page of a chain while it trains.")
@_MODEL
@_SEED
@_PARAMS
@click.option("--port", type=click.IntRange(0, 65535), default=8765, show_default=True, help="0 for any free one.")
@reporting_errors
def watch_command(model: str | None, seed: int | None, params: Path, port: int) -> None:
    """Serve that page to this machine's browsers; it follows what changes. Ctrl-C ends it."""
    from sqldojo.watching import PageServer, WatchedPage, chosen_chain, serve_until_interrupted

    server = PageServer(WatchedPage(Path(), chosen_chain(params, model, seed)), port)
    click.echo(f"{server.address} (Ctrl-C ends it)")
    serve_until_interrupted(server)


@main.command(name="grade", short_help="Judge a query by the reference's result.")
@click.argument("more_databases", metavar="[DATABASE]...", nargs=-1, type=_EXISTING)
@click.option("--databases", type=_EXISTING, multiple=True, help="A file or a folder; more may follow it.")
@click.option("--reference", help="The SQL that gives the right result.")
@click.option("--submission", help="The SQL to judge.")
@click.option("--cases", type=_FILE, help="A JSON list of id, schema_sql (or databases), reference, submission.")
@click.option("--pairs", type=_FILE, help="A JSON list of id, reference, rewrite, over --databases.")
@click.option("--ordered", is_flag=True, help="The order of the rows counts (in files: the key `ordered`).")
@click.option("--json", "as_json", is_flag=True, help="Print each verdict as a JSON object on a line.")
@reporting_errors
def grade_command(
    more_databases: tuple[Path, ...],
    databases: tuple[Path, ...],
    reference: str | None,
    submission: str | None,
    cases: Path | None,
    pairs: Path | None,
    ordered: bool,
    as_json: bool,
) -> None:
    """Judge a SUBMISSION by the REFERENCE's result on every database, or all that a file lists.

    Exit code 0 whatever the verdicts are, 1 when one cannot be computed.
    """
    given = (*databases, *more_databases)
    alone = (reference is not None or submission is not None) + (cases is not None) + (pairs is not None)
    if alone != 1 or (reference is None) != (submission is None) or bool(given) == (cases is not None):
        raise UserError(
            "grade: give --databases with --reference and --submission, or --databases with --pairs, or --cases alone"
        )
    if ordered and reference is None:
        raise UserError("grade: --ordered is for --reference; in a file say it for each item, with the key `ordered`")
    if cases is not None:
        for name, verdict in grade_cases(cases):
            _print_verdict(verdict, as_json, name)
    elif pairs is not None:
        for name, verdict in grade_pairs(pairs, _database_files(given)):
            _print_verdict(verdict, as_json, name)
    else:
        try:
            _print_verdict(grade(reference, submission, _database_files(given), ordered=ordered), as_json)
        except ReferenceFailed as error:
            raise UserError(f"--reference: {error}; give a query that runs on every database") from error


@main.command(name="inspect", short_help="Show what is read of a database of yours.")
@click.argument("source", type=_EXISTING)
@click.option("--write", is_flag=True, help="Write the inferred foreign keys to the file --keys, to be edited.")
@click.option("--keys", type=_PATH, default=Path("bank/foreign_keys.yaml"), show_default=True,
              help="The file of foreign keys that the schema does not declare; it is read unless --write is given.")
@reporting_errors
def inspect_command(source: Path, write: bool, keys: Path) -> None:
    """Show the tables, values and foreign keys of SOURCE, as `databases.source` in params.yaml would read them.

    SOURCE is a SQLite file, a SQL script, a CSV or Parquet file or a folder of such. It is only read.
    """
    from sqldojo.own_database import description, read_own, write_keys  # here: only this command needs it

    with TemporaryDirectory(prefix="sqldojo-") as work:
        own = read_own(source, None if write or not keys.is_file() else keys, Path(work), seed=BankParams.seed)
    click.echo("\n".join(description(own)))
    if write:
        write_keys(own, keys)
        click.echo(f"{keys}: written; edit it, and commit it")


@main.command(name="family", short_help="Build four databases that tell wrong queries from right ones.")
@click.argument("schema_or_db", type=_FILE)
@click.option("--references", type=_FILE, required=True,
              help="Right queries: a .sql script (named 1, 2, ...), or JSON, a list or lines, of texts or objects with "
              "`reference` (or `query`, `sql`) and perhaps `id` and `ordered`.")
@click.option("--out", type=_PATH, required=True, help="The folder to write (replaced if it holds a family already).")
@click.option("--rows", type=click.IntRange(5, 5000), default=FamilyParams.rows, show_default=True,
              help="Rows a table, at most, in the first ordinary instance.")
@click.option("--candidates", type=click.IntRange(1, 10_000), default=FamilyParams.messy_candidates, show_default=True,
              help="Messy instances to choose the adversarial one from.")
@click.option("--starts", type=click.IntRange(1, 100), default=FamilyParams.starts, show_default=True,
              help="Candidates to build the adversarial instance from; the one that misses least is kept.")
@click.option("--edits", type=click.IntRange(0, 1_000_000), default=FamilyParams.edits, show_default=True,
              help="Edits of the adversarial one to try.")
@click.option("--seed", type=int, default=FamilyParams.seed, show_default=True,
              help="The same seed and arguments give the same bytes.")
@click.option("--json", "as_json", is_flag=True, help="Print the whole judgement as one JSON object.")
@reporting_errors
def family_command(
    schema_or_db: Path,
    references: Path,
    out: Path,
    rows: int,
    candidates: int,
    starts: int,
    edits: int,
    seed: int,
    as_json: bool,
) -> None:
    """Build four databases that tell wrong queries from the right ones, for the schema of SCHEMA_OR_DB.

    SCHEMA_OR_DB is a SQLite file or a SQL script, with or without rows; it is only read. The four files work with
    `sqldojo grade --databases OUT`. Names the references that cannot be used to grade by, and why.
    """
    settings = FamilyParams(seed=seed, rows=rows, messy_candidates=candidates, starts=starts, edits=edits)
    judgement = family_from_file(schema_or_db, read_references(references), out, settings, Limits())
    if as_json:
        click.echo(json.dumps(judgement, sort_keys=True))
        return
    console = _console()
    for each in judgement["references"]:
        if each["refused"]:
            console.print(f"refused {each['id']}: {each['refused']}", markup=False, soft_wrap=True)
    figures = judgement["mutants"]
    for each in judgement["references"]:
        for mutant in each["missed"]:
            console.print(f"missed, of {each['id']}: {mutant['sql']}", markup=False, soft_wrap=True)
    console.print(
        f"{out}: {figures['four']} of {figures['mutants']} wrong rewrites of {judgement['used']} references are told "
        f"apart ({figures['one_ordinary']} by one database, {figures['three_ordinary']} by the three ordinary ones). "
        f"Missed, though some rows tell them apart: {figures['killable'] - figures['four']}. No rows were found for "
        f"{figures['mutants'] - figures['killable']}, presumed equivalent: see {out}/family.json.",
        soft_wrap=True,
    )


@main.command(name="bank", short_help="Make a reviewed question bank from pairs, or from a schema alone.")
@click.option("--pairs", type=_FILE,
              help="JSON lines or a JSON list of objects with `question`, `query` (or `sql`) and `db_id`.")
@click.option("--databases", type=_EXISTING,
              help="The database of all pairs, or a folder with one named by each db_id: SQLite, .sql or .sql.gz.")
@click.option("--database", type=_FILE,
              help="Compose up to 500 question types from this database or SQL script, without pairs.")
@click.option("--out", type=_PATH, required=True, help="The folder to write (replaced if it holds a bank already).")
@click.option("--values", type=click.IntRange(1, 1000), default=BankParams.values, show_default=True,
              help="Values of its parameters that a question type is asked with, at most.")
@click.option("--seed", type=int, default=BankParams.seed, show_default=True,
              help="The same seed and arguments give the same bytes.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as one JSON object.")
@reporting_errors
def bank_command(
    pairs: Path | None,
    databases: Path | None,
    database: Path | None,
    out: Path,
    values: int,
    seed: int,
    as_json: bool,
) -> None:
    """Make question types, review them by rule, and write those that can be asked to OUT, with why others cannot.

    Either from real questions (--pairs with --databases), whose literals become parameters, or composed from the schema
    and rows of one --database. The user's files are only read.
    """
    if (pairs is None) != (databases is None) or (pairs is None) == (database is None):
        raise UserError("bank: give --pairs with --databases, or --database alone")
    settings = BankParams(seed=seed, values=values)
    if database is None:
        summary = bank_from_pairs(pairs, databases, out, settings, Limits())
    else:
        summary = bank_from_database(database, out, settings, Limits())
    if as_json:
        click.echo(json.dumps(summary, sort_keys=True))
        return
    table = Table("what", "count")
    table.columns[1].justify = "right"
    for name in ("pairs", "databases", "proposed", "with_parameters", "accepted"):
        if name in summary:
            table.add_row(name.replace("_", " "), str(summary[name]))
    for rule, count in summary["rejected"].items():
        table.add_row(f"rejected: {rule}", str(count))
    for pattern, counts in summary["patterns"].items():
        table.add_row(f"accepted of pattern {pattern}", f"{counts['accepted']} of {counts['proposed']}")
    _console().print(table)
    click.echo(f"{out}: {summary['accepted']} question types; why others were rejected is in {out / REVIEWS}")


@main.command(name="audit", short_help="Count the wrong rewrites that four databases tell apart.")
@click.argument("folder", type=_FOLDER, required=False)
@click.option("--references", type=_FILE, help="The right queries that FOLDER was built for.")
@click.option("--databases", type=_PATH, default=Path("data/databases"), show_default=True,
              help="Both families of the shop, audited when no FOLDER is given.")
@click.option("--bank", type=_PATH, default=Path("data/bank"), show_default=True,
              help="The folder with the questions that may be asked on them.")
@click.option("--values-per-type", type=click.IntRange(min=0), default=1, show_default=True,
              help="How many references of each question type are audited on each family; 0 for all.")
@click.option("--oracle", type=click.IntRange(min=1), default=200, show_default=True,
              help="Small databases made for each reference, to say which mutants can be told apart at all.")
@click.option("--out", type=_PATH, help="Write the whole report to this Markdown file; the terminal has a summary.")
@click.option("--json", "as_json", is_flag=True, help="Print the counts as one JSON object.")
@reporting_errors
def audit_command(
    folder: Path | None,
    references: Path | None,
    databases: Path,
    bank: Path,
    values_per_type: int,
    oracle: int,
    out: Path | None,
    as_json: bool,
) -> None:
    """How many wrong rewrites a family's four databases tell from the right query: those in FOLDER, or the shop's."""
    if (folder is None) != (references is None):
        raise UserError("audit: give a family's FOLDER with --references, or neither of them to audit the shop")
    settings = AuditParams(seed=FamilyParams.seed, values_per_type=values_per_type, oracle_instances=oracle)
    try:
        if folder is None:
            audits = audit_bank(*read_bank(bank), databases, settings, Limits())
        else:
            refused, subjects = refused_by(folder), []
            for each in read_references(references):
                if each.sql in refused:
                    click.echo(f"skipped {each.id}, which the family was built without: {refused[each.sql]}", err=True)
                else:
                    subjects.append(Subject(each.id, "given", each.sql, each.ordered))
            audits = audit(subjects, {"given": family_databases(folder)}, settings, Limits())
    except (ReferenceFailed, Unparsable) as error:
        raise UserError(f"{error}; leave this reference out or correct it") from error
    if as_json:
        click.echo(json.dumps(summarise(audits), sort_keys=True))
    elif out is not None:
        write_text(out, audit_markdown(audits))
        click.echo(f"{out}: written")
    else:
        _console().print(Markdown(audit_markdown(audits, brief=True)))


@main.command(name="failing", short_help="List the trained types that a model keeps failing.")
@click.argument("episodes", type=_FILE)
@click.option("--below", type=click.FloatRange(0, 1), default=0.5, show_default=True,
              help="Types with a smaller share of right attempts.")
@click.option("--out", type=_PATH, default=Path("bank/failing.json"), show_default=True)
@reporting_errors
def failing_command(episodes: Path, below: float, out: Path) -> None:
    """Write the trained types that a JSONL file of EPISODES fails, for `propose.failing` to write simpler ones for."""
    found = failing_types(read_records(episodes, Episode), below)
    write_json(out, found)
    click.echo(f"{out}: {len(found)} types with less than {below:.0%} of their attempts right; commit it")


@main.command(name="record", short_help="Ask models behind an API, and keep their replies.")
@click.argument("purpose", type=click.Choice(PURPOSES))
@click.option("--params", type=_PATH, default=Path("params.yaml"), show_default=True)
@click.option("--data", type=_FOLDER, default=Path("data"), show_default=True,
              help="The folder with what the stages before have made.")
@click.option("--cassettes", type=_PATH, default=Path("cassettes"), show_default=True,
              help="The folder of recorded replies, for Git to keep.")
@reporting_errors
def record_command(purpose: str, params: Path, data: Path, cassettes: Path) -> None:
    """Ask the models that the params file names for what a stage needs of them, and keep their replies.

    Costs money. Keys are taken from the environment, OPENAI_API_KEY say, and never kept. What is recorded already is
    not asked again, so that the same command goes on after a spent budget, Ctrl-C or a crash.
    """
    settings = load_params(params, "providers", ProviderParams)
    with recording(cassettes, purpose, settings, tell=functools.partial(click.echo, err=True)) as recorder:
        try:
            run_until_interrupted(recorder, lambda: RUNS[purpose](recorder, params, data))
        finally:
            click.echo(f"{purpose}: {recorder.summary()}")


@main.command(name="regrade", short_help="Grade an archive again under today's verifier.")
@click.argument("episodes", type=_FILE)
@click.option("--questions", type=_PATH, default=Path("data/questions"), show_default=True,
              help="The folder with the questions that were asked.")
@click.option("--databases", type=_PATH, default=Path("data/databases"), show_default=True,
              help="The folder of both families of databases.")
@click.option("--out", type=_PATH, help="Write the archive with today's outcomes to this new file.")
@click.option("--json", "as_json", is_flag=True, help="Print each change as a JSON object on a line.")
@reporting_errors
def regrade_command(episodes: Path, questions: Path, databases: Path, out: Path | None, as_json: bool) -> None:
    """Grade an archive of EPISODES again under today's verifier, and say which verdicts changed."""
    if not databases.is_dir():
        raise UserError(f"{databases}: no such folder; build the databases with `dvc repro build_adversarial`")
    try:
        found = regrade(
            read_records(episodes, Episode), read_questions(questions), databases, Limits(), archive=episodes
        )
    except ReferenceFailed as error:
        raise UserError(f"{error}; restore the databases that the archive was made with (`dvc checkout`)") from error
    if out is not None:
        write_archive(out, found)
    for change in found.changes:
        if as_json:
            click.echo(json.dumps(dataclasses.asdict(change), sort_keys=True))
        else:
            click.echo(f"{change.episode}: {change.before} -> {change.after}: {change.reason}")
    if not as_json:
        click.echo(f"{len(found.changes)} of {found.submissions} submissions have another verdict today")


def _print_verdict(verdict: Verdict, as_json: bool, name: str | None = None) -> None:
    if as_json:
        click.echo(json.dumps(dataclasses.asdict(verdict) | ({"id": name} if name is not None else {}), sort_keys=True))
        return
    why = "" if verdict.verdict == CORRECT else f" on {verdict.database}: {verdict.reason}"
    click.echo(f"{name}: {verdict.verdict}{why}" if name is not None else f"{verdict.verdict}{why}")


def _database_files(paths: tuple[Path, ...]) -> tuple[Path, ...]:
    files = [file for path in paths for file in (sorted(path.glob("*.sqlite")) if path.is_dir() else [path])]
    if not files:
        raise UserError(f"--databases: no *.sqlite file in {', '.join(map(str, paths))}; build them with `make repro`")
    return tuple(files)


def _timings(folder: Path) -> list[tuple[str, float]]:
    """Stage and seconds, in the order in which the stages last ended."""
    files = sorted(folder.glob("*"), key=lambda path: (path.stat().st_mtime_ns, path.name)) if folder.is_dir() else []
    return [(path.name, float(path.read_text(encoding="utf-8"))) for path in files if not path.name.startswith(".")]


def _console() -> Console:
    """A console that does not squeeze tables when the output goes to a file or a CI log."""
    console = Console(highlight=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = 120
    return console


if __name__ == "__main__":
    main(prog_name="sqldojo")
