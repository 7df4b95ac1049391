-- Verdicts of the grader. A block that names a database defines it; `-- instance` starts one more instance of it.
-- Every other block: its kind and the reason for the verdict, database, verdict, then the reference and the submission.
-- What no SQL file can hold (NUL characters, surrogates, queries of 100,000 characters) is in tests/verifier/test_own_cases.py.

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

-- define: clinic
CREATE TABLE doctor(id INTEGER PRIMARY KEY, name TEXT, field TEXT, boss_id INTEGER REFERENCES doctor(id));
INSERT INTO doctor VALUES (1,'Ilse','eye',NULL),(2,'Omar','eye',1),(3,'Ilse','skin',1),(4,'Rhea',NULL,3),(5,'omar','bone',NULL);
CREATE TABLE patient(id INTEGER PRIMARY KEY, name TEXT, town TEXT, born TEXT, weight REAL);
INSERT INTO patient VALUES (1,'Ada','Ulm','1980-02-29',60.0),(2,'Ben','Ulm','1980-12-31',71.5),(3,'Ada','Bonn','1981-01-01',NULL),(4,'Cid',NULL,NULL,71.5),(5,'Eve','ulm','1999-07-07',55.25);
CREATE TABLE visit(id INTEGER PRIMARY KEY, patient_id INTEGER, doctor_id INTEGER, at TEXT, fee INTEGER, state TEXT);
INSERT INTO visit VALUES (1,1,1,'2023-05-01 09:00',50,'paid'),(2,1,2,'2023-05-31 23:59',50,'open'),(3,2,1,'2023-06-01 00:00',75,'paid'),(4,3,3,'2022-05-10 10:00',NULL,'paid'),(5,3,3,'2023-05-31 00:00',25,'PAID'),(6,NULL,2,'2023-05-15 08:30',75,NULL),(7,5,NULL,'2024-02-29 12:00',100,'open'),(8,1,1,'2023-05-01 09:00',50,'paid'),(9,99,5,'2023-12-31 18:00',33,'open');

-- define: mixed
CREATE TABLE thing(id INTEGER PRIMARY KEY, v);
INSERT INTO thing VALUES (1,1),(2,1.0),(3,'1'),(4,x'31'),(5,NULL),(6,''),(7,0),(8,x''),(9,'NULL'),(10,-0.0);
CREATE TABLE big(id INTEGER PRIMARY KEY, n INTEGER);
INSERT INTO big VALUES (1,9007199254740993),(2,9223372036854775807),(3,-9223372036854775808),(4,9007199254740992);
CREATE TABLE gauge(id INTEGER PRIMARY KEY, x REAL);
INSERT INTO gauge VALUES (1,0.1),(2,1234.5678),(3,-2e-5),(4,6.02e23),(5,9e999),(6,NULL);
CREATE TABLE note(id INTEGER PRIMARY KEY, body TEXT, code TEXT, day TEXT, data TEXT);
INSERT INTO note VALUES (1,'caf' || char(233),'0017','2024-01-05','{"n":7,"t":"7","r":7.5,"z":null}'),(2,'CAF' || char(201),'17','2024-11-30','{"n":-1,"t":"x","r":0.5,"z":[]}'),(3,'a' || char(0) || 'b','1.50',NULL,'{}');

-- define: guesthouse
CREATE TABLE stay(id INTEGER PRIMARY KEY, guest TEXT, until TEXT, word TEXT, made TEXT DEFAULT CURRENT_TIMESTAMP);
INSERT INTO stay VALUES (1,'Kai','2001-03-31','now','2001-01-01'),(2,'Lea','2001-04-30','NOW','2001-01-02'),(3,'Max','2001-02-28','later','2001-01-03'),(4,'Max',NULL,NULL,'2001-01-04');
CREATE TABLE diary("current_date" TEXT, "now" TEXT, "random()" TEXT, "sqlite_master" INTEGER);
INSERT INTO diary VALUES ('2020-02-02','never','dice',5),('2020-02-03','later','coin',6);
CREATE VIEW gone AS SELECT id, guest FROM stay WHERE until < date('now');
CREATE VIEW stamped AS SELECT id, guest, CURRENT_TIMESTAMP AS seen FROM stay;
CREATE VIEW lucky AS SELECT id, guest, abs(random() % 1) AS zero FROM stay;

-- define: depot
CREATE TABLE crate(id INTEGER PRIMARY KEY AUTOINCREMENT, label TEXT UNIQUE, kilos INTEGER);
INSERT INTO crate VALUES (1,'tea',40),(2,'rice',70),(3,'salt',70),(4,'semi;colon',5);
CREATE INDEX crate_kilos ON crate(kilos);
CREATE VIEW heavy AS SELECT label FROM crate WHERE kilos > 50;
CREATE TABLE digit(d INTEGER PRIMARY KEY);
INSERT INTO digit VALUES (0),(1),(2),(3),(4),(5),(6),(7),(8),(9);
CREATE TABLE "select"("from" TEXT, [a b] INTEGER, `wo"rd` INTEGER, 'größe' INTEGER);
INSERT INTO "select" VALUES ('x',1,10,100),('y',2,20,200);
CREATE TABLE bag(n INTEGER);
CREATE TABLE pragma_notes(note TEXT);
INSERT INTO pragma_notes VALUES ('kept');
CREATE TABLE dbstats(pages INTEGER);
INSERT INTO dbstats VALUES (12);
CREATE VIRTUAL TABLE letter USING fts5(body);
INSERT INTO letter VALUES ('dear tea'),('dear salt');

-- define: quarry
CREATE TABLE pit(id INTEGER PRIMARY KEY, owner TEXT, depth REAL, opened TEXT);
CREATE TABLE load(id INTEGER PRIMARY KEY, pit_id INTEGER, tons INTEGER, day TEXT);
INSERT INTO pit VALUES (1,'Abt',10.0,'1990-05-01'),(2,'Bay',20.0,'1991-06-01');
INSERT INTO load VALUES (1,1,3,'2020-01-02'),(2,2,5,'2020-02-03');
-- instance
CREATE TABLE pit(id INTEGER PRIMARY KEY, owner TEXT, depth REAL, opened TEXT);
CREATE TABLE load(id INTEGER PRIMARY KEY, pit_id INTEGER, tons INTEGER, day TEXT);
INSERT INTO pit VALUES (1,'Abt',10.0,'1990-05-01'),(2,'Bay',20.0,'1991-06-01'),(3,'Cox',30.0,'1992-07-01');
INSERT INTO load VALUES (1,1,3,'2020-01-02'),(2,2,5,'2020-02-03'),(3,2,4,'2020-02-29'),(4,1,9,'2020-12-31');
-- instance
CREATE TABLE pit(id INTEGER PRIMARY KEY, owner TEXT, depth REAL, opened TEXT);
CREATE TABLE load(id INTEGER PRIMARY KEY, pit_id INTEGER, tons INTEGER, day TEXT);
INSERT INTO pit VALUES (1,'Abt',10.0,'1990-05-01'),(2,'Abt',20.0,'1991-06-01'),(3,'Bay',20.0,'1990-12-31');
INSERT INTO load VALUES (1,1,5,'2021-01-02'),(2,2,5,'2020-02-03'),(3,3,5,'2020-02-03');
-- instance
CREATE TABLE pit(id INTEGER PRIMARY KEY, owner TEXT, depth REAL, opened TEXT);
CREATE TABLE load(id INTEGER PRIMARY KEY, pit_id INTEGER, tons INTEGER, day TEXT);
INSERT INTO pit VALUES (1,'Abt',NULL,NULL),(2,NULL,20.0,'1991-06-01'),(3,'abt',20.0,'1991-06-01');
INSERT INTO load VALUES (1,NULL,5,'2020-01-02'),(2,2,NULL,'2020-02-03'),(3,7,1,NULL);

-- title: bag: DISTINCT drops a namesake
-- database: staff
-- verdict: wrong
-- reference
SELECT name FROM staff
-- submission
SELECT DISTINCT name FROM staff

-- title: bag: UNION drops a namesake
-- database: staff
-- verdict: wrong
-- reference
SELECT name FROM staff WHERE id < 3 UNION ALL SELECT name FROM staff WHERE id >= 3
-- submission
SELECT name FROM staff WHERE id < 3 UNION SELECT name FROM staff WHERE id >= 3

-- title: bag: a join repeats a row
-- database: staff
-- verdict: wrong
-- reference
SELECT name FROM staff WHERE id IN (SELECT staff_id FROM badge)
-- submission
SELECT name FROM staff JOIN badge ON staff.id = staff_id

-- title: bag: UNION ALL of a table with itself keeps both copies
-- database: clinic
-- verdict: wrong
-- reference
SELECT state FROM visit UNION ALL SELECT state FROM visit
-- submission
SELECT state FROM visit

-- title: bag: as many rows and the same set, but another row is the double one
-- database: clinic
-- verdict: wrong
-- reference
SELECT name FROM doctor WHERE id <= 3
-- submission
SELECT name FROM doctor WHERE id <= 2 UNION ALL SELECT 'Omar'

-- title: bag: GROUP BY removes the doubles that DISTINCT removes
-- database: clinic
-- verdict: correct
-- reference
SELECT DISTINCT state, fee FROM visit
-- submission
SELECT state, fee FROM visit GROUP BY fee, state

-- title: bag: EXCEPT removes doubles that NOT IN keeps
-- database: clinic
-- verdict: wrong
-- reference
SELECT fee FROM visit WHERE fee NOT IN (25, 33)
-- submission
SELECT fee FROM visit WHERE fee IS NOT NULL EXCEPT SELECT 25 EXCEPT SELECT 33

