/**
 * The connection service that devices on a network share: a TCP port beside the device, over which two of them exchange
 * queue pair numbers and move both ends to RTS. Owns its messages, its thread and the steps of a connection. Must not
 * know how a provider sends packets.
 */
package io.verbena.rdma.connection;
