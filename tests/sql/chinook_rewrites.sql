-- References over Chinook and rewrites of them, as people and models write them.
-- Each block: title, type (the reference's name), verdict (reference; correct: equal on any rows that the schema
-- allows, dangling keys included; wrong: the title says on which rows it differs), query.

-- title: artists without album
-- type: artists-without-album
-- verdict: reference
SELECT Name FROM Artist WHERE NOT EXISTS (SELECT 1 FROM Album WHERE Album.ArtistId = Artist.ArtistId);

-- title: LEFT JOIN that finds nothing
-- type: artists-without-album
-- verdict: correct
SELECT ar.Name FROM Artist ar LEFT JOIN Album al ON al.ArtistId = ar.ArtistId WHERE al.AlbumId IS NULL;

-- title: NOT IN over a column that is never NULL
-- type: artists-without-album
-- verdict: correct
SELECT Name FROM Artist WHERE ArtistId NOT IN (SELECT ArtistId FROM Album);

-- title: two artists of one name become one row
-- type: artists-without-album
-- verdict: wrong
SELECT DISTINCT Name FROM Artist WHERE NOT EXISTS (SELECT 1 FROM Album WHERE Album.ArtistId = Artist.ArtistId);

-- title: by name, so a namesake's album hides an artist
-- type: artists-without-album
-- verdict: wrong
SELECT Name FROM Artist WHERE Name NOT IN (SELECT ar.Name FROM Artist ar JOIN Album al ON al.ArtistId = ar.ArtistId WHERE ar.Name IS NOT NULL);

-- title: the artist's number looked up among the albums'
-- type: artists-without-album
-- verdict: wrong
SELECT Name FROM Artist WHERE ArtistId NOT IN (SELECT AlbumId FROM Album);

-- title: tracks per genre
-- type: tracks-per-genre
-- verdict: reference
SELECT g.Name, COUNT(t.TrackId) FROM Genre g LEFT JOIN Track t ON t.GenreId = g.GenreId GROUP BY g.GenreId, g.Name;

-- title: correlated count
-- type: tracks-per-genre
-- verdict: correct
SELECT Name, (SELECT COUNT(*) FROM Track WHERE Track.GenreId = Genre.GenreId) FROM Genre;

-- title: one track for genres without any
-- type: tracks-per-genre
-- verdict: wrong
SELECT g.Name, COUNT(*) FROM Genre g LEFT JOIN Track t ON t.GenreId = g.GenreId GROUP BY g.GenreId, g.Name;

-- title: genres without tracks dropped
-- type: tracks-per-genre
-- verdict: wrong
SELECT g.Name, COUNT(t.TrackId) FROM Genre g JOIN Track t ON t.GenreId = g.GenreId GROUP BY g.GenreId, g.Name;

-- title: genres of one name together
-- type: tracks-per-genre
-- verdict: wrong
SELECT g.Name, COUNT(t.TrackId) FROM Genre g LEFT JOIN Track t ON t.GenreId = g.GenreId GROUP BY g.Name;

-- title: long tracks with composer
-- type: long-tracks-with-composer
-- verdict: reference
SELECT Name, Milliseconds FROM Track WHERE Milliseconds >= 600000 AND Composer IS NOT NULL;

-- title: negated comparison
-- type: long-tracks-with-composer
-- verdict: correct
SELECT Name, Milliseconds FROM Track WHERE NOT (Milliseconds < 600000 OR Composer IS NULL);

-- title: a set operation on the key
-- type: long-tracks-with-composer
-- verdict: correct
SELECT Name, Milliseconds FROM Track WHERE TrackId IN (SELECT TrackId FROM Track WHERE Milliseconds >= 600000 EXCEPT SELECT TrackId FROM Track WHERE Composer IS NULL);

-- title: tracks of exactly ten minutes left out
-- type: long-tracks-with-composer
-- verdict: wrong
SELECT Name, Milliseconds FROM Track WHERE Milliseconds > 600000 AND Composer IS NOT NULL;

-- title: an empty composer left out too
-- type: long-tracks-with-composer
-- verdict: wrong
SELECT Name, Milliseconds FROM Track WHERE Milliseconds >= 600000 AND Composer <> '';

-- title: tracks without a composer kept
-- type: long-tracks-with-composer
-- verdict: wrong
SELECT Name, Milliseconds FROM Track WHERE Milliseconds >= 600000;

-- title: longest tracks of album
-- type: longest-tracks-of-album
-- verdict: reference
SELECT AlbumId, Name FROM Track t WHERE AlbumId IS NOT NULL AND Milliseconds = (SELECT MAX(Milliseconds) FROM Track x WHERE x.AlbumId = t.AlbumId);

-- title: RANK
-- type: longest-tracks-of-album
-- verdict: correct
SELECT AlbumId, Name FROM (SELECT AlbumId, Name, RANK() OVER (PARTITION BY AlbumId ORDER BY Milliseconds DESC) AS place FROM Track WHERE AlbumId IS NOT NULL) WHERE place = 1;

-- title: nothing longer on the album
-- type: longest-tracks-of-album
-- verdict: correct
SELECT AlbumId, Name FROM Track t WHERE AlbumId IS NOT NULL AND NOT EXISTS (SELECT 1 FROM Track x WHERE x.AlbumId = t.AlbumId AND x.Milliseconds > t.Milliseconds);

