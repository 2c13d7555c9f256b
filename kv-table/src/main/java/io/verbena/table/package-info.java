/**
 * Point operations on tables in the registered memory of memory nodes, by one-sided verbs alone: state machines that
 * are advanced by completions, a location cache, block allocation with quarantine, creation and checking of tables. The
 * argument why they are linearizable stands in {@code docs/protocol/point-operations.md}. Knows verbs and virtual queue
 * pairs; must not know processes, sockets, membership or who leases memory to whom.
 *
 * <p>One owner thread for each {@link io.verbena.table.TableEngine} and everything it hands out; no locks.
 */
package io.verbena.table;
