// Package certificates keeps a server's certificate and key, and the authorities of client certificates. It
// reloads them when their files change, without a restart:
//
//  1. A new certificate applies to new connections. A change of the authorities applies to the next request, also on open
//     connections.
//  2. If the files are invalid or do not match, the previous ones stay in use, and the log has the reason.
//  3. It compares the content of the files, not their times, so that it notices switched links, as in Kubernetes.
package certificates
