/**
 * What all checkers of histories have in common: a verdict of three values.
 *
 * <p>Must know neither the checkers nor the histories.
 */
package io.verbena.elle;
