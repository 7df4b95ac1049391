-- References over Sakila and rewrites of them, as people and models write them.
-- Each block: title, type (the reference's name), verdict (reference; correct: equal on any rows that the schema
-- allows, dangling keys included; wrong: the title says on which rows it differs), query.

-- title: films not in stock
-- type: films-not-in-stock
-- verdict: reference
SELECT title FROM film WHERE NOT EXISTS (SELECT 1 FROM inventory WHERE inventory.film_id = film.film_id);

-- title: LEFT JOIN that finds nothing
-- type: films-not-in-stock
-- verdict: correct
SELECT f.title FROM film f LEFT JOIN inventory i ON i.film_id = f.film_id WHERE i.inventory_id IS NULL;

-- title: all films except the stocked keys
-- type: films-not-in-stock
-- verdict: correct
SELECT title FROM film WHERE film_id IN (SELECT film_id FROM film EXCEPT SELECT film_id FROM inventory);

-- title: films of one title become one row
-- type: films-not-in-stock
-- verdict: wrong
SELECT DISTINCT title FROM film WHERE NOT EXISTS (SELECT 1 FROM inventory WHERE inventory.film_id = film.film_id);

-- title: not rented, though perhaps in stock
-- type: films-not-in-stock
-- verdict: wrong
SELECT title FROM film WHERE film_id NOT IN (SELECT i.film_id FROM inventory i JOIN rental r ON r.inventory_id = i.inventory_id);

-- title: by title, so another film of that title hides it
-- type: films-not-in-stock
-- verdict: wrong
SELECT title FROM film WHERE title NOT IN (SELECT f.title FROM film f JOIN inventory i ON i.film_id = f.film_id);

-- title: busiest actors
-- type: busiest-actors
-- verdict: reference
SELECT a.first_name, a.last_name FROM actor a JOIN film_actor fa ON fa.actor_id = a.actor_id GROUP BY a.actor_id, a.first_name, a.last_name HAVING COUNT(*) = (SELECT MAX(n) FROM (SELECT COUNT(*) AS n FROM film_actor GROUP BY actor_id));

-- title: the counts in a CTE
-- type: busiest-actors
-- verdict: correct
WITH parts AS (SELECT actor_id, COUNT(film_id) AS n FROM film_actor GROUP BY actor_id) SELECT first_name, last_name FROM actor WHERE actor_id IN (SELECT actor_id FROM parts WHERE n = (SELECT MAX(n) FROM parts));

-- title: one of several that tie
-- type: busiest-actors
-- verdict: wrong
SELECT a.first_name, a.last_name FROM actor a JOIN film_actor fa ON fa.actor_id = a.actor_id GROUP BY a.actor_id, a.first_name, a.last_name ORDER BY COUNT(*) DESC, a.actor_id LIMIT 1;

-- title: namesakes together
-- type: busiest-actors
-- verdict: wrong
WITH parts AS (SELECT a.first_name, a.last_name, COUNT(*) AS n FROM actor a JOIN film_actor fa ON fa.actor_id = a.actor_id GROUP BY a.first_name, a.last_name) SELECT first_name, last_name FROM parts WHERE n = (SELECT MAX(n) FROM parts);

-- title: most minutes, not most films
-- type: busiest-actors
-- verdict: wrong
WITH parts AS (SELECT fa.actor_id, SUM(f.length) AS n FROM film_actor fa JOIN film f ON f.film_id = fa.film_id GROUP BY fa.actor_id) SELECT first_name, last_name FROM actor WHERE actor_id IN (SELECT actor_id FROM parts WHERE n = (SELECT MAX(n) FROM parts));

-- title: average length by rating
-- type: average-length-by-rating
-- verdict: reference
SELECT rating, AVG(length) FROM film GROUP BY rating;

-- title: sum over count
-- type: average-length-by-rating
-- verdict: correct
SELECT rating, SUM(length) * 1.0 / COUNT(length) FROM film GROUP BY rating;

-- title: films without a length counted as none
-- type: average-length-by-rating
-- verdict: wrong
SELECT rating, SUM(length) * 1.0 / COUNT(*) FROM film GROUP BY rating;

-- title: whole-number division
-- type: average-length-by-rating
-- verdict: wrong
SELECT rating, SUM(length) / COUNT(length) FROM film GROUP BY rating;

-- title: films without a rating dropped
-- type: average-length-by-rating
-- verdict: wrong
SELECT rating, AVG(length) FROM film WHERE rating IS NOT NULL GROUP BY rating;

-- title: open rentals per customer
-- type: open-rentals-per-customer
-- verdict: reference
SELECT c.customer_id, COUNT(r.rental_id) FROM customer c LEFT JOIN rental r ON r.customer_id = c.customer_id AND r.return_date IS NULL GROUP BY c.customer_id;

