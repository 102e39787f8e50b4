"""The storage queue emulator seen by the commands of the Azure CLI, which run within this process as az runs them."""

import io
import json
import os
import time
from datetime import datetime, timedelta, timezone
from tempfile import TemporaryDirectory

folder = TemporaryDirectory()  # settings and logs of this run alone
os.environ["AZURE_CONFIG_DIR"] = folder.name
os.environ["AZURE_CORE_COLLECT_TELEMETRY"] = "no"

from azure.cli.core import __version__ as version  # noqa: E402, it reads the environment
from azure.cli.core import get_default_cli  # noqa: E402

from report import connection, equal, run  # noqa: E402

text = os.environ["STORAGE_CONNECTION_STRING"]
parts = connection("STORAGE_CONNECTION_STRING")
cli = get_default_cli()


class Refused(Exception):
    """A command's exit code was not 0."""


def az(*words, credential=("--connection-string", text)):
    """Runs a command as it is typed and returns its answer."""
    out = io.StringIO()
    try:
        code = cli.invoke([*words, *credential, "--output", "json", "--only-show-errors"], out_file=out)
    except SystemExit as ended:
        code = ended.code
    if code:
        error = cli.result.error if cli.result else None
        raise Refused(f"{' '.join(words[:4])}: exit code {code}: {error}")
    return json.loads(out.getvalue() or "null")


def refused(*words, **options):
    try:
        az(*words, **options)
    except Refused:
        return
    raise AssertionError(f"{' '.join(words)} was not refused")


def queue(name):
    equal(az("storage", "queue", "create", "--name", name), {"created": True})


def message(verb, name, *words, **options):
    return az("storage", "message", verb, "--queue-name", name, *words, **options)


def queues():
    queue("one")
    queue("other")
    equal(az("storage", "queue", "create", "--name", "one"), {"created": False})
    refused("storage", "queue", "create", "--name", "one", "--fail-on-exist")
    equal([each["name"] for each in az("storage", "queue", "list", "--prefix", "o")], ["one", "other"])
    equal(az("storage", "queue", "exists", "--name", "one"), {"exists": True})
    for name in ("one", "other"):
        equal(az("storage", "queue", "delete", "--name", name), {"deleted": True})
    equal(az("storage", "queue", "exists", "--name", "one"), {"exists": False})


def metadata():
    queue("metadata")
    az("storage", "queue", "metadata", "update", "--name", "metadata", "--metadata", "one=1", "two=2")
    equal(az("storage", "queue", "metadata", "show", "--name", "metadata"), {"one": "1", "two": "2"})


def put_and_get():
    queue("putget")
    for body in ("plain", "ä€ 漢字 <&>\"'"):
        message("put", "putget", "--content", body)
        (got,) = message("get", "putget")
        equal((got["content"], got["dequeueCount"]), (body, 1))
        message("delete", "putget", "--id", got["id"], "--pop-receipt", got["popReceipt"])


def several():
    queue("several")
    for i in range(3):
        message("put", "several", "--content", str(i))
    got = message("get", "several", "--num-messages", "32", "--visibility-timeout", "60")
    equal([each["content"] for each in got], ["0", "1", "2"])


def peek():
    queue("peek")
    equal(message("peek", "peek"), [])
    message("put", "peek", "--content", "m")
    equal([each["content"] for each in message("peek", "peek", "--num-messages", "5")], ["m"])


def update():
    queue("update")
    message("put", "update", "--content", "before")
    (got,) = message("get", "update")
    words = ("--id", got["id"], "--pop-receipt", got["popReceipt"], "--content", "after", "--visibility-timeout", "0")
    message("update", "update", *words)
    equal([each["content"] for each in message("get", "update")], ["after"])


def delete():
    queue("delete")
    message("put", "delete", "--content", "m")
    (got,) = message("get", "delete")
    message("delete", "delete", "--id", got["id"], "--pop-receipt", got["popReceipt"])
    refused("storage", "message", "delete", "-q", "delete", "--id", got["id"], "--pop-receipt", got["popReceipt"])


def clear():
    queue("clear")
    message("put", "clear", "--content", "m")
    message("clear", "clear")
    equal(message("peek", "clear"), [])


def visibility():
    queue("visibility")
    message("put", "visibility", "--content", "later", "--visibility-timeout", "3600")
    equal(message("get", "visibility"), [])
    message("put", "visibility", "--content", "soon", "--visibility-timeout", "1")
    time.sleep(1.5)
    equal([each["content"] for each in message("get", "visibility")], ["soon"])


def time_to_live():
    queue("ttl")
    message("put", "ttl", "--content", "brief", "--time-to-live", "1")
    time.sleep(1.5)
    equal(message("get", "ttl"), [])


def access_policy():
    queue("policy")
    words = ("--queue-name", "policy", "--name", "readers")
    az("storage", "queue", "policy", "create", *words, "--permissions", "rp", "--expiry", later())
    got = az("storage", "queue", "policy", "show", *words)
    equal((got["permission"], got["expiry"][:10]), ("rp", later()[:10]))
    equal(list(az("storage", "queue", "policy", "list", "--queue-name", "policy")), ["readers"])
    az("storage", "queue", "policy", "update", *words, "--permissions", "r")
    az("storage", "queue", "policy", "delete", *words)
    equal(az("storage", "queue", "policy", "list", "--queue-name", "policy"), {})


def sas():
    queue("sas")
    token = az("storage", "queue", "generate-sas", "--name", "sas", "--permissions", "a", "--expiry", later())
    credential = ("--queue-endpoint", parts["QueueEndpoint"], "--sas-token", token)
    message("put", "sas", "--content", "m", credential=credential)
    refused("storage", "message", "get", "--queue-name", "sas", credential=credential)


def later():
    return (datetime.now(timezone.utc) + timedelta(days=1)).strftime("%Y-%m-%dT%H:%MZ")


def service_properties():
    words = ("--services", "q", "--origins", "https://example.org", "--methods", "GET", "--max-age", "100")
    az("storage", "cors", "add", *words)
    equal([each["AllowedOrigins"] for each in az("storage", "cors", "list", "--services", "q")], ["https://example.org"])
    az("storage", "cors", "clear", "--services", "q")
    equal(az("storage", "cors", "list", "--services", "q"), [])


def unknown_queue():
    for verb in ("peek", "get", "clear"):
        refused("storage", "message", verb, "--queue-name", "nowhere")


def wrong_key():
    credential = ("--connection-string", text.replace(parts["AccountKey"], "d3Jvbmc="))
    refused("storage", "queue", "list", credential=credential)


run(version, {
    "queues": queues,
    "queue metadata": metadata,
    "put and get": put_and_get,
    "get several": several,
    "peek messages": peek,
    "update": update,
    "delete": delete,
    "clear": clear,
    "visibility": visibility,
    "time to live": time_to_live,
    "access policy": access_policy,
    "SAS": sas,
    "service properties": service_properties,
    "unknown queue": unknown_queue,
    "wrong account key": wrong_key,
})
