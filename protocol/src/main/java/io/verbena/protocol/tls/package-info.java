/**
 * TLS from files: certificates and keys in PEM, and the sockets of both sides of the handshake at a cluster's address.
 * Says in one line what is wrong with a file or with the certificate of a peer. Must not know what is sent.
 */
package io.verbena.protocol.tls;
