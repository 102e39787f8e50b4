"""The Service Bus emulator seen by azure-servicebus 7.8 of Debian's python3-azure."""

import os
import time
import uuid
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone

from azure.core.exceptions import HttpResponseError, ResourceExistsError, ResourceNotFoundError
from azure.servicebus import (
    NEXT_AVAILABLE_SESSION,
    AutoLockRenewer,
    ServiceBusClient,
    ServiceBusMessage,
    ServiceBusMessageState,
    ServiceBusReceiveMode,
    ServiceBusSubQueue,
    TransportType,
)
from azure.servicebus import __version__ as version
from azure.servicebus._common import _configuration
from azure.servicebus.amqp import AmqpAnnotatedMessage, AmqpMessageHeader
from azure.servicebus.exceptions import (
    MessageSizeExceededError,
    ServiceBusAuthenticationError,
    ServiceBusError,
    SessionCannotBeLockedError,
)
from azure.servicebus.management import CorrelationRuleFilter, ServiceBusAdministrationClient, SqlRuleAction, SqlRuleFilter

from report import connection, equal, refused, run

# This version has the ports of Azure built in.
_configuration.DEFAULT_AMQPS_PORT = int(os.environ["SERVICEBUS_AMQP"].rsplit(":")[-1])
_configuration.DEFAULT_AMQP_WSS_PORT = http_port = int(os.environ["SERVICEBUS_HTTP"].rsplit(":")[-1])

parts = connection("SERVICEBUS_CONNECTION_STRING")
key = f"SharedAccessKeyName={parts['SharedAccessKeyName']};SharedAccessKey={parts['SharedAccessKey']}"


def connect(key=key, **options):
    return ServiceBusClient.from_connection_string(
        f"Endpoint=sb://localhost/;{key}", connection_verify=os.environ["CA_FILE"], retry_total=1, **options
    )


client = connect()
admin = ServiceBusAdministrationClient.from_connection_string(f"Endpoint=sb://localhost:{http_port}/;{key}")


@contextmanager
def queue(name, **options):
    """Gives a sender and a receiver of a queue."""
    with client.get_queue_sender(name) as sender, client.get_queue_receiver(name, **options) as receiver:
        yield sender, receiver


def one(receiver, body):
    got = receiver.receive_messages(max_wait_time=20)
    equal([str(message) for message in got], [body])
    return got[0]


def none(receiver):
    equal([str(message) for message in receiver.receive_messages(max_wait_time=1)], [])


def sends(sender, count=100):
    sender.send_messages(ServiceBusMessage("0"))
    begin = time.monotonic()
    for i in range(1, count):
        sender.send_messages(ServiceBusMessage(str(i)))
    return (time.monotonic() - begin) * 1000 / (count - 1)


def collect(receiver, count):
    got = []
    while len(got) < count:
        some = receiver.receive_messages(max_message_count=count - len(got), max_wait_time=20)
        if not some:
            raise AssertionError(f"{len(got)} of {count} messages came")
        for message in some:
            if receiver._receive_mode == ServiceBusReceiveMode.PEEK_LOCK:
                receiver.complete_message(message)
            got.append(str(message))
    return got


def send():
    with client.get_queue_sender("send") as sender:
        per_send = sends(sender)
    with client.get_queue_receiver("send") as receiver:
        equal(collect(receiver, 100), [str(i) for i in range(100)])
    return per_send


def send_while_receiving():
    with queue("both", prefetch_count=10) as (sender, receiver):
        none(receiver)
        per_send = sends(sender)
        equal(collect(receiver, 100), [str(i) for i in range(100)])
    return per_send


def batch():
    with queue("batch") as (sender, receiver):
        messages = sender.create_message_batch()
        for i in range(50):
            messages.add_message(ServiceBusMessage(str(i)))
        refused(lambda: messages.add_message(ServiceBusMessage("x" * messages.max_size_in_bytes)), ValueError)
        sender.send_messages(messages)
        sender.send_messages([ServiceBusMessage(str(i)) for i in range(50, 60)])
        equal(collect(receiver, 60), [str(i) for i in range(60)])


def large():
    with queue("large") as (sender, receiver):
        body = "0123456789" * 90_000
        sender.send_messages(ServiceBusMessage(body))
        receiver.complete_message(one(receiver, body))
        refused(lambda: sender.send_messages(ServiceBusMessage("x" * 1_100_000)), MessageSizeExceededError, ValueError)


