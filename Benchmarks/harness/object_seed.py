"""Fills a store with a class of many objects that point to those of a smaller one.

The server makes both classes and one object of each; its row is the pattern that all others follow, so this
knows no more of the tables than the names of the fields.
"""

import datetime
import json
import time
import urllib.parse

ITEM, OWNER = "Item", "Owner"
ITEM_FIELDS = {
    "name": {"type": "String"}, "number": {"type": "Number"}, "note": {"type": "String"},
    "flag": {"type": "Boolean"}, "when": {"type": "Date"}, "owner": {"type": "Pointer", "targetClass": OWNER},
}
ITEMS_PER_NUMBER, ITEMS_PER_NOTE, ITEMS_PER_OWNER = 10, 3, 100
# Numbers of six digits, so that a request is as long as any other.
FIRST_NUMBER, FIRST_NEW, LAST_NEW = 100_000, 600_000, 999_999
NOTE = "note {} about nothing in particular, as long as a sentence that people write"
# As the load wants it: with marks for what differs.
NEW_ITEM = json.dumps({
    "name": "item <NUM6>", "number": 0, "note": NOTE.format("<NUM6>"), "flag": True,
    "when": {"__type": "Date", "iso": "2025-01-02T03:04:05.678Z"},
    "owner": {"__type": "Pointer", "className": OWNER, "objectId": "<<owner.>>"},
}, separators=(",", ":")).replace('"number":0', '"number":<NUM6>')
FIRST_ID, ID_RANGE, ID_STEP = 1_000_000_000, 9_000_000_000, 7_368_787


class SeededObjects:
    """A store with `count` items and the pattern, and files of the ids of the items and of their owners."""

    def __init__(self, store, folder, keys, count):
        self.store = store
        self.keys = keys
        self.count = count
        self.owners = count // ITEMS_PER_OWNER
        self.id_file, self.owner_file = folder + ".items", folder + ".owners"
        self.numbers = (FIRST_NUMBER, FIRST_NUMBER + count // ITEMS_PER_NUMBER - 1)
        self.notes = (FIRST_NUMBER, FIRST_NUMBER + count // ITEMS_PER_NOTE - 1)
        self.seconds = 0.0


def identifier(number):
    """An id that follows from a number, for pgbench too; neighbours are far from each other."""
    return str(FIRST_ID + number * ID_STEP % ID_RANGE)


def pgbench_identifier(count):
    """Lines of a script of pgbench that set `id` to one of the first `count` ids."""
    return (
        f"\\set number random(0, {count - 1})\n"
        f"\\set id {FIRST_ID} + :number * {ID_STEP} % {ID_RANGE}\n")


def seed(store, folder, count):
    started = time.perf_counter()
    server = store.start()
    client = server.master()
    _make_classes(client)
    owner = client.expect(201, "POST", "/parse/classes/Owner", {"name": "owner 000000"})["objectId"]
    item = client.expect(201, "POST", "/parse/classes/Item", json.loads(filled(NEW_ITEM, owner)))["objectId"]
    client.close()
    server.stop()

    seeded = SeededObjects(store, folder, server.keys, count)
    _write_ids(seeded)
    store.fill(OWNER, owner, lambda pattern: _rows(pattern, seeded.owners, {
        "objectId": lambda _, number: identifier(number),
        "name": lambda _, number: f"owner {number:06}",
    }))
    store.fill(ITEM, item, lambda pattern: _rows(pattern, count, {
        "objectId": lambda _, number: identifier(number),
        "name": lambda _, number: f"item {number:06}",
        "number": lambda value, number: type(value)(FIRST_NUMBER + number % (count // ITEMS_PER_NUMBER)),
        "note": lambda _, number: NOTE.format(FIRST_NUMBER + number % (count // ITEMS_PER_NOTE)),
        "owner": lambda value, number: value.replace(owner, identifier(number % seeded.owners)),
        "when": lambda value, number: _moment(value, number - count),
        "createdAt": lambda value, number: _moment(value, number - count),
        "updatedAt": lambda value, number: _moment(value, number - count),
    }))
    _verify(seeded)
    seeded.seconds = time.perf_counter() - started
    return seeded


def filled(template, owner, item="", number=FIRST_NEW):
    """A request with one value for each mark."""
    for mark, value in (("<NUM6>", number), ("<<owner.>>", owner), ("<<object>>", item), ("<<next..>>", item)):
        template = template.replace(mark, str(value))
    return template


def find(where=None, **parameters):
    """The path of a query; what the load replaces in it stays readable."""
    if where:
        parameters["where"] = where
    return "/parse/classes/Item?" + urllib.parse.urlencode(parameters, safe="<>")


def equal(field, value):
    return json.dumps({field: value}, separators=(",", ":"))


def _make_classes(client):
    client.expect(200, "POST", "/parse/schemas/Owner", {"className": OWNER, "fields": {"name": {"type": "String"}}})
    client.expect(200, "POST", "/parse/schemas/Item", {
        "className": ITEM, "fields": ITEM_FIELDS, "indexes": {"byNumber": {"number": 1}}})


def _write_ids(seeded):
    for path, count in ((seeded.id_file, seeded.count), (seeded.owner_file, seeded.owners)):
        with open(path, "w") as file:
            file.writelines(identifier(number) + "\n" for number in range(count))


def _rows(pattern, count, fields):
    """Copies of the pattern in which some fields are made anew of their value in it and the number of the row."""
    missing = fields.keys() - pattern.keys()
    if missing:
        raise RuntimeError(f"no column is called {sorted(missing)}; there are {list(pattern)}")
    columns = list(pattern)
    places = [(columns.index(field), pattern[field], make) for field, make in fields.items()]
    for number in range(count):
        row = list(pattern.values())
        for place, value, make in places:
            row[place] = make(value, number)
        yield row


def _moment(value, seconds):
    """A moment that many seconds later: milliseconds in SQLite, in PostgreSQL these or a text."""
    if isinstance(value, int):
        return value + seconds * 1000
    if value.isdigit():
        return str(int(value) + seconds * 1000)
    return str(datetime.datetime.fromisoformat(value) + datetime.timedelta(seconds=seconds))


def _verify(seeded):
    """Asks what is measured later, and looks at the answers."""
    server = seeded.store.start(seeded.keys)
    client = server.client()
    last = seeded.count - 1
    item = client.expect(200, "GET", f"/parse/classes/Item/{identifier(last)}?include=owner")
    same = client.expect(200, "GET", find(equal("number", seeded.numbers[1])))["results"]
    filtered = client.expect(200, "GET", find(equal("note", NOTE.format(seeded.notes[0]))))["results"]
    newest = client.expect(200, "GET", find(order="-createdAt", limit=2))["results"]
    count = client.expect(200, "GET", find(count=1, limit=0))["count"]
    client.close()
    server.stop()
    facts = (item["name"], item["owner"].get("name"), len(same), newest[1]["objectId"], count)
    owner = f"owner {last % seeded.owners:06}"
    expected = (f"item {last:06}", owner, ITEMS_PER_NUMBER, identifier(last), seeded.count + 1)
    if facts != expected or not ITEMS_PER_NOTE <= len(filtered) <= ITEMS_PER_NOTE + 1:
        raise RuntimeError(f"the seeded store answers {facts} and {len(filtered)} rows, not {expected}")
