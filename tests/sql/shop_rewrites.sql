-- Rewrites of the shop types' references, as people and models write them. The reference is the type's own.
-- Each block: title, type, verdict (wrong must be refused, correct accepted, for every question drawn), submission.

-- title: two customers of one name become one row
-- type: customers-in-city
-- verdict: wrong
SELECT DISTINCT name FROM customers WHERE city = :city;

-- title: grouped by name
-- type: customers-in-city
-- verdict: wrong
SELECT name FROM customers WHERE city = :city GROUP BY name;

-- title: a column more than asked
-- type: customers-in-city
-- verdict: wrong
SELECT name, city FROM customers WHERE city = :city;

-- title: the whole country of the city
-- type: customers-in-city
-- verdict: wrong
SELECT name FROM customers WHERE country IN (SELECT country FROM customers WHERE city = :city);

-- title: customers without orders dropped
-- type: customers-in-city
-- verdict: wrong
SELECT name FROM customers WHERE city = :city AND id IN (SELECT customer_id FROM orders);

-- title: namesakes in other cities too
-- type: customers-in-city
-- verdict: wrong
SELECT name FROM customers WHERE name IN (SELECT name FROM customers WHERE city = :city);

-- title: IN instead of a comparison
-- type: customers-in-city
-- verdict: correct
SELECT name FROM customers WHERE id IN (SELECT id FROM customers WHERE city = :city);

-- title: another row order
-- type: customers-in-city
-- verdict: correct
SELECT name FROM customers WHERE city = :city ORDER BY name DESC;

-- title: the threshold itself included
-- type: cheap-products
-- verdict: wrong
SELECT name, price FROM products WHERE price <= :price;

-- title: columns swapped
-- type: cheap-products
-- verdict: wrong
SELECT price, name FROM products WHERE price < :price;

-- title: the price forgotten
-- type: cheap-products
-- verdict: wrong
SELECT name FROM products WHERE price < :price;

-- title: prices rounded before they are compared
-- type: cheap-products
-- verdict: wrong
SELECT name, price FROM products WHERE ROUND(price) < :price;

-- title: products without a category dropped
-- type: cheap-products
-- verdict: wrong
SELECT name, price FROM products WHERE price < :price AND category IS NOT NULL;

-- title: two products of one name and price become one row
-- type: cheap-products
-- verdict: wrong
SELECT DISTINCT name, price FROM products WHERE price < :price;

-- title: only products that were sold
-- type: cheap-products
-- verdict: wrong
SELECT name, price FROM products WHERE price < :price AND id IN (SELECT product_id FROM order_items);

-- title: negated comparison
-- type: cheap-products
-- verdict: correct
SELECT name, price FROM products WHERE NOT price >= :price;

-- title: customers without an email not counted
-- type: signups-in-year
-- verdict: wrong
SELECT COUNT(email) FROM customers WHERE strftime('%Y', signup_date) = :year;

-- title: 1 January lost
-- type: signups-in-year
-- verdict: wrong
SELECT COUNT(*) FROM customers WHERE signup_date > :year || '-01-01' AND signup_date <= :year || '-12-31';

-- title: 31 December lost
-- type: signups-in-year
-- verdict: wrong
SELECT COUNT(*) FROM customers WHERE signup_date >= :year || '-01-01' AND signup_date < :year || '-12-31';

-- title: later years counted too
-- type: signups-in-year
-- verdict: wrong
SELECT COUNT(*) FROM customers WHERE strftime('%Y', signup_date) >= :year;

-- title: names counted, not customers
-- type: signups-in-year
-- verdict: wrong
SELECT COUNT(DISTINCT name) FROM customers WHERE strftime('%Y', signup_date) = :year;

-- title: days counted, not customers
-- type: signups-in-year
-- verdict: wrong
SELECT COUNT(DISTINCT signup_date) FROM customers WHERE strftime('%Y', signup_date) = :year;

-- title: customers without a country not counted
-- type: signups-in-year
-- verdict: wrong
SELECT COUNT(country) FROM customers WHERE strftime('%Y', signup_date) = :year;

-- title: BETWEEN two dates, the last evening of the year lost
-- type: signups-in-year
-- verdict: wrong
SELECT COUNT(*) FROM customers WHERE signup_date BETWEEN :year || '-01-01' AND :year || '-12-31';

-- title: from the first day until before that of the next year
-- type: signups-in-year
-- verdict: correct
SELECT COUNT(*) FROM customers WHERE signup_date >= :year || '-01-01' AND signup_date < (:year + 1) || '-01-01';

-- title: BETWEEN two days
-- type: signups-in-year
-- verdict: correct
SELECT COUNT(*) FROM customers WHERE date(signup_date) BETWEEN :year || '-01-01' AND :year || '-12-31';

-- title: the year as a prefix
-- type: signups-in-year
-- verdict: correct
SELECT COUNT(id) FROM customers WHERE signup_date LIKE :year || '-%';

-- title: products exactly at the minimum left out
-- type: average-price-by-category
-- verdict: wrong
SELECT category, AVG(price) FROM products WHERE price > :price GROUP BY category;

-- title: the minimum applied to the average
-- type: average-price-by-category
-- verdict: wrong
SELECT category, AVG(price) FROM products GROUP BY category HAVING AVG(price) >= :price;

-- title: columns swapped
-- type: average-price-by-category
-- verdict: wrong
SELECT AVG(price), category FROM products WHERE price >= :price GROUP BY category;

-- title: products without a category dropped
-- type: average-price-by-category
-- verdict: wrong
SELECT category, AVG(price) FROM products WHERE price >= :price AND category IS NOT NULL GROUP BY category;

-- title: equal prices averaged once
-- type: average-price-by-category
-- verdict: wrong
SELECT category, AVG(DISTINCT price) FROM products WHERE price >= :price GROUP BY category;