-- title: bag: INTERSECT removes doubles that IN keeps
-- database: clinic
-- verdict: wrong
-- reference
SELECT name FROM patient WHERE name IN (SELECT name FROM patient WHERE town = 'Ulm')
-- submission
SELECT name FROM patient INTERSECT SELECT name FROM patient WHERE town = 'Ulm'

-- title: bag: two NULL rows are two rows
-- database: clinic
-- verdict: wrong
-- reference
SELECT NULL FROM visit WHERE id IN (4, 6)
-- submission
SELECT state FROM visit WHERE id = 6

-- title: order: another order of rows
-- database: staff
-- verdict: correct
-- reference
SELECT name FROM staff ORDER BY name
-- submission
SELECT name FROM staff ORDER BY id DESC

-- title: order: a window numbers the rows, the output itself is free
-- database: clinic
-- verdict: correct
-- reference
SELECT id, ROW_NUMBER() OVER (ORDER BY at, id) FROM visit ORDER BY 2
-- submission
SELECT id, ROW_NUMBER() OVER (ORDER BY at, id) FROM visit ORDER BY id DESC

-- title: order: ORDER BY only inside the subquery that finds the top two
-- database: clinic
-- verdict: correct
-- reference
SELECT id, fee FROM visit WHERE id IN (SELECT id FROM visit ORDER BY fee DESC, id LIMIT 2)
-- submission
SELECT id, fee FROM (SELECT id, fee FROM visit ORDER BY fee DESC, id LIMIT 2) ORDER BY id DESC

-- title: order: the direction matters as soon as LIMIT cuts
-- database: clinic
-- verdict: wrong
-- reference
SELECT id FROM visit ORDER BY id LIMIT 3
-- submission
SELECT id FROM visit ORDER BY id DESC LIMIT 3

-- title: values: NULL is not the empty text
-- database: staff
-- verdict: wrong
-- reference
SELECT team FROM staff
-- submission
SELECT COALESCE(team, '') FROM staff

-- title: values: a number is not its text
-- database: staff
-- verdict: wrong
-- reference
SELECT id FROM staff
-- submission
SELECT CAST(id AS TEXT) FROM staff

-- title: values: a text is not its bytes
-- database: staff
-- verdict: wrong
-- reference
SELECT name FROM staff
-- submission
SELECT CAST(name AS BLOB) FROM staff

-- title: values: a whole number may be a real
-- database: staff
-- verdict: correct
-- reference
SELECT COUNT(*) FROM staff
-- submission
SELECT SUM(1.0) FROM staff

-- title: values: a large number may not be a real
-- database: staff
-- verdict: wrong
-- reference
SELECT number FROM badge
-- submission
SELECT number * 1.0 FROM badge

-- title: values: a large number off by one
-- database: staff
-- verdict: wrong
-- reference
SELECT number FROM badge WHERE id = 1
-- submission
SELECT number - 1 FROM badge WHERE id = 1

-- title: values: a sum in another order
-- database: staff
-- verdict: correct
-- reference
SELECT 0.1 + 0.2 + 0.3
-- submission
SELECT 0.3 + 0.2 + 0.1

-- title: values: an average rounded
-- database: staff
-- verdict: wrong
-- reference
SELECT AVG(pay) FROM staff WHERE id <> 1
-- submission
SELECT ROUND(AVG(pay), 2) FROM staff WHERE id <> 1

-- title: values: letters of another case
-- database: staff
-- verdict: wrong
-- reference
SELECT name FROM staff
-- submission
SELECT LOWER(name) FROM staff

-- title: values: a space more
-- database: staff
-- verdict: wrong
-- reference
SELECT name FROM staff
-- submission
SELECT name || ' ' FROM staff

-- title: values: a sum of whole prices may be real
-- database: clinic
-- verdict: correct
-- reference
SELECT SUM(fee) FROM visit
-- submission
SELECT TOTAL(fee) FROM visit

-- title: values: an integer, a real, a text and a blob of the same look, each equal to itself
-- database: mixed
-- verdict: correct
-- reference
SELECT v FROM thing
-- submission
SELECT v FROM thing ORDER BY typeof(v), id DESC

-- title: values: 1 and '1' exchanged between two rows
-- database: mixed
-- verdict: wrong
-- reference
SELECT id, v FROM thing WHERE id IN (1, 3)
-- submission
SELECT 4 - id, v FROM thing WHERE id IN (1, 3)

-- title: values: the byte 0x31 is not the text 1
-- database: mixed
-- verdict: wrong
-- reference
SELECT v FROM thing WHERE id = 4
-- submission
SELECT v FROM thing WHERE id = 3

-- title: values: an empty blob is not an empty text
-- database: mixed
-- verdict: wrong
-- reference
SELECT v FROM thing WHERE id = 8
-- submission
SELECT v FROM thing WHERE id = 6

-- title: values: NULL is not 0
-- database: mixed
-- verdict: wrong
-- reference
SELECT v FROM thing WHERE id = 5
-- submission
SELECT v FROM thing WHERE id = 7

-- title: values: an empty text is not 0, though SQLite adds it like 0
-- database: mixed
-- verdict: wrong
-- reference
SELECT v FROM thing WHERE id = 6
-- submission
SELECT v + 0 FROM thing WHERE id = 6

-- title: values: NULL is not the word NULL
-- database: mixed
-- verdict: wrong
-- reference
SELECT v FROM thing WHERE id = 5
-- submission
SELECT v FROM thing WHERE id = 9

-- title: values: minus zero is zero
-- database: mixed
-- verdict: correct
-- reference
SELECT v FROM thing WHERE id = 7
-- submission
SELECT v FROM thing WHERE id = 10

-- title: values: infinity, however it is reached
-- database: mixed
-- verdict: correct
-- reference
SELECT x FROM gauge WHERE id = 5
-- submission
SELECT 1e308 * 1e10

-- title: values: the largest finite real is not infinity
-- database: mixed
-- verdict: wrong
-- reference
SELECT x FROM gauge WHERE id = 5
-- submission
SELECT 1.7976931348623157e308

-- title: values: infinity has a sign
-- database: mixed
-- verdict: wrong
-- reference
SELECT x FROM gauge WHERE id = 5
-- submission
SELECT -x FROM gauge WHERE id = 5

-- title: values: infinity less infinity is NULL
-- database: mixed
-- verdict: correct
-- reference
SELECT x FROM gauge WHERE id = 6
-- submission
SELECT x - x FROM gauge WHERE id = 5

-- title: values: the largest integer is not the real next to it
-- database: mixed
-- verdict: wrong
-- reference
SELECT MAX(n) FROM big
-- submission
SELECT CAST(MAX(n) AS REAL) FROM big

-- title: values: one above the largest integer turns real
-- database: mixed
-- verdict: wrong
-- reference
SELECT n FROM big WHERE id = 2
-- submission
SELECT n + 1 FROM big WHERE id = 2

-- title: values: 2^53 and 2^53 + 1 are one float, but two integers
-- database: mixed
-- verdict: wrong
-- reference
SELECT n FROM big WHERE id = 1
-- submission
SELECT n FROM big WHERE id = 4

-- title: values: 2^53 itself may be real, being exactly the same number
-- database: mixed
-- verdict: correct
-- reference
SELECT n FROM big WHERE id = 4
-- submission
SELECT n * 1.0 FROM big WHERE id = 4

-- title: values: TOTAL adds two large ids in floating point
-- database: mixed
-- verdict: wrong
-- reference
SELECT SUM(n) FROM big WHERE id IN (1, 4)
-- submission
SELECT TOTAL(n) FROM big WHERE id IN (1, 4)

-- title: values: the smallest integer in hexadecimal
-- database: mixed
-- verdict: correct
-- reference
SELECT MIN(n) FROM big
-- submission
SELECT 0x8000000000000000

-- title: values: a hexadecimal number in a text is 0
-- database: mixed
-- verdict: wrong
-- reference
SELECT 0x1F
-- submission
SELECT '0x1F' + 0

-- title: values: the thirteenth digit of a real is noise
-- database: mixed
-- verdict: correct
-- reference
SELECT id, x FROM gauge
-- submission
SELECT id, x * 1.0000000000001 FROM gauge

-- title: values: the sixth digit of a real is no noise
-- database: mixed
-- verdict: wrong
-- reference
SELECT id, x FROM gauge WHERE id = 2
-- submission
SELECT id, x * 1.000001 FROM gauge WHERE id = 2

-- title: values: the fourth digit of a small real is no noise
-- database: mixed
-- verdict: wrong
-- reference
SELECT x FROM gauge WHERE id = 3
-- submission
SELECT x * 1.001 FROM gauge WHERE id = 3

-- title: values: rounding to cents is seen
-- database: mixed
-- verdict: wrong
-- reference
SELECT x FROM gauge WHERE id = 2
-- submission
SELECT ROUND(x, 2) FROM gauge WHERE id = 2

-- title: values: a number in JSON is a number
-- database: mixed
-- verdict: correct
-- reference
SELECT 7 UNION ALL SELECT -1 UNION ALL SELECT NULL
-- submission
SELECT data ->> '$.n' FROM note

-- title: values: -> gives JSON text where ->> gives the number
-- database: mixed
-- verdict: wrong
-- reference
SELECT data ->> 'n' FROM note
-- submission
SELECT data -> 'n' FROM note

-- title: values: a text in JSON that looks like a number stays text
-- database: mixed
-- verdict: wrong
-- reference
SELECT 7
-- submission
SELECT data ->> 't' FROM note WHERE id = 1

-- title: values: JSON null is NULL for ->> and a text for ->
-- database: mixed
-- verdict: wrong
-- reference
SELECT data ->> 'z' FROM note WHERE id = 1
-- submission
SELECT data -> 'z' FROM note WHERE id = 1

