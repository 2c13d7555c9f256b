/**
 * Measurements of one engine on one memory node, without the nodes around it: what operations cost in round trips,
 * requests and bytes, and in time.
 * <p>
 * Must not know how figures are printed.
 */
package io.verbena.load.bench;