-- title: the minimum applied to the lowest price
-- type: average-price-by-category
-- verdict: wrong
SELECT category, AVG(price) FROM products GROUP BY category HAVING MIN(price) >= :price;

-- title: only products that were sold
-- type: average-price-by-category
-- verdict: wrong
SELECT category, AVG(price) FROM products WHERE price >= :price AND id IN (SELECT product_id FROM order_items) GROUP BY category;

-- title: sum over count
-- type: average-price-by-category
-- verdict: correct
SELECT category, SUM(price) / COUNT(price) FROM products WHERE price >= :price GROUP BY category;

-- title: filter in a CTE
-- type: average-price-by-category
-- verdict: correct
WITH dear AS (SELECT * FROM products WHERE price >= :price) SELECT category, AVG(price) FROM dear GROUP BY category;

-- title: the minimum itself included
-- type: frequent-customers
-- verdict: wrong
SELECT customers.name FROM orders JOIN customers ON customers.id = orders.customer_id GROUP BY customers.id HAVING COUNT(*) >= :minimum;

-- title: grouped by name
-- type: frequent-customers
-- verdict: wrong
SELECT customers.name FROM orders JOIN customers ON customers.id = orders.customer_id GROUP BY customers.name HAVING COUNT(*) > :minimum;

-- title: cancelled orders not counted
-- type: frequent-customers
-- verdict: wrong
SELECT customers.name FROM orders JOIN customers ON customers.id = orders.customer_id WHERE orders.status <> 'cancelled' GROUP BY customers.id HAVING COUNT(*) > :minimum;

-- title: order items counted as orders
-- type: frequent-customers
-- verdict: wrong
SELECT customers.name FROM orders JOIN customers ON customers.id = orders.customer_id JOIN order_items ON order_items.order_id = orders.id GROUP BY customers.id HAVING COUNT(*) > :minimum;

-- title: two customers of one name become one row
-- type: frequent-customers
-- verdict: wrong
SELECT DISTINCT customers.name FROM orders JOIN customers ON customers.id = orders.customer_id GROUP BY customers.id HAVING COUNT(*) > :minimum;

-- title: days counted, not orders
-- type: frequent-customers
-- verdict: wrong
SELECT customers.name FROM orders JOIN customers ON customers.id = orders.customer_id GROUP BY customers.id HAVING COUNT(DISTINCT orders.order_date) > :minimum;

-- title: orders without items dropped
-- type: frequent-customers
-- verdict: wrong
SELECT customers.name FROM orders JOIN customers ON customers.id = orders.customer_id JOIN order_items ON order_items.order_id = orders.id GROUP BY customers.id HAVING COUNT(DISTINCT orders.id) > :minimum;

-- title: correlated count
-- type: frequent-customers
-- verdict: correct
SELECT name FROM customers WHERE (SELECT COUNT(*) FROM orders WHERE customer_id = customers.id) > :minimum;

-- title: IN with a grouped subquery
-- type: frequent-customers
-- verdict: correct
SELECT name FROM customers WHERE id IN (SELECT customer_id FROM orders GROUP BY customer_id HAVING COUNT(*) > :minimum);

-- title: one of several that tie
-- type: top-spenders
-- verdict: wrong
SELECT customers.name FROM orders JOIN customers ON customers.id = orders.customer_id JOIN order_items ON order_items.order_id = orders.id WHERE customers.country = :country GROUP BY customers.id ORDER BY SUM(order_items.quantity * order_items.unit_price) DESC LIMIT 1;

-- title: grouped by name
-- type: top-spenders
-- verdict: wrong
WITH spent AS (SELECT customers.name, SUM(order_items.quantity * order_items.unit_price) AS total FROM orders JOIN customers ON customers.id = orders.customer_id JOIN order_items ON order_items.order_id = orders.id WHERE customers.country = :country GROUP BY customers.name) SELECT name FROM spent WHERE total = (SELECT MAX(total) FROM spent);

-- title: one row for customers of one name
-- type: top-spenders
-- verdict: wrong
WITH spent AS (SELECT customers.name, SUM(order_items.quantity * order_items.unit_price) AS total FROM orders JOIN customers ON customers.id = orders.customer_id JOIN order_items ON order_items.order_id = orders.id WHERE customers.country = :country GROUP BY customers.id) SELECT DISTINCT name FROM spent WHERE total = (SELECT MAX(total) FROM spent);

-- title: cancelled orders left out
-- type: top-spenders
-- verdict: wrong
WITH spent AS (SELECT customers.name, SUM(order_items.quantity * order_items.unit_price) AS total FROM orders JOIN customers ON customers.id = orders.customer_id JOIN order_items ON order_items.order_id = orders.id WHERE customers.country = :country AND orders.status <> 'cancelled' GROUP BY customers.id) SELECT name FROM spent WHERE total = (SELECT MAX(total) FROM spent);

-- title: quantities forgotten
-- type: top-spenders
-- verdict: wrong
WITH spent AS (SELECT customers.name, SUM(order_items.unit_price) AS total FROM orders JOIN customers ON customers.id = orders.customer_id JOIN order_items ON order_items.order_id = orders.id WHERE customers.country = :country GROUP BY customers.id) SELECT name FROM spent WHERE total = (SELECT MAX(total) FROM spent);

-- title: only the largest order of each
-- type: top-spenders
-- verdict: wrong
WITH sums AS (SELECT orders.customer_id, SUM(quantity * unit_price) AS total FROM orders JOIN order_items ON order_items.order_id = orders.id GROUP BY orders.id), spent AS (SELECT customers.name, MAX(total) AS total FROM sums JOIN customers ON customers.id = sums.customer_id WHERE customers.country = :country GROUP BY customers.id) SELECT name FROM spent WHERE total = (SELECT MAX(total) FROM spent);

