"""The storage queue emulator seen by azure-storage-queue of Debian's python3-azure."""

import os
import time
from datetime import datetime, timedelta, timezone

from azure.core.exceptions import ClientAuthenticationError, HttpResponseError, ResourceExistsError, ResourceNotFoundError
from azure.storage.queue import (
    AccessPolicy,
    AccountSasPermissions,
    BinaryBase64DecodePolicy,
    BinaryBase64EncodePolicy,
    CorsRule,
    Metrics,
    QueueAnalyticsLogging,
    QueueClient,
    QueueSasPermissions,
    QueueServiceClient,
    ResourceTypes,
    RetentionPolicy,
    generate_account_sas,
    generate_queue_sas,
)
from azure.storage.queue import __version__ as version

from report import connection, equal, refused, run

text = os.environ["STORAGE_CONNECTION_STRING"]
parts = connection("STORAGE_CONNECTION_STRING")
service = QueueServiceClient.from_connection_string(text, retry_total=0)


def queue(name, **options):
    client = QueueClient.from_connection_string(text, name, retry_total=0, **options)
    client.create_queue()
    return client


def texts(messages):
    return [message.content for message in messages]


def queues():
    names = [f"list{i}" for i in range(7)]
    for name in names:
        service.create_queue(name, metadata={"n": name})
    refused(lambda: service.create_queue("list0", metadata={"other": "x"}), ResourceExistsError)
    pages = [list(page) for page in service.list_queues("list", include_metadata=True, results_per_page=3).by_page()]
    equal([len(page) for page in pages], [3, 3, 1])
    equal([(each.name, each.metadata) for page in pages for each in page], [(name, {"n": name}) for name in names])
    for name in names:
        service.delete_queue(name)
    equal(list(service.list_queues("list")), [])
    refused(lambda: service.delete_queue("list0"), ResourceNotFoundError)


def metadata():
    client = queue("metadata")
    client.set_queue_metadata({"one": "1", "Two": "b c"})
    client.send_message("m")
    got = client.get_queue_properties()
    equal({name.lower(): value for name, value in got.metadata.items()}, {"one": "1", "two": "b c"})
    equal(got.approximate_message_count, 1)


def put_and_get():
    client = queue("putget")
    for body in ("plain", "ä€ 漢字 <&>\"'", "line\nbreak\ttab", "x" * 60_000):
        sent = client.send_message(body)
        (got,) = client.receive_messages()
        equal((got.content, got.id, got.dequeue_count), (body, sent.id, 1))
        client.delete_message(got)
    binary = QueueClient.from_connection_string(
        text, "putget", message_encode_policy=BinaryBase64EncodePolicy(), message_decode_policy=BinaryBase64DecodePolicy()
    )
    binary.send_message(b"\x00\xff")
    equal(texts(binary.receive_messages()), [b"\x00\xff"])
    refused(lambda: client.send_message("x" * 70_000), HttpResponseError)


def one_by_one():
    client = queue("onebyone")
    client.send_message("0")
    begin = time.monotonic()
    for i in range(1, 100):
        client.send_message(str(i))
    per_send = (time.monotonic() - begin) * 1000 / 99
    equal(client.get_queue_properties().approximate_message_count, 100)
    return per_send


def several():
    client = queue("several")
    for i in range(40):
        client.send_message(str(i))
    pages = [list(page) for page in client.receive_messages(messages_per_page=32, visibility_timeout=60).by_page()]
    equal(texts(message for page in pages for message in page), [str(i) for i in range(40)])
    equal(len(pages[0]), 32)


def peek():
    client = queue("peek")
    equal(client.peek_messages(), [])
    for i in range(3):
        client.send_message(str(i))
    equal(texts(client.peek_messages(max_messages=2)), ["0", "1"])
    equal(texts(client.peek_messages(max_messages=32)), ["0", "1", "2"])
    equal(client.receive_message().dequeue_count, 1)


def update():
    client = queue("update")
    client.send_message("before")
    got = client.receive_message()
    changed = client.update_message(got, content="after", visibility_timeout=0)
    refused(lambda: client.update_message(got.id, got.pop_receipt, content="late"), ResourceNotFoundError, HttpResponseError)
    equal(changed.id, got.id)
    equal(client.receive_message().content, "after")