def properties():
    sent = {
        "text": "ä€", "bytes": b"raw", "true": True, "false": False, "int": 5, "negative": -(1 << 40),
        "float": 1.5, "uuid": uuid.uuid4(), "datetime": datetime(2030, 1, 2, 3, 4, 5, tzinfo=timezone.utc), "empty": None,
    }
    fields = {
        "message_id": "id", "subject": "label", "to": "to", "reply_to": "reply", "correlation_id": "correlation",
        "content_type": "text/plain", "partition_key": "partition", "time_to_live": timedelta(minutes=5),
        "reply_to_session_id": "s",
    }
    with queue("properties") as (sender, receiver):
        sender.send_messages(ServiceBusMessage("body", application_properties=sent, **fields))
        got = one(receiver, "body")
        for name, value in fields.items():
            equal(getattr(got, name), value)
        text = {name.decode(): value for name, value in got.application_properties.items()}
        equal(text.pop("text"), "ä€".encode())
        # This version gives a time as milliseconds.
        equal(text.pop("datetime"), 1893553445000)
        del sent["text"], sent["datetime"]
        equal(text, sent)
        equal((got.delivery_count, got.state), (0, ServiceBusMessageState.ACTIVE))
        receiver.complete_message(got)


def bodies():
    kinds = [{"data_body": [b"one", b"two"]}, {"value_body": {b"a": [1, b"x", None]}}, {"sequence_body": [[1, b"x"], [2]]}]
    with queue("bodies") as (sender, receiver):
        for kind in kinds:
            sender.send_messages(AmqpAnnotatedMessage(header=AmqpMessageHeader(priority=7), footer={b"f": 1}, **kind))
        for kind in kinds:
            (got,) = receiver.receive_messages(max_wait_time=20)
            body = got.raw_amqp_message.body
            equal(body if isinstance(body, dict) else list(body), *kind.values())
            equal(got.raw_amqp_message.footer, {b"f": 1})
            receiver.complete_message(got)


def deleting():
    with queue("deleting", receive_mode=ServiceBusReceiveMode.RECEIVE_AND_DELETE) as (sender, receiver):
        sender.send_messages([ServiceBusMessage("once"), ServiceBusMessage("twice")])
        equal(sorted(collect(receiver, 2)), ["once", "twice"])
    with client.get_queue_receiver("deleting") as receiver:
        none(receiver)


def complete():
    with queue("complete") as (sender, receiver):
        sender.send_messages(ServiceBusMessage("m"))
        message = one(receiver, "m")
        equal(message.locked_until_utc > datetime.now(timezone.utc), True)
        receiver.complete_message(message)
        none(receiver)


def abandon():
    with queue("abandon") as (sender, receiver):
        sender.send_messages(ServiceBusMessage("m"))
        receiver.abandon_message(one(receiver, "m"))
        message = one(receiver, "m")
        equal(message.delivery_count, 1)
        receiver.complete_message(message)


def defer():
    with queue("defer") as (sender, receiver):
        sender.send_messages([ServiceBusMessage(str(i)) for i in range(5)])
        numbers = []
        while len(numbers) < 5:
            for message in receiver.receive_messages(max_message_count=5, max_wait_time=20):
                numbers.append(message.sequence_number)
                receiver.defer_message(message)
        none(receiver)
        got = receiver.receive_deferred_messages(numbers)
        equal([str(message) for message in got], ["0", "1", "2", "3", "4"])
        for message in got:
            receiver.complete_message(message)
        refused(lambda: receiver.receive_deferred_messages(numbers[0]), ServiceBusError)


def dead_letter():
    with queue("deadletter") as (sender, receiver):
        sender.send_messages(ServiceBusMessage("m"))
        receiver.dead_letter_message(one(receiver, "m"), reason="why", error_description="because")
    with client.get_queue_receiver("deadletter", sub_queue=ServiceBusSubQueue.DEAD_LETTER) as receiver:
        message = one(receiver, "m")
        equal((message.dead_letter_reason, message.dead_letter_error_description), ("why", "because"))
        receiver.complete_message(message)