-- title: most orders, not most spent
-- type: top-spenders
-- verdict: wrong
WITH spent AS (SELECT customers.name, COUNT(*) AS total FROM orders JOIN customers ON customers.id = orders.customer_id WHERE customers.country = :country GROUP BY customers.id) SELECT name FROM spent WHERE total = (SELECT MAX(total) FROM spent);

-- title: most pieces, not most spent
-- type: top-spenders
-- verdict: wrong
WITH spent AS (SELECT customers.name, SUM(order_items.quantity) AS total FROM orders JOIN customers ON customers.id = orders.customer_id JOIN order_items ON order_items.order_id = orders.id WHERE customers.country = :country GROUP BY customers.id) SELECT name FROM spent WHERE total = (SELECT MAX(total) FROM spent);

-- title: RANK, which ranks those whose total is unknown too
-- type: top-spenders
-- verdict: wrong
SELECT name FROM (SELECT customers.name, RANK() OVER (ORDER BY SUM(order_items.quantity * order_items.unit_price) DESC) AS place FROM orders JOIN customers ON customers.id = orders.customer_id JOIN order_items ON order_items.order_id = orders.id WHERE customers.country = :country GROUP BY customers.id) WHERE place = 1;

-- title: RANK of known totals
-- type: top-spenders
-- verdict: correct
SELECT name FROM (SELECT customers.name, RANK() OVER (ORDER BY SUM(order_items.quantity * order_items.unit_price) DESC) AS place FROM orders JOIN customers ON customers.id = orders.customer_id JOIN order_items ON order_items.order_id = orders.id WHERE customers.country = :country GROUP BY customers.id HAVING SUM(order_items.quantity * order_items.unit_price) IS NOT NULL) WHERE place = 1;

-- title: 0 for those whose total is unknown
-- type: top-spenders
-- verdict: wrong
WITH spent AS (SELECT customers.name, TOTAL(order_items.quantity * order_items.unit_price) AS total FROM orders JOIN customers ON customers.id = orders.customer_id JOIN order_items ON order_items.order_id = orders.id WHERE customers.country = :country GROUP BY customers.id) SELECT name FROM spent WHERE total = (SELECT MAX(total) FROM spent);

-- title: customers counted, not orders
-- type: orders-by-status-in-year
-- verdict: wrong
SELECT status, COUNT(DISTINCT customer_id) FROM orders WHERE strftime('%Y', order_date) = :year GROUP BY status;

-- title: orders without a status dropped
-- type: orders-by-status-in-year
-- verdict: wrong
SELECT status, COUNT(status) FROM orders WHERE strftime('%Y', order_date) = :year AND status IS NOT NULL GROUP BY status;

-- title: columns swapped
-- type: orders-by-status-in-year
-- verdict: wrong
SELECT COUNT(*), status FROM orders WHERE strftime('%Y', order_date) = :year GROUP BY status;

-- title: 31 December lost
-- type: orders-by-status-in-year
-- verdict: wrong
SELECT status, COUNT(*) FROM orders WHERE order_date >= :year || '-01-01' AND order_date < :year || '-12-31' GROUP BY status;

-- title: all years
-- type: orders-by-status-in-year
-- verdict: wrong
SELECT status, COUNT(*) FROM orders GROUP BY status;

-- title: orders without a customer dropped
-- type: orders-by-status-in-year
-- verdict: wrong
SELECT status, COUNT(*) FROM orders JOIN customers ON customers.id = orders.customer_id WHERE strftime('%Y', order_date) = :year GROUP BY status;

-- title: orders without items dropped
-- type: orders-by-status-in-year
-- verdict: wrong
SELECT status, COUNT(DISTINCT orders.id) FROM orders JOIN order_items ON order_items.order_id = orders.id WHERE strftime('%Y', order_date) = :year GROUP BY status;

-- title: substr
-- type: orders-by-status-in-year
-- verdict: correct
SELECT status, COUNT(id) FROM orders WHERE substr(order_date, 1, 4) = :year GROUP BY status;

-- title: the month as a number
-- type: orders-by-month
-- verdict: wrong
SELECT CAST(strftime('%m', order_date) AS INTEGER) AS month, COUNT(*) FROM orders WHERE strftime('%Y', order_date) = :year GROUP BY month;

-- title: the same month of every year
-- type: orders-by-month
-- verdict: wrong
SELECT strftime('%m', order_date) AS month, COUNT(*) FROM orders GROUP BY month;

-- title: cancelled orders left out
-- type: orders-by-month
-- verdict: wrong
SELECT strftime('%m', order_date) AS month, COUNT(*) FROM orders WHERE strftime('%Y', order_date) = :year AND status <> 'cancelled' GROUP BY month;

-- title: customers counted, not orders
-- type: orders-by-month
-- verdict: wrong
SELECT strftime('%m', order_date) AS month, COUNT(DISTINCT customer_id) FROM orders WHERE strftime('%Y', order_date) = :year GROUP BY month;

-- title: orders without a customer dropped
-- type: orders-by-month
-- verdict: wrong
SELECT strftime('%m', order_date) AS month, COUNT(*) FROM orders JOIN customers ON customers.id = orders.customer_id WHERE strftime('%Y', order_date) = :year GROUP BY month;

-- title: orders without a status dropped
-- type: orders-by-month
-- verdict: wrong
SELECT strftime('%m', order_date) AS month, COUNT(status) FROM orders WHERE strftime('%Y', order_date) = :year GROUP BY month;

-- title: 31 December lost
-- type: orders-by-month
-- verdict: wrong
SELECT strftime('%m', order_date) AS month, COUNT(*) FROM orders WHERE order_date >= :year || '-01-01' AND order_date < :year || '-12-31' GROUP BY month;

