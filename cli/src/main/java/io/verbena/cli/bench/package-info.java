/**
 * The benchmarks.
 */
package io.verbena.cli.bench;