def peek():
    with queue("peek") as (sender, receiver):
        equal(receiver.peek_messages(), [])
        sender.send_messages([ServiceBusMessage(str(i)) for i in range(3)])
        first = receiver.peek_messages(max_message_count=2)
        equal([str(message) for message in first], ["0", "1"])
        rest = receiver.peek_messages(max_message_count=5, sequence_number=first[-1].sequence_number + 1)
        equal([str(message) for message in rest], ["2"])
        collect(receiver, 3)


def schedule():
    due = datetime.now(timezone.utc) + timedelta(seconds=2)
    with queue("schedule") as (sender, receiver):
        later = due + timedelta(hours=1)
        numbers = sender.schedule_messages([ServiceBusMessage("no"), ServiceBusMessage("never")], later)
        equal([message.state for message in receiver.peek_messages(2)], [ServiceBusMessageState.SCHEDULED] * 2)
        sender.cancel_scheduled_messages(numbers)
        equal(receiver.peek_messages(2), [])
        (number,) = sender.schedule_messages(ServiceBusMessage("yes"), due)
        message = one(receiver, "yes")
        equal(datetime.now(timezone.utc) >= due, True)
        equal(message.sequence_number >= number, True)
        receiver.complete_message(message)


def renew_lock():
    with queue("renew") as (sender, receiver):
        sender.send_messages(ServiceBusMessage("m"))
        message = one(receiver, "m")
        until = message.locked_until_utc
        time.sleep(4)
        equal(receiver.renew_message_lock(message) > until, True)
        # The client renews in the last seconds of a lock, and looks each second.
        with AutoLockRenewer() as renewer:
            renewer.register(receiver, message, max_lock_renewal_duration=20)
            time.sleep(7)
            receiver.complete_message(message)
        none(receiver)


def lose_lock():
    with queue("lose") as (sender, receiver):
        sender.send_messages(ServiceBusMessage("m"))
        message = one(receiver, "m")
        time.sleep(3.5)
        # This version looks at its clock, and has no word from the service.
        refused(lambda: receiver.complete_message(message), ServiceBusError)
        receiver.complete_message(one(receiver, "m"))


def unique():
    with queue("unique") as (sender, receiver):
        for body in ("first", "second"):
            sender.send_messages(ServiceBusMessage(body, message_id="same"))
        receiver.complete_message(one(receiver, "first"))
        none(receiver)


def session_by_name():
    with client.get_queue_sender("session") as sender:
        sender.send_messages([ServiceBusMessage(f"{s}{i}", session_id=s) for i in range(3) for s in ("a", "b")])
    for name in ("b", "a"):
        with client.get_queue_receiver("session", session_id=name) as receiver:
            equal(receiver.session.session_id, name)
            equal(collect(receiver, 3), [f"{name}{i}" for i in range(3)])


def next_session():
    with client.get_queue_sender("next") as sender:
        for name in ("a", "b"):
            sender.send_messages(ServiceBusMessage(name, session_id=name))
    found = []
    for _ in range(2):
        with client.get_queue_receiver("next", session_id=NEXT_AVAILABLE_SESSION) as receiver:
            found += collect(receiver, 1)
            equal(receiver.session.session_id, found[-1])
    equal(sorted(found), ["a", "b"])


def session_state():
    with client.get_queue_receiver("state", session_id="s") as receiver:
        equal(receiver.session.get_state(), None)
        receiver.session.set_state(b"\x00state")
    with client.get_queue_receiver("state", session_id="s") as receiver:
        equal(receiver.session.get_state(), b"\x00state")
        receiver.session.set_state(None)
        equal(receiver.session.get_state(), None)


def renew_session():
    with client.get_queue_sender("renewsession") as sender:
        sender.send_messages(ServiceBusMessage("m", session_id="s"))
    with client.get_queue_receiver("renewsession", session_id="s") as receiver:
        until = receiver.session.locked_until_utc
        message = one(receiver, "m")
        time.sleep(4)
        equal(receiver.session.renew_lock() > until, True)
        time.sleep(4)
        receiver.complete_message(message)


def locked_session():
    with client.get_queue_receiver("lockedsession", session_id="s"):

        def second():
            with client.get_queue_receiver("lockedsession", session_id="s"):
                pass

        refused(second, SessionCannotBeLockedError)


