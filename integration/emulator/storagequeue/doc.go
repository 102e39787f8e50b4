// Package storagequeue emulates the REST service of Azure Queue Storage in this process, for the unchanged Azure
// SDKs.
//
//	server, err := storagequeue.Start(ctx, storagequeue.Config{Addr: "127.0.0.1:0"})
//	client, err := azqueue.NewServiceClientFromConnectionString(server.ConnectionString(), nil)
//
// # Guarantees
//
//  1. It implements every call of the REST interface, version 2026-04-06, except user delegation keys: account settings
//     with CORS, statistics of a secondary, queues with metadata and access policies, messages. Older versions get the same
//     responses.
//  2. It authorizes requests as the service does: SharedKey, SharedKeyLite, signatures (SAS) of an account, and of a queue
//     with stored access policies. With Keys: Lenient, everyone has full access.
//  3. Errors have the service's status, code, header x-ms-error-code and XML body. Bodies have no byte order mark.
//  4. Delivery is at least once. A received message is hidden until its visibility timeout ends, and is deleted when it
//     expires. Only the newest pop receipt deletes or updates it. Messages are delivered in the order in which they became
//     visible.
//  5. With Config.Data, all state survives a restart, and acknowledged changes survive a kill of the process; with
//     Config.Sync also a power failure. Start fails on damaged files, except for an incomplete last write.
//  6. Requests are limited in size and time. A client that stalls or sends garbage harms only its own connection.
//  7. After Close, nothing runs and the address is free.
//
// Statistics always report the secondary as synchronized, because it shares the data. Logging and metrics
// settings are stored without effect.
package storagequeue
