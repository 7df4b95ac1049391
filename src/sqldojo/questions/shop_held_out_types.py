"""Ten question types that are never trained: five to select a checkpoint by, five to check that choice.

They mix near neighbours of trained types (another filter, another aggregate) with types that combine skills in a new
way, so that a model which only fills in what it was shown scores differently from one that learnt to write SQL.
"""

from __future__ import annotations

from sqldojo.questions.shop_parameters import CATEGORY, CITY, COUNTRY, MINIMUM, PRICE, STATUS, YEAR
from sqldojo.records import CHECK, SELECTION, QuestionType

SELECTION_TYPES = (
    QuestionType(
        id="customer-count-in-country",
        split=SELECTION,
        parameters=COUNTRY,
        sql="SELECT COUNT(*) FROM customers WHERE country = :country",
        phrasings=(
            "How many customers live in {country}? Return only the number.",
            "Count our customers in {country}. Return a single number.",
            "What is the number of customers whose country is {country}? Return only the count.",
            "Tell me how many customers we have in {country}. Return one number.",
        ),
    ),
    QuestionType(
        id="category-products-over-price",
        split=SELECTION,
        parameters=CATEGORY | PRICE,
        sql="SELECT name FROM products WHERE category = :category AND price > :price",
        phrasings=(
            "Which {category} products cost more than {price}? Return only their names, one row per product.",
            "List the products of the category {category} with a price above {price}. "
            "Return the name, one row per product.",
            "Find everything in {category} priced over {price}, not including exactly {price}. "
            "Return only the name, one row per product.",
            "What in the {category} category is more expensive than {price}? "
            "Return the product names, one row per product.",
        ),
    ),
    QuestionType(
        id="signup-list-of-year",
        split=SELECTION,
        parameters=YEAR,
        sql="SELECT name, signup_date FROM customers WHERE strftime('%Y', signup_date) = :year",
        phrasings=(
            "Which customers signed up in {year}? Return the name and the signup date, one row per customer.",
            "List the customers who joined in {year}, by signup date. "
            "Return name, then signup date, one row per customer.",
            "Show everyone with a signup date in the year {year}: name and signup date, one row per customer.",
            "Who signed up during {year}, and when? Return each customer's name and signup date, one row per customer.",
        ),
    ),
    QuestionType(
        id="signups-by-country-in-year",
        split=SELECTION,
        parameters=YEAR,
        sql="SELECT country, COUNT(*) FROM customers WHERE strftime('%Y', signup_date) = :year GROUP BY country",
        phrasings=(
            "How many customers signed up in {year} in each country? Return the country and the number of customers; "
            "skip countries without signups, and treat a missing country as a country.",
            "Count the signups of {year} by country. Return country, then count, only for countries with signups. "
            "A missing country counts as a country.",
            "For customers with a signup date in {year}, give the number per country. Return the country first, then "
            "the number; leave out countries without any. Customers without a country form a group of their own.",
            "Break the customers who joined in {year} down by country: return the country and how many there are, "
            "without countries that have none. A missing country is a group too.",
        ),
    ),
    QuestionType(
        id="units-sold-of-category",
        split=SELECTION,
        parameters=CATEGORY,
        sql=(
            "SELECT SUM(order_items.quantity) FROM order_items "
            "JOIN products ON products.id = order_items.product_id WHERE products.category = :category"
        ),
        phrasings=(
            "How many units of {category} products were ordered in total? "
            "Add up the quantities, for orders of every status. Return only the total.",
            "What is the total quantity ordered of products in {category}, cancelled orders included? "
            "Return one number.",
            "Sum the ordered quantity over all {category} products, whatever the order's status. Return only the sum.",
            "Give the number of units ordered from the category {category}, adding up quantities and counting orders "
            "of any status. Return a single number.",
        ),
    ),
)

CHECK_TYPES = (
    QuestionType(
        id="status-order-count-in-year",
        split=CHECK,
        parameters=STATUS | YEAR,
        sql="SELECT COUNT(*) FROM orders WHERE status = :status AND strftime('%Y', order_date) = :year",
        phrasings=(
            "How many orders from {year} have the status {status}? Return only the number.",
            "Count the {status} orders placed in {year}. Return a single number.",
            "What is the number of orders dated {year} whose status is {status}? Return only the count.",
            "In {year}, how many orders were placed that are {status}? Return one number.",
        ),
    ),
    QuestionType(
        id="contacts-in-country",
        split=CHECK,
        parameters=COUNTRY,
        sql="SELECT name, email FROM customers WHERE country = :country",
        phrasings=(
            "Give the name and email of every customer in {country}, one row per customer. "
            "Keep customers without an email.",
            "List the customers from {country} with their email addresses. Return name, then email, one row per "
            "customer, also for those without an email.",
            "I need a contact list for {country}. Return each customer's name and email, one row per customer, "
            "with NULL where there is no email.",
            "Show all customers living in {country}. Return the name and the email, one row per customer, "
            "whether or not there is an email.",
        ),
    ),
    QuestionType(
        id="product-count-by-category",
        split=CHECK,
        parameters=PRICE,
        sql="SELECT category, COUNT(*) FROM products WHERE price < :price GROUP BY category",
        phrasings=(
            "How many products cost less than {price} in each category? Return the category and the number; skip "
            "categories without such a product, and treat a missing category as a category.",
            "Count the products cheaper than {price} per category. Return category, then count, only for categories "
            "that have any. Products without a category form a group of their own.",
            "For each category, how many of its products have a price below {price}? Return the category and the "
            "count, leaving out categories with none. A missing category counts as a category.",
            "Show the number of products under {price} by category: the category first, then the number, without "
            "categories that have none. A missing category is a group too.",
        ),
    ),
    QuestionType(
        id="orders-per-customer-in-city",
        split=CHECK,
        parameters=CITY,
        sql=(
            "SELECT customers.name, COUNT(orders.id) FROM customers "
            "LEFT JOIN orders ON orders.customer_id = customers.id "
            "WHERE customers.city = :city GROUP BY customers.id"
        ),
        phrasings=(
            "How many orders has each customer in {city} placed? Return the name and the number of orders, one row "
            "per customer, with 0 for customers without orders. Orders of every status count.",
            "For every customer living in {city}, give the name and the order count, one row per customer. "
            "Include customers without orders as 0, and count cancelled orders too.",
            "List the customers of {city} with their number of orders, whatever the status. Return name, then "
            "number, one row per customer, 0 if there are none.",
            "Show name and number of orders for each customer in {city}, one row per customer. Customers who never "
            "ordered have 0; orders of any status count.",
        ),
    ),
    QuestionType(
        id="cities-with-many-customers",
        split=CHECK,
        parameters=MINIMUM,
        sql="SELECT city FROM customers WHERE city IS NOT NULL GROUP BY city HAVING COUNT(*) > :minimum",
        phrasings=(
            "In which cities do more than {minimum} customers live? "
            "Return only the city, each once; leave out customers without a city.",
            "List the cities that have more than {minimum} customers, ignoring missing cities. Return one column, the "
            "city, one row per city.",
            "Find every city with over {minimum} customers. Return only its name, one row per city, no missing city.",
            "Which cities count more than {minimum} customers? Return the city, one row each, without NULL.",
        ),
    ),
)