def topic():
    with client.get_topic_sender("events") as sender:
        sender.send_messages([ServiceBusMessage("m", subject="green"), ServiceBusMessage("n", subject="red")])
    with client.get_subscription_receiver("events", "all") as receiver:
        equal(collect(receiver, 2), ["m", "n"])


def correlation_rule():
    with client.get_topic_sender("events") as sender:
        sender.send_messages([ServiceBusMessage("no", subject="green"), ServiceBusMessage("yes", subject="red")])
    with client.get_subscription_receiver("events", "red") as receiver:
        got = []
        while "yes" not in got:
            got += collect(receiver, 1)
        equal("no" in got, False)


def push():
    with queue("push", max_wait_time=2) as (sender, receiver):
        sender.send_messages([ServiceBusMessage(str(i)) for i in range(20)])
        got = []
        for message in receiver:
            receiver.complete_message(message)
            got.append(str(message))
        equal(got, [str(i) for i in range(20)])


def websocket():
    with connect(transport_type=TransportType.AmqpOverWebsocket) as over:
        with over.get_queue_sender("websocket") as sender, over.get_queue_receiver("websocket") as receiver:
            sender.send_messages(ServiceBusMessage("m" * 100_000))
            receiver.complete_message(one(receiver, "m" * 100_000))


def unknown_entity():
    def sending():
        with client.get_queue_sender("nowhere") as sender:
            sender.send_messages(ServiceBusMessage("m"))

    def receiving():
        with client.get_queue_receiver("nowhere") as receiver:
            receiver.receive_messages(max_wait_time=2)

    # The token for it is refused already, and this version calls everything about tokens so; as with the real service.
    for operation in (sending, receiving):
        equal("404" in str(refused(operation, ServiceBusAuthenticationError)), True)


def wrong_key():
    def sending():
        with connect(f"SharedAccessKeyName={parts['SharedAccessKeyName']};SharedAccessKey=d3Jvbmc=") as other:
            with other.get_queue_sender("send") as sender:
                sender.send_messages(ServiceBusMessage("m"))

    refused(sending, ServiceBusAuthenticationError)


def admin_queues():
    made = admin.create_queue("q1", lock_duration=timedelta(seconds=90), max_delivery_count=7, requires_session=True)
    equal((made.lock_duration, made.max_delivery_count, made.requires_session), (timedelta(seconds=90), 7, True))
    refused(lambda: admin.create_queue("q1"), ResourceExistsError)
    made.max_delivery_count = 8
    made.dead_lettering_on_message_expiration = True
    admin.update_queue(made)
    got = admin.get_queue("q1")
    equal((got.max_delivery_count, got.dead_lettering_on_message_expiration), (8, True))
    equal("q1" in [each.name for each in admin.list_queues()], True)
    equal(bool(admin.get_namespace_properties().name), True)
    admin.delete_queue("q1")
    refused(lambda: admin.get_queue("q1"), ResourceNotFoundError)


def admin_topics():
    made = admin.create_topic("t1", requires_duplicate_detection=True)
    made.default_message_time_to_live = timedelta(days=3)
    admin.update_topic(made)
    equal(admin.get_topic("t1").default_message_time_to_live, timedelta(days=3))
    equal("t1" in [each.name for each in admin.list_topics()], True)
    admin.delete_topic("t1")
    refused(lambda: admin.get_topic("t1"), ResourceNotFoundError)


def admin_subscriptions():
    admin.create_topic("t2")
    made = admin.create_subscription("t2", "s", lock_duration=timedelta(seconds=30))
    made.max_delivery_count = 3
    admin.update_subscription("t2", made)
    got = admin.get_subscription("t2", "s")
    equal((got.lock_duration, got.max_delivery_count), (timedelta(seconds=30), 3))
    equal([each.name for each in admin.list_subscriptions("t2")], ["s"])
    admin.delete_subscription("t2", "s")
    refused(lambda: admin.get_subscription("t2", "s"), ResourceNotFoundError)
    admin.delete_topic("t2")


