/**
 * Blocks from chunks that a memory node leases to this one: free lists, quarantine until epochs have passed, the
 * view of chunks that are being closed. Must not know operations, tables or who leases.
 *
 * <p>One owner thread for each engine and everything it hands out; no locks.
 */
package io.verbena.table.allocation;