-- title: correlated count
-- type: open-rentals-per-customer
-- verdict: correct
SELECT customer_id, (SELECT COUNT(*) FROM rental r WHERE r.customer_id = c.customer_id AND r.return_date IS NULL) FROM customer c;

-- title: counted where they are open
-- type: open-rentals-per-customer
-- verdict: correct
SELECT c.customer_id, COUNT(CASE WHEN r.return_date IS NULL THEN r.rental_id END) FROM customer c LEFT JOIN rental r ON r.customer_id = c.customer_id GROUP BY c.customer_id;

-- title: customers who returned everything dropped
-- type: open-rentals-per-customer
-- verdict: wrong
SELECT c.customer_id, COUNT(r.rental_id) FROM customer c LEFT JOIN rental r ON r.customer_id = c.customer_id WHERE r.return_date IS NULL GROUP BY c.customer_id;

-- title: the padded row counted
-- type: open-rentals-per-customer
-- verdict: wrong
SELECT c.customer_id, COUNT(*) FROM customer c LEFT JOIN rental r ON r.customer_id = c.customer_id AND r.return_date IS NULL GROUP BY c.customer_id;

-- title: returned ones counted
-- type: open-rentals-per-customer
-- verdict: wrong
SELECT c.customer_id, COUNT(r.return_date) FROM customer c LEFT JOIN rental r ON r.customer_id = c.customer_id GROUP BY c.customer_id;

-- title: actors in horror and comedy
-- type: actors-in-horror-and-comedy
-- verdict: reference
SELECT first_name, last_name FROM actor WHERE actor_id IN (SELECT fa.actor_id FROM film_actor fa JOIN film_category fc ON fc.film_id = fa.film_id JOIN category c ON c.category_id = fc.category_id WHERE c.name = 'Horror') AND actor_id IN (SELECT fa.actor_id FROM film_actor fa JOIN film_category fc ON fc.film_id = fa.film_id JOIN category c ON c.category_id = fc.category_id WHERE c.name = 'Comedy');

-- title: both names counted
-- type: actors-in-horror-and-comedy
-- verdict: correct
SELECT a.first_name, a.last_name FROM actor a JOIN film_actor fa ON fa.actor_id = a.actor_id JOIN film_category fc ON fc.film_id = fa.film_id JOIN category c ON c.category_id = fc.category_id WHERE c.name IN ('Horror', 'Comedy') GROUP BY a.actor_id, a.first_name, a.last_name HAVING COUNT(DISTINCT c.name) = 2;

-- title: one of the two is enough
-- type: actors-in-horror-and-comedy
-- verdict: wrong
SELECT first_name, last_name FROM actor WHERE actor_id IN (SELECT fa.actor_id FROM film_actor fa JOIN film_category fc ON fc.film_id = fa.film_id JOIN category c ON c.category_id = fc.category_id WHERE c.name IN ('Horror', 'Comedy'));

-- title: two films of one of them are enough
-- type: actors-in-horror-and-comedy
-- verdict: wrong
SELECT a.first_name, a.last_name FROM actor a JOIN film_actor fa ON fa.actor_id = a.actor_id JOIN film_category fc ON fc.film_id = fa.film_id JOIN category c ON c.category_id = fc.category_id WHERE c.name IN ('Horror', 'Comedy') GROUP BY a.actor_id, a.first_name, a.last_name HAVING COUNT(*) >= 2;

-- title: one film must be both
-- type: actors-in-horror-and-comedy
-- verdict: wrong
SELECT first_name, last_name FROM actor WHERE actor_id IN (SELECT fa.actor_id FROM film_actor fa JOIN film_category h ON h.film_id = fa.film_id JOIN category ch ON ch.category_id = h.category_id JOIN film_category k ON k.film_id = fa.film_id JOIN category ck ON ck.category_id = k.category_id WHERE ch.name = 'Horror' AND ck.name = 'Comedy');

-- title: payments per month
-- type: payments-per-month
-- verdict: reference
SELECT strftime('%Y-%m', payment_date), COUNT(*), SUM(amount) FROM payment GROUP BY strftime('%Y-%m', payment_date);

-- title: year and month separately
-- type: payments-per-month
-- verdict: correct
SELECT year || '-' || month, COUNT(payment_id), SUM(amount) FROM (SELECT strftime('%Y', payment_date) AS year, strftime('%m', payment_date) AS month, payment_id, amount FROM payment) GROUP BY year, month;

