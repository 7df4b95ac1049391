-- One known mutant for every operator of verifier/mutation/catalogue.py, over the library of tests/verifier/test_mutants.py.
-- Each block: operator, reference, and a mutant that must be among its mutants and give another result on those rows.

-- operator: comparison-boundary
SELECT title FROM books WHERE price < 20;
SELECT title FROM books WHERE price <= 20;

-- operator: comparison-mirrored
SELECT title FROM books WHERE price < 20;
SELECT title FROM books WHERE price > 20;

-- operator: equality-negated
SELECT title FROM books WHERE genre = 'Crime';
SELECT title FROM books WHERE genre <> 'Crime';

-- operator: equality-widened
SELECT title FROM books WHERE pages = 200;
SELECT title FROM books WHERE pages >= 200;

-- operator: pair-order
SELECT a.title, b.title FROM books AS a JOIN books AS b ON a.genre = b.genre AND a.id < b.id;
SELECT a.title, b.title FROM books AS a JOIN books AS b ON a.genre = b.genre AND a.id <> b.id;

-- operator: between-opened
SELECT title FROM books WHERE pages BETWEEN 100 AND 200;
SELECT title FROM books WHERE (pages >= 100 AND pages < 200);

-- operator: range-closed
SELECT title FROM books WHERE pages > 100 AND pages < 200;
SELECT title FROM books WHERE pages BETWEEN 100 AND 200;

-- operator: correlation-dropped
SELECT name FROM members AS m WHERE EXISTS (SELECT 1 FROM loans AS l WHERE l.member_id = m.id AND l.fee > 1);
SELECT name FROM members AS m WHERE EXISTS(SELECT 1 FROM loans AS l WHERE l.fee > 1);

-- operator: where-term-dropped
SELECT title FROM books WHERE genre = 'Crime' AND price < 20;
SELECT title FROM books WHERE price < 20;

-- operator: on-term-dropped
SELECT m.name, l.fee FROM members AS m LEFT JOIN loans AS l ON l.member_id = m.id AND l.fee > 1;
SELECT m.name, l.fee FROM members AS m LEFT JOIN loans AS l ON l.member_id = m.id;

-- operator: having-term-dropped
SELECT genre FROM books GROUP BY genre HAVING COUNT(*) > 1 AND MIN(price) > 5;
SELECT genre FROM books GROUP BY genre HAVING MIN(price) > 5;

-- operator: case-condition-dropped
SELECT title, CASE WHEN genre = 'Crime' AND price < 20 THEN 'cheap' ELSE 'other' END FROM books;
SELECT title, CASE WHEN price < 20 THEN 'cheap' ELSE 'other' END FROM books;

-- operator: disjunct-dropped
SELECT title FROM books WHERE genre = 'Crime' OR price < 20;
SELECT title FROM books WHERE price < 20;

-- operator: and-for-or
SELECT title FROM books WHERE genre = 'Crime' OR price < 20;
SELECT title FROM books WHERE genre = 'Crime' AND price < 20;

-- operator: or-for-and
SELECT title FROM books WHERE genre = 'Crime' AND price < 20;
SELECT title FROM books WHERE genre = 'Crime' OR price < 20;

-- operator: parentheses-lost
SELECT title FROM books WHERE (genre = 'Crime' OR genre = 'Poetry') AND price > 20;
SELECT title FROM books WHERE genre = 'Crime' OR genre = 'Poetry' AND price > 20;

-- operator: negation-dropped
SELECT title FROM books WHERE NOT genre IN ('Crime', 'Poetry');
SELECT title FROM books WHERE genre IN ('Crime', 'Poetry');

-- operator: negation-added
SELECT title FROM books WHERE genre IN ('Crime', 'Poetry');
SELECT title FROM books WHERE NOT genre IN ('Crime', 'Poetry');

-- operator: number-off-by-one
SELECT title FROM books WHERE pages > 100;
SELECT title FROM books WHERE pages > 101;

-- operator: number-rescaled
SELECT title FROM books WHERE pages > 100;
SELECT title FROM books WHERE pages > 1000;

