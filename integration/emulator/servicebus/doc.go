// Package servicebus is an emulator of Azure Service Bus in one process, for
// tests and for developing without a cloud. Programs use it through the official
// SDKs, unchanged but for the connection string.
//
//	server, err := servicebus.Start(ctx, servicebus.Config{AutoCreate: true})
//	if err != nil {
//		return err
//	}
//	defer server.Close()
//	client, err := azservicebus.NewClientFromConnectionString(server.ConnectionString(), nil)
//
// It has queues, topics, subscriptions with filters and actions, sessions,
// dead letters, scheduled and deferred messages, duplicate detection,
// transactions, and administration at run time, over AMQP 1.0, AMQP over
// WebSocket and HTTP, with or without TLS. Messages are sent and received over
// REST too. Without a folder for data everything is in memory.
//
// # Parts, below internal
//
// Package amqp is the codec, protocol serves connections, broker has the entities and their messages, filter the rules
// of subscriptions, admin the HTTP administration, rest the HTTP messages, and auth the keys. A write-ahead log,
// package wal, preserves state across restarts.
package servicebus