-- title: the same month of every year
-- type: payments-per-month
-- verdict: wrong
SELECT strftime('%m', payment_date), COUNT(*), SUM(amount) FROM payment GROUP BY strftime('%m', payment_date);

-- title: payments without a rental not counted
-- type: payments-per-month
-- verdict: wrong
SELECT strftime('%Y-%m', payment_date), COUNT(rental_id), SUM(amount) FROM payment GROUP BY strftime('%Y-%m', payment_date);

-- title: equal amounts added once
-- type: payments-per-month
-- verdict: wrong
SELECT strftime('%Y-%m', payment_date), COUNT(*), SUM(DISTINCT amount) FROM payment GROUP BY strftime('%Y-%m', payment_date);

-- title: frequent customers
-- type: frequent-customers
-- verdict: reference
SELECT c.first_name, c.last_name FROM customer c JOIN rental r ON r.customer_id = c.customer_id GROUP BY c.customer_id, c.first_name, c.last_name HAVING COUNT(*) > 3;

-- title: correlated count
-- type: frequent-customers
-- verdict: correct
SELECT first_name, last_name FROM customer c WHERE (SELECT COUNT(*) FROM rental r WHERE r.customer_id = c.customer_id) >= 4;

-- title: IN with a grouped subquery
-- type: frequent-customers
-- verdict: correct
SELECT first_name, last_name FROM customer WHERE customer_id IN (SELECT customer_id FROM rental GROUP BY customer_id HAVING COUNT(*) > 3);

-- title: the boundary itself included
-- type: frequent-customers
-- verdict: wrong
SELECT c.first_name, c.last_name FROM customer c JOIN rental r ON r.customer_id = c.customer_id GROUP BY c.customer_id, c.first_name, c.last_name HAVING COUNT(*) >= 3;

-- title: namesakes together
-- type: frequent-customers
-- verdict: wrong
SELECT c.first_name, c.last_name FROM customer c JOIN rental r ON r.customer_id = c.customer_id GROUP BY c.first_name, c.last_name HAVING COUNT(*) > 3;

-- title: copies counted, not rentals
-- type: frequent-customers
-- verdict: wrong
SELECT c.first_name, c.last_name FROM customer c JOIN rental r ON r.customer_id = c.customer_id GROUP BY c.customer_id, c.first_name, c.last_name HAVING COUNT(DISTINCT r.inventory_id) > 3;

-- title: city names of several countries
-- type: city-names-of-several-countries
-- verdict: reference
SELECT city FROM city GROUP BY city HAVING COUNT(DISTINCT country_id) > 1;

-- title: a self-join
-- type: city-names-of-several-countries
-- verdict: correct
SELECT DISTINCT a.city FROM city a JOIN city b ON b.city = a.city AND b.country_id <> a.country_id;

-- title: two cities of that name in one country
-- type: city-names-of-several-countries
-- verdict: wrong
SELECT city FROM city GROUP BY city HAVING COUNT(*) > 1;

-- title: a row for every such city
-- type: city-names-of-several-countries
-- verdict: wrong
SELECT a.city FROM city a WHERE EXISTS (SELECT 1 FROM city b WHERE b.city = a.city AND b.country_id <> a.country_id);

-- title: any letters' case
-- type: city-names-of-several-countries
-- verdict: wrong
SELECT DISTINCT a.city FROM city a JOIN city b ON LOWER(b.city) = LOWER(a.city) AND b.country_id <> a.country_id;

-- title: pg films of an hour or so
-- type: pg-films-of-an-hour-or-so
-- verdict: reference
SELECT title, length FROM film WHERE length BETWEEN 60 AND 90 AND rating = 'PG';

-- title: two comparisons
-- type: pg-films-of-an-hour-or-so
-- verdict: correct
SELECT title, length FROM film WHERE rating IN ('PG') AND length >= 60 AND length <= 90;

-- title: negated
-- type: pg-films-of-an-hour-or-so
-- verdict: correct
SELECT title, length FROM film WHERE NOT (length < 60 OR length > 90) AND NOT rating <> 'PG';

-- title: both ends left out
-- type: pg-films-of-an-hour-or-so
-- verdict: wrong
SELECT title, length FROM film WHERE length > 60 AND length < 90 AND rating = 'PG';

-- title: PG-13 included
-- type: pg-films-of-an-hour-or-so
-- verdict: wrong
SELECT title, length FROM film WHERE length BETWEEN 60 AND 90 AND rating LIKE 'PG%';

-- title: films without a length included
-- type: pg-films-of-an-hour-or-so
-- verdict: wrong
SELECT title, length FROM film WHERE COALESCE(length, 60) BETWEEN 60 AND 90 AND rating = 'PG';

