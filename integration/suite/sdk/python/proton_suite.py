"""The Service Bus emulator seen by Qpid Proton, an AMQP 1.0 client that knows nothing of Service Bus."""

import os
import time
import uuid

from proton import VERSION, ConnectionException, Delivery, Described, Message, symbol, timestamp, ulong
from proton.handlers import MessagingHandler, TransactionHandler
from proton.reactor import AtMostOnce, Container, Filter
from proton.utils import BlockingConnection, LinkDetached, SendException

from report import connection as parts_of
from report import equal, refused, run

url = os.environ["SERVICEBUS_AMQP"]
parts = parts_of("SERVICEBUS_CONNECTION_STRING")
login = {
    "user": parts["SharedAccessKeyName"], "password": parts["SharedAccessKey"],
    "allowed_mechs": "PLAIN", "allow_insecure_mechs": True,
}


class Connected:
    """A connection that ends with its block."""

    def __init__(self, **options):
        self.connection = BlockingConnection(url, timeout=20, **{**login, **options})

    def __enter__(self):
        return self.connection

    def __exit__(self, *_):
        self.connection.close()


def send_all(sender, *messages):
    for message in messages:
        message = message if isinstance(message, Message) else Message(body=message)
        equal(sender.send(message).remote_state, Delivery.ACCEPTED)


def receive(receiver, want):
    """Receives messages with these bodies and completes them."""
    equal([receiver.receive(timeout=20).body for _ in want], want)
    for _ in want:
        receiver.accept()


def nothing(connection, queue):
    """Checks that a queue is empty: what is sent now comes next."""
    send_all(connection.create_sender(queue, name="behind"), "behind")
    receive(connection.create_receiver(queue, credit=1, name="rest"), ["behind"])


def sends(sender):
    send_all(sender, "0")
    begin = time.monotonic()
    for i in range(1, 100):
        sender.send(Message(body=str(i)))
    return (time.monotonic() - begin) * 1000 / 99


def send():
    with Connected() as connection:
        per_send = sends(connection.create_sender("send"))
        receive(connection.create_receiver("send", credit=100), [str(i) for i in range(100)])
    return per_send


def both():
    with Connected() as connection:
        receiver = connection.create_receiver("both", credit=10)
        per_send = sends(connection.create_sender("both"))
        for i in range(100):
            equal(receiver.receive(timeout=20).body, str(i))
            receiver.accept()
            if i % 10 == 9:
                receiver.flow(10)
    return per_send


def large():
    with Connected() as connection:
        sender = connection.create_sender("large")
        body = "0123456789" * 90_000
        send_all(sender, body)
        receive(connection.create_receiver("large", credit=1), [body])
        error = refused(lambda: sender.send(Message(body="x" * 1_100_000)), SendException, LinkDetached)
        equal("size" in str(error) or getattr(error, "state", None) == Delivery.REJECTED, True)


def properties():
    sent = {
        "text": "ä€", "bytes": b"\x00\xff", "true": True, "int": 5, "ulong": ulong(1 << 63), "float": 1.5,
        "uuid": uuid.uuid4(), "time": timestamp(1893553445000), "symbol": symbol("s"), "null": None,
    }
    with Connected() as connection:
        message = Message(body="b", id="id", subject="label", correlation_id="c", reply_to="r", content_type="t", ttl=60)
        message.properties = sent
        send_all(connection.create_sender("properties"), message)
        receiver = connection.create_receiver("properties", credit=1)
        got = receiver.receive(timeout=20)
        receiver.accept()
        equal(got.properties, sent)
        equal((got.id, got.subject, got.correlation_id, got.reply_to, got.content_type), ("id", "label", "c", "r", "t"))
        equal(set(got.annotations) >= {"x-opt-sequence-number", "x-opt-enqueued-time", "x-opt-locked-until"}, True)


def bodies():
    with Connected() as connection:
        want = ["text", b"data", {"a": [1, None, True]}, [1, "x"], 5, None]
        send_all(connection.create_sender("bodies"), *want)
        receive(connection.create_receiver("bodies", credit=6), want)


def deleting():
    with Connected() as connection:
        send_all(connection.create_sender("deleting"), "once")
        receiver = connection.create_receiver("deleting", credit=1, options=AtMostOnce())
        equal(receiver.receive(timeout=20).body, "once")
        receiver.close()
        nothing(connection, "deleting")


def complete():
    with Connected() as connection:
        send_all(connection.create_sender("complete"), "m")
        receiver = connection.create_receiver("complete", credit=1)
        receive(receiver, ["m"])
        receiver.close()
        nothing(connection, "complete")