def delete():
    client = queue("delete")
    client.send_message("m")
    got = client.receive_message()
    client.delete_message(got.id, got.pop_receipt)
    refused(lambda: client.delete_message(got.id, got.pop_receipt), ResourceNotFoundError)
    equal(client.receive_message(), None)


def clear():
    client = queue("clear")
    for i in range(3):
        client.send_message(str(i))
    client.clear_messages()
    equal(client.peek_messages(), [])


def visibility():
    client = queue("visibility")
    client.send_message("later", visibility_timeout=3600)
    equal(client.receive_message(), None)
    client.send_message("soon", visibility_timeout=1)
    time.sleep(1.5)
    equal(client.receive_message(visibility_timeout=1).content, "soon")
    time.sleep(1.5)
    equal(client.receive_message().dequeue_count, 2)


def time_to_live():
    client = queue("ttl")
    client.send_message("brief", time_to_live=1)
    client.send_message("for ever", time_to_live=-1)
    time.sleep(1.5)
    equal(texts(client.receive_messages()), ["for ever"])


def access_policy():
    client = queue("policy")
    start, expiry = datetime(2020, 1, 2, tzinfo=timezone.utc), datetime.now(timezone.utc) + timedelta(hours=1)
    policy = AccessPolicy(permission=QueueSasPermissions(read=True, process=True), start=start, expiry=expiry)
    client.set_queue_access_policy({"readers": policy, "empty": None})
    got = client.get_queue_access_policy()
    equal(set(got), {"readers", "empty"})
    equal((str(got["readers"].permission), got["readers"].start[:10]), ("rp", "2020-01-02"))
    sas = generate_queue_sas(parts["AccountName"], "policy", parts["AccountKey"], policy_id="readers")
    reader = QueueClient(parts["QueueEndpoint"], "policy", credential=sas, retry_total=0)
    equal(reader.peek_messages(), [])
    refused(lambda: reader.send_message("m"), ClientAuthenticationError, HttpResponseError)
    client.set_queue_access_policy({})
    refused(reader.peek_messages, ClientAuthenticationError, HttpResponseError)


def sas():
    queue("sas")
    expiry = datetime.now(timezone.utc) + timedelta(hours=1)
    one = generate_queue_sas(
        parts["AccountName"], "sas", parts["AccountKey"], permission=QueueSasPermissions(add=True), expiry=expiry
    )
    adder = QueueClient(parts["QueueEndpoint"], "sas", credential=one, retry_total=0)
    adder.send_message("m")
    refused(adder.receive_message, ClientAuthenticationError, HttpResponseError)
    whole = generate_account_sas(
        parts["AccountName"], parts["AccountKey"], ResourceTypes(service=True, container=True, object=True),
        AccountSasPermissions(read=True, list=True, process=True), expiry,
    )
    reader = QueueServiceClient(parts["QueueEndpoint"], credential=whole, retry_total=0)
    equal("sas" in [each.name for each in reader.list_queues()], True)
    equal(reader.get_queue_client("sas").receive_message().content, "m")
    refused(lambda: reader.create_queue("no"), ClientAuthenticationError, HttpResponseError)


def service_properties():
    days = RetentionPolicy(enabled=True, days=5)
    service.set_service_properties(
        analytics_logging=QueueAnalyticsLogging(read=True, write=True, delete=False, retention_policy=days),
        hour_metrics=Metrics(enabled=True, include_apis=True, retention_policy=days),
        cors=[CorsRule(["https://example.org"], ["GET"], max_age_in_seconds=100)],
    )
    got = service.get_service_properties()
    equal((got["analytics_logging"].read, got["hour_metrics"].retention_policy.days), (True, 5))
    equal([rule.allowed_origins for rule in got["cors"]], ["https://example.org"])


def unknown_queue():
    client = QueueClient.from_connection_string(text, "nowhere", retry_total=0)
    for operation in (lambda: client.send_message("m"), client.receive_message, client.get_queue_properties, client.delete_queue):
        equal(refused(operation, ResourceNotFoundError).error_code, "QueueNotFound")


def wrong_key():
    client = QueueServiceClient(parts["QueueEndpoint"], credential="d3Jvbmc=", retry_total=0)
    refused(lambda: list(client.list_queues()), ClientAuthenticationError)


run(version, {
    "queues": queues,
    "queue metadata": metadata,
    "put and get": put_and_get,
    "put one by one": one_by_one,
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
