"""The Service Bus emulator seen by Qpid Proton, an AMQP 1.0 client that knows nothing of Service Bus.

It shows SASL, plain links, settlement and what the official SDKs of Go and JavaScript do not have: transactions.
Run with the host and port of an emulator that makes queues by itself.
"""

import sys

from proton import Delivery, Message
from proton.handlers import MessagingHandler, TransactionHandler
from proton.reactor import AtMostOnce, Container
from proton.utils import BlockingConnection

url = sys.argv[1]


def receive(receiver, want):
    got = [receiver.receive(timeout=5).body for _ in want]
    for _ in got:
        receiver.accept()
    assert got == want, (got, want)


def basics():
    for mechanism in ("ANONYMOUS", "PLAIN"):
        connection = BlockingConnection(
            url, timeout=10, user="RootManageSharedAccessKey", password="SAS_KEY_VALUE",
            allowed_mechs=mechanism, allow_insecure_mechs=True,
        )
        sender = connection.create_sender("proton")
        for body in ("text", {"a": [1, None, True]}, "x" * 300_000):
            delivery = sender.send(Message(body=body))
            assert delivery.remote_state == Delivery.ACCEPTED, delivery.remote_state
        receiver = connection.create_receiver("proton", credit=3)
        receive(receiver, ["text", {"a": [1, None, True]}, "x" * 300_000])
        sender.send(Message(body="released"))
        receiver.flow(1)
        message = receiver.receive(timeout=5)
        assert message.delivery_count == 0, message.delivery_count
        receiver.release(delivered=False)
        receiver.flow(1)
        receive(receiver, ["released"])
        connection.close()


def settled():
    connection = BlockingConnection(url, timeout=10)
    connection.create_sender("settled").send(Message(body="once"))
    receiver = connection.create_receiver("settled", credit=1, options=AtMostOnce())
    assert receiver.receive(timeout=5).body == "once"
    connection.close()


class Transactions(MessagingHandler, TransactionHandler):
    """Sends two messages in each of two transactions, and takes the first back."""

    def __init__(self):
        super().__init__(auto_accept=False)
        self.rounds = []

    def on_start(self, event):
        self.container = event.container
        self.connection = self.container.connect(url, allowed_mechs="ANONYMOUS")
        self.sender = self.container.create_sender(self.connection, "transactions")
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
        raise AssertionError("the commit failed")


def transactions():
    handler = Transactions()
    Container(handler).run()
    assert handler.rounds == ["aborted", "committed"], handler.rounds
    connection = BlockingConnection(url, timeout=10)
    receive(connection.create_receiver("transactions", credit=2), ["1a", "1b"])
    connection.close()


for test in (basics, settled, transactions):
    test()
    print("ok", test.__name__)