-- title: one of several that tie
-- type: longest-tracks-of-album
-- verdict: wrong
SELECT AlbumId, Name FROM (SELECT AlbumId, Name, ROW_NUMBER() OVER (PARTITION BY AlbumId ORDER BY Milliseconds DESC, TrackId) AS place FROM Track WHERE AlbumId IS NOT NULL) WHERE place = 1;

-- title: as long as the longest of any album
-- type: longest-tracks-of-album
-- verdict: wrong
SELECT AlbumId, Name FROM Track WHERE AlbumId IS NOT NULL AND Milliseconds IN (SELECT MAX(Milliseconds) FROM Track WHERE AlbumId IS NOT NULL GROUP BY AlbumId);

-- title: the shortest
-- type: longest-tracks-of-album
-- verdict: wrong
SELECT AlbumId, Name FROM Track t WHERE AlbumId IS NOT NULL AND Milliseconds = (SELECT MIN(Milliseconds) FROM Track x WHERE x.AlbumId = t.AlbumId);

-- title: countries with many customers
-- type: countries-with-many-customers
-- verdict: reference
SELECT Country, COUNT(*) FROM Customer WHERE Country IS NOT NULL GROUP BY Country HAVING COUNT(*) > 2;

-- title: the count in a subquery
-- type: countries-with-many-customers
-- verdict: correct
SELECT Country, n FROM (SELECT Country, COUNT(CustomerId) AS n FROM Customer GROUP BY Country) WHERE n >= 3 AND Country IS NOT NULL;

-- title: the boundary itself included
-- type: countries-with-many-customers
-- verdict: wrong
SELECT Country, COUNT(*) FROM Customer WHERE Country IS NOT NULL GROUP BY Country HAVING COUNT(*) >= 2;

-- title: a missing country listed
-- type: countries-with-many-customers
-- verdict: wrong
SELECT Country, COUNT(*) FROM Customer GROUP BY Country HAVING COUNT(*) > 2;

-- title: cities counted, not customers
-- type: countries-with-many-customers
-- verdict: wrong
SELECT Country, COUNT(DISTINCT City) FROM Customer WHERE Country IS NOT NULL GROUP BY Country HAVING COUNT(DISTINCT City) > 2;

-- title: buyers of jazz
-- type: buyers-of-jazz
-- verdict: reference
SELECT FirstName, LastName FROM Customer WHERE CustomerId IN (SELECT i.CustomerId FROM Invoice i JOIN InvoiceLine l ON l.InvoiceId = i.InvoiceId JOIN Track t ON t.TrackId = l.TrackId JOIN Genre g ON g.GenreId = t.GenreId WHERE g.Name = 'Jazz');

-- title: EXISTS
-- type: buyers-of-jazz
-- verdict: correct
SELECT FirstName, LastName FROM Customer c WHERE EXISTS (SELECT 1 FROM Invoice i JOIN InvoiceLine l ON l.InvoiceId = i.InvoiceId JOIN Track t ON t.TrackId = l.TrackId WHERE i.CustomerId = c.CustomerId AND t.GenreId IN (SELECT GenreId FROM Genre WHERE Name = 'Jazz'));

-- title: DISTINCT with the key
-- type: buyers-of-jazz
-- verdict: correct
SELECT FirstName, LastName FROM (SELECT DISTINCT c.CustomerId, c.FirstName, c.LastName FROM Customer c JOIN Invoice i ON i.CustomerId = c.CustomerId JOIN InvoiceLine l ON l.InvoiceId = i.InvoiceId JOIN Track t ON t.TrackId = l.TrackId JOIN Genre g ON g.GenreId = t.GenreId WHERE g.Name = 'Jazz');

-- title: two customers of one name become one row
-- type: buyers-of-jazz
-- verdict: wrong
SELECT DISTINCT c.FirstName, c.LastName FROM Customer c JOIN Invoice i ON i.CustomerId = c.CustomerId JOIN InvoiceLine l ON l.InvoiceId = i.InvoiceId JOIN Track t ON t.TrackId = l.TrackId JOIN Genre g ON g.GenreId = t.GenreId WHERE g.Name = 'Jazz';

-- title: a row for every line bought
-- type: buyers-of-jazz
-- verdict: wrong
SELECT c.FirstName, c.LastName FROM Customer c JOIN Invoice i ON i.CustomerId = c.CustomerId JOIN InvoiceLine l ON l.InvoiceId = i.InvoiceId JOIN Track t ON t.TrackId = l.TrackId JOIN Genre g ON g.GenreId = t.GenreId WHERE g.Name = 'Jazz';

-- title: any spelling of the genre
-- type: buyers-of-jazz
-- verdict: wrong
SELECT FirstName, LastName FROM Customer WHERE CustomerId IN (SELECT i.CustomerId FROM Invoice i JOIN InvoiceLine l ON l.InvoiceId = i.InvoiceId JOIN Track t ON t.TrackId = l.TrackId JOIN Genre g ON g.GenreId = t.GenreId WHERE g.Name LIKE 'jazz');

