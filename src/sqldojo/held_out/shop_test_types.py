"""The ten question types of the test split, which is scored once for each release and never used for any choice.

They ask for what no hand-written type trains: a comparison with an average, with the largest count or with a rank, a
share, an average of sums, something that did not happen among things that did. No stage of the main graph imports this
module: what the graph teaches, selects and checks must not depend on the test.
"""

from __future__ import annotations

from sqldojo.questions.shop_parameters import CATEGORY, CITY, COUNTRY, MINIMUM, SPEND, YEAR
from sqldojo.records import TEST, QuestionType

TEST_TYPES = (
    QuestionType(
        id="products-bought-in-city",
        split=TEST,
        parameters=CITY,
        sql=(
            "SELECT name FROM products WHERE id IN (SELECT order_items.product_id FROM order_items "
            "JOIN orders ON orders.id = order_items.order_id "
            "JOIN customers ON customers.id = orders.customer_id WHERE customers.city = :city)"
        ),
        phrasings=(
            "Which products have customers in {city} ordered? Orders of every status count. "
            "Return only the product's name, one row per product however often it was ordered.",
            "List every product that appears in an order of a customer living in {city}, cancelled orders included. "
            "Return the name, exactly one row per product.",
            "What did customers from {city} buy, over all their orders whatever the status? "
            "Return the names of the products, each product in one row only.",
            "Find the products that at least one customer in {city} has ordered, in an order of any status. "
            "Return only the name, one row per product.",
        ),
    ),
    QuestionType(
        id="products-against-category-average",
        split=TEST,
        parameters=CATEGORY,
        sql=(
            "SELECT name, price - (SELECT AVG(price) FROM products WHERE category = :category) FROM products "
            "WHERE category = :category"
        ),
        phrasings=(
            "How far is each {category} product above or below the average price of the category {category}? Return "
            "the name and its price minus that average, not rounded, one row per product, NULL without a price.",
            "Compare every product in {category} with the mean price there: return name, then price minus mean, "
            "negative for cheaper ones, unrounded, one row per product. Keep products without a price.",
            "Which {category} products are dearer than the average {category} product, which are cheaper, and by how "
            "much? Return the name and the unrounded difference of its price to the average, one row per product, "
            "also for those without a price.",
            "For each product of the category {category}, give the name and the amount by which its price is over "
            "the category's average price (below zero if under), without rounding, one row per product. A missing "
            "price gives NULL.",
        ),
    ),
    QuestionType(
        id="latest-signup-in-country",
        split=TEST,
        parameters=COUNTRY,
        sql="SELECT MAX(signup_date) FROM customers WHERE country = :country",
        phrasings=(
            "When did the newest customer in {country} sign up? Return only the latest signup date there.",
            "What is the most recent signup date among our customers from {country}? Return a single value, the date.",
            "Find the date of the last signup in {country}. Return only this date.",
            "On which date did a customer in {country} last join us? Return only the signup date.",
        ),
    ),
    QuestionType(
        id="buyers-in-city-without-shipped-order",
        split=TEST,
        parameters=CITY,
        sql=(
            "SELECT name FROM customers WHERE city = :city AND id IN (SELECT customer_id FROM orders) "
            "AND NOT EXISTS (SELECT 1 FROM orders WHERE customer_id = customers.id AND status = 'shipped')"
        ),
        phrasings=(
            "Which customers in {city} have placed orders, but none with status shipped? An order without a status "
            "is not shipped. Return only their names, one row per customer.",
            "List the customers living in {city} who ordered at least once and do not have a single shipped order; "
            "orders with a missing status count as not shipped. Return the name, one row per customer.",
            "Find everyone in {city} with one or more orders of which not one is marked shipped, a missing status "
            "being another one than shipped. Return only the name, one row per customer.",
            "Give the names of the customers in {city} that have orders, yet zero orders with the status shipped. "
            "Leave out customers without any order, and take no status for not shipped. Return one row per customer.",
        ),
    ),
    QuestionType(
        id="cities-behind-the-one-with-most-orders",
        split=TEST,
        parameters=COUNTRY,
        sql=(
            "WITH counted AS (SELECT customers.city, COUNT(*) AS placed FROM orders "
            "JOIN customers ON customers.id = orders.customer_id WHERE customers.country = :country "
            "GROUP BY customers.city) SELECT city, (SELECT MAX(placed) FROM counted) - placed FROM counted"
        ),
        phrasings=(
            "From which city in {country} did most orders come, by the customer's city, and how many fewer came from "
            "the others? Return each city that has orders and by how many it is behind the top, 0 for the top itself. "
            "Orders of every status count, and a missing city counts as a city.",
            "Count the orders of customers in {country} per city, whatever the status, customers without a city being "
            "a group of their own. Return the city and the largest of these counts minus its own, one row per city "
            "with orders.",
            "How far is each city of {country} behind the city with the most orders, cancelled ones included? Return "
            "city, then the difference in number of orders; leading cities have 0. Leave out cities without orders, "
            "but treat a missing city as one.",
            "Compare the cities in {country} with the one whose customers placed most orders of any status. For every "
            "city with orders, also for no city at all, give the city and how many orders it lacks to reach that "
            "number.",
        ),
    ),
    QuestionType(
        id="customers-spending-over",
        split=TEST,
        parameters=SPEND,
        sql=(
            "SELECT customers.name FROM customers JOIN orders ON orders.customer_id = customers.id "
            "JOIN order_items ON order_items.order_id = orders.id WHERE orders.status = 'delivered' "
            "GROUP BY customers.id HAVING SUM(order_items.quantity * order_items.unit_price) > :spend"
        ),
        phrasings=(
            "Which customers spent more than {spend} in total on orders that were delivered? Add up quantity times "
            "unit price. Return only their names, one row per customer.",
            "List the customers whose delivered orders together are worth over {spend}, as the sum of quantity times "
            "unit price. Return the name, one row per customer.",
            "Counting only orders with status delivered, who has a total of quantity times unit price above {spend}? "
            "Return the names, one row per customer.",
            "Find every customer with total spending greater than {spend}, where spending is quantity times unit "
            "price summed over delivered orders alone. Return only the name, one row per customer.",
        ),
    ),
    QuestionType(
        id="customers-of-many-categories",
        split=TEST,
        parameters=COUNTRY | MINIMUM,
        sql=(
            "SELECT customers.name FROM customers JOIN orders ON orders.customer_id = customers.id "
            "JOIN order_items ON order_items.order_id = orders.id "
            "JOIN products ON products.id = order_items.product_id WHERE customers.country = :country "
            "GROUP BY customers.id HAVING COUNT(DISTINCT products.category) > :minimum"
        ),
        phrasings=(
            "Which customers in {country} have ordered products of more than {minimum} different categories? Orders "
            "of every status count, a missing category does not. Return only their names, one row per customer.",
            "List the customers from {country} whose orders, cancelled ones included, cover over {minimum} distinct "
            "product categories; do not count a missing category. Return the name, one row per customer.",
            "Who in {country} bought from more than {minimum} categories, over all orders whatever their status? "
            "Ignore products without a category. Return the names, one row per customer.",
            "Find everyone in {country} with products from at least one category more than {minimum} in their orders "
            "of any status, each known category counted once. Return only the name, one row per customer.",
        ),
    ),
    QuestionType(
        id="months-of-year-ranked-by-orders",
        split=TEST,
        parameters=YEAR,
        sql=(
            "SELECT strftime('%m', order_date) AS month, COUNT(*), RANK() OVER (ORDER BY COUNT(*) DESC) FROM orders "
            "WHERE strftime('%Y', order_date) = :year GROUP BY month"
        ),
        phrasings=(
            "Rank the months of {year} by number of orders, the busiest first, whatever the orders' status. Return "
            "the month as two digits, its number of orders and its rank; tied months share the best rank, and the "
            "next one skips as many. Leave out months without orders.",
            "Which month of {year} was the busiest, which came second, and so on, by orders of any status? Return "
            "two-digit month, number of orders and place, only for months with orders. Equal months have the same "
            "place, after which places are skipped, as in 1, 1, 3.",
            "For every month of {year} that has orders, give month as '01' to '12', the number of orders, cancelled "
            "ones included, and 1 plus the number of months of that year with more orders.",
            "Make a ranking of the months in {year} from most to fewest orders, all statuses included. Return the "
            "two-digit month, then the count, then the rank, with gaps after ties (1, 1, 3). Skip empty months.",
        ),
    ),
    QuestionType(
        id="returned-share-of-category",
        split=TEST,
        parameters=CATEGORY,
        sql=(
            "SELECT AVG(CASE WHEN status = 'returned' THEN 1.0 ELSE 0.0 END) FROM orders "
            "WHERE id IN (SELECT order_items.order_id FROM order_items "
            "JOIN products ON products.id = order_items.product_id WHERE products.category = :category)"
        ),
        phrasings=(
            "What share of the orders with at least one {category} product has the status returned? Count each order "
            "once; an order without a status is not returned. Return only the share, from 0 to 1, not rounded.",
            "Of all orders that contain something from the category {category}, which fraction was returned? Orders "
            "count once each, those with a missing status as not returned. Return one number between 0 and 1, "
            "without rounding.",
            "Take the orders that include any {category} item, each once. Divide those whose status is returned by "
            "all of them, orders without a status included. Return only this fraction, unrounded.",
            "How large is the part of orders with {category} products that came back with status returned, as a "
            "fraction from 0 to 1? Each order counts once, with or without a status. Return only the number, do not "
            "round.",
        ),
    ),
    QuestionType(
        id="average-order-value-in-country",
        split=TEST,
        parameters=COUNTRY | YEAR,
        sql=(
            "SELECT AVG(value) FROM (SELECT SUM(order_items.quantity * order_items.unit_price) AS value FROM orders "
            "JOIN customers ON customers.id = orders.customer_id "
            "JOIN order_items ON order_items.order_id = orders.id WHERE customers.country = :country "
            "AND strftime('%Y', orders.order_date) = :year GROUP BY orders.id)"
        ),
        phrasings=(
            "What is the average value of an order that a customer in {country} placed in {year}? An order's value is "
            "the sum of quantity times unit price over its items, those with a missing number left out; leave out "
            "orders for which nothing is left. Orders of every status count. Return only the average, not rounded.",
            "For each order of {year} by a customer in {country}, whatever its status, add up quantity times unit "
            "price of its items. Return only the mean of these totals, unrounded. Skip items whose quantity or unit "
            "price is missing, and orders without any other item.",
            "How much is an order from {country} worth on average in {year}, cancelled orders included? Sum quantity "
            "times unit price per order over items where both are known, ignore orders without such an item, and "
            "return the average of the sums as one number without rounding.",
            "Give the mean order value for customers living in {country}, over orders of {year} with any status that "
            "have an item with known quantity and unit price. The value of an order is the total of quantity times "
            "unit price of such items. Return a single number, not rounded.",
        ),
    ),
)
