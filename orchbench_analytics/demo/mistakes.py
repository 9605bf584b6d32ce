"""What goes wrong inside a call: the tool, the keys, the values."""

import re
from typing import Any

from orchbench_analytics.demo.labels import Call, Document
from orchbench_analytics.demo.luck import Luck
from orchbench_analytics.demo.models import Model
from orchbench_analytics.demo.world import Phrases, World


def mistaken(calls: tuple[Call, ...], model: Model, luck: Luck, world: World) -> list[Call]:
    """The calls as this model makes them."""
    made = [_made(call, model, luck, world) for call in calls]
    if len(made) > 1 and luck.strikes(model.lost_call):
        made.pop()
    return made


def _made(call: Call, model: Model, luck: Luck, world: World) -> Call:
    words = world.phrases
    schema = world.tools[call.name].parameters
    arguments: Document = {}
    for key, value in call.arguments.items():
        if luck.strikes(model.lost_key):
            continue
        is_query = key == "refinedQuery"
        if luck.strikes(model.reworded * (1.6 if is_query else 0.6)):
            arguments[key] = reworded(value, luck, words)
        elif luck.strikes(model.wrong_value * (0.6 if is_query else 1.0)):
            arguments[key] = wrong(value, schema.get(key, {}), luck)
        else:
            arguments[key] = value
    unused = [key for key in schema if key not in call.arguments]
    if luck.strikes(model.extra_key):
        arguments[luck.pick([*unused, "note"])] = luck.pick(("", words.please, 1, True))
    name = (
        _other_tool(call.name, luck, world.agent_of)
        if luck.strikes(model.wrong_tool)
        else call.name
    )
    return Call(name, arguments)


def _other_tool(name: str, luck: Luck, agent_of: dict[str, str]) -> str:
    far = [other for other in agent_of if agent_of[other] != agent_of[name]]
    near = [other for other in agent_of if other not in far and other != name] or far
    invented = re.sub(r"(?<=[a-z])([A-Z])", r"_\1", name).lower()
    return luck.pick((luck.pick(near), luck.pick(near), luck.pick(far), invented))


def reworded(value: object, luck: Luck, words: Phrases) -> object:
    """The same thing said otherwise: a reader would accept it, a comparison of texts does not."""
    if not isinstance(value, str) or not value:
        return value
    changed = luck.pick(
        (value.lower(), value.upper(), f"{value} {words.please}", value.replace(" ", ""))
    )
    return changed if changed != value else f"{value} {words.please}"


def wrong(value: object, schema: dict[str, Any], luck: Luck) -> object:
    """Another value of the same kind, or nearly."""
    match value:
        case bool():
            return not value
        case int():
            return value + luck.pick((-1, 1, 2, 10))
        case float():
            return round(value * luck.pick((0.5, 1.5, 10)), 2)
        case list() if len(value) > 1:
            return value[:-1]
        case list():
            return [*value, *(wrong(item, schema.get("items", {}), luck) for item in value)]
        case dict():
            key = luck.pick([*value])
            inner = schema.get("properties", {}).get(key, {})
            return {**value, key: wrong(value[key], inner, luck)}
        case str():
            return _wrong_text(value, schema, luck)
        case _:
            return None


def _wrong_text(value: str, schema: dict[str, Any], luck: Luck) -> str:
    others: list[str] = [word for word in schema.get("enum", ()) if word != value]
    if others:
        return luck.pick(others)
    if "pattern" in schema and value[-1:].isdigit():
        digit = str((int(value[-1]) + luck.pick((1, 2, 3))) % 10)
        return luck.pick((value[:-1] + digit, value[:-1] + digit, re.sub(r"[-:]", "", value)))
    first, _, rest = value.partition(" ")
    return luck.pick(("N/A", rest or first[:1], first if rest else value * 2, "unknown"))