-- title: films without original language
-- type: films-without-original-language
-- verdict: reference
SELECT COUNT(*) FROM film WHERE original_language_id IS NULL;

-- title: all less those that have one
-- type: films-without-original-language
-- verdict: correct
SELECT COUNT(*) - COUNT(original_language_id) FROM film;

-- title: films of which it differs from the language
-- type: films-without-original-language
-- verdict: wrong
SELECT COUNT(*) FROM film WHERE original_language_id IS NOT language_id;

-- title: compared with =
-- type: films-without-original-language
-- verdict: wrong
SELECT COUNT(*) FROM film WHERE original_language_id = NULL;

-- title: titles counted, not films
-- type: films-without-original-language
-- verdict: wrong
SELECT COUNT(DISTINCT title) FROM film WHERE original_language_id IS NULL;

-- title: payments without rental
-- type: payments-without-rental
-- verdict: reference
SELECT SUM(amount) FROM payment WHERE rental_id IS NULL;

-- title: a sum of the cases
-- type: payments-without-rental
-- verdict: correct
SELECT SUM(CASE WHEN rental_id IS NULL THEN amount END) FROM payment;

-- title: no such payment is 0, not NULL
-- type: payments-without-rental
-- verdict: wrong
SELECT SUM(CASE WHEN rental_id IS NULL THEN amount ELSE 0 END) FROM payment;

-- title: equal amounts added once
-- type: payments-without-rental
-- verdict: wrong
SELECT SUM(DISTINCT amount) FROM payment WHERE rental_id IS NULL;

-- title: NULL is never not in a list
-- type: payments-without-rental
-- verdict: wrong
SELECT SUM(amount) FROM payment WHERE rental_id NOT IN (SELECT rental_id FROM rental);

-- title: second dearest replacements
-- type: second-dearest-replacements
-- verdict: reference
SELECT title FROM film WHERE replacement_cost = (SELECT MAX(replacement_cost) FROM film WHERE replacement_cost < (SELECT MAX(replacement_cost) FROM film));

-- title: DENSE_RANK
-- type: second-dearest-replacements
-- verdict: correct
SELECT title FROM (SELECT title, DENSE_RANK() OVER (ORDER BY replacement_cost DESC) AS place FROM film) WHERE place = 2;

-- title: one larger cost
-- type: second-dearest-replacements
-- verdict: correct
SELECT title FROM film f WHERE (SELECT COUNT(DISTINCT replacement_cost) FROM film x WHERE x.replacement_cost > f.replacement_cost) = 1;

-- title: a tie for the dearest leaves the second place empty
-- type: second-dearest-replacements
-- verdict: wrong
SELECT title FROM (SELECT title, RANK() OVER (ORDER BY replacement_cost DESC) AS place FROM film) WHERE place = 2;

-- title: the cost of the second row
-- type: second-dearest-replacements
-- verdict: wrong
SELECT title FROM film WHERE replacement_cost = (SELECT replacement_cost FROM film ORDER BY replacement_cost DESC LIMIT 1 OFFSET 1);

-- title: films of one title become one row
-- type: second-dearest-replacements
-- verdict: wrong
SELECT DISTINCT title FROM film WHERE replacement_cost = (SELECT MAX(replacement_cost) FROM film WHERE replacement_cost < (SELECT MAX(replacement_cost) FROM film));

-- title: films per language
-- type: films-per-language
-- verdict: reference
SELECT l.name, COUNT(f.film_id) FROM language l LEFT JOIN film f ON f.language_id = l.language_id GROUP BY l.language_id, l.name;

-- title: correlated count
-- type: films-per-language
-- verdict: correct
SELECT name, (SELECT COUNT(*) FROM film WHERE film.language_id = language.language_id) FROM language;

-- title: languages without films dropped
-- type: films-per-language
-- verdict: wrong
SELECT l.name, COUNT(f.film_id) FROM language l JOIN film f ON f.language_id = l.language_id GROUP BY l.language_id, l.name;

-- title: the padded row counted
-- type: films-per-language
-- verdict: wrong
SELECT l.name, COUNT(*) FROM language l LEFT JOIN film f ON f.language_id = l.language_id GROUP BY l.language_id, l.name;

-- title: the original language instead
-- type: films-per-language
-- verdict: wrong
SELECT l.name, COUNT(f.film_id) FROM language l LEFT JOIN film f ON f.original_language_id = l.language_id GROUP BY l.language_id, l.name;

-- title: customers in canada
-- type: customers-in-canada
-- verdict: reference
SELECT c.first_name, c.last_name FROM customer c JOIN address a ON a.address_id = c.address_id JOIN city ci ON ci.city_id = a.city_id JOIN country co ON co.country_id = ci.country_id WHERE co.country = 'Canada';