-- title: values: a code with leading zeros is no number
-- database: mixed
-- verdict: wrong
-- reference
SELECT code FROM note
-- submission
SELECT CAST(code AS NUMERIC) FROM note

-- title: values: 1.50 as a text is not 1.5 as a text
-- database: mixed
-- verdict: wrong
-- reference
SELECT code FROM note WHERE id = 3
-- submission
SELECT CAST(1.50 AS TEXT)

-- title: values: a text column turns the number 17 into a text
-- database: mixed
-- verdict: correct
-- reference
SELECT id FROM note WHERE code = '17'
-- submission
SELECT id FROM note WHERE code = 17

-- title: values: a day without its zero is another text
-- database: mixed
-- verdict: wrong
-- reference
SELECT day FROM note WHERE id = 1
-- submission
SELECT '2024-1-5'

-- title: values: midnight is not the bare day
-- database: mixed
-- verdict: wrong
-- reference
SELECT day FROM note
-- submission
SELECT datetime(day) FROM note

-- title: values: a day made from its parts
-- database: mixed
-- verdict: correct
-- reference
SELECT day FROM note
-- submission
SELECT date(julianday(day)) FROM note

-- title: values: length() stops at the NUL character, the text does not
-- database: mixed
-- verdict: wrong
-- reference
SELECT body FROM note WHERE id = 3
-- submission
SELECT substr('a', 1, length(body)) FROM note WHERE id = 3

-- title: values: a composed letter is not its two parts
-- database: mixed
-- verdict: wrong
-- reference
SELECT body FROM note WHERE id = 1
-- submission
SELECT 'cafe' || char(769)

-- title: values: LOWER leaves letters outside ASCII alone
-- database: mixed
-- verdict: wrong
-- reference
SELECT body FROM note WHERE id = 1
-- submission
SELECT LOWER(body) FROM note WHERE id = 2

-- title: values: TRUE and FALSE are 1 and 0
-- database: clinic
-- verdict: correct
-- reference
SELECT id, fee > 50 FROM visit
-- submission
SELECT id, CASE WHEN fee > 50 THEN TRUE WHEN NOT fee > 50 THEN FALSE END FROM visit

-- title: values: a word is not a truth value
-- database: clinic
-- verdict: wrong
-- reference
SELECT id, weight > 60 FROM patient
-- submission
SELECT id, iif(weight > 60, 'yes', iif(weight <= 60, 'no', NULL)) FROM patient

-- title: columns: columns exchanged
-- database: staff
-- verdict: wrong
-- reference
SELECT name, team FROM staff
-- submission
SELECT team, name FROM staff

-- title: columns: a column more
-- database: staff
-- verdict: wrong
-- reference
SELECT name FROM staff
-- submission
SELECT name, id FROM staff

-- title: columns: other names for columns
-- database: staff
-- verdict: correct
-- reference
SELECT name, pay FROM staff
-- submission
SELECT name AS who, pay AS "how much" FROM staff

-- title: columns: one of three is missing
-- database: clinic
-- verdict: wrong
-- reference
SELECT id, name, field FROM doctor
-- submission
SELECT id, name FROM doctor

-- title: columns: the same column twice is one column too many
-- database: clinic
-- verdict: wrong
-- reference
SELECT name FROM doctor
-- submission
SELECT name, name FROM doctor

-- title: columns: two of one name, exchanged
-- database: clinic
-- verdict: wrong
-- reference
SELECT d.name, b.name FROM doctor d JOIN doctor b ON b.id = d.boss_id
-- submission
SELECT b.name, d.name FROM doctor d JOIN doctor b ON b.id = d.boss_id

-- title: columns: glued into one text
-- database: clinic
-- verdict: wrong
-- reference
SELECT id, name FROM doctor
-- submission
SELECT id || '|' || name FROM doctor

-- title: columns: each right as a list, the rows torn apart
-- database: clinic
-- verdict: wrong
-- reference
SELECT id, name FROM patient
-- submission
SELECT p.id, q.name FROM patient p JOIN patient q ON q.id = 6 - p.id

-- title: columns: * where the table has just these
-- database: clinic
-- verdict: correct
-- reference
SELECT id, name, field, boss_id FROM doctor
-- submission
SELECT * FROM doctor

-- title: columns: a name that is an expression
-- database: clinic
-- verdict: correct
-- reference
SELECT COUNT(*) AS visits FROM visit
-- submission
SELECT SUM(1) AS "COUNT(patient_id) -- not" FROM visit

-- title: empty: column counts differ though nothing is found
-- database: staff
-- verdict: wrong
-- reference
SELECT name FROM staff WHERE id > 100
-- submission
SELECT name, id FROM staff WHERE id > 100

-- title: empty: nothing is found either way
-- database: staff
-- verdict: correct
-- reference
SELECT name FROM staff WHERE id > 100
-- submission
SELECT team FROM staff WHERE 0

-- title: empty: an empty table made by another way
-- database: bare
-- verdict: correct
-- reference
SELECT a FROM bare
-- submission
SELECT b.a FROM bare AS b LEFT JOIN bare AS c ON c.a = b.a

-- title: empty: three columns against two, both without rows
-- database: clinic
-- verdict: wrong
-- reference
SELECT id, name, town FROM patient WHERE town = 'Rome'
-- submission
SELECT id, name FROM patient WHERE town = 'Rome'

-- title: empty: an aggregate of nothing is a row
-- database: clinic
-- verdict: wrong
-- reference
SELECT weight FROM patient WHERE town = 'Rome'
-- submission
SELECT MAX(weight) FROM patient WHERE town = 'Rome'

-- title: empty: a group of nothing is no row
-- database: clinic
-- verdict: wrong
-- reference
SELECT COUNT(*) FROM patient WHERE town = 'Rome'
-- submission
SELECT COUNT(*) FROM patient WHERE town = 'Rome' GROUP BY town

-- title: empty: an error is no empty answer
-- database: clinic
-- verdict: error
-- reference
SELECT name FROM patient WHERE town = 'Rome'
-- submission
SELECT name FROM patients WHERE town = 'Rome'

-- title: empty: a refused write is no empty answer
-- database: clinic
-- verdict: rejected
-- reference
SELECT name FROM patient WHERE town = 'Rome'
-- submission
UPDATE patient SET town = 'Rome' WHERE 0

-- title: limit: too many rows
-- database: staff
-- verdict: error
-- reference
SELECT id FROM staff
-- submission
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 10001) SELECT i FROM n

-- title: limit: 10,000 rows are compared in full
-- database: depot
-- verdict: correct
-- reference
SELECT a.d * 1000 + b.d * 100 + c.d * 10 + e.d FROM digit a, digit b, digit c, digit e
-- submission
SELECT 9999 - (a.d + b.d * 10 + c.d * 100 + e.d * 1000) FROM digit a, digit b, digit c, digit e

-- title: limit: the 10,000th row differs
-- database: depot
-- verdict: wrong
-- reference
SELECT a.d * 1000 + b.d * 100 + c.d * 10 + e.d FROM digit a, digit b, digit c, digit e
-- submission
SELECT MIN(a.d * 1000 + b.d * 100 + c.d * 10 + e.d, 9998) FROM digit a, digit b, digit c, digit e

-- title: limit: 10,001 rows are an error and never cut
-- database: depot
-- verdict: error
-- reference
SELECT a.d * 1000 + b.d * 100 + c.d * 10 + e.d FROM digit a, digit b, digit c, digit e
-- submission
SELECT a.d * 1000 + b.d * 100 + c.d * 10 + e.d FROM digit a, digit b, digit c, digit e UNION ALL SELECT 9999

-- title: clock: the date of today that happens not to matter
-- database: staff
-- verdict: rejected
-- reference
SELECT name FROM staff WHERE born < '2001-01-01'
-- submission
SELECT name FROM staff WHERE born < date('now', '-10 years')

-- title: clock: a clock that is never read
-- database: staff
-- verdict: correct
-- reference
SELECT name FROM staff
-- submission
SELECT name FROM staff WHERE id > 0 OR born > date('now')

-- title: clock: strftime seconds
-- database: guesthouse
-- verdict: rejected
-- reference
SELECT guest FROM stay WHERE until IS NOT NULL
-- submission
SELECT guest FROM stay WHERE strftime('%s', until) + 0 < strftime('%s', 'now') + 0

-- title: clock: julianday() without an argument
-- database: guesthouse
-- verdict: rejected
-- reference
SELECT guest FROM stay WHERE until IS NOT NULL
-- submission
SELECT guest FROM stay WHERE julianday() - julianday(until) > 30

-- title: clock: unixepoch with fractions and no time value
-- database: guesthouse
-- verdict: rejected
-- reference
SELECT 1
-- submission
SELECT unixepoch('subsec') > 0

-- title: clock: unixepoch() bare
-- database: guesthouse
-- verdict: rejected
-- reference
SELECT 1
-- submission
SELECT unixepoch() > 1000000000

-- title: clock: CURRENT_TIME, though only its length counts
-- database: guesthouse
-- verdict: rejected
-- reference
SELECT 8
-- submission
SELECT length(CURRENT_TIME)

-- title: clock: CURRENT_TIMESTAMP as a default in COALESCE
-- database: guesthouse
-- verdict: rejected
-- reference
SELECT id FROM stay
-- submission
SELECT id FROM stay WHERE COALESCE(until, CURRENT_TIMESTAMP) <> ''

-- title: clock: the word in capitals
-- database: guesthouse
-- verdict: rejected
-- reference
SELECT guest FROM stay WHERE until IS NOT NULL
-- submission
SELECT guest FROM stay WHERE until < date('NoW')

-- title: clock: the word from character codes
-- database: guesthouse
-- verdict: rejected
-- reference
SELECT guest FROM stay WHERE until IS NOT NULL
-- submission
SELECT guest FROM stay WHERE until < date(char(110, 111, 119))

