-- Verdicts of the grader. A block that names a database defines it; `-- instance` starts one more instance of it.
-- Every other block: title, database, verdict, then the reference and the submission.

-- define: staff
CREATE TABLE staff(id INTEGER PRIMARY KEY, name TEXT, team TEXT, pay REAL, born TEXT);
INSERT INTO staff VALUES (1,'Ann','red',10.1,'1990-01-01'),(2,'Bob','red',20.2,'1990-12-31'),(3,'Ann','blue',30.3,NULL),(4,'Cy',NULL,20.2,'2000-02-29');
CREATE TABLE badge(id INTEGER PRIMARY KEY, staff_id INTEGER, number INTEGER);
INSERT INTO badge VALUES (1,1,9007199254740993),(2,1,7),(3,3,-1),(4,99,0);

-- define: goods
CREATE TABLE goods(id INTEGER PRIMARY KEY, name TEXT, price REAL);
INSERT INTO goods VALUES (1,'pen',2.0),(2,'ink',5.0);
-- instance
CREATE TABLE goods(id INTEGER PRIMARY KEY, name TEXT, price REAL);
INSERT INTO goods VALUES (1,'pen',2.0),(2,'ink',5.0),(3,'Pen',5.0),(4,'ink',NULL);

-- define: bare
CREATE TABLE bare(a INTEGER);
-- instance
CREATE TABLE bare(a INTEGER);
INSERT INTO bare VALUES (NULL);

-- title: another order of rows
-- database: staff
-- verdict: correct
-- reference
SELECT name FROM staff ORDER BY name
-- submission
SELECT name FROM staff ORDER BY id DESC

-- title: DISTINCT drops a namesake
-- database: staff
-- verdict: wrong
-- reference
SELECT name FROM staff
-- submission
SELECT DISTINCT name FROM staff

-- title: UNION drops a namesake
-- database: staff
-- verdict: wrong
-- reference
SELECT name FROM staff WHERE id < 3 UNION ALL SELECT name FROM staff WHERE id >= 3
-- submission
SELECT name FROM staff WHERE id < 3 UNION SELECT name FROM staff WHERE id >= 3

-- title: a join repeats a row
-- database: staff
-- verdict: wrong
-- reference
SELECT name FROM staff WHERE id IN (SELECT staff_id FROM badge)
-- submission
SELECT name FROM staff JOIN badge ON staff.id = staff_id

-- title: EXISTS for IN
-- database: staff
-- verdict: correct
-- reference
SELECT name FROM staff WHERE id IN (SELECT staff_id FROM badge)
-- submission
SELECT name FROM staff WHERE EXISTS (SELECT 1 FROM badge WHERE staff_id = staff.id)

-- title: columns exchanged
-- database: staff
-- verdict: wrong
-- reference
SELECT name, team FROM staff
-- submission
SELECT team, name FROM staff

-- title: a column more
-- database: staff
-- verdict: wrong
-- reference
SELECT name FROM staff
-- submission
SELECT name, id FROM staff

-- title: other names for columns
-- database: staff
-- verdict: correct
-- reference
SELECT name, pay FROM staff
-- submission
SELECT name AS who, pay AS "how much" FROM staff

-- title: column counts differ though nothing is found
-- database: staff
-- verdict: wrong
-- reference
SELECT name FROM staff WHERE id > 100
-- submission
SELECT name, id FROM staff WHERE id > 100

-- title: nothing is found either way
-- database: staff
-- verdict: correct
-- reference
SELECT name FROM staff WHERE id > 100
-- submission
SELECT team FROM staff WHERE 0

-- title: NULL is not the empty text
-- database: staff
-- verdict: wrong
-- reference
SELECT team FROM staff
-- submission
SELECT COALESCE(team, '') FROM staff

-- title: NOT IN forgets NULL
-- database: staff
-- verdict: wrong
-- reference
SELECT name FROM staff WHERE team IS NOT 'red'
-- submission
SELECT name FROM staff WHERE team <> 'red'

-- title: COUNT of a column skips NULL
-- database: staff
-- verdict: wrong
-- reference
SELECT COUNT(*) FROM staff
-- submission
SELECT COUNT(team) FROM staff

-- title: NULL sum is not zero
-- database: staff
-- verdict: wrong
-- reference
SELECT SUM(pay) FROM staff WHERE id > 100
-- submission
SELECT TOTAL(pay) FROM staff WHERE id > 100

-- title: a number is not its text
-- database: staff
-- verdict: wrong
-- reference
SELECT id FROM staff
-- submission
SELECT CAST(id AS TEXT) FROM staff

-- title: a text is not its bytes
-- database: staff
-- verdict: wrong
-- reference
SELECT name FROM staff
-- submission
SELECT CAST(name AS BLOB) FROM staff

-- title: a whole number may be a real
-- database: staff
-- verdict: correct
-- reference
SELECT COUNT(*) FROM staff
-- submission
SELECT SUM(1.0) FROM staff

-- title: a large number may not be a real
-- database: staff
-- verdict: wrong
-- reference
SELECT number FROM badge
-- submission
SELECT number * 1.0 FROM badge

-- title: a large number off by one
-- database: staff
-- verdict: wrong
-- reference
SELECT number FROM badge WHERE id = 1
-- submission
SELECT number - 1 FROM badge WHERE id = 1