-- title: substr
-- type: orders-by-month
-- verdict: correct
SELECT substr(order_date, 6, 2), COUNT(*) FROM orders WHERE order_date LIKE :year || '-%' GROUP BY substr(order_date, 6, 2);

-- title: NOT IN a list that holds NULL
-- type: customers-without-orders
-- verdict: wrong
SELECT name FROM customers WHERE country = :country AND id NOT IN (SELECT customer_id FROM orders);

-- title: a cancelled order does not count
-- type: customers-without-orders
-- verdict: wrong
SELECT name FROM customers WHERE country = :country AND NOT EXISTS (SELECT 1 FROM orders WHERE customer_id = customers.id AND status <> 'cancelled');

-- title: two customers of one name become one row
-- type: customers-without-orders
-- verdict: wrong
SELECT DISTINCT name FROM customers WHERE country = :country AND NOT EXISTS (SELECT 1 FROM orders WHERE customer_id = customers.id);

-- title: an inner join has nobody without orders
-- type: customers-without-orders
-- verdict: wrong
SELECT customers.name FROM orders JOIN customers ON customers.id = orders.customer_id WHERE customers.country = :country GROUP BY customers.id HAVING COUNT(orders.id) = 0;

-- title: every country
-- type: customers-without-orders
-- verdict: wrong
SELECT name FROM customers WHERE NOT EXISTS (SELECT 1 FROM orders WHERE customer_id = customers.id);

-- title: an order without items does not count
-- type: customers-without-orders
-- verdict: wrong
SELECT name FROM customers WHERE country = :country AND id NOT IN (SELECT customer_id FROM orders JOIN order_items ON order_items.order_id = orders.id WHERE customer_id IS NOT NULL);

-- title: compared by name
-- type: customers-without-orders
-- verdict: wrong
SELECT name FROM customers WHERE country = :country AND name NOT IN (SELECT customers.name FROM orders JOIN customers ON customers.id = orders.customer_id);

-- title: LEFT JOIN and IS NULL
-- type: customers-without-orders
-- verdict: correct
SELECT customers.name FROM customers LEFT JOIN orders ON orders.customer_id = customers.id WHERE customers.country = :country AND orders.id IS NULL;

-- title: NOT IN without NULL
-- type: customers-without-orders
-- verdict: correct
SELECT name FROM customers WHERE country = :country AND id NOT IN (SELECT customer_id FROM orders WHERE customer_id IS NOT NULL);

-- title: NOT IN a list that holds NULL
-- type: products-never-sold
-- verdict: wrong
SELECT name FROM products WHERE category = :category AND id NOT IN (SELECT product_id FROM order_items);

-- title: a cancelled order does not count
-- type: products-never-sold
-- verdict: wrong
SELECT name FROM products WHERE category = :category AND NOT EXISTS (SELECT 1 FROM order_items JOIN orders ON orders.id = order_items.order_id WHERE product_id = products.id AND status <> 'cancelled');

-- title: compared by name
-- type: products-never-sold
-- verdict: wrong
SELECT name FROM products WHERE category = :category AND name NOT IN (SELECT products.name FROM order_items JOIN products ON products.id = order_items.product_id);

-- title: every category
-- type: products-never-sold
-- verdict: wrong
SELECT name FROM products WHERE NOT EXISTS (SELECT 1 FROM order_items WHERE product_id = products.id);

-- title: two products of one name become one row
-- type: products-never-sold
-- verdict: wrong
SELECT DISTINCT name FROM products WHERE category = :category AND NOT EXISTS (SELECT 1 FROM order_items WHERE product_id = products.id);

-- title: LEFT JOIN and IS NULL
-- type: products-never-sold
-- verdict: correct
SELECT products.name FROM products LEFT JOIN order_items ON order_items.product_id = products.id WHERE products.category = :category AND order_items.id IS NULL;

-- title: cancelled orders included
-- type: category-revenue
-- verdict: wrong
SELECT SUM(order_items.quantity * order_items.unit_price) FROM order_items JOIN products ON products.id = order_items.product_id WHERE products.category = :category;

-- title: orders without a status included
-- type: category-revenue
-- verdict: wrong
SELECT SUM(order_items.quantity * order_items.unit_price) FROM orders JOIN order_items ON order_items.order_id = orders.id JOIN products ON products.id = order_items.product_id WHERE products.category = :category AND orders.status IS NOT 'cancelled';

-- title: quantities forgotten
-- type: category-revenue
-- verdict: wrong
SELECT SUM(order_items.unit_price) FROM orders JOIN order_items ON order_items.order_id = orders.id JOIN products ON products.id = order_items.product_id WHERE products.category = :category AND orders.status <> 'cancelled';

-- title: today's price instead of the price paid
-- type: category-revenue
-- verdict: wrong
SELECT SUM(order_items.quantity * products.price) FROM orders JOIN order_items ON order_items.order_id = orders.id JOIN products ON products.id = order_items.product_id WHERE products.category = :category AND orders.status <> 'cancelled';

-- title: only delivered orders
-- type: category-revenue
-- verdict: wrong
SELECT SUM(order_items.quantity * order_items.unit_price) FROM orders JOIN order_items ON order_items.order_id = orders.id JOIN products ON products.id = order_items.product_id WHERE products.category = :category AND orders.status = 'delivered';

-- title: orders without a customer dropped
-- type: category-revenue
-- verdict: wrong
SELECT SUM(order_items.quantity * order_items.unit_price) FROM orders JOIN customers ON customers.id = orders.customer_id JOIN order_items ON order_items.order_id = orders.id JOIN products ON products.id = order_items.product_id WHERE products.category = :category AND orders.status <> 'cancelled';

-- title: equal amounts added once
-- type: category-revenue
-- verdict: wrong
SELECT SUM(DISTINCT order_items.quantity * order_items.unit_price) FROM orders JOIN order_items ON order_items.order_id = orders.id JOIN products ON products.id = order_items.product_id WHERE products.category = :category AND orders.status <> 'cancelled';