def admin_rules():
    text = "color = 'it''s' AND \"size\" > 5"
    admin.create_rule("rules", "s", "sql", filter=SqlRuleFilter(text), action=SqlRuleAction("SET a = 'b'"))
    made = admin.get_rule("rules", "s", "sql")
    equal((made.filter.sql_expression, made.action.sql_expression), (text, "SET a = 'b'"))
    made.action = SqlRuleAction("SET c = 'd'")
    admin.update_rule("rules", "s", made)
    got = admin.get_rule("rules", "s", "sql")
    equal((got.filter.sql_expression, got.action.sql_expression), (text, "SET c = 'd'"))
    wanted = CorrelationRuleFilter(correlation_id="c", label="l", content_type="t", properties={"p": "v"})
    admin.create_rule("rules", "s", "correlation", filter=wanted)
    got = admin.get_rule("rules", "s", "correlation").filter
    equal((got.correlation_id, got.label, got.content_type, got.properties), ("c", "l", "t", {"p": "v"}))
    equal({rule.name for rule in admin.list_rules("rules", "s")}, {"$Default", "sql", "correlation"})
    admin.delete_rule("rules", "s", "sql")
    admin.delete_rule("rules", "s", "correlation")
    equal({rule.name for rule in admin.list_rules("rules", "s")}, {"$Default"})


def admin_parameters():
    values = {
        "@text": "x", "@int": 5, "@long": 1 << 40, "@float": 1.5, "@bool": True,
        "@time": datetime(2020, 1, 2, 3, 4, 5), "@duration": timedelta(days=1, hours=2, seconds=3),
    }
    text = " OR ".join(f"{name[1:]} = {name}" for name in values)
    admin.create_rule("rules", "s", "parameters", filter=SqlRuleFilter(text, parameters=values))
    got = admin.get_rule("rules", "s", "parameters").filter
    equal(got.sql_expression, text)
    equal(got.parameters, values)
    correlation = CorrelationRuleFilter(properties={name[1:]: value for name, value in values.items()})
    admin.create_rule("rules", "s", "typed", filter=correlation)
    equal(admin.get_rule("rules", "s", "typed").filter.properties, correlation.properties)
    for name in ("parameters", "typed"):
        admin.delete_rule("rules", "s", name)


def admin_counts():
    admin.create_queue("counted")
    with queue("counted") as (sender, receiver):
        sender.send_messages([ServiceBusMessage(str(i)) for i in range(3)])
        sender.schedule_messages(ServiceBusMessage("later"), datetime.now(timezone.utc) + timedelta(hours=1))
        receiver.dead_letter_message(one(receiver, "0"), reason="r")
    got = admin.get_queue_runtime_properties("counted")
    counts = (got.active_message_count, got.dead_letter_message_count, got.scheduled_message_count, got.total_message_count)
    equal(counts, (2, 1, 1, 4))
    equal([each.total_message_count for each in admin.list_queues_runtime_properties() if each.name == "counted"], [4])
    admin.delete_queue("counted")


def admin_pages():
    names = {f"page{i:03}" for i in range(120)}
    for name in names:
        admin.create_queue(name)
    equal({each.name for each in admin.list_queues()} >= names, True)
    for name in names:
        admin.delete_queue(name)


def admin_unknown():
    refused(lambda: admin.get_queue("nowhere"), ResourceNotFoundError)
    refused(lambda: admin.delete_topic("nowhere"), ResourceNotFoundError)
    refused(lambda: admin.create_queue("bad name?"), HttpResponseError)


run(version, {
    "send": send,
    "send while receiving": send_while_receiving,
    "batch": batch,
    "large message": large,
    "properties of every type": properties,
    "bodies of every type": bodies,
    "receive and delete": deleting,
    "complete": complete,
    "abandon": abandon,
    "defer": defer,
    "dead-letter": dead_letter,
    "peek": peek,
    "schedule and cancel": schedule,
    "renew lock": renew_lock,
    "lose lock": lose_lock,
    "duplicate detection": unique,
    "session by name": session_by_name,
    "next session": next_session,
    "session state": session_state,
    "renew session lock": renew_session,
    "locked session": locked_session,
    "topic and subscription": topic,
    "correlation rule": correlation_rule,
    "push": push,
    "WebSocket": websocket,
    "unknown entity": unknown_entity,
    "wrong key": wrong_key,
    "admin queues": admin_queues,
    "admin topics": admin_topics,
    "admin subscriptions": admin_subscriptions,
    "admin rules": admin_rules,
    "admin rules with parameters": admin_parameters,
    "admin counts": admin_counts,
    "admin pages": admin_pages,
    "admin unknown entity": admin_unknown,
})