def abandon():
    with Connected() as connection:
        send_all(connection.create_sender("abandon"), "m")
        receiver = connection.create_receiver("abandon", credit=1)
        for delivered, count in ((False, 0), (True, 0), (True, 1)):
            equal(receiver.receive(timeout=20).delivery_count, count)
            receiver.release(delivered=delivered)
            receiver.flow(1)
        equal(receiver.receive(timeout=20).delivery_count, 2)
        receiver.accept()


def dead_letter():
    with Connected() as connection:
        send_all(connection.create_sender("deadletter"), "m")
        receiver = connection.create_receiver("deadletter", credit=1)
        equal(receiver.receive(timeout=20).body, "m")
        receiver.reject()
        receive(connection.create_receiver("deadletter/$DeadLetterQueue", credit=1), ["m"])


def unique():
    with Connected() as connection:
        sender = connection.create_sender("unique")
        send_all(sender, Message(body="first", id="same"), Message(body="second", id="same"), Message(body="other", id="o"))
        receive(connection.create_receiver("unique", credit=2), ["first", "other"])


class Session(Filter):
    """The filter that takes a session; None takes the next."""

    def __init__(self, name):
        super().__init__({symbol("com.microsoft:session-filter"): Described(ulong(0x00000137000000C), name)})


def session_by_name():
    with Connected() as connection:
        sender = connection.create_sender("session")
        send_all(sender, *(Message(body=f"{s}{i}", group_id=s) for i in range(3) for s in ("a", "b")))
        for name in ("b", "a"):
            receiver = connection.create_receiver("session", credit=3, options=Session(name))
            receive(receiver, [f"{name}{i}" for i in range(3)])
            receiver.close()


def next_session():
    with Connected() as connection:
        send_all(connection.create_sender("next"), Message(body="m", group_id="s"))
        receive(connection.create_receiver("next", credit=1, options=Session(None)), ["m"])


def topic():
    with Connected() as connection:
        send_all(connection.create_sender("events"), Message(body="m", subject="green"), Message(body="n", subject="red"))
        receive(connection.create_receiver("events/subscriptions/all", credit=2), ["m", "n"])


def correlation_rule():
    with Connected() as connection:
        receive(connection.create_receiver("events/subscriptions/red", credit=2), ["n"])


class Transactions(MessagingHandler, TransactionHandler):
    """Sends two messages in each of two transactions, and takes the first back."""

    def __init__(self):
        super().__init__(auto_accept=False)
        self.rounds = []

    def on_start(self, event):
        self.container = event.container
        self.connection = self.container.connect(url, **login)
        self.sender = self.container.create_sender(self.connection, "transaction")
        self.container.declare_transaction(self.connection, handler=self)

    def on_transaction_declared(self, event):
        for body in ("a", "b"):
            event.transaction.send(self.sender, Message(body=f"{len(self.rounds)}{body}"))
        if self.rounds:
            event.transaction.commit()
        else:
            event.transaction.abort()

    def on_transaction_aborted(self, event):
        self.rounds.append("aborted")
        self.container.declare_transaction(self.connection, handler=self)

    def on_transaction_committed(self, event):
        self.rounds.append("committed")
        self.connection.close()

    def on_transaction_commit_failed(self, event):
        self.rounds.append("failed")
        self.connection.close()


def transactions():
    handler = Transactions()
    Container(handler).run()
    equal(handler.rounds, ["aborted", "committed"])
    with Connected() as connection:
        receive(connection.create_receiver("transaction", credit=2), ["1a", "1b"])


def unknown_entity():
    with Connected() as connection:
        equal("not-found" in str(refused(lambda: connection.create_sender("nowhere"), LinkDetached)), True)
        equal("not-found" in str(refused(lambda: connection.create_receiver("nowhere"), LinkDetached)), True)


def wrong_key():
    refused(lambda: Connected(password="d3Jvbmc="), ConnectionException)


run(".".join(map(str, VERSION)), {
    "send": send,
    "send while receiving": both,
    "large message": large,
    "properties of every type": properties,
    "bodies of every type": bodies,
    "receive and delete": deleting,
    "complete": complete,
    "abandon": abandon,
    "dead-letter": dead_letter,
    "duplicate detection": unique,
    "session by name": session_by_name,
    "next session": next_session,
    "topic and subscription": topic,
    "correlation rule": correlation_rule,
    "transaction": transactions,
    "unknown entity": unknown_entity,
    "wrong key": wrong_key,
})