-- title: IN instead of joins
-- type: category-revenue
-- verdict: correct
SELECT SUM(quantity * unit_price) FROM order_items WHERE product_id IN (SELECT id FROM products WHERE category = :category) AND order_id IN (SELECT id FROM orders WHERE status <> 'cancelled');

-- title: customers counted, not orders
-- type: orders-from-city
-- verdict: wrong
SELECT COUNT(DISTINCT customers.id) FROM orders JOIN customers ON customers.id = orders.customer_id WHERE customers.city = :city;

-- title: customers without orders counted once
-- type: orders-from-city
-- verdict: wrong
SELECT COUNT(*) FROM customers LEFT JOIN orders ON orders.customer_id = customers.id WHERE customers.city = :city;

-- title: cancelled orders left out
-- type: orders-from-city
-- verdict: wrong
SELECT COUNT(*) FROM orders JOIN customers ON customers.id = orders.customer_id WHERE customers.city = :city AND orders.status <> 'cancelled';

-- title: order items counted as orders
-- type: orders-from-city
-- verdict: wrong
SELECT COUNT(*) FROM orders JOIN customers ON customers.id = orders.customer_id JOIN order_items ON order_items.order_id = orders.id WHERE customers.city = :city;

-- title: orders without items dropped
-- type: orders-from-city
-- verdict: wrong
SELECT COUNT(DISTINCT orders.id) FROM orders JOIN customers ON customers.id = orders.customer_id JOIN order_items ON order_items.order_id = orders.id WHERE customers.city = :city;

-- title: IN instead of a join
-- type: orders-from-city
-- verdict: correct
SELECT COUNT(*) FROM orders WHERE customer_id IN (SELECT id FROM customers WHERE city = :city);

-- title: a row a product
-- type: categories-with-cheap-products
-- verdict: wrong
SELECT category FROM products WHERE price < :price AND category IS NOT NULL;

-- title: a missing category listed
-- type: categories-with-cheap-products
-- verdict: wrong
SELECT DISTINCT category FROM products WHERE price < :price;

-- title: only categories that are cheap throughout
-- type: categories-with-cheap-products
-- verdict: wrong
SELECT category FROM products WHERE category IS NOT NULL GROUP BY category HAVING MAX(price) < :price;

-- title: distinct pairs of category and price
-- type: categories-with-cheap-products
-- verdict: wrong
SELECT DISTINCT category, price FROM products WHERE price < :price AND category IS NOT NULL;

-- title: the threshold itself included
-- type: categories-with-cheap-products
-- verdict: wrong
SELECT DISTINCT category FROM products WHERE price <= :price AND category IS NOT NULL;

-- title: cheap on average
-- type: categories-with-cheap-products
-- verdict: wrong
SELECT category FROM products WHERE category IS NOT NULL GROUP BY category HAVING AVG(price) < :price;

-- title: GROUP BY instead of DISTINCT
-- type: categories-with-cheap-products
-- verdict: correct
SELECT category FROM products WHERE price < :price AND category IS NOT NULL GROUP BY category;

-- title: the cheapest of each category
-- type: categories-with-cheap-products
-- verdict: correct
SELECT category FROM products WHERE category IS NOT NULL GROUP BY category HAVING MIN(price) < :price;

-- title: one of several that tie
-- type: dearest-in-category
-- verdict: wrong
SELECT name FROM products WHERE category = :category ORDER BY price DESC LIMIT 1;

-- title: the highest price of all categories
-- type: dearest-in-category
-- verdict: wrong
SELECT name FROM products WHERE category = :category AND price = (SELECT MAX(price) FROM products);

-- title: products of other categories at that price
-- type: dearest-in-category
-- verdict: wrong
SELECT name FROM products WHERE price = (SELECT MAX(price) FROM products WHERE category = :category);

-- title: the cheapest
-- type: dearest-in-category
-- verdict: wrong
SELECT name FROM products WHERE category = :category AND price = (SELECT MIN(price) FROM products WHERE category = :category);

-- title: two products of one name become one row
-- type: dearest-in-category
-- verdict: wrong
SELECT DISTINCT name FROM products WHERE category = :category AND price = (SELECT MAX(price) FROM products WHERE category = :category);

-- title: grouped by name
-- type: dearest-in-category
-- verdict: wrong
SELECT name FROM products WHERE category = :category GROUP BY name HAVING MAX(price) = (SELECT MAX(price) FROM products WHERE category = :category);

-- title: no dearer product
-- type: dearest-in-category
-- verdict: correct
SELECT name FROM products WHERE category = :category AND price IS NOT NULL AND NOT EXISTS (SELECT 1 FROM products AS dearer WHERE dearer.category = :category AND dearer.price > products.price);

-- title: RANK
-- type: dearest-in-category
-- verdict: correct
SELECT name FROM (SELECT name, RANK() OVER (ORDER BY price DESC) AS place FROM products WHERE category = :category) WHERE place = 1;

-- title: a row an order
-- type: customers-with-order-status
-- verdict: wrong
SELECT customers.name FROM orders JOIN customers ON customers.id = orders.customer_id WHERE customers.country = :country AND orders.status = :status;

-- title: two customers of one name become one row
-- type: customers-with-order-status
-- verdict: wrong
SELECT DISTINCT customers.name FROM orders JOIN customers ON customers.id = orders.customer_id WHERE customers.country = :country AND orders.status = :status;

-- title: only customers whose every order has the status
-- type: customers-with-order-status
-- verdict: wrong
SELECT name FROM customers WHERE country = :country AND id IN (SELECT customer_id FROM orders WHERE status = :status) AND id NOT IN (SELECT customer_id FROM orders WHERE customer_id IS NOT NULL AND status <> :status);

