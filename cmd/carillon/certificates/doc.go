// Package certificates keeps the certificates of a server: its own with the key, and those of the authorities whose
// client certificates it takes. They are read again when their files change, without a restart:
//
//  1. What is read counts from the next connection on, and for who shows a certificate from the next request on: an
//     authority that is taken away is so for connections that stand, too.
//  2. Files that cannot be used, or do not fit each other, leave those that were read before in use; the log says why.
//  3. What counts is what is in the files, and not their times: links that are switched are seen, as Kubernetes does it.
package certificates