-- operator: digits-off-by-one
SELECT name FROM members WHERE STRFTIME('%Y', joined) = '2022';
SELECT name FROM members WHERE STRFTIME('%Y', joined) = '2023';

-- operator: text-case
SELECT title FROM books WHERE genre = 'Crime';
SELECT title FROM books WHERE genre = 'crime';

-- operator: text-altered
SELECT title FROM books WHERE genre = 'Crimes';
SELECT title FROM books WHERE genre = 'Crime';

-- operator: text-exchanged
SELECT title FROM books WHERE genre = 'Crime' AND title <> 'Dune';
SELECT title FROM books WHERE genre = 'Dune' AND title <> 'Dune';

-- operator: item-dropped
SELECT title FROM books WHERE genre IN ('Crime', 'Poetry');
SELECT title FROM books WHERE genre IN ('Poetry');

-- operator: item-added
SELECT title FROM books WHERE genre = 'Crime';
SELECT title FROM books WHERE genre IN ('Crime', (SELECT MAX("genre") FROM "books" WHERE NOT "genre" IN ('Crime')));

-- operator: value-exchanged
SELECT title FROM books WHERE genre <> 'Crime';
SELECT title FROM books WHERE genre = (SELECT MAX("genre") FROM "books" WHERE NOT "genre" IN ('Crime'));

-- operator: pattern-of-date
SELECT id FROM loans WHERE lent LIKE '2022-05%';
SELECT id FROM loans WHERE lent LIKE '%-05%';

-- operator: like-anchor
SELECT title FROM books WHERE title LIKE 'D%';
SELECT title FROM books WHERE title LIKE 'D';

-- operator: like-wildcard
SELECT title FROM books WHERE title LIKE 'D_n%';
SELECT title FROM books WHERE title LIKE 'D%n%';

-- operator: like-as-equality
SELECT title FROM books WHERE title LIKE 'dune';
SELECT title FROM books WHERE title = 'dune';

-- operator: like-as-glob
SELECT title FROM books WHERE title LIKE 'd%';
SELECT title FROM books WHERE title GLOB 'd*';

-- operator: glob-as-like
SELECT title FROM books WHERE title GLOB 'd*';
SELECT title FROM books WHERE title LIKE 'd%';

-- operator: escape-dropped
SELECT title FROM books WHERE title LIKE '50!%%' ESCAPE '!';
SELECT title FROM books WHERE title LIKE '50!%%';

-- operator: equality-as-like
SELECT title FROM books WHERE genre = 'Crime';
SELECT title FROM books WHERE genre LIKE 'Crime';

-- operator: folding-dropped
SELECT title FROM books WHERE LOWER(genre) = 'crime';
SELECT title FROM books WHERE genre = 'crime';

-- operator: folding-added
SELECT DISTINCT genre FROM books;
SELECT DISTINCT LOWER(genre) FROM books;

-- operator: rows-as-values
SELECT genre, COUNT(*) FROM books GROUP BY genre;
SELECT genre, COUNT(author_id) FROM books GROUP BY genre;

-- operator: rows-as-distinct-values
SELECT COUNT(*) FROM loans;
SELECT COUNT(DISTINCT member_id) FROM loans;

-- operator: values-as-rows
SELECT m.name, COUNT(l.id) FROM members AS m LEFT JOIN loans AS l ON l.member_id = m.id GROUP BY m.id;
SELECT m.name, COUNT(*) FROM members AS m LEFT JOIN loans AS l ON l.member_id = m.id GROUP BY m.id;

-- operator: count-distinct-dropped
SELECT COUNT(DISTINCT member_id) FROM loans;
SELECT COUNT(member_id) FROM loans;

-- operator: count-distinct-added
SELECT COUNT(member_id) FROM loans;
SELECT COUNT(DISTINCT member_id) FROM loans;

-- operator: counted-column
SELECT COUNT(DISTINCT member_id) FROM loans;
SELECT COUNT(DISTINCT id) FROM loans;

