-- An invented parcel service with everything that makes names awkward: reserved words, blanks, quotes, umlauts, a key of
-- two columns, a table without rowid, generated columns, a blob, an empty table. `sqldojo inspect docs/awkward.sql` reads it.
CREATE TABLE "group" (
  id INTEGER PRIMARY KEY,
  "name" TEXT NOT NULL UNIQUE,
  "Straße" TEXT, -- the street of its depot
  "from" TEXT -- since when it exists
);
CREATE TABLE "café" (
  "code" TEXT PRIMARY KEY,
  "order" INTEGER, -- its place on the round
  "Größe" TEXT,
  "seats" INTEGER
) WITHOUT ROWID;
CREATE TABLE "order" (
  "order id" INTEGER PRIMARY KEY,
  "group" INTEGER NOT NULL REFERENCES "group" (id),
  "café" TEXT REFERENCES "café" ("code"),
  "select" TEXT, -- how it is sent
  "placed on" TEXT,
  "weight kg" REAL CHECK ("weight kg" > 0),
  "weight g" REAL GENERATED ALWAYS AS ("weight kg" * 1000) VIRTUAL
);
CREATE TABLE "line item" (
  "order id" INTEGER NOT NULL REFERENCES "order" ("order id"),
  "number" INTEGER NOT NULL,
  "what's in it" TEXT,
  "Stück" INTEGER,
  "unit price" REAL,
  "label" BLOB,
  PRIMARY KEY ("order id", "number")
);
CREATE TABLE "lost & found" (id INTEGER PRIMARY KEY, "order id" INTEGER REFERENCES "order", note TEXT);
CREATE VIEW "heavy orders" AS SELECT "order id", "weight kg" FROM "order" WHERE "weight kg" > 20;

WITH names(n, name) AS (VALUES (1, 'Nord'), (2, 'Süd'), (3, 'Ost'), (4, 'West'), (5, 'Hafen'), (6, 'Altstadt'),
  (7, 'Messe'), (8, 'Wald'), (9, 'Insel'), (10, 'Berg'), (11, 'Brücke'), (12, 'Mühle'))
INSERT INTO "group" SELECT n, name, (SELECT value FROM json_each('["Hauptstraße", "Kaiweg", "Am Tor", "Lindenallee"]')
  WHERE key = n * 7 % 4), printf('%d-%02d-%02d', 2012 + n * 5 % 9, n * 7 % 12 + 1, n * 11 % 28 + 1) FROM names;

WITH RECURSIVE numbers(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM numbers WHERE n < 40)
INSERT INTO "café" SELECT printf('%s%02d', char(65 + n * 11 % 6), n), n * 17 % 41,
  (SELECT value FROM json_each('["klein", "mittel", "groß"]') WHERE key = n * n % 7 % 3), 6 + n * 13 % 34 FROM numbers;

WITH RECURSIVE numbers(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM numbers WHERE n < 600)
INSERT INTO "order" ("order id", "group", "café", "select", "placed on", "weight kg")
SELECT 1000 + n, n * n % 11 + 1,
  CASE WHEN n % 9 THEN (SELECT "code" FROM "café" WHERE "order" = (n * n * 3 + n) % 37 + 1) END,
  (SELECT value FROM json_each('["bike", "van", "express", "pick-up"]') WHERE key = (n * n + n / 3) % 7 % 4),
  date('2020-01-01', printf('+%d days', n * n * 7 % 1789)), 0.5 + n * n * 31 % 487 / 10.0
FROM numbers;

WITH RECURSIVE numbers(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM numbers WHERE n < 3)
INSERT INTO "line item"
SELECT "order id", n, (SELECT value FROM json_each(
    '["tea", "coffee", "cups", "sugar", "d''Anjou pears", "spoons", "\"house\" blend"]') WHERE key = ("order id" * n * n + n) % 17 % 7),
  "order id" * n % 13 + 1, 1.5 + "order id" * "order id" * n % 97 / 2.0, CASE WHEN n = 1 THEN zeroblob(4) END
FROM "order", numbers WHERE n <= "order id" * 5 % 7 % 3 + 1;
