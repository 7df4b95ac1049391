"""The test split: question types, databases and questions of its own, and the ledger of who was scored on it."""
