/**
 * The session of a node with the meta server, as memory nodes, compute nodes and clients have it: the connection and
 * its repair, the lease and the heartbeats that renew it, the listing of nodes. Must not know what a node does with
 * them.
 */
package io.verbena.protocol.session;
