/**
 * How a node or client that knows one address finds its cluster: one handshake over TCP that checks versions and a
 * shared token, and names the fabric and the meta server's address on it. Everything after goes by RaaS. Must not know
 * what the cluster does.
 */
package io.verbena.protocol.bootstrap;