-- operator: conditional-counted
SELECT COUNT(CASE WHEN status = 'lost' THEN 1 END) FROM loans;
SELECT COUNT(CASE WHEN status = 'lost' THEN 1 ELSE 0 END) FROM loans;

-- operator: aggregate-exchanged
SELECT SUM(fee) FROM loans;
SELECT AVG(fee) FROM loans;

-- operator: aggregate-distinct-added
SELECT SUM(fee) FROM loans;
SELECT SUM(DISTINCT fee) FROM loans;

-- operator: aggregate-distinct-dropped
SELECT AVG(DISTINCT fee) FROM loans;
SELECT AVG(fee) FROM loans;

-- operator: nulls-averaged
SELECT AVG(fee) FROM loans;
SELECT TOTAL(fee) / COUNT(*) FROM loans;

-- operator: product-split
SELECT SUM(days * fee) FROM loans;
SELECT (SUM(days) * SUM(fee)) FROM loans;

-- operator: filter-dropped
SELECT SUM(fee) FILTER(WHERE status = 'lost') FROM loans;
SELECT SUM(fee) FROM loans;

-- operator: distinct-added
SELECT name FROM members;
SELECT DISTINCT name FROM members;

-- operator: distinct-dropped
SELECT DISTINCT town FROM members;
SELECT town FROM members;

-- operator: group-by-name
SELECT m.name, COUNT(*) FROM members AS m JOIN loans AS l ON l.member_id = m.id GROUP BY m.id;
SELECT m.name, COUNT(*) FROM members AS m JOIN loans AS l ON l.member_id = m.id GROUP BY m.name;

-- operator: group-by-key
SELECT m.name, COUNT(*) FROM members AS m JOIN loans AS l ON l.member_id = m.id GROUP BY m.name;
SELECT m.name, COUNT(*) FROM members AS m JOIN loans AS l ON l.member_id = m.id GROUP BY m.id;

-- operator: group-term-added
SELECT genre, COUNT(*) FROM books GROUP BY genre;
SELECT genre, COUNT(*) FROM books GROUP BY genre, id;

-- operator: group-term-dropped
SELECT genre, author_id, COUNT(*) FROM books GROUP BY genre, author_id;
SELECT genre, author_id, COUNT(*) FROM books GROUP BY author_id;

-- operator: grouping-added
SELECT m.name, l.fee FROM members AS m JOIN loans AS l ON l.member_id = m.id;
SELECT m.name, l.fee FROM members AS m JOIN loans AS l ON l.member_id = m.id GROUP BY m.name;

-- operator: where-as-having
SELECT genre, AVG(price) FROM books WHERE price > 10 GROUP BY genre;
SELECT genre, AVG(price) FROM books GROUP BY genre HAVING AVG(price) > 10;

-- operator: where-as-filter
SELECT genre, COUNT(*) FROM books WHERE price > 10 GROUP BY genre;
SELECT genre, COUNT(*) FILTER(WHERE price > 10) FROM books GROUP BY genre;

-- operator: having-as-where
SELECT genre FROM books GROUP BY genre HAVING SUM(price) > 25;
SELECT genre FROM books WHERE price > 25 GROUP BY genre;

-- operator: outer-as-inner
SELECT m.name, l.fee FROM members AS m LEFT JOIN loans AS l ON l.member_id = m.id;
SELECT m.name, l.fee FROM members AS m JOIN loans AS l ON l.member_id = m.id;

-- operator: inner-as-outer
SELECT m.name, l.fee FROM members AS m JOIN loans AS l ON l.member_id = m.id;
SELECT m.name, l.fee FROM members AS m LEFT JOIN loans AS l ON l.member_id = m.id;

-- operator: join-dropped
SELECT m.name FROM members AS m JOIN loans AS l ON l.member_id = m.id;
SELECT m.name FROM members AS m;

-- operator: key-exchanged
SELECT m.name, l.fee FROM members AS m JOIN loans AS l ON l.member_id = m.id;
SELECT m.name, l.fee FROM members AS m JOIN loans AS l ON l.id = m.id;

