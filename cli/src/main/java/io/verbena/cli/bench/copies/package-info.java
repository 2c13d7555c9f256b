/** Measures what copies of tables cost. */
package io.verbena.cli.bench.copies;