-- title: every status but this one
-- type: customers-with-order-status
-- verdict: wrong
SELECT name FROM customers WHERE country = :country AND id IN (SELECT customer_id FROM orders WHERE status <> :status);

-- title: orders without items dropped
-- type: customers-with-order-status
-- verdict: wrong
SELECT name FROM customers WHERE country = :country AND id IN (SELECT customer_id FROM orders JOIN order_items ON order_items.order_id = orders.id WHERE status = :status);

-- title: compared by name
-- type: customers-with-order-status
-- verdict: wrong
SELECT name FROM customers WHERE country = :country AND name IN (SELECT customers.name FROM orders JOIN customers ON customers.id = orders.customer_id WHERE orders.status = :status);

-- title: EXISTS instead of IN
-- type: customers-with-order-status
-- verdict: correct
SELECT name FROM customers WHERE country = :country AND EXISTS (SELECT 1 FROM orders WHERE customer_id = customers.id AND status = :status);

-- title: a join grouped by customer
-- type: customers-with-order-status
-- verdict: correct
SELECT customers.name FROM orders JOIN customers ON customers.id = orders.customer_id WHERE customers.country = :country AND orders.status = :status GROUP BY customers.id;

-- title: names counted, not customers
-- type: customer-count-in-country
-- verdict: wrong
SELECT COUNT(DISTINCT name) FROM customers WHERE country = :country;

-- title: customers without an email not counted
-- type: customer-count-in-country
-- verdict: wrong
SELECT COUNT(email) FROM customers WHERE country = :country;

-- title: only customers with orders
-- type: customer-count-in-country
-- verdict: wrong
SELECT COUNT(DISTINCT customers.id) FROM orders JOIN customers ON customers.id = orders.customer_id WHERE customers.country = :country;

-- title: cities counted
-- type: customer-count-in-country
-- verdict: wrong
SELECT COUNT(city) FROM customers WHERE country = :country;

-- title: a sum of ones
-- type: customer-count-in-country
-- verdict: correct
SELECT SUM(country = :country) FROM customers;

-- title: the threshold itself included
-- type: category-products-over-price
-- verdict: wrong
SELECT name FROM products WHERE category = :category AND price >= :price;

-- title: OR instead of AND
-- type: category-products-over-price
-- verdict: wrong
SELECT name FROM products WHERE category = :category OR price > :price;

-- title: cheaper, not dearer
-- type: category-products-over-price
-- verdict: wrong
SELECT name FROM products WHERE category = :category AND price < :price;

-- title: two products of one name become one row
-- type: category-products-over-price
-- verdict: wrong
SELECT DISTINCT name FROM products WHERE category = :category AND price > :price;

-- title: only products that were sold
-- type: category-products-over-price
-- verdict: wrong
SELECT name FROM products WHERE category = :category AND price > :price AND id IN (SELECT product_id FROM order_items);

-- title: two sets of ids
-- type: category-products-over-price
-- verdict: correct
SELECT name FROM products WHERE id IN (SELECT id FROM products WHERE category = :category INTERSECT SELECT id FROM products WHERE price > :price);

-- title: 31 December lost
-- type: signup-list-of-year
-- verdict: wrong
SELECT name, signup_date FROM customers WHERE signup_date >= :year || '-01-01' AND signup_date < :year || '-12-31';

-- title: 1 January lost
-- type: signup-list-of-year
-- verdict: wrong
SELECT name, signup_date FROM customers WHERE signup_date > :year || '-01-01' AND signup_date <= :year || '-12-31';

-- title: columns swapped
-- type: signup-list-of-year
-- verdict: wrong
SELECT signup_date, name FROM customers WHERE strftime('%Y', signup_date) = :year;

-- title: later years listed too
-- type: signup-list-of-year
-- verdict: wrong
SELECT name, signup_date FROM customers WHERE signup_date >= :year;

-- title: two customers of one name and day become one row
-- type: signup-list-of-year
-- verdict: wrong
SELECT DISTINCT name, signup_date FROM customers WHERE strftime('%Y', signup_date) = :year;

-- title: customers without a country dropped
-- type: signup-list-of-year
-- verdict: wrong
SELECT name, signup_date FROM customers WHERE strftime('%Y', signup_date) = :year AND country IS NOT NULL;

-- title: BETWEEN two dates, the last evening of the year lost
-- type: signup-list-of-year
-- verdict: wrong
SELECT name, signup_date FROM customers WHERE signup_date BETWEEN :year || '-01-01' AND :year || '-12-31';

-- title: from the first day until before that of the next year
-- type: signup-list-of-year
-- verdict: correct
SELECT name, signup_date FROM customers WHERE signup_date >= :year || '-01-01' AND signup_date < (:year + 1) || '-01-01';

-- title: BETWEEN two days
-- type: signup-list-of-year
-- verdict: correct
SELECT name, signup_date FROM customers WHERE date(signup_date) BETWEEN :year || '-01-01' AND :year || '-12-31';

-- title: customers without a country dropped
-- type: signups-by-country-in-year
-- verdict: wrong
SELECT country, COUNT(*) FROM customers WHERE strftime('%Y', signup_date) = :year AND country IS NOT NULL GROUP BY country;

-- title: names counted, not customers
-- type: signups-by-country-in-year
-- verdict: wrong
SELECT country, COUNT(DISTINCT name) FROM customers WHERE strftime('%Y', signup_date) = :year GROUP BY country;

-- title: customers without an email not counted
-- type: signups-by-country-in-year
-- verdict: wrong
SELECT country, COUNT(email) FROM customers WHERE strftime('%Y', signup_date) = :year GROUP BY country;

-- title: columns swapped
-- type: signups-by-country-in-year
-- verdict: wrong
SELECT COUNT(*), country FROM customers WHERE strftime('%Y', signup_date) = :year GROUP BY country;

