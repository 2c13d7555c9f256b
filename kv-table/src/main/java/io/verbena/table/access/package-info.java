/**
 * What the table does to the memory of a memory node: one-sided requests through a port, the registered memory on
 * this side, and cookies by which completions find whoever posted. Knows verbs; must not know what the bytes mean.
 *
 * <p>One owner thread for each engine and everything it hands out; no locks.
 */
package io.verbena.table.access;