-- title: sales per support rep
-- type: sales-per-support-rep
-- verdict: reference
SELECT e.EmployeeId, SUM(i.Total) FROM Employee e LEFT JOIN Customer c ON c.SupportRepId = e.EmployeeId LEFT JOIN Invoice i ON i.CustomerId = c.CustomerId GROUP BY e.EmployeeId;

-- title: a subquery for each employee
-- type: sales-per-support-rep
-- verdict: correct
SELECT EmployeeId, (SELECT SUM(Total) FROM Invoice WHERE CustomerId IN (SELECT CustomerId FROM Customer WHERE SupportRepId = Employee.EmployeeId)) FROM Employee;

-- title: nothing sold is 0, not NULL
-- type: sales-per-support-rep
-- verdict: wrong
SELECT e.EmployeeId, COALESCE(SUM(i.Total), 0) FROM Employee e LEFT JOIN Customer c ON c.SupportRepId = e.EmployeeId LEFT JOIN Invoice i ON i.CustomerId = c.CustomerId GROUP BY e.EmployeeId;

-- title: employees without customers dropped
-- type: sales-per-support-rep
-- verdict: wrong
SELECT e.EmployeeId, SUM(i.Total) FROM Employee e JOIN Customer c ON c.SupportRepId = e.EmployeeId LEFT JOIN Invoice i ON i.CustomerId = c.CustomerId GROUP BY e.EmployeeId;

-- title: equal totals added once
-- type: sales-per-support-rep
-- verdict: wrong
SELECT e.EmployeeId, SUM(DISTINCT i.Total) FROM Employee e LEFT JOIN Customer c ON c.SupportRepId = e.EmployeeId LEFT JOIN Invoice i ON i.CustomerId = c.CustomerId GROUP BY e.EmployeeId;

-- title: tracks above average length
-- type: tracks-above-average-length
-- verdict: reference
SELECT TrackId FROM Track WHERE Milliseconds > (SELECT AVG(Milliseconds) FROM Track);

-- title: the mean in a CTE
-- type: tracks-above-average-length
-- verdict: correct
WITH mean AS (SELECT AVG(Milliseconds) AS ms FROM Track) SELECT TrackId FROM Track CROSS JOIN mean WHERE Milliseconds > mean.ms;

-- title: the mean as a window
-- type: tracks-above-average-length
-- verdict: correct
SELECT TrackId FROM (SELECT TrackId, Milliseconds, AVG(Milliseconds) OVER () AS ms FROM Track) WHERE Milliseconds > ms;

-- title: tracks of exactly the average included
-- type: tracks-above-average-length
-- verdict: wrong
SELECT TrackId FROM Track WHERE Milliseconds >= (SELECT AVG(Milliseconds) FROM Track);

-- title: equal lengths averaged once
-- type: tracks-above-average-length
-- verdict: wrong
SELECT TrackId FROM Track WHERE Milliseconds > (SELECT AVG(DISTINCT Milliseconds) FROM Track);

-- title: the average of the track's own genre
-- type: tracks-above-average-length
-- verdict: wrong
SELECT TrackId FROM Track t WHERE Milliseconds > (SELECT AVG(Milliseconds) FROM Track x WHERE x.GenreId = t.GenreId);

-- title: invoices per year
-- type: invoices-per-year
-- verdict: reference
SELECT strftime('%Y', InvoiceDate) AS year, COUNT(*), SUM(Total) FROM Invoice GROUP BY strftime('%Y', InvoiceDate);

-- title: the year in a subquery
-- type: invoices-per-year
-- verdict: correct
SELECT year, COUNT(InvoiceId), SUM(Total) FROM (SELECT strftime('%Y', InvoiceDate) AS year, InvoiceId, Total FROM Invoice) GROUP BY year;

-- title: a row a year, then a subquery for each
-- type: invoices-per-year
-- verdict: correct
SELECT y.year, (SELECT COUNT(*) FROM Invoice WHERE strftime('%Y', InvoiceDate) IS y.year), (SELECT SUM(Total) FROM Invoice WHERE strftime('%Y', InvoiceDate) IS y.year) FROM (SELECT DISTINCT strftime('%Y', InvoiceDate) AS year FROM Invoice) y;

-- title: customers counted, not invoices
-- type: invoices-per-year
-- verdict: wrong
SELECT strftime('%Y', InvoiceDate) AS year, COUNT(DISTINCT CustomerId), SUM(Total) FROM Invoice GROUP BY strftime('%Y', InvoiceDate);

-- title: the year as a number
-- type: invoices-per-year
-- verdict: wrong
SELECT CAST(strftime('%Y', InvoiceDate) AS INTEGER) AS year, COUNT(*), SUM(Total) FROM Invoice GROUP BY strftime('%Y', InvoiceDate);

-- title: equal totals added once
-- type: invoices-per-year
-- verdict: wrong
SELECT strftime('%Y', InvoiceDate) AS year, COUNT(*), SUM(DISTINCT Total) FROM Invoice GROUP BY strftime('%Y', InvoiceDate);

-- title: invoices of december 2022
-- type: invoices-of-december-2022
-- verdict: reference
SELECT InvoiceId, Total FROM Invoice WHERE InvoiceDate >= '2022-12-01' AND InvoiceDate < '2023-01-01';

-- title: negated comparisons
-- type: invoices-of-december-2022
-- verdict: correct
SELECT InvoiceId, Total FROM Invoice WHERE NOT (InvoiceDate < '2022-12-01' OR InvoiceDate >= '2023-01-01');

