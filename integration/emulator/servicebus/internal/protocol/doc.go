// Package protocol serves AMQP 1.0 connections as Service Bus does: SASL, tokens
// over "$cbs", sessions, links, flow control, settlement, requests to
// "$management" and transactions. What messages are and where they go is the
// broker's matter.
//
// # A connection
//
// Each connection has two goroutines. One reads frames and acts on them; the
// other makes deliveries and writes. The broker tells a link that it has
// something for it by adding the link to the connection's ready list and waking
// the writer; the writer takes messages from the broker only while there is
// room in the output. So a message that is on its way to a client that does not
// read stays in the broker.
//
// The connection's mutex guards all of its sessions and links. It is never held
// during I/O, and broker calls made under it do not wait: what has to reach the
// disk first comes back through the connection's list of completions.
//
// # What is guaranteed
//
//  1. A client harms only its own connection. What is buffered for it, of it,
//     and what it may begin, is bounded; a client that does not read within the
//     write timeout, or says nothing for twice the idle timeout, is cut off.
//  2. Whatever breaks the rules of AMQP ends the link, the session or the
//     connection, whichever is the smallest that the standard allows, with an
//     error that says what was wrong.
//  3. A message is accepted when the broker has it for good, not before.
//  4. When a connection ends, for whatever reason, its sessions are free at
//     once and its transactions are rolled back. Messages that it holds without
//     a session stay locked until their time is over, as they do in Service
//     Bus.
//  5. Every request to a node is answered.
//  6. [Server.Close] returns when all goroutines of the package have ended.
package protocol