-- operator: on-as-where
SELECT m.name, l.fee FROM members AS m LEFT JOIN loans AS l ON l.member_id = m.id AND l.fee > 1;
SELECT m.name, l.fee FROM members AS m LEFT JOIN loans AS l ON l.member_id = m.id WHERE l.fee > 1;

-- operator: where-as-on
SELECT m.name, l.fee FROM members AS m LEFT JOIN loans AS l ON l.member_id = m.id WHERE l.fee > 1;
SELECT m.name, l.fee FROM members AS m LEFT JOIN loans AS l ON l.member_id = m.id AND l.fee > 1;

-- operator: child-joined
SELECT name FROM members;
SELECT name FROM members JOIN (SELECT "member_id" AS _key FROM "loans") AS _other ON _other._key = id;

-- operator: child-required
SELECT name FROM members;
SELECT name FROM members WHERE id IN (SELECT "member_id" FROM "loans");

-- operator: parent-required
SELECT title FROM books;
SELECT title FROM books WHERE author_id IN (SELECT "id" FROM "authors");

-- operator: parent-filtered
SELECT fee FROM loans;
SELECT fee FROM loans WHERE member_id IN (SELECT "id" FROM "members" WHERE "email" <> (SELECT MIN("email") FROM "members"));

-- operator: in-as-join
SELECT name FROM members WHERE id IN (SELECT member_id FROM loans);
SELECT name FROM members JOIN (SELECT member_id AS _key FROM loans) AS _other ON _other._key = "members".id;

-- operator: exists-as-join
SELECT name FROM members AS m WHERE EXISTS (SELECT 1 FROM loans AS l WHERE l.member_id = m.id AND l.fee > 1);
SELECT name FROM members AS m JOIN (SELECT l.member_id AS _key FROM loans AS l WHERE l.fee > 1) AS _other ON _other._key = m.id;

-- operator: join-as-in
SELECT m.name FROM members AS m JOIN loans AS l ON l.member_id = m.id WHERE l.fee > 1;
SELECT m.name FROM members AS m WHERE m.id IN (SELECT l.member_id FROM loans AS l WHERE l.fee > 1);

-- operator: not-in-as-not-exists
SELECT name FROM members WHERE NOT id IN (SELECT member_id FROM loans);
SELECT name FROM members WHERE NOT EXISTS(SELECT 1 FROM loans WHERE "loans".member_id = "members".id);

-- operator: not-exists-as-not-in
SELECT name FROM members AS m WHERE NOT EXISTS (SELECT 1 FROM loans AS l WHERE l.member_id = m.id);
SELECT name FROM members AS m WHERE NOT m.id IN (SELECT l.member_id FROM loans AS l);

-- operator: repeated-as-not-in
SELECT b.title FROM books AS b WHERE NOT EXISTS (SELECT 1 FROM books AS x WHERE x.genre = b.genre AND x.id <> b.id);
SELECT b.title FROM books AS b WHERE NOT b.genre IN (SELECT x.genre FROM books AS x GROUP BY x.genre HAVING COUNT(*) > 1);

-- operator: told-by-name
SELECT name, town FROM members WHERE town = 'Lund';
SELECT name, town FROM members WHERE name IN (SELECT name FROM members WHERE town = 'Lund');

-- operator: any-as-all
SELECT name FROM members WHERE id IN (SELECT member_id FROM loans WHERE status = 'lost');
SELECT name FROM members WHERE id IN (SELECT member_id FROM loans WHERE status = 'lost') AND NOT id IN (SELECT member_id FROM loans WHERE NOT member_id IS NULL AND NOT (status = 'lost'));

-- operator: outer-filter-copied
SELECT 100.0 * COUNT(*) / (SELECT COUNT(*) FROM books) FROM books WHERE genre = 'Crime';
SELECT 100.0 * COUNT(*) / (SELECT COUNT(*) FROM books WHERE books.genre = 'Crime') FROM books WHERE genre = 'Crime';

