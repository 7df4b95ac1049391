"""A page of HTML taken apart, for tests that look into it."""

import json
from html.parser import HTMLParser


class Elements(HTMLParser):
    """Start tags with their attributes, the contents of scripts, and whatever was left open."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.scripts, self.open, self.words = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "link", "input", "br", "path"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.scripts.append((self.tags[-1][1], data))
        elif self.open and self.open[-1] != "style":
            self.words.append(data)

    @property
    def data(self):
        """The contents of scripts that hold JSON, each with the attributes of its tag."""
        return [(tag, json.loads(text)) for tag, text in self.scripts if tag.get("type") == "application/json"]
