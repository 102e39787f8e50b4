// Package protocol serves AMQP 1.0 connections as Service Bus does: SASL, tokens over "$cbs", sessions, links, flow
// control, settlement, requests to "$management" and transactions. The broker handles the messages themselves.
//
// # A connection
//
// Each connection has two goroutines. One reads frames and processes them; the other makes deliveries and writes. To
// announce messages, the broker adds the link to the connection's ready list and wakes the writer; the writer takes
// messages from the broker only while the output has room. Messages for a client that does not read therefore stay in
// the broker.
//
// The connection's mutex guards all of its sessions and links. It is never held during I/O, and broker calls made under
// it do not wait: writes that must reach the disk first return through the connection's list of completions.
//
// # Guarantees
//
//  1. A client harms only its own connection. Its buffers, sessions, links and
//     unsettled messages are limited; a client that does not read within the
//     write timeout, or is silent for twice the idle timeout, is disconnected.
//  2. A violation of AMQP ends the link, the session or the connection,
//     whichever is the smallest that the standard allows, with an error that
//     states the problem.
//  3. A message is accepted after the broker has stored it, not before.
//  4. When a connection ends, its sessions are released immediately and its
//     transactions are rolled back. Messages that it holds without a session
//     stay locked until their locks expire, as in Service Bus.
//  5. Every request to a node is answered.
//  6. [Server.Close] returns when all goroutines of the package have ended.
package protocol