-- title: clock: the word cut out of another
-- database: guesthouse
-- verdict: rejected
-- reference
SELECT guest FROM stay WHERE until IS NOT NULL
-- submission
SELECT guest FROM stay WHERE until < date(substr('snowman', 2, 3))

-- title: clock: the word as bytes
-- database: guesthouse
-- verdict: rejected
-- reference
SELECT guest FROM stay WHERE until IS NOT NULL
-- submission
SELECT guest FROM stay WHERE until < date(x'6E6F77')

-- title: clock: the word out of JSON
-- database: guesthouse
-- verdict: rejected
-- reference
SELECT guest FROM stay WHERE until IS NOT NULL
-- submission
SELECT guest FROM stay, json_each('["now"]') WHERE until < date(value)

-- title: clock: the word from a row of the table
-- database: guesthouse
-- verdict: rejected
-- reference
SELECT guest FROM stay WHERE until IS NOT NULL
-- submission
SELECT guest FROM stay WHERE until < (SELECT date(word) FROM stay WHERE id = 2)

-- title: clock: in a view of the schema
-- database: guesthouse
-- verdict: rejected
-- reference
SELECT guest FROM stay WHERE until IS NOT NULL
-- submission
SELECT guest FROM gone

-- title: clock: in a view's column that the answer uses
-- database: guesthouse
-- verdict: rejected
-- reference
SELECT guest FROM stay
-- submission
SELECT guest FROM stamped WHERE seen > '2001'

-- title: clock: in a CTE
-- database: guesthouse
-- verdict: rejected
-- reference
SELECT guest FROM stay WHERE until IS NOT NULL
-- submission
WITH today AS MATERIALIZED (SELECT date('now', 'start of year') AS d) SELECT guest FROM stay, today WHERE until < d

-- title: clock: in the first row of a recursion
-- database: guesthouse
-- verdict: rejected
-- reference
SELECT 1 UNION ALL SELECT 2
-- submission
WITH RECURSIVE n(i, d) AS (SELECT 1, time('now') UNION ALL SELECT i + 1, d FROM n WHERE i < 2) SELECT i FROM n

-- title: clock: timediff
-- database: guesthouse
-- verdict: rejected
-- reference
SELECT guest FROM stay WHERE until IS NOT NULL
-- submission
SELECT guest FROM stay WHERE timediff('now', until) LIKE '+%'

-- title: clock: in ORDER BY alone
-- database: guesthouse
-- verdict: rejected
-- reference
SELECT guest FROM stay
-- submission
SELECT guest FROM stay ORDER BY date('now') > until, id

-- title: clock: in GROUP BY alone
-- database: guesthouse
-- verdict: rejected
-- reference
SELECT COUNT(*) FROM stay
-- submission
SELECT COUNT(*) FROM stay GROUP BY CURRENT_DATE

-- title: clock: in the OFFSET
-- database: guesthouse
-- verdict: rejected
-- reference
SELECT guest FROM stay
-- submission
SELECT guest FROM stay LIMIT -1 OFFSET (SELECT strftime('%s') * 0)

-- title: clock: in a FILTER clause
-- database: guesthouse
-- verdict: rejected
-- reference
SELECT COUNT(until) FROM stay
-- submission
SELECT COUNT(*) FILTER (WHERE until < datetime('now', '-1 day')) FROM stay

-- title: clock: in a window's ORDER BY
-- database: guesthouse
-- verdict: rejected
-- reference
SELECT id, 4 FROM stay
-- submission
SELECT id, COUNT(*) OVER (ORDER BY CURRENT_DATE) FROM stay

-- title: clock: hidden in the list of IN
-- database: guesthouse
-- verdict: rejected
-- reference
SELECT guest FROM stay WHERE until IS NOT NULL
-- submission
SELECT guest FROM stay WHERE until NOT IN ('1999-01-01', date('now'))

-- title: clock: harmless, a quoted column of that name
-- database: guesthouse
-- verdict: correct
-- reference
SELECT d."current_date" FROM diary AS d
-- submission
SELECT `current_date` FROM diary

-- title: clock: harmless, unquoted after the table it is the column too
-- database: guesthouse
-- verdict: correct
-- reference
SELECT "current_date", "now" FROM diary
-- submission
SELECT diary.current_date, diary.now FROM diary

-- title: clock: harmless, the word is compared and never a time
-- database: guesthouse
-- verdict: correct
-- reference
SELECT id FROM stay WHERE id IN (1, 2)
-- submission
SELECT id FROM stay WHERE lower(word) = 'now'

-- title: clock: harmless, the word with a space is no time value
-- database: guesthouse
-- verdict: correct
-- reference
SELECT NULL
-- submission
SELECT date('now ')

-- title: clock: harmless, arithmetic on a fixed day
-- database: guesthouse
-- verdict: correct
-- reference
SELECT '2024-03-02'
-- submission
SELECT date('2024-01-31', '+1 month')

-- title: clock: harmless, a time without a day is of the year 2000
-- database: guesthouse
-- verdict: correct
-- reference
SELECT '2000-01-01 06:30:00'
-- submission
SELECT datetime('06:30')

-- title: clock: harmless, a branch that never runs
-- database: guesthouse
-- verdict: correct
-- reference
SELECT guest FROM stay
-- submission
SELECT CASE WHEN id > 0 THEN guest ELSE date('now') END FROM stay

-- title: clock: harmless, the view's column that reads it is not asked for
-- database: guesthouse
-- verdict: correct
-- reference
SELECT guest FROM stay
-- submission
SELECT guest FROM stamped

-- title: clock: harmless, stored when the row was made
-- database: guesthouse
-- verdict: correct
-- reference
SELECT '2001-01-0' || id FROM stay
-- submission
SELECT made FROM stay

-- title: clock: harmless, in a comment and in a text
-- database: guesthouse
-- verdict: correct
-- reference
SELECT 'CURRENT_DATE'
-- submission
SELECT 'CURRENT_DATE' -- date('now'), julianday()

-- title: chance: rows in a random order
-- database: staff
-- verdict: rejected
-- reference
SELECT name FROM staff
-- submission
SELECT name FROM staff ORDER BY random()

-- title: chance: a sample that happens to be everything
-- database: guesthouse
-- verdict: rejected
-- reference
SELECT guest FROM stay
-- submission
SELECT guest FROM stay WHERE id IN (SELECT id FROM stay ORDER BY RANDOM() LIMIT 4)

-- title: chance: bytes of chance, counted
-- database: guesthouse
-- verdict: rejected
-- reference
SELECT 8
-- submission
SELECT length(randomblob(8))

-- title: chance: in a view of the schema
-- database: guesthouse
-- verdict: rejected
-- reference
SELECT guest FROM stay
-- submission
SELECT guest FROM lucky WHERE zero = 0

-- title: chance: quoted like a name
-- database: guesthouse
-- verdict: rejected
-- reference
SELECT guest FROM stay
-- submission
SELECT guest FROM stay ORDER BY "random"()

-- title: chance: harmless, a column of that name
-- database: guesthouse
-- verdict: correct
-- reference
SELECT 'dice' UNION ALL SELECT 'coin'
-- submission
SELECT "random()" FROM diary

-- title: engine: the schema table
-- database: staff
-- verdict: rejected
-- reference
SELECT 2
-- submission
SELECT COUNT(*) FROM sqlite_master

-- title: engine: rows changed so far
-- database: depot
-- verdict: rejected
-- reference
SELECT 0
-- submission
SELECT total_changes()

-- title: engine: the last key inserted
-- database: depot
-- verdict: rejected
-- reference
SELECT 0
-- submission
SELECT last_insert_rowid()

-- title: engine: the version
-- database: depot
-- verdict: rejected
-- reference
SELECT 1
-- submission
SELECT sqlite_version() >= '3'

-- title: engine: how it was compiled
-- database: depot
-- verdict: rejected
-- reference
SELECT 1
-- submission
SELECT sqlite_compileoption_used('THREADSAFE') IN (0, 1)

-- title: engine: a library to load
-- database: depot
-- verdict: rejected
-- reference
SELECT NULL
-- submission
SELECT load_extension('./evil')

-- title: engine: the schema under its newer name
-- database: depot
-- verdict: rejected
-- reference
SELECT 'crate' AS name
-- submission
SELECT name FROM main."sqlite_schema" WHERE name = 'crate'

-- title: engine: the schema only asked whether it exists
-- database: depot
-- verdict: rejected
-- reference
SELECT label FROM crate
-- submission
SELECT label FROM crate WHERE EXISTS (SELECT 1 FROM sqlite_master)

-- title: engine: the schema of temporary objects
-- database: depot
-- verdict: rejected
-- reference
SELECT 0
-- submission
SELECT COUNT(*) FROM sqlite_temp_master

-- title: engine: the counter of AUTOINCREMENT
-- database: depot
-- verdict: rejected
-- reference
SELECT MAX(id) FROM crate
-- submission
SELECT seq FROM sqlite_sequence WHERE name = 'crate'

-- title: engine: the pages of the file
-- database: depot
-- verdict: rejected
-- reference
SELECT 1
-- submission
SELECT COUNT(*) > 0 FROM dbstat

-- title: engine: harmless, a column called sqlite_master
-- database: guesthouse
-- verdict: correct
-- reference
SELECT 5 UNION SELECT 6
-- submission
SELECT sqlite_master FROM diary

-- title: engine: harmless, a table that is only named like a pragma
-- database: depot
-- verdict: correct
-- reference
SELECT 'kept'
-- submission
SELECT note FROM pragma_notes

-- title: engine: harmless, a table that is only named like dbstat
-- database: depot
-- verdict: correct
-- reference
SELECT 12
-- submission
SELECT pages FROM dbstats