-- title: 31 December lost
-- type: signups-by-country-in-year
-- verdict: wrong
SELECT country, COUNT(*) FROM customers WHERE signup_date >= :year || '-01-01' AND signup_date < :year || '-12-31' GROUP BY country;

-- title: only customers with orders
-- type: signups-by-country-in-year
-- verdict: wrong
SELECT country, COUNT(*) FROM customers WHERE strftime('%Y', signup_date) = :year AND id IN (SELECT customer_id FROM orders) GROUP BY country;

-- title: a CTE
-- type: signups-by-country-in-year
-- verdict: correct
WITH joined AS (SELECT country FROM customers WHERE signup_date LIKE :year || '-%') SELECT country, COUNT(*) FROM joined GROUP BY country;

-- title: order items counted, quantities not added
-- type: units-sold-of-category
-- verdict: wrong
SELECT COUNT(*) FROM order_items JOIN products ON products.id = order_items.product_id WHERE products.category = :category;

-- title: cancelled orders left out
-- type: units-sold-of-category
-- verdict: wrong
SELECT SUM(order_items.quantity) FROM orders JOIN order_items ON order_items.order_id = orders.id JOIN products ON products.id = order_items.product_id WHERE products.category = :category AND orders.status <> 'cancelled';

-- title: equal quantities added once
-- type: units-sold-of-category
-- verdict: wrong
SELECT SUM(DISTINCT order_items.quantity) FROM order_items JOIN products ON products.id = order_items.product_id WHERE products.category = :category;

-- title: items without an order dropped
-- type: units-sold-of-category
-- verdict: wrong
SELECT SUM(order_items.quantity) FROM orders JOIN order_items ON order_items.order_id = orders.id JOIN products ON products.id = order_items.product_id WHERE products.category = :category;

-- title: orders without a status dropped
-- type: units-sold-of-category
-- verdict: wrong
SELECT SUM(order_items.quantity) FROM order_items JOIN products ON products.id = order_items.product_id WHERE products.category = :category AND order_items.order_id IN (SELECT id FROM orders WHERE status IS NOT NULL);

-- title: IN instead of a join
-- type: units-sold-of-category
-- verdict: correct
SELECT SUM(quantity) FROM order_items WHERE product_id IN (SELECT id FROM products WHERE category = :category);

-- title: customers counted, not orders
-- type: status-order-count-in-year
-- verdict: wrong
SELECT COUNT(DISTINCT customer_id) FROM orders WHERE status = :status AND strftime('%Y', order_date) = :year;

-- title: all years
-- type: status-order-count-in-year
-- verdict: wrong
SELECT COUNT(*) FROM orders WHERE status = :status;

-- title: every status
-- type: status-order-count-in-year
-- verdict: wrong
SELECT COUNT(*) FROM orders WHERE strftime('%Y', order_date) = :year;

-- title: orders without a customer dropped
-- type: status-order-count-in-year
-- verdict: wrong
SELECT COUNT(customer_id) FROM orders WHERE status = :status AND strftime('%Y', order_date) = :year;

-- title: orders without items dropped
-- type: status-order-count-in-year
-- verdict: wrong
SELECT COUNT(DISTINCT orders.id) FROM orders JOIN order_items ON order_items.order_id = orders.id WHERE status = :status AND strftime('%Y', order_date) = :year;

-- title: 31 December lost
-- type: status-order-count-in-year
-- verdict: wrong
SELECT COUNT(*) FROM orders WHERE status = :status AND order_date >= :year || '-01-01' AND order_date < :year || '-12-31';

-- title: order items counted as orders
-- type: status-order-count-in-year
-- verdict: wrong
SELECT COUNT(*) FROM orders JOIN order_items ON order_items.order_id = orders.id WHERE status = :status AND strftime('%Y', order_date) = :year;

-- title: BETWEEN two dates, the last evening of the year lost
-- type: status-order-count-in-year
-- verdict: wrong
SELECT COUNT(*) FROM orders WHERE status = :status AND order_date BETWEEN :year || '-01-01' AND :year || '-12-31';

-- title: from the first day until before that of the next year
-- type: status-order-count-in-year
-- verdict: correct
SELECT COUNT(*) FROM orders WHERE status = :status AND order_date >= :year || '-01-01' AND order_date < (:year + 1) || '-01-01';

-- title: BETWEEN two days
-- type: status-order-count-in-year
-- verdict: correct
SELECT COUNT(*) FROM orders WHERE status = :status AND date(order_date) BETWEEN :year || '-01-01' AND :year || '-12-31';

-- title: customers without an email dropped
-- type: contacts-in-country
-- verdict: wrong
SELECT name, email FROM customers WHERE country = :country AND email IS NOT NULL;

-- title: columns swapped
-- type: contacts-in-country
-- verdict: wrong
SELECT email, name FROM customers WHERE country = :country;

-- title: only customers with orders
-- type: contacts-in-country
-- verdict: wrong
SELECT DISTINCT customers.name, customers.email FROM orders JOIN customers ON customers.id = orders.customer_id WHERE customers.country = :country;

-- title: two customers of one name without an email become one row
-- type: contacts-in-country
-- verdict: wrong
SELECT DISTINCT name, email FROM customers WHERE country = :country;

-- title: IN instead of a comparison
-- type: contacts-in-country
-- verdict: correct
SELECT name, email FROM customers WHERE id IN (SELECT id FROM customers WHERE country = :country);

-- title: the threshold itself included
-- type: product-count-by-category
-- verdict: wrong
SELECT category, COUNT(*) FROM products WHERE price <= :price GROUP BY category;

-- title: products without a category dropped
-- type: product-count-by-category
-- verdict: wrong
SELECT category, COUNT(*) FROM products WHERE price < :price AND category IS NOT NULL GROUP BY category;