-- title: the last day ends at its midnight
-- type: invoices-of-december-2022
-- verdict: wrong
SELECT InvoiceId, Total FROM Invoice WHERE InvoiceDate BETWEEN '2022-12-01' AND '2022-12-31';

-- title: December of every year
-- type: invoices-of-december-2022
-- verdict: wrong
SELECT InvoiceId, Total FROM Invoice WHERE strftime('%m', InvoiceDate) = '12';

-- title: an invoice dated 1 January, without a time, included
-- type: invoices-of-december-2022
-- verdict: wrong
SELECT InvoiceId, Total FROM Invoice WHERE InvoiceDate >= '2022-12-01' AND InvoiceDate <= '2023-01-01';

-- title: employees and managers
-- type: employees-and-managers
-- verdict: reference
SELECT e.LastName, m.LastName FROM Employee e LEFT JOIN Employee m ON m.EmployeeId = e.ReportsTo;

-- title: a subquery for the manager
-- type: employees-and-managers
-- verdict: correct
SELECT LastName, (SELECT m.LastName FROM Employee m WHERE m.EmployeeId = e.ReportsTo) FROM Employee e;

-- title: RIGHT JOIN
-- type: employees-and-managers
-- verdict: correct
SELECT e.LastName, m.LastName FROM Employee m RIGHT JOIN Employee e ON e.ReportsTo = m.EmployeeId;

-- title: who reports to nobody dropped
-- type: employees-and-managers
-- verdict: wrong
SELECT e.LastName, m.LastName FROM Employee e JOIN Employee m ON m.EmployeeId = e.ReportsTo;

-- title: columns swapped
-- type: employees-and-managers
-- verdict: wrong
SELECT m.LastName, e.LastName FROM Employee e LEFT JOIN Employee m ON m.EmployeeId = e.ReportsTo;

-- title: the other way up
-- type: employees-and-managers
-- verdict: wrong
SELECT e.LastName, m.LastName FROM Employee e LEFT JOIN Employee m ON m.ReportsTo = e.EmployeeId;

-- title: share of media types
-- type: share-of-media-types
-- verdict: reference
SELECT m.Name, 100.0 * COUNT(t.TrackId) / (SELECT COUNT(*) FROM Track) FROM MediaType m LEFT JOIN Track t ON t.MediaTypeId = m.MediaTypeId GROUP BY m.MediaTypeId, m.Name;

-- title: correlated count
-- type: share-of-media-types
-- verdict: correct
SELECT m.Name, (SELECT COUNT(*) FROM Track t WHERE t.MediaTypeId = m.MediaTypeId) * 100.0 / (SELECT COUNT(*) FROM Track) FROM MediaType m;

-- title: whole-number division
-- type: share-of-media-types
-- verdict: wrong
SELECT m.Name, 100 * COUNT(t.TrackId) / (SELECT COUNT(*) FROM Track) FROM MediaType m LEFT JOIN Track t ON t.MediaTypeId = m.MediaTypeId GROUP BY m.MediaTypeId, m.Name;

-- title: types without tracks dropped
-- type: share-of-media-types
-- verdict: wrong
SELECT m.Name, 100.0 * COUNT(t.TrackId) / (SELECT COUNT(*) FROM Track) FROM MediaType m JOIN Track t ON t.MediaTypeId = m.MediaTypeId GROUP BY m.MediaTypeId, m.Name;

-- title: a fraction, not a percentage
-- type: share-of-media-types
-- verdict: wrong
SELECT m.Name, 1.0 * COUNT(t.TrackId) / (SELECT COUNT(*) FROM Track) FROM MediaType m LEFT JOIN Track t ON t.MediaTypeId = m.MediaTypeId GROUP BY m.MediaTypeId, m.Name;

-- title: second longest track
-- type: second-longest-track
-- verdict: reference
SELECT MAX(Milliseconds) FROM Track WHERE Milliseconds < (SELECT MAX(Milliseconds) FROM Track);

-- title: the second of the different lengths
-- type: second-longest-track
-- verdict: correct
SELECT (SELECT DISTINCT Milliseconds FROM Track ORDER BY Milliseconds DESC LIMIT 1 OFFSET 1);

-- title: the second row, which a tie makes the longest
-- type: second-longest-track
-- verdict: wrong
SELECT (SELECT Milliseconds FROM Track ORDER BY Milliseconds DESC LIMIT 1 OFFSET 1);

-- title: the longest
-- type: second-longest-track
-- verdict: wrong
SELECT MAX(Milliseconds) FROM Track;

-- title: no row where there is no second length
-- type: second-longest-track
-- verdict: wrong
SELECT DISTINCT Milliseconds FROM Track ORDER BY Milliseconds DESC LIMIT 1 OFFSET 1;

-- title: short playlists
-- type: short-playlists
-- verdict: reference
SELECT p.PlaylistId, p.Name, COUNT(pt.TrackId) FROM Playlist p LEFT JOIN PlaylistTrack pt ON pt.PlaylistId = p.PlaylistId GROUP BY p.PlaylistId, p.Name HAVING COUNT(pt.TrackId) < 3;

