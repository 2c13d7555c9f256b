/**
 * How figures are written: JSON for programs, aligned text and human units for people, progress while a run lasts.
 * <p>
 * Must not know what the figures mean.
 */
package io.verbena.load.report;