-- operator: filter-moved-out
SELECT t.genre, t.best FROM (SELECT genre, price, MAX(price) OVER (PARTITION BY genre) AS best FROM books WHERE price < 20) AS t;
SELECT t.genre, t.best FROM (SELECT genre, price, MAX(price) OVER (PARTITION BY genre) AS best FROM books) AS t WHERE price < 20;

-- operator: filter-moved-in
SELECT title, place FROM (SELECT title, price, RANK() OVER (ORDER BY price DESC) AS place FROM books) AS t WHERE price < 20;
SELECT title, place FROM (SELECT title, price, RANK() OVER (ORDER BY price DESC) AS place FROM books WHERE price < 20) AS t;

-- operator: union-exchanged
SELECT town FROM members UNION SELECT country FROM authors;
SELECT town FROM members UNION ALL SELECT country FROM authors;

-- operator: operation-as-condition
SELECT title FROM books WHERE price < 20 UNION ALL SELECT title FROM books WHERE genre = 'Crime';
SELECT title FROM books WHERE price < 20 OR genre = 'Crime';

-- operator: operation-as-membership
SELECT genre FROM books EXCEPT SELECT status FROM loans;
SELECT genre FROM books WHERE NOT genre IN (SELECT status FROM loans);

-- operator: set-operation
SELECT name FROM members UNION SELECT name FROM authors;
SELECT name FROM members INTERSECT SELECT name FROM authors;

-- operator: side-dropped
SELECT name FROM members UNION SELECT name FROM authors;
SELECT name FROM members;

-- operator: condition-as-union
SELECT title FROM books WHERE price < 20 OR genre = 'Crime';
SELECT title FROM books WHERE price < 20 UNION ALL SELECT title FROM books WHERE genre = 'Crime';

-- operator: all-best-as-first
SELECT title FROM books WHERE price = (SELECT MAX(price) FROM books);
SELECT title FROM books ORDER BY price DESC LIMIT 1;

-- operator: first-as-all-best
SELECT member_id FROM loans GROUP BY member_id ORDER BY COUNT(*) DESC LIMIT 1;
SELECT member_id FROM loans GROUP BY member_id HAVING COUNT(*) = (SELECT MAX(_best) FROM (SELECT COUNT(*) AS _best FROM loans GROUP BY member_id));

-- operator: best-in-any-group
SELECT b.title FROM books AS b WHERE b.price = (SELECT MAX(x.price) FROM books AS x WHERE x.genre = b.genre);
SELECT b.title FROM books AS b WHERE b.price IN (SELECT MAX(x.price) FROM books AS x GROUP BY x.genre);

-- operator: second-as-next-row
SELECT MAX(price) FROM books WHERE price < (SELECT MAX(price) FROM books);
SELECT (SELECT price FROM books ORDER BY price DESC LIMIT 1 OFFSET 1);

-- operator: both-as-count
SELECT name FROM members WHERE id IN (SELECT member_id FROM loans WHERE status = 'back') AND id IN (SELECT member_id FROM loans WHERE status = 'sent');
SELECT name FROM members WHERE id IN (SELECT member_id FROM loans WHERE status IN ('back', 'sent') GROUP BY member_id HAVING COUNT(*) > 1);

-- operator: latest-by-key
SELECT fee FROM loans AS l WHERE lent = (SELECT MAX(x.lent) FROM loans AS x WHERE x.member_id = l.member_id);
SELECT fee FROM loans AS l WHERE id = (SELECT MAX(x.id) FROM loans AS x WHERE x.member_id = l.member_id);

-- operator: limit-off-by-one
SELECT title FROM books ORDER BY price, id LIMIT 2;
SELECT title FROM books ORDER BY price, id LIMIT 3;

-- operator: limit-dropped
SELECT title FROM books ORDER BY price, id LIMIT 2;
SELECT title FROM books ORDER BY price, id;

-- operator: order-reversed
SELECT title FROM books ORDER BY price, id LIMIT 2;
SELECT title FROM books ORDER BY price DESC, id LIMIT 2;

