/**
 * Checkpoints of a memory node's records in RocksDB, made while one-sided writers go on, and their restoration into an
 * empty region. Knows the layout of tables, chunk headers and blocks; must not know nodes, leases and connections.
 */
package io.verbena.memory.checkpoint;
