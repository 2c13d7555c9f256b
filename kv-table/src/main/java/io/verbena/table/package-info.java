/**
 * The engine that works on tables in the registered memory of memory nodes, by one-sided verbs alone; its parts are in
 * the packages below. Knows verbs and virtual queue pairs; must not know processes, sockets, membership or who leases
 * memory to whom.
 *
 * <p>One owner thread for each {@link io.verbena.table.TableEngine} and everything it hands out; no locks.
 */
package io.verbena.table;