-- title: the count in a subquery
-- type: short-playlists
-- verdict: correct
SELECT PlaylistId, Name, n FROM (SELECT PlaylistId, Name, (SELECT COUNT(*) FROM PlaylistTrack pt WHERE pt.PlaylistId = p.PlaylistId) AS n FROM Playlist p) WHERE n <= 2;

-- title: an empty playlist counted as one track
-- type: short-playlists
-- verdict: wrong
SELECT p.PlaylistId, p.Name, COUNT(*) FROM Playlist p LEFT JOIN PlaylistTrack pt ON pt.PlaylistId = p.PlaylistId GROUP BY p.PlaylistId, p.Name HAVING COUNT(*) < 3;

-- title: empty playlists dropped
-- type: short-playlists
-- verdict: wrong
SELECT p.PlaylistId, p.Name, COUNT(pt.TrackId) FROM Playlist p JOIN PlaylistTrack pt ON pt.PlaylistId = p.PlaylistId GROUP BY p.PlaylistId, p.Name HAVING COUNT(pt.TrackId) < 3;

-- title: the boundary itself included
-- type: short-playlists
-- verdict: wrong
SELECT p.PlaylistId, p.Name, COUNT(pt.TrackId) FROM Playlist p LEFT JOIN PlaylistTrack pt ON pt.PlaylistId = p.PlaylistId GROUP BY p.PlaylistId, p.Name HAVING COUNT(pt.TrackId) <= 3;

-- title: unsold tracks
-- type: unsold-tracks
-- verdict: reference
SELECT COUNT(*) FROM Track WHERE TrackId NOT IN (SELECT TrackId FROM InvoiceLine);

-- title: LEFT JOIN that finds nothing
-- type: unsold-tracks
-- verdict: correct
SELECT COUNT(*) FROM Track t LEFT JOIN InvoiceLine l ON l.TrackId = t.TrackId WHERE l.InvoiceLineId IS NULL;

-- title: all tracks less the sold ones
-- type: unsold-tracks
-- verdict: correct
SELECT (SELECT COUNT(*) FROM Track) - (SELECT COUNT(DISTINCT t.TrackId) FROM Track t JOIN InvoiceLine l ON l.TrackId = t.TrackId);

-- title: names counted, not tracks
-- type: unsold-tracks
-- verdict: wrong
SELECT COUNT(DISTINCT Name) FROM Track WHERE TrackId NOT IN (SELECT TrackId FROM InvoiceLine);

-- title: tracks without a composer not counted
-- type: unsold-tracks
-- verdict: wrong
SELECT COUNT(Composer) FROM Track WHERE TrackId NOT IN (SELECT TrackId FROM InvoiceLine);

-- title: a track sold twice taken off twice
-- type: unsold-tracks
-- verdict: wrong
SELECT (SELECT COUNT(*) FROM Track) - (SELECT COUNT(*) FROM InvoiceLine);

-- title: cities of anybody
-- type: cities-of-anybody
-- verdict: reference
SELECT City FROM Customer WHERE City IS NOT NULL UNION SELECT City FROM Employee WHERE City IS NOT NULL;

-- title: DISTINCT over UNION ALL
-- type: cities-of-anybody
-- verdict: correct
SELECT DISTINCT City FROM (SELECT City FROM Customer UNION ALL SELECT City FROM Employee) WHERE City IS NOT NULL;

-- title: repeated cities
-- type: cities-of-anybody
-- verdict: wrong
SELECT City FROM Customer WHERE City IS NOT NULL UNION ALL SELECT City FROM Employee WHERE City IS NOT NULL;

-- title: a missing city listed
-- type: cities-of-anybody
-- verdict: wrong
SELECT City FROM Customer UNION SELECT City FROM Employee;

-- title: only cities with both
-- type: cities-of-anybody
-- verdict: wrong
SELECT City FROM Customer WHERE City IS NOT NULL INTERSECT SELECT City FROM Employee WHERE City IS NOT NULL;

-- title: lengths in classes
-- type: lengths-in-classes
-- verdict: reference
SELECT class, COUNT(*) FROM (SELECT CASE WHEN Milliseconds < 180000 THEN 'short' WHEN Milliseconds <= 300000 THEN 'medium' ELSE 'long' END AS class FROM Track) GROUP BY class;

-- title: branches from the other end
-- type: lengths-in-classes
-- verdict: correct
SELECT CASE WHEN Milliseconds > 300000 THEN 'long' WHEN Milliseconds >= 180000 THEN 'medium' ELSE 'short' END AS class, COUNT(*) FROM Track GROUP BY class;

-- title: a query for each class
-- type: lengths-in-classes
-- verdict: correct
SELECT 'short', COUNT(*) FROM Track WHERE Milliseconds < 180000 GROUP BY 1 UNION ALL SELECT 'medium', COUNT(*) FROM Track WHERE Milliseconds BETWEEN 180000 AND 300000 GROUP BY 1 UNION ALL SELECT 'long', COUNT(*) FROM Track WHERE Milliseconds > 300000 GROUP BY 1;

-- title: three minutes are short
-- type: lengths-in-classes
-- verdict: wrong
SELECT class, COUNT(*) FROM (SELECT CASE WHEN Milliseconds <= 180000 THEN 'short' WHEN Milliseconds <= 300000 THEN 'medium' ELSE 'long' END AS class FROM Track) GROUP BY class;

