// Package rest is the HTTP interface of Service Bus to send and receive messages, its run-time REST API.
//
//	POST   /{queue|topic}/messages                       sends a message, or with the type of [batchType] several
//	DELETE /{queue|subscription}/messages/head           receives a message and deletes it
//	POST   /{queue|subscription}/messages/head           receives a message and locks it
//	DELETE /{queue|subscription}/messages/{id}/{lock}    completes a locked message; id is its own or its sequence number
//	PUT    /{queue|subscription}/messages/{id}/{lock}    unlocks it
//	POST   /{queue|subscription}/messages/{id}/{lock}    renews its lock
//
// The header BrokerProperties contains the system properties of a message as JSON, and Content-Type its content type.
// Every other header is an application property: text has double quotes, numbers, true and false do not. Names keep the
// case of the client.
//
// A receiver waits up to the parameter timeout, in seconds, and 60 without it. Messages of sessions can be sent but not received,
// and dead letters are received at the path that they have for all clients: the interface of the service has no more.
package rest
