/**
 * Requests between clients and compute nodes: who owns a request at each moment, what it asks, how it is answered, and
 * the messages it becomes between processes. Must not know how operations are carried out, nor the layout of tables.
 */
package io.verbena.protocol.request;