-- title: nested IN
-- type: customers-in-canada
-- verdict: correct
SELECT first_name, last_name FROM customer WHERE address_id IN (SELECT address_id FROM address WHERE city_id IN (SELECT city_id FROM city WHERE country_id IN (SELECT country_id FROM country WHERE country = 'Canada')));

-- title: namesakes become one row
-- type: customers-in-canada
-- verdict: wrong
SELECT DISTINCT c.first_name, c.last_name FROM customer c JOIN address a ON a.address_id = c.address_id JOIN city ci ON ci.city_id = a.city_id JOIN country co ON co.country_id = ci.country_id WHERE co.country = 'Canada';

-- title: the store's country
-- type: customers-in-canada
-- verdict: wrong
SELECT c.first_name, c.last_name FROM customer c JOIN store s ON s.store_id = c.store_id JOIN address a ON a.address_id = s.address_id JOIN city ci ON ci.city_id = a.city_id JOIN country co ON co.country_id = ci.country_id WHERE co.country = 'Canada';

-- title: only active customers
-- type: customers-in-canada
-- verdict: wrong
SELECT c.first_name, c.last_name FROM customer c JOIN address a ON a.address_id = c.address_id JOIN city ci ON ci.city_id = a.city_id JOIN country co ON co.country_id = ci.country_id WHERE co.country = 'Canada' AND c.active = 1;

-- title: films in one store only
-- type: films-in-one-store-only
-- verdict: reference
SELECT title FROM film f WHERE EXISTS (SELECT 1 FROM inventory i WHERE i.film_id = f.film_id AND i.store_id = 1) AND NOT EXISTS (SELECT 1 FROM inventory i WHERE i.film_id = f.film_id AND i.store_id = 2);

-- title: EXCEPT of the keys
-- type: films-in-one-store-only
-- verdict: correct
SELECT title FROM film WHERE film_id IN (SELECT film_id FROM inventory WHERE store_id = 1 EXCEPT SELECT film_id FROM inventory WHERE store_id = 2);

-- title: counted by store
-- type: films-in-one-store-only
-- verdict: correct
SELECT f.title FROM film f JOIN inventory i ON i.film_id = f.film_id GROUP BY f.film_id, f.title HAVING SUM(i.store_id = 1) > 0 AND SUM(i.store_id = 2) = 0;

-- title: in both stores as well
-- type: films-in-one-store-only
-- verdict: wrong
SELECT title FROM film WHERE film_id IN (SELECT film_id FROM inventory WHERE store_id = 1);

-- title: a row for every copy
-- type: films-in-one-store-only
-- verdict: wrong
SELECT f.title FROM film f JOIN inventory i ON i.film_id = f.film_id WHERE i.store_id = 1 AND f.film_id NOT IN (SELECT film_id FROM inventory WHERE store_id = 2);

-- title: in neither store too
-- type: films-in-one-store-only
-- verdict: wrong
SELECT title FROM film WHERE film_id NOT IN (SELECT film_id FROM inventory WHERE store_id = 2);

-- title: long rentals
-- type: long-rentals
-- verdict: reference
SELECT rental_id, customer_id FROM rental WHERE julianday(return_date) - julianday(rental_date) > 9;

-- title: open ones left out by name
-- type: long-rentals
-- verdict: correct
SELECT rental_id, customer_id FROM rental WHERE return_date IS NOT NULL AND NOT julianday(return_date) - julianday(rental_date) <= 9;

-- title: nine days exactly included
-- type: long-rentals
-- verdict: wrong
SELECT rental_id, customer_id FROM rental WHERE julianday(return_date) - julianday(rental_date) >= 9;

-- title: hours of the day ignored
-- type: long-rentals
-- verdict: wrong
SELECT rental_id, customer_id FROM rental WHERE julianday(date(return_date)) - julianday(date(rental_date)) > 9;

-- title: open ones included
-- type: long-rentals
-- verdict: wrong
SELECT rental_id, customer_id FROM rental WHERE return_date IS NULL OR julianday(return_date) - julianday(rental_date) > 9;

-- title: late returns
-- type: late-returns
-- verdict: reference
SELECT COUNT(*) FROM rental r JOIN inventory i ON i.inventory_id = r.inventory_id JOIN film f ON f.film_id = i.film_id WHERE julianday(r.return_date) - julianday(r.rental_date) > f.rental_duration;

-- title: counted where late
-- type: late-returns
-- verdict: correct
SELECT COUNT(CASE WHEN julianday(r.return_date) - julianday(r.rental_date) > f.rental_duration THEN 1 END) FROM film f JOIN inventory i ON i.film_id = f.film_id JOIN rental r ON r.inventory_id = i.inventory_id;