-- title: engine: harmless, a full-text table of the schema
-- database: depot
-- verdict: correct
-- reference
SELECT 'dear tea'
-- submission
SELECT body FROM letter WHERE letter MATCH 'tea'

-- title: write: empties the table so that nothing can differ
-- database: staff
-- verdict: rejected
-- reference
SELECT name FROM staff WHERE id = 1
-- submission
DELETE FROM staff

-- title: write: hides the table behind a view
-- database: staff
-- verdict: rejected
-- reference
SELECT name FROM staff
-- submission
CREATE TEMP VIEW staff AS SELECT 1 AS name

-- title: write: WITH before DELETE
-- database: depot
-- verdict: rejected
-- reference
SELECT label FROM crate WHERE kilos > 500
-- submission
WITH light AS (SELECT id FROM crate WHERE kilos < 50) DELETE FROM crate WHERE id IN light

-- title: write: the deleted rows come back as the answer
-- database: depot
-- verdict: rejected
-- reference
SELECT label FROM crate
-- submission
DELETE FROM crate RETURNING label

-- title: write: REPLACE of a row by itself
-- database: depot
-- verdict: rejected
-- reference
SELECT label FROM crate WHERE id = 1
-- submission
REPLACE INTO crate SELECT * FROM crate WHERE id = 1 RETURNING label

-- title: write: INSERT OR IGNORE of a row that is there
-- database: depot
-- verdict: rejected
-- reference
SELECT label FROM crate WHERE 0
-- submission
INSERT OR IGNORE INTO crate(id, label) VALUES (1, 'tea')

-- title: write: an upsert that does nothing
-- database: depot
-- verdict: rejected
-- reference
SELECT label FROM crate WHERE 0
-- submission
INSERT INTO crate(label) VALUES ('tea') ON CONFLICT(label) DO UPDATE SET kilos = kilos RETURNING label

-- title: write: behind a comment that looks like a query
-- database: depot
-- verdict: rejected
-- reference
SELECT label FROM crate WHERE 0
-- submission
/* SELECT label FROM crate */ INSERT INTO bag DEFAULT VALUES -- SELECT

-- title: write: no statement may stand inside a query
-- database: depot
-- verdict: error
-- reference
SELECT label FROM crate
-- submission
SELECT label FROM (DELETE FROM crate RETURNING label)

-- title: write: a temporary table of the same name
-- database: depot
-- verdict: rejected
-- reference
SELECT label FROM crate
-- submission
CREATE TEMP TABLE crate AS SELECT 'tea' AS label

-- title: write: a temporary trigger
-- database: depot
-- verdict: rejected
-- reference
SELECT label FROM crate
-- submission
CREATE TEMP TRIGGER t AFTER INSERT ON bag BEGIN DELETE FROM crate; END

-- title: write: a virtual table over a file
-- database: depot
-- verdict: rejected
-- reference
SELECT label FROM crate
-- submission
CREATE VIRTUAL TABLE temp.words USING fts5(label)

-- title: write: ALTER TABLE
-- database: depot
-- verdict: rejected
-- reference
SELECT label FROM crate
-- submission
ALTER TABLE crate RENAME COLUMN kilos TO weight

-- title: write: DROP VIEW
-- database: depot
-- verdict: rejected
-- reference
SELECT label FROM crate
-- submission
DROP VIEW heavy

-- title: write: DROP of what does not exist
-- database: depot
-- verdict: rejected
-- reference
SELECT label FROM crate
-- submission
DROP TABLE IF EXISTS no_such_table

-- title: write: DROP INDEX
-- database: depot
-- verdict: rejected
-- reference
SELECT label FROM crate
-- submission
DROP INDEX main.crate_kilos

-- title: write: CREATE INDEX that is there already
-- database: depot
-- verdict: rejected
-- reference
SELECT label FROM crate
-- submission
CREATE INDEX IF NOT EXISTS crate_kilos ON crate(kilos)

-- title: write: REINDEX of everything
-- database: depot
-- verdict: rejected
-- reference
SELECT label FROM crate
-- submission
REINDEX

-- title: write: ANALYZE of one table
-- database: depot
-- verdict: rejected
-- reference
SELECT label FROM crate
-- submission
ANALYZE crate

-- title: write: a copy of the database elsewhere
-- database: depot
-- verdict: rejected
-- reference
SELECT label FROM crate
-- submission
VACUUM main INTO 'must-not-exist.sqlite'

-- title: attach: a file that need not exist
-- database: depot
-- verdict: rejected
-- reference
SELECT label FROM crate
-- submission
ATTACH 'must-not-exist.sqlite' AS other

-- title: attach: a temporary database with no name
-- database: depot
-- verdict: rejected
-- reference
SELECT label FROM crate
-- submission
attach database '' as scratch

-- title: attach: DETACH of the main database
-- database: depot
-- verdict: rejected
-- reference
SELECT label FROM crate
-- submission
DETACH DATABASE main

-- title: pragma: only asking
-- database: depot
-- verdict: rejected
-- reference
SELECT 0
-- submission
PRAGMA foreign_keys

-- title: pragma: in brackets
-- database: depot
-- verdict: rejected
-- reference
SELECT label FROM crate
-- submission
PRAGMA main.table_info(crate)

-- title: pragma: with an equals sign and a comment
-- database: depot
-- verdict: rejected
-- reference
SELECT label FROM crate
-- submission
pragma/**/query_only = off

-- title: pragma: an unknown one
-- database: depot
-- verdict: rejected
-- reference
SELECT label FROM crate WHERE 0
-- submission
PRAGMA no_such_pragma

-- title: pragma: as a table
-- database: depot
-- verdict: rejected
-- reference
SELECT 3
-- submission
SELECT COUNT(*) FROM pragma_table_info('crate')

-- title: pragma: as a table in capitals, joined
-- database: depot
-- verdict: rejected
-- reference
SELECT label FROM crate
-- submission
SELECT label FROM crate, main.PRAGMA_USER_VERSION WHERE user_version = 0

-- title: explain: the program
-- database: depot
-- verdict: rejected
-- reference
SELECT label FROM crate
-- submission
EXPLAIN SELECT label FROM crate

-- title: explain: the plan
-- database: depot
-- verdict: rejected
-- reference
SELECT label FROM crate
-- submission
/* how */ EXPLAIN QUERY PLAN SELECT label FROM crate

-- title: transaction: BEGIN alone
-- database: depot
-- verdict: rejected
-- reference
SELECT label FROM crate WHERE 0
-- submission
BEGIN EXCLUSIVE

-- title: transaction: SAVEPOINT
-- database: depot
-- verdict: rejected
-- reference
SELECT label FROM crate WHERE 0
-- submission
SAVEPOINT here

-- title: transaction: ROLLBACK of nothing
-- database: depot
-- verdict: rejected
-- reference
SELECT label FROM crate WHERE 0
-- submission
ROLLBACK

-- title: several: the right query and then another
-- database: staff
-- verdict: rejected
-- reference
SELECT name FROM staff
-- submission
SELECT name FROM staff; DELETE FROM staff

-- title: several: the right query and then a torso
-- database: staff
-- verdict: error
-- reference
SELECT name FROM staff
-- submission
SELECT name FROM staff; SELECT FROM

-- title: several: the second is as harmless as the first
-- database: depot
-- verdict: rejected
-- reference
SELECT label FROM crate
-- submission
SELECT 1; SELECT label FROM crate

-- title: several: the second hides between semicolons and comments
-- database: depot
-- verdict: rejected
-- reference
SELECT label FROM crate
-- submission
SELECT label FROM crate;; /* ; */ ; -- ;
VALUES (1);

-- title: several: comments do not nest, so the DELETE is real
-- database: depot
-- verdict: rejected
-- reference
SELECT label FROM crate
-- submission
SELECT label FROM crate /* /* */ ; DELETE FROM crate /* */

-- title: several: the second is broken
-- database: depot
-- verdict: error
-- reference
SELECT label FROM crate
-- submission
SELECT label FROM crate; DELET FROM crate

-- title: several: the tail is an open quote
-- database: depot
-- verdict: error
-- reference
SELECT label FROM crate
-- submission
SELECT label FROM crate; '

-- title: one: the right query and then a comment
-- database: staff
-- verdict: correct
-- reference
SELECT name FROM staff
-- submission
SELECT name FROM staff; /* done */

-- title: one: nothing but a comment
-- database: staff
-- verdict: error
-- reference
SELECT name FROM staff WHERE 0
-- submission
/* the answer is nothing */

-- title: one: no SQL
-- database: staff
-- verdict: error
-- reference
SELECT name FROM staff WHERE 0
-- submission
There is nobody like that.

-- title: one: a semicolon in a text
-- database: depot
-- verdict: correct
-- reference
SELECT label FROM crate WHERE id = 4
-- submission
SELECT 'semi;colon'

-- title: one: semicolons in comments and at the end
-- database: depot
-- verdict: correct
-- reference
SELECT label FROM crate
-- submission
-- first; DROP TABLE crate;
SELECT /* ; */ label FROM crate ;;; -- ; done