-- title: five minutes are long
-- type: lengths-in-classes
-- verdict: wrong
SELECT class, COUNT(*) FROM (SELECT CASE WHEN Milliseconds < 180000 THEN 'short' WHEN Milliseconds < 300000 THEN 'medium' ELSE 'long' END AS class FROM Track) GROUP BY class;

-- title: the wider branch first
-- type: lengths-in-classes
-- verdict: wrong
SELECT class, COUNT(*) FROM (SELECT CASE WHEN Milliseconds <= 300000 THEN 'medium' WHEN Milliseconds < 180000 THEN 'short' ELSE 'long' END AS class FROM Track) GROUP BY class;

-- title: tracks about love
-- type: tracks-about-love
-- verdict: reference
SELECT Name FROM Track WHERE Name LIKE '%love%';

-- title: INSTR in small letters
-- type: tracks-about-love
-- verdict: correct
SELECT Name FROM Track WHERE INSTR(LOWER(Name), 'love') > 0;

-- title: only small letters
-- type: tracks-about-love
-- verdict: wrong
SELECT Name FROM Track WHERE Name GLOB '*love*';

-- title: only at the beginning
-- type: tracks-about-love
-- verdict: wrong
SELECT Name FROM Track WHERE Name LIKE 'love%';

-- title: tracks of one name become one row
-- type: tracks-about-love
-- verdict: wrong
SELECT DISTINCT Name FROM Track WHERE Name LIKE '%love%';

-- title: customers with most invoices
-- type: customers-with-most-invoices
-- verdict: reference
SELECT c.CustomerId, c.LastName FROM Customer c JOIN Invoice i ON i.CustomerId = c.CustomerId GROUP BY c.CustomerId, c.LastName HAVING COUNT(*) = (SELECT MAX(n) FROM (SELECT COUNT(*) AS n FROM Invoice GROUP BY CustomerId));

-- title: the counts in a CTE
-- type: customers-with-most-invoices
-- verdict: correct
WITH counts AS (SELECT CustomerId, COUNT(*) AS n FROM Invoice GROUP BY CustomerId) SELECT c.CustomerId, c.LastName FROM counts JOIN Customer c ON c.CustomerId = counts.CustomerId WHERE counts.n = (SELECT MAX(n) FROM counts);

-- title: one of several that tie
-- type: customers-with-most-invoices
-- verdict: wrong
SELECT c.CustomerId, c.LastName FROM Customer c JOIN Invoice i ON i.CustomerId = c.CustomerId GROUP BY c.CustomerId, c.LastName ORDER BY COUNT(*) DESC, c.CustomerId LIMIT 1;

-- title: most lines, not most invoices
-- type: customers-with-most-invoices
-- verdict: wrong
WITH counts AS (SELECT i.CustomerId, COUNT(*) AS n FROM Invoice i JOIN InvoiceLine l ON l.InvoiceId = i.InvoiceId GROUP BY i.CustomerId) SELECT c.CustomerId, c.LastName FROM counts JOIN Customer c ON c.CustomerId = counts.CustomerId WHERE counts.n = (SELECT MAX(n) FROM counts);

-- title: most different totals
-- type: customers-with-most-invoices
-- verdict: wrong
WITH counts AS (SELECT CustomerId, COUNT(DISTINCT Total) AS n FROM Invoice GROUP BY CustomerId) SELECT c.CustomerId, c.LastName FROM counts JOIN Customer c ON c.CustomerId = counts.CustomerId WHERE counts.n = (SELECT MAX(n) FROM counts);

-- title: best selling genres
-- type: best-selling-genres
-- verdict: reference
WITH sold AS (SELECT g.GenreId, g.Name, SUM(l.Quantity) AS units FROM Genre g JOIN Track t ON t.GenreId = g.GenreId JOIN InvoiceLine l ON l.TrackId = t.TrackId GROUP BY g.GenreId, g.Name) SELECT Name, units FROM sold WHERE units = (SELECT MAX(units) FROM sold);

-- title: RANK over the groups
-- type: best-selling-genres
-- verdict: correct
SELECT Name, units FROM (SELECT g.Name, SUM(l.Quantity) AS units, RANK() OVER (ORDER BY SUM(l.Quantity) DESC) AS place FROM InvoiceLine l JOIN Track t ON t.TrackId = l.TrackId JOIN Genre g ON g.GenreId = t.GenreId GROUP BY g.GenreId, g.Name) WHERE place = 1;

-- title: lines counted, quantities not added
-- type: best-selling-genres
-- verdict: wrong
WITH sold AS (SELECT g.GenreId, g.Name, COUNT(*) AS units FROM Genre g JOIN Track t ON t.GenreId = g.GenreId JOIN InvoiceLine l ON l.TrackId = t.TrackId GROUP BY g.GenreId, g.Name) SELECT Name, units FROM sold WHERE units = (SELECT MAX(units) FROM sold);

-- title: genres of one name together
-- type: best-selling-genres
-- verdict: wrong
WITH sold AS (SELECT g.Name, SUM(l.Quantity) AS units FROM Genre g JOIN Track t ON t.GenreId = g.GenreId JOIN InvoiceLine l ON l.TrackId = t.TrackId GROUP BY g.Name) SELECT Name, units FROM sold WHERE units = (SELECT MAX(units) FROM sold);