-- title: on the last day counted as late
-- type: late-returns
-- verdict: wrong
SELECT COUNT(*) FROM rental r JOIN inventory i ON i.inventory_id = r.inventory_id JOIN film f ON f.film_id = i.film_id WHERE julianday(r.return_date) - julianday(r.rental_date) >= f.rental_duration;

-- title: customers counted, not rentals
-- type: late-returns
-- verdict: wrong
SELECT COUNT(DISTINCT r.customer_id) FROM rental r JOIN inventory i ON i.inventory_id = r.inventory_id JOIN film f ON f.film_id = i.film_id WHERE julianday(r.return_date) - julianday(r.rental_date) > f.rental_duration;

-- title: open ones counted as late
-- type: late-returns
-- verdict: wrong
SELECT COUNT(*) FROM rental r JOIN inventory i ON i.inventory_id = r.inventory_id JOIN film f ON f.film_id = i.film_id WHERE r.return_date IS NULL OR julianday(r.return_date) - julianday(r.rental_date) > f.rental_duration;

-- title: films rated g and r
-- type: films-rated-g-and-r
-- verdict: reference
SELECT COUNT(CASE WHEN rating = 'G' THEN 1 END), COUNT(CASE WHEN rating = 'R' THEN 1 END) FROM film;

-- title: FILTER
-- type: films-rated-g-and-r
-- verdict: correct
SELECT COUNT(*) FILTER (WHERE rating = 'G'), COUNT(*) FILTER (WHERE rating = 'R') FROM film;

-- title: a subquery for each
-- type: films-rated-g-and-r
-- verdict: correct
SELECT (SELECT COUNT(*) FROM film WHERE rating = 'G'), (SELECT COUNT(*) FROM film WHERE rating = 'R');

-- title: columns swapped
-- type: films-rated-g-and-r
-- verdict: wrong
SELECT COUNT(CASE WHEN rating = 'R' THEN 1 END), COUNT(CASE WHEN rating = 'G' THEN 1 END) FROM film;

-- title: the others counted as well
-- type: films-rated-g-and-r
-- verdict: wrong
SELECT COUNT(CASE WHEN rating = 'G' THEN 1 ELSE 0 END), COUNT(CASE WHEN rating = 'R' THEN 1 ELSE 0 END) FROM film;

-- title: ratings in small letters too
-- type: films-rated-g-and-r
-- verdict: wrong
SELECT COUNT(CASE WHEN rating LIKE 'g' THEN 1 END), COUNT(CASE WHEN rating LIKE 'r' THEN 1 END) FROM film;

-- title: last names of anybody
-- type: last-names-of-anybody
-- verdict: reference
SELECT last_name FROM actor UNION SELECT last_name FROM customer;

-- title: DISTINCT over UNION ALL
-- type: last-names-of-anybody
-- verdict: correct
SELECT DISTINCT last_name FROM (SELECT last_name FROM customer UNION ALL SELECT last_name FROM actor);

-- title: repeated names
-- type: last-names-of-anybody
-- verdict: wrong
SELECT last_name FROM actor UNION ALL SELECT last_name FROM customer;

-- title: only names of both
-- type: last-names-of-anybody
-- verdict: wrong
SELECT last_name FROM actor INTERSECT SELECT last_name FROM customer;

-- title: staff instead of customers
-- type: last-names-of-anybody
-- verdict: wrong
SELECT last_name FROM actor UNION SELECT last_name FROM staff;

-- title: share of categories
-- type: share-of-categories
-- verdict: reference
SELECT c.name, 100.0 * COUNT(fc.film_id) / (SELECT COUNT(*) FROM film) FROM category c LEFT JOIN film_category fc ON fc.category_id = c.category_id GROUP BY c.category_id, c.name;

-- title: correlated count
-- type: share-of-categories
-- verdict: correct
SELECT name, (SELECT COUNT(*) FROM film_category fc WHERE fc.category_id = c.category_id) * 100.0 / (SELECT COUNT(film_id) FROM film) FROM category c;

-- title: whole-number division
-- type: share-of-categories
-- verdict: wrong
SELECT c.name, 100 * COUNT(fc.film_id) / (SELECT COUNT(*) FROM film) FROM category c LEFT JOIN film_category fc ON fc.category_id = c.category_id GROUP BY c.category_id, c.name;

-- title: categories without films dropped
-- type: share-of-categories
-- verdict: wrong
SELECT c.name, 100.0 * COUNT(fc.film_id) / (SELECT COUNT(*) FROM film) FROM category c JOIN film_category fc ON fc.category_id = c.category_id GROUP BY c.category_id, c.name;

