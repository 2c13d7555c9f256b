/**
 * Splits and merges of subtables: what is to be done and when, the memory for it, and the descriptor that makes it
 * known.
 */
package io.verbena.compute.growth;
