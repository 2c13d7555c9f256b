/**
 * How fast the checkers are: histories made for measuring, and the measurements of {@code verbena bench check}. Must
 * not be needed by any check.
 */
package io.verbena.elle.bench;
