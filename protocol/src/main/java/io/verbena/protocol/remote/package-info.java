/**
 * Requests between processes: the messages, the server that takes them at a compute node, and the endpoint that stands
 * for that node in a client. Must not know how operations are carried out, nor how nodes are found.
 */
package io.verbena.protocol.remote;
