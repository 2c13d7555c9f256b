/**
 * Memory that several memory nodes hold: rounds over the members of a mirror group, and what makes the survivors equal
 * when a member is lost. Knows slot words and ports; must not know operations.
 *
 * <p>One owner thread for each engine and everything it hands out; no locks.
 */
package io.verbena.table.mirror;