-- operator: order-terms
SELECT title FROM books ORDER BY genre, id LIMIT 2;
SELECT title FROM books ORDER BY id, genre LIMIT 2;

-- operator: nulls-moved
SELECT title FROM books ORDER BY pages, id LIMIT 2;
SELECT title FROM books ORDER BY pages NULLS LAST, id LIMIT 2;

-- operator: ranks-exchanged
SELECT title, RANK() OVER (ORDER BY price) FROM books;
SELECT title, ROW_NUMBER() OVER (ORDER BY price) FROM books;

-- operator: neighbours-exchanged
SELECT title, LAG(title) OVER (ORDER BY id) FROM books;
SELECT title, LEAD(title) OVER (ORDER BY id) FROM books;

-- operator: partition-dropped
SELECT title, RANK() OVER (PARTITION BY genre ORDER BY price) FROM books;
SELECT title, RANK() OVER (ORDER BY price) FROM books;

-- operator: frame-changed
SELECT id, SUM(pages) OVER (ORDER BY genre) FROM books;
SELECT id, SUM(pages) OVER () FROM books;

-- operator: day-shifted
SELECT name FROM members WHERE joined >= '2022-03-01';
SELECT name FROM members WHERE joined >= '2022-03-02';

-- operator: range-closed-by-day
SELECT id FROM loans WHERE lent >= '2022-05-01' AND lent < '2022-06-01';
SELECT id FROM loans WHERE lent BETWEEN '2022-05-01' AND '2022-05-31';

-- operator: end-of-day
SELECT id FROM loans WHERE lent <= '2022-05-31';
SELECT id FROM loans WHERE lent < '2022-06-01';

-- operator: range-as-part
SELECT id FROM loans WHERE lent >= '2022-05-01' AND lent < '2022-06-01';
SELECT id FROM loans WHERE STRFTIME('%m', lent) = '05';

-- operator: date-part
SELECT id FROM loans WHERE STRFTIME('%Y-%m', lent) = '2022-05';
SELECT id FROM loans WHERE STRFTIME('%m', lent) = '05';

-- operator: part-as-pattern
SELECT id FROM loans WHERE STRFTIME('%m', lent) = '05';
SELECT id FROM loans WHERE lent LIKE '%-05%';

-- operator: part-as-number
SELECT STRFTIME('%m', lent) FROM loans;
SELECT CAST(STRFTIME('%m', lent) AS INTEGER) FROM loans;

-- operator: year-as-range
SELECT name FROM members WHERE STRFTIME('%Y', joined) = '2022';
SELECT name FROM members WHERE (joined > '2022-01-01' AND joined <= '2022-12-31');

-- operator: whole-day
SELECT id FROM loans WHERE DATE(lent) = '2022-05-31';
SELECT id FROM loans WHERE lent = '2022-05-31';

-- operator: date-modifier
SELECT DATE(joined, '+1 month') FROM members;
SELECT DATE(joined) FROM members;

-- operator: real-made-integer
SELECT COUNT(*) * 1.0 / 2 FROM books;
SELECT COUNT(*) / 2 FROM books;

-- operator: integer-made-real
SELECT SUM(pages) / COUNT(*) FROM books;
SELECT (1.0 * SUM(pages)) / COUNT(*) FROM books;

-- operator: real-truncated
SELECT AVG(price) FROM books;
SELECT CAST(AVG(price) AS INTEGER) FROM books;

-- operator: round-dropped
SELECT ROUND(AVG(price), 1) FROM books;
SELECT AVG(price) FROM books;

-- operator: round-digits
SELECT ROUND(AVG(price), 1) FROM books;
SELECT ROUND(AVG(price), 2) FROM books;

-- operator: round-added
SELECT title FROM books WHERE price < 20;
SELECT title FROM books WHERE ROUND(price) < 20;

-- operator: round-early
SELECT ROUND(SUM(price) / 3, 1) FROM books;
SELECT ROUND(SUM(price), 1) / 3 FROM books;