-- title: the share of all assignments
-- type: share-of-categories
-- verdict: wrong
SELECT c.name, 100.0 * COUNT(fc.film_id) / (SELECT COUNT(*) FROM film_category) FROM category c LEFT JOIN film_category fc ON fc.category_id = c.category_id GROUP BY c.category_id, c.name;

-- title: most rented categories
-- type: most-rented-categories
-- verdict: reference
WITH counts AS (SELECT c.category_id, c.name, COUNT(*) AS n FROM category c JOIN film_category fc ON fc.category_id = c.category_id JOIN inventory i ON i.film_id = fc.film_id JOIN rental r ON r.inventory_id = i.inventory_id GROUP BY c.category_id, c.name) SELECT name, n FROM counts WHERE n = (SELECT MAX(n) FROM counts);

-- title: RANK over the groups
-- type: most-rented-categories
-- verdict: correct
SELECT name, n FROM (SELECT c.name, COUNT(r.rental_id) AS n, RANK() OVER (ORDER BY COUNT(r.rental_id) DESC) AS place FROM rental r JOIN inventory i ON i.inventory_id = r.inventory_id JOIN film_category fc ON fc.film_id = i.film_id JOIN category c ON c.category_id = fc.category_id GROUP BY c.category_id, c.name) WHERE place = 1;

-- title: one of several that tie
-- type: most-rented-categories
-- verdict: wrong
SELECT c.name, COUNT(*) AS n FROM category c JOIN film_category fc ON fc.category_id = c.category_id JOIN inventory i ON i.film_id = fc.film_id JOIN rental r ON r.inventory_id = i.inventory_id GROUP BY c.category_id, c.name ORDER BY n DESC, c.category_id LIMIT 1;

-- title: copies counted, not rentals
-- type: most-rented-categories
-- verdict: wrong
WITH counts AS (SELECT c.category_id, c.name, COUNT(*) AS n FROM category c JOIN film_category fc ON fc.category_id = c.category_id JOIN inventory i ON i.film_id = fc.film_id GROUP BY c.category_id, c.name) SELECT name, n FROM counts WHERE n = (SELECT MAX(n) FROM counts);

-- title: customers counted, not rentals
-- type: most-rented-categories
-- verdict: wrong
WITH counts AS (SELECT c.category_id, c.name, COUNT(DISTINCT r.customer_id) AS n FROM category c JOIN film_category fc ON fc.category_id = c.category_id JOIN inventory i ON i.film_id = fc.film_id JOIN rental r ON r.inventory_id = i.inventory_id GROUP BY c.category_id, c.name) SELECT name, n FROM counts WHERE n = (SELECT MAX(n) FROM counts);

-- title: last rental of customers
-- type: last-rental-of-customers
-- verdict: reference
SELECT customer_id, inventory_id FROM rental r WHERE rental_date = (SELECT MAX(rental_date) FROM rental x WHERE x.customer_id = r.customer_id);

-- title: RANK
-- type: last-rental-of-customers
-- verdict: correct
SELECT customer_id, inventory_id FROM (SELECT customer_id, inventory_id, RANK() OVER (PARTITION BY customer_id ORDER BY rental_date DESC) AS place FROM rental) WHERE place = 1;

-- title: nothing later of the same customer
-- type: last-rental-of-customers
-- verdict: correct
SELECT customer_id, inventory_id FROM rental r WHERE NOT EXISTS (SELECT 1 FROM rental x WHERE x.customer_id = r.customer_id AND x.rental_date > r.rental_date);

-- title: one of several at one time
-- type: last-rental-of-customers
-- verdict: wrong
SELECT customer_id, inventory_id FROM (SELECT customer_id, inventory_id, ROW_NUMBER() OVER (PARTITION BY customer_id ORDER BY rental_date DESC, rental_id) AS place FROM rental) WHERE place = 1;

-- title: at the time of anybody's last rental
-- type: last-rental-of-customers
-- verdict: wrong
SELECT customer_id, inventory_id FROM rental WHERE rental_date IN (SELECT MAX(rental_date) FROM rental GROUP BY customer_id);

-- title: the highest number, not the latest
-- type: last-rental-of-customers
-- verdict: wrong
SELECT customer_id, inventory_id FROM rental r WHERE rental_id = (SELECT MAX(rental_id) FROM rental x WHERE x.customer_id = r.customer_id);

-- title: active customers of managers
-- type: active-customers-of-managers
-- verdict: reference
SELECT s.store_id, m.first_name, COUNT(c.customer_id) FROM store s JOIN staff m ON m.staff_id = s.manager_staff_id LEFT JOIN customer c ON c.store_id = s.store_id AND c.active = 1 GROUP BY s.store_id, m.first_name;

