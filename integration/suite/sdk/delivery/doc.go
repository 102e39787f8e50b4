// Package delivery tests whole deliveries: jobs published over NATS, the scheduler's own engine and actions, and Azure's
// SDKs at the other end, which read from the emulators what arrived.
package delivery