-- title: a sum in another order
-- database: staff
-- verdict: correct
-- reference
SELECT 0.1 + 0.2 + 0.3
-- submission
SELECT 0.3 + 0.2 + 0.1

-- title: an average rounded
-- database: staff
-- verdict: wrong
-- reference
SELECT AVG(pay) FROM staff WHERE id <> 1
-- submission
SELECT ROUND(AVG(pay), 2) FROM staff WHERE id <> 1

-- title: integer division
-- database: staff
-- verdict: wrong
-- reference
SELECT AVG(id) FROM staff
-- submission
SELECT SUM(id) / COUNT(*) FROM staff

-- title: letters of another case
-- database: staff
-- verdict: wrong
-- reference
SELECT name FROM staff
-- submission
SELECT LOWER(name) FROM staff

-- title: a space more
-- database: staff
-- verdict: wrong
-- reference
SELECT name FROM staff
-- submission
SELECT name || ' ' FROM staff

-- title: right on the first instance only, by price
-- database: goods
-- verdict: wrong
-- reference
SELECT name FROM goods WHERE price = (SELECT MAX(price) FROM goods)
-- submission
SELECT name FROM goods ORDER BY price DESC LIMIT 1

-- title: right on the first instance only, by case
-- database: goods
-- verdict: wrong
-- reference
SELECT COUNT(*) FROM goods WHERE name = 'pen'
-- submission
SELECT COUNT(*) FROM goods WHERE name LIKE 'pen'

-- title: right on the first instance only, by NULL
-- database: goods
-- verdict: wrong
-- reference
SELECT name FROM goods WHERE price >= 5
-- submission
SELECT name FROM goods WHERE NOT COALESCE(price, 9) < 5

-- title: right on both instances
-- database: goods
-- verdict: correct
-- reference
SELECT name FROM goods WHERE price >= 5
-- submission
SELECT name FROM goods WHERE NOT price < 5.0

-- title: fails on the second instance only
-- database: goods
-- verdict: error
-- reference
SELECT COUNT(*) FROM goods
-- submission
SELECT COUNT(*) + COALESCE(SUM(CASE WHEN price IS NULL THEN abs(-9223372036854775808) END), 0) FROM goods

-- title: the table is empty first and holds NULL then
-- database: bare
-- verdict: wrong
-- reference
SELECT COUNT(*) FROM bare
-- submission
SELECT COUNT(a) FROM bare

-- title: an empty table made by another way
-- database: bare
-- verdict: correct
-- reference
SELECT a FROM bare
-- submission
SELECT b.a FROM bare AS b LEFT JOIN bare AS c ON c.a = b.a

-- title: empties the table so that nothing can differ
-- database: staff
-- verdict: rejected
-- reference
SELECT name FROM staff WHERE id = 1
-- submission
DELETE FROM staff

-- title: hides the table behind a view
-- database: staff
-- verdict: rejected
-- reference
SELECT name FROM staff
-- submission
CREATE TEMP VIEW staff AS SELECT 1 AS name

-- title: the right query and then another
-- database: staff
-- verdict: rejected
-- reference
SELECT name FROM staff
-- submission
SELECT name FROM staff; DELETE FROM staff

-- title: the right query and then a comment
-- database: staff
-- verdict: correct
-- reference
SELECT name FROM staff
-- submission
SELECT name FROM staff; /* done */

-- title: the right query and then a torso
-- database: staff
-- verdict: error
-- reference
SELECT name FROM staff
-- submission
SELECT name FROM staff; SELECT FROM

-- title: the date of today that happens not to matter
-- database: staff
-- verdict: rejected
-- reference
SELECT name FROM staff WHERE born < '2001-01-01'
-- submission
SELECT name FROM staff WHERE born < date('now', '-10 years')

-- title: a clock that is never read
-- database: staff
-- verdict: correct
-- reference
SELECT name FROM staff
-- submission
SELECT name FROM staff WHERE id > 0 OR born > date('now')

-- title: the schema table
-- database: staff
-- verdict: rejected
-- reference
SELECT 2
-- submission
SELECT COUNT(*) FROM sqlite_master

-- title: chance
-- database: staff
-- verdict: rejected
-- reference
SELECT name FROM staff
-- submission
SELECT name FROM staff ORDER BY random()

-- title: an unknown column
-- database: staff
-- verdict: error
-- reference
SELECT name FROM staff
-- submission
SELECT staff_name FROM staff

-- title: a misspelt column in double quotes is no text
-- database: staff
-- verdict: error
-- reference
SELECT name FROM staff
-- submission
SELECT name FROM staff WHERE "nmae" <> ''

-- title: nothing but a comment
-- database: staff
-- verdict: error
-- reference
SELECT name FROM staff WHERE 0
-- submission
/* the answer is nothing */

-- title: no SQL
-- database: staff
-- verdict: error
-- reference
SELECT name FROM staff WHERE 0
-- submission
There is nobody like that.

-- title: endless
-- database: staff
-- verdict: error
-- reference
SELECT 1
-- submission
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n

-- title: too many rows
-- database: staff
-- verdict: error
-- reference
SELECT id FROM staff
-- submission
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 10001) SELECT i FROM n