-- title: correlated count
-- type: active-customers-of-managers
-- verdict: correct
SELECT s.store_id, m.first_name, (SELECT COUNT(*) FROM customer c WHERE c.store_id = s.store_id AND c.active = 1) FROM staff m JOIN store s ON s.manager_staff_id = m.staff_id;

-- title: stores without active customers dropped
-- type: active-customers-of-managers
-- verdict: wrong
SELECT s.store_id, m.first_name, COUNT(c.customer_id) FROM store s JOIN staff m ON m.staff_id = s.manager_staff_id LEFT JOIN customer c ON c.store_id = s.store_id WHERE c.active = 1 GROUP BY s.store_id, m.first_name;

-- title: whoever works in the store
-- type: active-customers-of-managers
-- verdict: wrong
SELECT s.store_id, m.first_name, COUNT(c.customer_id) FROM store s JOIN staff m ON m.store_id = s.store_id LEFT JOIN customer c ON c.store_id = s.store_id AND c.active = 1 GROUP BY s.store_id, m.first_name;

-- title: the inactive ones too
-- type: active-customers-of-managers
-- verdict: wrong
SELECT s.store_id, m.first_name, COUNT(c.customer_id) FROM store s JOIN staff m ON m.staff_id = s.manager_staff_id LEFT JOIN customer c ON c.store_id = s.store_id GROUP BY s.store_id, m.first_name;

-- title: actors of one last name
-- type: actors-of-one-last-name
-- verdict: reference
SELECT a.actor_id, b.actor_id FROM actor a JOIN actor b ON a.last_name = b.last_name AND a.actor_id < b.actor_id;

-- title: a comma join
-- type: actors-of-one-last-name
-- verdict: correct
SELECT a.actor_id, b.actor_id FROM actor b, actor a WHERE a.last_name = b.last_name AND NOT a.actor_id >= b.actor_id;

-- title: each pair both ways
-- type: actors-of-one-last-name
-- verdict: wrong
SELECT a.actor_id, b.actor_id FROM actor a JOIN actor b ON a.last_name = b.last_name AND a.actor_id <> b.actor_id;

-- title: first and last name must agree
-- type: actors-of-one-last-name
-- verdict: wrong
SELECT a.actor_id, b.actor_id FROM actor a JOIN actor b ON a.last_name = b.last_name AND a.first_name = b.first_name AND a.actor_id < b.actor_id;

-- title: the first name must differ
-- type: actors-of-one-last-name
-- verdict: wrong
SELECT a.actor_id, b.actor_id FROM actor a JOIN actor b ON a.last_name = b.last_name AND a.first_name <> b.first_name AND a.actor_id < b.actor_id;

-- title: customers per film
-- type: customers-per-film
-- verdict: reference
SELECT f.film_id, COUNT(DISTINCT r.customer_id) FROM film f JOIN inventory i ON i.film_id = f.film_id JOIN rental r ON r.inventory_id = i.inventory_id GROUP BY f.film_id HAVING COUNT(DISTINCT r.customer_id) >= 2;

-- title: distinct pairs, then counted
-- type: customers-per-film
-- verdict: correct
SELECT film_id, COUNT(*) FROM (SELECT DISTINCT f.film_id, r.customer_id FROM rental r JOIN inventory i ON i.inventory_id = r.inventory_id JOIN film f ON f.film_id = i.film_id) GROUP BY film_id HAVING COUNT(*) > 1;

-- title: rentals counted, not customers
-- type: customers-per-film
-- verdict: wrong
SELECT f.film_id, COUNT(r.customer_id) FROM film f JOIN inventory i ON i.film_id = f.film_id JOIN rental r ON r.inventory_id = i.inventory_id GROUP BY f.film_id HAVING COUNT(r.customer_id) >= 2;

-- title: the boundary itself left out
-- type: customers-per-film
-- verdict: wrong
SELECT f.film_id, COUNT(DISTINCT r.customer_id) FROM film f JOIN inventory i ON i.film_id = f.film_id JOIN rental r ON r.inventory_id = i.inventory_id GROUP BY f.film_id HAVING COUNT(DISTINCT r.customer_id) > 2;

-- title: copies counted, not customers
-- type: customers-per-film
-- verdict: wrong
SELECT f.film_id, COUNT(DISTINCT i.inventory_id) FROM film f JOIN inventory i ON i.film_id = f.film_id JOIN rental r ON r.inventory_id = i.inventory_id GROUP BY f.film_id HAVING COUNT(DISTINCT i.inventory_id) >= 2;
