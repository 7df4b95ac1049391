"""The fifteen question types that the model is taught, all over the shop schema.

Each phrasing alone fixes the answer: which columns in which order, what one row stands for, whether cancelled orders
count, and what happens with ties. Rows are one per thing asked about, so two customers of one name are two rows.
"""

from __future__ import annotations

from sqldojo.questions.shop_parameters import CATEGORY, CITY, COUNTRY, MINIMUM, PRICE, STATUS, YEAR
from sqldojo.records import TRAIN, QuestionType

TRAINING_TYPES = (
    QuestionType(
        id="customers-in-city",
        split=TRAIN,
        parameters=CITY,
        sql="SELECT name FROM customers WHERE city = :city",
        phrasings=(
            "Which customers live in {city}? Return only their names, one row per customer.",
            "List the customers from {city}. Return one column, the name, with one row per customer.",
            "Who are our customers in the city of {city}? Give the name of each customer, one row per customer.",
            "I need the names of all customers based in {city}. Return only the name, one row per customer.",
            "Show every customer whose city is {city}: only the name, one row per customer.",
            "We are planning an event in {city}. Return the names of the customers there, one row per customer.",
        ),
    ),
    QuestionType(
        id="cheap-products",
        split=TRAIN,
        parameters=PRICE,
        sql="SELECT name, price FROM products WHERE price < :price",
        phrasings=(
            "Which products cost less than {price}? Return the name and the price, one row per product.",
            "List all products with a price below {price}. Return name and price, one row per product.",
            "Show the products that are cheaper than {price}: name, then price, one row per product.",
            "What can I buy for under {price}? Return each product's name and price, one row per product.",
            "Find every product priced under {price}, not including exactly {price}. "
            "Return the name and the price, one row per product.",
            "I want to spend less than {price} on a product. "
            "Return the name and price of those I can choose from, one row per product.",
        ),
    ),
    QuestionType(
        id="signups-in-year",
        split=TRAIN,
        parameters=YEAR,
        sql="SELECT COUNT(*) FROM customers WHERE strftime('%Y', signup_date) = :year",
        phrasings=(
            "How many customers signed up in {year}? Return only the number.",
            "Count the customers who signed up in the year {year}. Return a single number.",
            "What is the number of customer signups in {year}? Return only the count.",
            "In {year}, how many new customers signed up? Return one number.",
            "How many customers have a signup date in {year}? Return only the count.",
            "Tell me how many customers joined during {year}, by signup date. Return only the number.",
        ),
    ),
    QuestionType(
        id="average-price-by-category",
        split=TRAIN,
        parameters=PRICE,
        sql="SELECT category, AVG(price) FROM products WHERE price >= :price GROUP BY category",
        phrasings=(
            "What is the average price in each category, counting only products that cost at least {price}? "
            "Return the category and the average price. A missing category counts as a category.",
            "For every category, give the average price of its products priced {price} or more. Return category, then "
            "average price; skip categories without such a product, but treat a missing category as one.",
            "Take the products with a price of at least {price} and average their price by category. Return the "
            "category and the average price. Products without a category form a group of their own.",
            "Average price by category for products that cost {price} or more: return the category first and the "
            "average second. A missing category is a group too.",
            "Leave out products cheaper than {price}. What is the average price per category then? Return the "
            "category and its average price. A missing category counts as a category.",
            "Show each category with the mean price of its products that cost {price} or more. Return category and "
            "mean price, products without a category being a group of their own.",
        ),
    ),
    QuestionType(
        id="frequent-customers",
        split=TRAIN,
        parameters=MINIMUM,
        sql=(
            "SELECT customers.name FROM orders JOIN customers ON customers.id = orders.customer_id "
            "GROUP BY customers.id HAVING COUNT(*) > :minimum"
        ),
        phrasings=(
            "Which customers placed more than {minimum} orders? "
            "Orders of every status count. Return only their names, one row per customer.",
            "List the customers with more than {minimum} orders, cancelled ones included. "
            "Return the name, one row per customer.",
            "Who ordered more than {minimum} times, counting all orders whatever their status? "
            "Return only the names, one row per customer.",
            "Find our frequent customers: those with over {minimum} orders of any status. "
            "Return their names, one row per customer.",
            "Give the name of each customer who has more than {minimum} orders in total, "
            "cancelled orders included. Return one row per customer.",
            "Which customers have an order count above {minimum}? Count orders of any status. "
            "Return only the name, one row per customer.",
        ),
    ),
    QuestionType(
        id="top-spenders",
        split=TRAIN,
        parameters=COUNTRY,
        sql=(
            "WITH spent AS (SELECT customers.name, SUM(order_items.quantity * order_items.unit_price) AS total "
            "FROM orders JOIN customers ON customers.id = orders.customer_id "
            "JOIN order_items ON order_items.order_id = orders.id "
            "WHERE customers.country = :country GROUP BY customers.id) "
            "SELECT name FROM spent WHERE total = (SELECT MAX(total) FROM spent)"
        ),
        phrasings=(
            "Which customer in {country} spent the most, over all orders whatever their status? "
            "Return only the name; when several tie, return each of them, one row per customer.",
            "Who is the top spender in {country}? Add up quantity times unit price over all orders, cancelled ones "
            "included. Return the name, one row per customer if there is a tie.",
            "Find the customers from {country} with the highest total spending, orders of every status included. "
            "Return only their names, one row per customer, all of them in case of a tie.",
            "Among customers in {country}, who bought for the largest total amount? Count every order, also "
            "cancelled ones. Return the name of each customer who shares first place, one row per customer.",
            "Name the biggest spender of {country} by total value of all orders, whatever the status. "
            "Return only names, one row per customer, ties included.",
        ),
    ),
    QuestionType(
        id="orders-by-status-in-year",
        split=TRAIN,
        parameters=YEAR,
        sql="SELECT status, COUNT(*) FROM orders WHERE strftime('%Y', order_date) = :year GROUP BY status",
        phrasings=(
            "How many orders of each status were placed in {year}? Return the status and the number of orders. "
            "A missing status counts as a status.",
            "Count the orders of {year} by status. Return status, then count. "
            "Orders without a status form a group of their own.",
            "For orders dated {year}, show how many there are per status. Return the status and the count. "
            "Treat a missing status as a status.",
            "Break the orders from {year} down by status: return the status and its number of orders, "
            "orders without a status being a group too.",
            "What statuses do the orders of {year} have, and how many orders has each? "
            "Return status and number of orders. A missing status counts as a status.",
            "Give the number of orders per status for the year {year}. Return the status first, then the number. "
            "A missing status is a group too.",
        ),
    ),
    QuestionType(
        id="orders-by-month",
        split=TRAIN,
        parameters=YEAR,
        sql=(
            "SELECT strftime('%m', order_date) AS month, COUNT(*) FROM orders "
            "WHERE strftime('%Y', order_date) = :year GROUP BY month"
        ),
        phrasings=(
            "How many orders were placed in each month of {year}? Return the month as two digits and the number of "
            "orders; skip months without orders. Orders of every status count.",
            "Count the orders per month in {year}, whatever their status. Return the two-digit month and the count, "
            "only for months with orders.",
            "Show the monthly order counts for {year}, cancelled orders included. Return month as '01' to '12', then "
            "the count; leave out months without orders.",
            "For every month of {year} that has orders, give the number of orders of any status. "
            "Return the month as two digits, then the number.",
            "Break down the orders of {year} by month, all statuses included. Return the two-digit month and the "
            "number of orders, without empty months.",
        ),
    ),
    QuestionType(
        id="customers-without-orders",
        split=TRAIN,
        parameters=COUNTRY,
        sql=(
            "SELECT name FROM customers WHERE country = :country "
            "AND NOT EXISTS (SELECT 1 FROM orders WHERE customer_id = customers.id)"
        ),
        phrasings=(
            "Which customers in {country} have never placed an order? A cancelled order counts as an order. "
            "Return only their names, one row per customer.",
            "List the customers from {country} who have no order at all, not even a cancelled one. "
            "Return the name, one row per customer.",
            "Find customers living in {country} without any order of any status. "
            "Return only the name, one row per customer.",
            "Who in {country} signed up but never ordered, with orders of every status counted? "
            "Return the names, one row per customer.",
            "Give the names of the customers in {country} that have zero orders, cancelled ones counted too. "
            "Return one row per customer.",
        ),
    ),
    QuestionType(
        id="products-never-sold",
        split=TRAIN,
        parameters=CATEGORY,
        sql=(
            "SELECT name FROM products WHERE category = :category "
            "AND NOT EXISTS (SELECT 1 FROM order_items WHERE product_id = products.id)"
        ),
        phrasings=(
            "Which {category} products are in no order at all? Orders of every status count. "
            "Return only their names, one row per product.",
            "List the products of the category {category} that were never ordered, not even in a cancelled order. "
            "Return the name, one row per product.",
            "Find the products in {category} that do not appear in any order, whatever its status. "
            "Return only the name, one row per product.",
            "What in the {category} category has never been ordered, cancelled orders included? "
            "Return the product names, one row per product.",
            "Give the names of {category} products without any order item, whatever the order's status. "
            "Return one row per product.",
        ),
    ),
    QuestionType(
        id="category-revenue",
        split=TRAIN,
        parameters=CATEGORY,
        sql=(
            "SELECT SUM(order_items.quantity * order_items.unit_price) FROM orders "
            "JOIN order_items ON order_items.order_id = orders.id "
            "JOIN products ON products.id = order_items.product_id "
            "WHERE products.category = :category AND orders.status <> 'cancelled'"
        ),
        phrasings=(
            "What is the revenue of the category {category}? Count only orders with a status other than cancelled. "
            "Return only the total of quantity times unit price.",
            "How much did we earn with {category} products? Leave out orders that are cancelled or have no status. "
            "Return a single number, the sum of quantity times unit price.",
            "Add up quantity times unit price of all {category} items in orders that have a status other than "
            "cancelled. Return only the sum.",
            "Give the total sales value of {category}, quantity times unit price, ignoring orders that are cancelled "
            "or without a status. Return only the total.",
            "Calculate the revenue from products in {category}: the sum of quantity times unit price over orders "
            "whose status is known and not cancelled. Return one number.",
        ),
    ),
    QuestionType(
        id="orders-from-city",
        split=TRAIN,
        parameters=CITY,
        sql=(
            "SELECT COUNT(*) FROM orders JOIN customers ON customers.id = orders.customer_id "
            "WHERE customers.city = :city"
        ),
        phrasings=(
            "How many orders came from customers in {city}? Orders of every status count. Return only the number.",
            "Count the orders placed by customers living in {city}, cancelled ones included. Return a single number.",
            "What is the number of orders from {city}, by the customer's city and whatever the status? "
            "Return only the count.",
            "Customers in {city} placed how many orders in all, cancelled orders included? Return one number.",
            "Tell me the total number of orders of customers based in {city}, for all statuses. "
            "Return only the number.",
        ),
    ),
    QuestionType(
        id="categories-with-cheap-products",
        split=TRAIN,
        parameters=PRICE,
        sql="SELECT DISTINCT category FROM products WHERE price < :price AND category IS NOT NULL",
        phrasings=(
            "In which categories is there a product that costs less than {price}? "
            "Return each category once, without missing values.",
            "List the different categories of the products cheaper than {price}. "
            "Return only the category, each one once; leave out missing categories.",
            "Which categories have something for under {price}? "
            "Return the category without repeats and without NULL.",
            "Show all distinct categories, except missing ones, with a product priced below {price}. "
            "Return one column, the category.",
            "Where in our range can I find products under {price}? "
            "Return the names of the categories, every category only once, no missing ones.",
        ),
    ),
    QuestionType(
        id="dearest-in-category",
        split=TRAIN,
        parameters=CATEGORY,
        sql=(
            "SELECT name FROM products WHERE category = :category "
            "AND price = (SELECT MAX(price) FROM products WHERE category = :category)"
        ),
        phrasings=(
            "What is the most expensive product in {category}? "
            "Return only the name; when several tie, return all of them, one row per product.",
            "Which products of the category {category} have the highest price there? "
            "Return their names, one row per product, ties included.",
            "Name the dearest {category} product, or all of them if they cost the same. "
            "Return only the name, one row per product.",
            "Find the top-priced product in the {category} category. "
            "Return the name, one row per product in case of a tie.",
            "Among {category} products, which cost the most? Return only the names, every tied product in its own row.",
        ),
    ),
    QuestionType(
        id="customers-with-order-status",
        split=TRAIN,
        parameters=COUNTRY | STATUS,
        sql=(
            "SELECT name FROM customers WHERE country = :country "
            "AND id IN (SELECT customer_id FROM orders WHERE status = :status)"
        ),
        phrasings=(
            "Which customers in {country} have at least one order with status {status}? "
            "Return only their names, one row per customer.",
            "List the customers from {country} who have a {status} order. Return the name, one row per customer "
            "however many such orders they have.",
            "Find everyone in {country} with one or more orders whose status is {status}. "
            "Return only the name, one row per customer.",
            "Who in {country} has any {status} order? Return the names, exactly one row per customer.",
            "Give the name of each customer in {country} that has an order marked {status}. "
            "Return one row per customer.",
        ),
    ),
)
