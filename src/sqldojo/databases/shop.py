"""The shop world as data: its schema, the values its rows are made of and the constants that questions ask about.

The two families share the schema, the statuses and the thresholds, and nothing else: no word of a name, product, place
or category of one occurs in the other. Values come in pairs, because the adversarial instance mirrors
everything onto a twin: country 2n with country 2n+1 (and their cities one by one), category 2n with category 2n+1.

Rare places and categories, and values that are only spelt like others, are in the adversarial instance alone. No
question names them, so they need not hold every trap, and there can be one of each size and price for questions that
ask which cities or categories reach a threshold.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from sqldojo.databases.families import EVALUATION, FAMILIES, TRAIN

# One line a table and no more than needed: every token of this text is in every prompt.
SCHEMA = {
    table: f"CREATE TABLE {table} (id INTEGER PRIMARY KEY, {columns})"
    for table, columns in {
        "customers": "name TEXT NOT NULL, email TEXT, city TEXT, country TEXT, signup_date TEXT",
        "products": "name TEXT NOT NULL, category TEXT, price REAL",
        "orders": "customer_id INTEGER REFERENCES customers(id), order_date TEXT, status TEXT",
        "order_items": "order_id INTEGER REFERENCES orders(id), product_id INTEGER REFERENCES products(id), "
        "quantity INTEGER, unit_price REAL",
    }.items()
}

# What questions may ask about; the adversarial instance has values exactly on each of these and just beside it.
PRICE_THRESHOLDS = (5, 8, 10, 12, 15, 20, 25, 30, 40, 50, 60, 75, 100, 120, 150, 200)
SPEND_THRESHOLDS = (100, 150, 200, 250, 300, 400, 500, 600, 750, 1000, 1500, 2000)
COUNT_THRESHOLDS = (2, 3, 4, 5, 6, 7)
YEARS = tuple(range(2018, 2026))
STATUSES = ("pending", "shipped", "delivered", "cancelled", "returned")


@dataclass(frozen=True)
class Vocabulary:
    """The values of one family."""

    places: dict[str, tuple[str, ...]]  # country -> its cities
    products: dict[str, tuple[str, ...]]  # category -> what is sold in it
    rare_places: dict[str, tuple[str, ...]]  # as many countries as the adversarial instance needs sizes, in pairs
    adjectives: tuple[str, ...]  # a product is called "<adjective> <noun>"
    common_product: str  # a product name that occurs in several categories
    first_names: tuple[str, ...]
    last_names: tuple[str, ...]
    email_domain: str

    @property
    def countries(self) -> tuple[str, ...]:
        """The countries, in pairs."""
        return tuple(self.places)

    @property
    def cities(self) -> tuple[str, ...]:
        """The cities, those of one country together."""
        return tuple(chain.from_iterable(self.places.values()))

    @property
    def categories(self) -> tuple[str, ...]:
        """The product categories, in pairs."""
        return tuple(self.products)

    @property
    def rare_categories(self) -> dict[str, str]:
        """The rare categories, in pairs, each with the one whose products they sell."""
        return {f"{word} {category}": category for word in self.adjectives for category in self.categories}

    def product_names(self, category: str, rng: random.Random) -> Iterator[str]:
        """Every name a product of this category can have, each once: with one adjective, later with two."""
        nouns, words = self.products[category], self.adjectives
        plain = [f"{word} {noun}" for noun in nouns for word in words]
        longer = [f"{one} {two} {noun}" for noun in nouns for one in words for two in words if one != two]
        return chain(rng.sample(plain, len(plain)), rng.sample(longer, len(longer)))

    def people(self, rng: random.Random) -> Iterator[str]:
        """Every name a customer can have, each once."""
        names = [f"{first} {last}" for first in self.first_names for last in self.last_names]
        return iter(rng.sample(names, len(names)))

    def more_people(self) -> Iterator[str]:
        """Further names, with two last names: for an instance with more customers than `people` has names."""
        return (
            f"{first} {one} {two}"
            for one, two in zip(self.last_names, self.last_names[1:], strict=False)
            for first in self.first_names
        )

    def email_of(self, name: str, number: int) -> str:
        """The address of a customer; `number` tells namesakes apart."""
        return f"{name.lower().replace(' ', '.')}{number}@{self.email_domain}"

    def country_of(self, city: str) -> str:
        """The country that a city lies in; KeyError for a city of no country."""
        places = self.places | self.rare_places
        return {city: country for country, cities in places.items() for city in cities}[city]


VOCABULARIES = {
    TRAIN: Vocabulary(
        places={
            "France": ("Lyon", "Nantes", "Lille"),
            "Germany": ("Bremen", "Leipzig", "Dresden"),
            "Italy": ("Turin", "Verona"),
            "Spain": ("Seville", "Bilbao"),
            "Netherlands": ("Utrecht", "Delft"),
            "Portugal": ("Porto", "Braga"),
        },
        products={
            "Books": ("Atlas", "Novel", "Biography", "Anthology"),
            "Cookbooks": ("Baking Guide", "Soup Guide", "Grill Guide", "Pasta Guide"),
            "Garden": ("Rake", "Trowel", "Hose", "Planter"),
            "Kitchen": ("Skillet", "Ladle", "Whisk", "Kettle"),
            "Toys": ("Puzzle", "Kite", "Robot", "Doll"),
            "Sports": ("Racket", "Dumbbell", "Helmet", "Skipping Rope"),
            "Music": ("Guitar", "Flute", "Drum", "Ukulele"),
            "Home Office": ("Stapler", "Desk", "Binder", "Notepad"),
            "Lighting": ("Lamp", "Lantern", "Chandelier", "Spotlight"),
            "Bedding": ("Pillow", "Duvet", "Blanket", "Mattress"),
            "Beauty": ("Lipstick", "Perfume", "Comb", "Soap"),
            "Tools": ("Hammer", "Wrench", "Drill", "Saw"),
            "Bakery": ("Baguette", "Croissant", "Muffin", "Scone"),
            "Baby": ("Stroller", "Rattle", "Bib", "Pacifier"),
        },
        rare_places={
            "Austria": ("Graz",), "Belgium": ("Ghent",), "Greece": ("Patras",), "Poland": ("Gdansk",),
            "Hungary": ("Szeged",), "Ireland": ("Galway",), "Finland": ("Turku",), "Croatia": ("Zadar",),
            "Estonia": ("Tartu",), "Denmark": ("Odense",), "Latvia": ("Liepaja",), "Romania": ("Brasov",),
            "Slovenia": ("Maribor",), "Bulgaria": ("Varna",),
        },
        adjectives=("Classic", "Compact", "Deluxe", "Rustic", "Modern", "Sturdy", "Blue", "Wooden", "Large", "Simple"),
        common_product="Gift Box",
        first_names=(
            "Alice", "Bruno", "Clara", "David", "Elena", "Felix", "Greta", "Hugo", "Irene", "Jonas", "Karin", "Luca",
            "Marta", "Nico", "Olivia", "Paul", "Rosa", "Simon", "Teresa", "Victor",
        ),
        last_names=(
            "Albrecht", "Bianchi", "Costa", "Dubois", "Esposito", "Fischer", "Garcia", "Hoffmann", "Jansen", "Keller",
            "Lopez", "Moreau", "Navarro", "Oliveira", "Petit", "Ricci", "Santos", "Torres", "Visser", "Weber",
        ),
        email_domain="example.com",
    ),
    EVALUATION: Vocabulary(
        places={
            "Canada": ("Calgary", "Halifax", "Toronto"),
            "Japan": ("Kyoto", "Sapporo", "Osaka"),
            "Brazil": ("Recife", "Curitiba"),
            "Australia": ("Perth", "Hobart"),
            "Kenya": ("Nairobi", "Mombasa"),
            "Norway": ("Bergen", "Stavanger"),
        },
        products={
            "Games": ("Joystick", "Gamepad", "Pinball", "Cartridge"),
            "Board Games": ("Chess", "Backgammon", "Ludo", "Checkers"),
            "Footwear": ("Sneakers", "Boots", "Sandals", "Slippers"),
            "Stationery": ("Fountain Pen", "Envelope", "Sketchpad", "Eraser"),
            "Electronics": ("Headphones", "Charger", "Keyboard", "Monitor"),
            "Pet Supplies": ("Leash", "Aquarium", "Birdcage", "Collar"),
            "Camping": ("Tent", "Hammock", "Compass", "Backpack"),
            "Jewelry": ("Necklace", "Bracelet", "Ring", "Brooch"),
            "Tea": ("Oolong", "Matcha", "Chai", "Rooibos"),
            "Furniture": ("Armchair", "Bookcase", "Wardrobe", "Stool"),
            "Photography": ("Tripod", "Camera", "Lens", "Flash"),
            "Cycling": ("Pannier", "Bicycle", "Pump", "Saddle"),
            "Fishing": ("Rod", "Reel", "Lure", "Net"),
            "Crafts": ("Yarn", "Loom", "Beads", "Felt"),
        },
        rare_places={
            "Chile": ("Arica",), "Peru": ("Cusco",), "India": ("Jaipur",), "Vietnam": ("Hanoi",), "Egypt": ("Luxor",),
            "Morocco": ("Fez",), "Ghana": ("Kumasi",), "Nepal": ("Pokhara",), "Mexico": ("Puebla",),
            "Cuba": ("Holguin",), "Fiji": ("Nadi",), "Uganda": ("Jinja",), "Bolivia": ("Sucre",),
            "Iceland": ("Akureyri",),
        },
        adjectives=("Vintage", "Slim", "Premium", "Urban", "Coastal", "Folding", "Silver", "Knitted", "Mini", "Bright"),
        common_product="Starter Kit",
        first_names=(
            "Aiko", "Barney", "Chidi", "Daisy", "Ewan", "Fatima", "Gavin", "Haruto", "Ingrid", "Joyce", "Kenji",
            "Leah", "Magnus", "Naomi", "Otieno", "Priya", "Quentin", "Rafael", "Sakura", "Wanjiru",
        ),
        last_names=(
            "Anderson", "Barbosa", "Campbell", "Dahl", "Edwards", "Fujita", "Grant", "Hansen", "Ito", "Johnson",
            "Kimani", "Larsen", "Mwangi", "Nakamura", "Odhiambo", "Pereira", "Robertson", "Silva", "Tanaka", "Wright",
        ),
        email_domain="example.org",
    ),
}

CITIES = {family: VOCABULARIES[family].cities for family in FAMILIES}
COUNTRIES = {family: VOCABULARIES[family].countries for family in FAMILIES}
CATEGORIES = {family: VOCABULARIES[family].categories for family in FAMILIES}