-- title: one: a comment that is never closed
-- database: depot
-- verdict: correct
-- reference
SELECT label FROM crate
-- submission
SELECT label FROM crate /* ; DELETE FROM crate

-- title: one: only a semicolon
-- database: depot
-- verdict: error
-- reference
SELECT label FROM crate WHERE 0
-- submission
;

-- title: one: VALUES is a query
-- database: depot
-- verdict: correct
-- reference
SELECT 1, 'a' UNION ALL SELECT 2, 'b'
-- submission
VALUES (2, 'b'), (1, 'a')

-- title: names: keywords, spaces, quotes and umlauts in any quoting
-- database: depot
-- verdict: correct
-- reference
SELECT "from", "a b", "wo""rd", "größe" FROM "select"
-- submission
select [from], `a b`, `wo"rd`, größe from [select]

-- title: names: an umlaut in capitals is another name
-- database: depot
-- verdict: error
-- reference
SELECT "größe" FROM "select"
-- submission
SELECT "GRÖSSE" FROM "select"

-- title: runtime: an unknown column
-- database: staff
-- verdict: error
-- reference
SELECT name FROM staff
-- submission
SELECT staff_name FROM staff

-- title: runtime: a misspelt column in double quotes is no text
-- database: staff
-- verdict: error
-- reference
SELECT name FROM staff
-- submission
SELECT name FROM staff WHERE "nmae" <> ''

-- title: runtime: a sum over the largest integer
-- database: mixed
-- verdict: error
-- reference
SELECT n FROM big WHERE 0
-- submission
SELECT SUM(n) FROM big WHERE n > 0

-- title: runtime: abs() of the smallest integer in one of four rows
-- database: mixed
-- verdict: error
-- reference
SELECT n FROM big WHERE 0
-- submission
SELECT abs(n) FROM big

-- title: runtime: division by zero is NULL
-- database: clinic
-- verdict: correct
-- reference
SELECT id, NULL FROM doctor
-- submission
SELECT id, id / 0 + id % 0 FROM doctor

-- title: runtime: a text is no JSON
-- database: mixed
-- verdict: error
-- reference
SELECT body FROM note WHERE 0
-- submission
SELECT json_extract(body, '$.n') FROM note

-- title: runtime: a bad JSON path
-- database: mixed
-- verdict: error
-- reference
SELECT body FROM note WHERE 0
-- submission
SELECT json_extract(data, 'n.[') FROM note

-- title: runtime: bytes that are no text
-- database: mixed
-- verdict: error
-- reference
SELECT body FROM note WHERE 0
-- submission
SELECT CAST(x'FFFE' AS TEXT)

-- title: runtime: a misspelt name in double quotes is no text
-- database: clinic
-- verdict: error
-- reference
SELECT id FROM doctor WHERE 0
-- submission
SELECT id FROM doctor WHERE field = "eyes"

-- title: runtime: a question mark has no value
-- database: clinic
-- verdict: error
-- reference
SELECT id FROM doctor WHERE 0
-- submission
SELECT id FROM doctor WHERE id = ?

-- title: runtime: a named parameter has no value
-- database: clinic
-- verdict: error
-- reference
SELECT id FROM doctor WHERE 0
-- submission
SELECT id FROM doctor WHERE name = :name OR name = @name OR name = $name

-- title: runtime: an aggregate in WHERE
-- database: clinic
-- verdict: error
-- reference
SELECT id FROM visit WHERE 0
-- submission
SELECT id FROM visit WHERE fee > AVG(fee)

-- title: runtime: UNION of one column with two
-- database: clinic
-- verdict: error
-- reference
SELECT id FROM visit WHERE 0
-- submission
SELECT id FROM visit UNION SELECT id, fee FROM visit

-- title: runtime: a function of another database
-- database: clinic
-- verdict: error
-- reference
SELECT id FROM visit WHERE 0
-- submission
SELECT DATE_TRUNC('month', at) FROM visit

-- title: runtime: a subquery with two columns as a value
-- database: clinic
-- verdict: error
-- reference
SELECT id FROM visit WHERE 0
-- submission
SELECT (SELECT id, fee FROM visit) FROM doctor

-- title: bomb: rows counted without end
-- database: staff
-- verdict: error
-- reference
SELECT 1
-- submission
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n

-- title: bomb: an endless CTE in EXISTS over a filter that is never true
-- database: depot
-- verdict: error
-- reference
SELECT label FROM crate
-- submission
SELECT label FROM crate WHERE EXISTS (WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n) SELECT 1 FROM n WHERE i < 0)

-- title: bomb: an endless CTE whose rows are thrown away by OFFSET
-- database: depot
-- verdict: error
-- reference
SELECT 1
-- submission
WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT 1 FROM n) SELECT i FROM n LIMIT 1 OFFSET 9000000000

-- title: bomb: a cross join that finds nothing
-- database: depot
-- verdict: error
-- reference
SELECT label FROM crate WHERE 0
-- submission
SELECT 1 FROM digit a, digit b, digit c, digit d, digit e, digit f, digit g, digit h, digit i WHERE a.d + b.d + c.d + d.d + e.d + f.d + g.d + h.d + i.d < 0

-- title: bomb: a cross join that only counts
-- database: depot
-- verdict: error
-- reference
SELECT 1000000000
-- submission
SELECT COUNT(*) FROM digit, digit b, digit c, digit e, digit f, digit g, digit h, digit i, digit j

-- title: bomb: a recursion in which every row has ten followers
-- database: depot
-- verdict: error
-- reference
SELECT 1
-- submission
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT n.i + 1 FROM n, digit WHERE n.i < 12) SELECT COUNT(*) FROM n

-- title: bomb: printf pads to a thousand million
-- database: depot
-- verdict: error
-- reference
SELECT 1
-- submission
SELECT length(printf('%1000000000d', 1))

-- title: bomb: zeroblob of a gigabyte
-- database: depot
-- verdict: error
-- reference
SELECT 1000000000
-- submission
SELECT length(zeroblob(1000000000))

-- title: bomb: replace within replace
-- database: depot
-- verdict: error
-- reference
SELECT 1
-- submission
SELECT length(replace(replace(replace(replace('xxxxxxxxxx', 'x', 'yyyyyyyyyyyyyyyyyyyyyyyyyyyyyy'), 'y', 'zzzzzzzzzzzzzzzzzzzzzzzzzzzzzz'), 'z', 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'), 'x', 'yyyyyyyyyyyyyyyyyyyyyyyyyy'))

-- title: bomb: group_concat grows with the square of the rows
-- database: depot
-- verdict: error
-- reference
SELECT 1
-- submission
SELECT length(group_concat(printf('%01000d', a.d))) FROM digit a, digit b, digit c

-- title: bomb: a text that doubles in every step
-- database: depot
-- verdict: error
-- reference
SELECT 1
-- submission
WITH RECURSIVE n(s) AS (SELECT 'ab' UNION ALL SELECT s || s FROM n) SELECT COUNT(*) FROM n

-- title: bomb: a pattern with many wildcards over a long text finds nothing in time
-- database: depot
-- verdict: correct
-- reference
SELECT 0
-- submission
SELECT printf('%.*c', 90000, 'a') LIKE '%a%a%_a%a%_a%a%a%_a%a%a%_a%a%a%_a%a%a%_a%a%_%b'

-- title: bomb: a long needle in a long text ends in time
-- database: depot
-- verdict: correct
-- reference
SELECT 0
-- submission
SELECT instr(printf('%.*c', 90000, 'a'), printf('%.*c', 40000, 'a') || 'b')

-- title: bomb: an integer to the power of the largest
-- database: depot
-- verdict: correct
-- reference
SELECT 9e999
-- submission
SELECT power(9223372036854775807, 9223372036854775807)

-- title: trap: NOT IN forgets NULL
-- database: staff
-- verdict: wrong
-- reference
SELECT name FROM staff WHERE team IS NOT 'red'
-- submission
SELECT name FROM staff WHERE team <> 'red'

-- title: trap: COUNT of a column skips NULL
-- database: staff
-- verdict: wrong
-- reference
SELECT COUNT(*) FROM staff
-- submission
SELECT COUNT(team) FROM staff

-- title: trap: NULL sum is not zero
-- database: staff
-- verdict: wrong
-- reference
SELECT SUM(pay) FROM staff WHERE id > 100
-- submission
SELECT TOTAL(pay) FROM staff WHERE id > 100

-- title: trap: integer division
-- database: staff
-- verdict: wrong
-- reference
SELECT AVG(id) FROM staff
-- submission
SELECT SUM(id) / COUNT(*) FROM staff

-- title: trap: visits counted, not patients
-- database: clinic
-- verdict: wrong
-- reference
SELECT COUNT(DISTINCT patient_id) FROM visit
-- submission
SELECT COUNT(patient_id) FROM visit

-- title: trap: the patient without a visit is lost to a NULL in the list
-- database: clinic
-- verdict: wrong
-- reference
SELECT name FROM patient p WHERE NOT EXISTS (SELECT 1 FROM visit v WHERE v.patient_id = p.id)
-- submission
SELECT name FROM patient WHERE id NOT IN (SELECT patient_id FROM visit)

-- title: trap: the condition on the right table undoes the LEFT JOIN
-- database: clinic
-- verdict: wrong
-- reference
SELECT p.id, v.id FROM patient p LEFT JOIN visit v ON v.patient_id = p.id AND v.state = 'open'
-- submission
SELECT p.id, v.id FROM patient p LEFT JOIN visit v ON v.patient_id = p.id WHERE v.state = 'open'

-- title: trap: INNER JOIN drops who has no boss
-- database: clinic
-- verdict: wrong
-- reference
SELECT d.name, b.name FROM doctor d LEFT JOIN doctor b ON b.id = d.boss_id
-- submission
SELECT d.name, b.name FROM doctor d JOIN doctor b ON b.id = d.boss_id

-- title: trap: one of the two heaviest
-- database: clinic
-- verdict: wrong
-- reference
SELECT name FROM patient WHERE weight = (SELECT MAX(weight) FROM patient)
-- submission
SELECT name FROM (SELECT name, MAX(weight) FROM patient)

-- title: trap: RANK leaves a gap after a tie that DENSE_RANK closes
-- database: clinic
-- verdict: wrong
-- reference
SELECT name FROM (SELECT name, DENSE_RANK() OVER (ORDER BY weight DESC) AS place FROM patient) WHERE place = 2
-- submission
SELECT name FROM (SELECT name, RANK() OVER (ORDER BY weight DESC) AS place FROM patient) WHERE place = 2

-- title: trap: a fee of exactly 50
-- database: clinic
-- verdict: wrong
-- reference
SELECT id FROM visit WHERE fee >= 50
-- submission
SELECT id FROM visit WHERE fee > 50

-- title: trap: whole-number division in a percentage
-- database: clinic
-- verdict: wrong
-- reference
SELECT 100.0 * SUM(state = 'open') / COUNT(*) FROM visit
-- submission
SELECT 100 * SUM(state = 'open') / COUNT(*) FROM visit

-- title: trap: LIKE finds PAID too
-- database: clinic
-- verdict: wrong
-- reference
SELECT id FROM visit WHERE state = 'paid'
-- submission
SELECT id FROM visit WHERE state LIKE 'paid'

-- title: trap: fees compared as texts
-- database: clinic
-- verdict: wrong
-- reference
SELECT id FROM visit WHERE fee > 60
-- submission
SELECT id FROM visit WHERE CAST(fee AS TEXT) > '60'

-- title: trap: towns compared without case
-- database: clinic
-- verdict: wrong
-- reference
SELECT name FROM patient WHERE town = 'Ulm'
-- submission
SELECT name FROM patient WHERE town = 'Ulm' COLLATE NOCASE

-- title: trap: WHERE filters visits where HAVING filters doctors
-- database: clinic
-- verdict: wrong
-- reference
SELECT doctor_id FROM visit GROUP BY doctor_id HAVING AVG(fee) > 60
-- submission
SELECT doctor_id FROM visit WHERE fee > 60 GROUP BY doctor_id

-- title: trap: UNION where ALL was meant
-- database: clinic
-- verdict: wrong
-- reference
SELECT name FROM patient UNION ALL SELECT name FROM doctor
-- submission
SELECT name FROM patient UNION SELECT name FROM doctor

-- title: trap: the latest of all, not of each patient
-- database: clinic
-- verdict: wrong
-- reference
SELECT patient_id, id FROM visit v WHERE at = (SELECT MAX(at) FROM visit w WHERE w.patient_id = v.patient_id)
-- submission
SELECT patient_id, id FROM visit v WHERE at = (SELECT MAX(at) FROM visit)

-- title: trap: May of any year
-- database: clinic
-- verdict: wrong
-- reference
SELECT id FROM visit WHERE strftime('%Y-%m', at) = '2023-05'
-- submission
SELECT id FROM visit WHERE strftime('%m', at) = '05'

-- title: trap: the last day ends at its midnight
-- database: clinic
-- verdict: wrong
-- reference
SELECT id FROM visit WHERE at >= '2023-05-01' AND at < '2023-06-01'
-- submission
SELECT id FROM visit WHERE at BETWEEN '2023-05-01' AND '2023-05-31'

-- title: trap: COUNT(*) counts the padded row
-- database: clinic
-- verdict: wrong
-- reference
SELECT p.id, COUNT(v.id) FROM patient p LEFT JOIN visit v ON v.patient_id = p.id GROUP BY p.id
-- submission
SELECT p.id, COUNT(*) FROM patient p LEFT JOIN visit v ON v.patient_id = p.id GROUP BY p.id

-- title: trap: namesakes share a row
-- database: clinic
-- verdict: wrong
-- reference
SELECT name, COUNT(*) FROM visit JOIN doctor ON doctor.id = doctor_id GROUP BY doctor.id
-- submission
SELECT name, COUNT(*) FROM visit JOIN doctor ON doctor.id = doctor_id GROUP BY name

-- title: trap: a join multiplies the weights
-- database: clinic
-- verdict: wrong
-- reference
SELECT SUM(weight) FROM patient WHERE id IN (SELECT patient_id FROM visit)
-- submission
SELECT SUM(weight) FROM patient JOIN visit ON patient_id = patient.id

-- title: trap: equal fees added once
-- database: clinic
-- verdict: wrong
-- reference
SELECT SUM(fee) FROM visit WHERE state = 'paid'
-- submission
SELECT SUM(DISTINCT fee) FROM visit WHERE state = 'paid'

-- title: trap: NULL sorts before the lightest
-- database: clinic
-- verdict: wrong
-- reference
SELECT MIN(weight) FROM patient
-- submission
SELECT weight FROM patient ORDER BY weight LIMIT 1

-- title: trap: NOT does not find NULL
-- database: clinic
-- verdict: wrong
-- reference
SELECT id FROM visit WHERE state IS NOT 'open'
-- submission
SELECT id FROM visit WHERE NOT state = 'open'

-- title: trap: = NULL finds nothing
-- database: clinic
-- verdict: wrong
-- reference
SELECT id FROM visit WHERE state IS NULL
-- submission
SELECT id FROM visit WHERE state = NULL

-- title: trap: AND binds before OR
-- database: clinic
-- verdict: wrong
-- reference
SELECT id FROM visit WHERE (state = 'open' OR state = 'paid') AND fee > 50
-- submission
SELECT id FROM visit WHERE state = 'open' OR state = 'paid' AND fee > 50

-- title: trap: the ends of BETWEEN exchanged
-- database: clinic
-- verdict: wrong
-- reference
SELECT id FROM visit WHERE fee BETWEEN 50 AND 75
-- submission
SELECT id FROM visit WHERE fee BETWEEN 75 AND 50

-- title: trap: CASE takes the first branch that holds
-- database: clinic
-- verdict: wrong
-- reference
SELECT id, CASE WHEN fee >= 75 THEN 'high' WHEN fee >= 50 THEN 'mid' ELSE 'low' END FROM visit
-- submission
SELECT id, CASE WHEN fee >= 50 THEN 'mid' WHEN fee >= 75 THEN 'high' ELSE 'low' END FROM visit

-- title: trap: NATURAL JOIN joins on the name as well
-- database: clinic
-- verdict: wrong
-- reference
SELECT p.id FROM patient p JOIN doctor d ON d.id = p.id
-- submission
SELECT id FROM patient NATURAL JOIN doctor

-- title: trap: texts count from 1, so from 0 a year has three digits
-- database: clinic
-- verdict: wrong
-- reference
SELECT DISTINCT substr(at, 1, 4) FROM visit
-- submission
SELECT DISTINCT substr(at, 0, 4) FROM visit

-- title: trap: CAST cuts where ROUND rounds
-- database: clinic
-- verdict: wrong
-- reference
SELECT id, ROUND(weight) FROM patient
-- submission
SELECT id, CAST(weight AS INTEGER) FROM patient

-- title: trap: a running sum over ties takes the peers too
-- database: clinic
-- verdict: wrong
-- reference
SELECT id, SUM(fee) OVER (ORDER BY fee, id ROWS UNBOUNDED PRECEDING) FROM visit
-- submission
SELECT id, SUM(fee) OVER (ORDER BY fee) FROM visit

-- title: trap: the second row is not the second-highest fee
-- database: clinic
-- verdict: wrong
-- reference
SELECT MAX(fee) FROM visit WHERE fee < (SELECT MAX(fee) FROM visit WHERE fee < 100)
-- submission
SELECT fee FROM visit WHERE fee < 100 ORDER BY fee DESC LIMIT 1 OFFSET 1

-- title: trap: AVG skips NULL, a division by all rows does not
-- database: clinic
-- verdict: wrong
-- reference
SELECT AVG(fee) FROM visit
-- submission
SELECT 1.0 * SUM(fee) / COUNT(*) FROM visit

-- title: trap: NULL joins nothing, IS joins it
-- database: clinic
-- verdict: wrong
-- reference
SELECT COUNT(*) FROM doctor a JOIN doctor b ON a.boss_id = b.boss_id
-- submission
SELECT COUNT(*) FROM doctor a JOIN doctor b ON a.boss_id IS b.boss_id

-- title: trap: the largest text is not the largest number
-- database: clinic
-- verdict: wrong
-- reference
SELECT MAX(fee) FROM visit
-- submission
SELECT CAST(MAX(CAST(fee AS TEXT)) AS INTEGER) FROM visit

-- title: equiv: EXISTS for IN
-- database: staff
-- verdict: correct
-- reference
SELECT name FROM staff WHERE id IN (SELECT staff_id FROM badge)
-- submission
SELECT name FROM staff WHERE EXISTS (SELECT 1 FROM badge WHERE staff_id = staff.id)

-- title: equiv: anti-join by LEFT JOIN
-- database: clinic
-- verdict: correct
-- reference
SELECT name FROM patient p WHERE NOT EXISTS (SELECT 1 FROM visit v WHERE v.patient_id = p.id)
-- submission
SELECT p.name FROM visit v RIGHT JOIN patient p ON v.patient_id = p.id WHERE v.id IS NULL

-- title: equiv: anti-join by counting
-- database: clinic
-- verdict: correct
-- reference
SELECT name FROM doctor WHERE id NOT IN (SELECT doctor_id FROM visit WHERE doctor_id IS NOT NULL)
-- submission
SELECT name FROM doctor d WHERE 0 = (SELECT COUNT(*) FROM visit WHERE doctor_id = d.id)

-- title: equiv: COUNT with FILTER and a sum of CASE
-- database: clinic
-- verdict: correct
-- reference
SELECT doctor_id, COUNT(*) FILTER (WHERE state = 'paid') FROM visit GROUP BY doctor_id
-- submission
SELECT doctor_id, SUM(CASE state WHEN 'paid' THEN 1 ELSE 0 END) FROM visit GROUP BY 1

-- title: equiv: the dearest by rank and by correlation
-- database: clinic
-- verdict: correct
-- reference
SELECT id FROM visit v WHERE fee = (SELECT MAX(fee) FROM visit w WHERE w.doctor_id = v.doctor_id)
-- submission
SELECT id FROM (SELECT id, fee, RANK() OVER (PARTITION BY doctor_id ORDER BY fee DESC) AS r FROM visit WHERE doctor_id IS NOT NULL) WHERE r = 1 AND fee IS NOT NULL

-- title: equiv: a running sum by window and by self-join
-- database: clinic
-- verdict: correct
-- reference
SELECT id, SUM(fee) OVER (ORDER BY id) FROM visit
-- submission
SELECT v.id, SUM(w.fee) FROM visit v JOIN visit w ON w.id <= v.id GROUP BY v.id

-- title: equiv: the previous visit by LAG and by MAX
-- database: clinic
-- verdict: correct
-- reference
SELECT id, LAG(id) OVER (PARTITION BY patient_id ORDER BY id) FROM visit WHERE patient_id IS NOT NULL
-- submission
SELECT id, (SELECT MAX(w.id) FROM visit w WHERE w.patient_id = v.patient_id AND w.id < v.id) FROM visit v WHERE patient_id IS NOT NULL

-- title: equiv: all superiors by recursion and by two joins
-- database: clinic
-- verdict: correct
-- reference
WITH RECURSIVE up(id, boss) AS (SELECT id, boss_id FROM doctor WHERE boss_id IS NOT NULL UNION ALL SELECT up.id, d.boss_id FROM up JOIN doctor d ON d.id = up.boss WHERE d.boss_id IS NOT NULL) SELECT id, boss FROM up
-- submission
SELECT id, boss_id FROM doctor WHERE boss_id IS NOT NULL UNION ALL SELECT d.id, b.boss_id FROM doctor d JOIN doctor b ON b.id = d.boss_id WHERE b.boss_id IS NOT NULL

-- title: equiv: FULL JOIN and the union of its parts
-- database: clinic
-- verdict: correct
-- reference
SELECT p.id, v.id FROM patient p FULL JOIN visit v ON v.patient_id = p.id
-- submission
SELECT p.id, v.id FROM patient p LEFT JOIN visit v ON v.patient_id = p.id UNION ALL SELECT NULL, id FROM visit WHERE patient_id IS NULL OR patient_id NOT IN (SELECT id FROM patient)

-- title: equiv: IN over JSON
-- database: clinic
-- verdict: correct
-- reference
SELECT id FROM visit WHERE fee IN (25, 33, 100)
-- submission
SELECT v.id FROM visit v JOIN json_each('[25, 33, 100]') j ON j.value = v.fee

-- title: equiv: row values and separate comparisons
-- database: clinic
-- verdict: correct
-- reference
SELECT id FROM visit WHERE (fee, state) = (50, 'paid')
-- submission
SELECT id FROM visit WHERE state = 'paid' INTERSECT SELECT id FROM visit WHERE fee = 50

-- title: equiv: De Morgan holds with NULL
-- database: clinic
-- verdict: correct
-- reference
SELECT id FROM visit WHERE NOT (fee > 50 AND state = 'open')
-- submission
SELECT id FROM visit WHERE NOT fee > 50 OR NOT state = 'open'

-- title: equiv: IS DISTINCT FROM
-- database: clinic
-- verdict: correct
-- reference
SELECT id FROM visit WHERE state IS NOT 'open'
-- submission
SELECT id FROM visit WHERE state IS DISTINCT FROM 'open'

-- title: equiv: COALESCE, IFNULL, CASE and IIF
-- database: clinic
-- verdict: correct
-- reference
SELECT id, COALESCE(town, '?') FROM patient
-- submission
SELECT id, CASE WHEN town IS NULL THEN '?' ELSE iif(1, ifnull(town, '!'), '') END FROM patient

-- title: equiv: the median by position and by counting
-- database: clinic
-- verdict: correct
-- reference
SELECT fee FROM visit WHERE fee IS NOT NULL ORDER BY fee LIMIT 1 OFFSET (SELECT (COUNT(fee) - 1) / 2 FROM visit)
-- submission
SELECT fee FROM (SELECT fee, ROW_NUMBER() OVER (ORDER BY fee, id) AS k, COUNT(*) OVER () AS n FROM visit WHERE fee IS NOT NULL) WHERE k = (n + 1) / 2

-- title: equiv: division that takes every field
-- database: clinic
-- verdict: correct
-- reference
SELECT p.id FROM patient p WHERE NOT EXISTS (SELECT 1 FROM doctor d WHERE d.field = 'eye' AND NOT EXISTS (SELECT 1 FROM visit v WHERE v.patient_id = p.id AND v.doctor_id = d.id))
-- submission
SELECT patient_id FROM visit JOIN doctor d ON d.id = doctor_id JOIN patient p ON p.id = patient_id WHERE field = 'eye' GROUP BY patient_id HAVING COUNT(DISTINCT doctor_id) = (SELECT COUNT(*) FROM doctor WHERE field = 'eye')

-- title: equiv: the month by text and by function
-- database: clinic
-- verdict: correct
-- reference
SELECT strftime('%Y-%m', at), COUNT(*) FROM visit GROUP BY 1
-- submission
SELECT substr(at, 1, 7) AS month, COUNT(at) FROM visit GROUP BY month

-- title: equiv: a cross join with a condition
-- database: clinic
-- verdict: correct
-- reference
SELECT p.name, d.name FROM patient p JOIN visit v ON v.patient_id = p.id JOIN doctor d ON d.id = v.doctor_id
-- submission
SELECT p.name, d.name FROM doctor d, visit v CROSS JOIN patient p WHERE +v.doctor_id = d.id AND p.id IN (v.patient_id)

-- title: four: right on the first instance only, by price
-- database: goods
-- verdict: wrong
-- reference
SELECT name FROM goods WHERE price = (SELECT MAX(price) FROM goods)
-- submission
SELECT name FROM goods ORDER BY price DESC LIMIT 1

-- title: four: right on the first instance only, by case
-- database: goods
-- verdict: wrong
-- reference
SELECT COUNT(*) FROM goods WHERE name = 'pen'
-- submission
SELECT COUNT(*) FROM goods WHERE name LIKE 'pen'

-- title: four: right on the first instance only, by NULL
-- database: goods
-- verdict: wrong
-- reference
SELECT name FROM goods WHERE price >= 5
-- submission
SELECT name FROM goods WHERE NOT COALESCE(price, 9) < 5

-- title: four: right on both instances
-- database: goods
-- verdict: correct
-- reference
SELECT name FROM goods WHERE price >= 5
-- submission
SELECT name FROM goods WHERE NOT price < 5.0

-- title: four: fails on the second instance only
-- database: goods
-- verdict: error
-- reference
SELECT COUNT(*) FROM goods
-- submission
SELECT COUNT(*) + COALESCE(SUM(CASE WHEN price IS NULL THEN abs(-9223372036854775808) END), 0) FROM goods

-- title: four: the table is empty first and holds NULL then
-- database: bare
-- verdict: wrong
-- reference
SELECT COUNT(*) FROM bare
-- submission
SELECT COUNT(a) FROM bare

-- title: four: right on three, a fourth has NULL among the tons
-- database: quarry
-- verdict: wrong
-- reference
SELECT COUNT(tons) FROM load
-- submission
SELECT COUNT(*) FROM load

-- title: four: right on the first only, a pit without a load
-- database: quarry
-- verdict: wrong
-- reference
SELECT p.id, COUNT(l.id) FROM pit p LEFT JOIN load l ON l.pit_id = p.id GROUP BY p.id
-- submission
SELECT p.id, COUNT(l.id) FROM pit p JOIN load l ON l.pit_id = p.id GROUP BY p.id

-- title: four: right on two, then an owner has two pits
-- database: quarry
-- verdict: wrong
-- reference
SELECT owner, depth FROM pit
-- submission
SELECT owner, MAX(depth) FROM pit GROUP BY owner

-- title: four: right on two, then two are deepest
-- database: quarry
-- verdict: wrong
-- reference
SELECT id FROM pit WHERE depth = (SELECT MAX(depth) FROM pit)
-- submission
SELECT id FROM pit ORDER BY depth DESC, id LIMIT 1

-- title: four: right on three, a fourth has a dangling load
-- database: quarry
-- verdict: wrong
-- reference
SELECT SUM(tons) FROM load WHERE tons < 5
-- submission
SELECT SUM(tons) FROM load JOIN pit ON pit.id = pit_id WHERE tons < 5

-- title: four: right on three, a fourth spells an owner in small letters
-- database: quarry
-- verdict: wrong
-- reference
SELECT COUNT(*) FROM pit WHERE owner = 'Abt'
-- submission
SELECT COUNT(*) FROM pit WHERE owner LIKE 'abt'

-- title: four: right on two, then loads of another year
-- database: quarry
-- verdict: wrong
-- reference
SELECT COUNT(*) FROM load WHERE day BETWEEN '2020-01-01' AND '2020-01-31'
-- submission
SELECT COUNT(*) FROM load WHERE day LIKE '%-01-%'

-- title: four: fails on the fourth alone
-- database: quarry
-- verdict: error
-- reference
SELECT id FROM pit
-- submission
SELECT id FROM pit WHERE json(CASE WHEN owner IS NULL THEN '{' ELSE '{}' END) = '{}'

-- title: four: reads the clock on the fourth alone
-- database: quarry
-- verdict: rejected
-- reference
SELECT id FROM pit
-- submission
SELECT id FROM pit WHERE COALESCE(opened, date('now')) > '1900'

-- title: four: right on all four in another shape
-- database: quarry
-- verdict: correct
-- reference
SELECT p.owner, SUM(l.tons) FROM pit p LEFT JOIN load l ON l.pit_id = p.id GROUP BY p.id
-- submission
SELECT owner, (SELECT SUM(tons) FROM load WHERE pit_id = pit.id) FROM pit