-- operator: arithmetic-exchanged
SELECT SUM(days * fee) FROM loans;
SELECT SUM(days + fee) FROM loans;

-- operator: operands-swapped
SELECT days - fee FROM loans;
SELECT fee - days FROM loans;

-- operator: operand-dropped
SELECT SUM(days * fee) FROM loans;
SELECT SUM(days) FROM loans;

-- operator: function-dropped
SELECT ABS(fee) FROM loans;
SELECT fee FROM loans;

-- operator: coalesce-dropped
SELECT COALESCE(SUM(fee), 0) FROM loans WHERE status = 'sold';
SELECT SUM(fee) FROM loans WHERE status = 'sold';

-- operator: aggregate-coalesced
SELECT SUM(fee) FROM loans WHERE status = 'sold';
SELECT COALESCE(SUM(fee), 0) FROM loans WHERE status = 'sold';

-- operator: nothing-as-no-row
SELECT SUM(fee) FROM loans WHERE status = 'sold';
SELECT SUM(fee) FROM loans WHERE status = 'sold' HAVING COUNT(*) > 0;

-- operator: value-coalesced
SELECT AVG(pages) FROM books;
SELECT AVG(COALESCE(pages, 0)) FROM books;

-- operator: unknown-let-in
SELECT title FROM books WHERE genre <> 'Crime';
SELECT title FROM books WHERE (genre <> 'Crime' OR genre IS NULL);

-- operator: unequal-with-null
SELECT title FROM books WHERE genre <> 'Crime';
SELECT title FROM books WHERE genre IS NOT 'Crime';

-- operator: null-as-empty
SELECT name FROM members WHERE email IS NULL;
SELECT name FROM members WHERE email = '';

-- operator: null-guard-added
SELECT genre, COUNT(*) FROM books GROUP BY genre;
SELECT genre, COUNT(*) FROM books WHERE NOT genre IS NULL GROUP BY genre;

-- operator: foreign-guard-added
SELECT name FROM members;
SELECT name FROM members WHERE NOT email IS NULL;

-- operator: columns-swapped
SELECT name, town FROM members;
SELECT town, name FROM members;

-- operator: listed-column
SELECT name, town FROM members;
SELECT email, town FROM members;

-- operator: filtered-column
SELECT name FROM members WHERE town = 'Lund';
SELECT name FROM members WHERE name = 'Lund';

-- operator: aggregated-column
SELECT SUM(price) FROM books;
SELECT SUM(pages) FROM books;

-- operator: ordered-column
SELECT title FROM books ORDER BY price, id LIMIT 2;
SELECT title FROM books ORDER BY pages, id LIMIT 2;

-- operator: grouped-column
SELECT COUNT(*) FROM books GROUP BY genre;
SELECT COUNT(*) FROM books GROUP BY title;

-- operator: branches-swapped
SELECT title, CASE WHEN price < 20 THEN 'cheap' ELSE 'dear' END FROM books;
SELECT title, CASE WHEN price < 20 THEN 'dear' ELSE 'cheap' END FROM books;

-- operator: branch-dropped
SELECT title, CASE WHEN price < 20 THEN 'cheap' ELSE 'dear' END FROM books;
SELECT title, CASE WHEN price < 20 THEN 'cheap' END FROM books;

-- operator: else-added
SELECT AVG(CASE WHEN genre = 'Crime' THEN price END) FROM books;
SELECT AVG(CASE WHEN genre = 'Crime' THEN price ELSE 0 END) FROM books;

-- operator: filter-added
SELECT fee FROM loans;
SELECT fee FROM loans WHERE status <> (SELECT MIN("status") FROM "loans");

-- operator: positive-only
SELECT fee FROM loans;
SELECT fee FROM loans WHERE fee > 0;

-- operator: top-order-reversed
SELECT title FROM books ORDER BY price;
SELECT title FROM books ORDER BY price DESC;

-- operator: top-order-dropped
SELECT title FROM books ORDER BY price;
SELECT title FROM books;
