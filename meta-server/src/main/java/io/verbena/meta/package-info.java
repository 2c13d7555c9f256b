/**
 * The meta server: an agent that answers rare control calls, publishes the directory of living nodes in registered
 * memory and has memory nodes cut off those that ended. What it decides is in {@code membership} and {@code catalog},
 * what it must not forget in {@code store}. Knows nothing of keys and values, nor what a table descriptor says.
 */
package io.verbena.meta;
