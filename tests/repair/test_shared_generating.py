"""Generated tasks on other people's databases, where the folder shared with other projects is at hand.

All rows of Chinook and Sakila, with names in two styles, and references of our own: 200 tasks each.
"""

import shutil
from dataclasses import dataclass

import pytest
from instance_checks import SHARED, build_shared

from sqldojo.databases.execution import Limits
from sqldojo.repair.gate import gate
from sqldojo.repair.generating import GenerateParams, generate
from sqldojo.repair.judging import Judge
from sqldojo.repair.leaks import leak
from sqldojo.repair.references import RepairReference


@dataclass(frozen=True)
class Case:
    """A database and what is asked of it."""

    script: str
    questions: tuple[tuple[str, str], ...]


CHINOOK = Case("chinook/chinook", (
    ("Which customers live in Brazil? Return the first name and the last name.",
     "SELECT FirstName, LastName FROM Customer WHERE Country = 'Brazil'"),
    ("How many tracks are longer than 5 minutes (300000 milliseconds)? Return only the number.",
     "SELECT COUNT(*) FROM Track WHERE Milliseconds > 300000"),
    ("How many albums does each artist have? Return the name and the number, with 0 for none.",
     "SELECT Artist.Name, COUNT(Album.AlbumId) FROM Artist LEFT JOIN Album ON Album.ArtistId = Artist.ArtistId "
     "GROUP BY Artist.ArtistId"),
    ("What is the total of the invoices of each country in 2022? Return the country and the total.",
     "SELECT BillingCountry, SUM(Total) FROM Invoice WHERE strftime('%Y', InvoiceDate) = '2022' "
     "GROUP BY BillingCountry"),
    ("Which genres have more than 100 tracks? Return only the name.",
     "SELECT Genre.Name FROM Track JOIN Genre ON Genre.GenreId = Track.GenreId GROUP BY Genre.GenreId "
     "HAVING COUNT(*) > 100"),
    ("Which artists have no album? Return only the name.",
     "SELECT Name FROM Artist WHERE NOT EXISTS (SELECT 1 FROM Album WHERE Album.ArtistId = Artist.ArtistId)"),
    ("Which track is the longest? Return the name, or several names when they tie.",
     "SELECT Name FROM Track WHERE Milliseconds = (SELECT MAX(Milliseconds) FROM Track)"),
    ("List the tracks of the genre Drama that have no composer: only the name.",
     "SELECT Track.Name FROM Track JOIN Genre ON Genre.GenreId = Track.GenreId WHERE Genre.Name = 'Drama' AND "
     "Track.Composer IS NULL"),
    ("Which different countries do customers with a company come from? Return each once.",
     "SELECT DISTINCT Country FROM Customer WHERE Company IS NOT NULL"),
    ("Which invoices of 2023 have a total of at least 10? Return the invoice id and the total.",
     "SELECT InvoiceId, Total FROM Invoice WHERE strftime('%Y', InvoiceDate) = '2023' AND Total >= 10"),
))  # fmt: skip
SAKILA = Case("sakila/sakila", (
    ("How many films are rated PG? Return only the number.", "SELECT COUNT(*) FROM film WHERE rating = 'PG'"),
    ("Which films run for at least 184 minutes? Return the title and the length.",
     "SELECT title, length FROM film WHERE length >= 184"),
    ("How many films are in each category? Return the name of the category and the number.",
     "SELECT category.name, COUNT(*) FROM film_category JOIN category ON category.category_id = "
     "film_category.category_id GROUP BY category.category_id"),
    ("Which actors played in more than 38 films? Return the first name and the last name.",
     "SELECT actor.first_name, actor.last_name FROM film_actor JOIN actor ON actor.actor_id = film_actor.actor_id "
     "GROUP BY actor.actor_id HAVING COUNT(*) > 38"),
    ("Which films are not in the inventory? Return only the title.",
     "SELECT title FROM film WHERE NOT EXISTS (SELECT 1 FROM inventory WHERE inventory.film_id = film.film_id)"),
    ("What is the average amount of the payments in July 2005? Return only the number.",
     "SELECT AVG(amount) FROM payment WHERE strftime('%Y-%m', payment_date) = '2005-07'"),
    ("Which film costs the most to replace among those rated G? Return each title when several tie.",
     "SELECT title FROM film WHERE rating = 'G' AND replacement_cost = (SELECT MAX(replacement_cost) FROM film "
     "WHERE rating = 'G')"),
    ("Which rentals from before 2005-06-01 were never returned or have no return date? Give the number for each "
     "customer: the customer's last name and the number.",
     "SELECT customer.last_name, COUNT(*) FROM rental JOIN customer ON customer.customer_id = rental.customer_id "
     "WHERE rental.rental_date >= '2006-01-01' AND rental.return_date IS NULL GROUP BY customer.customer_id"),
    ("Which different districts are there among the addresses in cities of Canada? Return each once.",
     "SELECT DISTINCT address.district FROM address JOIN city ON city.city_id = address.city_id JOIN country ON "
     "country.country_id = city.country_id WHERE country.country = 'Canada'"),
    ("How many films does each language have, with 0 for a language without any? Return the name and the number.",
     "SELECT language.name, COUNT(film.film_id) FROM language LEFT JOIN film ON film.language_id = "
     "language.language_id GROUP BY language.language_id"),
))  # fmt: skip


@pytest.mark.skipif(not SHARED.is_dir(), reason="no ../shared beside this repository")
@pytest.mark.parametrize("case", [CHINOOK, SAKILA], ids=lambda case: case.script)
def test_two_hundred_tasks(tmp_path, case):
    db_id = case.script.partition("/")[0]
    template = tmp_path / "database" / db_id / f"{db_id}_template.sqlite"
    template.parent.mkdir(parents=True)
    shutil.copyfile(build_shared(tmp_path, case.script), template)
    references = [
        RepairReference(f"{db_id}-{number}", f"{db_id}-{number}", db_id, text, sql, False, 2)
        for number, (text, sql) in enumerate(case.questions)
    ]
    generated = generate(references, tmp_path / "database", GenerateParams(seed=5, tasks=200, two_bugs_share=0.2))
    assert len(generated.tasks) == 200
    assert min(generated.counts.values()) > 0
    gated = gate(generated.tasks, generated.hidden, Judge(tmp_path / "database", Limits()))
    assert gated.dropped == ()
    for task, hidden in zip(generated.tasks, generated.hidden, strict=True):
        assert leak(task.issue, task.issue_sql[0], hidden.sol_sql[0]) is None