-- title: one of several that tie
-- type: best-selling-genres
-- verdict: wrong
SELECT g.Name, SUM(l.Quantity) AS units FROM Genre g JOIN Track t ON t.GenreId = g.GenreId JOIN InvoiceLine l ON l.TrackId = t.TrackId GROUP BY g.GenreId, g.Name ORDER BY units DESC, g.GenreId LIMIT 1;

-- title: artists of several genres
-- type: artists-of-several-genres
-- verdict: reference
SELECT ar.Name, COUNT(DISTINCT t.GenreId) FROM Artist ar JOIN Album al ON al.ArtistId = ar.ArtistId JOIN Track t ON t.AlbumId = al.AlbumId GROUP BY ar.ArtistId, ar.Name HAVING COUNT(DISTINCT t.GenreId) > 1;

-- title: distinct pairs, then counted
-- type: artists-of-several-genres
-- verdict: correct
SELECT ar.Name, pairs.n FROM (SELECT ArtistId, COUNT(*) AS n FROM (SELECT DISTINCT al.ArtistId, t.GenreId FROM Album al JOIN Track t ON t.AlbumId = al.AlbumId WHERE t.GenreId IS NOT NULL) GROUP BY ArtistId) pairs JOIN Artist ar ON ar.ArtistId = pairs.ArtistId WHERE pairs.n >= 2;

-- title: tracks counted, not genres
-- type: artists-of-several-genres
-- verdict: wrong
SELECT ar.Name, COUNT(t.GenreId) FROM Artist ar JOIN Album al ON al.ArtistId = ar.ArtistId JOIN Track t ON t.AlbumId = al.AlbumId GROUP BY ar.ArtistId, ar.Name HAVING COUNT(t.GenreId) > 1;

-- title: artists of one name together
-- type: artists-of-several-genres
-- verdict: wrong
SELECT ar.Name, COUNT(DISTINCT t.GenreId) FROM Artist ar JOIN Album al ON al.ArtistId = ar.ArtistId JOIN Track t ON t.AlbumId = al.AlbumId GROUP BY ar.Name HAVING COUNT(DISTINCT t.GenreId) > 1;

-- title: artists of one genre too
-- type: artists-of-several-genres
-- verdict: wrong
SELECT ar.Name, COUNT(DISTINCT t.GenreId) FROM Artist ar JOIN Album al ON al.ArtistId = ar.ArtistId JOIN Track t ON t.AlbumId = al.AlbumId GROUP BY ar.ArtistId, ar.Name HAVING COUNT(DISTINCT t.GenreId) >= 1;

-- title: lines per invoice
-- type: lines-per-invoice
-- verdict: reference
SELECT AVG(n) FROM (SELECT COUNT(l.InvoiceLineId) AS n FROM Invoice i LEFT JOIN InvoiceLine l ON l.InvoiceId = i.InvoiceId GROUP BY i.InvoiceId);

-- title: sum over count
-- type: lines-per-invoice
-- verdict: correct
SELECT 1.0 * SUM((SELECT COUNT(*) FROM InvoiceLine l WHERE l.InvoiceId = i.InvoiceId)) / COUNT(*) FROM Invoice i;

-- title: invoices without lines left out
-- type: lines-per-invoice
-- verdict: wrong
SELECT 1.0 * COUNT(*) / COUNT(DISTINCT InvoiceId) FROM InvoiceLine;

-- title: whole-number division
-- type: lines-per-invoice
-- verdict: wrong
SELECT SUM((SELECT COUNT(*) FROM InvoiceLine l WHERE l.InvoiceId = i.InvoiceId)) / COUNT(*) FROM Invoice i;

-- title: an invoice without lines counted as one line
-- type: lines-per-invoice
-- verdict: wrong
SELECT AVG(n) FROM (SELECT COUNT(*) AS n FROM Invoice i LEFT JOIN InvoiceLine l ON l.InvoiceId = i.InvoiceId GROUP BY i.InvoiceId);

-- title: customers without invoice in 2025
-- type: customers-without-invoice-in-2025
-- verdict: reference
SELECT CustomerId, Email FROM Customer c WHERE NOT EXISTS (SELECT 1 FROM Invoice i WHERE i.CustomerId = c.CustomerId AND strftime('%Y', i.InvoiceDate) = '2025');

-- title: LEFT JOIN that finds nothing
-- type: customers-without-invoice-in-2025
-- verdict: correct
SELECT c.CustomerId, c.Email FROM Customer c LEFT JOIN Invoice i ON i.CustomerId = c.CustomerId AND strftime('%Y', i.InvoiceDate) = '2025' WHERE i.InvoiceId IS NULL;

-- title: EXCEPT with the key
-- type: customers-without-invoice-in-2025
-- verdict: correct
SELECT CustomerId, Email FROM Customer EXCEPT SELECT c.CustomerId, c.Email FROM Customer c JOIN Invoice i ON i.CustomerId = c.CustomerId WHERE strftime('%Y', i.InvoiceDate) = '2025';