-- title: categories without such a product listed
-- type: product-count-by-category
-- verdict: wrong
SELECT category, SUM(price < :price) FROM products GROUP BY category;

-- title: columns swapped
-- type: product-count-by-category
-- verdict: wrong
SELECT COUNT(*), category FROM products WHERE price < :price GROUP BY category;

-- title: names counted, not products
-- type: product-count-by-category
-- verdict: wrong
SELECT category, COUNT(DISTINCT name) FROM products WHERE price < :price GROUP BY category;

-- title: the price compared in the groups
-- type: product-count-by-category
-- verdict: wrong
SELECT category, COUNT(*) FROM products GROUP BY category HAVING MIN(price) < :price;

-- title: filter in a CTE
-- type: product-count-by-category
-- verdict: correct
WITH cheap AS (SELECT * FROM products WHERE price < :price) SELECT category, COUNT(id) FROM cheap GROUP BY category;

-- title: customers without orders dropped
-- type: orders-per-customer-in-city
-- verdict: wrong
SELECT customers.name, COUNT(orders.id) FROM orders JOIN customers ON customers.id = orders.customer_id WHERE customers.city = :city GROUP BY customers.id;

-- title: one order for customers without any
-- type: orders-per-customer-in-city
-- verdict: wrong
SELECT customers.name, COUNT(*) FROM customers LEFT JOIN orders ON orders.customer_id = customers.id WHERE customers.city = :city GROUP BY customers.id;

-- title: grouped by name
-- type: orders-per-customer-in-city
-- verdict: wrong
SELECT customers.name, COUNT(orders.id) FROM customers LEFT JOIN orders ON orders.customer_id = customers.id WHERE customers.city = :city GROUP BY customers.name;

-- title: cancelled orders left out
-- type: orders-per-customer-in-city
-- verdict: wrong
SELECT customers.name, COUNT(orders.id) FROM customers LEFT JOIN orders ON orders.customer_id = customers.id AND orders.status <> 'cancelled' WHERE customers.city = :city GROUP BY customers.id;

-- title: order items counted as orders
-- type: orders-per-customer-in-city
-- verdict: wrong
SELECT customers.name, COUNT(order_items.id) FROM customers LEFT JOIN orders ON orders.customer_id = customers.id LEFT JOIN order_items ON order_items.order_id = orders.id WHERE customers.city = :city GROUP BY customers.id;

-- title: correlated count
-- type: orders-per-customer-in-city
-- verdict: correct
SELECT name, (SELECT COUNT(*) FROM orders WHERE customer_id = customers.id) FROM customers WHERE city = :city;

-- title: the minimum itself included
-- type: cities-with-many-customers
-- verdict: wrong
SELECT city FROM customers WHERE city IS NOT NULL GROUP BY city HAVING COUNT(*) >= :minimum;

-- title: names counted, not customers
-- type: cities-with-many-customers
-- verdict: wrong
SELECT city FROM customers WHERE city IS NOT NULL GROUP BY city HAVING COUNT(DISTINCT name) > :minimum;

-- title: a missing city listed
-- type: cities-with-many-customers
-- verdict: wrong
SELECT city FROM customers GROUP BY city HAVING COUNT(*) > :minimum;

-- title: customers without an email not counted
-- type: cities-with-many-customers
-- verdict: wrong
SELECT city FROM customers WHERE city IS NOT NULL GROUP BY city HAVING COUNT(email) > :minimum;

-- title: only customers with orders
-- type: cities-with-many-customers
-- verdict: wrong
SELECT city FROM customers WHERE city IS NOT NULL AND id IN (SELECT customer_id FROM orders) GROUP BY city HAVING COUNT(*) > :minimum;

-- title: the count in a subquery
-- type: cities-with-many-customers
-- verdict: correct
SELECT city FROM (SELECT city, COUNT(*) AS customers FROM customers WHERE city IS NOT NULL GROUP BY city) WHERE customers > :minimum;

-- title: 'lyon' taken for 'Lyon'
-- type: customers-in-city
-- verdict: wrong
SELECT name FROM customers WHERE LOWER(city) = LOWER(:city);

-- title: every city that contains the name
-- type: orders-from-city
-- verdict: wrong
SELECT COUNT(*) FROM orders JOIN customers ON customers.id = orders.customer_id WHERE customers.city GLOB :city || '*';

-- title: countries put together that are spelt differently
-- type: signups-by-country-in-year
-- verdict: wrong
SELECT country, COUNT(*) FROM customers WHERE strftime('%Y', signup_date) = :year GROUP BY LOWER(country);

-- title: statuses in any letters
-- type: status-order-count-in-year
-- verdict: wrong
SELECT COUNT(*) FROM orders WHERE status LIKE :status AND strftime('%Y', order_date) = :year;

-- title: prices rounded before they are compared
-- type: category-products-over-price
-- verdict: wrong
SELECT name FROM products WHERE category = :category AND ROUND(price) > :price;

-- title: products without a price listed
-- type: category-products-over-price
-- verdict: wrong
SELECT name FROM products WHERE category = :category AND COALESCE(price, :price + 1) > :price;

-- title: 0 for nothing sold
-- type: units-sold-of-category
-- verdict: wrong
SELECT COALESCE(SUM(order_items.quantity), 0) FROM order_items JOIN products ON products.id = order_items.product_id WHERE products.category = :category;

-- title: an empty text taken for a missing city
-- type: cities-with-many-customers
-- verdict: wrong
SELECT city FROM customers WHERE city <> '' GROUP BY city HAVING COUNT(*) > :minimum;

-- title: dear products outside the category that are named like one in it
-- type: dearest-in-category
-- verdict: wrong
SELECT name FROM products WHERE name IN (SELECT name FROM products WHERE category = :category) AND price = (SELECT MAX(price) FROM products WHERE category = :category);
