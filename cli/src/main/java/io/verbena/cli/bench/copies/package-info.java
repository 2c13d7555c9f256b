/** Measures tables with copies: what they cost, and how long nothing is answered when a member is lost. */
package io.verbena.cli.bench.copies;