-- title: customers with an invoice of another year
-- type: customers-without-invoice-in-2025
-- verdict: wrong
SELECT CustomerId, Email FROM Customer c WHERE EXISTS (SELECT 1 FROM Invoice i WHERE i.CustomerId = c.CustomerId AND strftime('%Y', i.InvoiceDate) <> '2025');

-- title: customers without any invoice
-- type: customers-without-invoice-in-2025
-- verdict: wrong
SELECT CustomerId, Email FROM Customer c WHERE NOT EXISTS (SELECT 1 FROM Invoice i WHERE i.CustomerId = c.CustomerId);

-- title: the year after the join, a row for every other invoice
-- type: customers-without-invoice-in-2025
-- verdict: wrong
SELECT c.CustomerId, c.Email FROM Customer c LEFT JOIN Invoice i ON i.CustomerId = c.CustomerId WHERE i.InvoiceId IS NULL OR strftime('%Y', i.InvoiceDate) <> '2025';

-- title: first invoice of customers
-- type: first-invoice-of-customers
-- verdict: reference
SELECT c.CustomerId, MIN(i.InvoiceDate) FROM Customer c LEFT JOIN Invoice i ON i.CustomerId = c.CustomerId GROUP BY c.CustomerId;

-- title: a subquery for each customer
-- type: first-invoice-of-customers
-- verdict: correct
SELECT CustomerId, (SELECT MIN(InvoiceDate) FROM Invoice i WHERE i.CustomerId = c.CustomerId) FROM Customer c;

-- title: customers without an invoice dropped
-- type: first-invoice-of-customers
-- verdict: wrong
SELECT CustomerId, MIN(InvoiceDate) FROM Invoice GROUP BY CustomerId;

-- title: the last
-- type: first-invoice-of-customers
-- verdict: wrong
SELECT c.CustomerId, MAX(i.InvoiceDate) FROM Customer c LEFT JOIN Invoice i ON i.CustomerId = c.CustomerId GROUP BY c.CustomerId;

-- title: the time of day cut off
-- type: first-invoice-of-customers
-- verdict: wrong
SELECT c.CustomerId, MIN(date(i.InvoiceDate)) FROM Customer c LEFT JOIN Invoice i ON i.CustomerId = c.CustomerId GROUP BY c.CustomerId;

-- title: customers of one city
-- type: customers-of-one-city
-- verdict: reference
SELECT a.CustomerId, b.CustomerId FROM Customer a JOIN Customer b ON a.City = b.City AND a.CustomerId < b.CustomerId;

-- title: a comma join
-- type: customers-of-one-city
-- verdict: correct
SELECT a.CustomerId, b.CustomerId FROM Customer b, Customer a WHERE b.CustomerId > a.CustomerId AND b.City = a.City;

-- title: each pair both ways
-- type: customers-of-one-city
-- verdict: wrong
SELECT a.CustomerId, b.CustomerId FROM Customer a JOIN Customer b ON a.City = b.City AND a.CustomerId <> b.CustomerId;

-- title: customers without a city paired
-- type: customers-of-one-city
-- verdict: wrong
SELECT a.CustomerId, b.CustomerId FROM Customer a JOIN Customer b ON a.City IS b.City AND a.CustomerId < b.CustomerId;

-- title: everybody paired with himself
-- type: customers-of-one-city
-- verdict: wrong
SELECT a.CustomerId, b.CustomerId FROM Customer a JOIN Customer b ON a.City = b.City AND a.CustomerId <= b.CustomerId;

-- title: playlists with the whole album
-- type: playlists-with-the-whole-album
-- verdict: reference
SELECT PlaylistId FROM Playlist p WHERE NOT EXISTS (SELECT 1 FROM Track t WHERE t.AlbumId = 4 AND NOT EXISTS (SELECT 1 FROM PlaylistTrack pt WHERE pt.PlaylistId = p.PlaylistId AND pt.TrackId = t.TrackId));

-- title: as many of its tracks as it has
-- type: playlists-with-the-whole-album
-- verdict: correct
SELECT PlaylistId FROM Playlist p WHERE (SELECT COUNT(*) FROM PlaylistTrack pt JOIN Track t ON t.TrackId = pt.TrackId WHERE pt.PlaylistId = p.PlaylistId AND t.AlbumId = 4) = (SELECT COUNT(*) FROM Track WHERE AlbumId = 4);

-- title: one of its tracks is enough
-- type: playlists-with-the-whole-album
-- verdict: wrong
SELECT DISTINCT pt.PlaylistId FROM PlaylistTrack pt JOIN Track t ON t.TrackId = pt.TrackId WHERE t.AlbumId = 4;

-- title: as many tracks as the album has, whichever
-- type: playlists-with-the-whole-album
-- verdict: wrong
SELECT PlaylistId FROM Playlist p WHERE (SELECT COUNT(*) FROM PlaylistTrack pt WHERE pt.PlaylistId = p.PlaylistId) >= (SELECT COUNT(*) FROM Track WHERE AlbumId = 4);

-- title: no other track is on the playlist
-- type: playlists-with-the-whole-album
-- verdict: wrong
SELECT PlaylistId FROM Playlist p WHERE NOT EXISTS (SELECT 1 FROM PlaylistTrack pt JOIN Track t ON t.TrackId = pt.TrackId WHERE pt.PlaylistId = p.PlaylistId AND t.AlbumId IS NOT 4);
